// What rules are given, and what becomes of them.
import type { CheckResult, FailedRow } from '../../../contract/resources/index.ts'
import type { Work } from '../../../json/index.ts'
import type { Snapshot, SnapshotColumn } from '../column/content.ts'
import type { CellReader } from '../column/kernel/cells.ts'
import type { ColumnValues, KnownHashes } from './column-values.ts'

export interface Checked {
  /** The whole table, as it is after a write. */
  snap: Snapshot
  /** Rows from here on are new: rules of single values are for these. */
  from?: number
  /** The line of a file that a row of the table is from. */
  lineOf?: (row: number) => number | undefined
  /** The version before; undefined: there is none. */
  before?: Snapshot
  /** Whether both are versions of one grid, so that columns are the same by their uids. */
  key?: readonly string[]
  /** Columns that plots use: those that the table lacks. Undefined: it is no grid. */
  lostColumns?: readonly string[]
  work?: Work
}

/** A run of checks: what all rules use. */
export interface Run {
  readonly checked: Checked
  /** Names of the columns of the table. */
  readonly names: readonly string[]
  readonly reader: CellReader
  readonly work: Work
  valuesOf(column: SnapshotColumn): ColumnValues
  /** Checks that no two rows are the same in some columns. */
  unique(columns: readonly SnapshotColumn[], isKey: boolean, known?: KnownHashes): Promise<Outcome>
  /** Returns as many rows as the report may still list. */
  limit<T>(rows: readonly T[]): readonly T[]
  /** Returns a failed row as the report lists it. `first`: the row that it equals. */
  failedRow(row: number, value: unknown, first?: number): FailedRow
}

/** What became of a rule. `count`: values or rows that fail, if it counts them. */
export type Outcome = Pick<CheckResult, 'passed' | 'count' | 'message' | 'rows'>

export const PASSED: Outcome = { passed: true, count: null, message: null, rows: [] }

export function failed(message: string, count: number | null = null): Outcome {
  return { passed: false, count, message, rows: [] }
}

/** The outcome of a rule that cannot be run. */
export function cannotRun(why: string): Outcome {
  return failed(`cannot run: ${why}`)
}
