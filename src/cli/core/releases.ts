// Latest version of the program, and the command that installs it.
import { errorMessageOf, Problem } from '../../contract/errors.ts'
import { type InstallationMethod, installationFolder } from '../../contract/installation.ts'
import { quoteShellWord } from '../../contract/shell.ts'

/** Files of the latest release, with SHA256SUMS, which names them. */
const DOWNLOAD_URL = 'https://github.com/gridline/gridline/releases/latest/download'
const QUERY_TIMEOUT_MS = 30_000
const NETWORK_HINT = 'Check the network, and https_proxy behind a proxy.'

/** How a copy was installed, and the command that updates it. */
interface Updater {
  /** For people: installed … */
  how: string
  /** The command. `url`: address of the files of the release. */
  command(version: string, url: string): string
  /** Whether `gridline update` runs it: the others change a project, need root, or cannot replace a running program. */
  runs?: boolean
  /** Whether npm knows the latest version; otherwise the release does. */
  asksNpm?: boolean
}

const UPDATERS: Readonly<Record<InstallationMethod, Updater>> = {
  npm: {
    how: 'with npm install --global',
    command: () => 'npm install --global gridline@latest',
    runs: true,
    asksNpm: true,
  },
  project: {
    how: 'with npm, in a project',
    command: () => 'npm install gridline@latest',
    asksNpm: true,
  },
  npx: { how: 'by npx, in its cache', command: () => 'npx gridline@latest', asksNpm: true },
  pnpm: {
    how: 'with pnpm add --global',
    command: () => 'pnpm add --global gridline@latest',
    runs: true,
    asksNpm: true,
  },
  bun: {
    how: 'with bun add --global',
    command: () => 'bun add --global gridline@latest',
    runs: true,
    asksNpm: true,
  },
  homebrew: { how: 'with Homebrew', command: () => 'brew upgrade gridline', runs: true },
  winget: { how: 'with winget', command: () => 'winget upgrade Gridline.Gridline' },
  deb: {
    how: 'from a Debian package',
    command: (version, url) => {
      const file = `gridline_${version}_${process.arch === 'arm64' ? 'arm64' : 'amd64'}.deb`
      const sudo = process.getuid?.() === 0 ? '' : 'sudo '
      return `curl -fLO ${url}/${file} && ${sudo}apt-get install ./${file}`
    },
  },
  container: { how: 'in a container image', command: (version) => `use an image of version ${version}` },
  archive: {
    how: 'from an archive with its own Node',
    command: () => `sh ${quoteShellWord(`${installationFolder()}/install.sh`)}`,
    runs: true,
  },
  folder: {
    how: 'from an archive with its own Node',
    command: (version, url) => `unpack gridline-${version} of ${url} in place of this folder`,
  },
  source: { how: 'from source', command: () => 'git pull && npm ci && npm run build', asksNpm: true },
}

export function updaterOf(method: InstallationMethod): Updater {
  return UPDATERS[method]
}

/** Returns the address of the files of the latest release. */
export function downloadUrl({ GRIDLINE_DOWNLOAD_URL }: NodeJS.ProcessEnv): string {
  return (GRIDLINE_DOWNLOAD_URL || DOWNLOAD_URL).replace(/\/+$/, '')
}

/** Returns the latest version. Throws `unreachable`. */
export async function fetchLatestVersion(
  method: InstallationMethod,
  environment: NodeJS.ProcessEnv,
): Promise<string> {
  const text = UPDATERS[method].asksNpm ? await askNpm() : await readSums(downloadUrl(environment))
  const [, version] = /^(?:.*[ *]gridline-)?(\d+\.\d+\.\d+)(?:-linux-x64\.tar\.xz)?$/m.exec(text) ?? []
  if (version !== undefined) return version
  throw new Problem('unreachable', 'the answer about the latest version has no version')
}

async function askNpm(): Promise<string> {
  const { execFile } = process.getBuiltinModule('node:child_process')
  return new Promise((resolve, reject) => {
    // On Windows, npm is a script that needs a shell.
    const options = { timeout: QUERY_TIMEOUT_MS, shell: process.platform === 'win32' }
    // Without these, npm waits for minutes if there is no network.
    const patience = ['--fetch-retries=0', '--fetch-timeout=10000']
    execFile('npm', ['view', 'gridline', 'version', ...patience], options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout.trim())
      const lines = stderr.split('\n').map((line) => line.replace(/^npm (?:error|ERR!)\s*/, ''))
      const reason = lines.find((line) => line.trim() !== '' && !/^code |^(?:errno|syscall) /.test(line))
      reject(
        new Problem('unreachable', `npm gave no latest version: ${reason ?? 'no answer'}`, {
          hint: NETWORK_HINT,
        }),
      )
    })
  })
}

async function readSums(url: string): Promise<string> {
  const { EnvHttpProxyAgent, fetch } = await import('../../vendor/undici.ts')
  const signal = AbortSignal.timeout(QUERY_TIMEOUT_MS)
  const file = `${url}/SHA256SUMS`
  try {
    const response = await fetch(file, { signal, dispatcher: new EnvHttpProxyAgent() })
    if (!response.ok) throw new Error(`the server answered ${response.status}`)
    return await response.text()
  } catch (error) {
    const { cause } = error as Error
    throw new Problem('unreachable', `${file}: ${errorMessageOf(cause ?? error)}`, { hint: NETWORK_HINT })
  }
}

/** Returns whether a version is later than another: `0.10.0` is later than `0.9.1`. */
export function isNewer(version: string, base: string): boolean {
  const [a, b] = [version, base].map((text) => text.split('.').map(Number))
  const k = a.findIndex((part, index) => part !== b[index])
  return k >= 0 && a[k] > b[k]
}
