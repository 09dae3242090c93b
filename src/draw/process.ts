// Drawing process: draws figures in Chromium on request of the parent process, and ends with it.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'puppeteer-core'
import { findChromium, NO_PUPPETEER } from './chromium.ts'
import type { DrawRequest, DrawResponse, DrawSettings } from './messages.ts'
import { type DrawingPage, openPage, PageCrashed } from './pages.ts'

const settings = JSON.parse(process.argv[2]) as DrawSettings

/** Interval between measurements of Chromium's memory, in ms. */
const MEASURE_EVERY_MS = 250

const ARGS = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
  '--disable-domain-reliability',
  '--no-first-run',
  // Compositing by SwiftShader takes more CPU time than software compositing.
  '--disable-gpu-compositing',
  '--no-pings',
  '--mute-audio',
  '--hide-scrollbars',
  '--font-render-hinting=none',
  '--force-color-profile=srgb',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--ignore-gpu-blocklist',
  '--disable-dev-shm-usage',
  // No network: names do not resolve, and every connection goes to a proxy that does not exist.
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--proxy-server=http://127.0.0.1:1',
  '--proxy-bypass-list=<-loopback>',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
]

let starting: Promise<Browser> | undefined
/** Directory of all temporary files of Chromium. */
let folder: string | undefined
/** Pages that are not drawing. */
const idle: DrawingPage[] = []

/** Returns the running Chromium; starts it if necessary. */
async function browser(): Promise<Browser> {
  starting ??= start()
  try {
    return await starting
  } catch (error) {
    starting = undefined
    throw error
  }
}

/** Starts Chromium. Throws `NoBrowser`. */
async function start(): Promise<Browser> {
  const chromium = await findChromium(settings.chromium).catch((error) => {
    throw new NoBrowser((error as Error).message)
  })
  const puppeteer = await import('puppeteer-core').catch(() => {
    throw new NoBrowser(NO_PUPPETEER)
  })
  await removeLeftOvers()
  // A killed Chromium leaves files behind.
  if (folder) await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  folder = await mkdtemp(join(tmpdir(), `${FOLDER}${process.pid}-`)).catch((error) => {
    throw new NoBrowser(
      `Chromium needs a folder for temporary files, but ${tmpdir()} is not writable (${(error as NodeJS.ErrnoException).code}): set TMPDIR to another folder`,
    )
  })
  const profile = join(folder, 'profile')
  await mkdir(profile)
  // The home directory of the user may not be writable.
  const temporary = {
    TMPDIR: folder,
    TMP: folder,
    TEMP: folder,
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    XDG_CACHE_HOME: folder,
  }
  const heap = `--js-flags=--max-old-space-size=${Math.round(settings.memory / 2 / 1024 / 1024)}`
  const launch = (sandbox: boolean): Promise<Browser> =>
    puppeteer.launch({
      executablePath: chromium.path,
      env: { ...ownEnvironment(), ...chromium.env, ...temporary },
      args: [...ARGS, heap, ...(chromium.args ?? []), ...(sandbox ? [] : ['--no-sandbox'])],
      headless: 'shell',
      pipe: true,
      userDataDir: profile,
      timeout: 30_000,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    })
  // The sandbox of Chromium needs a user other than root, and name spaces that some systems forbid.
  const running = await (process.getuid?.() === 0
    ? launch(false)
    : launch(true).catch(() => launch(false))
  ).catch((error) => {
    const reason =
      existsSync('/proc') && readdirSync('/proc').length === 0 ? '/proc is not mounted' : firstLine(error)
    throw new NoBrowser(`Chromium (${chromium.path}) does not start: ${reason}`)
  })
  running.on('disconnected', () => {
    starting = undefined
    idle.length = 0
  })
  return running
}

const FOLDER = 'gridline-draw-'
/** Minimum age of an orphaned directory to be removed, in ms: process ids differ between containers. */
const LEFT_OVER_MS = 24 * 3600 * 1000

/** Removes directories of drawing processes that were killed. */
async function removeLeftOvers(): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const pid = name.startsWith(FOLDER) ? Number.parseInt(name.slice(FOLDER.length), 10) : Number.NaN
    if (!(pid > 0) || isRunning(pid)) continue
    const path = join(tmpdir(), name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs < LEFT_OVER_MS) continue
    await rm(path, { recursive: true, force: true }).catch(() => {})
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** Returns the environment variables that Chromium needs. It draws untrusted text, so it gets no secrets. */
function ownEnvironment(): Record<string, string> {
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

function firstLine(error: unknown): string {
  return String((error as Error)?.message ?? error).split('\n')[0]
}

/** Kills Chromium at once; the next request starts it again. */
async function kill(): Promise<void> {
  const running = await starting?.catch(() => undefined)
  starting = undefined
  idle.length = 0
  running?.process()?.kill('SIGKILL')
}

/** Draws one figure, within the limits of time and memory. */
async function draw({ id, figure, options, timeout }: DrawRequest): Promise<DrawResponse> {
  let timer: NodeJS.Timeout | undefined
  let measuring: NodeJS.Timeout | undefined
  let page: DrawingPage | undefined
  let limitExceeded: DrawResponse | undefined
  const stop = (failure: 'too_slow' | 'starved' | 'too_large', detail: string): void => {
    limitExceeded ??= { id, failure, detail }
    kill().catch(() => {})
  }
  try {
    const running = await browser()
    // Start the time limit when Chromium and its page are ready.
    page = idle.pop() ?? (await openPage(running, settings))
    const pid = running.process()?.pid
    const { cpu } = usageOf(pid)
    timer = setTimeout(() => {
      // On a busy machine, the figure did not get its CPU time: do not blame it.
      const used = usageOf(pid).cpu - cpu
      const isStarved = process.platform === 'linux' && used * 1000 < timeout * OWN_SHARE
      if (isStarved)
        stop('starved', `the machine is busy: ${used.toFixed(1)} s of CPU time in ${timeout / 1000} s`)
      else stop('too_slow', `not drawn within ${timeout / 1000} seconds`)
    }, timeout)
    measuring = setInterval(() => {
      const used = usageOf(pid).memory
      if (used > settings.memory)
        stop('too_large', `more than ${Math.round(settings.memory / 1024 / 1024)} MiB of memory`)
    }, MEASURE_EVERY_MS)
    const image = await page.draw(Buffer.from(figure).toString('utf8'), options)
    if (page.worn) await page.close()
    else idle.push(page)
    return { id, image }
  } catch (error) {
    await page?.close()
    if (limitExceeded) return limitExceeded
    if (error instanceof NoBrowser) return { id, failure: 'no_browser', detail: error.message }
    if (error instanceof PageCrashed || !(await isAlive()))
      return { id, failure: 'crashed', detail: firstLine(error) }
    return { id, failure: 'undrawable', detail: firstLine(error) }
  } finally {
    clearTimeout(timer)
    clearInterval(measuring)
  }
}

async function isAlive(): Promise<boolean> {
  const running = await starting?.catch(() => undefined)
  return running?.connected === true
}

/** Minimum CPU share of Chromium during a timeout for the figure to be blamed for it. */
const OWN_SHARE = 0.5

/** Memory and CPU time of a process tree. */
interface Usage {
  /** Resident memory, in bytes. */
  memory: number
  /** CPU time, in seconds. */
  cpu: number
}

/** Returns the usage of a process and its descendants; zero on systems other than Linux. */
function usageOf(pid: number | undefined): Usage {
  const none: Usage = { memory: 0, cpu: 0 }
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
        uses.set(Number(name), { memory: Number(fields[21]) * 4096, cpu })
      } catch {
        // The process has ended.
      }
    }
    const sum: Usage = { ...none }
    for (const [descendant, { memory, cpu }] of uses) {
      let ancestor: number | undefined = descendant
      while (ancestor !== undefined && ancestor > 1 && ancestor !== pid) ancestor = parents.get(ancestor)
      if (ancestor !== pid) continue
      sum.memory += memory
      sum.cpu += cpu
    }
    return sum
  } catch {
    return none
  }
}

/** Closes Chromium, removes its files, and exits. */
async function end(): Promise<void> {
  const running = await starting?.catch(() => undefined)
  await running?.close().catch(() => {})
  if (folder) await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  process.exit(0)
}

process.on('message', (request: DrawRequest) => {
  draw(request)
    .catch((error): DrawResponse => ({ id: request.id, failure: 'crashed', detail: firstLine(error) }))
    .then((response) => process.connected && process.send!(response))
})
process.on('disconnect', () => end())
// Interrupts of a terminal reach the whole group; the parent decides when this process ends.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => end())
