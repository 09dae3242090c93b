// Appends the rows of a table to a grid; with a key, rows with an existing key are updated in place.

import { Problem } from '../../../contract/errors.ts'
import type { Fid } from '../../../contract/fid.ts'
import { MAX_REMOVED_PERCENT } from '../../../contract/headers.ts'
import { formatCount } from '../../../contract/message-texts.ts'
import type { CheckReport } from '../../../contract/resources/index.ts'
import { isSparse, quoteNumbers } from '../../../ingest/slices.ts'
import type { SliceRef } from '../../store/aggregates/grids.ts'
import { isAssignable, mergeTypes } from '../../store/schema/column-types.ts'
import { primaryKeyUidsOf } from '../../store/schema/primary-key.ts'
import { enforceChecksOnGrid, parseChecksHeader } from '../checks/enforce.ts'
import { columnChunksOf, readRows } from '../column/chunks.ts'
import { repeatValue } from '../column/column-json.ts'
import { CellReader } from '../column/kernel/cells.ts'
import { createLayoutSnapshot, type Layout, type NewColumn } from '../column/layout.ts'
import { formatColumns, largestChunkBytes, type SnapshotColumn } from '../column/snapshot.ts'
import { findMisfit } from '../input/json-rows.ts'
import { checkType, convertSlices, matchColumns, typeAfterConversion } from '../input/match-columns.ts'
import { allowsTypeChange, checkWarnings, type DataCall, parseProvenance } from '../input/reading-options.ts'
import type { Table } from '../input/tables.ts'
import { createTableSnapshot } from '../input/tables.ts'
import { findKeyColumns, parseKeyHeader } from '../keys/primary-key.ts'
import type { GridService } from '../service.ts'
import { appendToColumns, storeRepeated } from './append-values.ts'
import { changeGrid, type RequestPlan } from './change.ts'
import { ColumnEditor } from './edit-slices.ts'
import { createLineLookup, matchRows } from './match-rows.ts'

/** Maximum number of updated rows that join an earlier version. Larger writes can be reverted separately. */
const MAX_JOINED_ROWS = 100

/** Result of an upsert. */
export interface UpsertResult {
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

/** Content of a grid after an upsert, before its checks run. */
interface MergedContent {
  /** Slices of each column of the grid. */
  slices: SliceRef[][]
  rows_added: number
  rows_updated: number
  rows_unchanged: number
  rows_removed: number
  /** First new row, from 0; 0 if existing rows may have changed. */
  from: number
  /** Returns the line of the file for a row of the changed grid. */
  lineOf?: (row: number) => number | undefined
}

/** A table whose columns are matched with those of the grid. */
interface MatchedTable {
  table: Table
  /** Name of the table in messages. */
  source: string
  /** Columns of the grid, padded to the same length. */
  gridColumns: readonly SnapshotColumn[]
  /**
   * For each column of the grid, the column of the table, converted to its type; undefined if it is missing.
   */
  tableColumns: readonly (SnapshotColumn | undefined)[]
  /** Uids of the key columns. Without a key, all rows are appended. */
  key: readonly string[]
}

/**
 * Upserts the rows of `table` by the grid's primary key; without a key, appends them. A key in the request
 * becomes the grid's key. `missing` marks columns that the table lacks; their stored values are kept.
 */
export function upsert(
  service: GridService,
  call: DataCall,
  fid: Fid,
  table: Table,
  missing: readonly boolean[] = [],
): Promise<UpsertResult> {
  const request = { call, fid, table, missing }
  return changeGrid(service, call, fid, (layout) => planUpsert(service, request, layout))
}

/** A table to add to a grid. `missing` marks columns of the grid that the table lacks. */
interface UpsertRequest {
  call: DataCall
  fid: Fid
  table: Table
  missing: readonly boolean[]
}

async function planUpsert(
  service: GridService,
  request: UpsertRequest,
  layout: Layout,
): Promise<RequestPlan<UpsertResult>> {
  const { grid, columns } = layout
  const { call, fid } = request
  const keyNames = parseKeyHeader(call)
  const key = keyNames
    ? findKeyColumns(columns, keyNames, 'the grid').map(({ uid }) => uid)
    : primaryKeyUidsOf(grid)
  if (key.length === 0) checkNoDeleteMissing(call)
  const { matched, warnings } = await matchTable(service, request, layout, key)
  const merged = await (key.length === 0 ? appendAll : mergeByKey)(service, call, layout, matched)
  const { rows_added, rows_updated, rows_unchanged, rows_removed } = merged
  const row_count = grid.row_count + rows_added - rows_removed
  const isTouched = rows_updated + rows_added > 0
  const after = matched.gridColumns.map((column, k): SnapshotColumn => {
    const padded = columns[k].rows < grid.row_count ? mergeTypes(column.type, 'text') : column.type
    const type = mergeTypes(padded, matched.tableColumns[k]?.type ?? 'empty')
    return { ...column, slices: merged.slices[k], rows: row_count, type: isTouched ? type : column.type }
  })
  const checked = await enforceChecksOnGrid(
    service,
    fid,
    layout,
    {
      snap: { blobs: service.store.blobs, columns: after, rows: row_count },
      source: matched.source,
      from: merged.from,
      lineOf: merged.lineOf,
    },
    parseChecksHeader(call),
  )
  checkWarnings(call, checked.warnings)
  warnings.push(...checked.warnings)
  if (rows_updated > 0) warnings.push(...(request.table.updateWarnings ?? []))
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
            source: parseProvenance(call) ?? call.headers['Source-Tag'],
            rows_added,
            rows_changed: rows_updated,
            rows_removed,
          },
    isSmall,
    failedChecks: checked.failedChecks,
    isPartChecked: merged.from > 0,
    createResult: ({ version }) => ({
      idlocal: fid.idlocal,
      ...counts,
      row_count,
      version,
      warnings,
      checks: checked.report,
    }),
  }
}

/**
 * Matches the columns of a table with those of a grid. Throws `bad_data`, `type_change` or `unknown_column`.
 */
async function matchTable(
  service: GridService,
  request: UpsertRequest,
  layout: Layout,
  key: readonly string[],
): Promise<{ matched: MatchedTable; warnings: string[] }> {
  const { call, table, missing } = request
  const { columns } = layout
  const source = call.fileName ?? 'the upload'
  const missingNames: string[] = []
  const inTable = matchColumns(table, columns, source, missingNames).map((column, k) =>
    table.rows > 0 && missing[k] ? undefined : column,
  )
  // With a key, the stored values of missing columns are kept.
  const warnings = [...table.warnings, ...(key.length === 0 ? missingNames : [])]
  const before = await padColumns(service, layout)
  const tableColumns = await convertColumns(service, request, before, inTable, key, warnings)
  checkWarnings(call, warnings)
  const missingKey = columns.find(({ uid }, k) => key.includes(uid) && !tableColumns[k])
  if (missingKey)
    throw new Problem(
      'unknown_column',
      `${source} has no column ${JSON.stringify(missingKey.name)}, which is the key`,
      { hint: `${formatColumns(columns.filter((_, k) => tableColumns[k]))}. Rows are matched by key.` },
    )
  return { matched: { table, source, gridColumns: before, tableColumns, key }, warnings }
}

/**
 * Pads the columns of a grid to the same length, with empty texts. Throws `bad_data` if padding is over 99%.
 */
async function padColumns({ store }: GridService, layout: Layout): Promise<SnapshotColumn[]> {
  const { columns, rows } = createLayoutSnapshot(store, layout)
  const values = columns.reduce((sum, column) => sum + column.rows, 0)
  if (layout.grid.ragged === 1 && isSparse(rows, columns.length, values))
    throw tooSparseError(rows, columns.length)
  const padded: SnapshotColumn[] = []
  for (const column of columns) {
    const missingRows = rows - column.rows
    const padding = missingRows > 0 ? await storeRepeated(store, layout.grid.owner, '""', missingRows) : []
    padded.push({ ...column, rows, slices: [...column.slices, ...padding] })
  }
  return padded
}

/** Converts the columns of a table to the types of the grid. `inTable`: see `matchColumns`. */
async function convertColumns(
  service: GridService,
  { call, table }: UpsertRequest,
  columns: readonly SnapshotColumn[],
  inTable: readonly (NewColumn | undefined)[],
  key: readonly string[],
  warnings: string[],
): Promise<(SnapshotColumn | undefined)[]> {
  const snap = createTableSnapshot(service.store, table)
  const snapshotOf = new Map(table.columns.map((column, k) => [column, snap.columns[k]]))
  const converted: (SnapshotColumn | undefined)[] = []
  for (const [k, column] of inTable.entries()) {
    if (!column) {
      converted.push(undefined)
      continue
    }
    const source = snapshotOf.get(column)!
    const target = columns[k]
    // Numbers of JSON are kept, except in a key: 5 and "5" find the same row.
    const isKept = table.json !== undefined && !key.includes(target.uid)
    const type = isKept ? column.type : typeAfterConversion(column, target.type)
    if (table.json && !allowsTypeChange(call) && !isAssignable(type, target.type))
      throw await findMisfit(table.json, { column: k, name: target.name, type: target.type })
    if (table.small) {
      checkType(call, call.fileName ?? 'the upload', column, target, table.json ? [] : warnings)
      const isQuoted = type === 'text' && column.type === 'number'
      converted.push({ ...source, type, tail: isQuoted ? quoteNumbers(source.tail) : source.tail })
    } else
      converted.push({
        ...source,
        type,
        slices: isKept ? column.slices : await convertSlices(service, call, column, target, warnings),
      })
  }
  return converted
}

/** Appends all rows of a table. Throws `bad_data` if over 99% of the new cells would be empty. */
async function appendAll(
  { store }: GridService,
  _: DataCall,
  { grid }: Layout,
  { table, gridColumns, tableColumns }: MatchedTable,
): Promise<MergedContent> {
  const { rows } = table
  const { owner } = grid
  if (isSparse(rows, gridColumns.length, rows * tableColumns.filter((column) => column).length))
    throw tooSparseError(rows, gridColumns.length)
  const merged = {
    rows_added: rows,
    rows_updated: 0,
    rows_unchanged: 0,
    rows_removed: 0,
    from: grid.row_count,
    lineOf: (row: number) => (row < grid.row_count ? undefined : table.lineOf?.(row - grid.row_count)),
  }
  if (rows === 0) return { ...merged, slices: gridColumns.map(({ slices }) => slices) }
  if (table.small) {
    const nulls = repeatValue('null', rows)
    const grown = gridColumns.map(({ slices }, k) => ({ slices, text: tableColumns[k]?.tail ?? nulls }))
    return { ...merged, slices: await appendToColumns(store.blobs, owner, grown, rows) }
  }
  const slices: SliceRef[][] = []
  for (const [k, column] of gridColumns.entries())
    slices.push([
      ...column.slices,
      ...(tableColumns[k]?.slices ?? (await storeRepeated(store, owner, 'null', rows))),
    ])
  return { ...merged, slices }
}

/** Creates the error for columns of which over 99% of the cells would be empty. */
function tooSparseError(rows: number, columns: number): Problem {
  return new Problem(
    'bad_data',
    `over 99% of the cells of ${rows} rows and ${columns} columns would be empty`,
    { hint: 'Add values to the columns first, or split them into several grids.' },
  )
}

/**
 * Updates rows with an existing key, appends all others; with `Delete-Missing`, removes rows not in the
 * table.
 */
async function mergeByKey(
  { store }: GridService,
  call: DataCall,
  { grid, columns }: Layout,
  { table, source, gridColumns, tableColumns, key }: MatchedTable,
): Promise<MergedContent> {
  const { blobs } = store
  const { owner } = grid
  const reader = CellReader.open(
    Math.max(
      0,
      ...gridColumns.map(largestChunkBytes),
      ...tableColumns.map((column) => (column ? largestChunkBytes(column) : 0)),
    ),
  )
  try {
    const snap = { blobs, columns: [...gridColumns], rows: grid.row_count }
    const keyPositions = key.map((uid) => columns.findIndex((column) => column.uid === uid))
    const removesMissing = call.headers['Delete-Missing'] === true
    const isKeyOfGrid = key.join() === primaryKeyUidsOf(grid).join()
    const rows = await matchRows(reader, snap, tableColumns, {
      keyPositions,
      // The keys of a grid with this key are unique.
      readsAll: removesMissing || !isKeyOfGrid,
      source,
      rows: table.rows,
      lineOf: table.lineOf,
    })
    const removed = removesMissing ? rows.missing : new Int32Array(0)
    checkRemovedRows(call, removed.length, grid.row_count)
    const editor = new ColumnEditor({ blobs, owner }, reader, rows, removed, table.rows)
    const edited: SliceRef[][] = []
    for (const [k, column] of gridColumns.entries())
      edited.push(await editor.edit(column, keyPositions.includes(k) ? undefined : tableColumns[k]))
    const added = rows.added.length
    let slices = edited
    if (added > 0) {
      const nulls = repeatValue('null', added)
      const grown: { slices: SliceRef[]; text: Buffer }[] = []
      for (const [k, column] of tableColumns.entries())
        grown.push({
          slices: edited[k],
          text: column
            ? await readRows(reader, columnChunksOf({ ...snap, rows: table.rows }, column), rows.added)
            : nulls,
        })
      slices = await appendToColumns(blobs, owner, grown, added, keyPositions)
    }
    return {
      slices,
      rows_added: added,
      rows_updated: editor.changedRows,
      rows_unchanged: rows.matched.length - editor.changedRows,
      rows_removed: removed.length,
      from: 0,
      lineOf: createLineLookup(table, rows, removed, grid.row_count),
    }
  } finally {
    reader.release()
  }
}

/** Throws `invalid_request` for `Delete-Missing`, since the grid has no key. */
export function checkNoDeleteMissing({ headers }: DataCall): void {
  if (headers['Delete-Missing'] !== true) return
  throw new Problem('invalid_request', 'Delete-Missing: the grid has no key to match rows by', {
    field: 'Delete-Missing',
    hint: 'Name the columns of the key with --key.',
  })
}

/** Throws `row_loss` if more rows would be removed than `Max-Shrink` allows. */
function checkRemovedRows({ headers }: DataCall, removed: number, rows: number): void {
  const maxPercent = headers['Max-Shrink'] ?? MAX_REMOVED_PERCENT
  if (removed * 100 <= rows * maxPercent) return
  throw new Problem(
    'row_loss',
    `would remove ${removed} of ${formatCount(rows, 'row')} that are not in the file`,
    { hint: 'If that is right, add --yes, or leave out --delete-missing.' },
  )
}
