import { embedUrl, formatFid, ROOT, webUrl } from '../../contract/fid.ts'
import { imageNames, pathOf } from '../../contract/operations/index.ts'
import type {
  Collaborator,
  ColumnMeta,
  FileMeta,
  FolderMeta,
  GridMeta,
  PlotMeta,
  UserSummary,
} from '../../contract/resources/index.ts'
import {
  type AuthorizedFile,
  type Permission,
  type Principal,
  readableFid,
  visibleFileById,
} from '../access/access.ts'
import { isAllowed } from '../access/policy.ts'
import { userSummary } from '../accounts/summary.ts'
import type { Service } from '../core/context.ts'
import { decodeTypes, familyOf, orderOf } from '../store/column-types.ts'
import type { FileRow } from '../store/files.ts'
import type { ColumnRow } from '../store/grids.ts'
import { OWNER, type Viewer } from '../store/lists.ts'
import type { ContentRow } from '../store/plots.ts'
import { keyNames } from '../store/primary-key.ts'
import type { CollaboratorRow } from '../store/sharing.ts'
import type { Readers } from '../store/store.ts'
import { loadText } from '../store/texts.ts'
import { columnsOf, type FoundVersion, findVersion } from './versions.ts'

const none = { results: [], count: 0 }
/** Maximum number of referencers in a file's metadata. /sources lists all. */
const RELATED = 100
/** Larger figures are omitted from lists and from metadata; the plot's content has them. */
const LISTED_FIGURE_BYTES = 64 * 1024
const FIGURE_BYTES = 16 * 1024 * 1024

/** Filetype → resource and `get` operation, for `api_urls`. */
const addresses = {
  grid: ['grids', 'grids.get'],
  plot: ['plots', 'plots.get'],
  fold: ['folders', 'folders.get'],
  extra: ['extras', 'files.get'],
} as const

/** The metadata of a file without relations, for a caller with `permission`. See docs/api.md#files. */
function baseMeta(
  row: FileRow,
  { permission, state }: Pick<AuthorizedFile, 'permission' | 'state'>,
  url: string,
  showParent = true,
): FileMeta {
  const file = showParent ? row : { ...row, parent: ROOT }
  const fid = formatFid(file)
  const image = url + pathOf('files.image', fid)
  const [resource, get] = addresses[file.filetype]
  return {
    fid,
    filename: file.filename,
    filetype: file.filetype,
    owner: file.owner,
    title: file.filename,
    web_url: webUrl(url, file),
    embed_url: embedUrl(url, file),
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
    comments: none,
    stars: none,
    collaborators: none,
    references: [],
    referencers: [],
    preview: '',
    subfolder_count: null,
    views: file.views,
    is_theme: flag(file.is_theme),
    is_template: flag(file.is_template),
    metadata: JSON.parse(file.metadata),
    ...(permission === 'admin'
      ? {
          deleted: state === 'trashed',
          share_key: file.share_key,
          share_key_enabled: file.share_key !== null,
          source_tag: file.source_version === file.version ? file.source_tag : null,
        }
      : {}),
  }
}

function flag(value: number | null): boolean | null {
  return value === null ? null : value === 1
}

const READONLY: Record<CollaboratorRow['may_write'], boolean> = { 0: true, 1: false }

/** Converts a collaborator row. Only the owner sees e-mail addresses. See docs/api.md#collaborators. */
export function collaborator(
  row: CollaboratorRow,
  forOwner: boolean,
  teamNames: Map<string, string>,
): Collaborator {
  const readonly = READONLY[row.may_write]
  if (row.kind === 'email') return { type: 'email', email: forOwner ? row.name : null, readonly }
  if (row.kind === 'team') return { type: 'team', name: teamNames.get(row.name) ?? row.name, readonly }
  return { username: row.name, email: null, readonly }
}

/** Team key → team name as its owner wrote it. */
export async function teamNames(
  readers: Readers,
  rows: readonly CollaboratorRow[],
): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  for (const { kind, name } of rows) {
    if (kind === 'team' && !names.has(name)) names.set(name, (await readers.sharing.team(name))?.name ?? name)
  }
  return names
}

/** Maximum number of users named in `stars`. The count includes all. */
const STARS = 100

/** Metadata for lists of files of any owners. Omits fields that need a query per file (references). */
export async function fileMetas(
  service: Service,
  readers: Readers,
  files: readonly AuthorizedFile[],
  principal: Principal,
): Promise<FileMeta[]> {
  // A public file in a private folder must not reveal the folder.
  const showsParent = ({ file, roles, above }: AuthorizedFile): boolean =>
    roles.has('owner') || file.parent === ROOT || above().length > 0
  const metas = new Map<AuthorizedFile, FileMeta>()
  for (const owner of new Set(files.map(({ file }) => file.owner))) {
    const own = files.filter(({ file }) => file.owner === owner)
    const ids = own.map(({ file }) => file.idlocal)
    const stars = await readers.sharing.stars(owner, ids, STARS)
    const collaborators = await readers.sharing.collaborators(owner, ids)
    const names = await teamNames(readers, collaborators)
    const subfolders = await subfoldersOf(readers, own, principal)
    for (const admitted of own) {
      const { file, state, roles } = admitted
      const meta = baseMeta(file, admitted, service.url, showsParent(admitted))
      const { usernames, count } = stars.get(file.idlocal) ?? { usernames: [], count: 0 }
      meta.stars = { results: usernames.map((username) => ({ username })), count }
      if (isAllowed('collaborate', state, roles)) {
        const results = collaborators
          .filter(({ idlocal }) => idlocal === file.idlocal)
          .map((row) => collaborator(row, roles.has('owner'), names))
        meta.collaborators = { results, count: results.length }
      }
      if (file.filetype === 'fold') {
        const count = subfolders.get(file.idlocal)
        meta.subfolder_count = count === undefined ? 0 : count
      }
      metas.set(admitted, meta)
    }
  }
  return files.map((one) => metas.get(one)!)
}

/** The visible subfolders of those of these files of one owner that are folders; none of what is in the trash. */
async function subfoldersOf(
  readers: Readers,
  files: readonly AuthorizedFile[],
  { caller }: Principal,
): Promise<Map<number, number | null>> {
  const folders = files.filter(({ file, state }) => file.filetype === 'fold' && state === 'active')
  if (folders.length === 0) return new Map()
  const isOthers = caller && !folders[0].roles.has('owner')
  const some: Viewer = {
    seesAll: false,
    names: isOthers ? await readers.sharing.namesOf(caller.username) : [],
    folders: [],
  }
  const seesAll = ({ roles }: AuthorizedFile): boolean => roles.has('owner') || roles.has('reader')
  return readers.lists.subfolders(
    folders[0].file.owner,
    folders.map((found) => ({ idlocal: found.file.idlocal, viewer: seesAll(found) ? OWNER : some })),
  )
}

/** Metadata of a file. The figure of a plot is read later: blobs are read outside of transactions. */
export interface Described {
  body: FileMeta | GridMeta | PlotMeta
  content?: ContentRow
}

/** The full metadata of one file, with the fields of its filetype. */
export async function describe(
  service: Service,
  readers: Readers,
  admitted: AuthorizedFile,
  principal: Principal,
): Promise<Described> {
  const { file } = admitted
  const [meta] = await fileMetas(service, readers, [admitted], principal)
  meta.references = await readable(
    readers,
    (await readers.plots.referencesOf(file.owner, [file.idlocal])).map(({ to_owner, to_idlocal }) => ({
      owner: to_owner,
      idlocal: to_idlocal,
    })),
    principal,
  )
  if (file.filetype === 'grid' || file.filetype === 'extra')
    meta.referencers = await readable(
      readers,
      await readers.plots.referencersOf(file, undefined, undefined, false, RELATED),
      principal,
    )
  const source_fid = await sourceFid(readers, file, principal)
  const version = await findVersion(readers, admitted, principal.version)
  if (file.filetype === 'grid') return { body: await gridMeta(readers, file, meta, source_fid, version) }
  if (file.filetype === 'plot') return plotMeta(service, readers, admitted, meta, source_fid, version)
  return { body: meta }
}

/** The file that a file was copied from; null if `principal` may not read it. */
async function sourceFid(
  readers: Readers,
  { source_fid }: FileRow,
  principal: Principal,
): Promise<string | null> {
  if (source_fid === null) return null
  const [, owner, idlocal] = /^(.*):(.*)$/.exec(source_fid)!
  return (await readableFid(readers, { owner, idlocal: Number(idlocal) }, principal)) ?? null
}

async function readable(
  readers: Readers,
  files: readonly { owner: string; idlocal: number }[],
  principal: Principal,
): Promise<string[]> {
  const fids: string[] = []
  for (const one of files) if (await visibleFileById(readers, one, principal)) fids.push(formatFid(one))
  return fids
}

export function columnMeta({ name, uid, position, type }: ColumnRow): ColumnMeta {
  const date_order = type === 'text-undecided' ? 'undecided' : orderOf(type)
  return {
    name,
    uid,
    order: position,
    type: familyOf(type),
    ...(date_order && { date_order }),
    ...(type === 'datetime-zone' && { zoned: true }),
  }
}

async function gridMeta(
  readers: Readers,
  file: FileRow,
  meta: FileMeta,
  source_fid: string | null,
  version: FoundVersion | undefined,
): Promise<GridMeta> {
  const { owner, idlocal } = file
  const row = version?.isPresent ? undefined : version?.row
  if (row)
    return {
      ...meta,
      version: Math.max(0, row.version),
      ...(version?.draft !== undefined && { draft: version.draft }),
      cols: (await columnsOf(readers, row)).map(columnMeta),
      row_count: row.row_count ?? 0,
      primary_key: nullIfNone(
        keyNames(await readers.grids.get(owner, idlocal), await readers.grids.columns(owner, idlocal)),
      ),
      source_fid,
      source_url: file.source_url,
    }
  const grid = await readers.grids.get(owner, idlocal)
  const columns = await readers.grids.columns(owner, idlocal)
  // Column rows have the types of the slices only; `grid.types` includes the tail.
  for (const [k, type] of decodeTypes(grid.types).entries()) if (columns[k]) columns[k].type = type
  return {
    ...meta,
    version: file.content_version,
    cols: columns.map(columnMeta),
    row_count: grid.row_count,
    primary_key: nullIfNone(keyNames(grid, columns)),
    source_fid,
    source_url: file.source_url,
  }
}

function nullIfNone<T>(list: T[]): T[] | null {
  return list.length === 0 ? null : list
}

async function plotMeta(
  service: Service,
  readers: Readers,
  { file }: AuthorizedFile,
  meta: FileMeta,
  source_fid: string | null,
  version: FoundVersion | undefined,
): Promise<Described> {
  const { owner, idlocal } = file
  const plot = await readers.plots.plot(owner, idlocal)
  const present = await readers.plots.content(owner, idlocal)
  const { hash, bytes } = version?.row ?? {}
  const content = present && hash && bytes ? { ...present, hash, bytes } : present
  const body: PlotMeta = {
    ...meta,
    version: version?.version ?? file.content_version,
    source_fid,
    api_urls: { ...meta.api_urls, plots: service.url + pathOf('plots.get', meta.fid) },
    quality: plot?.quality ?? 0,
    refresh_interval: refreshInterval(meta.metadata),
    organize_view_url: `${service.url}${pathOf('folders.home')}?user=${owner}`,
    autosize: true,
    caption: '',
    height: null,
    width: null,
    user: summaryOf(service, await readers.accounts.user(owner), owner),
  }
  return { body, content }
}

function refreshInterval({ refresh_interval }: Record<string, unknown>): number | null {
  return Number.isInteger(refresh_interval) ? (refresh_interval as number) : null
}

function summaryOf(
  service: Service,
  user: Parameters<typeof userSummary>[1] | undefined,
  owner: string,
): UserSummary {
  return userSummary(service, user ?? { owner, email: null, date_joined: 0 }, false)
}

/** Adds the figure to a plot's metadata. Call it outside of transactions. */
export async function withFigure(
  service: Service,
  { body, content }: Described,
  listed = false,
): Promise<FileMeta | GridMeta | PlotMeta> {
  if (!content) return body
  const plot = body as PlotMeta
  if (content.bytes > (listed ? LISTED_FIGURE_BYTES : FIGURE_BYTES)) return { ...plot, figure: null }
  const figure = JSON.parse((await loadText(service.store.blobs, content)).toString('utf8'))
  const layout = (figure as { layout?: Record<string, unknown> | null }).layout ?? {}
  return {
    ...plot,
    figure,
    height: layout.height ?? null,
    width: layout.width ?? null,
    autosize: layout.autosize !== false,
  }
}

/** Metadata of the home folder `<username>:-1`, which has no row in the database. */
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
    hidden: 0,
    removed_at: null,
    appended_at: null,
    appending: 0,
    quality: null,
    world_readable: 1,
    share_key: null,
    metadata: '{}',
    creation_time: epoch,
    date_modified: epoch,
    version: 1,
    content_version: 1,
    views: 0,
    source_fid: null,
    source_url: null,
    source_tag: null,
    source_version: null,
    source_referer: null,
    is_theme: null,
    is_template: null,
  }
  return { ...baseMeta(home, { permission, state: 'active' }, url), parented: false }
}
