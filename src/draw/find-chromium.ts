// Finds a Chromium to draw images with.
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { installationFolder, installationMethod } from '../contract/installation.ts'
import { quoteShellWord } from '../contract/shell.ts'
import { type Chromium, findPackagedChromium, hasPackagedChromium } from './packaged-chromium.ts'

/** Executables on the PATH, in order of preference: those without windows start sooner. */
const EXECUTABLE_NAMES = [
  'chromium-headless-shell',
  'chrome-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'microsoft-edge',
]
/** Default install locations on macOS and Windows. */
const DEFAULT_PATHS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
]

/** Commands that install a Chromium, by the program that runs them. Those of Linux are for root. */
const SYSTEM_COMMANDS: readonly (readonly [string, string])[] = [
  ['apt-get', 'apt-get install chromium'],
  ['dnf', 'dnf install chromium'],
  ['pacman', 'pacman -S chromium'],
  ['apk', 'apk add chromium'],
  ['brew', 'brew install --cask google-chrome'],
  ['winget', 'winget install Google.Chrome'],
]
const NPM_PACKAGE = '@sparticuz/chromium'

/** Returns the command that brings a Chromium to this machine; undefined if none is known. */
export function chromiumCommand(): string | undefined {
  if (hasPackagedChromium()) {
    const method = installationMethod()
    if (method === 'npm') {
      // PREFIX/lib/node_modules/gridline
      const prefix = join(installationFolder(), '..', '..', '..')
      const isDefault = prefix === join(process.execPath, '..', '..')
      return `npm install --global ${isDefault ? '' : `--prefix ${quoteShellWord(prefix)} `}${NPM_PACKAGE}`
    }
    if (method === 'project' || method === 'source') return `npm install ${NPM_PACKAGE}`
    if (method === 'npx') return `npx --package gridline --package ${NPM_PACKAGE} gridline image NAME -o FILE`
  }
  const [program, command] = SYSTEM_COMMANDS.find(([name]) => findOnPath([name])) ?? []
  const isRoot = process.platform !== 'linux' || process.getuid?.() === 0
  return command && (isRoot || program === 'brew' ? command : `sudo ${command}`)
}

function missingMessage(): string {
  const command = chromiumCommand()
  return `images need Chromium. ${command ? `Run: ${command}` : 'Install it, or set GRIDLINE_CHROMIUM to its path.'}`
}

/** Returns the configured Chromium, that of the system, or that from npm. Throws if there is none. */
export async function findChromium(configuredPath?: string): Promise<Chromium> {
  if (configuredPath) {
    if (!isExecutable(configuredPath))
      throw new Error(`GRIDLINE_CHROMIUM: ${configuredPath} is not an executable file`)
    return { path: configuredPath }
  }
  const path = findOnPath(EXECUTABLE_NAMES) ?? DEFAULT_PATHS.find(isExecutable)
  if (path) return { path }
  const packaged = await findPackagedChromium()
  if (!packaged) throw new Error(missingMessage())
  return packaged
}

/** Returns the path of the first of some programs that is on the PATH. */
function findOnPath(names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  const suffix = process.platform === 'win32' ? '.exe' : ''
  return names.flatMap((name) => folders.map((folder) => join(folder, name + suffix))).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
