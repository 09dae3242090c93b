// Evaluates the conditions of alerts on the content of a grid.
import { invalidField, Problem } from '../../../contract/errors.ts'
import { defaultLimits } from '../../../contract/limits.ts'
import { formatCount } from '../../../contract/message-texts.ts'
import type { AlertCondition } from '../../../contract/resources/index.ts'
import { WorkBudget } from '../../../json/index.ts'
import { parseWhere } from '../../../query/index.ts'
import type { AlertRow, Judgement } from '../../store/aggregates/alerts.ts'
import { familyOf } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'
import { createFirstRows } from '../column/cursor.ts'
import type { RowSet } from '../column/row-set.ts'
import type { Snapshot } from '../column/snapshot.ts'
import { compareRanks, rankOf } from '../column/value-order.ts'
import { bindCondition, findMatchingRows } from '../read/matching-rows.ts'
import { roundSum } from '../reshape/aggregates.ts'
import { group, OF_NUMBERS } from '../reshape/group.ts'
import { findColumns } from '../reshape/unpivot.ts'
import { type Comparison, conditionOf, type Measure, parseMeasure, parseWhen, ROWS } from './condition.ts'
import { measureNumbers } from './numbers.ts'

/** Result of the checks of a content. */
interface CheckedContent {
  /** Failed checks, as texts; undefined if the grid has none. */
  failedChecks: readonly string[] | undefined
  /** Whether only changed rows were checked: others may fail. */
  isPartChecked?: boolean
}

/** A write whose content is judged. */
export interface JudgedContent extends CheckedContent {
  snap: Snapshot
}

/** A judgement of a condition. */
type Judged = Omit<Judgement, 'condition'>

/** Judges alerts on a content, except those for which all of it must be checked. What cannot be evaluated is `unknown`. */
export async function measureAlerts(
  alerts: readonly AlertRow[],
  content: JudgedContent,
): Promise<Map<string, Judgement>> {
  const judgements = new Map<string, Judgement>()
  const reader = {
    ...content,
    work: new WorkBudget(LIMITS, 'user'),
    found: new Map<string, Promise<RowSet>>(),
  }
  for (const alert of alerts)
    if (!needsAllChecks(alert, content))
      judgements.set(alert.id, { ...(await judge(alert, reader)), condition: alert.condition })
  return judgements
}

/** Work of all alerts of a write: about half a second. */
const LIMITS = { ...defaultLimits, evaluation_work: 50_000_000 }

/** Reads a content once for all alerts. `found`: rows by condition. */
interface ContentReader extends JudgedContent {
  work: WorkBudget
  found: Map<string, Promise<RowSet>>
}

async function judge(alert: AlertRow, reader: ContentReader): Promise<Judged> {
  const { when, of, where, changed_percent } = conditionOf(alert)
  const { value: valueBefore } = alert
  try {
    if (when !== undefined) {
      const comparison = parseWhen(when)
      const column = reader.snap.columns.find(({ name }) => name === comparison.measure.column)
      return compare(comparison, await measure(reader, comparison.measure, where), column?.type ?? 'number')
    }
    if (changed_percent !== undefined) {
      const measured = of === undefined ? ROWS : parseMeasure(of)
      return judgeChange(
        of ?? 'the number of rows',
        await measure(reader, measured, where),
        valueBefore,
        changed_percent,
      )
    }
    return judgeFailed(reader.failedChecks)
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'aborted') throw error
    const why = error.code === 'too_large' ? 'it takes too long to evaluate for each write' : error.message
    // The value before is what a later one is compared with.
    return { judged: 'unknown', why, value: changed_percent === undefined ? null : valueBefore }
  }
}

/** Measures a value of a grid, as JSON. Throws `unknown_column` and `invalid_request`. */
async function measure(
  { snap, work, found: known }: ContentReader,
  { function: name, column }: Measure,
  where: string | undefined,
): Promise<string> {
  if (column === undefined && where === undefined) return String(snap.rows)
  if (where !== undefined && !known.has(where))
    known.set(where, findMatchingRows(snap, bindCondition(parseWhere(where), snap.columns), work))
  const found = where === undefined ? undefined : await known.get(where)
  if (column === undefined && found) return String(found.count)
  const columns = snap.columns.filter((one) => one.name === column)
  const number =
    columns.length === 1 && !found ? await measureNumbers(snap, columns[0], name, work) : undefined
  if (number !== undefined) return number
  const built = await group(
    columns.length === 0 ? snap : { ...snap, columns },
    { by: [], aggregates: [{ function: name, column }] },
    { rows: found ?? createFirstRows(snap.rows), limits: work.limits, work },
  )
  const json = built.take()[0].toString()
  return OF_NUMBERS.has(name) && json !== 'null' ? String(roundSum(Number(json))) : json
}

/** Maximum length of a text in a reason, in characters. */
const MAX_SHOWN_CHARACTERS = 100

/** Compares a measured value, as JSON, with the limit of the condition. `type`: of the column that was measured. */
function compare({ measure, operator, value: limit }: Comparison, json: string, type: ColumnType): Judged {
  const name = measure.column === undefined ? 'count(*)' : `${measure.function}(${measure.column})`
  if (json === 'null') return { judged: 'unknown', why: `${name} has no value`, value: json }
  const value: unknown = JSON.parse(json)
  // Texts may have been stored with escapes; numbers keep their digits.
  const shown =
    typeof value === 'string'
      ? JSON.stringify(value.slice(0, MAX_SHOWN_CHARACTERS).replace(/[\ud800-\udbff]$/, ''))
      : json
  if (typeof value !== typeof limit && typeof value !== 'boolean')
    return {
      judged: 'unknown',
      why: `${name} is ${shown}, which cannot be compared with ${JSON.stringify(limit)}`,
      value: json,
    }
  const [a, b] = typeof value === 'boolean' ? [String(value), String(limit)] : [value, limit]
  const isTrue = COMPARISONS[operator](
    compareRanks(rankOf(JSON.stringify(a), type), rankOf(JSON.stringify(b), type)),
  )
  return { judged: isTrue ? 'firing' : 'ok', why: `${name} is ${shown}`, value: json }
}

/** Tests of whether a value comes before a limit (negative), after it (positive), or is equal (0). */
const COMPARISONS: Record<Comparison['operator'], (order: number) => boolean> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
  '=': (order) => order === 0,
  '<>': (order) => order !== 0,
}

/** Compares a value with that before the write, both as JSON. */
function judgeChange(name: string, json: string, before: string | null, percent: number): Judged {
  const value = Number(JSON.parse(json) ?? Number.NaN)
  if (!Number.isFinite(value)) return { judged: 'unknown', why: `${name} has no value`, value: before }
  const last = before === null ? undefined : Number(before)
  if (last === undefined) return { judged: 'ok', why: `${name} is ${json}`, value: json }
  const change = last === value ? 0 : ((value - last) / Math.abs(last)) * 100
  const text = Number.isFinite(change) ? ` (${change > 0 ? '+' : ''}${formatPercent(change)}%)` : ''
  return {
    // Without the noise of floating-point numbers: from 4 to 4.8 is 20%.
    judged: Math.abs(change) >= percent * (1 - 1e-9) ? 'firing' : 'ok',
    why: `${name} went from ${before} to ${json}${text}`,
    value: json,
  }
}

/** Formats a percentage with one decimal; smaller ones with one digit that is not 0. */
function formatPercent(percent: number): number {
  return Math.abs(percent) < 0.1 ? Number(percent.toPrecision(1)) : Number(percent.toFixed(1))
}

/** Returns whether rows that were not checked may be why an alert is not ok. */
function needsAllChecks(alert: AlertRow, { failedChecks, isPartChecked }: CheckedContent): boolean {
  const isPassed = failedChecks?.length === 0
  return (
    isPartChecked === true && isPassed && alert.judged !== 'ok' && conditionOf(alert).failed_checks === true
  )
}

function judgeFailed(failed: readonly string[] | undefined): Judged {
  if (failed === undefined) return { judged: 'unknown', why: 'the grid has no checks', value: null }
  return failed.length === 0
    ? { judged: 'ok', why: 'all checks pass', value: null }
    : {
        judged: 'firing',
        why: `${formatCount(failed.length, 'check')} failed: ${failed.join('; ')}`,
        value: null,
      }
}

/** Judges alerts on failed checks alone. */
export function judgeChecks(alerts: readonly AlertRow[], checked: CheckedContent): Map<string, Judgement> {
  const ofChecks = alerts.filter(
    (alert) => conditionOf(alert).failed_checks && !needsAllChecks(alert, checked),
  )
  return new Map(
    ofChecks.map(({ id, condition }) => [id, { ...judgeFailed(checked.failedChecks), condition }]),
  )
}

/** Functions whose result has the type of the column. */
const OF_COLUMN: ReadonlySet<string> = new Set(['min', 'max', 'first', 'last'])

/** Throws `unknown_column` or `invalid_query` if a condition does not suit the columns of a grid. */
export function checkColumns(
  { when, of, where }: AlertCondition,
  columns: readonly { name: string; type: ColumnType }[],
): void {
  const measured = when !== undefined ? parseWhen(when).measure : of === undefined ? ROWS : parseMeasure(of)
  if (measured.column !== undefined) {
    const [at] = findColumns(columns, [measured.column], when === undefined ? 'of' : 'when')
    checkType(measured, when === undefined ? 'number' : typeof parseWhen(when).value, columns[at])
  }
  if (where !== undefined) bindCondition(parseWhere(where), columns)
}

/** Throws `invalid_request` if a function of a column never gives a value of a type. */
function checkType(
  { function: name, column }: Measure,
  type: string,
  { type: columnType }: { type: ColumnType },
): void {
  const family = familyOf(columnType)
  if (family === 'boolean' && name !== 'count')
    throw invalidField(
      'when',
      `${name}: ${column} is true or false. Count rows: count where ${column} = true`,
    )
  if (!['number', 'text', 'date', 'datetime', 'time'].includes(family)) return
  const given = OF_COLUMN.has(name) && family !== 'number' ? 'string' : 'number'
  if (given !== type)
    throw invalidField(
      'when',
      `${name}(${column}) is a ${given === 'string' ? 'text' : 'number'}; compare it with one`,
    )
  if (family !== 'number' && !OF_COLUMN.has(name) && name !== 'count')
    throw invalidField('when', `${name}: ${column} has no numbers`)
}
