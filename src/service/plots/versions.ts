/** Versions of plots: each change of the figure creates one. See docs/adr/0025. */
import { type Fid, formatFid } from '../../contract/fid.ts'
import { canWrite, ownerPrincipal, type Principal } from '../access/access.ts'
import type { ResolvedVersion } from '../files/versions.ts'
import { createOlderVersion } from '../grids/change/versions.ts'
import type { Snapshot, SnapshotColumn } from '../grids/column/snapshot.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { SliceRef } from '../store/aggregates/grids.ts'
import type { ContentRow } from '../store/aggregates/plots.ts'
import { storeSlice } from '../store/aggregates/slice-json.ts'
import type { VersionRow } from '../store/aggregates/versions.ts'
import type { ColumnType } from '../store/schema/schema.ts'
import type { Readers, Store, Writers } from '../store/store.ts'

export interface FigureChange {
  operation: 'create' | 'copy' | 'figure' | 'revert' | 'keep'
  by: string | null
  of_version?: number
}

/** Adds the first version of a plot. */
export async function addFirstVersion(
  writers: Writers,
  { owner, idlocal }: Fid,
  { hash, bytes }: Pick<ContentRow, 'hash' | 'bytes'>,
  { operation, by }: FigureChange,
): Promise<void> {
  await writers.versions.add({ owner, idlocal, version: 1, epoch: 1, made_by: by, operation, hash, bytes })
}

/** Loads the current versions of the grids of a plot, by fid, as JSON. */
export async function loadGridVersions(readers: Readers, { owner, idlocal }: Fid): Promise<string> {
  const versions: Record<string, number> = Object.create(null)
  for (const { kind, to_owner, to_idlocal } of await readers.plots.listReferences(owner, [idlocal])) {
    if (kind !== 'grid') continue
    const file = await readers.files.get(to_owner, to_idlocal)
    if (file) versions[formatFid(file)] = file.content_version
  }
  return JSON.stringify(versions)
}

/** Parses the grid versions of a plot: version by fid. */
export function parseGridVersions(json: string): Record<string, number> {
  return JSON.parse(json)
}

/**
 * Makes a stored figure the next version of a plot, and returns its number. `grids`: versions of the grids
 * that the previous figure showed.
 */
export async function addNextVersion(
  { versions, files }: Writers,
  file: FileRow,
  { grids, ...previous }: Pick<ContentRow, 'hash' | 'bytes'> & { grids: string },
  current: Pick<ContentRow, 'hash' | 'bytes'>,
  { operation, by, of_version = undefined }: FigureChange,
): Promise<number> {
  const { owner, idlocal, content_version: version } = file
  if (!(await versions.change({ owner, idlocal, version }, { grids })))
    // The plot is older than versions: add its first one.
    await versions.add({
      ...createOlderVersion(file, version),
      hash: previous.hash,
      bytes: previous.bytes,
      grids,
    })
  await versions.add({
    owner,
    idlocal,
    version: version + 1,
    epoch: version + 1,
    made_by: by,
    operation,
    of_version: of_version ?? null,
    hash: current.hash,
    bytes: current.bytes,
  })
  await files.setContentVersion(owner, idlocal, version + 1)
  return version + 1
}

/** Returns the content row of a version; undefined if it has none. */
export function versionContentOf(
  { owner, idlocal, hash, bytes }: VersionRow,
  media_type: string,
): ContentRow | undefined {
  return hash === null || bytes === null ? undefined : { owner, idlocal, hash, bytes, media_type }
}

/** A caller who views a plot, in a version. */
export interface PlotViewer {
  /** Owner of the plot: the plot shows all data that its owner may read. */
  owner: string
  principal: Principal
  /** Undefined for the current version. */
  version?: ResolvedVersion
}

/**
 * Finds the version of a grid that a version of a plot shows; undefined for the current one. Earlier versions
 * require that the owner of the plot or the caller can write the grid: removed content must not become
 * visible to others.
 */
export async function findGridVersion(
  readers: Readers,
  { owner: plotOwner, principal, version: plotVersion }: PlotViewer,
  grid: FileRow,
): Promise<VersionRow | 'expired' | undefined> {
  if (!plotVersion) return undefined
  const { owner, idlocal, content_version } = grid
  const canSeeEarlier =
    (await canWrite(readers, grid, ownerPrincipal(plotOwner))) ||
    (await canWrite(readers, grid, { caller: principal.caller }))
  if (!canSeeEarlier) return undefined
  if (plotVersion.draft !== undefined) {
    if (!(await canWrite(readers, grid, { caller: principal.caller }))) return undefined
    const draft = await readers.drafts.get(owner, idlocal, plotVersion.draft)
    return draft && draft.version !== null ? readers.versions.get(owner, idlocal, draft.version) : undefined
  }
  if (plotVersion.time !== undefined) {
    const versionAtTime = await readers.versions.findByTime(owner, idlocal, plotVersion.time)
    return versionAtTime?.version === content_version ? undefined : versionAtTime
  }
  const gridVersionsJson = plotVersion.row?.grids
  if (!gridVersionsJson) return undefined
  const versions = parseGridVersions(gridVersionsJson)
  const version = versions[formatFid(grid)]
  if (version === undefined || version === content_version) return undefined
  return (await readers.versions.get(owner, idlocal, version)) ?? 'expired'
}

/** Properties of a kept column, besides its slices. */
interface KeptColumn {
  name: string
  type: ColumnType
  rows: number
}

/** Collects the columns and slices that a kept version shows, and stores their tails. `grids`: by fid. */
export async function collectKeptData(
  store: Store,
  owner: string,
  grids: ReadonlyMap<string, { snap: Snapshot }>,
): Promise<{ columns: Record<string, KeptColumn>; slices: (SliceRef & { uid: string })[] }> {
  const columns: Record<string, KeptColumn> = Object.create(null)
  const slices: (SliceRef & { uid: string })[] = []
  for (const [fid, { snap }] of grids)
    for (const column of snap.columns) {
      const uid = `${fid}:${column.uid}`
      columns[uid] = { name: column.name, type: column.type, rows: column.rows }
      const columnSlices = [...column.slices]
      const rowsInSlices = columnSlices.reduce((sum, { rows }) => sum + rows, 0)
      if (column.tail.length > 0)
        columnSlices.push(
          await storeSlice(store.blobs, owner, { rows: column.rows - rowsInSlices, text: column.tail }),
        )
      slices.push(...columnSlices.map((slice, seq) => ({ ...slice, seq, uid })))
    }
  return { columns, slices }
}

/** Loads the columns of a grid from a kept version of a plot. */
export async function loadKeptColumns(
  readers: Readers,
  keptVersion: VersionRow,
  grid: Fid,
  uids: ReadonlySet<string>,
): Promise<SnapshotColumn[]> {
  const properties: Record<string, KeptColumn> = JSON.parse(keptVersion.types ?? '{}')
  const slices = await readers.versions.listSlicesIn({
    owner: keptVersion.owner,
    idlocal: keptVersion.idlocal,
    epoch: keptVersion.version,
  })
  const columns: SnapshotColumn[] = []
  for (const uid of uids) {
    const key = `${formatFid(grid)}:${uid}`
    const column = properties[key]
    if (!column) continue
    columns.push({
      ...column,
      uid,
      order: columns.length,
      slices: slices.get(key) ?? [],
      tail: Buffer.alloc(0),
    })
  }
  return columns
}
