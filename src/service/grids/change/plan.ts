// Plans of grid changes, and their commit.
import type { Fid } from '../../../contract/fid.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { ColumnRow, GridEpoch } from '../../store/aggregates/grids.ts'
import { encodePrimaryKey } from '../../store/schema/primary-key.ts'
import type { Writers } from '../../store/store.ts'
import type { Layout, NewColumn } from '../column/layout.ts'
import { findKeyColumns } from '../keys/primary-key.ts'
import { addColumns } from './create.ts'
import {
  addVersion,
  assertNotDerived,
  type Change,
  continuesVersion,
  type GridBefore,
  recordAppend,
} from './versions.ts'

/** A prepared change of a grid. Undefined members are not changed. */
export interface GridPlan {
  /** All columns, in order, with stored slices. A column with an existing uid replaces that column. */
  columns?: readonly NewColumn[]
  /** Entry of the history, if columns change. */
  change: Omit<Change, 'by'>
  /** True if few rows are updated. They join the version of earlier updates by the same user. */
  isSmall?: boolean
  /** Names of the primary key columns. An empty list removes the key. */
  key?: readonly string[]
  /** Checks of the grid as JSON; null removes them. */
  checks?: string | null
  /** Fields of the file to change. */
  fields?: Partial<FileRow>
  /** Failed checks, as texts; undefined if none ran. */
  failedChecks?: readonly string[]
  /** Whether only changed rows were checked: others may fail. */
  isPartChecked?: boolean
}

/** Result of a committed plan: the version with its content, and the uids of its columns. */
export interface Committed {
  version: number
  uids: readonly string[]
}

/**
 * Writes a plan, in the transaction that has read `file`. Call it from `changeLayout`, which updates the row
 * count.
 */
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
  let committed: Committed = { version: file.content_version, uids: layout.columns.map(({ uid }) => uid) }
  if (plan.columns)
    committed = await writeColumnsAndVersion(writers, file, layout, { ...plan, columns: plan.columns }, by)
  else if (fields && Object.keys(fields).length > 0) await writers.files.change(owner, idlocal, fields)
  if (grid.has_alerts === 1 && (plan.columns || layout.judgements)) {
    const { judgeWrite } = await import('../alerts/judge.ts')
    const isChange = plan.columns !== undefined
    const { version } = committed
    await judgeWrite(writers, file, { judgements: layout.judgements ?? new Map(), isChange, version })
  }
  if (plan.key) {
    const columns = await writers.grids.listColumns(owner, idlocal)
    const primary_key = encodePrimaryKey(findKeyColumns(columns, plan.key, 'the grid').map(({ uid }) => uid))
    if (primary_key !== grid.primary_key) {
      // Later rows must not join a version whose rows had another key.
      await writers.grids.change(owner, idlocal, { primary_key, appended_by: null, appended_since: null })
      await writers.files.change(owner, idlocal)
    }
  }
  if (checks !== undefined && checks !== grid.checks) {
    await writers.grids.change(owner, idlocal, { checks })
    await writers.files.change(owner, idlocal)
    if (grid.has_alerts === 1) {
      const { judgeChecksAgain } = await import('../alerts/judge.ts')
      await judgeChecksAgain(writers, file)
    }
  }
  return committed
}

/** Writes the columns of a plan, and their version. */
async function writeColumnsAndVersion(
  writers: Writers,
  file: FileRow,
  layout: Layout,
  plan: GridPlan & { columns: readonly NewColumn[] },
  by: string | null,
): Promise<Committed> {
  const { owner, idlocal } = file
  const { grid } = layout
  if (plan.change.operation !== 'refresh') assertNotDerived(file)
  const before: GridBefore = { file, grid }
  const now = Date.now()
  const kind = await chooseVersionKind(writers, before, plan, by, now)
  const epoch = { owner, idlocal, epoch: grid.epoch + (kind === 'new' ? 1 : 0) }
  const uids = await replaceColumns(writers, epoch, layout, plan.columns)
  const names = new Set(layout.columns.map(({ name }) => name))
  if (names.size !== plan.columns.length || plan.columns.some(({ name }) => !names.has(name)))
    await writers.files.indexWordsAgain(owner, idlocal)
  if (kind === 'append') return { uids, version: await recordAppend(writers, before, by) }
  if (kind === 'current') {
    // Row counts are computed when the history is read, since a row may have changed twice.
    const { content_version: version } = file
    const uncounted = { rows_added: null, rows_removed: null, rows_changed: null }
    await writers.versions.change({ owner, idlocal, version }, uncounted)
    await writers.files.change(owner, idlocal)
    return { uids, version }
  }
  const after = await writers.grids.listColumns(owner, idlocal)
  const change: Change = isAppendOnly(plan) ? { operation: 'append', by } : { ...plan.change, by }
  const version = await addVersion(writers, before, change, { before: layout.columns, after }, plan.fields)
  if ((plan.isSmall || isAppendOnly(plan)) && canJoinVersion(writers, plan))
    await writers.grids.change(owner, idlocal, { appended_by: by, appended_since: now })
  return { uids, version }
}

/** Returns whether a plan only adds rows. An update with a source is recorded as an update in any case. */
function isAppendOnly({ change }: GridPlan): boolean {
  const { operation, rows_changed, rows_removed, source } = change
  return operation === 'append' || (rows_changed === 0 && rows_removed === 0 && !source)
}

/** Returns whether a change has neither source nor message. A change with either begins a new version. */
function canJoinVersion({ versions }: Writers, { change: { source } }: GridPlan): boolean {
  return (source ?? undefined) === undefined && versions.message === undefined
}

/**
 * Returns whether a change begins a new epoch, appends to the current epoch, or joins the current version.
 */
async function chooseVersionKind(
  writers: Writers,
  { file, grid }: GridBefore,
  plan: GridPlan,
  by: string | null,
  now: number,
): Promise<'new' | 'append' | 'current'> {
  const { owner, idlocal, content_version } = file
  const isAppend = isAppendOnly(plan)
  if (plan.change.operation === 'update' && (isAppend || plan.isSmall) && canJoinVersion(writers, plan)) {
    if (continuesVersion(grid, by, now)) {
      const current = await writers.versions.get(owner, idlocal, content_version)
      if (current?.operation === 'update') return 'current'
    }
  }
  // Padding of shorter columns changes existing rows, so it needs a new epoch.
  return isAppend && grid.ragged === 0 ? 'append' : 'new'
}

/** Sets the columns of a grid. Unchanged slices are kept. Returns the uids of the columns, in order. */
async function replaceColumns(
  writers: Writers,
  epoch: GridEpoch,
  { columns, slices }: Layout,
  newColumns: readonly NewColumn[],
): Promise<string[]> {
  const { grids } = writers
  const { owner, idlocal } = epoch
  const keptUids = new Set(newColumns.map(({ uid }) => uid))
  const removed = columns.filter(({ uid }) => !keptUids.has(uid))
  await grids.removeColumns(
    epoch,
    removed.map(({ uid }) => uid),
  )
  const names = new Set(newColumns.map(({ name }) => name))
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
  for (const [position, column] of newColumns.entries()) {
    const oldColumn = column.uid === undefined ? undefined : before.get(column.uid)
    uids.push(oldColumn?.uid ?? '')
    if (!oldColumn) {
      added.push({ position, column })
      continue
    }
    changed.push({ ...oldColumn, after: column })
    if (oldColumn.name !== column.name || oldColumn.position !== position)
      await grids.changeColumn(epoch, oldColumn.uid, { name: column.name, position })
  }
  await grids.replaceSlices(
    epoch,
    changed.map(({ uid, after }) => ({ uid, before: slices.get(uid) ?? [], after: after.slices })),
  )
  const retyped = changed.filter(({ type, rows, after }) => type !== after.type || rows !== after.rows)
  await grids.changeColumns(
    owner,
    idlocal,
    retyped.map(({ uid, after: { type, rows } }) => ({ uid, fields: { type, rows } })),
  )
  // New columns at successive positions are added together.
  for (let k = 0; k < added.length; ) {
    let end = k + 1
    while (end < added.length && added[end].position === added[end - 1].position + 1) end++
    const { position } = added[k]
    const group = added.slice(k, end).map(({ column }) => column)
    const groupUids = await addColumns(writers, epoch, group, { taken, position })
    uids.splice(position, groupUids.length, ...groupUids)
    // A repeated transaction must use the same uids.
    for (const [n, column] of group.entries()) column.uid = groupUids[n]
    k = end
  }
  return uids
}

/** Records removed columns if plots refer to the grid: a column added again by name gets its former uid. */
async function rememberColumns(
  { grids, plots }: Writers,
  grid: Fid,
  columns: readonly Pick<ColumnRow, 'uid' | 'name'>[],
): Promise<void> {
  if (columns.length === 0) return
  const [referencer] = await plots.listReferencers(grid, 'grid', undefined, false, 1)
  if (referencer) await grids.rememberRemoved(grid.owner, grid.idlocal, columns)
}
