// Opens URLs in the browser.
import { spawn } from 'node:child_process'
import { Problem } from '../../contract/errors.ts'

/**
 * Opens a URL with the program in BROWSER, or the default browser. Throws `failed` if it does not start. Calls
 * `onFailure` if it fails later, as xdg-open does without a display.
 */
export async function openBrowser(
  url: string,
  environment: NodeJS.ProcessEnv,
  onFailure: (program: string) => void = () => {},
): Promise<void> {
  const [program, ...rest] = environment.BROWSER
    ? [environment.BROWSER, url]
    : process.platform === 'darwin'
      ? ['open', url]
      : process.platform === 'win32'
        ? // Not `cmd /c start`: the shell would run text after a | in the URL.
          ['rundll32', 'url.dll,FileProtocolHandler', url]
        : ['xdg-open', url]
  await new Promise<void>((resolve, reject) => {
    const child = spawn(program, rest, { stdio: 'ignore', detached: true })
    child.once('error', () =>
      reject(
        new Problem('failed', `cannot start ${program} to open the browser`, {
          hint: 'Use --no-browser to print the link.',
        }),
      ),
    )
    child.once('exit', (code) => {
      if (code) onFailure(program)
    })
    child.once('spawn', () => {
      child.unref()
      resolve()
    })
  })
}
