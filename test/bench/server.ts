/** A server of the benchmarked build, with one user. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'

export interface Server {
  url: string
  child: ChildProcess
  authorization: string
  /** Environment of commands that use the server. */
  env: Record<string, string>
  stop: () => Promise<void>
}

/** Starts `gridline serve` with an empty home, and resolves when it listens. */
export async function startServer(executable: string, home: string, clientHome: string): Promise<Server> {
  rmSync(home, { recursive: true, force: true })
  const env = { GRIDLINE_HOME: home }
  const made = spawnSync(process.execPath, [executable, 'admin', 'create-user', 'bench', '--json'], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })
  const { api_key } = JSON.parse(made.stdout)
  const child = spawn(process.execPath, [executable, 'serve', '--port', '0', '-q'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const url = await new Promise<string>((resolve) => {
    child.stderr!.on('data', (chunk) => {
      const found = /listening on (\S+)/.exec(String(chunk))
      if (found) resolve(found[1])
    })
  })
  return {
    url,
    child,
    authorization: `Basic ${Buffer.from(`bench:${api_key}`).toString('base64')}`,
    env: { GRIDLINE_HOME: clientHome, GRIDLINE_URL: url, GRIDLINE_USER: 'bench', GRIDLINE_API_KEY: api_key },
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        child.kill('SIGINT')
      }),
  }
}
