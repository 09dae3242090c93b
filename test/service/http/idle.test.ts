// Idle connections, and those that wait for a response.
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { HttpResponse } from '../../../src/contract/http.ts'
import { readLimits } from '../../../src/contract/limits.ts'
import { startHttpServer } from '../../../src/service/http/listen.ts'

it('a connection is not idle while its response is computed', async () => {
  let answer = (): void => {}
  const begun = new Promise<void>((resolve) => {
    answer = resolve
  })
  let isComputed = (): void => {}
  const computed = new Promise<void>((resolve) => {
    isComputed = resolve
  })
  const service = {
    handle: async () => {
      answer()
      await computed
      return new HttpResponse(200, {}, 'done')
    },
    refuses: () => false,
  }
  const server = await startHttpServer(() => service, {
    host: '127.0.0.1',
    port: 0,
    limits: readLimits({}),
    idleMs: 50,
  })
  const response = fetch(`http://127.0.0.1:${server.port}/slow`)
  await begun
  // Others end as idle, one after the other.
  for (let k = 0; k < 3; k++) {
    const idle = connect(server.port, '127.0.0.1')
    idle.resume()
    await once(idle, 'close')
  }
  isComputed()
  expect(await (await response).text()).toBe('done')
  await server.stop(0)
})
