// Types of parsed checks (docs/checks.md).
import type { Severity } from '../contract/resources/index.ts'

export const CHECK_TYPES = [
  'text',
  'number',
  'integer',
  'boolean',
  'date',
  'datetime',
  'time',
  'json',
] as const
export type CheckType = (typeof CHECK_TYPES)[number]

/** Range that includes both limits. An absent limit is open. */
export interface Range {
  from?: number
  to?: number
}

/** Rule for each value of a column. Missing values fail only `required`. */
export type ValueRule =
  | { rule: 'type'; type: CheckType; texts?: readonly string[] }
  | { rule: 'required' }
  | { rule: 'enum'; values: readonly (string | number | boolean)[] }
  | { rule: 'pattern'; pattern: string }
  | { rule: 'minimum'; value: number | string; isExclusive: boolean }
  | { rule: 'maximum'; value: number | string; isExclusive: boolean }
  | { rule: 'length'; range: Range }

/** Rule for a column as a whole. */
export type WholeColumnRule =
  | { rule: 'unique' }
  /** Maximum share of missing values, from 0 to 1. */
  | { rule: 'nulls'; maxShare: number }
  /** Maximum age of the newest date, in ms. `written`: the duration as written in the file. */
  | { rule: 'max_age'; ms: number; written: string }
  | CannotRule

export type ColumnRule = ValueRule | WholeColumnRule

/** Constraint of a Table Schema that cannot be checked: it always fails, under its name. */
export interface CannotRule {
  rule: 'cannot'
  name: string
  why: string
}

/** Rule for the table as a whole. */
export type TableRule =
  | { rule: 'key'; columns: readonly string[] }
  | { rule: 'unique'; columns: readonly string[] }
  | { rule: 'rows'; range: Range }
  | { rule: 'columns'; column: string }
  /** Condition that must be true for every row (docs/filtering.md). */
  | { rule: 'where'; where: string }
  | { rule: 'extra_columns'; columns: readonly string[] }
  | { rule: 'column_order'; columns: readonly string[] }
  | { rule: 'plot_columns' }
  /** Allowed change of the number of rows since the last version, in percent. */
  | { rule: 'change.rows'; range: Range }
  /** Maximum share of the rows of the last version that may be removed, from 0 to 1. */
  | { rule: 'change.removed'; maxShare: number }
  | CannotRule

export type WithSeverity<R> = R & { severity: Severity }

/** Parsed checks file. */
export interface Checks {
  columns: { column: string; isOptional: boolean; severity: Severity; rules: WithSeverity<ColumnRule>[] }[]
  table: WithSeverity<TableRule>[]
  /** Texts that count as missing values, besides empty ones. */
  missing: readonly string[]
}
