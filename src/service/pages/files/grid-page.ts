import { Problem } from '../../../contract/errors.ts'
import { formatFid, webUrl } from '../../../contract/fid.ts'
import { pathOf } from '../../../contract/operations/index.ts'
import { once } from '../../../json/index.ts'
import type { Principal } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'
import { type Snapshot, type SnapshotColumn, snapshot } from '../../grids/content.ts'
import type { RowOrders } from '../../grids/order.ts'
import { affordable, valuesAt } from '../../grids/values-at.ts'
import { familyOf } from '../../store/column-types.ts'
import type { FileRow } from '../../store/files.ts'
import { stateOfGrid } from '../../store/grids.ts'
import type { ColumnType } from '../../store/schema.ts'
import { type Answer, html } from '../answer.ts'
import { document, shareKeyQuery, text, withQuery } from '../html.ts'
import { summaryOf } from './lists.ts'
import { type TableColumn, table } from './table.ts'

/** Rows and columns of one page. */
const ROWS = 100
const COLUMNS = 50
/** Size of the slices that one page reads, in bytes: sorted rows can be anywhere in the grid. */
const READ_BYTES = 64 * 1024 * 1024
const SORTED_READ_BYTES = 256 * 1024 * 1024

export interface SortingService extends Service {
  orders: RowOrders
}

/** Column types, as shown in the head of a table. */
function typeName(type: ColumnType): string {
  const family = familyOf(type)
  return family === 'json' ? 'mixed' : family
}

/** What a page of a grid shows: parameters `page`, `columns` (from 1), `sort` (a uid) and `order`. */
interface View {
  page: number
  columns: number
  sort: string | undefined
  descending: boolean
}

function viewOf(query: URLSearchParams): View {
  const number = (name: string): number => {
    const value = Number(query.get(name) ?? 1)
    return Number.isSafeInteger(value) && value >= 1 ? value : 1
  }
  return {
    page: number('page'),
    columns: number('columns'),
    sort: query.get('sort') ?? undefined,
    descending: query.get('order') === 'desc',
  }
}

/** The page of a grid: its rows, page by page, in their own order or sorted by a column. */
export async function gridPage(
  service: SortingService,
  principal: Principal,
  file: FileRow,
  query: URLSearchParams,
): Promise<Answer> {
  const wanted = viewOf(query)
  const opened = await service.store.read(async (readers) => {
    const grid = await readers.grids.get(file.owner, file.idlocal)
    let count = 0
    let columnPages = 1
    let columnPage = 1
    let uids = new Set<string>()
    const snap = await snapshot(service.store, readers, file, (all) => {
      count = all.length
      columnPages = Math.max(1, Math.ceil(count / COLUMNS))
      columnPage = Math.min(wanted.columns, columnPages)
      uids = new Set(all.slice((columnPage - 1) * COLUMNS, columnPage * COLUMNS).map(({ uid }) => uid))
      return all.filter(({ uid }) => uids.has(uid) || uid === wanted.sort)
    })
    return {
      snap,
      shown: snap.columns.filter(({ uid }) => uids.has(uid)),
      sort: snap.columns.find(({ uid }) => uid === wanted.sort),
      count,
      columnPages,
      columnPage,
      state: stateOfGrid(grid),
    }
  })
  const { snap, sort, columnPage } = opened
  const pages = Math.max(1, Math.ceil(snap.rows / ROWS))
  const view: View = {
    ...wanted,
    page: Math.min(wanted.page, pages),
    columns: columnPage,
    sort: sort?.uid,
  }
  const first = (view.page - 1) * ROWS
  const inPage = Math.min(ROWS, snap.rows - first)
  const page = (rows: readonly number[], note: string): Promise<string> =>
    htmlOf(service, principal, file, { ...opened, view, pages, rows, note })
  const answer = html('', { viewed: file })
  const inOrder = Array.from({ length: inPage }, (_, k) => first + k)
  if (!sort) {
    const note = wanted.sort === undefined ? '' : 'The column to sort by is no longer in this grid.'
    return { ...answer, body: await page(inOrder, note) }
  }
  const sorted = async () => {
    const key = `${formatFid(file)} ${file.version} ${opened.state} ${sort.uid}`
    let rows: readonly number[] = inOrder
    let note = ''
    try {
      const order = await service.orders.order(key, snap, sort)
      rows = inOrder.map((k) => {
        const at = view.descending && k < order.values ? order.values - 1 - k : k
        return order.rows[at]
      })
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'too_large') throw error
      view.sort = undefined
      note = `${error.message}. The rows are shown in their own order.`
    }
    return { body: once(Buffer.from(await page(rows, note))), type: answer.type }
  }
  return { ...answer, later: (user, gone) => service.orders.inTurn(user, sorted, gone) }
}

interface GridView {
  snap: Snapshot
  shown: SnapshotColumn[]
  /** How many columns the grid has. */
  count: number
  columnPages: number
  view: View
  pages: number
  /** Row numbers of this page, from 0. */
  rows: readonly number[]
  note: string
}

async function htmlOf(
  service: Service,
  principal: Principal,
  file: FileRow,
  { snap, shown, count, columnPages, view, pages, rows, note }: GridView,
): Promise<string> {
  const { shareKey } = principal
  const key = shareKeyQuery(shareKey)
  const self = webUrl(service.url, file)
  const to = (change: Partial<View>): string => {
    const { page, columns, sort, descending } = { ...view, ...change }
    const url = withQuery(
      self,
      page > 1 && `page=${page}`,
      columns > 1 && `columns=${columns}`,
      sort !== undefined && `sort=${encodeURIComponent(sort)}`,
      sort !== undefined && descending && 'order=desc',
      key,
    )
    return text(url)
  }
  const fid = formatFid(file)
  const content = service.url + pathOf('grids.content', fid)
  const download = (what: string, ...parameters: string[]): string =>
    `<a href="${text(withQuery(content, ...parameters, key))}">${what}</a>`
  const most = view.sort === undefined ? READ_BYTES : SORTED_READ_BYTES
  const readable = affordable(shown, rows, most)
  const values = await valuesAt(snap, readable, rows)
  const columns = readable.map((column, k): TableColumn => {
    const sorted = view.sort === column.uid
    const link = to({ sort: column.uid, descending: sorted && !view.descending, page: 1 })
    const direction = view.descending ? 'descending' : 'ascending'
    return {
      head: `<a href="${link}">${text(column.name)}</a>${sorted ? (view.descending ? ' ↓' : ' ↑') : ''}<span class="type">${typeName(column.type)}</span>`,
      attributes: sorted ? ` aria-sort="${direction}"` : '',
      values: values[k],
    }
  })
  const notes = [note]
  if (readable.length < shown.length)
    notes.push(
      `Only ${readable.length} of these ${shown.length} columns are shown: the others are too large for a page. The CSV file has all of them.`,
    )
  const parts = [
    `<p>${summaryOf(file)}</p>`,
    `<p>${snap.rows.toLocaleString('en')} rows, ${count.toLocaleString('en')} ${count === 1 ? 'column' : 'columns'} · ${download('CSV', 'format=csv')} · ${download('JSON')} · <code>gridline cat ${text(fid)}</code></p>`,
    ...notes.filter(Boolean).map((one) => `<p class="note">${text(one)}</p>`),
    pager('Rows', pages, view.page, (page) => to({ page })),
    await table(columns, rows),
    pager('Rows', pages, view.page, (page) => to({ page })),
    pager('Columns', columnPages, view.columns, (page) => to({ columns: page })),
  ]
  if (view.sort !== undefined) parts.push(`<p><a href="${to({ sort: undefined })}">Original order</a></p>`)
  if (pages > 10) {
    const hidden = [
      ['sort', view.sort],
      ['order', view.sort !== undefined && view.descending ? 'desc' : undefined],
      ['columns', view.columns > 1 ? String(view.columns) : undefined],
      ['share_key', shareKey],
    ]
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `<input type="hidden" name="${name}" value="${text(value!)}">`)
    parts.push(
      `<form method="get" action="${text(self)}"><label>Page <input class="short" type="number" name="page" min="1" max="${pages}" value="${view.page}"></label>${hidden.join('')} <button type="submit">Go</button></form>`,
    )
  }
  return document(file.filename, parts.join('\n'), { user: principal.caller?.username ?? null })
}

function pager(what: string, pages: number, page: number, to: (page: number) => string): string {
  if (pages <= 1) return ''
  const link = (label: string, target: number): string =>
    target === page || target < 1 || target > pages
      ? `<span aria-disabled="true">${label}</span>`
      : `<a href="${to(target)}">${label}</a>`
  return `<nav class="pager" aria-label="${what}">${what}: ${link('First', 1)} ${link('Previous', page - 1)} <span>page ${page.toLocaleString('en')} of ${pages.toLocaleString('en')}</span> ${link('Next', page + 1)} ${link('Last', pages)}</nav>`
}
