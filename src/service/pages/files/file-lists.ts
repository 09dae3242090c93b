/** Lists of files, and other HTML that pages of files share. */

import { formatFid, formatWebUrl } from '../../../contract/fid.ts'
import { escapeHtml } from '../../../contract/html.ts'
import { pathOf } from '../../../contract/operations/index.ts'
import { filetypeLabel } from '../../../contract/resources/index.ts'
import { type Principal, resolveVisibleFile } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'
import { THUMBNAIL_SIZE } from '../../images/thumbnails.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { Readers } from '../../store/store.ts'
import { appendQuery, renderActionButton } from '../html.ts'
import { ICONS } from '../icons.ts'
import { renderFileData } from './file-actions.ts'

/** Maximum number of breadcrumbs. */
const MAX_CRUMBS = 20

/** Renders files as cards, with thumbnails of charts and icons of other files. */
export function renderFileCards(service: Service, files: readonly FileRow[], folders?: FolderNames): string {
  const items = files.map(
    (file) =>
      `<li${renderFileData(file)}><a href="${escapeHtml(formatWebUrl(service.url, file))}">${renderThumbnail(service, file)}<b>${escapeHtml(file.filename)}</b></a><span class="kind">${renderDetails(file, folders)}</span></li>`,
  )
  return `<ul class="cards">${items.join('\n')}</ul>`
}

/** Renders the picture of a file. Scripts show the first rows of a grid in it. */
function renderThumbnail(service: Service, file: FileRow): string {
  if (file.filetype === 'grid')
    return `<span class="thumb" data-rows="${escapeHtml(pathOf('grids.content', formatFid(file)))}">${ICONS.grid}</span>`
  if (file.filetype !== 'plot') return `<span class="thumb">${ICONS[file.filetype]}</span>`
  const image = `${formatWebUrl(service.url, file).slice(0, -1)}.png`
  const { width, height } = THUMBNAIL_SIZE
  const size = `width=${width}&height=${height}`
  const dark = `<source media="(prefers-color-scheme: dark)" srcset="${escapeHtml(appendQuery(image, size, 'theme=dark'))}">`
  // Until the picture is drawn, the tile says what it will show.
  return `<span class="thumb"><span class="blank" aria-hidden="true">${escapeHtml(file.filename)}</span><picture>${dark}<img src="${escapeHtml(appendQuery(image, size))}" alt="" width="${width}" height="${height}" loading="lazy"></picture></span>`
}

/** Where files are, for lists of several folders: names of folders by the fid of the file. */
export type FolderNames = ReadonlyMap<string, string>

/** Loads the names of the folders of files. */
export async function loadFolderNames(readers: Readers, files: readonly FileRow[]): Promise<FolderNames> {
  const folders = new Map<string, string>()
  const names = new Map<string, string>()
  for (const file of files) {
    if (file.parent < 0) continue
    const key = formatFid({ owner: file.owner, idlocal: file.parent })
    if (!folders.has(key))
      folders.set(key, (await readers.files.get(file.owner, file.parent))?.filename ?? '')
    names.set(formatFid(file), folders.get(key)!)
  }
  return names
}

function renderDetails(file: FileRow, folders?: FolderNames): string {
  const folder = folders?.get(formatFid(file))
  const place = folder ? ` · in ${escapeHtml(folder)}` : ''
  return `${filetypeLabel(file.filetype)} · ${accessLabelOf(file)} · ${renderDay(file)}${place}`
}

function renderDay({ date_modified }: FileRow): string {
  const iso = new Date(date_modified).toISOString()
  return `<time datetime="${iso}">${iso.slice(0, 10)}</time>`
}

/** Loads the sizes of grids as text (`rows × columns`), by fid. */
async function loadGridSizes(service: Service, files: readonly FileRow[]): Promise<Map<string, string>> {
  const grids = files.filter(({ filetype }) => filetype === 'grid')
  const sizes = new Map<string, string>()
  await service.store.read(async (readers) => {
    for (const owner of new Set(grids.map((file) => file.owner))) {
      const ids = grids.filter((file) => file.owner === owner).map(({ idlocal }) => idlocal)
      for (const { idlocal, rows, columns } of await readers.grids.listShapes(owner, ids))
        sizes.set(
          formatFid({ owner, idlocal }),
          `${rows.toLocaleString('en')} × ${columns.toLocaleString('en')}`,
        )
    }
  })
  return sizes
}

/** Renders files as a table, folders first. */
export async function renderFileTable(service: Service, files: readonly FileRow[]): Promise<string> {
  const sizes = await loadGridSizes(service, files)
  const rows = sortFoldersFirst(files).map(
    (file) =>
      `<tr${renderFileData(file)}><td>${ICONS[file.filetype]}<a href="${escapeHtml(formatWebUrl(service.url, file))}">${escapeHtml(file.filename)}</a></td><td>${filetypeLabel(file.filetype)}</td><td>${accessLabelOf(file)}</td><td class="n wide">${sizes.get(formatFid(file)) ?? ''}</td><td class="wide">${renderDay(file)}</td><td class="n wide">${file.views === 0 ? '' : file.views.toLocaleString('en')}</td></tr>`,
  )
  return `<table class="files"><thead><tr><th scope="col">Name</th><th scope="col">Kind</th><th scope="col">Access</th><th scope="col" class="n wide">Size</th><th scope="col" class="wide">Changed</th><th scope="col" class="n wide">Views</th></tr></thead><tbody>
${rows.join('\n')}
</tbody></table>`
}

function sortFoldersFirst(files: readonly FileRow[]): FileRow[] {
  return [...files].sort((a, b) => Number(b.filetype === 'fold') - Number(a.filetype === 'fold'))
}

/** Options of a list of files. */
interface FilesView {
  query: URLSearchParams
  /** URL of the page; the other view is at the same one. */
  pageUrl: string
  /** The actions on several files at once; undefined for readers who have none. */
  actions?: 'files' | 'trash'
  /** Folders of the files, in lists of several folders. */
  folders?: FolderNames
}

/** Renders files as pictures, or as a table (`?view=list`), with a link to the other view. */
export async function renderFiles(
  service: Service,
  files: readonly FileRow[],
  { query, pageUrl, actions, folders }: FilesView,
): Promise<string> {
  const isList = query.get('view') === 'list'
  const show = query.get('show')
  const kept = show !== null && `show=${encodeURIComponent(show)}`
  const otherView = isList
    ? `<a href="${escapeHtml(appendQuery(pageUrl, kept))}">As pictures</a>`
    : `<a href="${escapeHtml(appendQuery(pageUrl, kept, 'view=list'))}">As a list</a>`
  const select = actions ? renderActionButton('select', 'files.js', 'Select', { actions }) : ''
  const newFolder = actions === 'files' ? renderActionButton('new-folder', 'files.js', 'New folder') : ''
  const list = isList
    ? await renderFileTable(service, files)
    : renderFileCards(service, sortFoldersFirst(files), folders)
  return `<div class="actions">${otherView} ${files.length > 0 ? select : ''} ${newFolder}</div>${files.length > 0 ? list : ''}`
}

/** Renders breadcrumbs: the owner and the ancestor folders that the caller may see. */
export async function renderBreadcrumbs(
  service: Service,
  readers: Readers,
  { caller }: Principal,
  file: FileRow,
): Promise<string> {
  const folders = (await resolveVisibleFile(readers, file, { caller }))?.above() ?? []
  const above = folders
    .slice(0, MAX_CRUMBS)
    .reverse()
    .map(
      (folder) =>
        `<a href="${escapeHtml(formatWebUrl(service.url, folder))}">${escapeHtml(folder.filename)}</a>`,
    )
  const home = `<a href="/~${escapeHtml(file.owner)}/">${escapeHtml(file.owner)}</a>`
  return `<nav class="crumbs" aria-label="Folders">${[home, ...above].join(' <span>/</span> ')} <span>/</span></nav>\n`
}

/** Renders type, owner, access and modification time of a file. */
export function renderSummary(file: FileRow): string {
  const iso = new Date(file.date_modified).toISOString()
  const kind = filetypeLabel(file.filetype)
  return `${kind[0].toUpperCase()}${kind.slice(1)} by <a href="/~${escapeHtml(file.owner)}/">${escapeHtml(file.owner)}</a> · ${accessLabelOf(file)} · changed <time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`
}

function accessLabelOf({ world_readable, share_key }: FileRow): string {
  if (world_readable) return 'public'
  return share_key === null ? 'private' : 'private, with a secret link'
}
