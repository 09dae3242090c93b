// Finds duplicate rows, for the rules `unique` and `key`.
import { formatCount } from '../../../contract/message-texts.ts'
import { comparisonOf } from '../../store/schema/column-types.ts'
import { areChunksOrdered, type ColumnChunk } from '../column/chunks.ts'
import { RowHashes } from '../column/kernel/cells.ts'
import type { SnapshotColumn } from '../column/snapshot.ts'
import { RowIndex, type RowRange } from '../diff/common-subsequence.ts'
import { MAX_DIFF_ROWS } from '../diff/diff-inputs.ts'
import { GroupedTable } from '../diff/row-groups.ts'
import { type ColumnHashes, MAX_LISTED_ROWS, readParsedValues } from './column-values.ts'
import { type CheckRun, cannotRunOutcome, type Outcome, PASSED } from './outcome.ts'

/**
 * Finds rows whose values in `columns` equal those of an earlier row; with `isKey`, also rows with a missing
 * value. `known`: hashes of a single column, if they are already computed.
 */
export async function findDuplicates(
  run: CheckRun,
  columns: readonly SnapshotColumn[],
  isKey: boolean,
  knownHashes: ColumnHashes | undefined,
): Promise<Outcome> {
  await run.work.pause()
  const { snap } = run.checked
  if (snap.rows > MAX_DIFF_ROWS) return cannotRunOutcome(`the table has more than ${MAX_DIFF_ROWS} rows`)
  const table = new GroupedTable(snap, columns, run.work)
  const rows = table.choose(table.rowGroups)
  const rangeLengths = columns.length === 1 ? rangeLengthsOf(table.chunks[0], rows) : [rows]
  const areRangesSeparate = rangeLengths.length > 1 || table.chunks[0]?.length === 1
  // Ascending values are unique. If other chunks can have the same values, compare them like all others.
  const ascending = knownHashes && areRangesSeparate ? knownHashes.ascending : NO_ROWS
  const isKnown = knownHashes !== undefined && (areRangesSeparate || knownHashes.ascending.size === 0)
  const hashes = isKnown ? knownHashes.hashes : new RowHashes(rows)
  if (!isKnown)
    for (const [k, { type }] of columns.entries())
      await table.hash(run.reader, k, hashes, comparisonOf(type, type))
  const missing = await findRowsWithMissing(run, columns)
  const found: Duplicates = { rows: [], duplicates: 0, missing: 0 }
  // Key ranges that do not overlap are searched separately: small indexes are faster.
  let start = 0
  for (const length of rangeLengths) {
    const range = { from: start, to: start + length }
    if (!ascending.has(start)) await searchRange(run, hashes, range, { missing, isKey }, found)
    start = range.to
    await run.work.spendAndPause(1)
  }
  const count = found.duplicates + found.missing
  return count === 0 ? { ...PASSED, count } : toOutcome(run, columns, found)
}

/** Rows that equal an earlier one or have no key, and the first of them. `first`: the earlier row. */
interface Duplicates {
  rows: { row: number; first?: number }[]
  duplicates: number
  missing: number
}

/** Adds the duplicates in a range of rows to `found`. Rows in `missing` have no key, or are skipped. */
async function searchRange(
  { work }: CheckRun,
  hashes: RowHashes,
  { from, to }: RowRange,
  { missing, isKey }: { missing: ReadonlySet<number> | undefined; isKey: boolean },
  found: Duplicates,
): Promise<void> {
  const index = new RowIndex(hashes, to - from)
  for (let row = from; row < to; row++) {
    if (work.spend(4)) await work.pause()
    let first: number | undefined
    if (missing?.has(row)) {
      if (!isKey) continue
      found.missing++
    } else {
      first = index.add(row)
      if (first === undefined) continue
      found.duplicates++
    }
    if (found.rows.length < MAX_LISTED_ROWS) found.rows.push({ row, first })
  }
}

/** Describes duplicates, with the values of the listed rows. */
async function toOutcome(
  run: CheckRun,
  columns: readonly SnapshotColumn[],
  { rows, duplicates, missing }: Duplicates,
): Promise<Outcome> {
  const parts = [
    duplicates > 0 &&
      `${formatCount(duplicates, 'row')} ${duplicates === 1 ? 'is a duplicate' : 'are duplicates'}`,
    missing > 0 && `${formatCount(missing, 'row')} ${missing === 1 ? 'has' : 'have'} no key`,
  ]
  const numbers = rows.map(({ row }) => row)
  const values = await Promise.all(
    columns.map((column) => readParsedValues(run.reader, run.checked.snap, column, numbers)),
  )
  return {
    passed: false,
    count: duplicates + missing,
    message: parts.filter(Boolean).join(', '),
    rows: run.takeListed(rows).map(({ row, first }, k) => {
      const value =
        columns.length === 1
          ? values[0][k]
          : columns.map(({ name }, c) => `${name} ${values[c][k]}`).join(', ')
      return run.toFailedRow(row, value, first)
    }),
  }
}

/** Returns the rows with a missing value in any of the columns; undefined if there are none. */
async function findRowsWithMissing(
  run: CheckRun,
  columns: readonly SnapshotColumn[],
): Promise<Set<number> | undefined> {
  const rows = new Set<number>()
  for (const column of columns) await run.valuesOf(column).countMissing((row) => rows.add(row))
  return rows.size > 0 ? rows : undefined
}

/** Returns the lengths of row ranges whose values do not overlap. Without bounds, all rows are one range. */
function rangeLengthsOf(parts: readonly ColumnChunk[], rows: number): number[] {
  return areChunksOrdered(parts) ? parts.map((part) => part.rows) : [rows]
}

const NO_ROWS: ReadonlySet<number> = new Set()
