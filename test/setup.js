// Installs the packages of package-lock.json if that file changed, and builds.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const stamp = `${root}node_modules/.gridline-setup`
const wanted = createHash('sha256')
  .update(readFileSync(`${root}package-lock.json`))
  .update(process.version)
  .digest('hex')

function run(command, args) {
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (status !== 0) process.exit(status ?? 1)
}

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
  writeFileSync(stamp, wanted)
}
if (!process.argv.includes('--no-build')) run(process.execPath, ['esbuild.config.js'])
