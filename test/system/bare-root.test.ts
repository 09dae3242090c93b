// Images on a machine with only Node: a debootstrap root file system with the packed product.
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

describe('a bare root file system', () => {
  it.skipIf(!possible || !isLong)(
    'a bare root file system with only Node renders a PNG (in long runs, as root with debootstrap)',
    { timeout: 600_000 },
    ({ skip }) => {
      const folder = temporaryFolder()
      const run = (program: string, args: string[], cwd = project): string => {
        const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
        expect(status, `${program} ${args.join(' ')}\n${stdout}${stderr}`).toBe(0)
        return stdout
      }
      try {
        const root = join(folder.path, 'root')
        const made = spawnSync('debootstrap', ['--variant=minbase', 'bookworm', root], { encoding: 'utf8' })
        if (made.status !== 0) skip(`debootstrap: ${made.stdout.trim().split('\n').at(-1)}`)
        copyFileSync(process.execPath, join(root, 'usr/local/bin/node'))
        const app = join(root, 'app')
        mkdirSync(app)
        run('npm', ['pack', '--ignore-scripts', '--pack-destination', app])
        run('sh', ['-c', 'tar xzf gridline-*.tgz'], app)
        run(
          'npm',
          ['install', '--no-audit', '--no-fund', '@sparticuz/chromium', '--omit=dev'],
          join(app, 'package'),
        )
        writeFileSync(
          join(app, 'bars.json'),
          JSON.stringify({ data: [{ type: 'bar', y: [1, 2] }], layout: {} }),
        )
        const image = ['/app/package/bin/gridline.js', 'image', '/app/bars.json', '-o', '/app/bars.png']
        run('unshare', [
          ...['--mount', '--pid', '--fork', `--mount-proc=${join(root, 'proc')}`],
          ...['/usr/sbin/chroot', root, '/usr/bin/env', '-i', 'HOME=/root', '/usr/local/bin/node'],
          ...image,
        ])
        expect(readFileSync(join(app, 'bars.png')).subarray(1, 4).toString()).toBe('PNG')
      } finally {
        folder.remove()
      }
    },
  )
})
