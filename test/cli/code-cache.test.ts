// The cache of compiled V8 code.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { temporaryFolder } from '../support/service.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
let place: { path: string; remove: () => void }
let cache: string

/** A separate installation without a cache. */
beforeEach(() => {
  place = temporaryFolder()
  const isOfCommands = (name: string): boolean => /^(gridline|cli-[\w-]+)\.cjs$|\.wasm$/.test(name)
  const built = readdirSync(join(root, 'dist')).filter(isOfCommands)
  for (const name of ['bin', 'package.json', ...built.map((file) => `dist/${file}`)])
    cpSync(join(root, name), join(place.path, name), { recursive: true })
  for (const name of ['node_modules', 'dist/sqlite']) symlinkSync(join(root, name), join(place.path, name))
  cache = join(place.path, 'dist', 'code-cache')
})

afterEach(() => place.remove())

function run(args: string[], env: Record<string, string> = {}): string {
  const { NODE_OPTIONS: _, ...rest } = process.env
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(place.path, 'bin/gridline.js'), ...args],
    {
      env: { ...rest, GRIDLINE_HOME: join(place.path, 'home'), GRIDLINE_PROFILE: 'local', ...env },
      encoding: 'utf8',
    },
  )
  expect(status, stderr).toBe(0)
  return stdout
}

/** Returns the cache of a command in a folder, with the subcommands and the files of the build that it covers. */
function cached(command: string, folder = cache): { file: string; commands: string[]; built: string[] } {
  const names = readdirSync(folder).filter((name) => name.endsWith(`-${command}.bin`))
  expect(names).toHaveLength(1)
  const file = join(folder, names[0])
  const bytes = readFileSync(file)
  const index = JSON.parse(bytes.toString('utf8', bytes.lastIndexOf('\n') + 1).replace(/^\w+ /, ''))
  return { file, commands: index.commands, built: index.lengths.map(([name]: [string]) => name) }
}

it('the first run of a command writes the cache, readable by its owner only, and the next run uses it', () => {
  const csv = join(place.path, 'a.csv')
  writeFileSync(csv, 'a,b\n1,x\n')
  run(['upload', csv])
  const { file, commands } = cached('upload')
  expect(commands).toEqual(['upload'])
  expect([statSync(cache).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600])
  const { mtimeMs } = statSync(file)
  expect(run(['upload', csv, '--on-conflict', 'rename'])).toMatch(/a \(\d\)/)
  expect(statSync(file).mtimeMs).toBe(mtimeMs)
  expect(run(['ls'])).toMatch(/a \(\d\)/)
  expect(cached('ls').commands).toEqual(['ls'])
  run(['config', 'list'])
  run(['config', 'get', 'url'])
  expect(cached('config').commands).toEqual(['config list', 'config get'])
})

it('a run that needs other files of the build adds them to the cache', () => {
  run(['ls', '--help'])
  expect(cached('ls').built).not.toContain('cli-local.cjs')
  run(['ls'])
  const { file, built } = cached('ls')
  expect(built).toContain('cli-local.cjs')
  const { mtimeMs } = statSync(file)
  run(['ls'])
  expect(statSync(file).mtimeMs).toBe(mtimeMs)
})

it('a cache that V8 rejects is written again, whatever it contains', () => {
  const expected = run(['config', 'list'])
  const { file } = cached('config')
  const whole = readFileSync(file)
  const changed = Buffer.from(whole)
  changed[whole.length >> 1] ^= 1
  for (const bytes of [Buffer.alloc(0), Buffer.from('x'), whole.subarray(0, 5000), changed]) {
    writeFileSync(file, bytes)
    expect(run(['config', 'list'])).toBe(expected)
    expect(statSync(file).size).toBeGreaterThan(100_000)
  }
})

it('the cache goes to the folder of the user if dist is read-only', () => {
  writeFileSync(cache, 'a file')
  run(['ls'])
  const { commands } = cached('ls', join(place.path, 'home', 'code-cache'))
  expect(commands).toEqual(['ls'])
})

it('a cache in a folder that others can write to is not used', () => {
  run(['ls'])
  const { file } = cached('ls')
  writeFileSync(file, 'of somebody else')
  chmodSync(cache, 0o777)
  run(['ls'])
  expect(readFileSync(file, 'utf8')).toBe('of somebody else')
})

it('the cache is not used with Node flags, which change what V8 accepts', () => {
  run(['ls'], { NODE_OPTIONS: '--max-old-space-size=512' })
  expect(existsSync(cache)).toBe(false)
})

it('the cache of unused versions is removed after a month', () => {
  mkdirSync(cache, { mode: 0o700 })
  const old = join(cache, 'gridline-v18.0.0-x64-0.bin')
  writeFileSync(old, '')
  spawnSync('touch', ['-d', '40 days ago', old])
  run(['ls'])
  expect(existsSync(old)).toBe(false)
  rmSync(cache, { recursive: true })
})
