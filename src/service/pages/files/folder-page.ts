/** Page of a folder. */
import { formatFid, webUrl } from '../../../contract/fid.ts'
import { type Principal, viewerOf, visibleFileById } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { Readers } from '../../store/store.ts'
import { type Answer, html } from '../answer.ts'
import { assetPath } from '../assets.ts'
import { document, schemeIn, text } from '../html.ts'
import { crumbsOf, filesIn, summaryOf } from './lists.ts'

/** Maximum number of listed files. */
const FILES = 200

/** Renders the visible files, and how many are public. */
export async function folderPage(
  service: Service,
  principal: Principal,
  folder: FileRow,
  query: URLSearchParams,
): Promise<Answer> {
  const { caller } = principal
  const { children, above } = await service.store.read(async (readers) => ({
    children: await childrenOf(readers, folder, principal),
    above: await crumbsOf(service, readers, principal, folder),
  }))
  const listed = children.slice(0, FILES)
  const publicCount = listed.filter(({ world_readable }) => world_readable).length
  const parts = [`<p>${summaryOf(folder)}</p>`]
  if (children.length === 0) parts.push('<p>This folder contains no files that you can see.</p>')
  else
    parts.push(
      `<p>${children.length > FILES ? `Of the first ${FILES} files in it, ${publicCount} are public.` : publicOf(publicCount, listed.length)}</p>`,
      await filesIn(service, listed, query, webUrl(service.url, folder)),
    )
  if (children.length > FILES)
    parts.push(
      `<p>Only the first ${FILES} files are shown · <code>gridline ls ${text(formatFid(folder))}</code></p>`,
    )
  return html(
    document(folder.filename, parts.join('\n'), {
      above,
      user: caller?.username ?? null,
      scheme: schemeIn(query, 'auto'),
      scripts: [assetPath('page.js')],
    }),
    { viewed: folder },
  )
}

/** Returns a sentence on how many files are public. */
function publicOf(publicCount: number, count: number): string {
  if (publicCount === 0)
    return count === 1 ? 'The file in it is private.' : `All ${count} files in it are private.`
  const all =
    count === 1 ? 'The file in it is' : publicCount === count ? `All ${count} files in it are` : undefined
  return `${all ?? `${publicCount} of the ${count} files in it ${publicCount === 1 ? 'is' : 'are'}`} public: everybody can see ${publicCount === 1 ? 'it' : 'them'}.`
}

/** Loads the first files of a folder that `principal` may see. */
async function childrenOf(
  readers: Readers,
  { owner, idlocal }: FileRow,
  { caller }: Principal,
): Promise<FileRow[]> {
  const folder = await visibleFileById(readers, { owner, idlocal }, { caller })
  if (folder?.state !== 'active') return []
  const viewer = await viewerOf(readers, owner, caller, folder)
  const query = { owner, parent: idlocal, viewer, order: 'filename', descending: false } as const
  return readers.lists.page({ ...query, limit: FILES + 1 })
}
