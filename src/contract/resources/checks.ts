/** Rules for grids, and reports of checks. See docs/checks.md. */
import * as s from '../schema.ts'

export const severities = ['error', 'warn'] as const
export type Severity = (typeof severities)[number]

/** Row that fails a rule. `same_as`: first row with the same values, for duplicates. */
export const FailedRow = s.object({
  row: s.integer({ description: 'Row number, from 1.' }),
  line: s.nullable(s.integer({ description: 'Line in the file; null if the row is not in a file.' })),
  value: s.nullable(s.anything() as s.Schema<string | number | boolean | null>),
  same_as: s.optional(s.object({ row: s.integer(), line: s.nullable(s.integer()) })),
})
export type FailedRow = s.Static<typeof FailedRow>

/** Result of one rule. */
export const CheckResult = s.object({
  column: s.nullable(s.string({ description: 'null: a rule of the table.' })),
  rule: s.string({ description: 'Name of the rule, as in a checks file.' }),
  expected: s.string({ description: 'The rule in words.' }),
  severity: s.enumOf(severities),
  passed: s.boolean(),
  count: s.nullable(
    s.integer({
      description: 'Number of values or rows that fail; null if the rule is not about single values or rows.',
    }),
  ),
  message: s.nullable(s.string({ description: 'What is wrong; null if the rule passed.' })),
  rows: s.array(FailedRow, { description: 'The first 20 rows that fail.' }),
})
export type CheckResult = s.Static<typeof CheckResult>

export const CheckReport = s.object({
  passed: s.boolean({ description: 'Whether no rule with the severity error failed.' }),
  row_count: s.integer(),
  errors: s.integer({ description: 'Rules with the severity error that failed.' }),
  warnings: s.integer({ description: 'Rules with the severity warn that failed.' }),
  results: s.array(CheckResult, { description: 'All rules, in order.' }),
})
export type CheckReport = s.Static<typeof CheckReport>

/** Checks file as JSON, or a Frictionless Table Schema. */
export const ChecksDocument = s.record(s.anything())
export type ChecksDocument = s.Static<typeof ChecksDocument>

export const ChecksRun = s.object({
  checks: s.optional(ChecksDocument),
})

export const GridChecks = s.object({
  checks: s.nullable(ChecksDocument),
})
export type GridChecks = s.Static<typeof GridChecks>
