// Rules that no two rows are the same in some columns.
import { formatCount } from '../../../contract/message-texts.ts'
import type { SnapshotColumn } from '../column/content.ts'
import { RowHashes } from '../column/kernel/cells.ts'
import type { Part } from '../column/parts.ts'
import { ChunkedTable } from '../diff/chunks.ts'
import { MAX_ROWS } from '../diff/diff.ts'
import { RowIndex } from '../diff/sequence.ts'
import { type KnownHashes, MAX_LISTED, readValues } from './column-values.ts'
import { cannotRun, type Outcome, PASSED, type Run } from './outcome.ts'

/**
 * Finds rows whose values in some columns equal those of an earlier row; with `isKey`, also rows that miss one. `known`:
 * hashes of a single column, if they are computed.
 */
export async function findDuplicates(
  run: Run,
  columns: readonly SnapshotColumn[],
  isKey: boolean,
  known: KnownHashes | undefined,
): Promise<Outcome> {
  await run.work.pause()
  const { snap } = run.checked
  if (snap.rows > MAX_ROWS) return cannotRun(`the table has more than ${MAX_ROWS} rows`)
  const table = new ChunkedTable(snap, columns, run.work)
  const rows = table.choose(table.chunks)
  const runs = columns.length === 1 ? runsOf(table.parts[0], rows) : [rows]
  const isApart = runs.length > 1 || table.parts[0]?.length === 1
  // Values that ascend are unique; where parts can have the same ones, they are compared as others.
  const ascending = known && isApart ? known.ascending : NO_ROWS
  const isKnown = known !== undefined && (isApart || known.ascending.size === 0)
  const hashes = isKnown ? known.hashes : new RowHashes(rows)
  if (!isKnown) for (const k of columns.keys()) await table.hash(run.reader, k, hashes, false)
  const missing = await rowsMissing(run, columns)
  // Parts whose values cannot be the same are looked at one by one: what is small is fast.
  const listedRows: { row: number; first?: number }[] = []
  let count = 0
  let [twice, without] = [0, 0]
  let start = 0
  for (const length of runs) {
    const end = start + length
    const index = ascending.has(start) ? undefined : new RowIndex(hashes, length)
    for (let row = start; index && row < end; row++) {
      if (run.work.spend(4)) await run.work.pause()
      let first: number | undefined
      if (missing?.has(row)) {
        if (!isKey) continue
        without++
      } else {
        first = index.add(row)
        if (first === undefined) continue
        twice++
      }
      count++
      if (listedRows.length < MAX_LISTED) listedRows.push({ row, first })
    }
    start = end
    await run.work.spendAndPause(1)
  }
  if (count === 0) return { ...PASSED, count }
  const said = [
    twice > 0 && `${formatCount(twice, 'row')} ${twice === 1 ? 'is a duplicate' : 'are duplicates'}`,
    without > 0 && `${formatCount(without, 'row')} ${without === 1 ? 'has' : 'have'} no key`,
  ]
  const values = await Promise.all(
    columns.map((column) =>
      readValues(
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
    message: said.filter(Boolean).join(', '),
    rows: run.limit(listedRows).map(({ row, first }, k) => {
      const value =
        columns.length === 1
          ? values[0][k]
          : columns.map(({ name }, c) => `${name} ${values[c][k]}`).join(', ')
      return run.failedRow(row, value, first)
    }),
  }
}

/** Returns the rows that miss a value in one of some columns; undefined if there are none. */
async function rowsMissing(run: Run, columns: readonly SnapshotColumn[]): Promise<Set<number> | undefined> {
  const rows = new Set<number>()
  for (const column of columns) await run.valuesOf(column).missing((row) => rows.add(row))
  return rows.size > 0 ? rows : undefined
}

/** The lengths of runs of parts: no value of one can be in another. All rows are one run unless bounds say so. */
function runsOf(parts: readonly Part[], rows: number): number[] {
  const own = parts.filter(({ rows: count, bounds }) => bounds === undefined || bounds.nulls < count)
  const isOrdered = own.every(
    ({ bounds }, k) =>
      bounds?.low !== undefined &&
      bounds.high !== undefined &&
      (k === 0 || isBefore(own[k - 1].bounds!.high!, bounds.low)),
  )
  return isOrdered ? parts.map((part) => part.rows) : [rows]
}

/** Whether every value up to one is less than another: of numbers. */
function isBefore(high: string, low: string): boolean {
  return !high.startsWith('"') && !low.startsWith('"') && Number(high) < Number(low)
}

const NO_ROWS: ReadonlySet<number> = new Set()
