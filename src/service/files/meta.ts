import { embedUrl, formatFid, ROOT, webUrl } from '../../contract/fid.ts'
import { pathOf } from '../../contract/operations.ts'
import type { ColumnMeta, FileMeta, FolderMeta, GridMeta } from '../../contract/resources.ts'
import type { Permission } from '../access.ts'
import type { FileRow } from '../store/files.ts'
import type { ColumnRow, GridRow } from '../store/grids.ts'

const none = { results: [], count: 0 }

/** A file as the API shows it, to somebody with that permission. Reference 2.1. */
export function fileMeta(file: FileRow, permission: Permission, url: string): FileMeta {
  const fid = formatFid(file)
  const page = webUrl(url, file)
  const image = `${url}/~${file.owner}/${file.idlocal}.png`
  return {
    fid,
    filename: file.filename,
    filetype: file.filetype,
    owner: file.owner,
    title: file.filename,
    web_url: page,
    embed_url: embedUrl(url, file),
    img_url: image,
    image_urls: { default: image, 'block-thumb': image, 'list-thumb': image },
    api_urls: {
      files: url + pathOf('files.get', fid),
      ...(file.filetype === 'grid' ? { grids: url + pathOf('grids.get', fid) } : {}),
      ...(file.filetype === 'fold' ? { folders: url + pathOf('folders.get', fid) } : {}),
      plots: null,
      parent:
        file.parent === ROOT
          ? `${url}${pathOf('folders.home')}?user=${file.owner}`
          : url + pathOf('folders.get', formatFid({ owner: file.owner, idlocal: file.parent })),
    },
    creation_time: new Date(file.creation_time).toISOString(),
    date_modified: new Date(file.date_modified).toISOString(),
    parent: file.parent,
    parented: true,
    world_readable: file.world_readable === 1,
    current_user_permission: permission,
    comments: none,
    stars: none,
    collaborators: none,
    references: [],
    referencers: [],
    preview: '',
    subfolder_count: null,
    views: file.views,
    is_theme: null,
    is_template: null,
    metadata: JSON.parse(file.metadata),
    ...(permission === 'admin'
      ? {
          deleted: file.trashed_at !== null,
          share_key: file.share_key,
          share_key_enabled: file.share_key !== null,
        }
      : {}),
  }
}

export function columnMeta({ name, uid, position, type }: ColumnRow): ColumnMeta {
  return { name, uid, order: position, type }
}

export function gridMeta(
  file: FileRow,
  permission: Permission,
  url: string,
  grid: GridRow,
  columns: ColumnRow[],
): GridMeta {
  return {
    ...fileMeta(file, permission, url),
    cols: columns.map(columnMeta),
    row_count: grid.row_count,
    source_fid: file.source_fid,
    source_url: file.source_url,
  }
}

/** The home folder, which is no row of the store. Reference section 1: `<username>:-1`. */
export function homeMeta(owner: string, permission: Permission, url: string): FolderMeta {
  const epoch = 0
  const home: FileRow = {
    owner,
    idlocal: ROOT,
    filetype: 'fold',
    filename: 'home',
    live_name: null,
    parent: ROOT,
    trashed_at: null,
    world_readable: 1,
    share_key: null,
    metadata: '{}',
    creation_time: epoch,
    date_modified: epoch,
    version: 1,
    views: 0,
    source_fid: null,
    source_url: null,
    source_referer: null,
  }
  return { ...fileMeta(home, permission, url), parented: false }
}
