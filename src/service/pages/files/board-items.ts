/** Renders the items of a board: charts, tables, numbers and text. */

import { Problem } from '../../../contract/errors.ts'
import { type Fid, formatEmbedUrl, formatWebUrl } from '../../../contract/fid.ts'
import { escapeHtml } from '../../../contract/html.ts'
import type { BoardItem } from '../../../contract/resources/index.ts'
import { parseVersionRef } from '../../../contract/version-ref.ts'
import type { WorkBudget } from '../../../json/index.ts'
import { canWrite, type Principal, type RowFilter } from '../../access/access.ts'
import type { BoardNode } from '../../boards/content.ts'
import { FRAME_TOKEN, signFrame } from '../../boards/frames.ts'
import { fidOfItem, loadItemFile } from '../../boards/item-files.ts'
import type { Service } from '../../core/context.ts'
import { readValuesAt, selectAffordable } from '../../grids/column/values-at.ts'
import { Selection } from '../../grids/read/selection.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { ColumnRow } from '../../store/aggregates/grids.ts'
import { accessQueryOf, appendQuery, type ColorScheme } from '../html.ts'
import { addFilters, listIgnoredBy, renderIgnored } from './board-filters.ts'
import { renderNumber } from './board-number.ts'
import {
  type BoardReader,
  type ChartPlace,
  GAP_PIXELS,
  hiddenError,
  renderNote,
  renderSource,
  takeItemSnapshot,
} from './board-reader.ts'
import { findPlotStaleSince, renderStale } from './derivation-note.ts'
import { listPageRows } from './grid-page.ts'
import { renderTable } from './table.ts'

/** Default number of rows of a table. */
const TABLE_ROWS = 10
/** Maximum number of columns of a table. */
const TABLE_COLUMNS = 30
/** Maximum size of the slices that a table reads. */
const MAX_READ_BYTES = 64 * 1024 * 1024
/** Maximum depth of lists and quotes in a text. */
const MAX_NESTING = 20
/** Number of different widths in the style. */
const WIDTHS = 20

/** Renders a board, or a part of it. */
export async function renderNode(
  reader: BoardReader,
  node: BoardNode,
  place: Omit<ChartPlace, 'height'> = WHOLE_PAGE,
): Promise<string> {
  switch (node.kind) {
    case 'item':
      return `<section class="item">${await renderItem(reader, node.item, { ...place, height: node.height })}</section>`
    case 'rows': {
      const rows: string[] = []
      for (const child of node.children) rows.push(await renderNode(reader, child, place))
      return `<div class="rows">${rows.join('\n')}</div>`
    }
    case 'columns': {
      const columns: string[] = []
      const widths = node.children.map(({ share }) => Math.max(1, Math.round(share * WIDTHS)))
      const total = widths.reduce((sum, width) => sum + width, 0)
      const gaps = GAP_PIXELS * (widths.length - 1)
      const hasTitle = node.children.some(({ node: child }) => child.kind === 'item' && child.item.title)
      for (const [k, { node: child }] of node.children.entries()) {
        const column = {
          widthOn: (pageWidth: number) => ((place.widthOn(pageWidth) - gaps) * widths[k]) / total,
          isBesideTitle: Boolean(hasTitle) && child.kind === 'item' && !child.item.title,
        }
        columns.push(`<div class="share-${widths[k]}">${await renderNode(reader, child, column)}</div>`)
      }
      return `<div class="columns">${columns.join('\n')}</div>`
    }
  }
}

const WHOLE_PAGE = { widthOn: (pageWidth: number) => pageWidth, isBesideTitle: false }

/** Maximum time in which the items of a page are read, in ms. */
const MAX_READ_MS = 10_000

/** A board with live charts, as a page or a frame of another page. */
interface LiveBoard extends Pick<BoardReader, 'service' | 'principal' | 'filter' | 'version'> {
  file: FileRow
  scheme: ColorScheme
  /** Whether the page around the charts follows their data. */
  isFollowed: boolean
}

/** Returns the reader of a board whose charts are frames. */
export function createLiveReader(
  { file, scheme, isFollowed, ...board }: LiveBoard,
  user: string,
  work: WorkBudget,
): BoardReader {
  const { service, principal, filter } = board
  const renderPlot = createFrames(service, scheme, principal, file, { filter, isFollowed })
  return { ...board, board: file, renderPlot, user, work, deadline: performance.now() + MAX_READ_MS }
}

/** Returns a function that renders charts as frames, which follow their data. `isFollowed`: by the page around them. */
function createFrames(
  service: Service,
  scheme: ColorScheme,
  principal: Principal,
  board: FileRow,
  { filter, isFollowed }: { filter: RowFilter; isFollowed: boolean },
): BoardReader['renderPlot'] {
  return async ({ file, isOpen }, item, { height }) => {
    const { title = file.filename, share_key: shareKey } = item
    const key = accessQueryOf({ shareKey, version: await findPlotVersion(service, file, principal) })
    const isFiltered = filter.length > 0 && file.owner === board.owner
    const shown = isFiltered ? filter : []
    const token =
      (isFiltered || !isOpen) &&
      `${FRAME_TOKEN}=${await signFrame(service, board, { plot: file, filter: shown, principal })}`
    const url = appendQuery(
      formatEmbedUrl(service.url, file),
      `theme=${scheme}`,
      isFollowed && 'live=board',
      item.title !== undefined && 'title=false',
      key,
      token,
    )
    const page = appendQuery(formatWebUrl(service.url, file), key)
    const target = isFollowed ? '' : ' target="_blank" rel="noopener"'
    const link = `<p class="source"><a href="${escapeHtml(page)}"${target}>${escapeHtml(file.filename)}</a></p>`
    return `<iframe src="${escapeHtml(url)}" title="${escapeHtml(title)}" height="${height}" loading="lazy"></iframe>${isOpen ? link : ''}`
  }
}

/**
 * Returns the version in which a board shows a plot: plots that the reader cannot write, and later ones, are shown as
 * they are.
 */
export async function findPlotVersion(
  { store }: Service,
  plot: FileRow,
  { caller, version }: Principal,
): Promise<string | undefined> {
  const ref = version === undefined ? undefined : parseVersionRef(version)
  if (!ref || (ref.kind === 'time' && plot.creation_time > ref.time)) return undefined
  return (await store.read((readers) => canWrite(readers, plot, { caller }))) ? version : undefined
}

/** Renders an item, or a note why it cannot be shown. */
async function renderItem(reader: BoardReader, item: BoardItem, place: ChartPlace): Promise<string> {
  const title = item.title ? `<h2>${escapeHtml(item.title)}</h2>` : ''
  try {
    return `${title}${await renderContent(reader, item, place)}`
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return title + renderNote(error.message)
  }
}

async function renderContent(reader: BoardReader, item: BoardItem, place: ChartPlace): Promise<string> {
  if (item.text !== undefined) {
    const { MarkdownIt } = await import('../../../vendor/markdown.ts')
    const options = { html: false, maxNesting: MAX_NESTING }
    const html = new MarkdownIt(options).render(item.text)
    // The heading of the page is its name. Texts are escaped, so only headings have these tags.
    return html.replace(
      /<(\/?)h([1-5])>/g,
      (_, slash: string, level: string) => `<${slash}h${Number(level) + 1}>`,
    )
  }
  const { service, user, work, deadline } = reader
  const fid = fidOfItem(service, item)!
  if (item.plot !== undefined) return renderChart(reader, item, fid, place)
  if (performance.now() > deadline)
    throw new Problem('too_large', 'the items above took too long, so this one was not read')
  const render = item.table !== undefined ? renderRows : renderNumber
  // A slot for each item, so that others get their turn.
  return service.orders.runInSlot(user, () => render(reader, item, fid), work.isAborted)
}

async function renderChart(
  boardReader: BoardReader,
  item: BoardItem,
  fid: Fid,
  place: ChartPlace,
): Promise<string> {
  const { service, renderPlot } = boardReader
  const { visible, staleSince } = await service.store.read(async (readers) => {
    const visible = await loadItemFile(readers, fid, boardReader, item)
    if (visible?.file.filetype !== 'plot' || visible.state !== 'active') throw hiddenError('chart')
    return { visible, staleSince: await findPlotStaleSince(readers, visible.file) }
  })
  const ignored = await listIgnoredBy(boardReader, visible.file)
  const stale = staleSince === null ? '' : `<p class="source">The data are ${renderStale(staleSince)}.</p>`
  return `${await renderPlot(visible, item, place)}${stale}${renderIgnored(ignored)}`
}

async function renderRows(reader: BoardReader, item: BoardItem, fid: Fid): Promise<string> {
  const { service, work } = reader
  const { sort, columns: names, limit = TABLE_ROWS } = item
  const { where, ignored } = await addFilters(reader, fid, item.where)
  const selection = new Selection({ where, sort })
  const { snap, ...grid } = await takeItemSnapshot(reader, fid, (all) =>
    selection.bind(all, (names ? selectNamed(all, names) : all).slice(0, TABLE_COLUMNS)),
  )
  const selected = await selection.select(service.orders, snap, work)
  const count =
    'rows' in selected ? selected.rows.count : 'order' in selected ? selected.order.length : snap.rows
  const rows = listPageRows(selected, 0, Math.min(limit, count))
  const shown = selection.printedSnapshot(snap)
  const readable = selectAffordable(shown, shown.columns, rows, MAX_READ_BYTES)
  const values = await readValuesAt(shown, readable, rows)
  const table = await renderTable(
    readable.map(({ name, type }, k) => ({
      head: escapeHtml(name),
      attributes: type === 'number' ? ' class="n"' : '',
      values: type === 'number' ? alignDecimals(values[k].map(roundNumber)) : values[k],
    })),
  )
  const link = renderSource(service, grid)
  const more =
    count > rows.length
      ? `${rows.length} of ${count.toLocaleString('en')} rows of ${link}`
      : count === 0
        ? `No rows of ${link}`
        : link
  return `${table}<p class="source">${more}</p>${renderIgnored(ignored)}`
}

/** Significant digits that sums of decimal numbers have at least. */
const EXACT_DIGITS = 15

/** Rounds a number (JSON text) that is not exact, as a sum: 12382.249999999995. */
function roundNumber(value: Buffer): Buffer {
  if (value.length <= EXACT_DIGITS || !value.includes('.')) return value
  return Buffer.from(String(Number(Number(value.toString('latin1')).toPrecision(EXACT_DIGITS))))
}

/** Maximum number of decimals that all numbers of a column get. */
const MAX_ALIGNED_DECIMALS = 4

/** Writes the numbers of a column (JSON texts) with the same number of decimals, unless some have many. */
function alignDecimals(values: readonly Buffer[]): Buffer[] {
  const texts = values.map((value) => value.toString('latin1'))
  const parts = texts.map((text) => /^-?\d+(?:\.(\d+))?$/.exec(text))
  const decimals = Math.max(0, ...parts.map((part) => part?.[1]?.length ?? 0))
  if (decimals === 0 || decimals > MAX_ALIGNED_DECIMALS) return [...values]
  return texts.map((text, k) => {
    const part = parts[k]
    if (!part) return values[k]
    const digits = part[1] ?? ''
    return Buffer.from(`${text}${digits === '' ? '.' : ''}${'0'.repeat(decimals - digits.length)}`)
  })
}

function selectNamed(all: ColumnRow[], names: readonly string[]): ColumnRow[] {
  return names.map((name) => {
    const column = all.find((one) => one.name === name)
    if (!column) throw new Problem('unknown_column', `the grid has no column ${JSON.stringify(name)}`)
    return column
  })
}
