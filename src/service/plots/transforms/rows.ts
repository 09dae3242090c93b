import { Problem } from '../../../contract/errors.ts'
import { breathe, instantOf, turnIsLong } from '../../../json/index.ts'
import {
  boundWhere,
  COMPOUND,
  columnNamed,
  parseSort,
  parseWhere,
  type QueryType,
  type Scalar,
} from '../../../query/index.ts'
import { mergeSort } from '../../grids/read/order.ts'
import { type Attributes, arraysOf, isObject, type Transform, takeRows, targetOf } from './attributes.ts'
import { isMelted } from './melt.ts'

/** A column that a `rows` transform names. */
interface Named {
  name: string
  type: QueryType
  values: readonly Scalar[]
}

/**
 * Keeps the points of the rows for which `where` is true, in the order of `sort`: see docs/api.md#own-transforms. `names`
 * are the columns that they use, and `values` their values. Throws `bad_figure`.
 */
export async function rows(
  trace: Attributes,
  { where, sort, names, values, types }: Transform,
): Promise<void> {
  const columns = columnsOf(names, values, types)
  let kept = Array.from(
    { length: Math.max(0, ...columns.map((column) => column.values.length)) },
    (_, k) => k,
  )
  try {
    if (typeof where === 'string') {
      const { columns: used, test } = boundWhere(parseWhere(where), columns)
      const read = used.map((name) => columnNamed(name, columns).values)
      const passed: number[] = []
      for (const k of kept) {
        if (test(read.map((list) => list[k] ?? null))) passed.push(k)
        if ((k & 0xff) === 0 && turnIsLong()) await breathe()
      }
      kept = passed
    }
    if (typeof sort === 'string') {
      const keys = parseSort(sort).map(({ name, descending }) => ({
        values: columnNamed(name, columns).values,
        sign: descending ? -1 : 1,
      }))
      const compare = (a: number, b: number): number => {
        for (const { values: list, sign } of keys) {
          const found = compared(list[a] ?? null, list[b] ?? null, sign)
          if (found !== 0) return found
        }
        return a - b
      }
      kept = [...(await mergeSort(Uint32Array.from(kept), compare))]
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw new Problem('bad_figure', `the figure cannot be drawn: ${error.message}`, { hint: error.hint })
  }
  takeAll(trace, kept)
}

/** The rows of all lists of a trace, also of those that are in a list themselves. */
function takeAll(trace: Attributes, kept: readonly number[]): void {
  wrapColumn(trace)
  // The cells of a table are a list of columns, and its header has one text for each.
  const cells: unknown = trace.cells?.values
  if (isMelted(trace)) takeMelted(trace, kept)
  else if (trace.type !== 'table') takeRows(trace, kept)
  else if (Array.isArray(cells))
    trace.cells.values = cells.map((column) => (Array.isArray(column) ? kept.map((k) => column[k]) : column))
  if (trace.type === 'parcoords' && Array.isArray(trace.dimensions))
    trace.dimensions = trace.dimensions.map((one: unknown) =>
      isObject(one) && Array.isArray(one.values) ? { ...one, values: kept.map((k) => one.values[k]) } : one,
    )
}

/** The rows of the lists of a trace whose `y` is a list of columns. */
function takeMelted(trace: Attributes, kept: readonly number[]): void {
  const { y } = trace
  takeRows(
    trace,
    kept,
    trace,
    arraysOf(trace).filter((path) => path !== 'y'),
  )
  trace.y = y.map((list: unknown) => (Array.isArray(list) ? kept.map((k) => list[k]) : list))
}

/** The only column of a table is a list of columns too. */
function wrapColumn({ type, cells }: Attributes): void {
  const values: unknown = cells?.values
  if (type === 'table' && Array.isArray(values) && !values.some(Array.isArray)) cells.values = [values]
}

/** Keeps the rows of parallel axes that have a number on each: a missing one would be drawn as zero. */
export function complete(trace: Attributes): void {
  wrapColumn(trace)
  if (trace.type !== 'parcoords' || !Array.isArray(trace.dimensions)) return
  const lists = trace.dimensions.flatMap((one: unknown) =>
    isObject(one) && Array.isArray(one.values) ? [one.values] : [],
  )
  const count = Math.max(0, ...lists.map(({ length }) => length))
  const whole = Array.from({ length: count }, (_, k) => k).filter((k) =>
    lists.every((list) => typeof list[k] === 'number'),
  )
  if (whole.length < count) takeAll(trace, whole)
}

function columnsOf(names: unknown, values: unknown, types: unknown): Named[] {
  if (!Array.isArray(names) || !Array.isArray(values)) return []
  // One column is a list of values, several are a list of columns.
  const lists = names.length === 1 ? [values] : values
  return names.map((name, k) => {
    const list: unknown[] = Array.isArray(lists[k]) ? lists[k] : []
    const known: unknown = Array.isArray(types) ? types[k] : undefined
    const type = isQueryType(known) ? known : typeOf(list)
    return { name: String(name), type, values: list.map((value) => scalarOf(value, type)) }
  })
}

function finite(time: number): number | null {
  return Number.isNaN(time) ? null : time
}

const TYPES: readonly string[] = ['number', 'text', 'boolean', 'date', 'datetime', 'json', 'empty']

function isQueryType(type: unknown): type is QueryType {
  return typeof type === 'string' && TYPES.includes(type)
}

/** The type of values, as the column has it. */
function typeOf(values: readonly unknown[]): QueryType {
  let found: QueryType = 'empty'
  for (const value of values) {
    if (value === null || value === undefined) continue
    const type = typeof value
    const own: QueryType =
      type === 'number' || type === 'boolean'
        ? type
        : type !== 'string'
          ? 'json'
          : found !== 'text' && !Number.isNaN(instantOf(value as string))
            ? 'datetime'
            : 'text'
    if (found === 'empty' || found === own) found = own
    else if ((found === 'datetime' || found === 'text') && type === 'string') found = 'text'
    else return 'json'
  }
  return found
}

function scalarOf(value: unknown, type: QueryType): Scalar {
  if (value === null || value === undefined) return null
  if (typeof value === 'object') return COMPOUND
  const isMoment = type === 'datetime' || type === 'date'
  return isMoment && typeof value === 'string' ? finite(instantOf(value)) : (value as Scalar)
}

/** Numbers come before texts, and what is missing last, also in descending order. */
function compared(a: Scalar, b: Scalar, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  const [rank, other] = [rankOf(a), rankOf(b)]
  if (rank !== other) return sign * (rank - other)
  if (a === COMPOUND || b === COMPOUND || a === b) return 0
  if (typeof a === 'string' && typeof b === 'string') return sign * compareTexts(a, b)
  return a < b ? -sign : sign
}

/** Puts the points in the order of the values of the target: numbers, dates or texts. */
export function order(trace: Attributes, { target = 'x', descending }: Transform): void {
  const given = targetOf(trace, target)
  if (!given) return
  const type = typeOf(given)
  const values = given.map((value) => scalarOf(value, type))
  const sign = descending === true ? -1 : 1
  takeRows(
    trace,
    values.map((_, k) => k).sort((a, b) => compared(values[a], values[b], sign) || a - b),
  )
}

/** Numbers come before booleans, arrays and objects, and texts last, as in sorted grids. */
function rankOf(value: Scalar): number {
  if (typeof value === 'number' || typeof value === 'bigint') return 0
  return typeof value === 'boolean' ? 1 : value === COMPOUND ? 2 : 3
}

const SURROGATES = /[\ud800-\udfff]/

/** In the order of code points. */
function compareTexts(a: string, b: string): number {
  if (SURROGATES.test(a) || SURROGATES.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : 1
}
