// Unattended jobs: credentials, data loss, retries, links, backups.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect, createServer as createTcp } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gridline, serve } from '../support/cli.ts'
import { itLong } from '../support/property-runs.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
const database = `sqlite:${join(folder.path, 'served.db')}`
let server: Awaited<ReturnType<typeof serve>>
let key: string
let homes = 0

beforeAll(async () => {
  const home = newHome()
  const made = await gridline(['admin', 'create-user', 'alice', '--database', database, '--json'], { home })
  key = JSON.parse(made.stdout).api_key
  server = await serve(['-q', '--database', database], { home })
})
afterAll(async () => {
  await server.stop()
  folder.remove()
})

const newHome = (): string => join(folder.path, `home${homes++}`)
const as = (more: Record<string, string> = {}): Record<string, string> => ({
  GRIDLINE_URL: server.url,
  GRIDLINE_USER: 'alice',
  GRIDLINE_API_KEY: key,
  ...more,
})
const file = (name: string, text: string): string => {
  const path = join(folder.path, name)
  writeFileSync(path, text)
  return path
}

/** A server with programmable responses that records requests. */
async function fake(
  answer: (request: IncomingMessage, response: ServerResponse, count: number) => void,
): Promise<{ url: string; seen: IncomingMessage[]; stop: () => void }> {
  const seen: IncomingMessage[] = []
  const listening: Server = createServer((request, response) => {
    seen.push(request)
    request.resume()
    request.on('end', () => answer(request, response, seen.length))
  })
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  const { port } = listening.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    stop: () => {
      listening.close()
      listening.closeAllConnections()
    },
  }
}

const json = (
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}
const me = { username: 'alice', email: null, is_admin: false, date_joined: '2024-01-01 00:00:00' }

describe('a key belongs to one server', () => {
  it('a key is never sent to another URL, however that was set', async () => {
    const home = newHome()
    const own = await fake((_, response) => json(response, 200, me))
    const foreign = await fake((_, response) => json(response, 401, { errors: [{ message: 'who?' }] }))
    const run = (args: string[], env = {}, stdin?: string) => gridline(args, { home, env, stdin })
    expect((await run(['login', own.url, '--user', 'alice'], {}, 'secret-key\n')).code).toBe(0)
    expect(own.seen[0].headers.authorization).toContain('Basic')
    await run(['whoami'], { GRIDLINE_URL: foreign.url })
    const set = await run(['config', 'set', 'url', foreign.url])
    expect(set.stderr).toContain('was removed; log in with')
    await run(['whoami'])
    expect(readFileSync(join(home, 'config.json'), 'utf8')).not.toContain('secret-key')
    // Also if the file was edited by hand.
    await run(['login', own.url, '--user', 'alice'], {}, 'secret-key\n')
    const config = JSON.parse(readFileSync(join(home, 'config.json'), 'utf8'))
    config.profiles.default.url = foreign.url
    writeFileSync(join(home, 'config.json'), JSON.stringify(config))
    await run(['whoami'])
    expect(foreign.seen.length).toBeGreaterThanOrEqual(3)
    for (const { headers } of foreign.seen) expect(headers.authorization).toBeUndefined()
    own.stop()
    foreign.stop()
  })
})

describe('types and columns do not change without notice', () => {
  const home = newHome()
  const run = (args: string[], stdin?: string) => gridline(args, { home, stdin })

  it('append refuses a bad cell with line and column; --allow-type-change warns, also with -q', async () => {
    const csv = file('t.csv', 'day,price\n2024-01-01,1\n')
    await run(['upload', csv])
    const rows = file('rows.csv', 'day,price\n2024-01-02,2\n2024-01-03,abc\n')
    for (const args of [
      ['append', 't', rows],
      ['append', 't', '--row', '2024-01-02,abc'],
      ['upload', rows, '--name', 't', '--on-conflict', 'append'],
      ['append', 't', rows, '-q'],
    ]) {
      const { code, stdout, stderr } = await run(args)
      expect([code, stdout], args.join(' ')).toEqual([7, ''])
      expect(stderr).toMatch(
        /line \d, column price: abc would change the type of the column, which holds numbers/,
      )
    }
    expect((await run(['append', 't', '-'], '{"day": "2024-01-02", "price": "abc"}\n')).stderr).toContain(
      'line 1, column price: "abc"',
    )
    const allowed = await run(['append', 't', rows, '--allow-type-change', '-q'])
    expect([allowed.code, allowed.stderr]).toEqual([
      0,
      expect.stringContaining('column price held numbers and now holds text as well'),
    ])
    expect((await run(['column', 'list', 't'])).stdout).toContain('price\tmixed')
    expect((await run(['show', 't'])).stdout).toContain('price:mixed')
  })

  it('append reads booleans of a text file as booleans in a boolean column', async () => {
    await run(['upload', file('b.csv', 'n,ok\n1,true\n'), '--column', 'ok:boolean'])
    expect((await run(['append', 'b', '--row', '2,false'])).code).toBe(0)
    expect((await run(['cat', 'b', '--format', 'json'])).stdout).toContain('"data":[true,false]')
    const bad = await run(['append', 'b', '--row', '3,maybe'])
    expect([bad.code, bad.stderr]).toEqual([7, expect.stringContaining('"maybe" is not a boolean')])
  })

  itLong('a loss of columns or values is reported and requires confirmation', async () => {
    await run(['upload', file('wide.csv', 'a,b\n1,2\n3,4\n')])
    const narrow = file('narrow.csv', 'a\n1\n')
    const replace = ['upload', narrow, '--name', 'wide', '--on-conflict', 'replace']
    for (const [args, lost] of [
      [replace, 'would be lost: b'],
      [['column', 'remove', 'wide', 'b'], 'The values of b will be lost'],
      [['column', 'set', 'wide', 'b', '--data', '[1]'], 'the last value of the column will be lost'],
    ] as const) {
      const { code, stderr } = await run([...args])
      expect([code, stderr]).toEqual([2, expect.stringContaining(lost)])
      expect(stderr).toContain('--yes')
    }
    expect((await run(['cat', 'wide'])).stdout).toBe('a,b\n1,2\n3,4\n')
    expect((await run([...replace, '--yes'])).stdout).toContain('replaced')
    expect((await run(['upload', narrow, '--name', 'wide', '--on-conflict', 'replace'])).stdout).toContain(
      'unchanged',
    )
  })

  it('an empty result becomes a grid without rows', async () => {
    const { code, stdout } = await run(['upload', file('none.csv', 'a,b\n'), '--json', 'row_count,action'])
    expect([code, stdout]).toEqual([0, '[{"row_count":0,"action":"created"}]\n'])
    expect((await run(['append', 'none', '--row', '1,x'])).code).toBe(0)
    expect((await run(['cat', 'none'])).stdout).toBe('a,b\n1,x\n')
    expect((await run(['append', 'none', file('none2.csv', 'a,b\n')])).stdout).toMatch(/\t0\t1\t\d+\n$/)
  })
})

describe('a CI job', () => {
  it('a CI job without a server exits with 4 and writes nothing, unless the local profile is chosen', async () => {
    const home = newHome()
    const csv = file('ci.csv', 'a\n1\n')
    const run = (args: string[], env = {}) => gridline(args, { home, env: { CI: 'true', ...env } })
    const refused = await run(['upload', csv])
    expect([refused.code, refused.stdout]).toEqual([4, ''])
    expect(refused.stderr).toMatch(/no server is set.*GRIDLINE_URL.*--local/)
    expect(() => readdirSync(home)).toThrow()
    expect((await run(['upload', csv, '--local'])).code).toBe(0)
    expect((await run(['cat', 'ci'], { GRIDLINE_PROFILE: 'local' })).stdout).toBe('a\n1\n')
    expect((await run(['cat', 'ci', '--profile', 'local'])).code).toBe(0)
    expect((await run(['ls'], { CI: 'false' })).code).toBe(0)
    expect((await run(['upload', csv], as())).code).toBe(0)
  })
})

describe('an unattended pipeline', () => {
  itLong('an unreachable server stops a batch with one error and the list of untried files', async () => {
    const files = Array.from({ length: 60 }, (_, k) => file(`many${k}.csv`, `a\n${k}\n`))
    const { code, stdout, stderr } = await gridline(['upload', ...files], {
      home: newHome(),
      env: as({ GRIDLINE_URL: 'http://127.0.0.1:1' }),
    })
    expect([code, stdout]).toEqual([9, ''])
    expect(stderr.match(/^error: /gm)).toHaveLength(1)
    // The first report depends on timing; the others are in order.
    const failed = files.find((name) => stderr.includes(`error: ${name}: `))
    const others = files.filter((name) => name !== failed)
    expect(stderr).toContain(`59 more not attempted: ${others.slice(0, 5).join(', ')} …\n`)
  })

  it('Retry-After is obeyed, but a long one fails at once', async () => {
    const slow = await fake((_, response, count) =>
      count === 1
        ? json(response, 503, { errors: [{ code: 'overloaded', message: 'busy' }] }, { 'retry-after': '1' })
        : json(response, 200, me),
    )
    const env = as({ GRIDLINE_URL: slow.url })
    const began = performance.now()
    expect((await gridline(['whoami'], { home: newHome(), env })).code).toBe(0)
    expect(performance.now() - began).toBeGreaterThan(1000)
    slow.stop()
    const never = await fake((_, response) =>
      json(response, 429, { detail: 'later' }, { 'retry-after': '900' }),
    )
    const { code, stderr } = await gridline(['whoami'], {
      home: newHome(),
      env: as({ GRIDLINE_URL: never.url }),
    })
    expect([code, stderr]).toEqual([9, expect.stringContaining('Try again in 900 s')])
    never.stop()
  })

  it('--timeout aborts a command', async () => {
    const silent = createTcp(() => {})
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as { port: number }
    const { code, stderr } = await gridline(['ls', '--timeout', '0.5'], {
      home: newHome(),
      env: as({ GRIDLINE_URL: `http://127.0.0.1:${port}` }),
    })
    expect([code, stderr]).toEqual([9, expect.stringContaining('timed out after 0.5 s (--timeout)')])
    silent.close()
  })

  it('standard input is resent after a lost connection, and applied once', async () => {
    const { port } = new URL(server.url)
    let cuts = 0
    const proxy = createTcp((client) => {
      const upstream = connect(Number(port), '127.0.0.1')
      let passed = 0
      client.on('error', () => {})
      upstream.on('error', () => {})
      client.on('data', (chunk) => {
        passed += chunk.length
        if (passed > 200_000 && cuts === 0) {
          cuts++
          client.resetAndDestroy()
          upstream.destroy()
        } else upstream.write(chunk)
      })
      client.on('close', () => upstream.end())
      upstream.pipe(client)
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const at = proxy.address() as { port: number }
    const { code, stdout, stderr } = await gridline(
      ['upload', '-', '--name', 'piped', '--json', 'row_count,action'],
      {
        home: newHome(),
        env: as({ GRIDLINE_URL: `http://127.0.0.1:${at.port}` }),
        stdin: `n,text\n${Array.from({ length: 60_000 }, (_, k) => `${k},text ${k}\n`).join('')}`,
      },
    )
    expect([code, stdout, cuts], stderr).toEqual([0, '[{"row_count":60000,"action":"created"}]\n', 1])
    proxy.close()
  })

  it('the target of a redirect is reported, with and without a body', async () => {
    const moved = await fake((_, response) =>
      response.writeHead(301, { location: 'https://127.0.0.1/v2/users/current' }).end(),
    )
    for (const args of [['whoami'], ['upload', file('r.csv', 'a\n1\n')]]) {
      const { code, stderr } = await gridline(args, { home: newHome(), env: as({ GRIDLINE_URL: moved.url }) })
      expect([code, stderr], args.join(' ')).toEqual([
        1,
        expect.stringContaining('redirects from http to https: https://127.0.0.1'),
      ])
    }
    moved.stop()
  })

  itLong('server URLs without a scheme or with /v2/ are accepted, other schemes refused', async () => {
    const { host } = new URL(server.url)
    for (const url of [host.replace('127.0.0.1', 'localhost'), `${server.url}/v2/`, `${server.url}/`])
      expect(
        (await gridline(['whoami', '-q'], { home: newHome(), env: as({ GRIDLINE_URL: url }) })).stdout,
      ).toBe('alice\n')
    expect((await gridline(['whoami'], { home: newHome(), env: as({ GRIDLINE_URL: 'ftp://x' }) })).code).toBe(
      2,
    )
  })

  it('an HTML page received instead of JSON is summarized in one line', async () => {
    const page = await fake((_, response) =>
      response
        .writeHead(404, { 'content-type': 'text/html' })
        .end('<!doctype html>\n<html><head><title>Welcome to\n nginx!</title></head><body>…</body></html>'),
    )
    const { code, stderr } = await gridline(['whoami'], {
      home: newHome(),
      env: as({ GRIDLINE_URL: page.url }),
    })
    expect([code, stderr]).toEqual([
      3,
      'error: the server responded with status 404: a page, not JSON: Welcome to nginx! Check that the URL is a Gridline server: gridline config list\n',
    ])
    page.stop()
  })

  itLong('a failing proxy is named without its password; the client sends a User-Agent', async () => {
    const { code, stderr } = await gridline(['whoami'], {
      home: newHome(),
      env: as({ GRIDLINE_URL: 'http://charts.example', HTTP_PROXY: 'http://me:secret@127.0.0.1:1' }),
    })
    expect([code, stderr]).toEqual([9, expect.stringContaining('through the proxy http://127.0.0.1:1')])
    expect(stderr).not.toContain('secret')
    const seen = await fake((_, response) => json(response, 200, me))
    await gridline(['whoami'], { home: newHome(), env: as({ GRIDLINE_URL: seen.url }) })
    expect(seen.seen[0].headers['user-agent']).toMatch(/^gridline\/\d+\.\d+\.\d+$/)
    seen.stop()
  })
})

describe('a job that runs again', () => {
  itLong(
    'append with --idempotency-key is applied once; each of several files gets its own key',
    async () => {
      const run = (args: string[]) => gridline(args, { home: newHome(), env: as() })
      await run(['upload', file('once.csv', 'a\n1\n')])
      for (const _ of [1, 2])
        expect((await run(['append', 'once', '--row', '2', '--idempotency-key', 'job-7'])).code).toBe(0)
      expect((await run(['cat', 'once'])).stdout).toBe('a\n1\n2\n')
      const several = ['one.csv', 'two.csv'].map((name) => file(name, `a\n${name}\n`))
      for (const _ of [1, 2]) {
        const { code, stdout } = await run(['upload', ...several, '--idempotency-key', 'job-8'])
        expect([code, stdout.trim().split('\n')]).toEqual([0, [expect.any(String), expect.any(String)]])
      }
      const other = await run(['append', 'once', '--row', '3', '--idempotency-key', 'job-7'])
      expect([other.code, other.stderr]).toEqual([6, expect.stringContaining('used for another request')])
    },
  )
})

describe('links', () => {
  itLong(
    'links of the local database use the last URL of serve; the profile local remains after login',
    async () => {
      const home = newHome()
      const csv = file('linked.csv', 'a\n1\n')
      const run = (args: string[], stdin?: string) => gridline(args, { home, stdin })
      expect((await run(['upload', csv])).stdout).toContain('http://127.0.0.1:8080/~')
      // A server on a random free port leaves no URL behind.
      const any = await serve(['-q'], { home })
      const shown = async () =>
        JSON.parse((await run(['show', 'linked', '--json', 'web_url'])).stdout).web_url
      expect((await shown()).startsWith(any.url)).toBe(true)
      await any.stop()
      expect(await shown()).toContain('http://127.0.0.1:8080/~')
      const own = await serve(['-q', '--port', new URL(any.url).port], { home })
      const link = await shown()
      expect(link.startsWith(own.url)).toBe(true)
      await own.stop()
      expect((await run(['cat', link])).stdout).toBe('a\n1\n')
      await gridline(['login', server.url, '--user', 'alice'], { home, stdin: `${key}\n` })
      expect((await run(['whoami', '--json', 'username'])).stdout).toBe('{"username":"alice"}\n')
      expect((await run(['cat', 'linked', '--local'])).stdout).toBe('a\n1\n')
      expect((await run(['profile', 'use', 'local'])).code).toBe(0)
      expect((await run(['cat', 'linked'])).stdout).toBe('a\n1\n')
      expect((await run(['profile', 'list'])).stdout).toMatch(/^\*\tlocal\t/m)
      expect(
        (await run(['login', server.url, '--user', 'alice', '--profile', 'local'], `${key}\n`)).code,
      ).toBe(2)
    },
  )

  it('links with a share key work without settings, also in a CI job', async () => {
    const run = (args: string[]) => gridline(args, { home: newHome(), env: as() })
    await run(['upload', file('shared.csv', 'a,b\n1,x\n')])
    const [{ share_link }] = JSON.parse((await run(['share', 'shared', '--link', '--json'])).stdout)
    for (const env of [{}, { CI: 'true' }] as Record<string, string>[]) {
      expect((await gridline(['cat', share_link], { home: newHome(), env })).stdout).toBe('a,b\n1,x\n')
      expect(
        (await gridline(['show', share_link, '--json', 'row_count'], { home: newHome(), env })).stdout,
      ).toBe('{"row_count":1}\n')
    }
    const without = share_link.replace(/\?.*/, '')
    expect((await gridline(['cat', without], { home: newHome() })).code).toBe(3)
  })

  it('api -f sends strings and -F typed values, as in gh', async () => {
    const run = (args: string[]) => gridline(args, { home: newHome(), env: as() })
    const made = await run([
      'api',
      'POST',
      '/v2/folders',
      '-f',
      'path=123',
      '-F',
      'world_readable=true',
      '--jq',
      '.file',
    ])
    expect(JSON.parse(made.stdout)).toMatchObject({ filename: '123', world_readable: true })
    const wrong = await run(['api', 'POST', '/v2/folders', '-F', 'path=124'])
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('path: must be a string')])
  })
})

describe('the database of a server', () => {
  itLong(
    'the database of a server can be backed up while running, restored when stopped, verified and compacted',
    async () => {
      const home = newHome()
      const run = (args: string[]) => gridline(args, { home })
      await run(['upload', file('kept.csv', 'a\n1\n')])
      const own = await serve(['-q'], { home })
      // The reserve for a full disk.
      expect(statSync(join(home, 'gridline.db-reserve')).size).toBe(16 * 1024 * 1024)
      const copy = join(folder.path, 'copy.db')
      expect((await run(['admin', 'backup', copy])).stdout).toBe(`${copy}\n`)
      expect(statSync(copy).mode & 0o777).toBe(0o600)
      await run(['trash', 'kept'])
      const busy = await run(['admin', 'restore', copy, '--yes'])
      expect([busy.code, busy.stderr]).toEqual([6, expect.stringContaining('another process is using')])
      expect((await run(['admin', 'compact'])).stderr).toContain('other processes may be using the database')
      await own.stop()
      expect((await run(['admin', 'restore', copy])).code).toBe(2)
      expect((await run(['admin', 'restore', copy, '--yes'])).stderr).toContain('before-restore')
      expect((await run(['cat', 'kept'])).stdout).toBe('a\n1\n')
      expect((await run(['admin', 'verify'])).stdout).toMatch(
        /^files\t1\ngrids\t1\nslices\t1\nblobs\t\d+\nbytes\t\d+\ndamage\t0\n$/,
      )
      expect((await run(['admin', 'compact'])).code).toBe(0)
      expect((await run(['admin', 'restore', file('no.db', 'nonsense'), '--yes'])).code).toBe(7)
      expect((await run(['admin', 'backup', copy, '--database', 'postgres://x/y'])).stderr).toContain(
        'pg_dump',
      )
    },
  )
})
