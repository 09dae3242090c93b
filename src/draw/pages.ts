// Pages in Chromium that draw figures, without network access.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, HTTPRequest } from 'puppeteer-core'
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

const PAGE_HTML = `<!doctype html><meta charset="utf-8"><title>drawing</title>
<style>body { margin: 0; font-family: sans-serif }</style>
<script src="/plotly.js"></script><script src="/draw.js"></script>`

const SERVED_SCRIPTS = ['plotly.js', 'plotly-geo.js', 'draw.js']

/** Number of images after which a page is replaced, to free its memory. */
const MAX_IMAGES_PER_PAGE = 500

/** Thrown if the page crashed or was closed. */
export class PageCrashed extends Error {}

/** A page with plotly.js, which draws one figure at a time. */
export interface DrawingPage {
  draw(figure: string, options: ImageOptions): Promise<Uint8Array>
  /** True once the page has drawn enough images and should be replaced. */
  readonly isWorn: boolean
  close(): Promise<void>
}

/** Opens a page and loads its scripts. */
export async function openPage(
  browser: Browser,
  { assets }: Pick<DrawSettings, 'assets'>,
): Promise<DrawingPage> {
  const page = await browser.newPage()
  await page.setRequestInterception(true)
  page.on('request', (request) => answerRequest(request, assets).catch(() => {}))
  page.on('dialog', (dialog) => dialog.dismiss().catch(() => {}))
  const crashed = new Promise<never>((_, reject) => {
    page.on('error', () => reject(new PageCrashed('the page crashed')))
    page.on('close', () => reject(new PageCrashed('the page was closed')))
  })
  crashed.catch(() => {})
  await Promise.race([page.goto(`${ORIGIN}/`, { waitUntil: 'load' }), crashed])
  let imageCount = 0
  return {
    async draw(figure, options) {
      imageCount++
      const { format, width, height, scale, theme, maxHeight } = options
      // A PDF does not grow with the rows of a chart.
      const pageOptions =
        format === 'pdf'
          ? { format: 'svg' as const, width, height, scale, theme }
          : { format, width, height, scale, theme, most: maxHeight }
      const url = await Promise.race([
        page.evaluate((text, imageOptions) => window.drawFigure(text, imageOptions), figure, pageOptions),
        crashed,
      ])
      const image = decodeDataUrl(url)
      return format === 'pdf' ? await Promise.race([printPdf(browser, image, options), crashed]) : image
    },
    get isWorn() {
      return imageCount >= MAX_IMAGES_PER_PAGE
    },
    close: () => page.close().catch(() => {}),
  }
}

/** Serves the page and its scripts. Refuses every other request. */
async function answerRequest(request: HTTPRequest, assets: string): Promise<void> {
  const path = request.url().startsWith(`${ORIGIN}/`) ? request.url().slice(ORIGIN.length + 1) : undefined
  if (path === '')
    await request.respond({
      contentType: 'text/html',
      headers: { 'content-security-policy': POLICY },
      body: PAGE_HTML,
    })
  else if (path && SERVED_SCRIPTS.includes(path))
    await request.respond({ contentType: 'text/javascript', body: await readFile(join(assets, path)) })
  else if (/^(data|blob):/.test(request.url())) await request.continue()
  else await request.abort()
}

/** Decodes a data URL. */
function decodeDataUrl(url: string): Uint8Array {
  const comma = url.indexOf(',')
  const data = url.slice(comma + 1)
  return url.slice(0, comma).endsWith(';base64')
    ? Buffer.from(data, 'base64')
    : Buffer.from(decodeURIComponent(data))
}

/** Converts an SVG image to a PDF page of the same size. */
async function printPdf(
  browser: Browser,
  svg: Uint8Array,
  { width, height }: ImageOptions,
): Promise<Uint8Array> {
  const page = await browser.newPage()
  try {
    await page.setRequestInterception(true)
    const html = `<!doctype html><style>@page { size: ${width}px ${height}px; margin: 0 } body { margin: 0 } img { display: block; width: ${width}px; height: ${height}px }</style><img src="data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}">`
    page.on('request', (request) => {
      const response =
        request.url() === `${ORIGIN}/pdf`
          ? request.respond({
              contentType: 'text/html',
              headers: {
                'content-security-policy':
                  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
              },
              body: html,
            })
          : request.url().startsWith('data:')
            ? request.continue()
            : request.abort()
      response.catch(() => {})
    })
    await page.goto(`${ORIGIN}/pdf`, { waitUntil: 'load' })
    return await page.pdf({ width, height, printBackground: true, pageRanges: '1' })
  } finally {
    await page.close().catch(() => {})
  }
}
