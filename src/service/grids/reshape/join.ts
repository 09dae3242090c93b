// Joins a table with another one: its columns are added to the rows with the same values in some columns.
import { invalidField, Problem } from '../../../contract/errors.ts'
import { formatBytes, type Limits } from '../../../contract/limits.ts'
import { takeUniqueName } from '../../../contract/unique-name.ts'
import type { WorkBudget } from '../../../json/index.ts'
import { familyOf, isDateType } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'
import { type Cell, createFirstRows, jsonOf, type RowSequence } from '../column/cursor.ts'
import type { Snapshot } from '../column/snapshot.ts'
import { createIdentify } from '../column/value-order.ts'
import { forEachRow } from '../read/rows.ts'
import { TableBuilder } from './table-builder.ts'
import { findColumns } from './unpivot.ts'

/** Size of an entry of the map of rows, in bytes. */
const ENTRY_BYTES = 64

/**
 * Adds the other columns of `right` to the rows of `left` that have the same values in the columns `on`: `id`, or
 * `id=key` for different names. Each row stays, without a match with missing values; with several matches, it is
 * repeated. Missing values match nothing. Throws `unknown_column` and `invalid_request`.
 */
export async function join(
  left: Snapshot,
  right: Snapshot,
  on: readonly string[],
  { rows, limits, work }: { rows: RowSequence; limits: Limits; work: WorkBudget },
): Promise<TableBuilder> {
  if (on.length === 0) throw invalidField('on', 'names no columns')
  const pairs = on.map((pair) => splitPair(pair, left))
  const leftAt = findColumns(
    left.columns,
    pairs.map(([name]) => name),
    'on',
  )
  const rightAt = findColumns(
    right.columns,
    pairs.map(([name, other]) => other ?? name),
    'on',
    'the joined table',
  )
  const added = [...right.columns.keys()].filter((k) => !rightAt.includes(k))
  const pairedTypes = leftAt.map((k, n) => [left.columns[k].type, right.columns[rightAt[n]].type] as const)
  // Numbers and texts are compared as texts.
  const asText = pairedTypes.map(([one, other]) => kindOf(one) !== kindOf(other))
  const keyOfRight = createKey(right.columns, rightAt, asText)
  const keyOfLeft = createKey(left.columns, leftAt, asText)
  const matches = await readMatches(right, keyOfRight, added, { limits, work })
  const used = new Set(left.columns.map(({ name }) => name))
  const columns = [
    ...left.columns.map(({ name, type }) => ({ name, type })),
    ...added.map((k) => ({ name: takeUniqueName(right.columns[k].name, used), type: right.columns[k].type })),
  ]
  const builder = new TableBuilder(columns, limits.query_result_bytes)
  const width = left.columns.length
  const none = [added.map(() => 'null')]
  await forEachRow(left, rows, (cells) => {
    const key = keyOfLeft(cells)
    const found = (key === undefined ? undefined : matches.get(key)) ?? none
    for (const values of found) {
      for (const k of left.columns.keys()) builder.addCell(k, cells[k])
      for (const [k, value] of values.entries()) builder.addJson(width + k, value)
      builder.endRow()
    }
    return work.spend(found.length * columns.length) ? work.pause() : undefined
  })
  return builder
}

/** Returns the JSON of the added values of each row, by key. */
async function readMatches(
  snap: Snapshot,
  keyOf: KeyOf,
  added: readonly number[],
  { limits, work }: { limits: Limits; work: WorkBudget },
): Promise<Map<string, string[][]>> {
  const matches = new Map<string, string[][]>()
  let bytes = 0
  await forEachRow(snap, createFirstRows(snap.rows), (cells) => {
    const key = keyOf(cells)
    if (key === undefined) return undefined
    const values = added.map((k) => jsonOf(cells[k]))
    bytes += values.reduce((sum, { length }) => sum + length, key.length + ENTRY_BYTES)
    if (bytes > limits.query_result_bytes)
      throw new Problem(
        'too_large',
        `join: the other table is larger than ${formatBytes(limits.query_result_bytes)} (limit query_result_bytes)`,
        { field: 'join' },
      )
    const found = matches.get(key)
    if (found) found.push(values)
    else matches.set(key, [values])
    return work.spend(key.length + values.length) ? work.pause() : undefined
  })
  return matches
}

/** Splits `id=key` into the names of both columns. A column of the first table can itself have such a name. */
function splitPair(pair: string, { columns }: Snapshot): [name: string, other: string] {
  const isName = (name: string): boolean => columns.some((column) => column.name === name)
  if (isName(pair)) return [pair, pair]
  for (let at = pair.indexOf('='); at >= 0; at = pair.indexOf('=', at + 1))
    if (isName(pair.slice(0, at))) return [pair.slice(0, at), pair.slice(at + 1)]
  const [name, other = name] = pair.split('=')
  return [name, other]
}

/** Returns what values of a type are compared as. Dates in different forms are all compared by time. */
function kindOf(type: ColumnType): string {
  return isDateType(type) ? 'date' : familyOf(type)
}

/** Returns the key of a row; undefined if one of its values is missing. */
type KeyOf = (cells: readonly Cell[]) => string | undefined

function createKey(columns: Snapshot['columns'], at: readonly number[], asText: readonly boolean[]): KeyOf {
  const identifiers = at.map((k, n) => createIdentify(columns[k].type, asText[n]))
  return (cells) => {
    let key = ''
    for (let n = 0; n < at.length; n++) {
      const json = jsonOf(cells[at[n]])
      if (json === 'null') return undefined
      key += `${identifiers[n](json)}\n`
    }
    return key
  }
}
