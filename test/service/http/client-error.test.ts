// Requests that the HTTP parser refuses: raw UTF-8 in URLs, as the client of R sends it, and what is no HTTP.
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type HttpRequest, HttpResponse } from '../../../src/contract/http.ts'
import { readLimits } from '../../../src/contract/limits.ts'
import { type RunningServer, startHttpServer } from '../../../src/service/http/listen.ts'

let server: RunningServer
beforeAll(async () => {
  const handle = async ({ method, url, address }: HttpRequest) =>
    new HttpResponse(200, {}, `${method} ${url} ${address}`)
  const limits = readLimits({})
  server = await startHttpServer(() => ({ handle, refuses: () => false }), {
    host: '127.0.0.1',
    port: 0,
    limits,
  })
})
afterAll(() => server.stop(0))

/** Sends texts, each after a response to the one before. Returns what arrives until the connection closes. */
async function send(...texts: string[]): Promise<string> {
  const socket = connect(server.port, '127.0.0.1')
  let received = ''
  socket.on('data', (bytes) => {
    received += bytes
    const next = texts.shift()
    if (next !== undefined) socket.write(next)
  })
  socket.write(texts.shift()!)
  await once(socket, 'close')
  return received
}

const HOST = ' HTTP/1.1\r\nHost: x\r\n'

it('a URL in UTF-8 without escapes leads to one with them, also as the second request of a connection', async () => {
  const received = await send(`GET /a${HOST}\r\n`, `GET /lookup?path=Ü/café&b=%20${HOST}\r\n`)
  expect(received).toContain('GET http://localhost/a 127.0.0.1')
  expect(received).toMatch(
    /HTTP\/1\.1 307 Temporary Redirect\r\nLocation: \/lookup\?path=%C3%9C\/caf%C3%A9&b=%20\r\nConnection: close\r\n/,
  )
})

it('only requests for a path here, which change nothing, are redirected', async () => {
  for (const url of [
    '//evil.example/é',
    '/\\evil.example/é',
    'é',
    'http://evil.example/é',
    '/\u0001',
    '/\u007f',
  ])
    expect([url, await send(`GET ${url}${HOST}\r\n`)]).toEqual([
      url,
      expect.stringMatching(/^HTTP\/1\.1 400 /),
    ])
  // One answer, and no other request of the connection.
  const several = await send(`GET /é${HOST}\r\nGET /secret${HOST}\r\n`)
  expect(several.match(/HTTP\/1\.1/g)).toHaveLength(1)
})

it.each([
  ['no HTTP', 'HELLO\r\n\r\n', 400, /Invalid method/],
  ['a wrong length', `GET /${HOST}Content-Length: x\r\n\r\n`, 400, /Content-Length/],
  ['a raw URL with a body', `POST /é${HOST}Content-Length: 2\r\n\r\n{}`, 400, /as %XX/],
  ['large headers', `GET /${HOST}A: ${'a'.repeat(70_000)}\r\n\r\n`, 431, /overflow/],
])('%s is refused with an error in JSON', async (_, text, status, message) => {
  const [head, body] = (await send(text)).split('\r\n\r\n')
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(head).toMatch(/Connection: close/i)
  const { errors } = JSON.parse(body)
  expect(errors[0].code).toBe('invalid_request')
  expect(`${errors[0].message} ${errors[0].hint}`).toMatch(message)
})
