// Installing and updating: how a copy was installed, `gridline update`, and install.sh with releases of a real server.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installationMethod } from '../../src/contract/installation.ts'
import { version } from '../../src/contract/version.ts'
import { gridline } from '../support/cli.ts'
import { itLong } from '../support/property-runs.ts'
import { temporaryFolder } from '../support/service.ts'

const project = fileURLToPath(new URL('../..', import.meta.url))
const folder = temporaryFolder()
let next = 0
const newFolder = (): string => {
  const path = join(folder.path, String(next++))
  mkdirSync(path)
  return path
}

/** Files of the latest release, by name. */
const release = new Map<string, Buffer>()
const server = createServer((request, response) => {
  const file = release.get(request.url!.slice(1))
  response.writeHead(file ? 200 : 404).end(file)
})
let url: string
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
  folder.remove()
})

const SYSTEM = process.arch === 'arm64' ? 'linux-arm64' : 'linux-x64'

/** Publishes a release whose program is a script that prints its version. */
function publish(published: string, { command = `echo ${published}`, isDamaged = false } = {}): void {
  const name = `gridline-${published}-${SYSTEM}`
  const work = newFolder()
  for (const part of ['bin', 'lib']) mkdirSync(join(work, name, part), { recursive: true })
  writeFileSync(join(work, name, 'bin/gridline'), `#!/bin/sh\n${command}\n`, { mode: 0o755 })
  writeFileSync(join(work, name, 'lib/package.json'), '{}')
  writeFileSync(join(work, name, 'lib/install.sh'), readFileSync(join(project, 'deploy/bundle/install.sh')))
  spawnSync('tar', ['-cJf', `${name}.tar.xz`, name], { cwd: work })
  const bytes = readFileSync(join(work, `${name}.tar.xz`))
  const hash = createHash('sha256').update(bytes).digest('hex')
  release.clear()
  release.set(`${name}.tar.xz`, isDamaged ? bytes.subarray(0, -1) : bytes)
  // The other files of a release.
  const others = ['aa'.repeat(32), `  gridline-${published}.tgz\n`].join('')
  release.set('SHA256SUMS', Buffer.from(`${others}${hash}  ${name}.tar.xz\n`))
}

interface Run {
  status: number | null
  stderr: string
}

/** Runs a program without blocking the server. */
function runProgram(
  program: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Run> {
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, HOME: folder.path, GRIDLINE_DOWNLOAD_URL: url, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, stderr })))
}

const run = (code: string, args: readonly string[]) => runProgram('sh', ['-c', code, ...args])

function install(args: string[], env: Record<string, string> = {}, script?: string): Promise<Run> {
  return runProgram('sh', [script ?? join(project, 'deploy/bundle/install.sh'), ...args], env)
}

const versionOf = (prefix: string): string =>
  spawnSync(join(prefix, 'bin/gridline'), ['--version'], { encoding: 'utf8' }).stdout.trim()

const isPossible = process.platform === 'linux' && spawnSync('xz', ['--version']).status === 0

describe.skipIf(!isPossible)('install.sh (on Linux with xz)', () => {
  it('installs, updates in its place, keeps the copy that was in use, and removes all', async () => {
    const prefix = newFolder()
    publish('1.9.0')
    const first = await install(['--prefix', prefix])
    expect(first).toEqual({ status: 0, stderr: expect.stringContaining('not on the PATH yet') })
    expect(versionOf(prefix)).toBe('1.9.0')
    expect((await install(['--prefix', prefix])).stderr).toBe(`Gridline 1.9.0 is already in ${prefix}.\n`)
    for (const later of ['1.10.0', '2.0.0']) {
      publish(later)
      // As `gridline update` runs it.
      const own = realpathSync(join(prefix, 'bin/gridline')).replace('/bin/gridline', '/lib/install.sh')
      expect((await install([], {}, own)).status).toBe(0)
      expect(versionOf(prefix)).toBe(later)
    }
    expect(readdirSync(join(prefix, 'lib/gridline')).sort()).toEqual(['1.10.0', '2.0.0'])
    const removed = await install(['--prefix', prefix, '--uninstall'])
    expect([removed.status, readdirSync(join(prefix, 'bin')), readdirSync(join(prefix, 'lib'))]).toEqual([
      0,
      [],
      [],
    ])
    expect((await install(['--prefix', prefix, '--uninstall'])).stderr).toMatch(/no Gridline in/)
  })

  it('touches nothing else in its folder, and works with a strict mask and a relative prefix', async () => {
    const parent = newFolder()
    const others = join(parent, 'p q/lib/gridline/kept')
    mkdirSync(others, { recursive: true })
    publish('1.0.0')
    const script = join(project, 'deploy/bundle/install.sh')
    const strict = await run('cd "$0" && umask 077 && sh "$1" --prefix "p q/"', [parent, script])
    expect(strict).toEqual({ status: 0, stderr: expect.stringContaining(`PATH="${parent}/p q/bin:$PATH"`) })
    const { mode } = statSync(join(parent, 'p q/lib/gridline/1.0.0'))
    expect(mode & 0o005).toBe(0o005)
    expect(existsSync(others)).toBe(true)
    expect((await install(['--prefix', join(parent, 'p q'), '--uninstall'])).status).toBe(0)
    expect(existsSync(others)).toBe(true)
    // As a Debian package is at /usr/lib/gridline.
    const other = newFolder()
    mkdirSync(join(other, 'lib/gridline/lib'), { recursive: true })
    writeFileSync(join(other, 'lib/gridline/lib/installed-by'), 'deb')
    for (const more of [[], ['--uninstall']])
      expect((await install(['--prefix', other, ...more])).stderr).toMatch(
        /installed in another way: remove it first/,
      )
  })

  it('changes nothing if the archive is damaged, does not run, or does not come', async () => {
    const prefix = newFolder()
    publish('1.0.0')
    await install(['--prefix', prefix])
    const failures: [() => void, RegExp, Record<string, string>?][] = [
      [() => publish('1.1.0', { isDamaged: true }), /has the hash .* instead of .*Nothing was changed/],
      [() => publish('1.1.0', { command: 'exit 1' }), /does not run here\. Nothing was changed/],
      [() => release.delete(`gridline-1.1.0-${SYSTEM}.tar.xz`), /could not be fetched completely/],
      [() => release.set('SHA256SUMS', Buffer.from('nothing')), /the release has no archive for/],
      [
        () => {},
        /SHA256SUMS could not be fetched: check the network/,
        { GRIDLINE_DOWNLOAD_URL: 'http://127.0.0.1:9' },
      ],
    ]
    for (const [change, message, env] of failures) {
      change()
      const { status, stderr } = await install(['--prefix', prefix], env)
      expect([status, stderr]).toEqual([1, expect.stringMatching(message)])
      expect([versionOf(prefix), readdirSync(join(prefix, 'lib/gridline'))]).toEqual(['1.0.0', ['1.0.0']])
    }
  })

  itLong('names what the system lacks, and another copy that comes first', async () => {
    publish('1.0.0')
    /** Programs of this system, and others in place of them. */
    const pathWith = (programs: Record<string, string | undefined>): string => {
      const bin = newFolder()
      const needed =
        'sh id dirname readlink uname getconf sed sort head mkdir mktemp rm grep cut tar xz mv ln sha256sum curl cat echo'
      for (const name of needed.split(' ')) {
        const from = spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim()
        if (!(name in programs) && from) symlinkSync(from, join(bin, name))
      }
      for (const [name, code] of Object.entries(programs))
        if (code !== undefined) writeFileSync(join(bin, name), `#!/bin/sh\n${code}\n`, { mode: 0o755 })
      return bin
    }
    const lacks: [Record<string, string | undefined>, RegExp][] = [
      [{ getconf: 'exit 1' }, /needs glibc 2\.28, which this system \(such as Alpine\) does not have/],
      [{ getconf: 'echo glibc 2.17' }, /needs glibc 2\.28 or later; this system has 2\.17/],
      [{ uname: '[ "$1" = -s ] && echo Linux || echo riscv64' }, /no archive for riscv64/],
      [{ uname: 'echo Darwin' }, /this is for Linux/],
      [{ xz: undefined }, /xz is missing/],
      [{ curl: undefined }, /curl or wget is missing/],
    ]
    for (const [programs, message] of lacks) {
      const { status, stderr } = await install(['--prefix', newFolder()], { PATH: pathWith(programs) })
      expect([status, stderr]).toEqual([1, expect.stringMatching(message)])
    }
    const first = pathWith({ gridline: 'echo other' })
    const { stderr } = await install(['--prefix', newFolder()], { PATH: first })
    expect(stderr).toContain(`another copy comes first on the PATH: ${first}/gridline`)
    expect((await install(['--wrong'])).stderr).toMatch(/unknown argument: --wrong/)
  })

  it.skipIf(process.getuid?.() === 0)('refuses a directory that is not writable (not as root)', async () => {
    const prefix = newFolder()
    chmodSync(prefix, 0o500)
    expect((await install(['--prefix', prefix])).stderr).toMatch(/is not writable/)
  })
})

describe('gridline update', () => {
  it.each([
    ['/usr/lib/node_modules/gridline', 'npm'],
    ['C:\\Users\\a\\AppData\\Roaming\\npm\\node_modules\\gridline', 'npm'],
    ['/home/a/site/node_modules/gridline', 'project'],
    ['/home/a/.npm/_npx/0f/node_modules/gridline', 'npx'],
    ['/home/a/.local/share/pnpm/global/5/node_modules/gridline', 'pnpm'],
    ['/home/a/.bun/install/global/node_modules/gridline', 'bun'],
    ['/opt/homebrew/Cellar/gridline/1.0.0/libexec/lib/node_modules/gridline', 'homebrew'],
    ['/home/linuxbrew/.linuxbrew/Cellar/gridline/1.0.0/lib', 'homebrew'],
    ['/home/a/gridline', 'source'],
  ])('%s was installed by %s', (path, method) => {
    expect(installationMethod(path)).toBe(method)
  })

  it('says how this copy was installed, and the command that updates it', async () => {
    const home = newFolder()
    const bin = newFolder()
    const answer = (text: string): void =>
      writeFileSync(join(bin, 'npm'), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
    const env = { PATH: `${bin}:${process.env.PATH}` }
    const run = async () => JSON.parse((await gridline(['update', '--json'], { home, env })).stdout)
    answer('echo 99.10.0')
    expect(await run()).toEqual({
      version,
      latest: '99.10.0',
      installed: 'from source',
      action: 'available',
      command: 'git pull && npm ci && npm run build',
    })
    answer(`echo ${version}`)
    expect(await run()).toMatchObject({ action: 'unchanged', command: null })
    answer('echo npm error network >&2; exit 1')
    const { code, stderr } = await gridline(['update'], { home, env })
    expect([code, stderr]).toEqual([9, expect.stringContaining('npm gave no latest version: network')])
  })

  it('runs the command of copies that can replace themselves', async () => {
    // A copy below a global folder of npm, which refers to this build.
    const place = join(newFolder(), 'lib/node_modules/gridline')
    mkdirSync(place, { recursive: true })
    for (const name of ['bin', 'package.json']) spawnSync('cp', ['-r', join(project, name), place])
    spawnSync('cp', ['-r', '--reflink=auto', join(project, 'dist'), place])
    const bin = newFolder()
    const log = join(bin, 'log')
    writeFileSync(
      join(bin, 'npm'),
      `#!/bin/sh\necho "$@" >> ${log}\n[ "$1" = view ] && echo 99.0.0\n[ ! -e ${bin}/fail ]\n`,
      { mode: 0o755 },
    )
    const run = (...args: string[]) =>
      spawnSync(process.execPath, [join(place, 'bin/gridline.js'), 'update', ...args, '--json'], {
        encoding: 'utf8',
        env: { PATH: `${bin}:${process.env.PATH}`, GRIDLINE_HOME: newFolder() },
      })
    expect(JSON.parse(run('--dry-run').stdout)).toMatchObject({
      action: 'available',
      command: 'npm install --global gridline@latest',
    })
    expect(JSON.parse(run().stdout)).toMatchObject({ action: 'updated', latest: '99.0.0' })
    const query = 'view gridline version --fetch-retries=0 --fetch-timeout=10000\n'
    expect(readFileSync(log, 'utf8')).toBe(`${query}${query}install --global gridline@latest\n`)
    expect(existsSync(join(place, 'dist'))).toBe(true)
  })
})
