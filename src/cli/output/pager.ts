// Shows long texts in a pager.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * Writes a text to stdout, through PAGER (or less) if it is longer than the terminal. An empty PAGER, or
 * `cat`, disables paging.
 */
export async function writePaged(text: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const lines = text.split('\n').length
  const pager = environment.PAGER ?? 'less'
  const fits = lines <= (process.stdout.rows || 24)
  if (!process.stdout.isTTY || fits || pager === '' || pager === 'cat' || environment.TERM === 'dumb') {
    await writeToStdout(text)
    return
  }
  // -F: exit if the text fits; -R: colors; -X: keep the text on screen; -S: cut long lines.
  const child = spawn(pager, {
    shell: true,
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { ...environment, LESS: environment.LESS ?? 'FRXS' },
  })
  const ignoreInterrupt = (): void => {}
  // Leave Ctrl-C to the pager.
  process.on('SIGINT', ignoreInterrupt)
  try {
    const failed = once(child, 'error').then(() => true)
    // The pager can exit before reading all text.
    child.stdin.on('error', () => {})
    child.stdin.end(text)
    const ended = once(child, 'close').then(([code]) => code === 127)
    if (await Promise.race([failed, ended])) await writeToStdout(text)
  } finally {
    process.off('SIGINT', ignoreInterrupt)
  }
}

async function writeToStdout(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}
