// Response bodies of the command line's HTTP client.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { createRemoteFetch } from '../../src/cli/connect/remote.ts'
import { HttpHeaders } from '../../src/contract/http.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

it('a body is complete even if its response is garbage-collected before it is read', async () => {
  const server = createServer((_, response) => {
    response.write('first,')
    setImmediate(() => response.end('last'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { fetch, close } = createRemoteFetch()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const bodies = []
  const headers = new HttpHeaders(new Map())
  for (let k = 0; k < 5; k++) bodies.push((await fetch({ method: 'GET', url, headers, body: null })).bytes())
  // Finalizers run one event-loop iteration after the collection.
  for (let k = 0; k < 5; k++) {
    collect()
    await new Promise(setImmediate)
  }
  for (const body of bodies) {
    let text = ''
    for await (const piece of body) text += Buffer.from(piece).toString()
    expect(text).toBe('first,last')
  }
  await close()
  server.close()
})
