import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Builds dist/ before a run: the tests of the command line start it. */
export default function setup(): void {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const { status } = spawnSync(process.execPath, ['esbuild.config.js'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) throw new Error('the build failed')
}
