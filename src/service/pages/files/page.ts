/** Page of a file. */
import type { Fid } from '../../../contract/fid.ts'
import { authorize, type Principal } from '../../access/access.ts'
import { findVersion } from '../../files/versions.ts'
import { contentOf } from '../../plots/content.ts'
import { type Answer, html } from '../answer.ts'
import { document, schemeIn } from '../html.ts'
import { folderPage } from './folder-page.ts'
import { gridPage, type SortingService } from './grid-page.ts'
import { summaryOf } from './lists.ts'
import { plotPage } from './plot-page.ts'

/** Renders the page of a file by its type. Throws `not_found` if `principal` may not read the file. */
export async function pageOf(
  service: SortingService,
  principal: Principal,
  fid: Fid,
  query: URLSearchParams,
): Promise<Answer> {
  const { file, content, version } = await service.store.read(async (readers) => {
    const row = await readers.files.get(fid.owner, fid.idlocal)
    const authorized = await authorize(readers, row, principal, { access: 'read' })
    const { file } = authorized
    const version = await findVersion(readers, authorized, principal.version)
    return {
      file,
      content: file.filetype === 'plot' ? await contentOf(readers, authorized, principal) : undefined,
      version,
    }
  })
  switch (file.filetype) {
    case 'plot':
      return plotPage(service, principal, { file, content: content! }, query, version)
    case 'grid':
      return gridPage(service, principal, file, query, version)
    case 'fold':
      return folderPage(service, principal, file, query)
    case 'extra':
      return html(
        document(file.filename, `<p>${summaryOf(file)}</p>`, {
          user: principal.caller?.username ?? null,
          scheme: schemeIn(query, 'auto'),
        }),
        { viewed: fid },
      )
  }
}
