// Pages in Chromium that draw figures, without network access.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Protocol } from 'devtools-protocol'
import { escapeHtml } from '../contract/html.ts'
import type { Browser, Session } from './chromium.ts'
import { fitTables } from './fit-tables.ts'
import type { DrawSettings, ImageOptions } from './messages.ts'

/** Origin of the pages. Requests to it are answered here. */
const ORIGIN = 'https://drawing.invalid'

/**
 * Content security policy of the pages, because figures are untrusted: only our scripts, nothing inline, no
 * `eval`, no connections. The origin is not opaque, so that maps can start their worker; nothing is stored in
 * it.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  'img-src data: blob:',
  'font-src data:',
  "connect-src 'none'",
  'worker-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/** Returns the HTML of a page, which loads a build of plotly.js for each figure that needs it. */
async function renderPage(assets: string): Promise<string> {
  const builds = await readFile(join(assets, 'plotly-bundles.json'), 'utf8')
  return `<!doctype html><meta charset="utf-8"><title>drawing</title>
<style>body { margin: 0; font-family: sans-serif }</style>
<script src="/draw.js" data-builds="${escapeHtml(builds)}"></script>`
}

/** Scripts that are served to pages. */
const SERVED_SCRIPTS = /^(plotly|plotly-geo|draw|bundle-[a-z]+)\.js$/

/** Number of images after which a page is replaced, to free its memory. */
const MAX_IMAGES_PER_PAGE = 500

/** Thrown if the page crashed or was closed. */
export class PageCrashed extends Error {}

/** A page with plotly.js, which draws one figure at a time. */
export interface DrawingPage {
  /** Loads a figure (JSON text), and what draws it. */
  load(figure: string): Promise<void>
  /** Draws the loaded figure. */
  draw(options: ImageOptions): Promise<Uint8Array>
  /** True once the page has drawn enough images and should be replaced. */
  readonly isWorn: boolean
  close(): Promise<void>
}

/** Opens a page and loads its scripts. */
export async function openPage(
  browser: Browser,
  { assets }: Pick<DrawSettings, 'assets'>,
): Promise<DrawingPage> {
  const page = await browser.openPage()
  const crashed = new Promise<never>((_, reject) => {
    page.listen('Inspector.targetCrashed', () => reject(new PageCrashed('the page crashed')))
    page.on('closed', () => reject(new PageCrashed('the page was closed')))
  })
  crashed.catch(() => {})
  page.listen('Page.javascriptDialogOpening', () => {
    page.send('Page.handleJavaScriptDialog', { accept: false }).catch(() => {})
  })
  const open = async (): Promise<void> => {
    await page.send('Inspector.enable')
    const html = await renderPage(assets)
    await answerRequests(page, (path) =>
      path === ''
        ? { html, policy: POLICY }
        : SERVED_SCRIPTS.test(path)
          ? { script: join(assets, path) }
          : undefined,
    )
    await page.navigate(`${ORIGIN}/`)
  }
  await Promise.race([open(), crashed])
  let imageCount = 0
  return {
    async load(figure) {
      await Promise.race([page.call('loadFigure', figure), crashed])
    },
    async draw(options) {
      imageCount++
      const isPdf = options.format === 'pdf'
      // A PDF does not grow with the rows of a chart.
      const pageOptions: ImageOptions = isPdf ? { ...options, format: 'svg', maxHeight: undefined } : options
      const url = await Promise.race([page.call('drawFigure', pageOptions), crashed])
      const image = decodeDataUrl(url as string)
      return isPdf ? await Promise.race([printPdf(browser, image, options), crashed]) : image
    },
    get isWorn() {
      return imageCount >= MAX_IMAGES_PER_PAGE
    },
    close: () => page.close().catch(() => {}),
  }
}

/** A response to a request of a page: a page with its policy, or the file of a script. */
type PageResponse = { html: string; policy: string } | { script: string }

/** Answers the requests of a page to the origin. Refuses every other request. `respond`: by path, without its slash. */
async function answerRequests(
  page: Session,
  respond: (path: string) => PageResponse | undefined,
): Promise<void> {
  const answer = async ({
    requestId,
    request: { url },
  }: Protocol.Fetch.RequestPausedEvent): Promise<void> => {
    const response = url.startsWith(`${ORIGIN}/`) ? respond(url.slice(ORIGIN.length + 1)) : undefined
    if (response) {
      const isScript = 'script' in response
      const body = isScript ? await readFile(response.script) : Buffer.from(response.html)
      await page.send('Fetch.fulfillRequest', {
        requestId,
        responseCode: 200,
        responseHeaders: isScript
          ? [{ name: 'content-type', value: 'text/javascript' }]
          : [
              { name: 'content-type', value: 'text/html' },
              { name: 'content-security-policy', value: response.policy },
            ],
        body: body.toString('base64'),
      })
    } else if (/^(data|blob):/.test(url)) await page.send('Fetch.continueRequest', { requestId })
    else await page.send('Fetch.failRequest', { requestId, errorReason: 'AccessDenied' })
  }
  page.listen('Fetch.requestPaused', (request) => {
    answer(request).catch(() => {})
  })
  await page.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] })
}

/** Decodes a data URL. */
function decodeDataUrl(url: string): Uint8Array {
  const comma = url.indexOf(',')
  const data = url.slice(comma + 1)
  return url.slice(0, comma).endsWith(';base64')
    ? Buffer.from(data, 'base64')
    : Buffer.from(decodeURIComponent(data))
}

/** Policy of documents: they run and load nothing. */
const DOCUMENT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"

/** Opens a document in HTML, and closes it when `work` is done. */
async function withDocument<T>(
  browser: Browser,
  html: string,
  width: number,
  work: (page: Session) => Promise<T>,
): Promise<T> {
  const page = await browser.openPage()
  try {
    await answerRequests(page, (path) =>
      path === 'document' ? { html, policy: DOCUMENT_POLICY } : undefined,
    )
    const screen = { width: Math.round(width), height: 600, deviceScaleFactor: 1, mobile: false }
    await page.send('Emulation.setDeviceMetricsOverride', screen)
    await page.navigate(`${ORIGIN}/document`)
    return await work(page)
  } finally {
    await page.close().catch(() => {})
  }
}

/** Maximum width and height of an image, in image pixels: those of WebP, and of what Chromium draws. */
const MAX_SIDE_PIXELS = 16_000

/** Draws a document in HTML, as high as its content; as a PDF, on pages of paper. */
export function drawDocument(browser: Browser, html: string, options: ImageOptions): Promise<Uint8Array> {
  const { format, scale, maxPixels = MAX_SIDE_PIXELS ** 2 } = options
  const width = format === 'pdf' ? PRINTED_PIXELS : options.width
  return withDocument(browser, html, width, async (page) => {
    await runInDocument(page, fitTables)
    if (format === 'pdf') {
      const { data } = await page.send('Page.printToPDF', { printBackground: true, ...PAPER })
      return Buffer.from(data, 'base64')
    }
    if (format === 'svg') throw new Error('a document has no SVG')
    const { cssContentSize } = await page.send('Page.getLayoutMetrics')
    const height = Math.ceil(cssContentSize.height)
    // A high document is drawn whole, though less sharp.
    const fits = Math.min(
      scale,
      Math.sqrt(maxPixels / (width * height)),
      MAX_SIDE_PIXELS / Math.max(width, height),
    )
    const { data } = await page.send('Page.captureScreenshot', {
      format,
      captureBeyondViewport: true,
      clip: { x: 0, y: 0, width, height, scale: fits },
    })
    if (data === '') throw new Error('the document is too large')
    return Buffer.from(data, 'base64')
  })
}

/** Runs a function in a document, whose own scripts do not run. */
async function runInDocument(page: Session, run: () => void): Promise<void> {
  const { frameTree } = await page.send('Page.getFrameTree')
  const { executionContextId } = await page.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id })
  const { exceptionDetails } = await page.send('Runtime.evaluate', {
    expression: `(${run})()`,
    contextId: executionContextId,
  })
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
}

/** A4, in inches. */
const PAPER = { paperWidth: 8.27, paperHeight: 11.69 } as const
/** Width of its content, with the margins of Chromium, in CSS pixels. */
const PRINTED_PIXELS = 717

/** Converts an SVG image to a PDF page of the same size. */
function printPdf(browser: Browser, svg: Uint8Array, { width, height }: ImageOptions): Promise<Uint8Array> {
  const html = `<!doctype html><style>@page { size: ${width}px ${height}px; margin: 0 } body { margin: 0 } img { display: block; width: ${width}px; height: ${height}px }</style><img src="data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}">`
  return withDocument(browser, html, width, async (page) => {
    const { data } = await page.send('Page.printToPDF', {
      paperWidth: width / PIXELS_PER_INCH,
      paperHeight: height / PIXELS_PER_INCH,
      ...{ marginTop: 0, marginBottom: 0, marginLeft: 0, marginRight: 0 },
      printBackground: true,
      pageRanges: '1',
    })
    return Buffer.from(data, 'base64')
  })
}

/** Pixels per inch of CSS. */
const PIXELS_PER_INCH = 96
