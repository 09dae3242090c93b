// What a change makes of a grid, and how it is written.
import type { Fid } from '../../../contract/fid.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { ColumnRow, GridEpoch } from '../../store/aggregates/grids.ts'
import { encodePrimaryKey } from '../../store/schema/primary-key.ts'
import type { Writers } from '../../store/store.ts'
import type { Layout, NewColumn } from '../column/layout.ts'
import { namedColumns } from '../keys/key.ts'
import { addColumns } from './create.ts'
import { appendVersion, type Before, beginVersion, type Change, continuesVersion } from './versions.ts'

/** A change of a grid: its result, before it is committed. What is undefined stays as it is. */
export interface GridPlan {
  /** The columns, in order, with stored slices. A column with the uid of one that the grid has replaces it. */
  columns?: readonly NewColumn[]
  /** How the history records the change of columns. */
  change: Omit<Change, 'by'>
  /** A few updated rows: they join the version of earlier ones by the same user. */
  isSmall?: boolean
  /** Names of the columns of the primary key; none removes it. */
  key?: readonly string[]
  /** The checks of the grid, as JSON. */
  checks?: string | null
  /** Fields of the file that change with it. */
  fields?: Partial<FileRow>
}

/** A plan that is written: the version with its content, and the uids of its columns. */
export interface Committed {
  version: number
  uids: readonly string[]
}

/** Writes a plan in the transaction that has read the file and the layout. Call it from `changeLayout`, which counts rows. */
export async function commitPlan(
  writers: Writers,
  file: FileRow,
  layout: Layout,
  plan: GridPlan,
  by: string | null,
): Promise<Committed> {
  const { owner, idlocal } = file
  const { grid } = layout
  const { fields, checks } = plan
  let done: Committed = { version: file.content_version, uids: layout.columns.map(({ uid }) => uid) }
  if (plan.columns) done = await writeColumns(writers, file, layout, plan.columns, plan, by)
  else if (fields && Object.keys(fields).length > 0) await writers.files.change(owner, idlocal, fields)
  if (plan.key) {
    const columns = await writers.grids.listColumns(owner, idlocal)
    const primary_key = encodePrimaryKey(namedColumns(columns, plan.key, 'the grid').map(({ uid }) => uid))
    if (primary_key !== grid.primary_key) {
      // Rows that follow do not join a version whose rows had another key.
      await writers.grids.change(owner, idlocal, { primary_key, appended_by: null, appended_since: null })
      await writers.files.change(owner, idlocal)
    }
  }
  if (checks !== undefined && checks !== grid.checks) {
    await writers.grids.change(owner, idlocal, { checks })
    await writers.files.change(owner, idlocal)
  }
  return done
}

/** Writes the columns of a plan, and the version that they belong to. */
async function writeColumns(
  writers: Writers,
  file: FileRow,
  layout: Layout,
  columns: readonly NewColumn[],
  plan: GridPlan,
  by: string | null,
): Promise<Committed> {
  const { owner, idlocal } = file
  const { grid } = layout
  const before: Before = { file, grid }
  const now = Date.now()
  const kind = await versionKind(writers, before, plan, by, now)
  const epoch = { owner, idlocal, epoch: grid.epoch + (kind === 'new' ? 1 : 0) }
  const uids = await replaceColumns(writers, epoch, layout, columns)
  if (kind === 'append') return { uids, version: await appendVersion(writers, before, by) }
  if (kind === 'current') {
    // Its rows are counted when the history is read: one may have changed twice.
    const { content_version: version } = file
    const uncounted = { rows_added: null, rows_removed: null, rows_changed: null }
    await writers.versions.change({ owner, idlocal, version }, uncounted)
    await writers.files.change(owner, idlocal)
    return { uids, version }
  }
  const after = await writers.grids.listColumns(owner, idlocal)
  const change: Change = onlyAdds(plan) ? { operation: 'append', by } : { ...plan.change, by }
  const version = await beginVersion(writers, before, change, { before: layout.columns, after }, plan.fields)
  if ((plan.isSmall || onlyAdds(plan)) && isPlain(writers, plan))
    await writers.grids.change(owner, idlocal, { appended_by: by, appended_since: now })
  return { uids, version }
}

/** Returns whether a plan adds rows and changes none. With a source, it is recorded as an update. */
function onlyAdds({ change }: GridPlan): boolean {
  const { operation, rows_changed, rows_removed, source } = change
  return operation === 'append' || (rows_changed === 0 && rows_removed === 0 && !source)
}

/** Returns whether a change has neither source nor message: one that does is a version by itself. */
function isPlain({ versions }: Writers, { change: { source } }: GridPlan): boolean {
  return (source ?? undefined) === undefined && versions.message === undefined
}

/** Returns whether a change begins a version in a new epoch, adds rows to the current epoch, or joins the current version. */
async function versionKind(
  writers: Writers,
  { file, grid }: Before,
  plan: GridPlan,
  by: string | null,
  now: number,
): Promise<'new' | 'append' | 'current'> {
  const { owner, idlocal, content_version } = file
  const isAppend = onlyAdds(plan)
  if (plan.change.operation === 'update' && (isAppend || plan.isSmall) && isPlain(writers, plan)) {
    if (continuesVersion(grid, by, now)) {
      const current = await writers.versions.get(owner, idlocal, content_version)
      if (current?.operation === 'update') return 'current'
    }
  }
  // Columns that are padded before change what was there.
  return isAppend && grid.ragged === 0 ? 'append' : 'new'
}

/**
 * Makes `wanted` the columns of a grid. Slices that are equal stay as they are. Returns the uids of the columns, in order.
 */
async function replaceColumns(
  writers: Writers,
  epoch: GridEpoch,
  { columns, slices }: Layout,
  wanted: readonly NewColumn[],
): Promise<string[]> {
  const { grids } = writers
  const { owner, idlocal } = epoch
  const stays = new Set(wanted.map(({ uid }) => uid))
  const removed = columns.filter(({ uid }) => !stays.has(uid))
  await grids.removeColumns(
    epoch,
    removed.map(({ uid }) => uid),
  )
  const names = new Set(wanted.map(({ name }) => name))
  await rememberColumns(
    writers,
    epoch,
    removed.filter(({ name }) => !names.has(name)),
  )
  const before = new Map(columns.map((column) => [column.uid, column]))
  const taken = new Set(before.keys())
  const uids: string[] = []
  const added: { position: number; column: NewColumn }[] = []
  const changed: (ColumnRow & { after: NewColumn })[] = []
  for (const [position, column] of wanted.entries()) {
    const old = column.uid === undefined ? undefined : before.get(column.uid)
    uids.push(old?.uid ?? '')
    if (!old) {
      added.push({ position, column })
      continue
    }
    changed.push({ ...old, after: column })
    if (old.name !== column.name || old.position !== position)
      await grids.changeColumn(epoch, old.uid, { name: column.name, position })
  }
  await grids.replaceSlices(
    epoch,
    changed.map(({ uid, after }) => ({ uid, before: slices.get(uid) ?? [], after: after.slices })),
  )
  const grown = changed.filter(({ type, rows, after }) => type !== after.type || rows !== after.rows)
  await grids.changeColumns(
    owner,
    idlocal,
    grown.map(({ uid, after: { type, rows } }) => ({ uid, fields: { type, rows } })),
  )
  // New columns at successive positions are added together.
  for (let k = 0; k < added.length; ) {
    let end = k + 1
    while (end < added.length && added[end].position === added[end - 1].position + 1) end++
    const { position } = added[k]
    const group = added.slice(k, end).map(({ column }) => column)
    const own = await addColumns(writers, epoch, group, taken, position)
    uids.splice(position, own.length, ...own)
    // A transaction that is repeated gives them the same uids.
    for (const [n, column] of group.entries()) column.uid = own[n]
    k = end
  }
  return uids
}

/** Remembers the names of removed columns, if plots refer to their grid: a column added again gets its uid back. */
async function rememberColumns(
  { grids, plots }: Writers,
  grid: Fid,
  columns: readonly Pick<ColumnRow, 'uid' | 'name'>[],
): Promise<void> {
  if (columns.length === 0) return
  const [any] = await plots.listReferencers(grid, 'grid', undefined, false, 1)
  if (any) await grids.rememberRemoved(grid.owner, grid.idlocal, columns)
}
