/** Page of a file. */
import type { Fid } from '../../../contract/fid.ts'
import { authorize, type Principal } from '../../access/access.ts'
import { resolveVersionRef } from '../../files/versions.ts'
import { findFigureContent } from '../../plots/content.ts'
import type { LiveService } from '../../plots/live-plots.ts'
import { createPage, type PageAnswer } from '../answer.ts'
import { readColorScheme, renderDocument } from '../html.ts'
import { renderBoardPage } from './board-page.ts'
import { renderSummary } from './file-lists.ts'
import { renderFolderPage } from './folder-page.ts'
import { renderGridPage, type SortingService } from './grid-page.ts'
import { renderPlotPage } from './plot-page.ts'

/** Renders the page of a file by its type. Throws `not_found` if `principal` may not read the file. */
export async function renderFilePage(
  service: SortingService & LiveService,
  principal: Principal,
  fid: Fid,
  query: URLSearchParams,
): Promise<PageAnswer> {
  const { file, content, version } = await service.store.read(async (readers) => {
    const row = await readers.files.get(fid.owner, fid.idlocal)
    const authorized = await authorize(readers, row, principal, { access: 'read' })
    const { file } = authorized
    const version = await resolveVersionRef(readers, authorized, principal.version)
    return {
      file,
      content: file.filetype === 'plot' ? await findFigureContent(readers, authorized, principal) : undefined,
      version,
    }
  })
  switch (file.filetype) {
    case 'plot':
      return renderPlotPage(service, principal, { file, content: content! }, query, version)
    case 'grid':
      return renderGridPage(service, principal, file, query, version)
    case 'fold':
      return renderFolderPage(service, principal, file, query)
    case 'dashboard':
      return renderBoardPage(service, principal, file, query, version)
    case 'extra':
      return createPage(
        renderDocument(file.filename, `<p>${renderSummary(file)}</p>`, {
          user: principal.caller?.username ?? null,
          scheme: readColorScheme(query, 'auto'),
        }),
        { viewed: fid },
      )
  }
}
