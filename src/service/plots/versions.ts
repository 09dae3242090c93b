/** Versions of plots: each change of the figure begins one. See docs/adr/0025. */
import { type Fid, formatFid } from '../../contract/fid.ts'
import { asOwner, mayWrite, type Principal } from '../access/access.ts'
import type { FoundVersion } from '../files/versions.ts'
import type { Snapshot, SnapshotColumn } from '../grids/column/content.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { SliceRef } from '../store/aggregates/grids.ts'
import type { ContentRow } from '../store/aggregates/plots.ts'
import { storeSlice } from '../store/aggregates/texts.ts'
import type { VersionRow } from '../store/aggregates/versions.ts'
import type { ColumnType } from '../store/schema/schema.ts'
import type { Readers, Store, Writers } from '../store/store.ts'

export interface FigureChange {
  operation: 'create' | 'copy' | 'figure' | 'revert' | 'keep'
  by: string | null
  of_version?: number
}

/** The first version of a plot. */
export async function firstFigure(
  writers: Writers,
  { owner, idlocal }: Fid,
  { hash, bytes }: Pick<ContentRow, 'hash' | 'bytes'>,
  { operation, by }: FigureChange,
): Promise<void> {
  await writers.versions.add({
    owner,
    idlocal,
    version: 1,
    epoch: 1,
    made_by: by,
    operation,
    hash,
    bytes,
  })
}

/** The versions of the grids of a plot, by fid, as they are now. */
export async function gridVersions(readers: Readers, { owner, idlocal }: Fid): Promise<string> {
  const versions: Record<string, number> = Object.create(null)
  for (const { kind, to_owner, to_idlocal } of await readers.plots.referencesOf(owner, [idlocal])) {
    if (kind !== 'grid') continue
    const file = await readers.files.get(to_owner, to_idlocal)
    if (file) versions[formatFid(file)] = file.content_version
  }
  return JSON.stringify(versions)
}

/** Begins the next version of a plot. `grids`: those of the version before, from `gridVersions`. Returns its number. */
export async function nextFigure(
  { versions, files }: Writers,
  file: FileRow,
  before: ContentRow,
  grids: string,
  now: Pick<ContentRow, 'hash' | 'bytes'>,
  { operation, by, of_version = undefined }: FigureChange,
): Promise<number> {
  const { owner, idlocal, content_version: version } = file
  if (!(await versions.change({ owner, idlocal, version }, { grids })))
    // A plot from before there were versions.
    await versions.add({
      owner,
      idlocal,
      version,
      epoch: version,
      made_at: file.date_modified,
      made_by: null,
      operation: 'create',
      message: null,
      hash: before.hash,
      bytes: before.bytes,
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
    hash: now.hash,
    bytes: now.bytes,
  })
  await files.setContentVersion(owner, idlocal, version + 1)
  return version + 1
}

/** The figure of a version. */
export function contentOfVersion(
  { owner, idlocal, hash, bytes }: VersionRow,
  media_type: string,
): ContentRow | undefined {
  return hash === null || bytes === null ? undefined : { owner, idlocal, hash, bytes, media_type }
}

/**
 * The version of a grid that a version of a plot shows; undefined for the present one. An earlier one is shown only if the
 * owner of the plot or the caller may write the grid: what was removed from it does not come back to others.
 */
export async function gridOfVersion(
  readers: Readers,
  plotOwner: string,
  at: FoundVersion,
  grid: FileRow,
  principal: Principal,
): Promise<VersionRow | 'expired' | undefined> {
  const { owner, idlocal, content_version } = grid
  const sees =
    (await mayWrite(readers, grid, asOwner(plotOwner))) ||
    (await mayWrite(readers, grid, { caller: principal.caller }))
  if (!sees) return undefined
  if (at.draft !== undefined) {
    if (!(await mayWrite(readers, grid, { caller: principal.caller }))) return undefined
    const draft = await readers.drafts.get(owner, idlocal, at.draft)
    return draft && draft.version !== null ? readers.versions.get(owner, idlocal, draft.version) : undefined
  }
  if (at.time !== undefined) {
    const row = await readers.versions.at(owner, idlocal, at.time)
    return row?.version === content_version ? undefined : row
  }
  const recorded = at.row?.grids
  if (!recorded) return undefined
  const versions = JSON.parse(recorded) as Record<string, number>
  const version = versions[formatFid(grid)]
  if (version === undefined || version === content_version) return undefined
  return (await readers.versions.get(owner, idlocal, version)) ?? 'expired'
}

/** What is kept of a column beside its slices. */
interface KeptColumn {
  name: string
  type: ColumnType
  rows: number
}

/** Keeps the data that a version of a plot of an owner shows: the slices of its grids. `shown`: by fid. */
export async function keepData(
  store: Store,
  owner: string,
  shown: ReadonlyMap<string, { snap: Snapshot }>,
): Promise<{ columns: Record<string, KeptColumn>; slices: (SliceRef & { uid: string })[] }> {
  const columns: Record<string, KeptColumn> = Object.create(null)
  const slices: (SliceRef & { uid: string })[] = []
  for (const [fid, { snap }] of shown)
    for (const column of snap.columns) {
      const uid = `${fid}:${column.uid}`
      columns[uid] = { name: column.name, type: column.type, rows: column.rows }
      const own = [...column.slices]
      const inSlices = own.reduce((sum, { rows }) => sum + rows, 0)
      if (column.tail.length > 0)
        own.push(await storeSlice(store.blobs, owner, { rows: column.rows - inSlices, text: column.tail }))
      slices.push(...own.map((slice, seq) => ({ ...slice, seq, uid })))
    }
  return { columns, slices }
}

/** The columns of a grid as a kept version of a plot has them. */
export async function keptColumns(
  readers: Readers,
  row: VersionRow,
  grid: Fid,
  uids: ReadonlySet<string>,
): Promise<SnapshotColumn[]> {
  const known = JSON.parse(row.types ?? '{}') as Record<string, KeptColumn>
  const slices = await readers.versions.slicesIn({
    owner: row.owner,
    idlocal: row.idlocal,
    epoch: row.version,
  })
  const columns: SnapshotColumn[] = []
  for (const uid of uids) {
    const key = `${formatFid(grid)}:${uid}`
    const column = known[key]
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
