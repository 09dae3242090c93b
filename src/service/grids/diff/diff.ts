// Compares two tables: columns, rows and cells (docs/diff.md).

import { WorkBudget } from '../../../json/index.ts'
import { mergeSort } from '../../../query/merge-sort.ts'
import { familyOf } from '../../store/schema/column-types.ts'
import { CellReader } from '../column/kernel/cells.ts'
import type { SnapshotColumn } from '../column/snapshot.ts'
import { ChangedCells } from './changed-cells.ts'
import type { ColumnPair, ComparedTables, DiffInput, DiffOptions, RowChange } from './diff-inputs.ts'
import { findUniqueColumn, matchByKey } from './match-by-key.ts'
import { matchInOrder } from './match-in-order.ts'
import { findMovedColumns, pairColumns } from './pair-columns.ts'
import { PairedRowGroups } from './paired-row-groups.ts'
import { GroupedTable } from './row-groups.ts'

export interface TableDiff {
  /** Columns of both tables. */
  pairs: ColumnPair[]
  /** Columns of one table only. */
  added: SnapshotColumn[]
  removed: SnapshotColumn[]
  /** Columns of both tables with a different position. */
  moved: ReadonlySet<ColumnPair>
  rows: { added: number; removed: number; changed: number }
  /** Number of changed cells, by column pair. */
  cells: number[]
  /** Changed rows in order; a removed row comes before the row at its position. */
  changes: RowChange[]
  isReordered: boolean
  /** Without a key: the column that best helps to recognize rows. */
  context?: ColumnPair
  /** Without a key: a column whose values are unique in both tables. */
  unique?: ColumnPair
}

/**
 * Compares two tables. Throws `bad_data` (a key is null or not unique), `unknown_column`, `too_large`,
 * `aborted`.
 */
export async function diffTables(
  before: DiffInput,
  after: DiffInput,
  options: DiffOptions,
): Promise<TableDiff> {
  const { work = new WorkBudget(), tolerance = 0 } = options
  const { pairs, added, removed } = pairColumns(before, after, options)
  const left = new GroupedTable(
    before.snap,
    pairs.map((pair) => pair.before),
    work,
  )
  const right = new GroupedTable(
    after.snap,
    pairs.map((pair) => pair.after),
    work,
  )
  const reader = CellReader.open(Math.max(left.largestChunkBytes, right.largestChunkBytes))
  try {
    const tables: ComparedTables = { before, after, left, right, pairs, reader, work }
    const isKeyed = options.key.length > 0
    const aligned = new PairedRowGroups(tables, tolerance, isKeyed)
    const matches = isKeyed
      ? await matchByKey(tables, aligned)
      : await matchInOrder(tables, tolerance, aligned)
    const cells = new ChangedCells(tables, matches.pairs, tolerance)
    await cells.compare()
    const changes = await sortChanges(
      matches.single.concat(aligned.changes, await cells.listChangedRows()),
      work,
    )
    const needsContext = options.context === true && !isKeyed && changes.length > 0
    return {
      pairs,
      added,
      removed,
      ...(needsContext && { context: contextColumnOf(pairs), unique: await findUniqueColumn(tables) }),
      moved: await findMovedColumns(pairs, work),
      isReordered: matches.isReordered === true,
      rows: {
        added: countChanges(matches.single, (change) => change.before < 0),
        removed: countChanges(matches.single, (change) => change.after < 0),
        changed: cells.changedRows + aligned.changes.length,
      },
      cells: cells.byPair.map((count, k) => count + aligned.cells[k]),
      changes,
    }
  } finally {
    reader.release()
  }
}

function countChanges(changes: readonly RowChange[], isCounted: (change: RowChange) => boolean): number {
  let total = 0
  for (const change of changes) if (isCounted(change)) total++
  return total
}

/** Sorts changes by row; a removed row comes before the row at its position. */
async function sortChanges(changes: RowChange[], work: WorkBudget): Promise<RowChange[]> {
  const positionOf = ({ before: a, after: b }: RowChange): number => (b < 0 ? a : b)
  const compare = (a: RowChange, b: RowChange): number =>
    positionOf(a) - positionOf(b) || Number(a.after >= 0) - Number(b.after >= 0)
  const rows = await countUp(changes.length, work)
  const order = await mergeSort(rows, (a, b) => compare(changes[a], changes[b]) || a - b, work)
  const sorted: RowChange[] = new Array(changes.length)
  for (let k = 0; k < sorted.length; k++) {
    sorted[k] = changes[order[k]]
    if (work.spend(1)) await work.pause()
  }
  return sorted
}

/** Returns the numbers from 0 up to `count`, exclusive. */
async function countUp(count: number, work: WorkBudget): Promise<Uint32Array> {
  const numbers = new Uint32Array(count)
  for (let k = 0; k < count; k++) {
    numbers[k] = k
    if (work.spend(1)) await work.pause()
  }
  return numbers
}

/** Returns the first column of texts, else of dates, else the first column. */
function contextColumnOf(pairs: readonly ColumnPair[]): ColumnPair | undefined {
  const ofFamily = (wanted: string): ColumnPair | undefined =>
    pairs.find(({ after }) => familyOf(after.type) === wanted)
  return ofFamily('text') ?? ofFamily('date') ?? ofFamily('datetime') ?? pairs[0]
}
