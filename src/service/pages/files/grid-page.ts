/** Page of a grid: its rows as a table, with filter and sorting. */
import { Problem } from '../../../contract/errors.ts'
import { formatFid, formatWebUrl } from '../../../contract/fid.ts'
import { pathOf } from '../../../contract/operations/index.ts'
import { quoteShellWord } from '../../../contract/shell.ts'
import { toByteStream, type WorkBudget } from '../../../json/index.ts'
import { formatSortKey, parseSort, quoteColumnName, type SortKey } from '../../../query/index.ts'
import type { Caller, Principal } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'
import { formatDraftUrl } from '../../files/drafts.ts'
import type { ResolvedVersion } from '../../files/versions.ts'
import {
  type Snapshot,
  type SnapshotColumn,
  takeVersionSnapshot,
  trimSnapshot,
} from '../../grids/column/snapshot.ts'
import { readValuesAt, selectAffordable } from '../../grids/column/values-at.ts'
import { type Selected, Selection } from '../../grids/read/selection.ts'
import type { RowSorter } from '../../grids/read/sort.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import { fingerprintOfGrid } from '../../store/aggregates/grids.ts'
import { familyOf } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'
import { createPage, type PageAnswer } from '../answer.ts'
import { assetPathOf } from '../assets.ts'
import {
  accessQueryOf,
  appendQuery,
  type ColorScheme,
  escapeHtml,
  readColorScheme,
  renderDocument,
} from '../html.ts'
import { gridApiPaths } from './chart-paths.ts'
import { renderBreadcrumbs, renderSummary } from './file-lists.ts'
import { renderTable, type TableColumn } from './table.ts'
import { renderVersionNote } from './version-note.ts'

/** Number of rows and columns on one page. */
const PAGE_ROWS = 100
const PAGE_COLUMNS = 50
/** Maximum number of charts listed on the page of a draft. */
const MAX_DRAFT_PLOTS = 50
/** Maximum size of the slices that a page reads. */
const MAX_READ_BYTES = 64 * 1024 * 1024
/** Maximum size for sorted rows, which can be anywhere in the grid. */
const MAX_SORTED_READ_BYTES = 256 * 1024 * 1024

export interface SortingService extends Service {
  orders: RowSorter
}

/** Label of a column type. */
function columnTypeLabel(type: ColumnType): string {
  const family = familyOf(type)
  return family === 'json' ? 'mixed' : family
}

/** Query parameters of the page. `columns`: page of columns, from 1; `where` and `sort`: as in the API. */
interface GridQuery {
  page: number
  columns: number
  where: string | undefined
  sort: string | undefined
}

/** Parses the query of the page. Invalid numbers count as 1. */
function parseQuery(query: URLSearchParams): GridQuery {
  const number = (name: string): number => {
    const value = Number(query.get(name) ?? 1)
    return Number.isSafeInteger(value) && value >= 1 ? value : 1
  }
  const where = query.get('where')?.trim()
  return {
    page: number('page'),
    columns: number('columns'),
    where: where === '' ? undefined : where,
    sort: query.get('sort') || undefined,
  }
}

/** Returns whether an error is caused by `where` or `sort`: the page then shows it, and all rows. */
function isQueryError(error: unknown): error is Problem {
  const codes = ['invalid_query', 'unknown_column', 'too_large']
  return error instanceof Problem && codes.includes(error.code)
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
  const allRows = new Selection({})
  let selection = allRows
  let note = ''
  try {
    selection = new Selection(requested)
  } catch (error) {
    if (!isQueryError(error)) throw error
    note = formatQueryError(error)
  }
  const loaded = await service.store.read(async (readers) => {
    const grid = await readers.grids.get(file.owner, file.idlocal)
    let count = 0
    let columnPages = 1
    let columnPage = 1
    const earlier = version?.isCurrent ? undefined : version?.row
    const snap = await takeVersionSnapshot(service.store, readers, file, earlier, (all) => {
      count = all.length
      columnPages = Math.max(1, Math.ceil(count / PAGE_COLUMNS))
      columnPage = Math.min(requested.columns, columnPages)
      const pageColumns = all.slice((columnPage - 1) * PAGE_COLUMNS, columnPage * PAGE_COLUMNS)
      try {
        return selection.bind(all, pageColumns)
      } catch (error) {
        if (!isQueryError(error)) throw error
        note = formatQueryError(error)
        selection = allRows
        return selection.bind(all, pageColumns)
      }
    })
    const state = `${fingerprintOfGrid(grid)}${earlier ? `.${earlier.version}.${earlier.made_at}` : ''}`
    return { given: snap, count, columnPages, columnPage, state }
  })
  const { columnPage } = loaded
  const snap = await trimSnapshot(loaded.given)
  const page = (selected: Selected): Promise<string> => {
    const count =
      'rows' in selected ? selected.rows.count : 'order' in selected ? selected.order.length : snap.rows
    const pages = Math.max(1, Math.ceil(count / PAGE_ROWS))
    // Links omit an invalid condition or order.
    const { where, sort } = note === '' ? requested : { where: undefined, sort: undefined }
    const view: GridQuery = { where, sort, page: Math.min(requested.page, pages), columns: columnPage }
    const first = (view.page - 1) * PAGE_ROWS
    const rows = listPageRows(selected, first, Math.min(PAGE_ROWS, count - first))
    const pageColumns = selection.printedSnapshot(snap).columns
    return renderHtml(service, principal, file, {
      ...loaded,
      snap,
      version,
      shown: pageColumns,
      view,
      pages,
      rows,
      note,
      chosen: count,
      asked: requested.where,
      scheme: readColorScheme(query, 'auto'),
    })
  }
  const answer = createPage('', { viewed: file })
  if (!selection.needsValues) return { ...answer, body: await page({ head: undefined }) }
  const evaluate = async (work: WorkBudget) => {
    let selected: Selected = { head: undefined }
    try {
      const key = `${formatFid(file)} ${file.version} ${loaded.state}`
      selected = await selection.select(service.orders, snap, work, key)
    } catch (error) {
      if (!isQueryError(error)) throw error
      note = formatQueryError(error)
    }
    return { body: toByteStream(Buffer.from(await page(selected))), type: answer.type }
  }
  return {
    ...answer,
    later: (user, work) => service.orders.runInSlot(user, () => evaluate(work), work.isAborted),
  }
}

/** Formats an error of `where` or `sort` for the page. */
function formatQueryError({ message, hint }: Problem): string {
  const sentences = [message, hint]
    .filter((sentence) => sentence !== undefined)
    .map((sentence) => (/[.!?]$/.test(sentence) ? sentence : `${sentence}.`))
  return `${sentences.join(' ')} All rows are shown, in their original order.`
}

/** Returns the row numbers of a page, from 0. */
function listPageRows(selected: Selected, first: number, count: number): number[] {
  if ('order' in selected) return [...selected.order.subarray(first, first + count)]
  if ('rows' in selected) return [...selected.rows.slice(first, count)]
  return Array.from({ length: count }, (_, k) => first + k)
}

interface GridView {
  version: ResolvedVersion | undefined
  snap: Snapshot
  shown: readonly SnapshotColumn[]
  /** Number of selected rows. */
  chosen: number
  /** Condition as entered by the user. */
  asked: string | undefined
  /** Number of columns of the grid. */
  count: number
  columnPages: number
  view: GridQuery
  pages: number
  /** Row numbers of this page, from 0. */
  rows: readonly number[]
  note: string
  scheme: ColorScheme
}

/** Renders the HTML of a grid page. */
async function renderHtml(
  service: Service,
  principal: Principal,
  file: FileRow,
  {
    snap,
    shown: pageColumns,
    chosen,
    asked: enteredWhere,
    count,
    columnPages,
    view,
    pages,
    rows,
    note,
    scheme,
    version,
  }: GridView,
): Promise<string> {
  const { shareKey } = principal
  const key = accessQueryOf(principal)
  const pageUrl = formatWebUrl(service.url, file)
  const linkTo = (change: Partial<GridQuery>): string => {
    const { page, columns, sort, where } = { ...view, ...change }
    const url = appendQuery(
      pageUrl,
      page > 1 && `page=${page}`,
      columns > 1 && `columns=${columns}`,
      ...formatQueryParameters({ sort, where }),
      key,
    )
    return escapeHtml(url)
  }
  const fid = formatFid(file)
  const content = service.url + pathOf('grids.content', fid)
  const download = (what: string, ...parameters: string[]): string =>
    `<a href="${escapeHtml(appendQuery(content, ...parameters, ...formatQueryParameters(view), key))}">${what}</a>`
  const maxBytes = view.sort === undefined ? MAX_READ_BYTES : MAX_SORTED_READ_BYTES
  const readable = selectAffordable(snap, pageColumns, rows, maxBytes)
  const values = await readValuesAt(snap, readable, rows)
  const [key0] = parseSortKeys(view.sort)
  const columns = readable.map((column, k): TableColumn => {
    const sorted = key0?.name === column.name
    const descending = sorted && key0.descending
    const link = linkTo({
      sort: formatSortKey({ name: column.name, descending: sorted && !descending }),
      page: 1,
    })
    return {
      head: `<a href="${link}">${escapeHtml(column.name)}</a>${sorted ? (descending ? ' ↓' : ' ↑') : ''}<span class="type">${columnTypeLabel(column.type)}</span>`,
      attributes: sorted ? ` aria-sort="${descending ? 'descending' : 'ascending'}"` : '',
      values: values[k],
    }
  })
  const notes = [note]
  if (readable.length < pageColumns.length)
    notes.push(
      `Only ${readable.length} of these ${pageColumns.length} columns are shown: the others are too large for a page. The CSV file has all of them.`,
    )
  const parts = [
    renderVersionNote(service, file, version, key),
    `<p>${renderSummary(file)}</p>`,
    `<p>${chosen < snap.rows ? `${chosen.toLocaleString('en')} of ` : ''}${snap.rows.toLocaleString('en')} rows, ${count.toLocaleString('en')} ${count === 1 ? 'column' : 'columns'} · ${download('CSV', 'format=csv')} · ${download('JSON')} · <code>gridline cat ${escapeHtml(quoteShellWord(fid + (principal.version === undefined ? '' : `@${principal.version}`)))}</code></p>`,
    // Readers with a share key cannot create charts of the grid.
    ...(principal.caller === undefined || shareKey !== undefined || principal.version !== undefined
      ? []
      : [renderCreateButton(principal.caller, file, view.where)]),
    `<form method="get" action="${escapeHtml(pageUrl)}" class="filter"><label>Where <input name="where" value="${escapeHtml(enteredWhere ?? '')}" placeholder="${escapeHtml(exampleCondition(pageColumns))}" size="40" maxlength="10000"></label>${renderHiddenFields({ sort: view.sort, columns: view.columns > 1 ? String(view.columns) : undefined, share_key: shareKey, version: principal.version })} <button type="submit">Filter</button>${view.where === undefined ? '' : ` <a href="${linkTo({ where: undefined, page: 1 })}">All rows</a>`}</form>`,
    ...notes.filter(Boolean).map((warning) => `<p class="note">${escapeHtml(warning)}</p>`),
    renderPager('Rows', pages, view.page, (page) => linkTo({ page })),
    await renderTable(columns, rows),
    renderPager('Rows', pages, view.page, (page) => linkTo({ page })),
    renderPager('Columns', columnPages, view.columns, (page) => linkTo({ columns: page })),
  ]
  if (view.sort !== undefined)
    parts.push(`<p><a href="${linkTo({ sort: undefined })}">Original order</a></p>`)
  if (pages > 10) {
    const hidden = renderHiddenFields({
      sort: view.sort,
      where: view.where,
      columns: view.columns > 1 ? String(view.columns) : undefined,
      share_key: shareKey,
      version: principal.version,
    })
    parts.push(
      `<form method="get" action="${escapeHtml(pageUrl)}"><label>Page <input class="short" type="number" name="page" min="1" max="${pages}" value="${view.page}"></label>${hidden} <button type="submit">Go</button></form>`,
    )
  }
  const command = `gridline plot create --grid ${quoteShellWord(fid)}${view.where === undefined ? '' : ` --where ${quoteShellWord(view.where)}`}`
  parts.push(
    `<details><summary>Make a chart on the command line</summary><pre tabindex="0" id="command">${escapeHtml(command)}</pre><button type="button" data-copy="command" hidden>Copy</button><p>The type and the columns are chosen from the data; <code>gridline help plot create</code> has all options.</p></details>`,
  )
  if (version?.draft !== undefined) {
    const plots = await service.store.read(async (readers) =>
      readers.folders.filterActive(
        await readers.plots.listReferencers(file, 'grid', undefined, false, MAX_DRAFT_PLOTS),
      ),
    )
    const links = plots
      .filter((plot) => plot.owner === file.owner)
      .map(
        (plot) =>
          `<a href="${escapeHtml(formatDraftUrl(formatWebUrl(service.url, plot), version.draft!))}">${escapeHtml(plot.filename)}</a>`,
      )
    if (links.length > 0) parts.splice(1, 0, `<p>Charts with this draft: ${links.join(', ')}</p>`)
  }
  const above = await service.store.read((readers) => renderBreadcrumbs(service, readers, principal, file))
  return renderDocument(file.filename, parts.join('\n'), {
    above,
    user: principal.caller?.username ?? null,
    scheme,
    scripts: [assetPathOf('page.js')],
  })
}

/** Renders the button that creates a chart of the selected rows. Its script chooses type and columns. */
function renderCreateButton({ username }: Caller, file: FileRow, where: string | undefined): string {
  const data: Record<string, string> = {
    script: assetPathOf('make.js'),
    fid: formatFid(file),
    create: pathOf('plots.create'),
    ...gridApiPaths(),
    ...(where !== undefined && { where }),
    ...(username === file.owner && { parent: String(file.parent) }),
  }
  const attributes = Object.entries(data).map(([name, value]) => ` data-${name}="${escapeHtml(value)}"`)
  return `<p class="actions"><button class="primary" type="button" id="make"${attributes.join('')} hidden>Make a chart</button> <span role="status"></span></p>`
}

/** Returns the query parameters `where` and `sort`, for links to pages and the API. */
function formatQueryParameters({ sort, where }: Pick<GridQuery, 'sort' | 'where'>): (string | false)[] {
  return [
    where !== undefined && `where=${encodeURIComponent(where)}`,
    sort !== undefined && `sort=${encodeURIComponent(sort)}`,
  ]
}

function renderHiddenFields(fields: Record<string, string | undefined>): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value!)}">`)
    .join('')
}

/** Parses the sort order; empty if it is invalid. */
function parseSortKeys(sort: string | undefined): SortKey[] {
  try {
    return sort === undefined ? [] : parseSort(sort)
  } catch {
    return []
  }
}

/** Returns an example condition for the input field; empty without a numeric column. */
function exampleCondition(columns: readonly SnapshotColumn[]): string {
  const column = columns.find(({ type }) => type === 'number')
  return column ? `${quoteColumnName(column.name)} > 0` : ''
}

function renderPager(what: string, pages: number, page: number, to: (page: number) => string): string {
  if (pages <= 1) return ''
  const link = (label: string, target: number): string =>
    target === page || target < 1 || target > pages
      ? `<span aria-disabled="true">${label}</span>`
      : `<a href="${to(target)}">${label}</a>`
  return `<nav class="pager" aria-label="${what}">${what}: ${link('First', 1)} ${link('Previous', page - 1)} <span>page ${page.toLocaleString('en')} of ${pages.toLocaleString('en')}</span> ${link('Next', page + 1)} ${link('Last', pages)}</nav>`
}
