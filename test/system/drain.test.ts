// Graceful shutdown of a server.
import { Agent, request } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { gridline, serve } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
const options = { home: folder.path, env: { GRIDLINE_LIMIT_DRAIN_SECONDS: '1' } }
let apiKey = ''

beforeAll(async () => {
  const { stdout } = await gridline(['admin', 'create-user', 'alice', '--json'], options)
  apiKey = JSON.parse(stdout).api_key
})
afterAll(folder.remove)

interface Sent {
  status: number
  text: string
  connection: string | undefined
}

function send(
  url: string,
  method: string,
  path: string,
  agent: Agent,
  body?: string | AsyncIterable<string>,
  type = 'application/json',
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const sent = request(url + path, {
      method,
      agent,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body === undefined ? {} : { 'content-type': type, 'x-file-name': 'slow.csv' }),
      },
    })
    sent.once('error', reject)
    sent.once('response', (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.once('end', () =>
        resolve({ status: response.statusCode!, text, connection: response.headers.connection }),
      )
      response.once('error', reject)
    })
    if (body === undefined || typeof body === 'string') sent.end(body)
    else
      (async () => {
        for await (const part of body) sent.write(part)
        sent.end()
      })().catch(reject)
  })
}

it('a stopping server keeps serving while /readyz is 503, then answers every request and finishes uploads', async () => {
  const server = await serve([], options)
  const agent = new Agent({ keepAlive: true })
  const grid = JSON.parse(
    (
      await send(
        server.url,
        'POST',
        '/v2/grids',
        agent,
        JSON.stringify({ data: { cols: { n: { data: [0], order: 0 } } }, filename: 'drained' }),
      )
    ).text,
  ).file.fid
  let isOver = false
  let acknowledged = 0
  let lost = 0
  const append = async (own: Agent): Promise<void> => {
    while (!isOver)
      try {
        const { status, connection } = await send(
          server.url,
          'POST',
          `/v2/grids/${grid}/row`,
          own,
          JSON.stringify({ rows: [[1]] }),
        )
        expect(status).toBe(201)
        acknowledged++
        if (connection === 'close') return
      } catch (error) {
        // The server no longer listens.
        if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return
        lost++
        return
      }
  }
  const appends = Array.from({ length: 8 }, () => append(new Agent({ keepAlive: true, maxSockets: 1 })))
  // An upload that ends only after the server has stopped listening.
  async function* slowly(): AsyncGenerator<string> {
    yield 'a,b\n'
    while (!isOver) {
      yield '1,2\n'
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    yield '3,4\n'
  }
  const upload = send(server.url, 'POST', '/v2/grids/upload', agent, slowly(), 'text/csv')
  const gone = new Promise((resolve) => server.child.once('exit', resolve))
  await new Promise((resolve) => setTimeout(resolve, 200))
  server.child.kill('SIGTERM')
  let ready = 200
  while (ready === 200) ready = (await send(server.url, 'GET', '/readyz', new Agent())).status
  expect(ready).toBe(503)
  const during = await send(server.url, 'GET', `/v2/files/${grid}`, new Agent())
  expect(during.status).toBe(200)
  await Promise.all(appends)
  isOver = true
  expect((await upload).status).toBe(201)
  expect([await gone, lost]).toEqual([0, 0])
  expect(acknowledged).toBeGreaterThan(0)
  const next = await serve([], options)
  const { text } = await send(next.url, 'GET', `/v2/grids/${grid}/content`, agent)
  await next.stop()
  expect(JSON.parse(text).cols.n.data.length).toBe(1 + acknowledged)
})

it('a second signal ends the drain', async () => {
  const server = await serve([], { ...options, env: { GRIDLINE_LIMIT_DRAIN_SECONDS: '60' } })
  const gone = new Promise((resolve) => server.child.once('exit', resolve))
  server.child.kill('SIGTERM')
  while ((await send(server.url, 'GET', '/readyz', new Agent())).status === 200);
  server.child.kill('SIGTERM')
  expect(await gone).toBe(0)
})
