/** Page of a grid: its rows as a table, with filter and sorting. */
import { Problem } from '../../../contract/errors.ts'
import { formatFid, webUrl } from '../../../contract/fid.ts'
import { pathOf } from '../../../contract/operations/index.ts'
import { quoted } from '../../../contract/shell.ts'
import { once, type Work } from '../../../json/index.ts'
import { nameText, parseSort, type SortKey, sortText } from '../../../query/index.ts'
import type { Caller, Principal } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'
import { draftUrl } from '../../files/drafts.ts'
import type { FoundVersion } from '../../files/versions.ts'
import { type Snapshot, type SnapshotColumn, snapshotOf, trimmed } from '../../grids/column/content.ts'
import { affordable, valuesAt } from '../../grids/column/values-at.ts'
import type { RowOrders } from '../../grids/read/order.ts'
import { type Selected, Selection } from '../../grids/read/selection.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import { stateOfGrid } from '../../store/aggregates/grids.ts'
import { familyOf } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'
import { type Answer, html } from '../answer.ts'
import { assetPath } from '../assets.ts'
import { accessQuery, type ColorScheme, document, schemeIn, text, withQuery } from '../html.ts'
import { chartPaths } from './chart-paths.ts'
import { crumbsOf, summaryOf } from './lists.ts'
import { type TableColumn, table } from './table.ts'
import { versionNote } from './version-note.ts'

/** Number of rows and columns on one page. */
const ROWS = 100
const COLUMNS = 50
/** Maximum number of charts listed on the page of a draft. */
const DRAFT_PLOTS = 50
/** Maximum size of the slices that a page reads. */
const READ_BYTES = 64 * 1024 * 1024
/** Maximum size for sorted rows, which can be anywhere in the grid. */
const SORTED_READ_BYTES = 256 * 1024 * 1024

export interface SortingService extends Service {
  orders: RowOrders
}

/** Label of a column type. */
function typeName(type: ColumnType): string {
  const family = familyOf(type)
  return family === 'json' ? 'mixed' : family
}

/** Query parameters of the page. `columns`: page of columns, from 1; `where` and `sort`: as in the API. */
interface View {
  page: number
  columns: number
  where: string | undefined
  sort: string | undefined
}

/** Parses the query of the page. Invalid numbers count as 1. */
function viewOf(query: URLSearchParams): View {
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
function isMistake(error: unknown): error is Problem {
  const codes = ['invalid_query', 'unknown_column', 'too_large']
  return error instanceof Problem && codes.includes(error.code)
}

/** Renders one page of the selected rows of a grid. */
export async function gridPage(
  service: SortingService,
  principal: Principal,
  file: FileRow,
  query: URLSearchParams,
  version: FoundVersion | undefined,
): Promise<Answer> {
  const requested = viewOf(query)
  const allRows = new Selection({})
  let selection = allRows
  let note = ''
  try {
    selection = new Selection(requested)
  } catch (error) {
    if (!isMistake(error)) throw error
    note = mistakeText(error)
  }
  const loaded = await service.store.read(async (readers) => {
    const grid = await readers.grids.get(file.owner, file.idlocal)
    let count = 0
    let columnPages = 1
    let columnPage = 1
    const earlier = version?.isPresent ? undefined : version?.row
    const snap = await snapshotOf(service.store, readers, file, earlier, (all) => {
      count = all.length
      columnPages = Math.max(1, Math.ceil(count / COLUMNS))
      columnPage = Math.min(requested.columns, columnPages)
      const pageColumns = all.slice((columnPage - 1) * COLUMNS, columnPage * COLUMNS)
      try {
        return selection.columns(all, pageColumns)
      } catch (error) {
        if (!isMistake(error)) throw error
        note = mistakeText(error)
        selection = allRows
        return selection.columns(all, pageColumns)
      }
    })
    const state = `${stateOfGrid(grid)}${earlier ? `.${earlier.version}.${earlier.made_at}` : ''}`
    return { given: snap, count, columnPages, columnPage, state }
  })
  const { columnPage } = loaded
  const snap = await trimmed(loaded.given)
  const page = (selected: Selected): Promise<string> => {
    const count =
      'rows' in selected ? selected.rows.count : 'order' in selected ? selected.order.length : snap.rows
    const pages = Math.max(1, Math.ceil(count / ROWS))
    // Links omit an invalid condition or order.
    const { where, sort } = note === '' ? requested : { where: undefined, sort: undefined }
    const view: View = { where, sort, page: Math.min(requested.page, pages), columns: columnPage }
    const first = (view.page - 1) * ROWS
    const rows = rowsOn(selected, first, Math.min(ROWS, count - first))
    const pageColumns = selection.printedOf(snap).columns
    return htmlOf(service, principal, file, {
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
      scheme: schemeIn(query, 'auto'),
    })
  }
  const answer = html('', { viewed: file })
  if (!selection.readsValues) return { ...answer, body: await page({ head: undefined }) }
  const evaluate = async (work: Work) => {
    let selected: Selected = { head: undefined }
    try {
      const key = `${formatFid(file)} ${file.version} ${loaded.state}`
      selected = await selection.select(service.orders, snap, work, key)
    } catch (error) {
      if (!isMistake(error)) throw error
      note = mistakeText(error)
    }
    return { body: once(Buffer.from(await page(selected))), type: answer.type }
  }
  return { ...answer, later: (user, work) => service.orders.inTurn(user, () => evaluate(work), work.gone) }
}

/** Formats an error of `where` or `sort` for the page. */
function mistakeText({ message, hint }: Problem): string {
  const sentences = [message, hint]
    .filter((sentence) => sentence !== undefined)
    .map((sentence) => (/[.!?]$/.test(sentence) ? sentence : `${sentence}.`))
  return `${sentences.join(' ')} All rows are shown, in their original order.`
}

/** Returns the row numbers of a page, from 0. */
function rowsOn(selected: Selected, first: number, count: number): number[] {
  if ('order' in selected) return [...selected.order.subarray(first, first + count)]
  if ('rows' in selected) return [...selected.rows.part(first, count)]
  return Array.from({ length: count }, (_, k) => first + k)
}

interface GridView {
  version: FoundVersion | undefined
  snap: Snapshot
  shown: readonly SnapshotColumn[]
  /** Number of selected rows. */
  chosen: number
  /** Condition as entered by the user. */
  asked: string | undefined
  /** Number of columns of the grid. */
  count: number
  columnPages: number
  view: View
  pages: number
  /** Row numbers of this page, from 0. */
  rows: readonly number[]
  note: string
  scheme: ColorScheme
}

/** Renders the HTML of a grid page. */
async function htmlOf(
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
  const key = accessQuery(principal)
  const pageUrl = webUrl(service.url, file)
  const linkTo = (change: Partial<View>): string => {
    const { page, columns, sort, where } = { ...view, ...change }
    const url = withQuery(
      pageUrl,
      page > 1 && `page=${page}`,
      columns > 1 && `columns=${columns}`,
      ...queryParameters({ sort, where }),
      key,
    )
    return text(url)
  }
  const fid = formatFid(file)
  const content = service.url + pathOf('grids.content', fid)
  const download = (what: string, ...parameters: string[]): string =>
    `<a href="${text(withQuery(content, ...parameters, ...queryParameters(view), key))}">${what}</a>`
  const maxBytes = view.sort === undefined ? READ_BYTES : SORTED_READ_BYTES
  const readable = affordable(snap, pageColumns, rows, maxBytes)
  const values = await valuesAt(snap, readable, rows)
  const [key0] = sortKeys(view.sort)
  const columns = readable.map((column, k): TableColumn => {
    const sorted = key0?.name === column.name
    const descending = sorted && key0.descending
    const link = linkTo({ sort: sortText({ name: column.name, descending: sorted && !descending }), page: 1 })
    return {
      head: `<a href="${link}">${text(column.name)}</a>${sorted ? (descending ? ' ↓' : ' ↑') : ''}<span class="type">${typeName(column.type)}</span>`,
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
    versionNote(service, file, version, key),
    `<p>${summaryOf(file)}</p>`,
    `<p>${chosen < snap.rows ? `${chosen.toLocaleString('en')} of ` : ''}${snap.rows.toLocaleString('en')} rows, ${count.toLocaleString('en')} ${count === 1 ? 'column' : 'columns'} · ${download('CSV', 'format=csv')} · ${download('JSON')} · <code>gridline cat ${text(quoted(fid + (principal.version === undefined ? '' : `@${principal.version}`)))}</code></p>`,
    // Readers with a share key cannot create charts of the grid.
    ...(principal.caller === undefined || shareKey !== undefined || principal.version !== undefined
      ? []
      : [makeButton(principal.caller, file, view.where)]),
    `<form method="get" action="${text(pageUrl)}" class="filter"><label>Where <input name="where" value="${text(enteredWhere ?? '')}" placeholder="${text(exampleOf(pageColumns))}" size="40" maxlength="10000"></label>${hiddenFields({ sort: view.sort, columns: view.columns > 1 ? String(view.columns) : undefined, share_key: shareKey, version: principal.version })} <button type="submit">Filter</button>${view.where === undefined ? '' : ` <a href="${linkTo({ where: undefined, page: 1 })}">All rows</a>`}</form>`,
    ...notes.filter(Boolean).map((warning) => `<p class="note">${text(warning)}</p>`),
    pager('Rows', pages, view.page, (page) => linkTo({ page })),
    await table(columns, rows),
    pager('Rows', pages, view.page, (page) => linkTo({ page })),
    pager('Columns', columnPages, view.columns, (page) => linkTo({ columns: page })),
  ]
  if (view.sort !== undefined)
    parts.push(`<p><a href="${linkTo({ sort: undefined })}">Original order</a></p>`)
  if (pages > 10) {
    const hidden = hiddenFields({
      sort: view.sort,
      where: view.where,
      columns: view.columns > 1 ? String(view.columns) : undefined,
      share_key: shareKey,
      version: principal.version,
    })
    parts.push(
      `<form method="get" action="${text(pageUrl)}"><label>Page <input class="short" type="number" name="page" min="1" max="${pages}" value="${view.page}"></label>${hidden} <button type="submit">Go</button></form>`,
    )
  }
  const command = `gridline plot create --grid ${quoted(fid)}${view.where === undefined ? '' : ` --where ${quoted(view.where)}`}`
  parts.push(
    `<details><summary>Make a chart on the command line</summary><pre tabindex="0" id="command">${text(command)}</pre><button type="button" data-copy="command" hidden>Copy</button><p>The type and the columns are chosen from the data; <code>gridline help plot create</code> has all options.</p></details>`,
  )
  if (version?.draft !== undefined) {
    const plots = await service.store.read(async (readers) =>
      readers.folders.active(await readers.plots.referencersOf(file, 'grid', undefined, false, DRAFT_PLOTS)),
    )
    const links = plots
      .filter((plot) => plot.owner === file.owner)
      .map(
        (plot) =>
          `<a href="${text(draftUrl(webUrl(service.url, plot), version.draft!))}">${text(plot.filename)}</a>`,
      )
    if (links.length > 0) parts.splice(1, 0, `<p>Charts with this draft: ${links.join(', ')}</p>`)
  }
  const above = await service.store.read((readers) => crumbsOf(service, readers, principal, file))
  return document(file.filename, parts.join('\n'), {
    above,
    user: principal.caller?.username ?? null,
    scheme,
    scripts: [assetPath('page.js')],
  })
}

/** Renders the button that creates a chart of the selected rows. Its script chooses type and columns. */
function makeButton({ username }: Caller, file: FileRow, where: string | undefined): string {
  const data: Record<string, string> = {
    script: assetPath('make.js'),
    fid: formatFid(file),
    create: pathOf('plots.create'),
    ...chartPaths(),
    ...(where !== undefined && { where }),
    ...(username === file.owner && { parent: String(file.parent) }),
  }
  const attributes = Object.entries(data).map(([name, value]) => ` data-${name}="${text(value)}"`)
  return `<p class="actions"><button class="primary" type="button" id="make"${attributes.join('')} hidden>Make a chart</button> <span role="status"></span></p>`
}

/** Returns the query parameters `where` and `sort`, for links to pages and the API. */
function queryParameters({ sort, where }: Pick<View, 'sort' | 'where'>): (string | false)[] {
  return [
    where !== undefined && `where=${encodeURIComponent(where)}`,
    sort !== undefined && `sort=${encodeURIComponent(sort)}`,
  ]
}

function hiddenFields(fields: Record<string, string | undefined>): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${text(value!)}">`)
    .join('')
}

/** Parses the sort order; empty if it is invalid. */
function sortKeys(sort: string | undefined): SortKey[] {
  try {
    return sort === undefined ? [] : parseSort(sort)
  } catch {
    return []
  }
}

/** Returns an example condition for the input field; empty without a numeric column. */
function exampleOf(columns: readonly SnapshotColumn[]): string {
  const column = columns.find(({ type }) => type === 'number')
  return column ? `${nameText(column.name)} > 0` : ''
}

function pager(what: string, pages: number, page: number, to: (page: number) => string): string {
  if (pages <= 1) return ''
  const link = (label: string, target: number): string =>
    target === page || target < 1 || target > pages
      ? `<span aria-disabled="true">${label}</span>`
      : `<a href="${to(target)}">${label}</a>`
  return `<nav class="pager" aria-label="${what}">${what}: ${link('First', 1)} ${link('Previous', page - 1)} <span>page ${page.toLocaleString('en')} of ${pages.toLocaleString('en')}</span> ${link('Next', page + 1)} ${link('Last', pages)}</nav>`
}
