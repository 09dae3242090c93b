// What shells complete: asked as they ask, and in bash itself.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gridline } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
const cwd = folder.path
const home = join(cwd, 'home')
const run = (args: string[], env?: Record<string, string>) => gridline(args, { home, cwd, env })
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
})

describe('completed values', () => {
  const asked = async (...words: string[]) =>
    (await run(['__complete', ...words])).stdout.split('\n').filter((line) => line !== '')

  it.each([
    [
      ['cat', ''],
      ['My Reports/', 'sales'],
    ],
    [['cat', 'My Reports/s'], ['My Reports/sales']],
    [['upload', 'sales.csv', '--folder', ''], ['My Reports/']],
    [
      ['cat', 'sales', '--columns', ''],
      ['city', 'price'],
    ],
    [['cat', 'sales', '--columns', 'city,'], ['city,price']],
    [['column', 'get', 'sales', 'p'], ['price']],
    [['ls', '--profile', ''], ['local']],
    [['team', 'add', ''], ['crew']],
    [['plot', 'show', 's'], []],
    [['cat', 'nothing/here/'], []],
    [['xyz', ''], []],
    [[], []],
  ])('%j', async (words, found) => {
    expect((await asked(...words)).sort()).toEqual(found)
  })

  it('ids, once a user and a colon are there', async () => {
    expect(await asked('cat', `${me}:`)).toContain(`${me}:0`)
  })

  it('a server that does not answer costs no more than 300 ms, and prints nothing', async () => {
    const env = { GRIDLINE_URL: 'http://10.255.255.1:9', GRIDLINE_USER: 'a', GRIDLINE_API_KEY: 'b' }
    const { code, stdout, stderr } = await run(['__complete', 'cat', ''], env)
    expect([code, stdout, stderr]).toEqual([0, '', ''])
  })
})

describe('bash', () => {
  const complete = (...words: string[]): string[] => {
    const line = words.join(' ')
    const script = `source '${root}completions/gridline.bash'
      COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}
      _gridline; printf '%s\\n' "\${COMPREPLY[@]}"`
    const bin = join(cwd, 'bin')
    mkdirSync(bin, { recursive: true })
    writeFileSync(
      join(bin, 'gridline'),
      `#!/bin/sh\nexec '${process.execPath}' '${root}bin/gridline.js' "$@"\n`,
    )
    chmodSync(join(bin, 'gridline'), 0o755)
    const env = { PATH: `${bin}:${process.env.PATH}`, GRIDLINE_HOME: home, HOME: cwd }
    return execFileSync('bash', ['-c', script], { cwd, env, encoding: 'utf8' })
      .split('\n')
      .filter((word) => word !== '')
  }

  it('completes commands, options after a dash, and values', () => {
    expect(complete('gridline', 'desc')).toEqual(['describe'])
    expect(complete('gridline', 'team', '')).toEqual(expect.arrayContaining(['create', 'list']))
    expect(complete('gridline', 'cat', '--ta')).toEqual(['--tail'])
    expect(complete('gridline', 'cat', 's')).toEqual(['sales'])
    expect(complete('gridline', 'cat', `${me}:0`)).toEqual(['0'])
  })

  it('Tab never inserts a dash', () => {
    for (const words of [['cat', ''], ['ls', ''], ['upload', ''], ['']])
      expect(complete('gridline', ...words).filter((word) => word.startsWith('-'))).toEqual([])
  })
})

it.each([
  ['bash', '.local/share/bash-completion/completions/gridline'],
  ['zsh', '.zfunc/_gridline'],
  ['fish', '.config/fish/completions/gridline.fish'],
])('completion install writes the script of %s where the shell looks for it', async (shell, file) => {
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
