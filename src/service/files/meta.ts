// Builds the metadata of files, folders, grids and plots, as the API returns it.
import { formatFid, parseFid, ROOT } from '../../contract/fid.ts'
import { pathOf } from '../../contract/operations/index.ts'
import type {
  Collaborator,
  ColumnMeta,
  FileMeta,
  GridMeta,
  PlotMeta,
} from '../../contract/resources/index.ts'
import { type AuthorizedFile, type Principal, resolveVisibleFiles } from '../access/access.ts'
import { isAllowed } from '../access/policy.ts'
import { formatUserSummary } from '../accounts/summary.ts'
import type { Service } from '../core/context.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { ColumnRow } from '../store/aggregates/grids.ts'
import type { ListScope } from '../store/aggregates/list-ranges.ts'
import { OWNER_SCOPE } from '../store/aggregates/lists.ts'
import { type ContentRow, type PlotDetails, storedContentOf } from '../store/aggregates/plots.ts'
import { NO_RELATIONS, type RelatedCollaborator, type Relations } from '../store/aggregates/relations.ts'
import type { CollaboratorRow } from '../store/aggregates/sharing.ts'
import { loadDecompressed } from '../store/aggregates/slice-json.ts'
import { type BlobReader, blobIdOf } from '../store/objects/blobs.ts'
import { dayOrderOf, familyOf } from '../store/schema/column-types.ts'
import type { FileKey } from '../store/schema/file-key.ts'
import { primaryKeyNamesOf } from '../store/schema/primary-key.ts'
import type { Readers } from '../store/store.ts'
import { formatBaseMeta } from './base-meta.ts'
import { loadVersionColumns, type ResolvedVersion, resolveVersionRef } from './versions.ts'

/** Maximum size of a figure in lists. Larger ones are omitted. */
const MAX_LISTED_FIGURE_BYTES = 64 * 1024
/** Maximum size of a figure in the metadata of one plot. The plot's content has larger ones. */
const MAX_FIGURE_BYTES = 16 * 1024 * 1024

const READONLY_BY_GRANT: Record<CollaboratorRow['may_write'], boolean> = { 0: true, 1: false }

/** Converts a collaborator row. Only the owner sees e-mail addresses, and whose teams they are. See docs/api.md#collaborators. */
export function formatCollaborator(
  { kind, name, may_write, team }: RelatedCollaborator,
  forOwner: boolean,
): Collaborator {
  const readonly = READONLY_BY_GRANT[may_write]
  if (kind === 'email') return { type: 'email', email: forOwner ? name : null, readonly }
  if (kind === 'team')
    return { type: 'team', name: team?.name ?? name, ...(forOwner && { owner: team?.owner }), readonly }
  return { username: name, email: null, readonly }
}

/** Loads the metadata of files in a list, without references. The files may have several owners. */
export async function loadListedMetas(
  service: Service,
  readers: Readers,
  files: readonly AuthorizedFile[],
  principal: Principal,
): Promise<FileMeta[]> {
  const relations = await readers.relations.loadRelations(files.map(({ file }) => file))
  const subfolders = await countSubfolders(readers, files, principal)
  return files.map((access, k) => formatMeta(service, access, relations[k], subfolders))
}

function formatMeta(
  service: Service,
  access: AuthorizedFile,
  { stars, collaborators }: Relations,
  subfolders: ReadonlyMap<string, number | null>,
): FileMeta {
  const { file, state, roles, above } = access
  // A public file in a private folder must not reveal the folder.
  const showsParent = roles.has('owner') || file.parent === ROOT || above().length > 0
  const meta = formatBaseMeta(file, access, service.url, showsParent)
  meta.stars = { results: stars.usernames.map((username) => ({ username })), count: stars.count }
  if (isAllowed('collaborate', state, roles)) {
    const results = collaborators.map((row) => formatCollaborator(row, roles.has('owner')))
    meta.collaborators = { results, count: results.length }
  }
  if (file.filetype === 'fold') {
    const count = subfolders.get(meta.fid)
    meta.subfolder_count = count === undefined ? 0 : count
  }
  return meta
}

/**
 * Counts the visible subfolders of each active folder in `files`, by fid; null above 1,000 in folders of
 * another user.
 */
async function countSubfolders(
  readers: Readers,
  files: readonly AuthorizedFile[],
  { caller }: Principal,
): Promise<Map<string, number | null>> {
  const folders = files.filter(({ file, state }) => file.filetype === 'fold' && state === 'active')
  const seesAll = ({ roles }: AuthorizedFile): boolean => roles.has('owner') || roles.has('reader')
  const viewer: ListScope = {
    seesAll: false,
    names:
      caller && folders.some((folder) => !seesAll(folder))
        ? await readers.sharing.listGranteesOf(caller.username)
        : [],
    folders: [],
  }
  const countsByFid = new Map<string, number | null>()
  for (const owner of new Set(folders.map(({ file }) => file.owner))) {
    const ownFolders = folders.filter(({ file }) => file.owner === owner)
    const counts = await readers.lists.countSubfolders(
      owner,
      ownFolders.map((folder) => ({
        idlocal: folder.file.idlocal,
        viewer: seesAll(folder) ? OWNER_SCOPE : viewer,
      })),
    )
    for (const [idlocal, count] of counts) countsByFid.set(formatFid({ owner, idlocal }), count)
  }
  return countsByFid
}

/** Metadata of a file. The figure of a plot is loaded later: blobs are read outside of transactions. */
export type PendingMeta =
  | { body: FileMeta | GridMeta | PlotMeta; content?: undefined }
  | { body: PlotMeta; content: ContentRow }

/** Metadata that the fields of its filetype are added to. */
interface CommonMeta {
  file: FileRow
  meta: FileMeta
  /** The source of the file, if it may be read. */
  source_fid: string | null
  version: ResolvedVersion | undefined
}

/** Loads the full metadata of one file, with the fields of its filetype. */
export async function loadMeta(
  service: Service,
  readers: Readers,
  access: AuthorizedFile,
  principal: Principal,
): Promise<PendingMeta> {
  return (await loadMetas(service, readers, [access], principal))[0]
}

/** Returns the metadata of a grid that was just created: it has no relations yet. */
export function formatNewGridMeta(
  service: Service,
  file: FileRow,
  columns: readonly Pick<ColumnRow, 'name' | 'uid' | 'position' | 'type'>[],
  row_count: number,
): GridMeta {
  const access: AuthorizedFile = {
    file,
    state: 'active',
    roles: new Set(['owner']),
    permission: 'admin',
    above: () => [],
  }
  return {
    ...formatMeta(service, access, NO_RELATIONS, new Map()),
    version: file.content_version,
    cols: columns.map(formatColumnMeta),
    row_count,
    primary_key: null,
    source_fid: file.source_fid,
    source_url: file.source_url,
  }
}

/** Loads the full metadata of several files. The number of queries does not grow with the number of plots. */
export async function loadMetas(
  service: Service,
  readers: Readers,
  files: readonly AuthorizedFile[],
  principal: Principal,
): Promise<PendingMeta[]> {
  const rows = files.map(({ file }) => file)
  const relations = await readers.relations.loadRelations(rows, {
    references: true,
    referred: rows.filter(({ filetype }) => filetype === 'grid' || filetype === 'extra'),
  })
  const subfolders = await countSubfolders(readers, files, principal)
  const related = relations.flatMap(({ references, referencers }) => [...references, ...referencers])
  const sources = rows.flatMap(({ source_fid }) => parseFid(source_fid ?? '') ?? [])
  const readable = await loadReadableFids(readers, [...related, ...sources], principal)
  const readableOf = (keys: readonly FileKey[]): string[] =>
    keys.map(formatFid).filter((fid) => readable.has(fid))
  const plots = await readers.plots.loadDetails(rows.filter(({ filetype }) => filetype === 'plot'))
  const described: PendingMeta[] = []
  for (const [k, access] of files.entries()) {
    const { file } = access
    const { references, referencers } = relations[k]
    const meta = formatMeta(service, access, relations[k], subfolders)
    meta.references = readableOf(references)
    meta.referencers = readableOf(referencers)
    const source_fid = file.source_fid !== null && readable.has(file.source_fid) ? file.source_fid : null
    const version = await resolveVersionRef(readers, access, principal.version)
    const common: CommonMeta = { file, meta, source_fid, version }
    if (file.filetype === 'grid') described.push({ body: await loadGridMeta(readers, common) })
    else if (file.filetype === 'plot') described.push(formatPlotMeta(service, common, plots.get(meta.fid)))
    else described.push({ body: meta })
  }
  return described
}

/** Returns the fids of the files that `principal` may read. */
async function loadReadableFids(
  readers: Readers,
  keys: readonly FileKey[],
  principal: Principal,
): Promise<Set<string>> {
  if (keys.length === 0) return new Set()
  const visible = await resolveVisibleFiles(readers, await readers.files.listByKeys(keys), principal)
  return new Set(visible.flatMap((access) => (access ? [formatFid(access.file)] : [])))
}

/** Returns a column as the API shows it. */
export function formatColumnMeta({
  name,
  uid,
  position,
  type,
}: Pick<ColumnRow, 'name' | 'uid' | 'position' | 'type'>): ColumnMeta {
  const date_order = type === 'text-undecided' ? 'undecided' : dayOrderOf(type)
  return {
    name,
    uid,
    order: position,
    type: familyOf(type),
    ...(date_order && { date_order }),
    ...(type === 'datetime-zone' && { zoned: true }),
  }
}

async function loadGridMeta(
  readers: Readers,
  { file, meta, source_fid, version }: CommonMeta,
): Promise<GridMeta> {
  const { owner, idlocal } = file
  const grid = await readers.grids.get(owner, idlocal)
  const columns = await readers.grids.listCurrentColumns(grid)
  const row = version?.isCurrent ? undefined : version?.row
  if (row)
    return {
      ...meta,
      version: Math.max(0, row.version),
      ...(version?.draft !== undefined && { draft: version.draft }),
      cols: (await loadVersionColumns(readers, row)).map(formatColumnMeta),
      row_count: row.row_count ?? 0,
      primary_key: nullIfEmpty(primaryKeyNamesOf(grid, columns)),
      source_fid,
      source_url: file.source_url,
    }
  return {
    ...meta,
    version: file.content_version,
    cols: columns.map(formatColumnMeta),
    row_count: grid.row_count,
    primary_key: nullIfEmpty(primaryKeyNamesOf(grid, columns)),
    source_fid,
    source_url: file.source_url,
  }
}

function nullIfEmpty<T>(list: T[]): T[] | null {
  return list.length === 0 ? null : list
}

/** Returns the metadata of a plot without its figure, and the content that holds the figure. */
function formatPlotMeta(
  service: Service,
  { file, meta, source_fid, version }: CommonMeta,
  plot: PlotDetails | undefined,
): PendingMeta {
  const { owner } = file
  const current = plot?.content
  const { hash, bytes } = version?.row ?? {}
  const content = current && hash && bytes ? { ...current, hash, bytes } : current
  const body: PlotMeta = {
    ...meta,
    version: version?.version ?? file.content_version,
    source_fid,
    api_urls: { ...meta.api_urls, plots: service.url + pathOf('plots.get', meta.fid) },
    quality: file.quality ?? 0,
    refresh_interval: refreshIntervalOf(meta.metadata),
    organize_view_url: `${service.url}${pathOf('folders.home')}?user=${owner}`,
    autosize: true,
    caption: '',
    height: null,
    width: null,
    user: formatUserSummary(service, { owner, email: null, date_joined: plot?.date_joined ?? 0 }, false),
  }
  return content ? { body, content } : { body }
}

function refreshIntervalOf({ refresh_interval }: Record<string, unknown>): number | null {
  return typeof refresh_interval === 'number' && Number.isInteger(refresh_interval) ? refresh_interval : null
}

/** Loads the figures of a page of plots with one query. Call it outside of transactions. */
export async function loadListedFigures(
  { store }: Service,
  described: readonly PendingMeta[],
): Promise<BlobReader> {
  const blobs = described.flatMap(({ content }) =>
    content && content.bytes <= MAX_LISTED_FIGURE_BYTES ? [storedContentOf(content).blob] : [],
  )
  const loaded = await store.blobs.getAll(blobs)
  return {
    get: async (ref) => loaded.get(blobIdOf(ref)) ?? store.blobs.get(ref),
    getAll: (refs) => store.blobs.getAll(refs),
  }
}

/** Adds the figure to the metadata of a plot. Call it outside of transactions. */
export async function withFigure(
  service: Service,
  pending: PendingMeta,
  /** In lists: figures that are already loaded. */
  listed?: BlobReader,
): Promise<FileMeta | GridMeta | PlotMeta> {
  if (!pending.content) return pending.body
  const { body: plot, content } = pending
  if (content.bytes > (listed ? MAX_LISTED_FIGURE_BYTES : MAX_FIGURE_BYTES)) return { ...plot, figure: null }
  const figure: NonNullable<PlotMeta['figure']> = JSON.parse(
    (await loadDecompressed(listed ?? service.store.blobs, storedContentOf(content))).toString('utf8'),
  )
  const layout = figure.layout ?? {}
  return {
    ...plot,
    figure,
    height: layout.height ?? null,
    width: layout.width ?? null,
    autosize: layout.autosize !== false,
  }
}
