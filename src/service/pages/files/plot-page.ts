/** Page of a plot. */

import type { Theme } from '../../../charts/figure/themes.ts'
import { Problem } from '../../../contract/errors.ts'
import { formatEmbedUrl, formatFid, formatWebUrl } from '../../../contract/fid.ts'
import { escapeHtml } from '../../../contract/html.ts'
import { pathOf } from '../../../contract/operations/index.ts'
import { formatEmbedBlock } from '../../../contract/web/embed-block.ts'
import type { RawJson } from '../../../json/index.ts'
import type { FileRequest, Principal } from '../../access/access.ts'
import { staleSinceOf } from '../../files/stale.ts'
import type { ResolvedVersion } from '../../files/versions.ts'
import type { Snapshot, SnapshotColumn } from '../../grids/column/snapshot.ts'
import { readValuesAt, selectAffordable } from '../../grids/column/values-at.ts'
import { downloadScaleOf, readLayoutSize } from '../../images/images.ts'
import { type FigureView, openFigure, type PlotContent } from '../../plots/content.ts'
import type { LiveService } from '../../plots/live-plots.ts'
import { describeMissingData } from '../../plots/stream-figure.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import { createSitePage, type PageAnswer } from '../answer.ts'
import { accessQueryOf, appendQuery, readColorScheme, renderActionButton } from '../html.ts'
import { describeChart, headingsOf } from './alt-text.ts'
import { renderStale } from './derivation-note.ts'
import { createReadRequest } from './downloads.ts'
import { loadFileAccess, renderFileActions } from './file-actions.ts'
import { renderBreadcrumbs, renderSummary } from './file-lists.ts'
import { renderFrame } from './oembed.ts'
import { loadPlotTable } from './plot-tables.ts'
import { renderTable, type TableColumn } from './table.ts'
import { renderVersionNote } from './version-note.ts'

/** Number of rows and columns of the table below a chart. */
const TABLE_ROWS = 100
const TABLE_COLUMNS = 50
/** Maximum size of the slices that are read for the table. */
const MAX_READ_BYTES = 64 * 1024 * 1024

/** A plot page, with what its parts need. */
interface PlotPage {
  service: LiveService
  file: FileRow
  view: FigureView
  /** Query parameters with which the reader may read the plot; empty if none are needed. */
  key: string
  /** URL of the page, without its final slash. */
  page: string
  /** Renders a link that keeps the access of the reader. `label` is HTML. */
  link(url: string, label: string, ...parameters: string[]): string
}

/** Renders the chart with its downloads, sources, data, form and embedding code. */
export async function renderPlotPage(
  service: LiveService,
  principal: Principal,
  stored: PlotContent,
  query: URLSearchParams,
  version: ResolvedVersion | undefined,
): Promise<PageAnswer> {
  const scheme = readColorScheme(query, 'auto')
  const { file } = stored
  const request = createReadRequest(principal, file)
  const view = await openFigure(service, request, stored)
  const key = accessQueryOf(principal)
  const link: PlotPage['link'] = (url, label, ...parameters) =>
    `<a href="${escapeHtml(appendQuery(url, ...parameters, key))}">${label}</a>`
  const plot = { service, file, view, key, link, page: formatWebUrl(service.url, file).slice(0, -1) }
  const { above, access } = await service.store.read(async (readers) => ({
    above: await renderBreadcrumbs(service, readers, principal, file),
    access: await loadFileAccess(readers, file, principal),
  }))
  const isEditable = access.canWrite && !access.isVersion && !access.isTrashed
  const { title, subtitle } = headingsOf(view.figure)
  const heading = title ?? file.filename
  const description = describeChart(view.figure, file.filename)
  const frameUrl = `${formatEmbedUrl(service.url, file)}?live=events&theme=${scheme}&title=false${key && `&${key}`}`
  const parts = [
    renderVersionNote(service, file, version, key),
    subtitle === undefined ? '' : `<p>${escapeHtml(subtitle)}</p>`,
    `<p>${heading === file.filename ? '' : `<strong>${escapeHtml(file.filename)}</strong> · `}${renderSummary(file)}</p>`,
    `<div class="workbench"><iframe class="chart" src="${escapeHtml(frameUrl)}" title="${escapeHtml(description)}"${sizeAttributes(view.figure)}></iframe>${isEditable ? renderEditPanel(file, service.theme) : ''}</div>`,
    renderActions(plot, isEditable),
    renderFileActions(file, principal, access),
    ...renderNotes(plot, principal.caller?.username === file.owner),
    ...renderSources(plot),
    ...(await renderData(plot, request)),
    renderEmbedding(plot, principal.shareKey),
    renderCommands(plot),
  ]
  const head = renderHead(plot, heading, description)
  return createSitePage(heading, parts.join('\n'), principal.caller, query, { head, above, viewed: file })
}

/** Returns the URL of the page that the reader can pass on. */
function sharedUrlOf({ page, key }: PlotPage): string {
  return `${page}/${key && `?${key}`}`
}

/** Renders the links to downloads. */
function renderActions(plot: PlotPage, isEditable: boolean): string {
  const { page, link, view, service } = plot
  const downloads = [
    link(`${page}.png`, 'PNG', `scale=${downloadScaleOf(view.figure, service.limits)}`, 'download'),
    link(`${page}.svg`, 'SVG', 'download'),
    link(`${page}.pdf`, 'PDF', 'download'),
    link(`${page}.html`, 'HTML', 'download'),
    link(`${page}.csv`, 'CSV'),
    link(`${page}.json`, 'JSON'),
  ]
  const edit = isEditable
    ? `${renderActionButton('edit', 'edit.js', 'Change the chart', {}, 'primary')} `
    : ''
  return `<div class="actions">${edit}<span id="link" hidden>${escapeHtml(sharedUrlOf(plot))}</span><button type="button" data-copy="link" hidden>Copy link</button> <span>Download: ${downloads.join(' · ')}</span></div>`
}

/** Renders notes about shared private data, for the owner, and about missing data. */
function renderNotes({ service, file, view, link }: PlotPage, isOwner: boolean): string[] {
  const notes: string[] = []
  const privateGrids = [...view.grids.values()].flatMap(({ file: grid }) =>
    grid && grid.owner === file.owner && !grid.world_readable ? [grid] : [],
  )
  if (isOwner && privateGrids.length > 0 && (file.world_readable || file.share_key !== null)) {
    const links = privateGrids.map((grid) => link(formatWebUrl(service.url, grid), escapeHtml(grid.filename)))
    notes.push(
      `Everybody who can see this plot can see its data, also from private grids: ${links.join(', ')}.`,
    )
  }
  const missing = describeMissingData(view)
  if (missing !== undefined) notes.push(`${escapeHtml(missing)}. These traces are empty.`)
  return notes.map((note) => `<p class="note">${note}</p>`)
}

/** Renders links to the grids of the plot, and since when one is stale; empty without grids. */
function renderSources({ service, view, link }: PlotPage): string[] {
  const staleSince = staleSinceOf([...view.grids.values()].flatMap(({ file }) => file ?? []))
  const grids = [...view.grids.values()]
  const unreadable = grids.filter(({ isReadable }) => !isReadable).length
  const sources = grids
    .flatMap(({ file, isReadable }) => (file && isReadable ? [file] : []))
    .map((grid) => link(formatWebUrl(service.url, grid), escapeHtml(grid.filename)))
  if (unreadable > 0) sources.push(unreadable === 1 ? 'a private grid' : `${unreadable} private grids`)
  if (sources.length === 0) return []
  const stale = staleSince === null ? '' : ` · ${renderStale(staleSince)}`
  return [`<p>Data: ${sources.join(', ')}${stale}</p>`]
}

/** Renders the first rows of the data as a table; empty without data. */
async function renderData({ service, view }: PlotPage, request: FileRequest): Promise<string[]> {
  // The frame of the chart shows the error.
  const data = await loadPlotTable(service, request, view).catch((error) => {
    if (error instanceof Problem && error.code !== 'damaged') return undefined
    throw error
  })
  if (!data) return []
  const columns = data.columns.slice(0, TABLE_COLUMNS)
  if (columns.length === 0) return []
  const cut =
    data.rows > TABLE_ROWS || data.columns.length > TABLE_COLUMNS
      ? `<p>The first ${Math.min(TABLE_ROWS, data.rows)} of ${data.rows.toLocaleString('en')} rows and ${columns.length} of ${data.columns.length} columns. The CSV file has all of them.</p>`
      : ''
  const table = await renderTable(await loadFirstRows(data, columns))
  return [`<details><summary>Data as a table</summary>${table}${cut}</details>`]
}

/** Renders the HTML with which other pages embed the chart, and the form that adjusts it. */
function renderEmbedding({ service, file, key }: PlotPage, shareKey: string | undefined): string {
  const url = formatEmbedUrl(service.url, file) + (key && `?${key}`)
  return `<details><summary>Embed</summary>
${file.world_readable || key ? '' : '<p>This plot is private: others see the embedded chart only with a secret link.</p>'}
<p>A picture that becomes the live chart, in the width of its column:</p>
<pre tabindex="0" id="embed-block">${escapeHtml(formatEmbedBlock(service.url, file, file.filename, shareKey))}</pre>
<button type="button" data-copy="embed-block" hidden>Copy</button>
<p>A frame of a fixed height, for pages without scripts:</p>
<form class="filter" id="embed-form" hidden><label>Width <input class="short" name="width" value="100%"></label> <label>Height <input class="short" name="height" type="number" min="100" max="4000" value="500"></label> <label>Colors <select class="short" name="theme"><option value="">light</option><option>dark</option><option>auto</option></select></label></form>
<pre tabindex="0" id="embed">${escapeHtml(renderFrame(url, file.filename, '100%', 500))}</pre>
<button type="button" data-copy="embed" hidden>Copy</button></details>`
}

/** Renders commands that change or draw the plot, and links to its figure. */
function renderCommands({ service, file, link }: PlotPage): string {
  const fid = formatFid(file)
  const figure = service.url + pathOf('plots.content', fid)
  return `<details><summary>On the command line</summary><pre tabindex="0" id="command">gridline plot set ${escapeHtml(fid)} --title "…"
gridline plot options ${escapeHtml(fid)}
gridline image ${escapeHtml(fid)} -o chart.png</pre><button type="button" data-copy="command" hidden>Copy</button><p>${link(figure, 'Figure')} · ${link(figure, 'figure with data', 'inline_data=true')}</p></details>`
}

/** Renders the metadata with which other sites show links to the page. */
function renderHead(plot: PlotPage, heading: string, description: string): string {
  const { service, page, key } = plot
  const url = sharedUrlOf(plot)
  return `<meta name="description" content="${escapeHtml(description)}">
<meta property="og:type" content="article">
<meta property="og:title" content="${escapeHtml(heading)}">
<meta property="og:description" content="${escapeHtml(description)}">
<meta property="og:url" content="${escapeHtml(url)}">
<meta property="og:image" content="${escapeHtml(`${page}.png${key && `?${key}`}`)}">
<meta name="twitter:card" content="summary_large_image">
<link rel="alternate" type="application/json+oembed" href="${escapeHtml(`${service.url}/oembed?url=${encodeURIComponent(url)}`)}">
`
}

/** Returns `data-*` attributes with the size of the layout; empty without one. */
function sizeAttributes(figure: RawJson): string {
  const sides = (['width', 'height'] as const).map((name) => {
    const pixels = Math.round(readLayoutSize(figure, name) ?? Number.NaN)
    return pixels >= 100 && pixels <= 4000 ? ` data-${name}="${pixels}"` : ''
  })
  return sides.join('')
}

/** Renders the place of the form that changes the chart. Its script is loaded when the form is opened. */
function renderEditPanel(file: FileRow, defaultTheme: Theme | undefined): string {
  const theme = defaultTheme ? ` data-theme="${escapeHtml(JSON.stringify(defaultTheme))}"` : ''
  return `<div id="edit" data-fid="${escapeHtml(formatFid(file))}"${theme} hidden></div>`
}

/** Loads the first rows of columns. Columns of different grids differ in length. */
async function loadFirstRows(data: Snapshot, columns: readonly SnapshotColumn[]): Promise<TableColumn[]> {
  const rows = Array.from({ length: Math.min(TABLE_ROWS, data.rows) }, (_, row) => row)
  const readable = selectAffordable(data, columns, rows, MAX_READ_BYTES)
  const values = await readValuesAt(data, readable, rows)
  return readable.map(({ name }, k) => ({ head: escapeHtml(name), values: values[k] }))
}
