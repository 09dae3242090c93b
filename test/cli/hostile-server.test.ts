// Failing servers: commands end with a reason, and never send credentials elsewhere.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { gridline } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
const home = join(folder.path, 'home')
mkdirSync(home, { recursive: true })
afterAll(folder.remove)

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

type Answer = (request: IncomingMessage, response: ServerResponse, count: number) => void

/** Runs a command against a server with the given handler. */
async function against(answer: Answer, args: string[] = ['ls'], env: Record<string, string> = {}) {
  let count = 0
  const seen: IncomingMessage[] = []
  const server = createServer((request, response) => {
    seen.push(request)
    request.resume()
    answer(request, response, ++count)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  try {
    const ended = await gridline(args, {
      home,
      cwd: folder.path,
      env: { GRIDLINE_URL: url, GRIDLINE_USER: 'alice', GRIDLINE_API_KEY: 'secret-key', ...env },
    })
    return { ...ended, seen, url, last: ended.stderr.trim().split('\n').at(-1) }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const page = '{"children":{"results":[],"count":0,"next":null,"previous":null}}'
const json = (response: ServerResponse, status: number, body: string, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}

describe('a server that', () => {
  it.each<[string, Answer, number, RegExp]>([
    ['answers with HTML', (_, r) => r.end('<html><title>Welcome</title>'), 1, /the response is not JSON/],
    [
      'answers 500 with a page',
      (_, r) => r.writeHead(500).end('<title>Oops</title>'),
      1,
      /500: a page, not JSON: Oops/,
    ],
    ['sends half of its JSON', (_, r) => json(r, 200, page.slice(0, 20)), 1, /not JSON/],
    [
      'cuts the answer',
      (_, r) => {
        r.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
        r.write('{"children"', () => r.destroy())
      },
      1,
      /not JSON|cut/,
    ],
    [
      'redirects to another host',
      (_, r) => r.writeHead(302, { location: 'http://evil.test/' }).end(),
      1,
      /redirects to http:\/\/evil\.test/,
    ],
    [
      'asks to wait for an hour',
      (_, r) => json(r, 429, '{}', { 'retry-after': '3600' }),
      9,
      /Try again in 3600 s/,
    ],
    ['answers with a huge line', (_, r) => r.writeHead(400).end('x'.repeat(1_000_000)), 2, /^.{0,400}$/],
    ['sends control characters', (_, r) => json(r, 404, '{"detail":"\\u001b[2Jgone"}'), 3, /gone/],
  ])('%s', async (_, answer, code, message) => {
    const ended = await against(answer)
    expect([ended.code, ended.stdout]).toEqual([code, ''])
    expect(ended.last).toMatch(message)
  })

  it('a missing key is reported after one request, with how to set one', async () => {
    const { code, seen, stderr } = await against(
      (_, response) =>
        json(response, 401, '{"errors":[{"code":"unauthenticated","message":"this requires an account"}]}'),
      ['cat', 'a', 'b', 'c'],
      { GRIDLINE_USER: '', GRIDLINE_API_KEY: '' },
    )
    expect([code, seen.length]).toEqual([4, 1])
    expect(stderr).toMatch(/no API key is set for http:.*GRIDLINE_API_KEY.*login --oidc/)
  })

  it('a rejected key is reported with its source', async () => {
    const { stderr } = await against((_, response) =>
      json(response, 401, '{"errors":[{"code":"unauthenticated","message":"wrong username or API key"}]}'),
    )
    expect(stderr).toMatch(/wrong username or API key.*environment GRIDLINE_API_KEY/)
  })

  it('an overloaded server is retried after its Retry-After time', async () => {
    const { code, seen, stderr } = await against((_, response, count) =>
      count < 3
        ? json(response, 503, '{"detail":"busy"}', { 'retry-after': '0' })
        : json(response, 200, page),
    )
    expect([code, seen.length, stderr.match(/retrying/g)?.length]).toEqual([0, 3, 2])
  })

  it('a stalled server is abandoned after the time limit', async () => {
    const { code, last } = await against(() => {}, ['ls', '--timeout', '1'])
    expect([code, last]).toEqual([9, expect.stringMatching(/timed out after 1 s/)])
  })

  it.each([
    ['rm', 'alice:1'],
    ['append', 'alice:1', 'new.csv'],
    ['upload', 'new.csv'],
  ])('%s --dry-run sends no write to a server that does not know the header', async (...args) => {
    writeFileSync(join(folder.path, 'new.csv'), 'a\n1\n')
    const meta = { fid: 'alice:1', filename: 'sales', filetype: 'grid', version: 1, cols: [] }
    const { code, last, seen } = await against(
      (_, response) => json(response, 200, JSON.stringify(meta)),
      [...args, '--dry-run'],
    )
    expect([code, seen.map(({ method }) => method).filter((method) => method !== 'GET')]).toEqual([2, []])
    expect(last).toMatch(/does not support dry runs.*Update the server/)
  })

  it('a redirect is not followed with the key', async () => {
    const other: IncomingMessage[] = []
    const elsewhere = createServer((request, response) => {
      other.push(request)
      response.end(page)
    })
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
    const { port } = elsewhere.address() as { port: number }
    writeFileSync(join(folder.path, 'a.csv'), 'a\n1\n')
    try {
      for (const args of [['ls'], ['upload', 'a.csv']])
        await against((_, r) => r.writeHead(307, { location: `http://localhost:${port}/` }).end(), args)
      expect(other.filter(({ headers }) => headers.authorization !== undefined)).toEqual([])
      expect(other).toEqual([])
    } finally {
      elsewhere.close()
    }
  })

  it('a write without a response is retried with the same idempotency key', async () => {
    const keys: unknown[] = []
    const { code } = await against(
      (request, response, count) => {
        keys.push(request.headers['idempotency-key'])
        if (count === 1) response.destroy()
        else json(response, 201, '{"file":{"fid":"alice:1","filename":"x","filetype":"fold"},"warnings":[]}')
      },
      ['mkdir', 'x'],
    )
    expect([code, new Set(keys).size, keys.length]).toEqual([0, 1, 2])
  })

  it.skipIf(!hasOpenssl)('a self-signed certificate is refused, unless --ca-file names it', async () => {
    const at = (name: string): string => join(folder.path, name)
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
    const files = ['-keyout', at('key.pem'), '-out', at('cert.pem')]
    spawnSync('openssl', [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      ...files,
      ...subject,
    ])
    const tls = { key: readFileSync(at('key.pem')), cert: readFileSync(at('cert.pem')) }
    const server = createSecureServer(tls, (_, response) => json(response, 200, page))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const env = { GRIDLINE_URL: `https://localhost:${port}`, GRIDLINE_USER: 'a', GRIDLINE_API_KEY: 'b' }
    try {
      const refused = await gridline(['ls'], { home, env })
      expect([refused.code, refused.stderr]).toEqual([
        9,
        expect.stringMatching(/not trusted.*--ca-file FILE/),
      ])
      const trusted = await gridline(['ls', '--ca-file', at('cert.pem')], { home, env })
      expect([trusted.code, trusted.stderr]).toEqual([0, ''])
      expect((await gridline(['ls', '--ca-file', at('none.pem')], { home, env })).code).toBe(3)
    } finally {
      server.close()
    }
  })

  it('--verbose prints requests without the key', async () => {
    const { stderr } = await against((_, response) => json(response, 200, page), ['ls', '--verbose'])
    expect(stderr).toMatch(/^> GET http:.*\/v2\/folders\/home/m)
    expect(stderr).toMatch(/^> authorization: Basic …$/m)
    expect(stderr).toMatch(/^< 200 in \d+ ms$/m)
    expect(stderr).not.toContain('secret-key')
    expect(stderr).not.toContain(Buffer.from('alice:secret-key').toString('base64'))
  })
})
