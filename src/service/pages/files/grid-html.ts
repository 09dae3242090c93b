/** HTML of a grid page. */

import { formatFid, formatWebUrl } from '../../../contract/fid.ts'
import { escapeHtml } from '../../../contract/html.ts'
import { pathOf } from '../../../contract/operations/index.ts'
import { quoteShellWord } from '../../../contract/shell.ts'
import { hasLineEnds, LINE_ENDS_PARAMETER, showLineEnds } from '../../../contract/web/line-ends.ts'
import { formatSortKey, parseSort, quoteColumnName, type SortKey } from '../../../query/index.ts'
import type { Caller, Principal } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'
import { fileEtag } from '../../core/etag.ts'
import { formatDraftUrl } from '../../files/drafts.ts'
import type { ResolvedVersion } from '../../files/versions.ts'
import type { Snapshot, SnapshotColumn } from '../../grids/column/snapshot.ts'
import { readValuesAt, selectAffordable } from '../../grids/column/values-at.ts'
import type { ContentFormat } from '../../grids/read/content-formats.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import { familyOf } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'
import { siteOptionsOf } from '../answer.ts'
import { assetPathOf } from '../assets.ts'
import {
  accessQueryOf,
  appendQuery,
  type ColorScheme,
  renderActionButton,
  renderData,
  renderDocument,
} from '../html.ts'
import { renderAlertNote } from './alert-note.ts'
import { renderDerivationNote } from './derivation-note.ts'
import { loadFileAccess, renderFileActions } from './file-actions.ts'
import { renderBreadcrumbs, renderSummary } from './file-lists.ts'
import { renderTable, type TableColumn } from './table.ts'
import { renderVersionNote } from './version-note.ts'

/** Maximum number of charts listed on the page of a draft. */
const MAX_DRAFT_PLOTS = 50
/** Maximum size of the slices that a page reads. */
const MAX_READ_BYTES = 64 * 1024 * 1024
/** Maximum size for sorted rows, which can be anywhere in the grid. */
const MAX_SORTED_READ_BYTES = 256 * 1024 * 1024

/** Query parameters of the page. `columns`: page of columns, from 1; `where` and `sort`: as in the API. */
export interface GridQuery {
  page: number
  columns: number
  where: string | undefined
  sort: string | undefined
}

/** A page of a grid. */
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
export class GridRenderer {
  private readonly key: string
  private readonly pageUrl: string

  constructor(
    private readonly service: Service,
    private readonly principal: Principal,
    private readonly file: FileRow,
    private readonly grid: GridView,
  ) {
    this.key = accessQueryOf(principal)
    this.pageUrl = formatWebUrl(service.url, file)
  }

  async render(): Promise<string> {
    const { service, principal, file, key } = this
    const { shown, columnPages, view, pages, rows, note, scheme, version } = this.grid
    const readable = this.selectReadable()
    const notes = [note]
    if (readable.length < shown.length)
      notes.push(
        `Only ${readable.length} of these ${shown.length} columns are shown: the others are too large for a page. The CSV file has all of them.`,
      )
    const isOwner = principal.caller?.username === file.owner
    const { above, access, derivation, alerts } = await service.store.read(async (readers) => {
      const access = await loadFileAccess(readers, file, principal)
      return {
        above: await renderBreadcrumbs(service, readers, principal, file),
        access,
        derivation: await renderDerivationNote(service, readers, file, {
          isOwner,
          canWrite: access.canWrite,
        }),
        alerts: await renderAlertNote(readers, file, isOwner),
      }
    })
    const isEditable =
      access.canWrite &&
      !access.isVersion &&
      !access.isTrashed &&
      !file.derived &&
      principal.shareKey === undefined
    const rowPager = renderPager('Rows', pages, view.page, (page) => this.linkTo({ page }))
    const parts = [
      renderVersionNote(service, file, version, key),
      derivation,
      alerts,
      await this.renderDraftCharts(),
      `<p>${renderSummary(file)}</p>`,
      this.renderCounts(),
      // Readers with a share key cannot create charts of the grid.
      principal.caller === undefined ||
      principal.shareKey !== undefined ||
      access.isVersion ||
      access.isTrashed
        ? undefined
        : renderGridActions(principal.caller, file, view.where, {
            isEditable,
            hasQueries: service.hasQueries,
          }),
      renderFileActions(file, principal, access),
      this.renderFilterForm(),
      ...notes.filter(Boolean).map((warning) => `<p class="note">${escapeHtml(warning)}</p>`),
      await renderTable(await this.createTableColumns(readable), rows),
      rowPager,
      renderPager('Columns', columnPages, view.columns, (page) => this.linkTo({ columns: page })),
      view.sort === undefined
        ? undefined
        : `<p><a href="${this.linkTo({ sort: undefined })}">Original order</a></p>`,
      pages > 10 ? this.renderPageForm() : undefined,
      renderCommand(formatFid(file), view.where),
    ]
    // Data that is dropped on the page changes the grid.
    const context = isEditable && isOwner ? { grid: formatFid(file), name: file.filename } : {}
    const next = this.urlTo({}).slice(service.url.length)
    const { scripts: siteScripts = [], ...site } = siteOptionsOf(principal.caller)
    const scripts = [...siteScripts, assetPathOf('pick-rows.js')]
    const options = { ...site, scripts, context, scheme, next }
    const html = parts.filter((part) => part !== undefined).join('\n')
    return renderDocument(file.filename, html, { above, ...options })
  }

  /** Returns a link to the page with other query parameters, as HTML. */
  private linkTo(change: Partial<GridQuery>): string {
    return escapeHtml(this.urlTo(change))
  }

  /** Returns the URL of the page with other query parameters. */
  private urlTo(change: Partial<GridQuery>): string {
    const { page, columns, sort, where } = { ...this.grid.view, ...change }
    return appendQuery(
      this.pageUrl,
      page > 1 && `page=${page}`,
      columns > 1 && `columns=${columns}`,
      ...formatQueryParameters({ sort, where }),
      this.key,
    )
  }

  /** Returns the columns of the page whose values are small enough. */
  private selectReadable(): SnapshotColumn[] {
    const { snap, shown, rows, view } = this.grid
    const maxBytes = view.sort === undefined ? MAX_READ_BYTES : MAX_SORTED_READ_BYTES
    return selectAffordable(snap, shown, rows, maxBytes)
  }

  /** Reads the values of columns, and creates their heads: links that sort. */
  private async createTableColumns(columns: readonly SnapshotColumn[]): Promise<TableColumn[]> {
    const { snap, rows, view } = this.grid
    const values = await readValuesAt(snap, columns, rows)
    const [mainKey] = parseSortKeys(view.sort)
    return columns.map(({ name, type }, k): TableColumn => {
      const sorted = mainKey?.name === name
      const descending = sorted && mainKey.descending
      const link = this.linkTo({ sort: formatSortKey({ name, descending: sorted && !descending }), page: 1 })
      return {
        head: `<a href="${link}">${escapeHtml(name)}</a>${sorted ? (descending ? ' ↓' : ' ↑') : ''}<span class="type">${columnTypeLabel(type)}</span>`,
        attributes: `${columnTypeLabel(type) === 'number' ? ' class="n"' : ''}${renderData({ column: quoteColumnName(name), type: columnTypeLabel(type) })}${sorted ? ` aria-sort="${descending ? 'descending' : 'ascending'}"` : ''}`,
        values: values[k],
      }
    })
  }

  /** Renders the numbers of rows and columns, and the links to downloads. */
  private renderCounts(): string {
    const { snap, chosen, count, view } = this.grid
    const { version } = this.principal
    const fid = formatFid(this.file)
    const content = this.service.url + pathOf('grids.content', fid)
    const link = (what: string, attributes: string, ...parameters: string[]): string =>
      `<a href="${escapeHtml(appendQuery(content, ...parameters, ...formatQueryParameters(view), this.key))}"${attributes}>${what}</a>`
    const download = (what: string, format: ContentFormat): string =>
      link(what, ` download="${escapeHtml(`${this.file.filename}.${format}`)}"`, `format=${format}`)
    return `<p>${chosen < snap.rows ? `${chosen.toLocaleString('en')} of ` : ''}${snap.rows.toLocaleString('en')} ${snap.rows === 1 ? 'row' : 'rows'}, ${count.toLocaleString('en')} ${count === 1 ? 'column' : 'columns'} · ${download('CSV', 'csv')} · ${download('XLSX', 'xlsx')} · ${download('Parquet', 'parquet')} · ${link('HTML', '', 'format=html')} · ${link('JSON', '')} · <code>gridline cat ${escapeHtml(quoteShellWord(fid + (version === undefined ? '' : `@${version}`)))}</code></p>`
  }

  private renderFilterForm(): string {
    const { shown, asked, view } = this.grid
    const { where = '', ...kept } = showFields({ where: asked, sort: view.sort })
    return `<form method="get" action="${escapeHtml(this.pageUrl)}" class="filter"><label>Where <input name="where" value="${escapeHtml(where)}" placeholder="${escapeHtml(exampleCondition(shown))}" size="40" maxlength="10000"></label>${this.renderHiddenFields(kept)} <button type="submit">Filter</button>${view.where === undefined ? '' : ` <a href="${this.linkTo({ where: undefined, page: 1 })}">All rows</a>`}</form>`
  }

  /** Renders the form that opens a page by its number. */
  private renderPageForm(): string {
    const { view, pages } = this.grid
    return `<form method="get" action="${escapeHtml(this.pageUrl)}"><label>Page <input class="short" type="number" name="page" min="1" max="${pages}" value="${view.page}"></label>${this.renderHiddenFields(showFields(view))} <button type="submit">Go</button></form>`
  }

  /** Renders fields with values that a form keeps. */
  private renderHiddenFields(kept: Record<string, string | undefined>): string {
    const { columns } = this.grid.view
    const { shareKey, version } = this.principal
    return Object.entries({
      ...kept,
      columns: columns > 1 ? String(columns) : undefined,
      share_key: shareKey,
      version,
    })
      .flatMap(([name, value]) =>
        value === undefined
          ? []
          : `<input type="hidden" name="${name}" value="${escapeHtml(String(value))}">`,
      )
      .join('')
  }

  /** Renders links to the charts with the same draft; undefined if there are none. */
  private async renderDraftCharts(): Promise<string | undefined> {
    const { service, file } = this
    const draft = this.grid.version?.draft
    if (draft === undefined) return undefined
    const plots = await service.store.read(async (readers) =>
      readers.folders.filterActive(
        await readers.plots.listReferencers(file, 'grid', undefined, false, MAX_DRAFT_PLOTS),
      ),
    )
    const links = plots
      .filter((plot) => plot.owner === file.owner)
      .map((plot) => {
        const url = formatDraftUrl(formatWebUrl(service.url, plot), draft)
        return `<a href="${escapeHtml(url)}">${escapeHtml(plot.filename)}</a>`
      })
    return links.length > 0 ? `<p>Charts with this draft: ${links.join(', ')}</p>` : undefined
  }
}

/** Renders the command that creates a chart of the selected rows. */
function renderCommand(fid: string, where: string | undefined): string {
  const command = `gridline plot create --grid ${quoteShellWord(fid)}${where === undefined ? '' : ` --where ${quoteShellWord(where)}`}`
  return `<details><summary>Make a chart on the command line</summary><pre tabindex="0" id="command">${escapeHtml(command)}</pre><button type="button" data-copy="command" hidden>Copy</button><p>The type and the columns are chosen from the data; <code>gridline help plot create</code> has all options.</p></details>`
}

/** Renders the buttons that make a chart of the selected rows, and change the data. */
function renderGridActions(
  { username }: Caller,
  file: FileRow,
  where: string | undefined,
  { isEditable, hasQueries }: { isEditable: boolean; hasQueries: boolean },
): string {
  const parent = username === file.owner ? String(file.parent) : undefined
  const data = { fid: formatFid(file), name: file.filename }
  const make = renderActionButton('make', 'make.js', 'Make a chart', { ...data, where, parent }, 'primary')
  // Files are stored among those of the caller.
  const add =
    isEditable && username === file.owner
      ? renderActionButton('add-to', 'add.js', 'Replace or add data', data)
      : ''
  const rows = isEditable
    ? renderActionButton('rows', 'rows.js', 'Correct cells', { ...data, etag: fileEtag(file) })
    : ''
  const query = hasQueries ? renderActionButton('query', 'query.js', 'Query', { ...data, where }) : ''
  const summary = renderActionButton('summary', 'summary.js', 'Summary', { ...data, where })
  return `<div class="actions">${make} ${add} ${rows} ${summary} ${query}</div>`
}

/** Returns `where` and `sort` as fields of one line show them: all of a form show line ends, or none. */
function showFields({ sort, where }: Pick<GridQuery, 'sort' | 'where'>) {
  if (![sort, where].some((text) => text !== undefined && hasLineEnds(text))) return { sort, where }
  return { sort: sort && showLineEnds(sort), where: where && showLineEnds(where), [LINE_ENDS_PARAMETER]: '1' }
}

/** Returns the query parameters `where` and `sort`, for links to pages and the API. */
function formatQueryParameters({ sort, where }: Pick<GridQuery, 'sort' | 'where'>): (string | false)[] {
  return [
    where !== undefined && `where=${encodeURIComponent(where)}`,
    sort !== undefined && `sort=${encodeURIComponent(sort)}`,
  ]
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

/** Label of a column type. */
function columnTypeLabel(type: ColumnType): string {
  const family = familyOf(type)
  return family === 'json' ? 'mixed' : family
}
