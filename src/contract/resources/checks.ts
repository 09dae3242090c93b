/** What grids are checked for, and what checks find. See docs/checks.md. */
import * as s from '../schema.ts'

export const severities = ['error', 'warn'] as const
export type Severity = (typeof severities)[number]

/** A row that breaks a rule. Of duplicates with the first row that has the same values. */
export const FailedRow = s.object({
  row: s.integer({ description: 'Its number in the table, from 1.' }),
  line: s.nullable(s.integer({ description: 'Its line in the file; null if it is in none.' })),
  value: s.nullable(s.anything() as s.Schema<string | number | boolean | null>),
  same_as: s.optional(s.object({ row: s.integer(), line: s.nullable(s.integer()) })),
})
export type FailedRow = s.Static<typeof FailedRow>

/** What became of one rule. */
export const CheckResult = s.object({
  column: s.nullable(s.string({ description: 'null: a rule of the table.' })),
  rule: s.string({ description: 'Its name, as in a checks file.' }),
  expected: s.string({ description: 'What the rule says, in words.' }),
  severity: s.enumOf(severities),
  passed: s.boolean(),
  count: s.nullable(
    s.integer({ description: 'How many values or rows break it; null: it is not about single ones.' }),
  ),
  message: s.nullable(s.string({ description: 'What is wrong; null if it passed.' })),
  rows: s.array(FailedRow, { description: 'The first 20 rows that break it.' }),
})
export type CheckResult = s.Static<typeof CheckResult>

export const CheckReport = s.object({
  passed: s.boolean({ description: 'Whether no rule with the severity error failed.' }),
  row_count: s.integer(),
  errors: s.integer({ description: 'Rules with the severity error that failed.' }),
  warnings: s.integer({ description: 'Rules with the severity warn that failed.' }),
  results: s.array(CheckResult, { description: 'All rules, in their order.' }),
})
export type CheckReport = s.Static<typeof CheckReport>

/** A checks file, as JSON: ours, or a Frictionless Table Schema. */
export const ChecksDocument = s.record(s.anything())
export type ChecksDocument = s.Static<typeof ChecksDocument>

export const ChecksRun = s.object({
  checks: s.optional(ChecksDocument),
})

export const GridChecks = s.object({
  checks: s.nullable(ChecksDocument),
})
export type GridChecks = s.Static<typeof GridChecks>
