// Builds the metadata that files of all types have.
import { formatEmbedUrl, formatFid, formatWebUrl, ROOT } from '../../contract/fid.ts'
import { imageNames, pathOf } from '../../contract/operations/index.ts'
import type { FileMeta, FolderMeta } from '../../contract/resources/index.ts'
import type { AuthorizedFile, Permission } from '../access/access.ts'
import { NEW_FILE } from '../store/aggregates/file-writer.ts'
import type { FileRow } from '../store/aggregates/files.ts'

const EMPTY_LIST = { results: [], count: 0 }

/** Filetype → resource and `get` operation, for `api_urls`. */
const RESOURCES_BY_FILETYPE = {
  grid: ['grids', 'grids.get'],
  plot: ['plots', 'plots.get'],
  fold: ['folders', 'folders.get'],
  extra: ['extras', 'files.get'],
  dashboard: ['dashboards', 'dashboards.get'],
} as const

/** Returns the metadata of a file without relations, for a caller with `permission` (docs/api.md#files). */
export function formatBaseMeta(
  row: FileRow,
  { permission, state }: Pick<AuthorizedFile, 'permission' | 'state'>,
  url: string,
  showParent = true,
): FileMeta {
  const file = showParent ? row : { ...row, parent: ROOT }
  const fid = formatFid(file)
  const image = url + pathOf('files.image', fid)
  const [resource, get] = RESOURCES_BY_FILETYPE[file.filetype]
  return {
    fid,
    filename: file.filename,
    filetype: file.filetype,
    owner: file.owner,
    title: file.filename,
    web_url: formatWebUrl(url, file),
    embed_url: formatEmbedUrl(url, file),
    img_url: image,
    image_urls: Object.fromEntries(imageNames.map((name) => [name, `${image}?image_name=${name}`])),
    api_urls: {
      files: url + pathOf('files.get', fid),
      plots: null,
      ...(resource === 'extras' ? {} : { [resource]: url + pathOf(get, fid) }),
      parent:
        file.parent === ROOT
          ? `${url}${pathOf('folders.home')}?user=${file.owner}`
          : url + pathOf('folders.get', formatFid({ owner: file.owner, idlocal: file.parent })),
    },
    creation_time: new Date(file.creation_time).toISOString(),
    date_modified: new Date(file.date_modified).toISOString(),
    parent: file.parent,
    parented: file.filetype !== 'extra',
    world_readable: file.world_readable === 1,
    current_user_permission: permission,
    comments: EMPTY_LIST,
    stars: EMPTY_LIST,
    collaborators: EMPTY_LIST,
    references: [],
    referencers: [],
    preview: '',
    subfolder_count: null,
    views: file.views,
    is_theme: toNullableBoolean(file.is_theme),
    is_template: toNullableBoolean(file.is_template),
    metadata: JSON.parse(file.metadata),
    ...(file.stale_since !== null && { stale_since: new Date(file.stale_since).toISOString() }),
    ...(permission === 'admin'
      ? {
          deleted: state === 'trashed',
          share_key: file.share_key,
          share_key_enabled: file.share_key !== null,
          ...(file.filetype === 'dashboard' && { share_items: file.share_items > 0 }),
          source_tag: file.source_version === file.version ? file.source_tag : null,
        }
      : {}),
  }
}

function toNullableBoolean(value: number | null): boolean | null {
  return value === null ? null : value === 1
}

/** Returns the metadata of the home folder `<username>:-1`, which has no row in the database. */
export function formatHomeMeta(owner: string, permission: Permission, url: string): FolderMeta {
  const home: FileRow = {
    ...NEW_FILE,
    owner,
    idlocal: ROOT,
    filetype: 'fold',
    filename: 'home',
    live_name: null,
    parent: ROOT,
    world_readable: 1,
    creation_time: 0,
    date_modified: 0,
  }
  return { ...formatBaseMeta(home, { permission, state: 'active' }, url), parented: false }
}
