// Enforces checks on writes before they are committed (docs/checks.md).
import { type Checks, parseChecks } from '../../../checks/index.ts'
import { Problem } from '../../../contract/errors.ts'
import type { Fid } from '../../../contract/fid.ts'
import { formatCount } from '../../../contract/message-texts.ts'
import type { CheckReport, CheckResult } from '../../../contract/resources/index.ts'
import type { GridRow } from '../../store/aggregates/grids.ts'
import { primaryKeyNamesOf } from '../../store/schema/primary-key.ts'
import { createLayoutSnapshot, type Layout } from '../column/layout.ts'
import type { Snapshot } from '../column/snapshot.ts'
import type { DataCall } from '../input/reading-options.ts'
import type { GridService } from '../service.ts'
import type { CheckedTable } from './outcome.ts'

/** Maximum number of failed rules in a message. */
const MAX_NAMED_RULES = 3

/** Parses the header `Checks`; [] without it. Throws `bad_checks`. */
export function parseChecksHeader({ headers }: Pick<DataCall, 'headers'>): Checks[] {
  if (headers.Checks === undefined) return []
  let document: unknown
  try {
    document = JSON.parse(decodeURIComponent(headers.Checks))
  } catch {
    throw new Problem('bad_checks', 'Checks: not percent-encoded JSON', { field: 'Checks' })
  }
  return [parseChecks(document)]
}

/** Parses the stored checks of a grid, which apply to every write. */
function parseStoredChecks({ checks }: Pick<GridRow, 'checks'>): Checks[] {
  return checks === null ? [] : [parseChecks(JSON.parse(checks))]
}

/** A table to check. `source`: its name in messages. */
export interface EnforcedTable extends Omit<CheckedTable, 'work'> {
  source: string
  /** True if failures are only warnings: the table is a draft. */
  mayFail?: boolean
}

/** Result of checks that did not refuse a table: warnings, and a report if any checks ran. */
export interface ChecksResult {
  warnings: string[]
  report?: CheckReport
  /** Failed rules, as texts; undefined if none ran. */
  failedChecks?: readonly string[]
}

/** Runs checks on a table. Throws `checks_failed` with a report if a rule of severity `error` fails. */
export async function enforceChecks(
  checks: readonly Checks[],
  { source, mayFail, ...checked }: EnforcedTable,
): Promise<ChecksResult> {
  if (checks.length === 0) return { warnings: [] }
  // Most writes have no checks.
  const { runChecks } = await import('./run.ts')
  const reports: CheckReport[] = []
  for (const document of checks) reports.push(await runChecks(document, checked))
  const results = reports.flatMap((report) => report.results)
  const failed = results.filter(({ passed }) => !passed)
  const errors = failed.filter(({ severity }) => severity === 'error')
  if (errors.length > 0 && !mayFail) throw checksFailedError(source, errors, mergeReports(reports, results))
  const report = mergeReports(reports, results)
  const failedChecks = failed.map(formatFailure)
  return { warnings: failedChecks.map((text) => `check: ${text}`), report, failedChecks }
}

/** Merges reports into one. `results`: those of all reports. */
function mergeReports(reports: readonly CheckReport[], results: CheckResult[]): CheckReport {
  const sum = (severity: 'errors' | 'warnings'): number =>
    reports.reduce((count, report) => count + report[severity], 0)
  const errors = sum('errors')
  return { ...reports[0], passed: errors === 0, errors, warnings: sum('warnings'), results }
}

/** Creates the error for failed checks. It points to the first failed row. */
function checksFailedError(source: string, errors: readonly CheckResult[], report: CheckReport): Problem {
  const suffix = errors.length > MAX_NAMED_RULES ? `; and ${errors.length - MAX_NAMED_RULES} more` : ''
  const texts = errors.slice(0, MAX_NAMED_RULES).map(formatFailure)
  const first = errors.find(({ rows }) => rows.length > 0)
  return new Problem(
    'checks_failed',
    `${source} fails ${formatCount(errors.length, 'check')}: ${texts.join('; ')}${suffix}`,
    {
      line: first?.rows[0].line ?? undefined,
      column: first?.column ?? undefined,
      hint: 'Nothing was changed. Correct the data, or the checks.',
      checks: report,
    },
  )
}

/** Formats a failure: `column price, at least 0: 3 of 100 values are too low, first in line 7`. */
export function formatFailure({ column, expected, message, rows }: CheckResult): string {
  const [first] = rows
  const location = first && `, first in ${first.line === null ? `row ${first.row}` : `line ${first.line}`}`
  return `${column === null ? '' : `column ${column}, `}${expected}: ${message}${location ?? ''}`
}

/**
 * Enforces the stored checks of a grid, and those of the request, on its content after a change (`changed`).
 */
export async function enforceChecksOnGrid(
  service: GridService,
  fid: Fid,
  layout: Layout,
  changed: Partial<EnforcedTable> & Pick<EnforcedTable, 'snap' | 'source'>,
  requestChecks: readonly Checks[] = [],
): Promise<ChecksResult> {
  const { grid, columns } = layout
  const checks = [...requestChecks, ...parseStoredChecks(grid).map((one) => omitRules(one, requestChecks))]
  if (checks.length === 0) return { warnings: [] }
  const { report, ...result } = await enforceChecks(checks, {
    before: createLayoutSnapshot(service.store, layout),
    key: primaryKeyNamesOf(grid, columns),
    lostColumns: await listLostColumns(service, fid, checks, columns, changed.snap),
    ...changed,
  })
  // Stored checks are reported only if they fail.
  return requestChecks.length > 0 || changed.mayFail ? { ...result, report } : result
}

/** Returns checks without the rules that others have, too: they would be run, counted and listed twice. */
function omitRules(checks: Checks, others: readonly Checks[]): Checks {
  const tableKey = (rule: unknown, { missing }: Checks): string => JSON.stringify([missing, rule])
  const columnKey = (group: Checks['columns'][number], rule: unknown, { missing }: Checks): string =>
    JSON.stringify([missing, group.column, group.isOptional, rule])
  const known = new Set(
    others.flatMap((one) => [
      ...one.table.map((rule) => tableKey(rule, one)),
      ...one.columns.flatMap((group) => group.rules.map((rule) => columnKey(group, rule, one))),
    ]),
  )
  return {
    ...checks,
    table: checks.table.filter((rule) => !known.has(tableKey(rule, checks))),
    columns: checks.columns
      .map((group) => ({
        ...group,
        rules: group.rules.filter((rule) => !known.has(columnKey(group, rule, checks))),
      }))
      .filter(({ rules }) => rules.length > 0),
  }
}

/** Returns the names of columns that plots use and `snap` lacks; [] unless a rule checks them. */
export async function listLostColumns(
  service: GridService,
  fid: Fid,
  checks: readonly Checks[],
  columns: readonly { uid: string; name: string }[],
  snap: Snapshot,
): Promise<string[]> {
  if (!checks.some(({ table }) => table.some(({ rule }) => rule === 'plot_columns'))) return []
  const used = await service.plotColumns(fid)
  const isPresent = (column: { uid: string; name: string }): boolean =>
    snap.columns.some(({ uid, name }) => uid === column.uid || name === column.name)
  return columns.filter((column) => used.includes(column.uid) && !isPresent(column)).map(({ name }) => name)
}
