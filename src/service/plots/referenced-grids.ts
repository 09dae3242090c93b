/** Resolves the grids of a plot, with access, and its fingerprint. */
import { createHash } from 'node:crypto'
import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid } from '../../contract/fid.ts'
import { ownerPrincipal, type Principal, resolveVisibleFile } from '../access/access.ts'
import type { ResolvedVersion } from '../files/versions.ts'
import {
  type Snapshot,
  type SnapshotColumn,
  takeVersionSnapshot,
  trimSnapshot,
} from '../grids/column/snapshot.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import { type ColumnRow, fingerprintOfGrid } from '../store/aggregates/grids.ts'
import type { ContentRow } from '../store/aggregates/plots.ts'
import type { Readers, Store } from '../store/store.ts'
import type { ColumnSource } from './scan.ts'
import { findGridVersion, loadKeptColumns, type PlotViewer } from './versions.ts'

/** A grid with the columns that a plot shows. */
export interface ReferencedGrid {
  /** Undefined if the grid was deleted, and a kept version of the plot still has its data. */
  file: FileRow | undefined
  snap: Snapshot
  columns: Map<string, SnapshotColumn>
  /** Names of removed columns that the plot refers to, by uid. */
  removedColumns: Map<string, string>
  /** True if the caller may read the grid itself. */
  isReadable: boolean
}

/** Loads the grids of these sources that the plot's owner or the caller may read, by fid. */
export async function loadReferencedGrids(
  store: Store,
  readers: Readers,
  viewer: PlotViewer,
  sources: readonly ColumnSource[],
): Promise<Map<string, ReferencedGrid>> {
  const requested = new Map<string, { fid: Fid; uids: Set<string> }>()
  for (const { grid, uids } of sources) {
    const key = formatFid(grid)
    if (!requested.has(key)) requested.set(key, { fid: grid, uids: new Set() })
    for (const uid of uids) requested.get(key)!.uids.add(uid)
  }
  const grids = new Map<string, ReferencedGrid>()
  const { version } = viewer
  const keptVersion = version?.row?.kept_at !== null && version?.time === undefined ? version?.row : undefined
  for (const [key, { fid, uids }] of requested) {
    const visible = await findVisibleGrid(readers, viewer, fid)
    if (keptVersion) {
      const columns = await loadKeptColumns(readers, keptVersion, fid, uids)
      if (columns.length === 0) continue
      const rows = Math.max(0, ...columns.map((column) => column.rows))
      const snap = { blobs: store.blobs, columns, rows }
      grids.set(key, {
        file: visible?.file,
        snap,
        columns: columnsByUid(snap),
        removedColumns: new Map(),
        // The owner of a grid that is gone.
        isReadable: visible?.isReadable ?? viewer.principal.caller?.username === fid.owner,
      })
      continue
    }
    if (!visible) continue
    const gridVersion = await findGridVersion(readers, viewer, visible.file)
    if (gridVersion === 'expired')
      throw new Problem('not_found', `the data that version ${version!.version} showed has expired`, {
        hint: 'To keep the data of a version: gridline keep FILE@3',
      })
    const selectColumns = (all: ColumnRow[]) => all.filter(({ uid }) => uids.has(uid))
    const snap = await takeVersionSnapshot(store, readers, fid, gridVersion, selectColumns)
    const columns = columnsByUid(snap)
    const isWhole = [...uids].every((uid) => columns.has(uid))
    const removed = isWhole ? [] : await readers.grids.listRemovedColumns(fid.owner, fid.idlocal)
    grids.set(key, {
      ...visible,
      snap,
      columns,
      removedColumns: new Map(removed.map(({ uid, name }) => [uid, name])),
    })
  }
  return grids
}

function columnsByUid({ columns }: Snapshot): Map<string, SnapshotColumn> {
  return new Map(columns.map((column) => [column.uid, column]))
}

/** Removes values that were appended after the requested versions. Call it outside of the transaction. */
export async function trimReferencedGrids(
  grids: ReadonlyMap<string, ReferencedGrid>,
): Promise<Map<string, ReferencedGrid>> {
  const trimmedByFid = new Map<string, ReferencedGrid>()
  for (const [key, grid] of grids) {
    const snap = await trimSnapshot(grid.snap)
    trimmedByFid.set(key, { ...grid, snap, columns: columnsByUid(snap) })
  }
  return trimmedByFid
}

/** Loads a grid; undefined if neither the plot's owner nor the caller may read it. */
async function findVisibleGrid(
  readers: Readers,
  { owner, principal }: PlotViewer,
  fid: Fid,
): Promise<{ file: FileRow; isReadable: boolean } | undefined> {
  const file = await readers.files.get(fid.owner, fid.idlocal)
  if (file?.filetype !== 'grid') return undefined
  const isReadable = (await resolveVisibleFile(readers, file, { caller: principal.caller })) !== undefined
  if (isReadable) return { file, isReadable }
  // A trashed grid is visible only to callers who may read it themselves.
  const visibleToOwner = await resolveVisibleFile(readers, file, ownerPrincipal(owner))
  return visibleToOwner?.state === 'active' ? { file, isReadable } : undefined
}

/** State of a figure and its data. */
export interface FigureState {
  /** Hash of the figure and the versions of its grids. */
  fingerprint: string
  /** The grids that the reader sees. */
  grids: FileRow[]
}

/** Finds what a plot shows to `principal`. Reads no data. */
export async function findFigureState(
  readers: Readers,
  { owner, idlocal }: FileRow,
  { hash }: ContentRow,
  principal: Principal,
  version?: ResolvedVersion,
): Promise<FigureState> {
  const viewer = { owner, principal, version }
  const digest = createHash('sha256').update(hash)
  if (principal.rowFilter) digest.update(`\n${JSON.stringify(principal.rowFilter)}`)
  if (version)
    digest.update(
      `\n${version.version} ${version.time ?? ''} ${version.row?.kept_at ?? ''} ${version.draft ?? ''}`,
    )
  const grids: FileRow[] = []
  for (const { kind, to_owner, to_idlocal } of await readers.plots.listReferences(owner, [idlocal])) {
    if (kind !== 'grid') continue
    const fid = { owner: to_owner, idlocal: to_idlocal }
    const visible = await findVisibleGrid(readers, viewer, fid)
    if (visible) grids.push(visible.file)
    const grid = visible && (await readers.grids.get(to_owner, to_idlocal))
    const gridFingerprint = grid ? `${visible.file.version}.${fingerprintOfGrid(grid)}` : 'hidden'
    // The visible version of the grid depends on the caller.
    const gridVersion = visible && (await findGridVersion(readers, viewer, visible.file))
    if (gridVersion)
      digest.update(
        gridVersion === 'expired' ? '\nexpired' : `\n${gridVersion.version} ${gridVersion.made_at}`,
      )
    digest.update(`\n${formatFid(fid)} ${gridFingerprint}`)
  }
  return { fingerprint: digest.digest('hex').slice(0, 32), grids }
}
