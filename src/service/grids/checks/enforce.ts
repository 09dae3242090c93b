/** Checks of writes: nobody sees data that fails them. See docs/checks.md. */
import { type Checks, parseChecks } from '../../../checks/index.ts'
import { Problem } from '../../../contract/errors.ts'
import type { Fid } from '../../../contract/fid.ts'
import { formatCount } from '../../../contract/message-texts.ts'
import type { CheckReport, CheckResult } from '../../../contract/resources/index.ts'
import type { GridRow } from '../../store/aggregates/grids.ts'
import { primaryKeyNamesOf } from '../../store/schema/primary-key.ts'
import type { Snapshot } from '../column/content.ts'
import { type Layout, snapshotOfLayout } from '../column/layout.ts'
import type { DataCall } from '../given/reading-options.ts'
import type { GridService } from '../service.ts'
import type { Checked } from './outcome.ts'
import { runChecks } from './run.ts'

/** Rules that a message names. */
const MAX_NAMED = 3

/** The checks that a request names in its headers. */
export function givenChecks({ headers }: Pick<DataCall, 'headers'>): Checks[] {
  if (headers.Checks === undefined) return []
  let document: unknown
  try {
    document = JSON.parse(decodeURIComponent(headers.Checks))
  } catch {
    throw new Problem('bad_checks', 'Checks: not percent-encoded JSON', { field: 'Checks' })
  }
  return [parseChecks(document)]
}

/** The checks of a grid, for every write. */
function storedChecks({ checks }: Pick<GridRow, 'checks'>): Checks[] {
  return checks === null ? [] : [parseChecks(JSON.parse(checks))]
}

/** What is checked, with the name that messages use. */
export interface Enforced extends Omit<Checked, 'work'> {
  source: string
  /** Failures are warnings: nobody sees the table yet. */
  mayFail?: boolean
}

/** What checks found that a table passes: warnings for rules whose severity is warn, and a report if there were any. */
export interface Passed {
  warnings: string[]
  report?: CheckReport
}

/** Throws `checks_failed` with a report if a table fails checks. */
export async function enforce(
  checks: readonly Checks[],
  { source, mayFail, ...checked }: Enforced,
): Promise<Passed> {
  if (checks.length === 0) return { warnings: [] }
  const reports: CheckReport[] = []
  for (const one of checks) reports.push(await runChecks(one, checked))
  const results = reports.flatMap((report) => report.results)
  const failed = results.filter(({ passed }) => !passed)
  const errors = failed.filter(({ severity }) => severity === 'error')
  if (errors.length > 0 && !mayFail) throw checksFailed(source, errors, together(reports, results))
  const report = together(reports, results)
  return { warnings: failed.map((one) => `check: ${failureText(one)}`), report }
}

function together(reports: readonly CheckReport[], results: CheckResult[]): CheckReport {
  const sum = (of: 'errors' | 'warnings'): number => reports.reduce((count, report) => count + report[of], 0)
  const errors = sum('errors')
  return { ...reports[0], passed: errors === 0, errors, warnings: sum('warnings'), results }
}

function checksFailed(source: string, errors: readonly CheckResult[], report: CheckReport): Problem {
  const more = errors.length > MAX_NAMED ? `; and ${errors.length - MAX_NAMED} more` : ''
  const named = errors.slice(0, MAX_NAMED).map(failureText)
  const first = errors.find(({ rows }) => rows.length > 0)
  return new Problem(
    'checks_failed',
    `${source} fails ${formatCount(errors.length, 'check')}: ${named.join('; ')}${more}`,
    {
      line: first?.rows[0].line ?? undefined,
      column: first?.column ?? undefined,
      hint: 'Nothing was changed. Correct the data, or the checks.',
      checks: report,
    },
  )
}

/** `column price, at least 0: 3 of 100 values are below, first in line 7`. */
function failureText({ column, expected, message, rows }: CheckResult): string {
  const [first] = rows
  const place = first && `, first in ${first.line === null ? `row ${first.row}` : `line ${first.line}`}`
  return `${column === null ? '' : `column ${column}, `}${expected}: ${message}${place ?? ''}`
}

/** Enforces the checks of a grid, and others, on the columns that a change leaves. `changed`: what is not as it was. */
export async function enforceOn(
  service: GridService,
  fid: Fid,
  layout: Layout,
  changed: Partial<Enforced> & Pick<Enforced, 'snap' | 'source'>,
  given: readonly Checks[] = [],
): Promise<Passed> {
  const { grid, columns } = layout
  const checks = [...given, ...storedChecks(grid)]
  if (checks.length === 0) return { warnings: [] }
  const { warnings, report } = await enforce(checks, {
    before: snapshotOfLayout(service.store, layout),
    key: primaryKeyNamesOf(grid, columns),
    lostColumns: await lostColumns(service, fid, checks, columns, changed.snap),
    ...changed,
  })
  // What a grid is always checked for is told if it fails.
  return given.length > 0 || changed.mayFail ? { warnings, report } : { warnings }
}

/** The columns that plots use and a table lacks, if checks ask for them. */
export async function lostColumns(
  service: GridService,
  fid: Fid,
  checks: readonly Checks[],
  columns: readonly { uid: string; name: string }[],
  snap: Snapshot,
): Promise<string[]> {
  if (!checks.some(({ table }) => table.some(({ rule }) => rule === 'plot_columns'))) return []
  const used = await service.plotColumns(fid)
  const has = (one: { uid: string; name: string }): boolean =>
    snap.columns.some(({ uid, name }) => uid === one.uid || name === one.name)
  return columns.filter((column) => used.includes(column.uid) && !has(column)).map(({ name }) => name)
}
