// How the rules of tables run.
import { formatPercent, type TableRule } from '../../../checks/index.ts'
import { Problem } from '../../../contract/errors.ts'
import { formatCount, formatList } from '../../../contract/message-texts.ts'
import { parseWhere } from '../../../query/index.ts'
import type { Snapshot } from '../column/content.ts'
import { diffTables } from '../diff/diff.ts'
import { matchingRows, testOf as rowTestOf } from '../read/where.ts'
import { MAX_LISTED, readValues } from './column-values.ts'
import { cannotRun, failed, type Outcome, PASSED, type Run } from './outcome.ts'

type Runner<R> = (run: Run, rule: R) => Outcome | Promise<Outcome>

export const tableRunners: { readonly [N in TableRule['rule']]: Runner<Extract<TableRule, { rule: N }>> } = {
  cannot: (_, { why }) => cannotRun(why),
  key: (run, { columns }) => checkUnique(run, columns, true),
  unique: (run, { columns }) => checkUnique(run, columns, false),
  rows: ({ checked: { snap } }, { range }) =>
    isWithin(snap.rows, range) ? PASSED : failed(`there are ${formatCount(snap.rows, 'row')}`),
  columns: ({ names }, { column }) =>
    names.includes(column) ? PASSED : failed(`the column is missing; there are: ${formatList(names)}`),
  where: (run, { where }) => checkWhere(run, where),
  extra_columns({ names }, { columns }) {
    const allowed = new Set(columns)
    const extra = names.filter((name) => !allowed.has(name))
    return extra.length === 0
      ? PASSED
      : failed(`${formatCount(extra.length, 'other column')}: ${formatList(extra)}`, extra.length)
  },
  column_order({ names }, { columns }) {
    const ordered = new Set(columns)
    const present = new Set(names)
    const actual = names.filter((name) => ordered.has(name))
    const expected = columns.filter((name) => present.has(name))
    const at = actual.findIndex((name, k) => name !== expected[k])
    return at < 0 ? PASSED : failed(`${actual[at]} is in the place of ${expected[at]}`)
  },
  plot_columns: ({ checked: { lostColumns = [] } }) =>
    lostColumns.length === 0
      ? PASSED
      : failed(`plots use columns that are missing: ${formatList(lostColumns)}`),
  'change.rows': ({ checked: { snap, before } }, { range }) =>
    before ? checkGrowth(before.rows, snap.rows, range) : PASSED,
  'change.removed': (run, { maxShare: most }) =>
    run.checked.before ? checkRemoved(run, run.checked.before, most) : PASSED,
}

function checkUnique(run: Run, columns: readonly string[], isKey: boolean): Outcome | Promise<Outcome> {
  const present = new Set(run.names)
  const lacking = columns.find((name) => !present.has(name))
  if (lacking !== undefined) return cannotRun(`there is no column ${lacking}`)
  const { snap } = run.checked
  const chosen = columns.flatMap((name) => snap.columns.find((column) => column.name === name) ?? [])
  return run.unique(chosen, isKey)
}

/** Finds rows for which a condition is false. As in SQL, an unknown condition, such as one of a missing value, passes. */
async function checkWhere(run: Run, text: string): Promise<Outcome> {
  const { snap } = run.checked
  let broken: ReturnType<typeof rowTestOf>
  try {
    const { expression } = parseWhere(text)
    broken = rowTestOf({ text, expression: { kind: 'not', at: 0, of: expression } }, snap.columns)
  } catch (error) {
    if (error instanceof Problem) return cannotRun(error.message)
    throw error
  }
  const found = await matchingRows(snap, broken, run.work)
  const rows = [...found.part(0, MAX_LISTED)]
  if (rows.length === 0) return { ...PASSED, count: 0 }
  const columns = broken.columns.map((name) => snap.columns.find((column) => column.name === name)!)
  const values = await Promise.all(columns.map((column) => readValues(run.reader, snap, column, rows)))
  return {
    passed: false,
    count: found.count,
    message: `${found.count} of ${formatCount(snap.rows, 'row')} ${found.count === 1 ? 'is' : 'are'} not so`,
    rows: run
      .limit(rows)
      .map((row, k) =>
        run.failedRow(row, columns.map(({ name }, c) => `${name} ${values[c][k]}`).join(', ')),
      ),
  }
}

/** Compares the share of removed rows with a maximum. */
async function checkRemoved({ checked, work }: Run, before: Snapshot, most: number): Promise<Outcome> {
  if (before.rows === 0) return PASSED
  const { snap, key = [] } = checked
  const had = (name: string): boolean => before.columns.some((column) => column.name === name)
  const has = (name: string): boolean => snap.columns.some((column) => column.name === name)
  const { rows } = await diffTables(
    { name: 'the version before', snap: before },
    { name: 'the new version', snap },
    { key: key.every((name) => had(name) && has(name)) ? key : [], work },
  )
  const share = rows.removed / before.rows
  return share <= most
    ? { ...PASSED, count: rows.removed }
    : failed(
        `${formatCount(rows.removed, 'row')} of ${before.rows} are removed (${formatPercent(share)})`,
        rows.removed,
      )
}

function isWithin(value: number, { from, to }: { from?: number; to?: number }): boolean {
  return (from === undefined || value >= from) && (to === undefined || value <= to)
}

/** Compares the growth of the number of rows with a range of percentages. */
function checkGrowth(before: number, after: number, range: { from?: number; to?: number }): Outcome {
  if (before === after && isWithin(0, range)) return PASSED
  const percent = before === 0 ? Number.POSITIVE_INFINITY : ((after - before) / before) * 100
  if (isWithin(percent, range)) return PASSED
  const by = before === 0 ? '' : ` (${percent > 0 ? '+' : ''}${Number(percent.toFixed(1))}%)`
  return failed(`the number of rows changes from ${before} to ${after}${by}`)
}
