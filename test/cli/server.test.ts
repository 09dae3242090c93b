// Commands against a running server; signals, pipes, two processes.
import { once } from 'node:events'
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { zip } from '../support/archives.ts'
import { gridline, serve, start } from '../support/cli.ts'
import { startIssuer } from '../support/fake-oidc-issuer.ts'
import { itLong, runs } from '../support/property-runs.ts'
import { temporaryFolder } from '../support/service.ts'

/** Size of a large upload from a pipe. */
const MEGABYTES = runs(60, 300)
const folder = temporaryFolder()
const home = (name: string): string => {
  const path = join(folder.path, name)
  mkdirSync(path, { recursive: true })
  return path
}
const file = (name: string, content: string): string => {
  const path = join(folder.path, name)
  writeFileSync(path, content)
  return path
}
const rows = (count: number): string =>
  `n,text\n${Array.from({ length: count }, (_, k) => `${k},some text of row ${k}\n`).join('')}`
afterAll(folder.remove)

async function newUser(serverHome: string, name: string): Promise<string> {
  const { stdout } = await gridline(['admin', 'create-user', name, '--json'], { home: serverHome })
  const made = JSON.parse(stdout)
  expect(made).toMatchObject({ username: name, api_key: expect.any(String) })
  return made.api_key
}

it('--health-port answers /healthz on a separate port', async () => {
  const free = createServer().listen(0, '127.0.0.1')
  await once(free, 'listening')
  const { port } = free.address() as { port: number }
  free.close()
  await once(free, 'close')
  const server = await serve(['--health-port', String(port)], { home: home('health') })
  const statuses = ['healthz', 'v2/users/current'].map(
    async (path) => (await fetch(`http://127.0.0.1:${port}/${path}`)).status,
  )
  expect(await Promise.all(statuses)).toEqual([200, 404])
  await server.stop()
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow()
})

it.each(['none', 'sqlite://%/gridline.db'])(
  'nobody who signs in gets the name of the user of this machine, with --database %s',
  async (database) => {
    const issuer = await startIssuer()
    const at = home(`sign-in ${database.length}`)
    const chosen = database === 'none' ? [] : ['--database', database.replace('%', at)]
    const server = await serve(['--oidc-issuer', issuer.url, '--oidc-client-id', 'gridline', ...chosen], {
      home: at,
      env: { GRIDLINE_OIDC_CLIENT_SECRET: 'the secret' },
    })
    const get = (path: string, cookie: string) =>
      fetch(server.url + path, { redirect: 'manual', headers: { cookie } })
    const leaving = await get('/signin/oidc', '')
    const claims = { sub: 'mallory', preferred_username: userInfo().username }
    const back = new URL(issuer.approve(leaving.headers.get('location')!, claims))
    const signedIn = await get(back.pathname + back.search, leaving.headers.get('set-cookie')!.split(';')[0])
    const session = signedIn.headers.getSetCookie().find((cookie) => cookie.startsWith('gridline_session='))!
    const { username } = (await (await get('/v2/users/current', session)).json()) as { username: string }
    expect(username).toBe(`${userInfo().username}-2`)
    await server.stop()
    await issuer.stop()
  },
)

describe('a server', () => {
  const serverHome = home('server')
  let server: Awaited<ReturnType<typeof serve>>
  const keys: Record<string, string> = {}
  beforeAll(async () => {
    server = await serve([], { home: serverHome })
    for (const name of ['alice', 'bob']) keys[name] = await newUser(serverHome, name)
  })
  afterAll(() => server.stop())
  const as = (name: string) => ({
    GRIDLINE_URL: server.url,
    GRIDLINE_USER: name,
    GRIDLINE_API_KEY: keys[name],
  })

  it('after login, all commands use the server', async () => {
    const alice = home('alice')
    const login = await gridline(['login', server.url, '--user', 'alice'], {
      home: alice,
      stdin: `${keys.alice}\n`,
    })
    expect([login.code, login.stdout, login.stderr]).toEqual([
      0,
      `alice\t${server.url}\tdefault\n`,
      `Logged in to ${server.url} as alice.\n`,
    ])
    expect(statSync(join(alice, 'config.json')).mode & 0o777).toBe(0o600)
    const csv = file('served.csv', rows(3))
    const up = await gridline(['upload', csv, '--json'], { home: alice })
    expect(up.code, up.stderr).toBe(0)
    expect(JSON.parse(up.stdout)[0]).toMatchObject({
      owner: 'alice',
      filename: 'served',
      row_count: 3,
      web_url: `${server.url}/~alice/0/`,
    })
    expect(
      (await gridline(['append', 'served', '--row', '3,x', '--json', 'row_count'], { home: alice })).stdout,
    ).toBe('{"row_count":4}\n')
    expect((await gridline(['cat', 'served', '--head', '1'], { home: alice })).stdout).toBe(
      'n,text\n0,some text of row 0\n',
    )
    expect((await gridline(['whoami'], { home: alice })).stdout).toBe(
      `alice\t${server.url}\tdefault\tprofile default\n`,
    )
    expect((await gridline(['config', 'get', 'api_key'], { home: alice })).stdout).not.toContain(keys.alice)
    expect(existsSync(join(alice, 'gridline.db'))).toBe(false)
    expect((await gridline(['logout'], { home: alice })).code).toBe(0)
    expect((await gridline(['ls'], { home: alice })).stdout).toBe('')
  })

  it('a plan for more files than connections is made', async () => {
    const tables = Array.from({ length: 70 }, (_, k) => [`t${k}.csv`, 'a\n1\n'])
    const archive = join(folder.path, 'many.zip')
    writeFileSync(archive, await zip(Object.fromEntries(tables)))
    const run = (...args: string[]) => gridline(args, { home: home('planner'), env: as('alice') })
    expect((await run('upload', archive)).code).toBe(0)
    const plan = join(folder.path, 'plan.json')
    const made = await run('upload', archive, '--on-conflict', 'replace', '--plan', plan)
    expect([made.code, existsSync(plan)], made.stderr).toEqual([0, true])
  })

  it('commands exit with 4 for a wrong key and 3 for a private grid of another user', async () => {
    const wrong = await gridline(['ls'], {
      home: home('w'),
      env: { ...as('alice'), GRIDLINE_API_KEY: 'wrong' },
    })
    expect([wrong.code, wrong.stdout, wrong.stderr]).toEqual([
      4,
      '',
      expect.stringMatching(/^error: wrong username or API key/),
    ])
    const refused = await gridline(['login', server.url, '--user', 'alice'], {
      home: home('w'),
      stdin: 'wrong',
    })
    expect(refused.code).toBe(4)
    await gridline(['upload', file('mine.csv', rows(1)), '--json'], { home: home('w'), env: as('alice') })
    const found = JSON.parse(
      (await gridline(['lookup', 'mine', '--json'], { home: home('w'), env: as('alice') })).stdout,
    )
    const hidden = await gridline(['cat', found.fid], { home: home('w'), env: as('bob') })
    const absent = await gridline(['cat', 'alice:12345'], { home: home('w'), env: as('bob') })
    expect([hidden.code, hidden.stderr]).toEqual([3, absent.stderr])
  })

  it('an upload is resent after a lost connection, and applied once', async () => {
    const { proxy, url, cuts } = await cuttingProxy(server.url, 300_000)
    const csv = file('cut.csv', rows(40_000))
    const up = await gridline(['upload', csv, '--json', 'row_count'], {
      home: home('c'),
      env: { ...as('alice'), GRIDLINE_URL: url },
    })
    expect([up.code, up.stdout, up.stderr]).toEqual([0, '[{"row_count":40000}]\n', ''])
    expect(cuts()).toBe(1)
    proxy.close()
    const names = (await gridline(['ls', '--json', 'filename'], { home: home('c'), env: as('alice') })).stdout
    expect(
      JSON.parse(names).filter(({ filename }: { filename: string }) => filename.startsWith('cut')),
    ).toHaveLength(1)
  })

  itLong('commands exit with 9 if the server is down or does not answer', async () => {
    const down = await gridline(['ls'], {
      home: home('d'),
      env: { ...as('alice'), GRIDLINE_URL: 'http://127.0.0.1:59998' },
    })
    expect([down.code, down.stderr.split('\n').slice(-2).join('\n')]).toEqual([
      9,
      'error: no response from http://127.0.0.1:59998: the connection was refused. Check the server and its URL (gridline config list).\n',
    ])
    const silent = createServer(() => {})
    const port = await listening(silent)
    const slow = await gridline(['ls'], {
      home: home('d'),
      env: { ...as('alice'), GRIDLINE_URL: `http://127.0.0.1:${port}`, GRIDLINE_TIMEOUT_MS: '50' },
    })
    expect([slow.code, slow.stderr]).toEqual([
      9,
      expect.stringMatching(/^error: no response from .*: it did not respond in time/m),
    ])
    silent.close()
  })

  it('bad data in the middle of a long upload is reported, also from a pipe', async () => {
    const bad = `${rows(20_000)}1,2,3\n${rows(900_000).slice(7)}`
    const piped = await gridline(['upload', '-', '--name', 'piped'], {
      home: home('b'),
      env: as('alice'),
      stdin: bad,
    })
    expect([piped.code, piped.stderr]).toEqual([
      7,
      expect.stringMatching(/^error: standard input, line 20002: expected 2 cells, found 3: 1,2,3/),
    ])
  })

  it(`upload reads ${MEGABYTES} MB from a pipe with backpressure`, async () => {
    const child = start(['upload', '-', '--name', 'flat', '-q'], { home: home('flat'), env: as('alice') })
    const closed = new Promise((resolve) => child.on('close', resolve))
    child.stdin!.write('n,text\n')
    const block = Buffer.from(rows(40_000).slice(7))
    for (let sent = 0; sent < MEGABYTES << 20; sent += block.length) {
      if (!child.stdin!.write(block)) await once(child.stdin!, 'drain')
    }
    child.stdin!.end()
    expect(await closed).toBe(0)
  })

  it('HEAD returns the headers of GET without a body', async () => {
    const answer = await fetch(`${server.url}/v2/users/nobody-of-that-name`, { method: 'HEAD' })
    expect(answer.status).toBe(404)
    const index = await fetch(`${server.url}/v2`, { method: 'HEAD' })
    expect([index.status, await index.text()]).toEqual([200, ''])
  })

  it('serve reports a port that is in use', async () => {
    const again = await gridline(['serve', '--port', new URL(server.url).port], { home: serverHome })
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/the port is in use/)])
  })
})

describe('interruption', () => {
  it('Ctrl-C during an upload exits with 130 and leaves no partial grid', async () => {
    const place = home('interrupted')
    // A pipe that stays open keeps the upload running.
    const child = start(['upload', '-', '--name', 'half'], { home: place })
    child.stdin!.write(rows(30_000))
    const database = join(place, 'gridline.db')
    while (!existsSync(`${database}-wal`) || statSync(`${database}-wal`).size < 100_000) {
      child.stdin!.write(rows(3000).slice(7))
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    const closed = new Promise<number | null>((resolve) => child.on('close', resolve))
    let stderr = ''
    child.stderr!.on('data', (chunk) => {
      stderr += chunk
    })
    child.stdin!.on('error', () => {})
    child.kill('SIGINT')
    expect([await closed, stderr]).toEqual([130, expect.stringMatching(/\ninterrupted\n$/)])
    expect((await gridline(['ls', '--all'], { home: place })).stdout).toBe('')
  })

  it('Ctrl-C stops the output of rows', async () => {
    const place = home('printing')
    await gridline(['upload', file('printed.csv', rows(300_000)), '-q'], { home: place })
    const child = start(['cat', 'printed'], { home: place })
    child.stdout!.once('data', () => {
      child.stdout!.pause()
      child.kill('SIGINT')
    })
    expect(await new Promise((resolve) => child.on('exit', resolve))).toBe(130)
  })

  it('a closed pipe is not an error', async () => {
    const place = home('left')
    await gridline(['upload', file('long.csv', rows(200_000)), '-q'], { home: place })
    const child = start(['cat', 'long'], { home: place })
    child.stdout!.once('data', () => child.stdout!.destroy())
    const code = await new Promise((resolve) => child.on('exit', resolve))
    expect(code).toBe(0)
  })
})

describe('two processes on one database', () => {
  it('two processes write to one database concurrently without losing data', async () => {
    const place = home('shared')
    await gridline(['upload', file('shared.csv', 'who,n\nx,0\n')], { home: place })
    const run = async (who: string): Promise<number[]> => {
      const codes: number[] = []
      for (let n = 0; n < 6; n++)
        codes.push((await gridline(['append', 'shared', '--row', `${who},${n}`], { home: place })).code!)
      return codes
    }
    const uploads = gridline(['upload', file('other.csv', rows(100_000)), '-q'], { home: place })
    const codes = (await Promise.all([run('a'), run('b')])).flat()
    expect(codes).toEqual(Array(12).fill(0))
    expect((await uploads).code).toBe(0)
    const lines = (await gridline(['cat', 'shared'], { home: place })).stdout.trim().split('\n')
    expect(lines).toHaveLength(14)
    expect(new Set(lines).size).toBe(14)
  })

  it('grids created without a server are available at their links on the server', async () => {
    const place = home('both')
    await gridline(['upload', file('both.csv', rows(2)), '--public', '-q'], { home: place })
    const server = await serve([], { home: place })
    const { fid } = JSON.parse((await gridline(['lookup', 'both', '--json'], { home: place })).stdout)
    const answer = await fetch(`${server.url}/v2/grids/${fid}/content`)
    expect(((await answer.json()) as { cols: { n: { data: number[] } } }).cols.n.data).toEqual([0, 1])
    expect(await server.stop()).toBe(0)
  })
})

/** A proxy that cuts the first connection after a number of bytes. */
async function cuttingProxy(
  target: string,
  after: number,
): Promise<{ proxy: Server; url: string; cuts: () => number }> {
  let cuts = 0
  const { hostname, port } = new URL(target)
  const proxy = createServer((socket: Socket) => {
    const onward = connect(Number(port), hostname)
    let seen = 0
    const cut = cuts === 0
    socket.on('data', (chunk) => {
      seen += chunk.length
      if (cut && seen > after) {
        cuts++
        socket.destroy()
        onward.destroy()
      } else onward.write(chunk)
    })
    onward.on('data', (chunk) => socket.write(chunk))
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      one.on('error', () => {})
      one.on('close', () => other.destroy())
    }
  })
  return { proxy, url: `http://127.0.0.1:${await listening(proxy)}`, cuts: () => cuts }
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
  )
}

describe('login of CI jobs without a stored key', () => {
  it('login --oidc works with a token in the environment, and with one that GitHub issues', async () => {
    const serverHome = home('oidc-server')
    const issuer = await startIssuer()
    const server = await serve([], { home: serverHome })
    try {
      await newUser(serverHome, 'ci')
      const trusted = await gridline(
        ['admin', 'trust', 'add', issuer.url, 'repo:o/r:*', '--user', 'ci', '--json', 'username'],
        { home: serverHome },
      )
      expect([trusted.stdout, trusted.code]).toEqual(['{"username":"ci"}\n', 0])
      const environments: Record<string, string>[] = [
        { GRIDLINE_OIDC_TOKEN: await issuer.token({ sub: 'repo:o/r:main', aud: server.url }) },
        {
          ACTIONS_ID_TOKEN_REQUEST_URL: `${issuer.url}/github?x=1`,
          ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'request token',
        },
      ]
      for (const [k, env] of environments.entries()) {
        const job = { home: home(`job${k}`), env: { CI: 'true', ...env } }
        const login = await gridline(['login', server.url, '--oidc', '-q'], job)
        expect([login.code, login.stdout, login.stderr]).toEqual([0, 'ci\n', ''])
        expect((await gridline(['whoami', '-q'], job)).stdout).toBe('ci\n')
      }
      const none = await gridline(['login', server.url, '--oidc'], { home: home('no-job') })
      expect([none.code, none.stderr]).toEqual([
        4,
        expect.stringMatching(/no identity token.*id-token: write/),
      ])
    } finally {
      await server.stop()
      await issuer.stop()
    }
  })
})
