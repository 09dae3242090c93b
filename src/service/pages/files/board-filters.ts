/** Filters of a board page: their controls, and what items make of them. See docs/boards.md#filters. */
import { NO_LABEL } from '../../../charts/figure/shared-names.ts'
import { Problem } from '../../../contract/errors.ts'
import { type Fid, formatFid } from '../../../contract/fid.ts'
import { escapeHtml } from '../../../contract/html.ts'
import { findClosest, formatList, withSuggestion } from '../../../contract/message-texts.ts'
import type { BoardFilter, BoardItem } from '../../../contract/resources/index.ts'
import { FILTER_PREFIX, listFilters } from '../../../contract/web/filter-query.ts'
import { ownerPrincipal, type RowFilter } from '../../access/access.ts'
import { type BoardNode, listItems } from '../../boards/content.ts'
import { describeUnknownFilter, listUnknownFilters } from '../../boards/filters.ts'
import { fidOfItem, loadItemFile } from '../../boards/item-files.ts'
import type { Snapshot } from '../../grids/column/snapshot.ts'
import { Selection } from '../../grids/read/selection.ts'
import { listUnfollowedColumns } from '../../plots/content.ts'
import { bindRowFilter, listColumnsOf, listPlotGrids } from '../../plots/filter-rows.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import { Lru } from '../../store/schema/lru.ts'
import { type BoardReader, renderNote, reshapeRows, takeItemSnapshot } from './board-reader.ts'

/** Maximum number of values in a list. More are typed. */
const MAX_LISTED_VALUES = 500
/** Maximum number of grids whose values a list has. */
const MAX_READ_GRIDS = 10

/** Returns the condition of an item with the filters that its grid has, and the names of the others. */
export async function addFilters(
  { service, filter }: BoardReader,
  fid: Fid,
  where: string | undefined,
): Promise<{ where: string | undefined; ignored: string[] }> {
  if (filter.length === 0) return { where, ignored: [] }
  const bound = bindRowFilter(filter, await service.store.read((readers) => listColumnsOf(readers, fid)))
  const names = new Set(bound.map(({ column }) => column.name))
  const conditions = [where, ...bound.map(({ condition }) => condition)].flatMap((one) =>
    one === undefined ? [] : [`(${one})`],
  )
  return {
    where: conditions.length === 0 ? undefined : conditions.join(' and '),
    ignored: filter.flatMap(({ column }) => (names.has(column) ? [] : [column])),
  }
}

/** Returns the columns of filters that a plot does not follow completely: it belongs to another user, or has other data. */
export async function listIgnoredBy(
  { service, board, filter }: BoardReader,
  plot: FileRow,
): Promise<string[]> {
  if (filter.length === 0) return []
  if (plot.owner !== board.owner) return filter.map(({ column }) => column)
  return listUnfollowedColumns(service, plot, filter)
}

/** Renders which filters an item does not follow; empty if it follows all. */
export function renderIgnored(ignored: readonly string[]): string {
  return ignored.length === 0
    ? ''
    : `<p class="source">Not filtered by ${escapeHtml(formatList(ignored))}.</p>`
}

/** Renders the values by which a board is filtered, as text; empty without any. */
export function renderActiveFilters(filters: readonly BoardFilter[], filter: RowFilter): string {
  const texts = filter.map(({ column, value }) => {
    const title = filters.find((one) => one.column === column)?.title ?? column
    return `${escapeHtml(title)}: <strong>${escapeHtml(value)}</strong>`
  })
  return texts.length === 0 ? '' : `<p class="source">${texts.join(' · ')}</p>\n`
}

/** Renders the controls of the filters of a board: lists of values, or fields for columns with many. */
export async function renderFilters(
  reader: BoardReader,
  node: BoardNode,
  filters: readonly BoardFilter[],
  query: URLSearchParams,
): Promise<string> {
  const notes = listUnknownFilters(filters, query).map(describeUnknownFilter)
  if (filters.length === 0) return notes.map(renderNote).join('')
  const controls: string[] = []
  for (const filter of filters) {
    const values = await listValues(reader, node, filter.column)
    controls.push(renderFilter(reader, filter, values))
    notes.push(...describeUnmatched(reader, filter.column, values))
  }
  // Other parameters of the page stay.
  const hidden = [...query]
    .filter(([name]) => !name.startsWith(FILTER_PREFIX))
    .map(([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`)
  return `<form class="filter" method="get" autocomplete="off">${hidden.join('')}${controls.join('')} <button type="submit">Show</button></form>\n${notes.map(renderNote).join('')}`
}

/** Throws `invalid_request` if a query asks for rows with a value that no row has. */
export async function assertFiltersMatch(
  reader: BoardReader,
  node: BoardNode,
  query: URLSearchParams,
): Promise<void> {
  for (const { column } of listFilters(query)) {
    const values = await listValues(reader, node, column)
    const [note] = describeUnmatched(reader, column, values)
    if (note === undefined) continue
    const { value } = reader.filter.find((one) => one.column === column)!
    throw new Problem('invalid_request', `filter: ${note}`, {
      field: 'filter',
      hint: withSuggestion(
        findClosest(value, values!),
        `The board shows: ${formatList(values!, MAX_NAMED_VALUES)}`,
      ),
    })
  }
}

/** Maximum number of values in an error. */
const MAX_NAMED_VALUES = 10

/** Says that no row has the value of a filter. Empty if some have, or if there are too many values to know. */
function describeUnmatched(
  { filter }: BoardReader,
  column: string,
  values: readonly string[] | undefined,
): string[] {
  const chosen = filter.find((one) => one.column === column)?.value
  if (chosen === undefined || !values) return []
  // Numbers can be written in several ways.
  const number = /^[-+.\de]+$/i.test(chosen) ? Number(chosen) : Number.NaN
  const isMatched = values.some((value) => value === chosen || Number(value) === number)
  return isMatched ? [] : [`no row has ${JSON.stringify(chosen)} in ${column}`]
}

function renderFilter(
  reader: BoardReader,
  { column, title = column }: BoardFilter,
  values: readonly string[] | undefined,
): string {
  const chosen = reader.filter.find((one) => one.column === column)?.value ?? ''
  const name = escapeHtml(FILTER_PREFIX + column)
  const label = escapeHtml(title)
  if (!values)
    return `<label>${label} <input name="${name}" value="${escapeHtml(chosen)}" placeholder="all"></label>`
  const options = [...new Set(['', ...values, chosen])].map((value) => {
    const isChosen = value === chosen ? ' selected' : ''
    return `<option value="${escapeHtml(value)}"${isChosen}>${value === '' ? 'all' : escapeHtml(value)}</option>`
  })
  return `<label>${label} <select name="${name}">${options.join('')}</select></label>`
}

/** Columns that have too many values for a list, by grid and its version: nobody counts them again. */
const columnsWithMany = new Lru<true>(10_000, () => 1)

/** Lists the values of a column in the grids of a board, as texts, sorted; undefined if there are many. */
async function listValues(reader: BoardReader, node: BoardNode, name: string): Promise<string[] | undefined> {
  const { service, user, work } = reader
  // After the time for the items, values are typed.
  if (performance.now() > reader.deadline) return undefined
  const values = new Map<string, number | string | boolean>()
  let hasNone = false
  for (const { grid, isShown, where } of await listGrids(reader, listItems(node), name)) {
    // A chart shows data of grids that its reader cannot open; whose board it is offers their current values.
    const asOwner = { principal: ownerPrincipal(reader.board.owner), version: undefined }
    const read = async (): Promise<Snapshot | 'many'> => {
      const selection = new Selection({ where })
      const { snap, file } = await takeItemSnapshot({ ...reader, ...(isShown && asOwner) }, grid, (all) =>
        selection.bind(
          all,
          all.filter((column) => column.name === name),
        ),
      )
      const key = `${formatFid(file)} ${file.version} ${reader.principal.version ?? ''} ${where ?? ''} ${name}`
      if (columnsWithMany.get(key)) return 'many'
      const list = await reshapeRows(reader, selection, snap, { group: [name] })
      if (list.rows <= MAX_LISTED_VALUES) return list
      columnsWithMany.set(key, true)
      return 'many'
    }
    const list = await service.orders.runInSlot(user, read, work.isAborted).catch((error) => {
      if (!(error instanceof Problem) || error.code === 'aborted') throw error
      // Its items say so.
      return error.code === 'not_found' ? 'hidden' : 'many'
    })
    if (list === 'hidden') continue
    if (list === 'many') return undefined
    for (const value of JSON.parse(`[${list.columns[0]?.tail.toString('utf8') ?? ''}]`))
      if (value === null || value === '') hasNone = true
      else if (typeof value !== 'object') values.set(String(value), value)
  }
  if (values.size > MAX_LISTED_VALUES) return undefined
  const sorted = [...values].sort(([, a], [, b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([text]) => text)
  return hasNone && !values.has(NO_LABEL) ? [...sorted, NO_LABEL] : sorted
}

/** A grid of a board. `isShown`: by a chart of the owner of the board. */
interface BoardGrid {
  grid: Fid
  isShown: boolean
  /** Condition of the item. */
  where: string | undefined
}

/** Lists the grids of a board that have a column. */
async function listGrids(
  reader: BoardReader,
  items: readonly BoardItem[],
  name: string,
): Promise<BoardGrid[]> {
  const { service, board } = reader
  return service.store.read(async (readers) => {
    const found = new Map<string, BoardGrid>()
    for (const item of items) {
      const { plot, where } = item
      const fid = fidOfItem(service, item)
      if (!fid) continue
      const visible = plot === undefined ? undefined : await loadItemFile(readers, fid, reader, item)
      const isShown =
        visible?.state === 'active' && visible.file.filetype === 'plot' && fid.owner === board.owner
      const grids = plot === undefined ? [fid] : isShown ? await listPlotGrids(readers, fid) : []
      for (const grid of grids) {
        const key = JSON.stringify([formatFid(grid), where])
        const before = found.get(key)
        if (before) before.isShown ||= isShown
        else if (
          found.size < MAX_READ_GRIDS &&
          (await listColumnsOf(readers, grid)).some((column) => column.name === name)
        )
          found.set(key, { grid, isShown, where })
      }
    }
    return [...found.values()]
  })
}
