// Runs the rules for whole tables.
import { formatPercent, type TableRule } from '../../../checks/index.ts'
import { Problem } from '../../../contract/errors.ts'
import { formatCount, formatList } from '../../../contract/message-texts.ts'
import { parseWhere } from '../../../query/index.ts'
import type { Snapshot } from '../column/snapshot.ts'
import { diffTables } from '../diff/diff.ts'
import { findMatchingRows, bindCondition as rowTestOf } from '../read/matching-rows.ts'
import { MAX_LISTED_ROWS, readParsedValues } from './column-values.ts'
import { type CheckRun, cannotRunOutcome, failedOutcome, type Outcome, PASSED } from './outcome.ts'

type Runner<R> = (run: CheckRun, rule: R) => Outcome | Promise<Outcome>

export const TABLE_RULE_RUNNERS: {
  readonly [N in TableRule['rule']]: Runner<Extract<TableRule, { rule: N }>>
} = {
  cannot: (_, { why }) => cannotRunOutcome(why),
  key: (run, { columns }) => checkUniqueRows(run, columns, true),
  unique: (run, { columns }) => checkUniqueRows(run, columns, false),
  rows: ({ checked: { snap } }, { range }) =>
    isWithin(snap.rows, range) ? PASSED : failedOutcome(`there are ${formatCount(snap.rows, 'row')}`),
  columns: ({ names }, { column }) =>
    names.includes(column)
      ? PASSED
      : failedOutcome(`the column is missing; the columns are: ${formatList(names)}`),
  where: (run, { where }) => checkWhere(run, where),
  extra_columns({ names }, { columns }) {
    const allowed = new Set(columns)
    const extra = names.filter((name) => !allowed.has(name))
    return extra.length === 0
      ? PASSED
      : failedOutcome(`${formatCount(extra.length, 'other column')}: ${formatList(extra)}`, extra.length)
  },
  column_order({ names }, { columns }) {
    const ordered = new Set(columns)
    const present = new Set(names)
    const actual = names.filter((name) => ordered.has(name))
    const expected = columns.filter((name) => present.has(name))
    const at = actual.findIndex((name, k) => name !== expected[k])
    return at < 0 ? PASSED : failedOutcome(`expected ${expected[at]}, found ${actual[at]}`)
  },
  plot_columns: ({ checked: { lostColumns = [] } }) =>
    lostColumns.length === 0
      ? PASSED
      : failedOutcome(`plots use columns that are missing: ${formatList(lostColumns)}`),
  'change.rows': ({ checked: { snap, before } }, { range }) =>
    before ? checkGrowth(before.rows, snap.rows, range) : PASSED,
  'change.removed': (run, { maxShare: most }) =>
    run.checked.before ? checkRemoved(run, run.checked.before, most) : PASSED,
}

/** Finds the columns of a `key` or `unique` rule, and checks that no two rows have the same values. */
function checkUniqueRows(
  run: CheckRun,
  columns: readonly string[],
  isKey: boolean,
): Outcome | Promise<Outcome> {
  const names = new Set(run.names)
  const missing = columns.find((name) => !names.has(name))
  if (missing !== undefined) return cannotRunOutcome(`there is no column ${missing}`)
  const { snap } = run.checked
  const chosen = columns.flatMap((name) => snap.columns.find((column) => column.name === name) ?? [])
  return run.unique(chosen, isKey)
}

/**
 * Finds rows for which a condition is false. As in SQL, an unknown result, such as of a missing value,
 * passes.
 */
async function checkWhere(run: CheckRun, text: string): Promise<Outcome> {
  const { snap } = run.checked
  let violation: ReturnType<typeof rowTestOf>
  try {
    const { expression } = parseWhere(text)
    violation = rowTestOf({ text, expression: { kind: 'not', at: 0, of: expression } }, snap.columns)
  } catch (error) {
    if (error instanceof Problem) return cannotRunOutcome(error.message)
    throw error
  }
  const matches = await findMatchingRows(snap, violation, run.work)
  const rows = [...matches.slice(0, MAX_LISTED_ROWS)]
  if (rows.length === 0) return { ...PASSED, count: 0 }
  const columns = violation.columns.map((name) => snap.columns.find((column) => column.name === name)!)
  const values = await Promise.all(columns.map((column) => readParsedValues(run.reader, snap, column, rows)))
  return {
    passed: false,
    count: matches.count,
    message: `${matches.count} of ${formatCount(snap.rows, 'row')} ${matches.count === 1 ? 'does' : 'do'} not match`,
    rows: run
      .takeListed(rows)
      .map((row, k) =>
        run.toFailedRow(row, columns.map(({ name }, c) => `${name} ${values[c][k]}`).join(', ')),
      ),
  }
}

/** Compares the share of removed rows since the previous version with a maximum from 0 to 1. */
async function checkRemoved(
  { checked, work }: CheckRun,
  before: Snapshot,
  maxShare: number,
): Promise<Outcome> {
  if (before.rows === 0) return PASSED
  const { snap, key = [] } = checked
  const isInBefore = (name: string): boolean => before.columns.some((column) => column.name === name)
  const isInAfter = (name: string): boolean => snap.columns.some((column) => column.name === name)
  const { rows } = await diffTables(
    { name: 'the version before', snap: before },
    { name: 'the new version', snap },
    { key: key.every((name) => isInBefore(name) && isInAfter(name)) ? key : [], work },
  )
  const share = rows.removed / before.rows
  return share <= maxShare
    ? { ...PASSED, count: rows.removed }
    : failedOutcome(
        `${formatCount(rows.removed, 'row')} of ${before.rows} are removed (${formatPercent(share)})`,
        rows.removed,
      )
}

function isWithin(value: number, { from, to }: { from?: number; to?: number }): boolean {
  return (from === undefined || value >= from) && (to === undefined || value <= to)
}

/** Compares the change of the number of rows with a range of percentages. */
function checkGrowth(before: number, after: number, range: { from?: number; to?: number }): Outcome {
  if (before === after && isWithin(0, range)) return PASSED
  // Rounded once: 7 of 100 are 7%.
  const percent = before === 0 ? Number.POSITIVE_INFINITY : ((after - before) * 100) / before
  if (isWithin(percent, range)) return PASSED
  const growth = before === 0 ? '' : ` (${percent > 0 ? '+' : ''}${Number(percent.toFixed(1))}%)`
  return failedOutcome(`the number of rows changes from ${before} to ${after}${growth}`)
}
