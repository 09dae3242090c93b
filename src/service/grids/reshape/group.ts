// Groups rows, and combines the values of each group. With a pivot, the groups of one column become columns.
import { parsePlotlyDate } from '../../../charts/evaluate/axis-types.ts'
import { startOfPeriod } from '../../../charts/evaluate/period.ts'
import { COLUMN_TYPES } from '../../../contract/column-types.ts'
import { invalidField, Problem } from '../../../contract/errors.ts'
import type { Limits } from '../../../contract/limits.ts'
import { takeUniqueName } from '../../../contract/unique-name.ts'
import type { WorkBudget } from '../../../json/index.ts'
import { familyOf, isDateType } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'
import type { RowSequence } from '../column/cursor.ts'
import { createIdentify, type Identify } from '../column/identify.ts'
import type { Snapshot } from '../column/snapshot.ts'
import { compareRanks, type Rank } from '../column/value-order.ts'
import { AGGREGATES, type AggregateName, type Collector } from './aggregates.ts'
import { groupCells, type PivotedValues } from './group-cells.ts'
import { areOfNumbers, type Group, groupNumbers } from './group-numbers.ts'
import { KeptMemory } from './kept-memory.ts'
import { type BuiltColumn, TableBuilder } from './table-builder.ts'
import { findColumns } from './unpivot.ts'

export interface Grouping {
  /** Columns whose values make the groups. */
  by: readonly string[]
  /** Period into which dates are grouped: of the date column in `by`, or else the only one of the table. */
  per?: string
  /** Function and column of each result; `count` needs no column. */
  aggregates: readonly { function: AggregateName; column?: string }[]
  /** Column whose values become columns. */
  pivot?: string
}

/** Functions of numbers alone. */
export const OF_NUMBERS: ReadonlySet<string> = new Set(['sum', 'mean', 'median'])

/** Periods whose starts have a time, and how much of the JSON of a time without a zone tells them. */
const WITH_TIME: ReadonlyMap<string, number> = new Map([
  ['minute', '"2024-01-31T09:30'.length],
  ['hour', '"2024-01-31T09'.length],
])
/** How much of the JSON of a date without a zone tells other periods. */
const DAY_CHARACTERS = '"2024-01-31'.length

/** Groups the rows of a table, in the order in which groups begin. Throws `unknown_column` and `invalid_request`. */
export async function group(
  snap: Snapshot,
  grouping: Grouping,
  { rows, limits, work }: { rows: RowSequence; limits: Limits; work: WorkBudget },
): Promise<TableBuilder> {
  const plan = planGrouping(snap, grouping)
  const kept = new KeptMemory(limits, plan.pivotAt === undefined ? 'group' : 'pivot')
  const pivoted: PivotedValues = new Map()
  const groups =
    plan.pivotAt === undefined && areOfNumbers(snap, plan.keys, plan.results, rows)
      ? await groupNumbers(snap, plan.keys, plan.results, { rows, kept, work })
      : await groupCells(snap, plan, pivoted, { rows, limits, kept, work })
  return build(plan, groups, pivoted, { limits, work })
}

interface Plan {
  keys: { at: number; column: BuiltColumn; identify: Identify; period?: (json: string) => string }[]
  results: {
    at: number | undefined
    column: BuiltColumn
    create: () => Collector
  }[]
  pivotAt: number | undefined
  identifyPivot: Identify
}

function notNumbersError(name: string, column: string | undefined, noun: string): Problem {
  return new Problem('invalid_request', `${name}: ${column} has ${noun}, not numbers`, { field: 'aggregate' })
}

function planGrouping({ columns }: Snapshot, { by, per, aggregates, pivot }: Grouping): Plan {
  const [pivotAt] = pivot === undefined ? [undefined] : findColumns(columns, [pivot], 'pivot')
  if (pivot !== undefined && aggregates.length > 1)
    throw invalidField('aggregate', 'a pivot has one function')
  const asked = aggregates.length > 0 ? aggregates : [{ function: 'count' as const }]
  const results = asked.map(({ function: name, column }) => {
    const { create, typeOf } = AGGREGATES[name]
    const [found] = column === undefined ? [] : findColumns(columns, [column], name)
    const family = found === undefined ? 'number' : familyOf(columns[found].type)
    if (OF_NUMBERS.has(name) && !['number', 'empty', 'json'].includes(family))
      throw notNumbersError(name, column, COLUMN_TYPES[family].noun)
    const [at] = column === undefined ? [undefined] : findColumns(columns, [column], name)
    const type = at === undefined ? ('number' as const) : columns[at].type
    return {
      at,
      create: () => create(type),
      column: {
        name: column === undefined ? name : `${name}_${column}`,
        type: at === undefined ? type : typeOf(type),
      },
    }
  })
  const at = [...new Set(findColumns(columns, by, 'group'))]
  const dateAt = per === undefined ? undefined : findDate(columns, at)
  const all = dateAt === undefined || at.includes(dateAt) ? at : [dateAt, ...at]
  return {
    pivotAt,
    identifyPivot: createIdentify(pivotAt === undefined ? 'empty' : columns[pivotAt].type),
    results,
    keys: all.map((k) => {
      const { name, type } = columns[k]
      if (k !== dateAt) return { at: k, column: { name, type }, identify: createIdentify(type) }
      const unit = per!
      const period = createPeriod(unit, type)
      return {
        at: k,
        column: { name, type: WITH_TIME.has(unit) ? 'datetime' : 'date' },
        identify: period,
        period,
      }
    }),
  }
}

/** Returns the date column that is grouped into periods. */
function findDate(columns: Snapshot['columns'], grouped: readonly number[]): number {
  const named = grouped.filter((k) => isDateType(columns[k].type))
  const dates = [...columns.keys()].filter((k) => isDateType(columns[k].type))
  const candidates = named.length > 0 ? named : dates
  if (candidates.length === 1) return candidates[0]
  throw new Problem(
    'invalid_request',
    candidates.length === 0
      ? 'per: the table has no column of dates'
      : 'per: the table has several columns of dates',
    { field: 'per', hint: candidates.length === 0 ? undefined : 'Name one of them in group.' },
  )
}

/** Returns a function that converts the JSON of a date to the JSON of the first moment of its period. */
function createPeriod(unit: string, type: ColumnType): (json: string) => string {
  const characters = type === 'datetime-zone' ? undefined : (WITH_TIME.get(unit) ?? DAY_CHARACTERS)
  const cache = new Map<string, string>()
  return (json) => {
    const known = json.slice(0, characters)
    let start = cache.get(known)
    if (start === undefined) {
      const time = parsePlotlyDate(JSON.parse(json))
      const text = time === undefined ? undefined : new Date(startOfPeriod(unit, time)).toISOString()
      start =
        text === undefined
          ? 'null'
          : JSON.stringify(WITH_TIME.has(unit) ? text.slice(0, 16).replace('T', ' ') : text.slice(0, 10))
      cache.set(known, start)
    }
    return start
  }
}

/** Maximum size of a number that a double represents, in bytes: others may have more digits. */
const MAX_NUMBER_BYTES = 15

async function build(
  { keys, results, pivotAt }: Plan,
  groups: Iterable<Group>,
  pivoted: PivotedValues,
  { limits, work }: { limits: Limits; work: WorkBudget },
): Promise<TableBuilder> {
  const values = [...pivoted.values()]
  const places = pivotAt === undefined ? [0] : [...values].sort(comparePivoted).map(({ place }) => place)
  const used = new Set(keys.map(({ column }) => column.name))
  const nameOf = (place: number): string => {
    const { json } = values[place]
    const value: unknown = JSON.parse(json)
    if (value === null) return takeUniqueName('missing', used)
    if (typeof value === 'string' && value !== '') return takeUniqueName(value, used)
    // What no double is keeps its digits.
    const isInexact = typeof value === 'number' && (!Number.isFinite(value) || json.length > MAX_NUMBER_BYTES)
    return takeUniqueName(isInexact ? json : JSON.stringify(value), used)
  }
  const columns = places.flatMap((place) =>
    results.map(({ column }) => ({
      name: pivotAt === undefined ? takeUniqueName(column.name, used) : nameOf(place),
      type: column.type,
    })),
  )
  const builder = new TableBuilder(
    [...keys.map(({ column }) => column), ...columns],
    limits.query_result_bytes,
  )
  for (const { keys: own, collectors } of groups) {
    for (const [k, value] of own.entries()) builder.addJson(k, value)
    for (const [n, place] of places.entries())
      for (const k of results.keys())
        builder.addJson(
          own.length + n * results.length + k,
          collectors[place * results.length + k]?.result() ?? 'null',
        )
    builder.endRow()
    if (work.spend(columns.length)) await work.pause()
  }
  return builder
}

/** Orders values of a pivot column as `sort` does: missing ones last. */
function comparePivoted(a: { json: string; rank: Rank }, b: { json: string; rank: Rank }): number {
  const isMissing = [a, b].map(({ json }) => Number(json === 'null'))
  return isMissing[0] - isMissing[1] || compareRanks(a.rank, b.rank)
}
