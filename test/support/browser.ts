// A server and a real browser for tests of pages.
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request as requestTo, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import puppeteer, { type Browser, type BrowserContext, type Frame, type Page } from 'puppeteer-core'
import { afterAll, beforeAll } from 'vitest'
import { readLimits } from '../../src/contract/limits.ts'
import { findChromium } from '../../src/draw/find-chromium.ts'
import { type Chromium, findPackagedChromium } from '../../src/draw/packaged-chromium.ts'
import { createService, listen, type RunningService } from '../../src/service/index.ts'
import { TestService, temporaryFolder } from './service.ts'

/** As in src/draw/process.ts, but with the local network. */
const ARGS = [
  '--disable-background-networking',
  '--disable-component-update',
  '--no-first-run',
  // Compositing by SwiftShader takes more CPU time than software compositing.
  '--disable-gpu-compositing',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--ignore-gpu-blocklist',
  '--disable-dev-shm-usage',
  '--disable-popup-blocking',
  // Resolves only the name of the server behind a proxy.
  '--host-resolver-rules=MAP charts.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
]

/** Events of a page and its frames. */
export interface Seen {
  /** Console errors and uncaught errors. */
  errors: string[]
  /** Violations of a content security policy. */
  violations: string[]
  dialogs: string[]
  /** Requests to other hosts, including clicked links. */
  foreign: string[]
  /** Arguments of each call of `__hit`, by which a hostile text shows that it was executed. */
  hits: string[]
}

export interface Visit {
  page: Page
  /** Status of the page. */
  status: number
  seen: Seen
  /** The frame of the chart, once it is drawn or has failed. */
  chart(): Promise<Frame>
  close(): Promise<void>
}

export interface Look {
  width?: number
  height?: number
  dark?: boolean
}

/** A server with users alice and bob, a browser, and another site on another host. */
export interface Site {
  test: TestService
  url: string
  browser: Browser
  elsewhere: Elsewhere
  /** Opens a path of the server, or a URL, in a new page. */
  visit(path: string, look?: Look): Promise<Visit>
  /** Opens a page in a context of its own, and signs a user in. */
  signIn(user: string): Promise<Page>
  /** Saves a screenshot, if GRIDLINE_SCREENSHOTS names a folder. */
  screenshot(visit: Visit, name: string): Promise<void>
}

/** The server of another site. */
export interface Elsewhere {
  url: string
  /** Path → HTML. Other paths are 404. */
  pages: Map<string, string>
  /** Path → file of a script. */
  scripts: Map<string, string>
  /** Requests that arrived. */
  requests: { url: string; referrer: string | undefined }[]
}

export interface SiteOptions {
  /** The Chromium to use. Default: as for images. */
  chromium?: () => Promise<Chromium>
  /** Whether the server has a public URL, as with `serve --url`. */
  isNamed?: boolean
  /** The browser reaches the server through a proxy, under this host name. */
  proxy?: { host: string; forwardsHost?: boolean }
}

/** A proxy that forwards with the server's own host name, as proxies do by default. */
async function startProxy(port: number, forwardsHost: boolean): Promise<Server> {
  const server = createServer((request, response) => {
    const { host, ...others } = request.headers
    const headers = {
      ...others,
      host: `127.0.0.1:${port}`,
      ...(forwardsHost && { 'x-forwarded-host': host }),
    }
    const onward = requestTo(
      { port, host: '127.0.0.1', path: request.url, method: request.method, headers },
      (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.headers)
        reply.pipe(response)
      },
    )
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

/** The Chromium from npm, so that tests do not depend on the system's. */
async function ownChromium(): Promise<Chromium> {
  const given = process.env.GRIDLINE_CHROMIUM
  return (given ? undefined : await findPackagedChromium()) ?? findChromium(given)
}

/** Starts a server and a browser for the tests of this file. */
export function inBrowser({ chromium, isNamed = true, proxy }: SiteOptions = {}): () => Site {
  let site: Site | undefined
  const endings: (() => unknown)[] = []
  beforeAll(async () => {
    const folder = temporaryFolder()
    endings.push(folder.remove)
    let service: RunningService | undefined
    const limits = readLimits({})
    const listening = await listen(() => service, { host: '127.0.0.1', port: 0, limits })
    endings.push(() => listening.stop(0))
    let url = `http://127.0.0.1:${listening.port}`
    if (proxy) {
      const server = await startProxy(listening.port, proxy.forwardsHost === true)
      endings.push(() => {
        server.closeAllConnections()
        server.close()
      })
      url = `http://${proxy.host}:${(server.address() as AddressInfo).port}`
    }
    const database = `sqlite:${join(folder.path, 'test.db')}`
    const told = isNamed ? url : `http://127.0.0.1:${listening.port}`
    service = await createService({ database, url: told, environment: {} })
    endings.push(() => service?.close())
    const test = new TestService(service)
    await test.user('alice')
    await test.user('bob')
    const { elsewhere, server } = await startElsewhere()
    endings.push(() => server.close())
    const browser = await launch(await (chromium ?? ownChromium)())
    endings.push(() => browser.close())
    site = {
      test,
      url,
      browser,
      elsewhere,
      visit: (path, look) => visit(browser, new URL(path, url), new URL(url), look),
      signIn: async (user) => {
        const page = await openPage(await browser.createBrowserContext())
        await page.goto(`${url}/signin`)
        await page.type('input[name=username]', user)
        await page.type('input[name=api_key]', test.keys.get(user)!)
        await Promise.all([page.waitForNavigation(), page.click('button.primary')])
        return page
      },
      screenshot: async ({ page }, name) => {
        const folder = process.env.GRIDLINE_SCREENSHOTS
        if (folder) await page.screenshot({ path: join(folder, `${name}.png`) as `${string}.png` })
      },
    }
  })
  afterAll(async () => {
    for (const end of endings.reverse()) await end()
  })
  return () => site!
}

/** Maximum wait for a page, in ms. A busy machine is no failure. */
const MAX_WAIT_MS = 120_000

/** Opens a new page. */
export async function openPage(browser: Browser | BrowserContext): Promise<Page> {
  const page = await browser.newPage()
  page.setDefaultTimeout(MAX_WAIT_MS)
  return page
}

/** A browser without a site. */
export async function launched(): Promise<Browser> {
  return launch(await ownChromium())
}

async function launch({ path, env, args = [] }: Chromium): Promise<Browser> {
  const firefox = process.env.GRIDLINE_TEST_FIREFOX
  if (firefox) return puppeteer.launch({ browser: 'firefox', executablePath: firefox })
  return puppeteer.launch({
    executablePath: path,
    env: { ...process.env, ...env },
    args: [...ARGS, ...args, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
    headless: 'shell',
    pipe: true,
  })
}

async function startElsewhere(): Promise<{ elsewhere: Elsewhere; server: Server }> {
  const pages = new Map<string, string>()
  const scripts: Elsewhere['scripts'] = new Map()
  const requests: Elsewhere['requests'] = []
  const server = createServer((request: IncomingMessage, response) => {
    const { url = '/', headers } = request
    // Some browsers request it by themselves.
    if (url === '/favicon.ico') {
      response.writeHead(204)
      response.end()
      return
    }
    requests.push({ url, referrer: headers.referer })
    const path = url.split('?')[0]
    const script = scripts.get(path)
    if (script !== undefined) {
      response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8' })
      response.end(readFileSync(script))
      return
    }
    const html = pages.get(path)
    response.writeHead(html === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(html ?? 'not here')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // Another host, not only another port: for browsers, it is another site.
  const url = `http://localhost:${(server.address() as AddressInfo).port}`
  return { elsewhere: { url, pages, scripts, requests }, server }
}

/** Prefixes of console messages by which frames report to the test. */
const HIT = 'test-hit:'
const VIOLATION = 'test-violation:'

async function visit(browser: Browser, url: URL, own: URL, look: Look = {}): Promise<Visit> {
  const { width = 1280, height = 900, dark = false } = look
  const seen: Seen = { errors: [], violations: [], dialogs: [], foreign: [], hits: [] }
  const context = await browser.createBrowserContext()
  const page = await openPage(context)
  await page.setViewport({ width, height })
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }])
  await page.evaluateOnNewDocument(
    (hit, violation) => {
      const say = console.debug.bind(console)
      Object.defineProperty(window, '__hit', { value: (...what: unknown[]) => say(hit + what.join(' ')) })
      document.addEventListener('securitypolicyviolation', (event) =>
        say(`${violation}${event.effectiveDirective} ${event.blockedURI} ${event.sample}`),
      )
    },
    HIT,
    VIOLATION,
  )
  page.on('console', (message) => {
    const text = message.text()
    if (text.startsWith(HIT)) seen.hits.push(text.slice(HIT.length))
    else if (text.startsWith(VIOLATION)) seen.violations.push(text.slice(VIOLATION.length))
    else if (message.type() === 'error') seen.errors.push(`${text} ${message.location().url ?? ''}`)
    // Frames without `allow-modals` show no dialogs; Chromium says so instead.
    else if (/Ignored call to '(alert|confirm|prompt|print)/.test(text)) seen.dialogs.push(text)
  })
  page.on('pageerror', (error) => seen.errors.push(String(error)))
  const watch = (one: Page): void => {
    one.on('dialog', (dialog) => {
      seen.dialogs.push(dialog.message())
      dialog.dismiss().catch(() => {})
    })
    one.on('request', (request) => {
      const at = new URL(request.url())
      if (/^(https?|wss?):$/.test(at.protocol) && at.host !== own.host) seen.foreign.push(at.href)
    })
    one.on('requestfailed', (request) => {
      // Blocked by a policy, so nothing was sent. Network failures have a text.
      const forbidden = !request.failure()?.errorText
      const at = seen.foreign.indexOf(request.url())
      if (forbidden && at >= 0) seen.foreign.splice(at, 1)
    })
  }
  watch(page)
  page.on('popup', (popup) => popup && watch(popup))
  const response = await page.goto(url.href, { waitUntil: 'load' })
  return {
    page,
    status: response?.status() ?? 0,
    seen,
    async chart() {
      for (let tries = 0; tries < MAX_WAIT_MS / 50; tries++) {
        for (const frame of page.frames())
          if (await frame.$('#chart[data-drawn]').catch(() => null)) return frame
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      throw new Error(`no chart was drawn: ${JSON.stringify(seen)}`)
    },
    close: () => context.close(),
  }
}

/** The events of a page without errors and without executed texts. */
export const nothing: Seen = { errors: [], violations: [], dialogs: [], foreign: [], hits: [] }
