/** Page of a board: charts, tables, numbers and text. */
import { formatWebUrl } from '../../../contract/fid.ts'
import { escapeHtml } from '../../../contract/html.ts'
import { toByteStream } from '../../../json/index.ts'
import type { Principal } from '../../access/access.ts'
import { parseBoard, toNode } from '../../boards/content.ts'
import { loadBoardText } from '../../boards/load.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import { createSitePage, type PageAnswer } from '../answer.ts'
import { accessQueryOf, readColorScheme } from '../html.ts'
import { createFrames, renderNode } from './board-items.ts'
import { loadFileAccess, renderFileActions } from './file-actions.ts'
import { renderBreadcrumbs, renderSummary } from './file-lists.ts'
import type { SortingService } from './grid-page.ts'

/** Maximum time in which the items of a board are read, in ms. */
const MAX_READ_MS = 10_000

/** Renders the page of a board. Each reader sees the items that they may read. */
export async function renderBoardPage(
  service: SortingService,
  principal: Principal,
  file: FileRow,
  query: URLSearchParams,
): Promise<PageAnswer> {
  const node = toNode(parseBoard(await loadBoardText(service, file)))
  const scheme = readColorScheme(query, 'auto')
  const { above, access } = await service.store.read(async (readers) => ({
    above: await renderBreadcrumbs(service, readers, principal, file),
    access: await loadFileAccess(readers, file, principal),
  }))
  const key = accessQueryOf(principal)
  const follow = `${formatWebUrl(service.url, file).slice(0, -1)}.events${key && `?${key}`}`
  const page = (board: string): PageAnswer =>
    createSitePage(
      file.filename,
      `<p>${renderSummary(file)}</p>\n${renderFileActions(file, principal, access)}\n<div class="board" data-follow="${escapeHtml(follow)}">${board}</div>`,
      principal.caller,
      query,
      { above, viewed: file },
    )
  const answer = page('')
  return {
    ...answer,
    later: async (user, work) => {
      const deadline = performance.now() + MAX_READ_MS
      const renderPlot = createFrames(service, scheme)
      const reader = { owner: file.owner, service, principal, renderPlot, user, work, deadline }
      const { body, type } = page(await renderNode(reader, node))
      return { body: toByteStream(Buffer.from(body as string)), type }
    },
  }
}
