/** Page of a board: charts, tables, numbers and text. */
import { formatWebUrl } from '../../../contract/fid.ts'
import { escapeHtml } from '../../../contract/html.ts'
import { FILTER_PREFIX, listFilters } from '../../../contract/web/filter-query.ts'
import { toByteStream } from '../../../json/index.ts'
import type { Principal, RowFilter } from '../../access/access.ts'
import { parseBoard, type StoredBoard, toNode } from '../../boards/content.ts'
import { filtersOf, parseRowFilter } from '../../boards/filters.ts'
import { loadBoardText } from '../../boards/load.ts'
import { CHART_SANDBOX, createChartPolicy } from '../../core/chart-policy.ts'
import { choosePlotlyBuild } from '../../core/plotly-builds.ts'
import type { ResolvedVersion } from '../../files/versions.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import { createPage, createSitePage, type PageAnswer } from '../answer.ts'
import { assetPathOf } from '../assets.ts'
import { accessQueryOf, appendQuery, readColorScheme } from '../html.ts'
import { renderActiveFilters, renderFilters } from './board-filters.ts'
import { createLiveReader, renderNode } from './board-items.ts'
import { loadFileAccess, renderFileActions } from './file-actions.ts'
import { renderBreadcrumbs, renderSummary } from './file-lists.ts'
import type { SortingService } from './grid-page.ts'
import { renderVersionNote } from './version-note.ts'

/** Renders the page of a board. Each reader sees the items that they may read. */
export async function renderBoardPage(
  service: SortingService,
  principal: Principal,
  file: FileRow,
  query: URLSearchParams,
  version: ResolvedVersion | undefined,
): Promise<PageAnswer> {
  const stored = parseBoard(await loadBoardText(service, file))
  const node = toNode(stored)
  const filter = parseRowFilter(stored, query)
  const scheme = readColorScheme(query, 'auto')
  const { above, access } = await service.store.read(async (readers) => ({
    above: await renderBreadcrumbs(service, readers, principal, file),
    access: await loadFileAccess(readers, file, principal),
  }))
  const key = accessQueryOf(principal)
  // What a draft or a past time shows does not follow.
  const follow = version ? '' : `${formatWebUrl(service.url, file).slice(0, -1)}.events${key && `?${key}`}`
  const page = (board: string): PageAnswer =>
    createSitePage(
      file.filename,
      `<p>${renderSummary(file)}</p>\n${renderVersionNote(service, file, version, query.toString())}${renderFileActions(file, principal, access)}${renderDownloads(service, file, principal, chosenFilters(stored, query))}\n<div class="board"${follow && ` data-follow="${escapeHtml(follow)}"`}>${board}</div>`,
      principal.caller,
      query,
      { above, viewed: file, scripts: [assetPathOf('board.js')] },
    )
  const answer = page('')
  return {
    ...answer,
    later: async (user, work) => {
      const reader = createLiveReader(
        { service, principal, file, filter, version, scheme, isFollowed: !version },
        user,
        work,
      )
      const items = await renderNode(reader, node)
      const controls = await renderFilters(reader, node, filtersOf(stored), query)
      // For print, which shows no lists.
      const chosen = `<div class="chosen">${renderActiveFilters(filtersOf(stored), filter)}</div>`
      const { body, type } = page(controls + chosen + items)
      return { body: toByteStream(Buffer.from(body as string)), type }
    },
  }
}

/** Returns the filters in the query of a page, of those that the board offers. */
function chosenFilters(board: StoredBoard, query: URLSearchParams): RowFilter {
  const offered = new Set(filtersOf(board).map(({ column }) => column))
  return listFilters(query).filter(({ column }) => offered.has(column))
}

/** Renders the links to files of a board, with the filter of the page. */
function renderDownloads(
  { url }: Pick<SortingService, 'url'>,
  file: FileRow,
  principal: Principal,
  filters: RowFilter,
): string {
  const page = formatWebUrl(url, file).slice(0, -1)
  const values = filters.map(({ column, value }) => {
    return `${encodeURIComponent(FILTER_PREFIX + column)}=${encodeURIComponent(value)}`
  })
  const links = (['png', 'pdf', 'html'] as const).map((format) => {
    const query = [accessQueryOf(principal), ...values, format === 'png' && 'scale=2', 'download']
    const address = appendQuery(`${page}.${format}`, ...query)
    return `<a href="${escapeHtml(address)}">${format.toUpperCase()}</a>`
  })
  return `<p class="downloads">Download: ${links.join(' · ')}</p>`
}

/**
 * `/board-charts`: draws the charts of a board in one opaque origin. It lies over the board, whose script sends it the
 * figures and their places; then it reads changes with their signed texts.
 */
export function renderBoardCharts({ url }: Pick<SortingService, 'url'>): PageAnswer {
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>Charts</title>
<link rel="preload" as="script" href="${assetPathOf(choosePlotlyBuild([]).name)}">
<style>
html, body { margin: 0; background: transparent; font: 15px/1.5 system-ui, sans-serif }
.box { position: absolute; display: flex; flex-direction: column; overflow: auto; contain: strict }
.box > div { flex: 1; min-height: 0 }
.box > p { position: absolute; margin: 1rem }
</style>
<body><script src="${assetPathOf('board-charts.js')}"></script>
</html>
`
  const policy = { sandbox: CHART_SANDBOX, others: [`connect-src ${url}/`, "frame-ancestors 'self'"] }
  return createPage(page, { headers: { 'content-security-policy': createChartPolicy(policy) } })
}
