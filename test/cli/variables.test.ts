// Settings of serve from flags, variables and files.
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { command } from '../../src/cli/commands/serve.ts'
import { maskCommandLine, readVariableFiles } from '../../src/cli/core/environment.ts'
import { ENVIRONMENT_VARIABLES } from '../../src/cli/help/environment.ts'
import { gridline, serve, start } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(folder.remove)

function file(name: string, text: string): string {
  const path = join(folder.path, name)
  writeFileSync(path, text)
  return path
}

describe('settings of serve', () => {
  it('every setting of serve has a flag, a variable and a file', () => {
    const without = command
      .options!.filter(({ variable }) => variable === undefined)
      .map(({ flags }) => flags)
    expect(without).toEqual(['--limit <name=value>'])
    for (const { variable } of command.options!)
      if (variable) expect(Object.keys(ENVIRONMENT_VARIABLES)).toContain(variable)
  })

  it('settings come from variables and files where no flag is given, for serve and admin', async () => {
    const database = `sqlite:${join(folder.path, 'served.db')}`
    const options = {
      home: folder.path,
      env: {
        GRIDLINE_DATABASE_FILE: file('database', `${database}\n`),
        GRIDLINE_PUBLIC_URL: 'https://charts.example.com',
        GRIDLINE_SERVER_NAME: 'a',
        // A variable that Kubernetes sets for a service named gridline.
        GRIDLINE_PORT: 'tcp://10.0.0.1:8080',
      },
    }
    const made = await gridline(['admin', 'create-user', 'alice', '--json'], options)
    expect(existsSync(join(folder.path, 'served.db'))).toBe(true)
    const { api_key: key } = JSON.parse(made.stdout)
    const server = await serve(['--limit', 'requests_at_once=9'], options)
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const created = await fetch(`${server.url}/v2/folders`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ path: 'here' }),
    })
    expect(created.headers.get('location') ?? (await created.text())).toContain('https://charts.example.com')
    await server.stop()
  })

  it.each([
    [{ GRIDLINE_PORT: 'abc' }, /GRIDLINE_PORT=abc: must be a whole number/],
    [{ GRIDLINE_ALLOW_URL_IMPORT: 'maybe' }, /GRIDLINE_ALLOW_URL_IMPORT=maybe: must be 1 or 0/],
    [{ GRIDLINE_LIMIT_PAGE_SIZE_FILE: file('page-size', 'many') }, /GRIDLINE_LIMIT_PAGE_SIZE=many/],
    [{ GRIDLINE_DATABASE_FILE: '/nowhere/at/all' }, /GRIDLINE_DATABASE_FILE: cannot read .*ENOENT/],
    [{ GRIDLINE_SMTP: 'x', GRIDLINE_SMTP_FILE: '/x' }, /both GRIDLINE_SMTP and GRIDLINE_SMTP_FILE are set/],
  ])('invalid settings are named: %j', async (env, message) => {
    const done = await gridline(['serve'], { home: folder.path, env })
    expect([done.code, done.stderr]).toEqual([2, expect.stringMatching(message)])
  })

  it('a database setting that names a folder or a foreign file is refused, and its mode is kept', async () => {
    const place = join(folder.path, 'theirs')
    mkdirSync(place, { mode: 0o755 })
    chmodSync(place, 0o755)
    const text = join(place, 'text')
    writeFileSync(text, 'something else', { mode: 0o644 })
    for (const [path, what] of [
      [place, 'this is not a file'],
      [text, 'this is not a SQLite database'],
    ]) {
      const before = statSync(path).mode
      const done = await gridline(['admin', 'user', 'list', '--database', `sqlite:${path}`], {
        home: folder.path,
      })
      expect([done.code, done.stderr]).toEqual([
        2,
        expect.stringContaining(`--database sqlite:${path}: ${what}`),
      ])
      expect(statSync(path).mode).toBe(before)
    }
  })

  it('settings never reveal their passwords', async () => {
    const database = 'postgres://u:secret@127.0.0.1:1/x'
    const done = await gridline(['admin', 'user', 'disable', 'nobody', '--yes', '--database', database], {
      home: folder.path,
    })
    expect([done.code, done.stderr.includes('secret')]).toEqual([9, false])
    expect(maskCommandLine(['--database', 'postgres://h/db?user=u&password=secret&x=1'])).toEqual([
      '--database',
      'postgres://h/db?user=u&password=***&x=1',
    ])
  })

  it('a signal ends the server at any moment of its startup', async () => {
    const ends = [0, 60, 120, 180, 240, 300, 400].map(async (ms) => {
      const child = start(['serve', '--port', '0'], {
        home: join(folder.path, `signal-${ms}`),
        env: { GRIDLINE_LIMIT_DRAIN_SECONDS: '0' },
      })
      const gone = new Promise((resolve) => child.once('exit', resolve))
      setTimeout(() => child.kill('SIGTERM'), ms)
      await gone
    })
    await Promise.all(ends)
  })

  it('a setting whose file is empty is refused', () => {
    expect(() => readVariableFiles({ GRIDLINE_SMTP_FILE: file('empty', '\n') })).toThrow(
      /is empty, binary or longer/,
    )
  })

  it('AWS credentials come from files too; files for other programs are ignored', () => {
    const key = file('secret', 'abc\r\n')
    expect(
      readVariableFiles({
        AWS_SECRET_ACCESS_KEY_FILE: key,
        AWS_SHARED_CREDENTIALS_FILE: '/c',
        GRIDLINE_FILE: '/c',
      }),
    ).toEqual({
      AWS_SECRET_ACCESS_KEY: 'abc',
      AWS_SHARED_CREDENTIALS_FILE: '/c',
      GRIDLINE_FILE: '/c',
    })
  })
})

describe('passwords', () => {
  it('passwords in URLs are hidden from the process list', async () => {
    expect(
      maskCommandLine(['--smtp', 'smtp://me:p:w@host', '--database', 'postgres://u:x@db/n', 'a:b@c']),
    ).toEqual(['--smtp', 'smtp://me:***@host', '--database', 'postgres://u:***@db/n', 'a:b@c'])
    expect(maskCommandLine(['postgres://u@db/n', 'https://example.com/a:b@c'])).toBeUndefined()
    if (process.platform !== 'linux') return
    const server = await serve(['--smtp', 'smtp://me:geheim@localhost:25'], { home: folder.path })
    expect(readFileSync(`/proc/${server.child.pid}/cmdline`, 'utf8')).toMatch(/^gridline serve.*me:\*\*\*@/)
    await server.stop()
  })
})
