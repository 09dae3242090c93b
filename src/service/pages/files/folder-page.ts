/** Page of a folder. */

import { formatFid, formatWebUrl } from '../../../contract/fid.ts'
import { escapeHtml } from '../../../contract/html.ts'
import { loadListScope, loadVisibleFile, type Principal, resolveVisibleFile } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { Readers } from '../../store/store.ts'
import { createSitePage, type PageAnswer } from '../answer.ts'
import { loadFileAccess, renderFileActions } from './file-actions.ts'
import { renderBreadcrumbs, renderFiles, renderSummary } from './file-lists.ts'

/** Maximum number of listed files. */
const MAX_FILES = 200

/** Renders the visible files, and how many are public. */
export async function renderFolderPage(
  service: Service,
  principal: Principal,
  folder: FileRow,
  query: URLSearchParams,
): Promise<PageAnswer> {
  const { caller } = principal
  const { children, above, access, path } = await service.store.read(async (readers) => ({
    children: await loadChildren(readers, folder, principal),
    above: await renderBreadcrumbs(service, readers, principal, folder),
    access: await loadFileAccess(readers, folder, principal),
    path: [...((await resolveVisibleFile(readers, folder, principal))?.above() ?? [])]
      .reverse()
      .concat(folder)
      .map(({ filename }) => filename)
      .join('/'),
  }))
  const isOwner = caller?.username === folder.owner
  const listed = children.slice(0, MAX_FILES)
  const publicCount = listed.filter(({ world_readable }) => world_readable).length
  const parts = [`<p>${renderSummary(folder)}</p>`, renderFileActions(folder, principal, access)]
  if (children.length === 0) parts.push('<p>This folder contains no files that you can see.</p>')
  else
    parts.push(
      `<p>${children.length > MAX_FILES ? `Of the first ${MAX_FILES} files in it, ${publicCount} are public.` : describePublic(publicCount, listed.length)}</p>`,
    )
  const pageUrl = formatWebUrl(service.url, folder)
  parts.push(await renderFiles(service, listed, { query, pageUrl, actions: isOwner ? 'files' : undefined }))
  if (children.length > MAX_FILES)
    parts.push(
      `<p>Only the first ${MAX_FILES} files are shown · <code>gridline ls ${escapeHtml(formatFid(folder))}</code></p>`,
    )
  // What is dropped on the page goes into the folder.
  const context = isOwner ? { folder: path } : {}
  return createSitePage(folder.filename, parts.join('\n'), caller, query, { above, context, viewed: folder })
}

/** Returns a sentence on how many files are public. */
function describePublic(publicCount: number, count: number): string {
  if (publicCount === 0)
    return count === 1 ? 'The file in it is private.' : `All ${count} files in it are private.`
  const all =
    count === 1 ? 'The file in it is' : publicCount === count ? `All ${count} files in it are` : undefined
  return `${all ?? `${publicCount} of the ${count} files in it ${publicCount === 1 ? 'is' : 'are'}`} public: everybody can see ${publicCount === 1 ? 'it' : 'them'}.`
}

/** Loads the first files of a folder that `principal` may see. */
async function loadChildren(
  readers: Readers,
  { owner, idlocal }: FileRow,
  { caller }: Principal,
): Promise<FileRow[]> {
  const folder = await loadVisibleFile(readers, { owner, idlocal }, { caller })
  if (folder?.state !== 'active') return []
  const viewer = await loadListScope(readers, owner, caller, folder)
  const query = { owner, parent: idlocal, viewer, order: 'filename', descending: false } as const
  return readers.lists.loadPage({ ...query, limit: MAX_FILES + 1 })
}
