// Behavior on a terminal: tables, colors, prompts, pager, progress, Ctrl-C.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gridline, serve } from '../support/cli.ts'
import { itLong } from '../support/property-runs.ts'
import { temporaryFolder } from '../support/service.ts'
import { hasTerminal, inTerminal, type TerminalOptions } from '../support/terminal.ts'

const folder = temporaryFolder()
const cwd = folder.path
const home = join(cwd, 'home')
const shown = (args: string[], more: Partial<TerminalOptions> = {}) =>
  inTerminal(args, { home, cwd, ...more })
const COLOR = /\u001b\[\d/
afterAll(folder.remove)

describe.skipIf(!hasTerminal)('on a terminal', () => {
  beforeAll(async () => {
    mkdirSync(home, { recursive: true })
    const wide = Array.from({ length: 30 }, (_, k) => `column_${k}`)
    writeFileSync(join(cwd, 'wide.csv'), `${wide.join(',')}\n${wide.map((_, k) => k).join(',')}\n`)
    writeFileSync(
      join(cwd, 'long.csv'),
      `n,text\n${Array.from({ length: 2000 }, (_, k) => `${k},row ${k}\n`).join('')}`,
    )
    writeFileSync(join(cwd, 'evil.csv'), 'a\n"\u001b]0;evil\u0007\u001b[2Jx"\n')
    await gridline(['upload', 'wide.csv', 'long.csv', 'evil.csv'], { home, cwd })
  })

  it('on a terminal, lists are tables with relative times, in color', async () => {
    const { shown: text, code } = await shown(['ls'])
    expect([code, text]).toEqual([0, expect.stringMatching(/FID.*NAME.*TYPE.*ACCESS.*MODIFIED/)])
    expect(text).toMatch(/wide +grid +private +(just now|\d+ \w+ ago)/)
    expect(text).toMatch(COLOR)
  })

  it.each([
    ['NO_COLOR', { NO_COLOR: '1' }, false],
    ['TERM=dumb', { TERM: 'dumb' }, false],
    ['NO_COLOR before FORCE_COLOR', { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
    ['CLICOLOR_FORCE with TERM=dumb', { CLICOLOR_FORCE: '1', TERM: 'dumb' }, true],
    ['FORCE_COLOR=0', { FORCE_COLOR: '0' }, false],
  ])('%s decides on colors in the terminal', async (_, env, isColored) => {
    expect(COLOR.test((await shown(['ls'], { env })).shown)).toBe(isColored)
  })

  it('FORCE_COLOR colors tables in a pipe', async () => {
    const { stdout } = await gridline(['ls', '--format', 'table'], { home, cwd, env: { FORCE_COLOR: '1' } })
    expect(stdout).toMatch(COLOR)
  })

  it('on a terminal, a grid is a table that fits the width, and says what it omits', async () => {
    const { shown: text } = await shown(['cat', 'wide'], { columns: 60, env: { NO_COLOR: '1' } })
    for (const line of text.split('\r\n').slice(0, 2)) expect(line.length).toBeLessThanOrEqual(60)
    expect(text).toMatch(/\d of 30 columns; not shown: column_\d/)
  })

  it('at 60 columns, lists omit the least important columns', async () => {
    const name = 'a name that needs a lot of room'
    writeFileSync(join(cwd, `${name}.csv`), 'amount,city\n1.5,Oslo\n2.5,Rome\n')
    await gridline(['upload', `${name}.csv`], { home, cwd })
    const env = { NO_COLOR: '1' }
    for (const args of [['ls'], ['ls', '--all'], ['describe', name]]) {
      const { shown: text } = await shown(args, { columns: 60, env })
      for (const line of text.split('\r\n')) expect(line.length, text).toBeLessThanOrEqual(60)
    }
    expect((await shown(['describe', name], { columns: 120, env })).shown).toMatch(
      /MIN +25 % +MEDIAN +75 % +MAX +MEAN +TREND/,
    )
  })

  it('a long grid is cut with a note, and goes through the pager', async () => {
    const cut = await shown(['cat', 'long'], { env: { NO_COLOR: '1' } })
    expect(cut.shown).toMatch(/1000 of 2000 rows\r\n$/)
    const paged = await shown(['cat', 'long'], { env: { PAGER: 'head -n 3', NO_COLOR: '1' } })
    expect(paged.shown.trim().split('\r\n')).toHaveLength(3)
    const none = await shown(['cat', 'long', '--no-pager', '--limit', '2'], { env: { PAGER: 'false' } })
    expect(none.shown).toMatch(/row 1/)
  })

  it('control characters of data never reach the terminal', async () => {
    const { shown: text } = await shown(['cat', 'evil'], { env: { NO_COLOR: '1' } })
    expect(text).not.toMatch(/[\u0007\u001b]/)
    expect(text).toMatch(/x/)
  })

  it('a newer version is announced once a day; npm is queried in the background', async () => {
    const own = join(cwd, 'update-home')
    const bin = join(cwd, 'bin')
    mkdirSync(own)
    mkdirSync(bin)
    writeFileSync(join(bin, 'npm'), '#!/bin/sh\necho 99.1.0\n', { mode: 0o755 })
    const env = { GRIDLINE_NO_UPDATE_NOTICE: '', PATH: `${bin}:${process.env.PATH}` }
    const look = () => inTerminal(['config', 'list'], { home: own, cwd, env })
    expect((await look()).shown).not.toMatch(/is available/)
    await expect
      .poll(() => readFileSync(join(own, 'update.json'), 'utf8'), { timeout: 20_000 })
      .toContain('99.1.0')
    expect((await look()).shown).toMatch(/gridline 99\.1\.0 is available .*gridline update/)
    expect((await look()).shown).not.toMatch(/is available/)
    const off = await inTerminal(['config', 'list'], { home: own, cwd, env: { ...env, CI: 'true' } })
    expect(off.shown).not.toMatch(/is available/)
  })

  it('commands ask for confirmation, and only yes continues', async () => {
    const no = await shown(['delete', 'wide'], { typed: [{ after: /\[y\/N\]/, text: 'n\r' }] })
    expect([no.code, no.shown]).toEqual([1, expect.stringMatching(/nothing was changed/)])
    const interrupted = await shown(['delete', 'wide'], { typed: [{ after: /\[y\/N\]/, text: '\u0003' }] })
    expect(interrupted.code).toBe(130)
    const yes = await shown(['delete', 'wide'], { typed: [{ after: /\[y\/N\]/, text: 'y\r' }] })
    expect(yes.code).toBe(0)
  })

  it('login reads a key without echo, and says where it is stored', async () => {
    const serverHome = join(cwd, 'server')
    const server = await serve([], { home: serverHome })
    try {
      const made = await gridline(['admin', 'create-user', 'bob', '--json'], { home: serverHome })
      const { api_key } = JSON.parse(made.stdout)
      const { shown: text, code } = await shown(['login', server.url, '--user', 'bob'], {
        home: join(cwd, 'fresh'),
        typed: [{ after: /API key: /, text: `${api_key}\r` }],
      })
      expect([code, text]).toEqual([
        0,
        expect.stringMatching(/the key is stored in\s.*config\.json.*Logged in to/s),
      ])
      expect(text).not.toContain(api_key)
    } finally {
      await server.stop()
    }
  })

  itLong('login opens the browser, and its code works only once and only here', async () => {
    const serverHome = join(cwd, 'server')
    const server = await serve([], { home: serverHome })
    try {
      const made = await gridline(['admin', 'create-user', 'eve', '--json'], { home: serverHome })
      const { api_key } = JSON.parse(made.stdout)
      // Does what a user does in a browser: signs in, reads the page, presses Allow.
      const browser = join(cwd, 'browser.mjs')
      writeFileSync(
        browser,
        `#!${process.execPath}
import { writeFileSync } from 'node:fs'
const page = new URL(process.argv[2])
const form = (fields) => ({ method: 'POST', redirect: 'manual', body: new URLSearchParams(fields) })
const first = await fetch(page, { redirect: 'manual' })
const next = new URL(first.headers.get('location'), page).searchParams.get('next')
const signed = await fetch(new URL('/signin', page), form({ username: 'eve', api_key: '${api_key}', next }))
const cookie = signed.headers.get('set-cookie').split(';')[0]
const html = await (await fetch(page, { headers: { cookie } })).text()
const fields = Object.fromEntries([...html.matchAll(/name="(\\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]))
const allowed = await fetch(new URL('/authorize', page), { ...form(fields), headers: { cookie, origin: page.origin } })
const target = allowed.headers.get('refresh').split('url=')[1]
writeFileSync('${join(cwd, 'brought')}', target)
await fetch(target.replace(/state=[^&]*/, 'state=other'))
await fetch(target)
`,
        { mode: 0o755 },
      )
      const fresh = join(cwd, 'browser-home')
      const { shown: text, code } = await shown(['login', server.url], {
        home: fresh,
        env: { BROWSER: browser },
      })
      expect([code, text]).toEqual([0, expect.stringMatching(/Opening the browser.*Logged in to .* as eve/s)])
      const who = await gridline(['whoami', '-q'], { home: fresh })
      expect(who.stdout).toBe('eve\n')
      const used = new URL(readFileSync(join(cwd, 'brought'), 'utf8')).searchParams.get('code')
      const again = await fetch(`${server.url}/v2/logins`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code: used, verifier: 'v'.repeat(43) }),
      })
      expect(again.status).toBe(401)
    } finally {
      await server.stop()
    }
  })

  it.each([
    ['once', '\u0003'],
    ['twice', '\u0003\u0003'],
  ])('Ctrl-C %s ends a running command with exit code 130', async (times, text) => {
    writeFileSync(join(cwd, `${times}.csv`), 'a\n1\n')
    const ended = await shown(['watch', `${times}.csv`], { typed: [{ after: /created, http/, text }] })
    expect(ended.code).toBe(130)
    expect(ended.shown).not.toMatch(/error| {4}at /)
  })
})
