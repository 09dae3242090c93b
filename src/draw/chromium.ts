// Finds a Chromium to draw images with.
import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { bundledChromium, type Chromium } from './bundled.ts'

/** Executables on the PATH, in order of preference. */
const NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'microsoft-edge',
]
/** Default install locations on macOS and Windows. */
const ELSEWHERE = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
]

const NO_CHROMIUM =
  'images need Chromium: install it with the system (for example: apt install chromium), or run: npm install @sparticuz/chromium puppeteer-core'

export const NO_PUPPETEER =
  'images need the npm package puppeteer-core, which drives Chromium: install gridline without --omit=optional, or run: npm install puppeteer-core'

/** Returns whether puppeteer-core, an optional dependency, is installed. */
export function hasPuppeteer(): boolean {
  try {
    createRequire(import.meta.url).resolve('puppeteer-core')
    return true
  } catch {
    return false
  }
}

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
    ...NAMES.flatMap((name) => folders.map((folder) => join(folder, name + suffix))),
    ...ELSEWHERE,
  ]
  const path = candidates.find(isExecutable)
  if (path) return { path }
  const bundled = await bundledChromium()
  if (!bundled) throw new Error(NO_CHROMIUM)
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
