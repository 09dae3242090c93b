// Machines with only Node, and without: debootstrap root file systems with the packed product and its Debian package.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/service.ts'

const project = fileURLToPath(new URL('../..', import.meta.url))
const has = (program: string): boolean => spawnSync('which', [program]).status === 0
/** Requires root, and a mount namespace. */
const possible =
  process.getuid?.() === 0 && has('debootstrap') && spawnSync('unshare', ['--mount', 'true']).status === 0

/** Takes minutes, so it runs in long runs only. */
const isLong = process.env.GRIDLINE_TEST_LONG !== undefined

const run = (program: string, args: readonly string[], cwd = project): string => {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  expect(status, `${program} ${args.join(' ')}\n${stdout}${stderr}`).toBe(0)
  return stdout
}

/** Makes a bare root, and calls `use` with its path and a function that runs a script in it. */
function withRoot(
  skip: (why: string) => void,
  use: (root: string, inRoot: (script: string) => string) => void,
): void {
  const folder = temporaryFolder()
  try {
    const root = join(folder.path, 'root')
    const made = spawnSync('debootstrap', ['--variant=minbase', 'bookworm', root], { encoding: 'utf8' })
    if (made.status !== 0) skip(`debootstrap: ${made.stdout.trim().split('\n').at(-1)}`)
    mkdirSync(join(root, 'app'))
    use(root, (script) =>
      run('unshare', [
        ...['--mount', '--pid', '--fork', `--mount-proc=${join(root, 'proc')}`],
        ...['/usr/sbin/chroot', root, '/usr/bin/env', '-i', 'HOME=/root'],
        ...['PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'sh', '-ec', `cd /app\n${script}`],
      ]),
    )
  } finally {
    folder.remove()
  }
}

describe('a bare root file system', () => {
  it.skipIf(!possible || !isLong)(
    'a bare root file system with only Node renders a PNG (in long runs, as root with debootstrap)',
    ({ skip }) =>
      withRoot(skip, (root, inRoot) => {
        copyFileSync(process.execPath, join(root, 'usr/local/bin/node'))
        const app = join(root, 'app')
        run('npm', ['pack', '--ignore-scripts', '--pack-destination', app])
        writeFileSync(join(app, 'package.json'), '{}')
        run('sh', ['-c', 'npm install --no-audit --no-fund ./gridline-*.tgz @sparticuz/chromium'], app)
        const figure = { data: [{ type: 'bar', y: [1, 2] }], layout: {} }
        writeFileSync(join(app, 'bars.json'), JSON.stringify(figure))
        inRoot('node node_modules/gridline/bin/gridline.js image bars.json -o bars.png')
        expect(readFileSync(join(app, 'bars.png')).subarray(1, 4).toString()).toBe('PNG')
      }),
  )

  it.skipIf(!possible || !isLong)(
    'a bare root file system without Node installs, uses and removes the Debian package (in long runs)',
    { timeout: 900_000 },
    ({ skip }) =>
      withRoot(skip, (root, inRoot) => {
        const app = join(root, 'app')
        const system = process.arch === 'arm64' ? 'linux-arm64' : 'linux-x64'
        const bundle = join(app, 'bundle')
        run(process.execPath, ['deploy/bundle/build.js', '--fast', '--system', system, '--out', bundle])
        writeFileSync(join(app, 'a.csv'), 'day,n\n2026-01-01,1\n2026-01-02,2\n')
        const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
        const output = inRoot(`dpkg -i bundle/*.deb >&2
gridline --version
gridline upload a.csv --plot auto --json fid,action
gridline serve --port 0 2>log & server=$!
until grep -q 'listening on' log; do :; done
gridline cat a
kill $server
wait $server
gridline doctor --no-chromium --json check,status
dpkg -r gridline >&2
test ! -e /usr/lib/gridline && test ! -e /usr/bin/gridline && test -e /root/.local/share/gridline/gridline.db`)
        const [first, made, ...rest] = output.trim().split('\n')
        expect([first, JSON.parse(made)]).toEqual([version, [{ fid: 'root:1', action: 'created' }]])
        expect(rest.slice(0, 3)).toEqual(['day,n', '2026-01-01,1', '2026-01-02,2'])
        expect(JSON.parse(rest[3])).not.toContainEqual(expect.objectContaining({ status: 'failure' }))
      }),
  )
})
