// Builds dist/ before a run.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Builds dist/, which command-line tests run. */
export async function build(): Promise<void> {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const [status] = await once(
    spawn(process.execPath, ['esbuild.config.js'], { cwd: root, stdio: ['ignore', 2, 2] }),
    'exit',
  )
  if (status !== 0) throw new Error('the build failed')
}
