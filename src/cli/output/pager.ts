import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * Writes a text to stdout; through PAGER, or less, if it is longer than the terminal. An empty PAGER, or `cat`,
 * turns that off.
 */
export async function paged(text: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const lines = text.split('\n').length
  const pager = environment.PAGER ?? 'less'
  const fits = lines <= (process.stdout.rows || 24)
  if (!process.stdout.isTTY || fits || pager === '' || pager === 'cat' || environment.TERM === 'dumb') {
    await writeOut(text)
    return
  }
  // -F: end if it fits; -R: keep colors; -X: leave the text on the screen; -S: cut long lines.
  const child = spawn(pager, {
    shell: true,
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { ...environment, LESS: environment.LESS ?? 'FRXS' },
  })
  const interrupted = (): void => {}
  // Ctrl-C is for the pager.
  process.on('SIGINT', interrupted)
  try {
    const failed = once(child, 'error').then(() => true)
    // The pager can end before it has read everything.
    child.stdin.on('error', () => {})
    child.stdin.end(text)
    const ended = once(child, 'close').then(([code]) => code === 127)
    if (await Promise.race([failed, ended])) await writeOut(text)
  } finally {
    process.off('SIGINT', interrupted)
  }
}

async function writeOut(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}
