import { createHash } from 'node:crypto'
import { type Fid, formatFid } from '../../contract/fid.ts'
import { asOwner, type Principal, visibleFile, visibleFileById } from '../access/access.ts'
import type { Service } from '../core/context.ts'
import { type Snapshot, type SnapshotColumn, snapshot } from '../grids/content.ts'
import type { FileRow } from '../store/files.ts'
import { stateOfGrid } from '../store/grids.ts'
import type { ContentRow } from '../store/plots.ts'
import type { Readers } from '../store/store.ts'
import type { Source } from './scan.ts'

/** A grid with the columns that a plot shows. */
export interface Shown {
  file: FileRow
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
): Promise<Map<string, Shown>> {
  const wanted = new Map<string, { fid: Fid; uids: Set<string> }>()
  for (const { grid, uids } of sources) {
    const key = formatFid(grid)
    if (!wanted.has(key)) wanted.set(key, { fid: grid, uids: new Set() })
    for (const uid of uids) wanted.get(key)!.uids.add(uid)
  }
  const shown = new Map<string, Shown>()
  for (const [key, { fid, uids }] of wanted) {
    const found = await shownFile(readers, owner, fid, principal)
    if (!found) continue
    const snap = await snapshot(service.store, readers, fid, (all) => all.filter(({ uid }) => uids.has(uid)))
    const columns = new Map(snap.columns.map((column) => [column.uid, column]))
    const isWhole = [...uids].every((uid) => columns.has(uid))
    const gone = isWhole ? [] : await readers.grids.lost(fid.owner, fid.idlocal)
    const lost = new Map(gone.map(({ uid, name }) => [uid, name]))
    shown.set(key, { file: found.file, snap, columns, lost, readable: found.readable })
  }
  return shown
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
  const byOwner = file.trashed_at === null && (await visibleFileById(readers, fid, asOwner(owner)))
  return byOwner ? { file, readable } : undefined
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
): Promise<string> {
  const digest = createHash('sha256').update(hash)
  for (const { kind, to_owner, to_idlocal } of await readers.plots.referencesOf(owner, [idlocal])) {
    if (kind !== 'grid') continue
    const fid = { owner: to_owner, idlocal: to_idlocal }
    const found = await shownFile(readers, owner, fid, principal)
    const grid = found && (await readers.grids.get(to_owner, to_idlocal))
    const state = grid ? `${found.file.version}.${stateOfGrid(grid)}` : 'hidden'
    digest.update(`\n${formatFid(fid)} ${state}`)
  }
  return digest.digest('hex').slice(0, 32)
}
