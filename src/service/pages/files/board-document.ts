/** Boards as one file: a page that loads and runs nothing, with pictures of the charts, or an image of it. */
import { Problem } from '../../../contract/errors.ts'
import { formatWebUrl } from '../../../contract/fid.ts'
import { escapeHtml } from '../../../contract/html.ts'
import { imageTypes } from '../../../contract/operations/index.ts'
import type { BoardItem } from '../../../contract/resources/index.ts'
import { renderAbout, sealPage } from '../../../contract/standalone.ts'
import { type Bytes, toByteStream, type WorkBudget } from '../../../json/index.ts'
import { type AuthorizedFile, authorizeCall, type FileRequest, type Principal } from '../../access/access.ts'
import { parseBoard, toNode } from '../../boards/content.ts'
import { assertFiltersKnown, filtersOf, parseRowFilter } from '../../boards/filters.ts'
import type { ItemFile } from '../../boards/item-files.ts'
import { loadBoardText } from '../../boards/load.ts'
import type { OperationResult } from '../../core/call.ts'
import { createPageFacts } from '../../files/page-facts.ts'
import { type ResolvedVersion, resolveVersionRef } from '../../files/versions.ts'
import type { ImageRequest } from '../../images/images.ts'
import { drawPlotImage, type ImageService, readImage } from '../../images/plot-image.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import { createPage, type PageAnswer } from '../answer.ts'
import { accessQueryOf, appendQuery, type ColorScheme, readColorScheme } from '../html.ts'
import { assertFiltersMatch, renderActiveFilters } from './board-filters.ts'
import { createLiveReader, findPlotVersion, renderNode } from './board-items.ts'
import { type ChartPlace, GAP_PIXELS } from './board-reader.ts'
import type { SortingService } from './grid-page.ts'

/** Maximum time in which the items of a board are read and drawn, in ms. */
const MAX_DRAW_MS = 60_000
/** Default width of an image, in CSS pixels; that of a chart is what remains of it. */
const WIDTH_PIXELS = 1000
const PADDING_PIXELS = 24
/** Height of the title of an item, with the distance below it. */
const TITLE_PIXELS = 35
/** Image pixels per CSS pixel of the pictures of charts in files that are enlarged. */
const PICTURE_SCALE = 2
/** Width from which items stand beside each other. */
const COLUMNS_FROM_PIXELS = 700
const MIN_PICTURE_PIXELS = 100

/** The policy of a board as one file: it runs and loads nothing. */
const DOCUMENT_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

type DocumentService = SortingService & ImageService

/** Draws a board as its reader sees it, or writes it as one page. Throws `not_found` and `invalid_request`. */
export async function drawBoard(
  service: DocumentService,
  request: FileRequest,
  { format = 'png', width, scale, theme, asAnyone }: ImageRequest,
  query: URLSearchParams,
): Promise<OperationResult<Bytes>> {
  const { file, version } = await service.store.read(async (readers) => {
    const access = await authorizeCall(readers, request)
    return { file: access.file, version: await resolveVersionRef(readers, access, request.version) }
  })
  if (format === 'svg')
    throw new Problem('invalid_request', 'format: a board is drawn as png, jpeg, webp, pdf or html', {
      field: 'format',
    })
  const size = { width: clamp(width ?? WIDTH_PIXELS, 300, 4000), scale: clamp(scale ?? 1, 0.1, 3) }
  const type = imageTypes[format]
  return {
    body: toByteStream(new Uint8Array()),
    type,
    isSameOriginOnly: file.world_readable === 0 && request.shareKey === undefined,
    ...(format === 'html' && {
      headers: { 'content-security-policy': `sandbox allow-popups; ${DOCUMENT_POLICY}` },
    }),
    createBody: async (user, work) => {
      const scheme = theme ?? 'light'
      const anyone = { caller: undefined, shareKey: undefined, version: undefined }
      const reader = asAnyone ? { ...request, ...anyone } : request
      const shown = asAnyone ? undefined : version
      const html = await writeBoardDocument(service, reader, file, {
        ...size,
        // In other images, pictures with more pixels would be blurred.
        pictureScale: format === 'html' || format === 'pdf' ? PICTURE_SCALE : size.scale,
        scheme,
        user,
        work,
        version: shown,
        query,
      })
      if (format === 'html') return { body: toByteStream(html), type }
      const options = { format, ...size, height: 0, theme: scheme, maxPixels: service.limits.image_pixels }
      const image = await service.images.drawDocument(user, html, options, work.isAborted)
      return { body: toByteStream(image), type }
    },
  }
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}

interface DocumentOptions {
  width: number
  /** Image pixels per CSS pixel of the pictures of charts. */
  pictureScale: number
  scheme: 'light' | 'dark'
  version: ResolvedVersion | undefined
  /** Query of the page, with the values of filters. */
  query: URLSearchParams
  user: string
  work: WorkBudget
}

/** Writes a board as one page, with pictures of the charts. The same content gives the same bytes. */
async function writeBoardDocument(
  service: DocumentService,
  request: FileRequest,
  file: FileRow,
  { width, pictureScale, scheme, version, query, user, work }: DocumentOptions,
): Promise<Buffer> {
  const stored = parseBoard(await loadBoardText(service, file))
  const node = toNode(stored)
  assertFiltersKnown(stored, query)
  const filter = parseRowFilter(stored, query)
  const deadline = performance.now() + MAX_DRAW_MS
  const principal = { ...request, isAborted: work.isAborted }
  const renderPlot = async (
    { file: plot, isOpen, principal: chartReader }: ItemFile,
    item: BoardItem,
    { height, widthOn, isBesideTitle }: ChartPlace,
  ): Promise<string> => {
    const { title = plot.filename, share_key: shareKey } = item
    const page = appendQuery(formatWebUrl(service.url, plot), accessQueryOf({ shareKey }))
    const wrapLink = (html: string): string =>
      isOpen ? `<a href="${escapeHtml(page)}" target="_blank" rel="noopener noreferrer">${html}</a>` : html
    // Narrow pages have one column.
    const hasColumns = width >= COLUMNS_FROM_PIXELS
    const pageWidth = width - 2 * PADDING_PIXELS
    const pixels = Math.max(MIN_PICTURE_PIXELS, Math.floor(hasColumns ? widthOn(pageWidth) : pageWidth))
    const size = { width: pixels, height: height + (hasColumns && isBesideTitle ? TITLE_PIXELS : 0) }
    try {
      if (performance.now() > deadline) throw new Problem('too_large', 'the items above took too long')
      const asked = {
        ...principal,
        ...chartReader,
        operation: 'files.image' as const,
        fid: plot,
        filetype: 'plot' as const,
        version: await findPlotVersion(service, plot, principal),
        ...(filter.length > 0 && plot.owner === file.owner && { rowFilter: filter }),
      }
      const drawn = await drawPlotImage(service, asked, {
        ...{ format: 'png', ...size, theme: scheme },
        scale: pictureScale,
        isUntitled: item.title !== undefined,
      })
      const picture = (await readImage(drawn, user, work)).toString('base64')
      return wrapLink(
        `<img src="data:image/png;base64,${picture}" alt="${escapeHtml(title)}" width="${pixels}">`,
      )
    } catch (error) {
      if (!(error instanceof Problem) || error.code === 'aborted') throw error
      return `<p class="source">${wrapLink(escapeHtml(title))}: ${escapeHtml(error.message)}</p>`
    }
  }
  const reader = { board: file, service, principal, filter, version, renderPlot, user, work, deadline }
  await assertFiltersMatch(reader, node, query)
  const board = await renderNode(reader, node)
  return sealPage(
    wrapDocument(
      file.filename,
      scheme,
      `${renderActiveFilters(filtersOf(stored), filter)}${board}</div>\n${renderAbout(createPageFacts(service, file))}`,
      DOCUMENT_POLICY,
    ),
  )
}

/** Wraps the content of a board into a document with its style. */
function wrapDocument(name: string, scheme: ColorScheme, board: string, policy: string): string {
  const title = escapeHtml(name)
  return `<!doctype html>
<html lang="en" class="${scheme}">
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${policy}">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>
${STYLE}
</style>
<h1>${title}</h1>
<div class="board">${board}
</html>
`
}

/** Seconds after which an embedded board loads its tables and numbers again. */
const RELOAD_SECONDS = 300

/** Renders a board for frames of other pages: live charts, and tables and numbers of now. */
export async function renderBoardEmbed(
  service: DocumentService,
  principal: Principal,
  access: AuthorizedFile,
  query: URLSearchParams,
): Promise<PageAnswer> {
  const { file } = access
  const version = await service.store.read((readers) => resolveVersionRef(readers, access, principal.version))
  const scheme = readColorScheme(query)
  const stored = parseBoard(await loadBoardText(service, file))
  const node = toNode(stored)
  const filter = parseRowFilter(stored, query)
  const policy = `${DOCUMENT_POLICY}; frame-src ${service.url}/`
  return {
    ...createPage('', {
      headers: { 'content-security-policy': policy, refresh: String(RELOAD_SECONDS) },
      viewed: file,
    }),
    later: async (user, work) => {
      const reader = createLiveReader(
        { service, principal, file, filter, version, scheme, isFollowed: false },
        user,
        work,
      )
      const board = `${renderActiveFilters(filtersOf(stored), filter)}${await renderNode(reader, node)}</div>`
      const { type } = createPage('')
      return { body: toByteStream(Buffer.from(wrapDocument(file.filename, scheme, board, policy))), type }
    },
  }
}

const WIDTHS_STYLE = Array.from({ length: 20 }, (_, k) => `  .share-${k + 1} { flex: ${k + 1} 1 0 }`).join(
  '\n',
)

const DARK = '--ink: #e6e9ee; --soft: #a3adbb; --line: #39424f; --paper: #16181d; --link: #8ab8ee'

const STYLE = `:root { --ink: #1b2430; --soft: #5b6575; --line: #d9dee6; --paper: #fff; --link: #0b5cad }
.dark { ${DARK} }
@media (prefers-color-scheme: dark) { .auto { ${DARK} } }
body { margin: ${PADDING_PIXELS}px; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
h1 { font-size: 26px; line-height: 1.2; margin: 0 0 16px }
h2 { font-size: 18px; margin: 0 0 8px }
a { color: var(--link) }
img, iframe { display: block; max-width: 100% }
img { height: auto }
iframe { border: 0; flex: 1 0 auto; width: 100% }
.columns > * > .item { display: flex; flex-direction: column; height: 100% }
.rows, .columns { display: flex; flex-direction: column; gap: ${GAP_PIXELS}px }
.columns > * { min-width: 0 }
.number { margin: 0; font-size: clamp(20px, 3.2vw, 36px); overflow-wrap: anywhere; line-height: 1.2; font-variant-numeric: tabular-nums }
.change { margin: 0; color: var(--soft) }
.spark { display: block; width: 200px; max-width: 100%; height: auto; margin: 4px 0; color: var(--link) }
.number small { font-size: 20px; color: var(--soft) }
.source, #about { margin: 4px 0 0; color: var(--soft); font-size: 13px }
#about { margin-top: 24px }
.scroll { overflow-x: auto }
table { border-collapse: collapse; font-size: 14px }
th, td { padding: 3px 12px 3px 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; white-space: pre-wrap }
.n { text-align: right; font-variant-numeric: tabular-nums }
.n i { font-style: normal; margin-left: .2em }
pre { overflow-x: auto }
@media (min-width: ${COLUMNS_FROM_PIXELS}px) {
  .columns { flex-direction: row }
${WIDTHS_STYLE}
}
@media print { .item { break-inside: avoid } }`
