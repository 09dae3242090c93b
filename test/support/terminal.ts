// Runs commands in a pseudo-terminal.
import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const executable = fileURLToPath(new URL('../../bin/gridline.js', import.meta.url))

/** True if commands can run in a pseudo-terminal, with `script` of util-linux. */
export const hasTerminal = /util-linux/.test(
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '',
)

export interface TerminalOptions {
  home: string
  cwd: string
  columns?: number
  env?: Record<string, string>
  /** Types `text` once `after` is shown. */
  typed?: { after: RegExp; text: string }[]
}

/** Runs a command in a pseudo-terminal. Resolves to the screen and the exit code. */
export function inTerminal(args: readonly string[], options: TerminalOptions): Promise<Shown> {
  const quoted = [process.execPath, executable, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`)
  return terminal(quoted.join(' '), options)
}

export interface Shown {
  shown: string
  code: number | null
}

/** Runs a line of sh in a pseudo-terminal. */
export function terminal(
  line: string,
  { home, cwd, columns = 80, env = {}, typed = [] }: TerminalOptions,
): Promise<Shown> {
  const child = spawn('script', ['-qefc', `stty cols ${columns} rows 24; exec ${line}`, '/dev/null'], {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      TERM: 'xterm',
      PAGER: 'cat',
      GRIDLINE_HOME: home,
      GRIDLINE_NO_UPDATE_NOTICE: '1',
      ...env,
    },
    stdio: 'pipe',
  })
  let shown = ''
  const left = [...typed]
  child.stdout.setEncoding('utf8')
  child.stdout.on('data', (chunk) => {
    shown += chunk
    while (left.length > 0 && left[0].after.test(shown)) child.stdin.write(left.shift()!.text)
  })
  child.stdin.on('error', () => {})
  return new Promise((resolve) => child.once('close', (code) => resolve({ shown, code })))
}
