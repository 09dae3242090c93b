// Finds a Chromium to draw images with.
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Chromium, findBundledChromium } from './bundled-chromium.ts'

/** Executables on the PATH, in order of preference. */
const EXECUTABLE_NAMES = [
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

const CHROMIUM_MISSING =
  'images need Chromium: install it with the system (for example: apt install chromium), or run: npm install @sparticuz/chromium puppeteer-core'

/** Returns the configured Chromium, that of the system, or that from npm. Throws if there is none. */
export async function findChromium(configuredPath?: string): Promise<Chromium> {
  if (configuredPath) {
    if (!isExecutable(configuredPath))
      throw new Error(`GRIDLINE_CHROMIUM: ${configuredPath} is not an executable file`)
    return { path: configuredPath }
  }
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const candidates = [
    ...EXECUTABLE_NAMES.flatMap((name) => folders.map((folder) => join(folder, name + suffix))),
    ...DEFAULT_PATHS,
  ]
  const path = candidates.find(isExecutable)
  if (path) return { path }
  const bundled = await findBundledChromium()
  if (!bundled) throw new Error(CHROMIUM_MISSING)
  return bundled
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
