/** Page of a grid: its rows as a table, with filter and sorting. */
import { Problem } from '../../../contract/errors.ts'
import { formatFid } from '../../../contract/fid.ts'
import { LINE_ENDS_PARAMETER, readLineEnds } from '../../../contract/web/line-ends.ts'
import { toByteStream, type WorkBudget } from '../../../json/index.ts'
import type { Principal } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'
import type { ResolvedVersion } from '../../files/versions.ts'
import { type Snapshot, takeVersionSnapshot, trimSnapshot } from '../../grids/column/snapshot.ts'
import { type Selected, Selection } from '../../grids/read/selection.ts'
import type { RowSorter } from '../../grids/read/sort.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import { type ColumnRow, fingerprintOfGrid } from '../../store/aggregates/grids.ts'
import { createPage, type PageAnswer } from '../answer.ts'
import { readColorScheme } from '../html.ts'
import { type GridQuery, GridRenderer } from './grid-html.ts'

/** Number of rows and columns on one page. */
const PAGE_ROWS = 100
const PAGE_COLUMNS = 50

export interface SortingService extends Service {
  orders: RowSorter
}

/** Parses the query of the page. Invalid numbers count as 1. */
function parseQuery(query: URLSearchParams): GridQuery {
  const number = (name: string): number => {
    const value = Number(query.get(name) ?? 1)
    return Number.isSafeInteger(value) && value >= 1 ? value : 1
  }
  const text = (name: string): string | undefined => {
    const value = query.get(name)?.trim() || undefined
    return value !== undefined && query.has(LINE_ENDS_PARAMETER) ? readLineEnds(value) : value
  }
  return {
    page: number('page'),
    columns: number('columns'),
    where: text('where'),
    sort: text('sort'),
  }
}

/** Selected rows of a page: all rows if `where` or `sort` is invalid. */
class PageSelection {
  /** Error of `where` or `sort`; empty without one. */
  note = ''
  current: Selection

  constructor(query: GridQuery) {
    this.current = this.attempt(() => new Selection(query)) ?? new Selection({})
  }

  /** Binds the selection to columns, as `Selection.bind`. */
  bind(all: ColumnRow[], pageColumns: ColumnRow[]): ColumnRow[] {
    const columns = this.attempt(() => this.current.bind(all, pageColumns))
    if (columns) return columns
    this.current = new Selection({})
    return this.current.bind(all, pageColumns)
  }

  /** Evaluates the selection. */
  async select(orders: RowSorter, snap: Snapshot, work: WorkBudget, key: string): Promise<Selected> {
    try {
      return await this.current.select(orders, snap, work, key)
    } catch (error) {
      this.addNote(error)
      return { head: undefined }
    }
  }

  /** Returns the result of `run`; undefined, with a note on the page, if `where` or `sort` is invalid. */
  private attempt<T>(run: () => T): T | undefined {
    try {
      return run()
    } catch (error) {
      this.addNote(error)
      return undefined
    }
  }

  /** Notes an error of `where` or `sort`. Throws others. */
  private addNote(error: unknown): void {
    const codes = ['invalid_query', 'unknown_column', 'too_large']
    if (!(error instanceof Problem && codes.includes(error.code))) throw error
    this.note = formatQueryError(error)
  }
}

/** Renders one page of the selected rows of a grid. */
export async function renderGridPage(
  service: SortingService,
  principal: Principal,
  file: FileRow,
  query: URLSearchParams,
  version: ResolvedVersion | undefined,
): Promise<PageAnswer> {
  const requested = parseQuery(query)
  const selection = new PageSelection(requested)
  const loaded = await loadColumns(service, file, version, requested.columns, selection)
  const snap = await trimSnapshot(loaded.given)
  const page = (selected: Selected): Promise<string> => {
    const count =
      'rows' in selected ? selected.rows.count : 'order' in selected ? selected.order.length : snap.rows
    const pages = Math.max(1, Math.ceil(count / PAGE_ROWS))
    const { note } = selection
    // Links omit an invalid condition or order.
    const { where, sort } = note === '' ? requested : { where: undefined, sort: undefined }
    const view: GridQuery = { where, sort, page: Math.min(requested.page, pages), columns: loaded.columnPage }
    const first = (view.page - 1) * PAGE_ROWS
    const rows = listPageRows(selected, first, Math.min(PAGE_ROWS, count - first))
    return new GridRenderer(service, principal, file, {
      ...loaded,
      snap,
      version,
      shown: selection.current.printedSnapshot(snap).columns,
      view,
      pages,
      rows,
      note,
      chosen: count,
      asked: requested.where,
      scheme: readColorScheme(query, 'auto'),
    }).render()
  }
  const answer = createPage('', { viewed: file })
  if (!selection.current.needsValues) return { ...answer, body: await page({ head: undefined }) }
  const evaluate = async (work: WorkBudget) => {
    const key = `${formatFid(file)} ${file.version} ${loaded.state}`
    const selected = await selection.select(service.orders, snap, work, key)
    return { body: toByteStream(Buffer.from(await page(selected))), type: answer.type }
  }
  return {
    ...answer,
    later: (user, work) => service.orders.runInSlot(user, () => evaluate(work), work.isAborted),
  }
}

/** Loads the columns of a page and of the selection. `count`: number of columns of the grid. */
function loadColumns(
  { store }: Service,
  file: FileRow,
  version: ResolvedVersion | undefined,
  requestedPage: number,
  selection: PageSelection,
): Promise<{ given: Snapshot; count: number; columnPages: number; columnPage: number; state: string }> {
  return store.read(async (readers) => {
    const grid = await readers.grids.get(file.owner, file.idlocal)
    let count = 0
    let columnPages = 1
    let columnPage = 1
    const earlier = version?.isCurrent ? undefined : version?.row
    const given = await takeVersionSnapshot(store, readers, file, earlier, (all) => {
      count = all.length
      columnPages = Math.max(1, Math.ceil(count / PAGE_COLUMNS))
      columnPage = Math.min(requestedPage, columnPages)
      return selection.bind(all, all.slice((columnPage - 1) * PAGE_COLUMNS, columnPage * PAGE_COLUMNS))
    })
    const state = `${fingerprintOfGrid(grid)}${earlier ? `.${earlier.version}.${earlier.made_at}` : ''}`
    return { given, count, columnPages, columnPage, state }
  })
}

/** Formats an error of `where` or `sort` for the page. */
function formatQueryError({ message, hint }: Problem): string {
  const sentences = [message, hint]
    .filter((sentence) => sentence !== undefined)
    .map((sentence) => (/[.!?]$/.test(sentence) ? sentence : `${sentence}.`))
  return `${sentences.join(' ')} All rows are shown, in their original order.`
}

/** Returns the row numbers of a page, from 0. */
export function listPageRows(selected: Selected, first: number, count: number): number[] {
  if ('order' in selected) return [...selected.order.subarray(first, first + count)]
  if ('rows' in selected) return [...selected.rows.slice(first, count)]
  return Array.from({ length: count }, (_, k) => first + k)
}
