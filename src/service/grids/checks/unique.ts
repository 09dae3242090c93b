// Finds duplicate rows, for the rules `unique` and `key`.
import { formatCount } from '../../../contract/message-texts.ts'
import type { ColumnChunk } from '../column/chunks.ts'
import { RowHashes } from '../column/kernel/cells.ts'
import type { SnapshotColumn } from '../column/snapshot.ts'
import { RowIndex } from '../diff/common-subsequence.ts'
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
  if (!isKnown) for (const k of columns.keys()) await table.hash(run.reader, k, hashes, false)
  const missingRows = await findRowsWithMissing(run, columns)
  // Key ranges that do not overlap are searched separately: small indexes are faster.
  const listedRows: { row: number; first?: number }[] = []
  let count = 0
  let [duplicateCount, missingCount] = [0, 0]
  let start = 0
  for (const length of rangeLengths) {
    const end = start + length
    const index = ascending.has(start) ? undefined : new RowIndex(hashes, length)
    for (let row = start; index && row < end; row++) {
      if (run.work.spend(4)) await run.work.pause()
      let first: number | undefined
      if (missingRows?.has(row)) {
        if (!isKey) continue
        missingCount++
      } else {
        first = index.add(row)
        if (first === undefined) continue
        duplicateCount++
      }
      count++
      if (listedRows.length < MAX_LISTED_ROWS) listedRows.push({ row, first })
    }
    start = end
    await run.work.spendAndPause(1)
  }
  if (count === 0) return { ...PASSED, count }
  const parts = [
    duplicateCount > 0 &&
      `${formatCount(duplicateCount, 'row')} ${duplicateCount === 1 ? 'is a duplicate' : 'are duplicates'}`,
    missingCount > 0 && `${formatCount(missingCount, 'row')} ${missingCount === 1 ? 'has' : 'have'} no key`,
  ]
  const values = await Promise.all(
    columns.map((column) =>
      readParsedValues(
        run.reader,
        snap,
        column,
        listedRows.map(({ row }) => row),
      ),
    ),
  )
  return {
    passed: false,
    count,
    message: parts.filter(Boolean).join(', '),
    rows: run.takeListed(listedRows).map(({ row, first }, k) => {
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
  const filled = parts.filter(({ rows: count, bounds }) => bounds === undefined || bounds.nulls < count)
  const isOrdered = filled.every(
    ({ bounds }, k) =>
      bounds?.low !== undefined &&
      bounds.high !== undefined &&
      (k === 0 || isLessNumber(filled[k - 1].bounds!.high!, bounds.low)),
  )
  return isOrdered ? parts.map((part) => part.rows) : [rows]
}

/** Returns whether the number `high` is less than the number `low`; false for texts. */
function isLessNumber(high: string, low: string): boolean {
  return !high.startsWith('"') && !low.startsWith('"') && Number(high) < Number(low)
}

const NO_ROWS: ReadonlySet<number> = new Set()
