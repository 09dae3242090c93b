import { createHash } from 'node:crypto'
import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid } from '../../contract/fid.ts'
import { asOwner, type Principal, visibleFile } from '../access/access.ts'
import type { Service } from '../core/context.ts'
import type { FoundVersion } from '../files/versions.ts'
import { type Snapshot, type SnapshotColumn, snapshotOf, trimmed } from '../grids/column/content.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import { type ColumnRow, stateOfGrid } from '../store/aggregates/grids.ts'
import type { ContentRow } from '../store/aggregates/plots.ts'
import type { Readers } from '../store/store.ts'
import type { Source } from './scan.ts'
import { gridOfVersion, keptColumns } from './versions.ts'

/** A grid with the columns that a plot shows. */
export interface Shown {
  /** undefined if it is gone, and a kept version of the plot still has its data. */
  file: FileRow | undefined
  snap: Snapshot
  columns: Map<string, SnapshotColumn>
  /** Names of columns that the plot refers to and that are gone, by uid. */
  lost: Map<string, string>
  /** Whether the caller may read the grid itself. */
  readable: boolean
}

/** The grids of these sources that the plot's owner or the caller may read, by fid. */
export async function shownGrids(
  service: Service,
  readers: Readers,
  owner: string,
  sources: readonly Source[],
  principal: Principal,
  at?: FoundVersion,
): Promise<Map<string, Shown>> {
  const wanted = new Map<string, { fid: Fid; uids: Set<string> }>()
  for (const { grid, uids } of sources) {
    const key = formatFid(grid)
    if (!wanted.has(key)) wanted.set(key, { fid: grid, uids: new Set() })
    for (const uid of uids) wanted.get(key)!.uids.add(uid)
  }
  const shown = new Map<string, Shown>()
  const kept = at?.row?.kept_at !== null && at?.time === undefined ? at?.row : undefined
  for (const [key, { fid, uids }] of wanted) {
    const found = await shownFile(readers, owner, fid, principal)
    if (kept) {
      const own = await keptColumns(readers, kept, fid, uids)
      if (own.length === 0) continue
      const rows = Math.max(0, ...own.map((column) => column.rows))
      shown.set(key, {
        file: found?.file,
        snap: { blobs: service.store.blobs, columns: own, rows },
        columns: new Map(own.map((column) => [column.uid, column])),
        lost: new Map(),
        readable: found?.readable ?? false,
      })
      continue
    }
    if (!found) continue
    const row = at && (await gridOfVersion(readers, owner, at, found.file, principal))
    if (row === 'expired')
      throw new Problem('not_found', `the data that version ${at!.version} showed has expired`, {
        hint: 'Versions that are kept have their data: gridline keep FILE@3',
      })
    const choose = (all: ColumnRow[]) => all.filter(({ uid }) => uids.has(uid))
    const snap = await snapshotOf(service.store, readers, fid, row, choose)
    const columns = new Map(snap.columns.map((column) => [column.uid, column]))
    const isWhole = [...uids].every((uid) => columns.has(uid))
    const gone = isWhole ? [] : await readers.grids.lost(fid.owner, fid.idlocal)
    const lost = new Map(gone.map(({ uid, name }) => [uid, name]))
    shown.set(key, { file: found.file, snap, columns, lost, readable: found.readable })
  }
  return shown
}

/** The grids with no more values than belong to their versions. Call it outside of the transaction. */
export async function trimmedGrids(shown: ReadonlyMap<string, Shown>): Promise<Map<string, Shown>> {
  const whole = new Map<string, Shown>()
  for (const [key, one] of shown) {
    const snap = await trimmed(one.snap)
    whole.set(key, { ...one, snap, columns: new Map(snap.columns.map((column) => [column.uid, column])) })
  }
  return whole
}

/** A grid, if a plot of `owner` shows it to `principal`: if either of them may read it. */
async function shownFile(
  readers: Readers,
  owner: string,
  fid: Fid,
  principal: Principal,
): Promise<{ file: FileRow; readable: boolean } | undefined> {
  const file = await readers.files.get(fid.owner, fid.idlocal)
  if (file?.filetype !== 'grid') return undefined
  const readable = (await visibleFile(readers, file, { caller: principal.caller })) !== undefined
  if (readable) return { file, readable }
  // A trashed grid is shown only to callers who may read it themselves.
  const byOwner = await visibleFile(readers, file, asOwner(owner))
  return byOwner?.state === 'active' ? { file, readable } : undefined
}

/**
 * Identifies what a plot shows to `principal`: its figure and the versions of the grids that are shown. Reads no
 * data. It changes whenever the data or the permission to see it changes.
 */
export async function stateOfFigure(
  readers: Readers,
  { owner, idlocal }: FileRow,
  { hash }: ContentRow,
  principal: Principal,
  at?: FoundVersion,
): Promise<string> {
  const digest = createHash('sha256').update(hash)
  if (at) digest.update(`\n${at.version} ${at.time ?? ''} ${at.row?.kept_at ?? ''} ${at.draft ?? ''}`)
  for (const { kind, to_owner, to_idlocal } of await readers.plots.referencesOf(owner, [idlocal])) {
    if (kind !== 'grid') continue
    const fid = { owner: to_owner, idlocal: to_idlocal }
    const found = await shownFile(readers, owner, fid, principal)
    const grid = found && (await readers.grids.get(to_owner, to_idlocal))
    const state = grid ? `${found.file.version}.${stateOfGrid(grid)}` : 'hidden'
    // Which version of it is shown depends on who asks.
    const row = at && found && (await gridOfVersion(readers, owner, at, found.file, principal))
    if (row) digest.update(row === 'expired' ? '\nexpired' : `\n${row.version} ${row.made_at}`)
    digest.update(`\n${formatFid(fid)} ${state}`)
  }
  return digest.digest('hex').slice(0, 32)
}
