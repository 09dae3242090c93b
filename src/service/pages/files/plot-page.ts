/** Page of a plot. */
import type { Theme } from '../../../charts/figure/themes.ts'
import { embedUrl, formatFid, webUrl } from '../../../contract/fid.ts'
import { pathOf } from '../../../contract/operations/index.ts'
import type { RawJson } from '../../../json/index.ts'
import { mayWrite, type Principal } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'
import type { FoundVersion } from '../../files/versions.ts'
import type { Snapshot, SnapshotColumn } from '../../grids/column/content.ts'
import { affordable, valuesAt } from '../../grids/column/values-at.ts'
import { missingNote, openFigure, type StoredFigure } from '../../plots/content.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import { type Answer, html } from '../answer.ts'
import { assetPath } from '../assets.ts'
import { accessQuery, document, schemeIn, text, withQuery } from '../html.ts'
import { described, headingOf } from './alt-text.ts'
import { chartPaths } from './chart-paths.ts'
import { columnsOf, reading } from './downloads.ts'
import { crumbsOf, summaryOf } from './lists.ts'
import { frameOf } from './oembed.ts'
import { type TableColumn, table } from './table.ts'
import { versionNote } from './version-note.ts'

/** Number of rows and columns of the table below a chart. */
const ROWS = 100
const COLUMNS = 50
/** Maximum size of the slices that are read for the table. */
const READ_BYTES = 64 * 1024 * 1024

/** Renders the chart with its downloads, sources, data, form and embedding code. */
export async function plotPage(
  service: Service,
  principal: Principal,
  stored: StoredFigure,
  query: URLSearchParams,
  version: FoundVersion | undefined,
): Promise<Answer> {
  const scheme = schemeIn(query, 'auto')
  const { file } = stored
  const view = await openFigure(service, reading(principal, file), stored)
  const key = accessQuery(principal)
  const link = (url: string, label: string, ...parameters: string[]): string =>
    `<a href="${text(withQuery(url, ...parameters, key))}">${label}</a>`
  const page = webUrl(service.url, file).slice(0, -1)
  const embeddedUrl = embedUrl(service.url, file) + (key && `?${key}`)
  const frameUrl = `${embedUrl(service.url, file)}?live=events&theme=${scheme}&title=false${key && `&${key}`}`
  const description = described(view.figure, file.filename)
  const isOwner = principal.caller?.username === file.owner

  const { title, subtitle } = headingOf(view.figure)
  const heading = title ?? file.filename
  const parts = [
    versionNote(service, file, version, key),
    subtitle === undefined ? '' : `<p>${text(subtitle)}</p>`,
    `<p>${heading === file.filename ? '' : `<strong>${text(file.filename)}</strong> · `}${summaryOf(file)}</p>`,
    `<iframe class="chart" src="${text(frameUrl)}" title="${text(description)}"${sizeOf(view.figure)}></iframe>`,
    `<div class="actions"><span id="link" hidden>${text(`${page}/${key && `?${key}`}`)}</span><button type="button" data-copy="link" hidden>Copy link</button> <span>Download: ${[
      link(`${page}.png`, 'PNG', 'scale=2', 'download'),
      link(`${page}.svg`, 'SVG', 'download'),
      link(`${page}.pdf`, 'PDF', 'download'),
      link(`${page}.csv`, 'CSV'),
      link(`${page}.json`, 'JSON'),
    ].join(' · ')}</span></div>`,
  ]
  const unreadable = [...view.shown].filter(([, { readable }]) => !readable).length
  const privateGrids = [...view.shown.values()].flatMap(({ file: grid }) =>
    grid && grid.owner === file.owner && !grid.world_readable ? [grid] : [],
  )
  if (isOwner && privateGrids.length > 0 && (file.world_readable || file.share_key !== null))
    parts.push(
      `<p class="note">Everybody who can see this plot can see its data, also from private grids: ${privateGrids
        .map((grid) => link(webUrl(service.url, grid), text(grid.filename)))
        .join(', ')}.</p>`,
    )
  const missing = missingNote(view)
  if (missing !== undefined) parts.push(`<p class="note">${text(missing)}. These traces are empty.</p>`)
  const sources = [...view.shown]
    .flatMap(([, { file: grid, readable }]) => (grid && readable ? [grid] : []))
    .map((grid) => `<li>${link(webUrl(service.url, grid), text(grid.filename))}</li>`)
  if (unreadable > 0)
    sources.push(`<li>${unreadable === 1 ? 'a private grid' : `${unreadable} private grids`}</li>`)
  if (sources.length > 0) parts.push(`<h2>Sources</h2><ul>${sources.join('')}</ul>`)

  const data = columnsOf(service, view)
  const columns = data.columns.slice(0, COLUMNS)
  if (columns.length > 0) {
    const cut =
      data.rows > ROWS || data.columns.length > COLUMNS
        ? `<p>The first ${Math.min(ROWS, data.rows)} of ${data.rows.toLocaleString('en')} rows and ${columns.length} of ${data.columns.length} columns. The CSV file has all of them.</p>`
        : ''
    parts.push(
      `<details><summary>Data as a table</summary>${await table(await firstValues(data, columns))}${cut}</details>`,
    )
  }
  const figure = service.url + pathOf('plots.content', formatFid(file))
  parts.push(
    `<details><summary>Embed</summary>
${file.world_readable || key ? '' : '<p>This plot is private: others see the embedded chart only with a secret link.</p>'}
<form class="filter" id="embed-form" hidden><label>Width <input class="short" name="width" value="100%"></label> <label>Height <input class="short" name="height" type="number" min="100" max="4000" value="500"></label> <label>Colors <select class="short" name="theme"><option value="">light</option><option>dark</option><option>auto</option></select></label></form>
<pre tabindex="0" id="embed">${text(frameOf(embeddedUrl, file.filename, '100%', 500))}</pre>
<button type="button" data-copy="embed" hidden>Copy</button></details>`,
    `<details><summary>On the command line</summary><pre tabindex="0" id="command">gridline plot set ${text(formatFid(file))} --title "…"
gridline plot options ${text(formatFid(file))}
gridline image ${text(formatFid(file))} -o chart.png</pre><button type="button" data-copy="command" hidden>Copy</button><p>${link(figure, 'Figure')} · ${link(figure, 'figure with data', 'inline_data=true')}</p></details>`,
  )
  const image = `${page}.png${key && `?${key}`}`
  const head = `<meta name="description" content="${text(description)}">
<meta property="og:type" content="article">
<meta property="og:title" content="${text(heading)}">
<meta property="og:description" content="${text(description)}">
<meta property="og:url" content="${text(`${page}/${key && `?${key}`}`)}">
<meta property="og:image" content="${text(image)}">
<meta name="twitter:card" content="summary_large_image">
<link rel="alternate" type="application/json+oembed" href="${text(`${service.url}/oembed?url=${encodeURIComponent(`${page}/${key && `?${key}`}`)}`)}">
`
  const { above, mayChange } = await service.store.read(async (readers) => ({
    above: await crumbsOf(service, readers, principal, file),
    mayChange: principal.caller !== undefined && (await mayWrite(readers, file, principal)),
  }))
  if (mayChange && principal.version === undefined) parts.splice(5, 0, editForm(file, service.theme))
  const body = document(heading, parts.join('\n'), {
    head,
    above,
    scheme,
    scripts: [assetPath('page.js')],
    user: principal.caller?.username ?? null,
  })
  return html(body, { viewed: file })
}

/** Returns `data-*` attributes with the size of the layout; empty without one. */
function sizeOf(figure: RawJson): string {
  const layout = figure.get('layout')
  const sides = (['width', 'height'] as const).map((name) => {
    const value = layout?.kind === 'object' ? layout.get(name) : undefined
    const pixels = value?.kind === 'number' ? Math.round(value.value() as number) : Number.NaN
    return pixels >= 100 && pixels <= 4000 ? ` data-${name}="${pixels}"` : ''
  })
  return sides.join('')
}

/** Renders the form that changes the chart. Its script is loaded when the form is opened. */
function editForm(file: FileRow, defaultTheme: Theme | undefined): string {
  const data = { ...editData(file), ...(defaultTheme && { theme: JSON.stringify(defaultTheme) }) }
  const attributes = Object.entries(data).map(([name, value]) => ` data-${name}="${text(value)}"`)
  return `<details id="edit"${attributes.join('')} hidden><summary>Change the chart</summary>
<form class="edit">
<label>Type <select name="type"></select></label> <span id="edit-fields"></span>
<details><summary>More options</summary><span id="edit-more"></span></details>
<label>Theme <select name="theme"></select></label> <label>Width <input class="short" name="width" type="number" step="any" placeholder="100%"></label> <label>Height <input class="short" name="height" type="number" step="any"></label> <label>Preview in <select class="short" name="colors"><option value="">the colors of the page</option><option>light</option><option>dark</option></select></label>
<div id="edit-colors" class="actions"></div>
<p><button class="primary" type="submit">Save</button> <span role="status"></span></p>
</form>
<datalist id="edit-columns"></datalist>
<p>The same on the command line:</p><pre tabindex="0" id="edit-command"></pre><button type="button" data-copy="edit-command" hidden>Copy</button></details>`
}

/** Returns `data-*` attributes for the edit form: fid and API paths. */
function editData(file: FileRow): Record<string, string> {
  const fid = formatFid(file)
  return {
    script: assetPath('edit.js'),
    fid,
    content: pathOf('plots.content', fid),
    update: pathOf('plots.update', fid),
    ...chartPaths(),
  }
}

/** Loads the first rows of columns. Columns of different grids differ in length. */
async function firstValues(data: Snapshot, columns: readonly SnapshotColumn[]): Promise<TableColumn[]> {
  const rows = Array.from({ length: Math.min(ROWS, data.rows) }, (_, row) => row)
  const readable = affordable(data, columns, rows, READ_BYTES)
  const values = await valuesAt(data, readable, rows)
  return readable.map(({ name }, k) => ({ head: text(name), values: values[k] }))
}
