/** Transforms `rows`, `order` and `complete`: select and sort rows as queries on grids do. */

import { COLUMN_TYPES, type ColumnType, isMomentType } from '../../contract/column-types.ts'
import { Problem } from '../../contract/errors.ts'
import { parseInstant, shouldYield, yieldToEventLoop } from '../../json/index.ts'
import { bindWhere, COMPOUND, parseSort, parseWhere, resolveColumn, type Scalar } from '../../query/index.ts'
import { mergeSort } from '../../query/merge-sort.ts'
import { type Attributes, isObject } from '../figure/figure.ts'
import {
  listPointArrays,
  listTransforms,
  resolveTarget,
  selectRows,
  type Transform,
  toKey,
} from './attributes.ts'
import { hasMeltedColumns } from './melt.ts'

/** A column of a `rows` transform. */
interface NamedColumn {
  name: string
  type: ColumnType
  values: readonly Scalar[]
}

/**
 * Keeps the points for which `where` and `filter` are true, in the order of `sort`. `names` and `values` are the columns
 * that they use. Series keep the colors that they have without `filter`. Throws `bad_figure`. See
 * docs/api.md#own-transforms.
 */
export async function selectAndSortRows(
  trace: Attributes,
  { where, filter, sort, names, values, types }: Transform,
): Promise<void> {
  const columns = readColumns(names, values, types)
  let selected = Array.from(
    { length: Math.max(0, ...columns.map((column) => column.values.length)) },
    (_, k) => k,
  )
  try {
    if (typeof where === 'string') selected = await selectMatching(selected, where, columns)
    if (typeof sort === 'string') {
      const keys = parseSort(sort).map(({ name, descending }) => ({
        values: resolveColumn(name, columns).values,
        sign: descending ? -1 : 1,
      }))
      const compare = (a: number, b: number): number => {
        for (const { values: list, sign } of keys) {
          const result = compareScalars(list[a] ?? null, list[b] ?? null, sign)
          if (result !== 0) return result
        }
        return a - b
      }
      selected = [...(await mergeSort(Uint32Array.from(selected), compare))]
    }
    if (typeof filter === 'string') {
      keepGroups(trace, selected)
      selected = await selectMatching(selected, filter, columns)
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw new Problem('bad_figure', `the figure cannot be drawn: ${error.message}`, { hint: error.hint })
  }
  selectAllRows(trace, selected)
}

/** Returns the rows that meet a condition. Throws `invalid_query` and `unknown_column`. */
async function selectMatching(
  rows: readonly number[],
  where: string,
  columns: readonly NamedColumn[],
): Promise<number[]> {
  const { columns: used, test } = bindWhere(parseWhere(where), columns)
  const columnValues = used.map((name) => resolveColumn(name, columns).values)
  const passing: number[] = []
  for (const k of rows) {
    if (test(columnValues.map((list) => list[k] ?? null))) passing.push(k)
    if ((k & 0xff) === 0 && shouldYield()) await yieldToEventLoop()
  }
  return passing
}

/**
 * Keeps the groups of all rows that a filter could select, so that each series has the color that it has without. Not of
 * those that are chosen by their values, nor of several groupings.
 */
function keepGroups(trace: Attributes, rows: readonly number[]): void {
  const groupings = listTransforms(trace).filter(({ type }) => type === 'groupby')
  const [transform] = groupings
  if (groupings.length !== 1 || !Array.isArray(transform.groups)) return
  const { groups, facet, animate, classes, top } = transform
  if (facet || animate || classes !== undefined) return
  const all: unknown[] = rows.map((k) => groups[k])
  // The largest groups are others after a filter.
  if (typeof top !== 'number' || new Set(all.map(toKey)).size <= top) transform.allGroups = all
}

/**
 * Keeps rows of all arrays of a trace, including nested ones: cells of tables, dimensions, melted columns.
 */
function selectAllRows(trace: Attributes, selected: readonly number[]): void {
  wrapColumn(trace)
  // The cells of a table are an array of columns; its header has one text per column and is unchanged.
  const cells: unknown = trace.cells?.values
  if (hasMeltedColumns(trace)) selectMeltedRows(trace, selected)
  else if (trace.type !== 'table') selectRows(trace, selected)
  else if (Array.isArray(cells))
    trace.cells.values = cells.map((column) =>
      Array.isArray(column) ? selected.map((k) => column[k]) : column,
    )
  if (trace.type === 'parcoords' && Array.isArray(trace.dimensions))
    trace.dimensions = trace.dimensions.map((dimension: unknown) =>
      isObject(dimension) && Array.isArray(dimension.values)
        ? { ...dimension, values: selected.map((k) => dimension.values[k]) }
        : dimension,
    )
}

/** Keeps rows of a trace whose `y` is an array of columns. */
function selectMeltedRows(trace: Attributes, selected: readonly number[]): void {
  const { y } = trace
  selectRows(
    trace,
    selected,
    trace,
    listPointArrays(trace).filter((path) => path !== 'y'),
  )
  trace.y = y.map((list: unknown) => (Array.isArray(list) ? selected.map((k) => list[k]) : list))
}

/** Wraps the only column of a table, so that its cells are an array of columns. */
function wrapColumn({ type, cells }: Attributes): void {
  const values: unknown = cells?.values
  if (type === 'table' && Array.isArray(values) && !values.some(Array.isArray)) cells.values = [values]
}

/** Keeps rows of parallel coordinates with a number on every axis: plotly.js draws missing ones as zero. */
export function keepCompleteRows(trace: Attributes): void {
  wrapColumn(trace)
  if (trace.type !== 'parcoords' || !Array.isArray(trace.dimensions)) return
  const lists = trace.dimensions.flatMap((dimension: unknown) =>
    isObject(dimension) && Array.isArray(dimension.values) ? [dimension.values] : [],
  )
  const count = Math.max(0, ...lists.map(({ length }) => length))
  const completeRows = Array.from({ length: count }, (_, k) => k).filter((k) =>
    lists.every((list) => typeof list[k] === 'number'),
  )
  if (completeRows.length < count) selectAllRows(trace, completeRows)
}

/** Reads the columns of a `rows` transform, with declared or detected types. */
function readColumns(names: unknown, values: unknown, types: unknown): NamedColumn[] {
  if (!Array.isArray(names) || !Array.isArray(values)) return []
  // One column is an array of values; several are an array of columns.
  const lists = names.length === 1 ? [values] : values
  return names.map((name, k) => {
    const list: unknown[] = Array.isArray(lists[k]) ? lists[k] : []
    const declared: unknown = Array.isArray(types) ? types[k] : undefined
    const type = isColumnType(declared) ? declared : detectColumnType(list)
    return { name: String(name), type, values: list.map((value) => toScalar(value, type)) }
  })
}

function nullIfNaN(time: number): number | null {
  return Number.isNaN(time) ? null : time
}

function isColumnType(type: unknown): type is ColumnType {
  return typeof type === 'string' && Object.hasOwn(COLUMN_TYPES, type)
}

/** Detects the type of values, as for columns of grids. */
function detectColumnType(values: readonly unknown[]): ColumnType {
  let result: ColumnType = 'empty'
  for (const value of values) {
    if (value === null || value === undefined) continue
    const type = typeof value
    const valueType: ColumnType =
      type === 'number' || type === 'boolean'
        ? type
        : typeof value !== 'string'
          ? 'json'
          : result !== 'text' && !Number.isNaN(parseInstant(value))
            ? 'datetime'
            : 'text'
    if (result === 'empty' || result === valueType) result = valueType
    else if ((result === 'datetime' || result === 'text') && type === 'string') result = 'text'
    else return 'json'
  }
  return result
}

/** Converts a value for queries: dates to ms since 1970, arrays and objects to `COMPOUND`. */
function toScalar(value: unknown, type: ColumnType): Scalar {
  if (value === null || value === undefined) return null
  if (typeof value === 'object') return COMPOUND
  return isMomentType(type) && typeof value === 'string' ? nullIfNaN(parseInstant(value)) : (value as Scalar)
}

/** Compares values: numbers before texts; missing values last, also in descending order (`sign` −1). */
function compareScalars(a: Scalar, b: Scalar, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  const [rank, otherRank] = [typeRankOf(a), typeRankOf(b)]
  if (rank !== otherRank) return sign * (rank - otherRank)
  if (a === COMPOUND || b === COMPOUND || a === b) return 0
  if (typeof a === 'string' && typeof b === 'string') return sign * compareTexts(a, b)
  return a < b ? -sign : sign
}

/** Sorts the points by the target: numbers, dates or texts. */
export function sortByTarget(trace: Attributes, { target = 'x', descending }: Transform): void {
  const targetValues = resolveTarget(trace, target)
  if (!targetValues) return
  const type = detectColumnType(targetValues)
  const values = targetValues.map((value) => toScalar(value, type))
  const sign = descending === true ? -1 : 1
  selectRows(
    trace,
    values.map((_, k) => k).sort((a, b) => compareScalars(values[a], values[b], sign) || a - b),
  )
}

/** Returns the rank of a type, as in sorted grids: numbers, booleans, arrays and objects, texts. */
function typeRankOf(value: Scalar): number {
  if (typeof value === 'number' || typeof value === 'bigint') return 0
  return typeof value === 'boolean' ? 1 : value === COMPOUND ? 2 : 3
}

const SURROGATES = /[\ud800-\udfff]/

/** Compares texts by code points. */
function compareTexts(a: string, b: string): number {
  if (!SURROGATES.test(a) && !SURROGATES.test(b)) return a < b ? -1 : 1
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  return rankOf(a.charCodeAt(at)) - rankOf(b.charCodeAt(at))
}

/** Returns the rank of a UTF-16 unit by code points: those above U+FFFF, which are two surrogates, come last. */
function rankOf(unit: number): number {
  if (Number.isNaN(unit)) return -1
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit
}
