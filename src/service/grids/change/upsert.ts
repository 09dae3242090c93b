// Adds the rows of a table to a grid; with a key, rows whose key exists are updated in place.

import { Problem } from '../../../contract/errors.ts'
import type { Fid } from '../../../contract/fid.ts'
import { MAX_REMOVED_PERCENT } from '../../../contract/headers.ts'
import { formatCount } from '../../../contract/message-texts.ts'
import type { CheckReport } from '../../../contract/resources/index.ts'
import { isSparse, numbersAsText } from '../../../ingest/index.ts'
import type { SliceRef } from '../../store/aggregates/grids.ts'
import { isAssignable, mergeTypes } from '../../store/schema/column-types.ts'
import { primaryKeyUidsOf } from '../../store/schema/primary-key.ts'
import { enforceOn, givenChecks } from '../checks/enforce.ts'
import { columnsAre, longestText, type SnapshotColumn } from '../column/content.ts'
import { CellReader } from '../column/kernel/cells.ts'
import { type Layout, type NewColumn, snapshotOfLayout } from '../column/layout.ts'
import { partsOf, readRows } from '../column/parts.ts'
import { repeated } from '../column/values.ts'
import { misfitIn } from '../given/json-rows.ts'
import { checkType, convertSlices, matchColumns, typeWithin } from '../given/match-columns.ts'
import { type DataCall, givenProvenance, mayChangeTypes, refuseWarnings } from '../given/reading-options.ts'
import type { Table } from '../given/tables.ts'
import { snapshotOfTable } from '../given/tables.ts'
import { givenKey, namedColumns } from '../keys/key.ts'
import type { GridService } from '../service.ts'
import { changeGrid, type RequestPlan } from './change.ts'
import { ColumnEditor } from './edit-slices.ts'
import { linesAfter, matchRows } from './match-rows.ts'
import { appendToColumns, repeatedSlices } from './merge.ts'

/** Updated rows above which a write is a version by itself, so that a revert can undo it. */
const MAX_JOINED_ROWS = 100

export interface Upserted {
  idlocal: number
  rows_added: number
  /** Absent without a key: rows were appended. */
  rows_updated?: number
  rows_unchanged?: number
  rows_removed?: number
  row_count: number
  version: number
  warnings: string[]
  checks?: CheckReport
}

/** The rows of a grid after the change, not yet checked. */
interface Merged {
  /** By column of the grid. */
  slices: SliceRef[][]
  rows_added: number
  rows_updated: number
  rows_unchanged: number
  rows_removed: number
  /** The first row that is new, from 0; 0 if others may have changed. */
  from: number
  /** The line of the file of a row of the changed grid. */
  lineOf?: (row: number) => number | undefined
}

/** A request that adds rows: the table, matched with the columns of the grid. */
interface MatchedTable {
  table: Table
  /** The name of the table in messages. */
  source: string
  /** The columns of the grid; shorter ones are padded, as for all appends. */
  before: readonly SnapshotColumn[]
  /** The columns of the table with the types of the grid, by column of the grid; undefined where the table has none. */
  given: readonly (SnapshotColumn | undefined)[]
  /** Uids of the key columns; none: all rows are appended. */
  key: readonly string[]
}

/**
 * Upserts the rows of `table` by the key of the grid; without a key, appends them. A key in the request becomes the
 * grid's key. `lacks` marks columns that the table does not have: their stored values are kept.
 */
export function upsert(
  service: GridService,
  call: DataCall,
  fid: Fid,
  table: Table,
  lacks: readonly boolean[] = [],
): Promise<Upserted> {
  return changeGrid(service, call, fid, (layout) => planUpsert(service, call, fid, table, layout, lacks))
}

async function planUpsert(
  service: GridService,
  call: DataCall,
  fid: Fid,
  table: Table,
  layout: Layout,
  lacks: readonly boolean[],
): Promise<RequestPlan<Upserted>> {
  const { grid, columns } = layout
  const { idlocal } = fid
  const keyNames = givenKey(call)
  const key = keyNames
    ? namedColumns(columns, keyNames, 'the grid').map(({ uid }) => uid)
    : primaryKeyUidsOf(grid)
  if (key.length === 0) refuseDeleteMissing(call)
  const { matched, warnings } = await matchTable(service, call, table, layout, key, lacks)
  const merged = await (key.length === 0 ? appendAll : mergeByKey)(service, call, layout, matched)
  const { rows_added, rows_updated, rows_unchanged, rows_removed } = merged
  const row_count = grid.row_count + rows_added - rows_removed
  const isTouched = rows_updated + rows_added > 0
  const after = matched.before.map((column, k): SnapshotColumn => {
    const padded = columns[k].rows < grid.row_count ? mergeTypes(column.type, 'text') : column.type
    const type = mergeTypes(padded, matched.given[k]?.type ?? 'empty')
    return { ...column, slices: merged.slices[k], rows: row_count, type: isTouched ? type : column.type }
  })
  const checked = await enforceOn(
    service,
    fid,
    layout,
    {
      snap: { blobs: service.store.blobs, columns: after, rows: row_count },
      source: matched.source,
      from: merged.from,
      lineOf: merged.lineOf,
    },
    givenChecks(call),
  )
  refuseWarnings(call, checked.warnings)
  warnings.push(...checked.warnings)
  const isSmall =
    call.operation !== 'grids.upload' &&
    rows_removed === 0 &&
    rows_updated <= MAX_JOINED_ROWS &&
    after.every(({ type }, k) => type === columns[k].type)
  const counts =
    key.length === 0 ? { rows_added } : { rows_added, rows_updated, rows_unchanged, rows_removed }
  return {
    columns: isTouched || rows_removed > 0 ? after : undefined,
    key: keyNames,
    change:
      key.length === 0
        ? { operation: 'append' }
        : {
            operation: 'update',
            source: givenProvenance(call) ?? call.headers['Source-Tag'],
            rows_added,
            rows_changed: rows_updated,
            rows_removed,
          },
    isSmall,
    result: ({ version }) => ({ idlocal, ...counts, row_count, version, warnings, checks: checked.report }),
  }
}

/** Matches the columns of a table with those of a grid. Throws `bad_data`, `type_change` or `unknown_column`. */
async function matchTable(
  service: GridService,
  call: DataCall,
  table: Table,
  layout: Layout,
  key: readonly string[],
  lacks: readonly boolean[],
): Promise<{ matched: MatchedTable; warnings: string[] }> {
  const { columns } = layout
  const source = call.fileName ?? 'the upload'
  const missing: string[] = []
  const inTable = matchColumns(table, columns, source, missing).map((column, k) =>
    table.rows > 0 && lacks[k] ? undefined : column,
  )
  // With a key, values of columns that the table lacks are kept.
  const warnings = [...table.warnings, ...(key.length === 0 ? missing : [])]
  const before = await paddedColumns(service, layout)
  const given = await convertColumns(service, call, table, before, inTable, warnings)
  refuseWarnings(call, warnings)
  const lacking = columns.find(({ uid }, k) => key.includes(uid) && !given[k])
  if (lacking)
    throw new Problem(
      'unknown_column',
      `${source} has no column ${JSON.stringify(lacking.name)}, which is the key`,
      { hint: `${columnsAre(columns.filter((_, k) => given[k]))}. A row is found by its key.` },
    )
  return { matched: { table, source, before, given, key }, warnings }
}

/** Returns the columns of a grid; shorter ones are padded with empty texts. Throws `bad_data` if most cells are padding. */
async function paddedColumns({ store }: GridService, layout: Layout): Promise<SnapshotColumn[]> {
  const { columns, rows } = snapshotOfLayout(store, layout)
  const values = columns.reduce((sum, column) => sum + column.rows, 0)
  if (layout.grid.ragged === 1 && isSparse(rows, columns.length, values))
    throw tooSparse(rows, columns.length)
  const padded: SnapshotColumn[] = []
  for (const column of columns) {
    const fill = rows - column.rows
    const more = fill > 0 ? await repeatedSlices(store, layout.grid.owner, '""', fill) : []
    padded.push({ ...column, rows, slices: [...column.slices, ...more] })
  }
  return padded
}

/** Returns the columns of a table by the columns of the grid, with values of their types. */
async function convertColumns(
  service: GridService,
  call: DataCall,
  table: Table,
  columns: readonly SnapshotColumn[],
  inTable: readonly (NewColumn | undefined)[],
  warnings: string[],
): Promise<(SnapshotColumn | undefined)[]> {
  const snap = snapshotOfTable(service.store, table)
  const given: (SnapshotColumn | undefined)[] = []
  for (const [k, column] of inTable.entries()) {
    if (!column) {
      given.push(undefined)
      continue
    }
    const own = snap.columns[table.columns.indexOf(column)]
    const target = columns[k]
    const type = typeWithin(column, target.type)
    if (table.json && !mayChangeTypes(call) && !isAssignable(type, target.type))
      throw await misfitIn(table.json, { column: k, name: target.name, type: target.type })
    if (table.small) {
      checkType(call, call.fileName ?? 'the upload', column, target, table.json ? [] : warnings)
      const isQuoted = type === 'text' && column.type === 'number'
      given.push({ ...own, type, tail: isQuoted ? numbersAsText(own.tail) : own.tail })
    } else given.push({ ...own, type, slices: await convertSlices(service, call, column, target, warnings) })
  }
  return given
}

/** Appends all rows of a table. Throws `bad_data` if most cells of the new rows would be empty. */
async function appendAll(
  { store }: GridService,
  _: DataCall,
  { grid }: Layout,
  { table, before, given }: MatchedTable,
): Promise<Merged> {
  const { rows } = table
  const { owner } = grid
  if (isSparse(rows, before.length, rows * given.filter((column) => column).length))
    throw tooSparse(rows, before.length)
  const merged = {
    rows_added: rows,
    rows_updated: 0,
    rows_unchanged: 0,
    rows_removed: 0,
    from: grid.row_count,
    lineOf: table.lineOf && ((row: number) => table.lineOf!(row - grid.row_count)),
  }
  if (rows === 0) return { ...merged, slices: before.map(({ slices }) => slices) }
  if (table.small) {
    const nulls = repeated('null', rows)
    const grown = before.map(({ slices }, k) => ({ slices, text: given[k]?.tail ?? nulls }))
    return { ...merged, slices: await appendToColumns(store.blobs, owner, grown, rows) }
  }
  const slices: SliceRef[][] = []
  for (const [k, column] of before.entries())
    slices.push([
      ...column.slices,
      ...(given[k]?.slices ?? (await repeatedSlices(store, owner, 'null', rows))),
    ])
  return { ...merged, slices }
}

/** The error for an append that fills fewer than one cell in 100. */
function tooSparse(rows: number, columns: number): Problem {
  return new Problem(
    'bad_data',
    `${rows} rows and ${columns} columns, of which fewer than one cell in 100 would be filled`,
    { hint: 'Add values to the columns first, or split them into several grids.' },
  )
}

/** Updates rows whose key exists, appends all others, and with `Delete-Missing` removes rows that the table lacks. */
async function mergeByKey(
  { store }: GridService,
  call: DataCall,
  { grid, columns }: Layout,
  { table, source, before, given, key }: MatchedTable,
): Promise<Merged> {
  const { blobs } = store
  const { owner } = grid
  const reader = CellReader.open(
    Math.max(0, ...before.map(longestText), ...given.map((one) => (one ? longestText(one) : 0))),
  )
  try {
    const snap = { blobs, columns: [...before], rows: grid.row_count }
    const at = key.map((uid) => columns.findIndex((column) => column.uid === uid))
    const rows = await matchRows(reader, snap, given, at, { source, rows: table.rows, lineOf: table.lineOf })
    const isRemoving = call.headers['Delete-Missing'] === true
    const removed = isRemoving ? rows.missing : new Int32Array(0)
    refuseRemoval(call, removed.length, grid.row_count)
    const editor = new ColumnEditor(blobs, owner, reader, rows, table.rows, isRemoving)
    const edited: SliceRef[][] = []
    for (const [k, column] of before.entries())
      edited.push(await editor.edit(column, at.includes(k) ? undefined : given[k]))
    const added = rows.added.length
    let slices = edited
    if (added > 0) {
      const nulls = repeated('null', added)
      const grown: { slices: SliceRef[]; text: Buffer }[] = []
      for (const [k, column] of given.entries())
        grown.push({
          slices: edited[k],
          text: column
            ? await readRows(reader, partsOf({ ...snap, rows: table.rows }, column), rows.added)
            : nulls,
        })
      slices = await appendToColumns(blobs, owner, grown, added, at)
    }
    return {
      slices,
      rows_added: added,
      rows_updated: editor.changedRows,
      rows_unchanged: rows.matched.length - editor.changedRows,
      rows_removed: removed.length,
      from: 0,
      lineOf: linesAfter(table, rows, removed, grid.row_count),
    }
  } finally {
    reader.release()
  }
}

/** Throws `invalid_request` if missing rows should be removed: the grid has no key to match them by. */
export function refuseDeleteMissing({ headers }: DataCall): void {
  if (headers['Delete-Missing'] !== true) return
  throw new Problem('invalid_request', 'Delete-Missing: the grid has no key by which rows are found', {
    field: 'Delete-Missing',
    hint: 'Name the columns of the key with --key.',
  })
}

/** Throws `row_loss` if more rows would be removed than `Max-Shrink` allows. */
function refuseRemoval({ headers }: DataCall, removed: number, rows: number): void {
  const maxPercent = headers['Max-Shrink'] ?? MAX_REMOVED_PERCENT
  if (removed * 100 <= rows * maxPercent) return
  throw new Problem(
    'row_loss',
    `the file lacks ${formatCount(removed, 'row')} of the ${rows} that the grid has, which would be removed`,
    { hint: 'If that is right, add --yes, or leave out --delete-missing.' },
  )
}
