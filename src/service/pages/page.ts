import { type Fid, formatFid, webUrl } from '../../contract/fid.ts'
import { pathOf } from '../../contract/operations/index.ts'
import { authorize, filetypeNames, type Principal, visibleFile, visibleTo } from '../access/access.ts'
import type { Service } from '../core/context.ts'
import { etag } from '../core/etag.ts'
import { contentJson, snapshot } from '../grids/content.ts'
import type { FileRow } from '../store/files.ts'
import type { Readers } from '../store/store.ts'
import { document, shareKeyQuery, text } from './html.ts'
import type { Answer } from './place.ts'
import { plotPage } from './plot-page.ts'
import { table } from './table.ts'

const ROWS = 100
const COLUMNS = 200
const CHILDREN = 200

/**
 * The page at `web_url`: a chart, the first rows of a grid or the files of a folder, with downloads. Throws
 * `not_found` if `principal` may not read the file.
 */
export async function pageOf(service: Service, principal: Principal, fid: Fid): Promise<Answer> {
  const found = await service.store.read(async (readers) => {
    const row = await readers.files.get(fid.owner, fid.idlocal)
    const { file } = await authorize(readers, row, principal, { access: 'read' })
    return {
      file,
      snap:
        file.filetype === 'grid'
          ? await snapshot(service.store, readers, fid, (all) => all.slice(0, COLUMNS))
          : undefined,
      children: file.filetype === 'fold' ? await childrenOf(readers, fid, principal) : undefined,
    }
  })
  const { file, snap, children } = found
  if (file.filetype === 'plot') return plotPage(service, principal, file)
  // Pass the share key on in all links.
  const key = shareKeyQuery(principal.shareKey)
  const link = (path: string, what: string, ...parameters: string[]): string => {
    const query = [...parameters, key].filter(Boolean).join('&')
    return `<a href="${text(service.url + path + (query && `?${query}`))}">${what}</a>`
  }
  const fidText = text(formatFid(fid))
  const parts = [
    `<p>${filetypeNames[file.filetype]} of ${text(file.owner)} · ${file.world_readable ? 'public' : 'private'} · changed ${text(new Date(file.date_modified).toISOString().slice(0, 16).replace('T', ' '))} UTC</p>`,
  ]
  if (snap) {
    parts.push(
      `<p>${snap.rows.toLocaleString('en')} rows · ${link(pathOf('grids.content', formatFid(fid)), 'CSV', 'format=csv')} · ${link(pathOf('grids.content', formatFid(fid)), 'JSON')} · <code>gridline cat ${fidText}</code></p>`,
      await table(contentJson(snap, ROWS)),
    )
    if (snap.rows > ROWS) parts.push(`<p>Only the first ${ROWS} rows are shown.</p>`)
  }
  if (children) {
    const items = children
      .slice(0, CHILDREN)
      .map(
        (one) =>
          `<li><a href="${text(webUrl(service.url, one))}">${text(one.filename)}</a> ${filetypeNames[one.filetype]}</li>`,
      )
    parts.push(
      children.length === 0
        ? '<p>This folder contains no files that you can see.</p>'
        : `<ul>${items.join('\n')}</ul>`,
    )
    if (children.length > CHILDREN)
      parts.push(`<p>Only the first ${CHILDREN} files are shown · <code>gridline ls ${fidText}</code></p>`)
  }
  return {
    body: document(file.filename, parts.join('\n'), { user: principal.caller?.username ?? null }),
    type: 'text/html; charset=utf-8',
    // A folder changes with its content, without a change of the file.
    etag: children ? undefined : etag(file),
    viewed: fid,
  }
}

/** The first files of a folder that `principal` may see. */
async function childrenOf(
  readers: Readers,
  { owner, idlocal }: Fid,
  principal: Principal,
): Promise<FileRow[]> {
  const visible = await visibleTo(readers, owner, principal.caller)
  const query = { owner, parent: idlocal, visible, order: 'filename', descending: false } as const
  const children: FileRow[] = []
  for (const file of await readers.files.list({ ...query, limit: CHILDREN + 1 }))
    if (await visibleFile(readers, file, { caller: principal.caller })) children.push(file)
  return children
}
