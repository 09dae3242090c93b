/** Lists of files, and other HTML that pages of files share. */
import { formatFid, webUrl } from '../../../contract/fid.ts'
import { filetypeName } from '../../../contract/resources/index.ts'
import { type Principal, visibleFile } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { Readers } from '../../store/store.ts'
import { text, withQuery } from '../html.ts'
import { ICONS } from '../icons.ts'

/** Size of thumbnails, in CSS pixels. */
const THUMB_WIDTH = 480
const THUMB_HEIGHT = 300
/** Maximum number of breadcrumbs. */
const MAX_CRUMBS = 20

/** Renders files as cards, with thumbnails of charts and icons of other files. */
export function fileCards(service: Service, files: readonly FileRow[]): string {
  const items = files.map(
    (file) =>
      `<li><a href="${text(webUrl(service.url, file))}"><span class="thumb">${thumbOf(service, file)}</span><b>${text(file.filename)}</b></a><span class="kind">${detailsOf(file)}</span></li>`,
  )
  return `<ul class="cards">${items.join('\n')}</ul>`
}

function thumbOf(service: Service, file: FileRow): string {
  if (file.filetype !== 'plot') return ICONS[file.filetype]
  const image = `${webUrl(service.url, file).slice(0, -1)}.png`
  const size = `width=${THUMB_WIDTH}&height=${THUMB_HEIGHT}`
  const dark = `<source media="(prefers-color-scheme: dark)" srcset="${text(withQuery(image, size, 'theme=dark'))}">`
  return `<picture>${dark}<img src="${text(withQuery(image, size))}" alt="" width="${THUMB_WIDTH}" height="${THUMB_HEIGHT}" loading="lazy"></picture>`
}

function detailsOf(file: FileRow): string {
  return `${filetypeName(file.filetype)} · ${accessOf(file)} · ${dayOf(file)}`
}

function dayOf({ date_modified }: FileRow): string {
  const iso = new Date(date_modified).toISOString()
  return `<time datetime="${iso}">${iso.slice(0, 10)}</time>`
}

/** Loads the sizes of grids as text (`rows × columns`), by fid. */
async function sizesOf(service: Service, files: readonly FileRow[]): Promise<Map<string, string>> {
  const grids = files.filter(({ filetype }) => filetype === 'grid')
  const sizes = new Map<string, string>()
  await service.store.read(async (readers) => {
    for (const owner of new Set(grids.map((file) => file.owner))) {
      const ids = grids.filter((file) => file.owner === owner).map(({ idlocal }) => idlocal)
      for (const { idlocal, rows, columns } of await readers.grids.shapes(owner, ids))
        sizes.set(
          formatFid({ owner, idlocal }),
          `${rows.toLocaleString('en')} × ${columns.toLocaleString('en')}`,
        )
    }
  })
  return sizes
}

/** Renders files as a table, folders first. */
export async function fileTable(service: Service, files: readonly FileRow[]): Promise<string> {
  const sizes = await sizesOf(service, files)
  const rows = foldersFirst(files).map(
    (file) =>
      `<tr><td>${ICONS[file.filetype]}<a href="${text(webUrl(service.url, file))}">${text(file.filename)}</a></td><td>${filetypeName(file.filetype)}</td><td>${accessOf(file)}</td><td class="n wide">${sizes.get(formatFid(file)) ?? ''}</td><td class="wide">${dayOf(file)}</td><td class="n wide">${file.views === 0 ? '' : file.views.toLocaleString('en')}</td></tr>`,
  )
  return `<table class="files"><thead><tr><th scope="col">Name</th><th scope="col">Kind</th><th scope="col">Access</th><th scope="col" class="n wide">Size</th><th scope="col" class="wide">Changed</th><th scope="col" class="n wide">Views</th></tr></thead><tbody>
${rows.join('\n')}
</tbody></table>`
}

function foldersFirst(files: readonly FileRow[]): FileRow[] {
  return [...files].sort((a, b) => Number(b.filetype === 'fold') - Number(a.filetype === 'fold'))
}

/** Renders files as cards (`?view=pictures`) or as a table, with a link to the other view. */
export async function filesIn(
  service: Service,
  files: readonly FileRow[],
  query: URLSearchParams,
  pageUrl: string,
): Promise<string> {
  const isPictures = query.get('view') === 'pictures'
  const otherView = isPictures
    ? `<a href="${text(pageUrl)}">As a list</a>`
    : `<a href="${text(withQuery(pageUrl, 'view=pictures'))}">As pictures</a>`
  return `<p>${otherView}</p>${isPictures ? fileCards(service, foldersFirst(files)) : await fileTable(service, files)}`
}

/** Renders breadcrumbs: the owner and the ancestor folders that the caller may see. */
export async function crumbsOf(
  service: Service,
  readers: Readers,
  { caller }: Principal,
  file: FileRow,
): Promise<string> {
  const folders = (await visibleFile(readers, file, { caller }))?.above() ?? []
  const above = folders
    .slice(0, MAX_CRUMBS)
    .reverse()
    .map((folder) => `<a href="${text(webUrl(service.url, folder))}">${text(folder.filename)}</a>`)
  const home = `<a href="/~${text(file.owner)}/">${text(file.owner)}</a>`
  return `<nav class="crumbs" aria-label="Folders">${[home, ...above].join(' <span>/</span> ')} <span>/</span></nav>\n`
}

/** Renders type, owner, access and modification time of a file. */
export function summaryOf(file: FileRow): string {
  const iso = new Date(file.date_modified).toISOString()
  const kind = filetypeName(file.filetype)
  return `${kind[0].toUpperCase()}${kind.slice(1)} by <a href="/~${text(file.owner)}/">${text(file.owner)}</a> · ${accessOf(file)} · changed <time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`
}

function accessOf({ world_readable, share_key }: FileRow): string {
  if (world_readable) return 'public'
  return share_key === null ? 'private' : 'secret link'
}
