/** Checks as they are run. Checks files become these: see docs/checks.md. */
import type { Severity } from '../contract/resources/index.ts'

export const checkTypes = [
  'text',
  'number',
  'integer',
  'boolean',
  'date',
  'datetime',
  'time',
  'json',
] as const
export type CheckType = (typeof checkTypes)[number]

/** Both ends count. */
export interface Range {
  from?: number
  to?: number
}

/** A rule of the values of a column. Missing values break `required` and `nulls` only. */
export type ValueRule =
  | { rule: 'type'; type: CheckType; texts?: readonly string[] }
  | { rule: 'required' }
  | { rule: 'enum'; values: readonly (string | number | boolean)[] }
  | { rule: 'pattern'; pattern: string }
  | { rule: 'minimum' | 'maximum'; value: number | string; isExclusive: boolean }
  | { rule: 'length'; range: Range }

/** A rule of a column as a whole. */
export type ColumnRule =
  | ValueRule
  | { rule: 'unique' }
  /** At most this share of values is missing. */
  | { rule: 'nulls'; most: number }
  /** The newest date is at most this old, in ms. `given`: as it is written. */
  | { rule: 'max_age'; ms: number; given: string }
  /** Nothing that can be run: it has failed. */
  | { rule: string; cannot: string }

export type TableRule =
  | { rule: 'key' | 'unique'; columns: readonly string[] }
  | { rule: 'rows'; range: Range }
  | { rule: 'columns'; column: string }
  /** No row for which this is false; docs/filtering.md. */
  | { rule: 'where'; where: string }
  | { rule: 'extra_columns'; columns: readonly string[] }
  | { rule: 'column_order'; columns: readonly string[] }
  | { rule: 'plot_columns' }
  /** Percent by which the number of rows changes since the last version. */
  | { rule: 'change.rows'; range: Range }
  /** At most this share of the rows of the last version is removed. */
  | { rule: 'change.removed'; most: number }
  | { rule: string; cannot: string }

export type WithSeverity<R> = R & { severity: Severity }

export interface Checks {
  columns: { column: string; isOptional: boolean; severity: Severity; rules: WithSeverity<ColumnRule>[] }[]
  table: WithSeverity<TableRule>[]
  /** Texts that are missing values, as empty ones are. */
  missing: readonly string[]
}
