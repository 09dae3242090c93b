// Drawing process: draws figures in Chromium on request of the parent process, and ends with it.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCodeOf, errorMessageOf } from '../contract/errors.ts'
import { Browser } from './chromium.ts'
import { findChromium } from './find-chromium.ts'
import type { DrawRequest, DrawResponse, DrawSettings } from './messages.ts'
import { type DrawingPage, drawDocument, openPage, PageCrashed } from './pages.ts'

const settings: DrawSettings = JSON.parse(process.argv[2])

/** Maximum time in which a page opens, in ms. */
const PAGE_TIMEOUT_MS = 20_000
/** Interval between measurements of Chromium's memory, in ms. */
const MEASURE_MS = 250

const CHROMIUM_ARGUMENTS = [
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic'],
  ...['--disable-domain-reliability', '--no-first-run', '--disable-default-apps', '--disable-extensions'],
  ...['--disable-breakpad', '--disable-crash-reporter', '--metrics-recording-only', '--disable-hang-monitor'],
  // The address bar, which nobody sees, would load two pages.
  '--disable-features=Translate,MediaRouter,OptimizationHints,WebUIOmniboxPopup,WebUIOmniboxAimPopup',
  '--use-mock-keychain',
  // Pages that nobody sees are drawn at full speed.
  ...['--disable-background-timer-throttling', '--disable-backgrounding-occluded-windows'],
  ...['--disable-renderer-backgrounding', '--password-store=basic'],
  // Compositing by SwiftShader takes more CPU time than software compositing.
  '--disable-gpu-compositing',
  ...['--no-pings', '--mute-audio', '--hide-scrollbars'],
  ...['--font-render-hinting=none', '--force-color-profile=srgb'],
  ...['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
  '--disable-dev-shm-usage',
  // No network: names do not resolve, and every connection goes to a proxy that does not exist.
  ...['--host-resolver-rules=MAP * ~NOTFOUND', '--proxy-server=http://127.0.0.1:1'],
  ...['--proxy-bypass-list=<-loopback>', '--webrtc-ip-handling-policy=disable_non_proxied_udp'],
]

let starting: Promise<Browser> | undefined
/** Directory of all temporary files of Chromium. */
let temporaryFolder: string | undefined
/** Pages that are not drawing. */
const idlePages: DrawingPage[] = []

/** Returns the running Chromium; starts it if necessary. */
async function getBrowser(): Promise<Browser> {
  starting ??= startBrowser()
  try {
    return await starting
  } catch (error) {
    starting = undefined
    throw error
  }
}

/** Starts Chromium. Throws `NoBrowser`. */
async function startBrowser(): Promise<Browser> {
  const chromium = await findChromium(settings.chromium).catch((error) => {
    throw new NoBrowser(errorMessageOf(error))
  })
  await removeOrphanedFolders()
  // A killed Chromium leaves files behind.
  if (temporaryFolder)
    await rm(temporaryFolder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  temporaryFolder = await mkdtemp(join(tmpdir(), `${FOLDER_PREFIX}${process.pid}-`)).catch((error) => {
    throw new NoBrowser(
      `Chromium needs a folder for temporary files, but ${tmpdir()} is not writable (${errorCodeOf(error)}): set TMPDIR to another folder`,
    )
  })
  const profile = join(temporaryFolder, 'profile')
  await mkdir(profile)
  // The home directory of the user may not be writable.
  const folderNames = ['TMPDIR', 'TMP', 'TEMP', 'HOME', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME']
  const temporary = Object.fromEntries(folderNames.map((name) => [name, temporaryFolder]))
  const heap = `--js-flags=--max-old-space-size=${Math.round(settings.maxMemoryBytes / 2 / 1024 / 1024)}`
  const launch = (sandbox: boolean): Promise<Browser> =>
    Browser.launch(
      chromium.path,
      [
        ...CHROMIUM_ARGUMENTS,
        heap,
        `--user-data-dir=${profile}`,
        ...(chromium.args ?? []),
        ...(sandbox ? [] : ['--no-sandbox']),
      ],
      { ...filterEnvironment(), ...chromium.env, ...temporary },
    )
  // The sandbox of Chromium needs a user other than root, and name spaces that some systems forbid.
  const running = await (process.getuid?.() === 0
    ? launch(false)
    : launch(true).catch(() => launch(false))
  ).catch((error) => {
    const reason =
      existsSync('/proc') && readdirSync('/proc').length === 0
        ? '/proc is not mounted'
        : firstErrorLineOf(error)
    throw new NoBrowser(`Chromium (${chromium.path}) does not start: ${reason}`)
  })
  running.on('closed', () => {
    starting = undefined
    idlePages.length = 0
  })
  return running
}

const FOLDER_PREFIX = 'gridline-draw-'
/** Minimum age of an orphaned directory to be removed, in ms: process ids differ between containers. */
const MIN_ORPHAN_AGE_MS = 24 * 3600 * 1000

/** Removes directories of drawing processes that were killed. */
async function removeOrphanedFolders(): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const pid = name.startsWith(FOLDER_PREFIX)
      ? Number.parseInt(name.slice(FOLDER_PREFIX.length), 10)
      : Number.NaN
    if (!(pid > 0) || isRunning(pid)) continue
    const path = join(tmpdir(), name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs < MIN_ORPHAN_AGE_MS) continue
    await rm(path, { recursive: true, force: true }).catch(() => {})
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCodeOf(error) !== 'ESRCH'
  }
}

/** Returns the environment variables that Chromium needs. It draws untrusted text, so it gets no secrets. */
function filterEnvironment(): Record<string, string> {
  const allowed =
    /^(PATH|HOME|USER|LANG|LANGUAGE|LC_\w+|TMPDIR|TMP|TEMP|TZ|FONTCONFIG_\w+|LD_LIBRARY_PATH|XDG_\w+|SYSTEMROOT|WINDIR|LOCALAPPDATA|APPDATA|PROGRAMFILES.*)$/i
  return Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => allowed.test(entry[0]) && entry[1] !== undefined,
    ),
  )
}

/** Thrown if Chromium is missing or does not start. */
class NoBrowser extends Error {}

function firstErrorLineOf(error: unknown): string {
  return errorMessageOf(error).split('\n')[0]
}

/** Kills Chromium at once; the next request starts it again. */
async function killBrowser(): Promise<void> {
  const running = await starting?.catch(() => undefined)
  starting = undefined
  idlePages.length = 0
  running?.kill()
}

/** Draws one figure, within the limits of time and memory. */
async function drawFigure({
  id,
  figure,
  isDocument,
  options,
  timeoutMs,
}: DrawRequest): Promise<DrawResponse> {
  let timer: NodeJS.Timeout | undefined
  let measuring: NodeJS.Timeout | undefined
  let page: DrawingPage | undefined
  let limitExceeded: DrawResponse | undefined
  const stop = (failure: 'too_slow' | 'starved' | 'too_large', detail: string): void => {
    limitExceeded ??= { id, failure, detail }
    killBrowser().catch(() => {})
  }
  try {
    const running = await getBrowser()
    // Start the time limit when Chromium and its page are ready.
    timer = setTimeout(
      () => stop('starved', `Chromium opened no page within ${PAGE_TIMEOUT_MS / 1000} seconds`),
      PAGE_TIMEOUT_MS,
    )
    const { pid } = running
    measuring = setInterval(() => {
      const used = measureUsage(pid).memoryBytes
      if (used > settings.maxMemoryBytes)
        stop('too_large', `more than ${Math.round(settings.maxMemoryBytes / 1024 / 1024)} MiB of memory`)
    }, MEASURE_MS)
    page = idlePages.pop() ?? (await openPage(running, settings))
    const text = Buffer.from(figure).toString('utf8')
    if (!isDocument) await page.load(text)
    clearTimeout(timer)
    // Measured while Chromium works: reading all processes takes milliseconds.
    const drawing = isDocument ? drawDocument(running, text, options) : page.draw(options)
    const { cpuSeconds } = measureUsage(pid)
    timer = setTimeout(() => {
      // On a busy machine, the figure did not get its CPU time: do not blame it.
      const used = measureUsage(pid).cpuSeconds - cpuSeconds
      const isStarved = process.platform === 'linux' && used * 1000 < timeoutMs * MIN_CPU_SHARE
      if (isStarved)
        stop('starved', `the machine is busy: ${used.toFixed(1)} s of CPU time in ${timeoutMs / 1000} s`)
      else stop('too_slow', `not drawn within ${timeoutMs / 1000} seconds`)
    }, timeoutMs)
    const image = await drawing
    if (page.isWorn) await page.close()
    else idlePages.push(page)
    return { id, image }
  } catch (error) {
    await page?.close()
    if (limitExceeded) return limitExceeded
    if (error instanceof NoBrowser) return { id, failure: 'no_browser', detail: error.message }
    if (error instanceof PageCrashed || !(await isBrowserConnected()))
      return { id, failure: 'crashed', detail: firstErrorLineOf(error) }
    return { id, failure: 'undrawable', detail: firstErrorLineOf(error) }
  } finally {
    clearTimeout(timer)
    clearInterval(measuring)
  }
}

async function isBrowserConnected(): Promise<boolean> {
  const running = await starting?.catch(() => undefined)
  return running?.connected === true
}

/** Minimum CPU share of Chromium during a timeout for the figure to be blamed for it. */
const MIN_CPU_SHARE = 0.5

/** Memory and CPU time of a process tree. */
interface Usage {
  /** Resident memory, in bytes. */
  memoryBytes: number
  /** CPU time, in seconds. */
  cpuSeconds: number
}

/** Returns the usage of a process and its descendants; zero on systems other than Linux. */
function measureUsage(pid: number | undefined): Usage {
  const none: Usage = { memoryBytes: 0, cpuSeconds: 0 }
  if (pid === undefined || process.platform !== 'linux') return none
  try {
    const parents = new Map<number, number>()
    const uses = new Map<number, Usage>()
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
        const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        parents.set(Number(name), Number(fields[1]))
        // In clock ticks, usually of 10 ms.
        const cpu = (Number(fields[11]) + Number(fields[12])) / 100
        uses.set(Number(name), { memoryBytes: Number(fields[21]) * 4096, cpuSeconds: cpu })
      } catch {
        // The process has ended.
      }
    }
    const sum: Usage = { ...none }
    for (const [descendant, { memoryBytes, cpuSeconds }] of uses) {
      let ancestor: number | undefined = descendant
      while (ancestor !== undefined && ancestor > 1 && ancestor !== pid) ancestor = parents.get(ancestor)
      if (ancestor !== pid) continue
      sum.memoryBytes += memoryBytes
      sum.cpuSeconds += cpuSeconds
    }
    return sum
  } catch {
    return none
  }
}

/** Closes Chromium, removes its files, and exits. */
async function shutDown(): Promise<void> {
  const running = await starting?.catch(() => undefined)
  await running?.close().catch(() => {})
  if (temporaryFolder)
    await rm(temporaryFolder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  process.exit(0)
}

process.on('message', (request: DrawRequest) => {
  drawFigure(request)
    .catch((error): DrawResponse => ({ id: request.id, failure: 'crashed', detail: firstErrorLineOf(error) }))
    .then((response) => process.connected && process.send!(response))
})
process.on('disconnect', () => shutDown())
// Interrupts of a terminal reach the whole group; the parent decides when this process ends.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => shutDown())
