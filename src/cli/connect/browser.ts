import { spawn } from 'node:child_process'
import { Problem } from '../../contract/errors.ts'

/** Opens a URL with BROWSER, or with the program of the system. */
export async function openBrowser(url: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const [program, ...rest] = environment.BROWSER
    ? [environment.BROWSER, url]
    : process.platform === 'darwin'
      ? ['open', url]
      : process.platform === 'win32'
        ? // Not `cmd /c start`: a command line would run what is behind a | of the address.
          ['rundll32', 'url.dll,FileProtocolHandler', url]
        : ['xdg-open', url]
  await new Promise<void>((resolve, reject) => {
    const child = spawn(program, rest, { stdio: 'ignore', detached: true })
    child.once('error', () =>
      reject(
        new Problem('failed', `no browser could be opened: ${program} does not start`, {
          hint: 'Use --no-browser to print the link.',
        }),
      ),
    )
    child.once('spawn', () => {
      child.unref()
      resolve()
    })
  })
}
