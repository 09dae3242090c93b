// Completion: called like a shell does, and in real shells.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { splitLine } from '../../src/cli/completion/line.ts'
import { gridline } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'
import { hasTerminal, terminal } from '../support/terminal.ts'

const folder = temporaryFolder()
const cwd = folder.path
const home = join(cwd, 'home')
/** Runs the command with a time for the server that suits a busy machine. */
const run = (args: string[], env?: Record<string, string>) =>
  gridline(args, { home, cwd, env: { GRIDLINE_TIMEOUT_MS: '30000', ...env } })
/** Runs the command with the time that a shell waits. */
const runBriefly = (args: string[], env: Record<string, string>) => gridline(args, { home, cwd, env })
const root = fileURLToPath(new URL('../..', import.meta.url))
afterAll(folder.remove)

let me: string
beforeAll(async () => {
  mkdirSync(home, { recursive: true })
  writeFileSync(join(cwd, 'sales.csv'), 'city,price\nOslo,1\n')
  const { stdout } = await run(['upload', 'sales.csv', '--folder', 'My Reports'])
  me = stdout.split(':')[0]
  await run(['upload', 'sales.csv'])
  await run(['team', 'create', 'crew', me])
  // Hostile names, which must not become commands, options or several words.
  for (const [folder, name] of [
    ['Evil', 'x`touch pwned`'],
    ['Worse', '$(touch pwned)'],
    ['Quotes', "'; touch pwned; '"],
    ['Dashes', '--yes'],
  ])
    await run(['upload', 'sales.csv', '--folder', folder, '--name', name])
})

describe('completed values', () => {
  const asked = async (...words: string[]) =>
    (await run(['__complete', ...words])).stdout.split('\n').filter((line) => line !== '')

  it.each([
    [
      ['cat', ''],
      ['Dashes/', 'Evil/', 'My Reports/', 'Quotes/', 'Worse/', 'sales'],
    ],
    [['cat', 'Dashes/'], ['Dashes/--yes']],
    [['cat', '--', 'Dashes/'], ['Dashes/--yes']],
    [['cat', 'My Reports/s'], ['My Reports/sales']],
    [['upload', 'sales.csv', '--folder', 'M'], ['My Reports/']],
    [
      ['cat', 'sales', '--columns', ''],
      ['city', 'price'],
    ],
    [['cat', 'sales', '--columns', 'city,'], ['city,price']],
    [['column', 'get', 'sales', 'p'], ['price']],
    [
      ['upload', 'sales.csv', '--plot', 'line', '--x', ''],
      ['city', 'price'],
    ],
    [['profile', 'use', ''], ['local']],
    [['profile', 'use', 'local', ''], []],
    [['ls', '--profile', ''], ['local']],
    [['key', 'list', '--json', 'cr'], ['created_at']],
    [['key', 'list', '--json=id,cr'], ['--json=id,created_at']],
    [['key', 'list', '--json', 'id,na'], ['id,name']],
    [['team', 'add', ''], ['crew']],
    [['plot', 'show', 's'], []],
    [['cat', 'nothing/here/'], []],
    [['xyz', ''], []],
    [['xyz', 'cat', ''], []],
  ])('%j', async (words, found) => {
    expect((await asked(...words)).sort()).toEqual(found)
  })

  it('completion uses cached names when the server fails, and replaces a damaged cache', async () => {
    const file = join(home, 'completion.json')
    expect(await asked('cat', 'sal')).toEqual(['sales'])
    const kept = JSON.parse(readFileSync(file, 'utf8'))
    const old = Object.entries(kept as Record<string, { values: string[] }>).map(([key, { values }]) => [
      key.replace(/^ {2}/, 'http://127.0.0.1:9 a '),
      { at: Date.now() - 60_000, values },
    ])
    writeFileSync(file, JSON.stringify(Object.fromEntries(old)))
    const env = { GRIDLINE_URL: 'http://127.0.0.1:9', GRIDLINE_USER: 'a', GRIDLINE_API_KEY: 'b' }
    expect((await run(['__complete', 'cat', 'sal'], env)).stdout).toBe('sales\n')
    for (const damaged of ['null', '{"k":null}', '[1]', '{']) {
      writeFileSync(file, damaged)
      expect(await asked('cat', 'sal'), damaged).toEqual(['sales'])
    }
  })

  it('completion offers ids after a user and a colon', async () => {
    expect(await asked('cat', `${me}:`)).toContain(`${me}:0`)
  })

  it('completion waits at most 300 ms for a server, and prints nothing then', async () => {
    const env = { GRIDLINE_URL: 'http://10.255.255.1:9', GRIDLINE_USER: 'a', GRIDLINE_API_KEY: 'b' }
    const { code, stdout, stderr } = await runBriefly(['__complete', 'cat', ''], env)
    expect([code, stdout, stderr]).toEqual([0, '', ''])
  })

  it('completion offers names even if they cannot be cached', async () => {
    const place = join(cwd, 'uncached')
    mkdirSync(join(place, 'completion.json'), { recursive: true })
    const here = { home: place, cwd, env: { GRIDLINE_TIMEOUT_MS: '30000' } }
    await gridline(['upload', 'sales.csv', '-q'], here)
    expect((await gridline(['__complete', 'cat', 'sa'], here)).stdout).toBe('sales\n')
  })

  it('completion queries a slow server in the background, for the next Tab', async () => {
    let asked = 0
    const server = createServer((_, response) => {
      // The first request is never answered.
      if (++asked > 1) response.end(JSON.stringify({ children: { results: [slowFile] } }))
    })
    const slowFile = { filename: 'slow', filetype: 'grid', fid: 'a:1' }
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const env = { GRIDLINE_URL: `http://127.0.0.1:${port}`, GRIDLINE_USER: 'a', GRIDLINE_API_KEY: 'b' }
    try {
      expect((await runBriefly(['__complete', 'cat', 'sl'], env)).stdout).toBe('')
      await expect
        .poll(() => readFileSync(join(home, 'completion.json'), 'utf8'), { timeout: 20_000 })
        .toContain('slow')
      expect((await run(['__complete', 'cat', 'sl'], env)).stdout).toBe('slow\n')
      expect(asked).toBe(2)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })
})

describe.each(['bash', 'zsh', 'fish'])('in %s', (shell) => {
  const isInstalled = spawnSync(shell, ['-c', 'true']).status === 0

  /** Types lines with Tab into a shell, and returns the arguments of each command that it runs. */
  async function typed(lines: readonly string[]): Promise<string[]> {
    const place = join(cwd, shell)
    const bin = join(place, 'bin')
    const log = join(place, 'log')
    mkdirSync(bin, { recursive: true })
    // Completion calls the program; other commands are only recorded.
    writeFileSync(
      join(bin, 'gridline'),
      `#!/bin/sh
case "$1" in __*) exec '${process.execPath}' '${root}bin/gridline.js' "$@" ;; esac
printf '%s|' "$@" >> '${log}'; echo >> '${log}'
echo RAN
`,
      { mode: 0o755 },
    )
    writeFileSync(join(cwd, 'my file.csv'), 'a\n1\n')
    const env = {
      PATH: `${bin}:${process.env.PATH}`,
      HOME: place,
      ZDOTDIR: place,
      XDG_CONFIG_HOME: '',
      XDG_DATA_HOME: '',
      // Generous, for a busy machine.
      GRIDLINE_TIMEOUT_MS: '30000',
    }
    const { stderr } = await gridline(['completion', 'install', shell], { home, cwd, env })
    const [, file] = /Wrote (\S+)\. /.exec(stderr)!
    const settings = {
      '.bashrc': `PS1='READY '; source ${file}`,
      '.zshrc': "PS1='READY '; fpath+=~/.zfunc; autoload -Uz compinit; compinit -u",
      '.config/fish/config.fish': 'function fish_prompt; echo "READY "; end',
    }
    for (const [name, text] of Object.entries(settings)) {
      mkdirSync(dirname(join(place, name)), { recursive: true })
      writeFileSync(join(place, name), `${text}\n`)
    }
    const start = { bash: `bash --noprofile --rcfile ${place}/.bashrc -i`, zsh: 'zsh -i', fish: 'fish -i' }
    const { shown } = await terminal(start[shell as 'zsh'], {
      home,
      cwd,
      env,
      // Types each line after the previous one has run.
      typed: [...lines, 'exit'].map((line, k) => ({
        after: new RegExp(`READY ${'[^]*RAN'.repeat(k)}`),
        text: `${line}\r`,
      })),
    })
    if (!existsSync(log)) throw new Error(`nothing ran: ${shown}`)
    return readFileSync(log, 'utf8').trimEnd().split('\n')
  }

  it.skipIf(!isInstalled || !hasTerminal)(
    'Tab completes commands, options, choices, remote names, ids, columns and local files',
    { timeout: 60_000 },
    async () => {
      const ran = await typed([
        'gridline desc\tsales',
        'gridline cat My\t',
        'gridline cat My\\ R\ts\t',
        `gridline cat ${me}:0\t`,
        'gridline cat sales --ta\t3',
        'gridline cat sales --columns city,\t',
        'gridline ls --format nd\t',
        'gridline ls --format=nd\t',
        'gridline upload my\t',
        'gridline upload --folder My\t',
        'gridline team cr\tcrew',
        'gridline --ver\t',
        'gridline cat Evil/\t',
        'gridline cat Evil/x\\`\t',
        'gridline cat Worse/\t',
        'gridline cat Quotes/\t',
      ])
      expect(ran).toEqual([
        'describe|sales|',
        'cat|My Reports/|',
        'cat|My Reports/sales|',
        `cat|${me}:0|`,
        'cat|sales|--tail|3|',
        'cat|sales|--columns|city,price|',
        'ls|--format|ndjson|',
        'ls|--format=ndjson|',
        'upload|my file.csv|',
        'upload|--folder|My Reports/|',
        'team|create|crew|',
        '--version|',
        'cat|Evil/x`touch pwned`|',
        'cat|Evil/x`touch pwned`|',
        'cat|Worse/$(touch pwned)|',
        "cat|Quotes/'; touch pwned; '|",
      ])
      expect(existsSync(join(cwd, 'pwned'))).toBe(false)
    },
  )
})

describe('completed words', () => {
  const asked = async (...words: string[]) =>
    (await run(['__complete', ...words])).stdout.split('\n').filter((line) => line !== '')

  it('completion offers commands and options with summaries, and options only after a dash', async () => {
    expect(await asked('desc')).toEqual(['describe\tShow statistics of the columns of a grid'])
    expect(await asked('team', 'cr')).toEqual([expect.stringMatching(/^create\t/)])
    expect(await asked('cat', '--ta')).toEqual([expect.stringMatching(/^--tail\t/)])
    expect(await asked('cat', 'sales', '--tail', '3', '--ta')).toEqual([])
    for (const words of [['cat', ''], ['ls', ''], ['upload', ''], ['']])
      expect((await asked(...words)).filter((word) => word.startsWith('-'))).toEqual([])
  })

  it.each([
    [
      ['help', 'ex'],
      ['export', 'exit-codes'],
    ],
    [['help', 'team', 'cr'], ['create']],
    [['auth', 'login', '--web'], []],
    [['config', 'set', 'fo'], ['format']],
    [['completion', 'install', 'z'], ['zsh']],
    [
      ['ls', '--format=t'],
      ['--format=table', '--format=tsv'],
    ],
    [['ls', '--', '--fo'], []],
    [['upload', ''], [':files']],
    [['append', 'sa'], ['sales']],
    [['append', 'sales', ''], [':files']],
    [['ls', '--ca-file', ''], [':files']],
  ])('%j', async (words, found) => {
    expect((await asked(...words)).map((line) => line.split('\t')[0])).toEqual(found)
  })

  it.each([
    ['gridline cat a', ['gridline', 'cat', 'a']],
    ['gridline cat ', ['gridline', 'cat', '']],
    ['gridline  cat', ['gridline', 'cat']],
    ['gridline cat "My Re', ['gridline', 'cat', 'My Re']],
    ["gridline cat 'it''s' \"a\\\"b\"", ['gridline', 'cat', 'its', 'a"b']],
    ['gridline cat My\\ Re "" ', ['gridline', 'cat', 'My Re', '', '']],
    ['', ['']],
  ])('completion splits a line like a shell: %j', (line, words) => {
    expect(splitLine(line)).toEqual(words)
  })

  it('in bash, completion replaces the text after the last colon', async () => {
    const words = async (line: string, last: string) =>
      (await run(['__complete-line', line, last])).stdout.trimEnd()
    expect(await words(`gridline cat ${me}:0`, '0')).toBe('0')
    expect(await words(`gridline cat ${me}:`, ':').then((lines) => lines.split('\n'))).toContain('0')
    expect(await words('gridline ls --format=nd', 'nd')).toBe('ndjson')
    expect(await words('gridline cat "My Rep', '"My Rep')).toBe('My Reports/')
  })
})

it.each([
  ['bash', '.local/share/bash-completion/completions/gridline'],
  ['zsh', '.zfunc/_gridline'],
  ['fish', '.config/fish/completions/gridline.fish'],
])('completion install writes the script for %s to the folder of the shell', async (shell, file) => {
  const { code, stderr } = await run(['completion', 'install'], {
    SHELL: `/usr/bin/${shell}`,
    HOME: cwd,
    XDG_DATA_HOME: '',
    XDG_CONFIG_HOME: '',
  })
  expect([code, stderr]).toEqual([0, expect.stringContaining(resolve(cwd, file))])
  expect(existsSync(dirname(join(cwd, file)))).toBe(true)
  expect(readFileSync(join(cwd, file), 'utf8')).toContain('gridline __complete')
})
