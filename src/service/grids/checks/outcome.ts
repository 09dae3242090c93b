// Inputs and outcomes of rules.
import type { CheckResult, FailedRow } from '../../../contract/resources/index.ts'
import type { WorkBudget } from '../../../json/index.ts'
import type { CellReader } from '../column/kernel/cells.ts'
import type { Snapshot, SnapshotColumn } from '../column/snapshot.ts'
import type { ColumnHashes, ColumnValues } from './column-values.ts'

/** A table to check, and its context. */
export interface CheckedTable {
  /** The whole table, as it is after a write. */
  snap: Snapshot
  /** First new row, from 0: rules of single values apply from here on. */
  from?: number
  /** Returns the line of the file for a row. */
  lineOf?: (row: number) => number | undefined
  /** Previous version; undefined if there is none. */
  before?: Snapshot
  /** Names of the primary key columns, to compare with the previous version. */
  key?: readonly string[]
  /** Names of columns that plots use and the table lacks; undefined if the table is not a grid. */
  lostColumns?: readonly string[]
  work?: WorkBudget
}

/** One execution of checks, which all rules share. */
export interface CheckRun {
  readonly checked: CheckedTable
  /** Names of the columns of the table. */
  readonly names: readonly string[]
  readonly reader: CellReader
  readonly work: WorkBudget
  valuesOf(column: SnapshotColumn): ColumnValues
  /** Checks that no two rows have the same values in `columns`. `isKey`: missing values fail, too. */
  unique(columns: readonly SnapshotColumn[], isKey: boolean, known?: ColumnHashes): Promise<Outcome>
  /** Returns as many rows as the report can still list. */
  takeListed<T>(rows: readonly T[]): readonly T[]
  /** Converts a failed row for the report. `first`: the earlier row that it duplicates. */
  toFailedRow(row: number, value: unknown, first?: number): FailedRow
}

/** Outcome of a rule. `count`: number of values or rows that fail; null if they are not counted. */
export type Outcome = Pick<CheckResult, 'passed' | 'count' | 'message' | 'rows'>

export const PASSED: Outcome = { passed: true, count: null, message: null, rows: [] }

/** Creates the outcome of a failed rule without rows. */
export function failedOutcome(message: string, count: number | null = null): Outcome {
  return { passed: false, count, message, rows: [] }
}

/** Creates the outcome of a rule that cannot run, which counts as failed. */
export function cannotRunOutcome(why: string): Outcome {
  return failedOutcome(`cannot run: ${why}`)
}
