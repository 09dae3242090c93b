// Joins a table with another one: its columns are added to the rows with the same values in some columns.
import { invalidField } from '../../../contract/errors.ts'
import type { Limits } from '../../../contract/limits.ts'
import { takeUniqueName } from '../../../contract/unique-name.ts'
import { ensureCapacity, type WorkBudget } from '../../../json/index.ts'
import { familyOf, isDateType } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'
import { type Cell, createFirstRows, jsonOf, type RowSequence } from '../column/cursor.ts'
import { createIdentify } from '../column/identify.ts'
import type { Snapshot } from '../column/snapshot.ts'
import { forEachRow } from '../read/rows.ts'
import { ENTRY_BYTES, KeptMemory } from './kept-memory.ts'
import { TableBuilder } from './table-builder.ts'
import { findColumns } from './unpivot.ts'

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
  const onRight = new Set(rightAt)
  const added = [...right.columns.keys()].filter((k) => !onRight.has(k))
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
  /** Adds a row with the values of a row of the other table; with missing ones if that is -1. */
  const addRow = (cells: readonly Cell[], match: number): void => {
    for (let k = 0; k < width; k++) builder.addCell(k, cells[k])
    for (let k = 0; k < added.length; k++)
      builder.addCell(width + k, match < 0 ? MISSING : matches.cellOf(match, k))
    builder.endRow()
  }
  const addRows = async (cells: readonly Cell[], first: number): Promise<void> => {
    for (let match = first; match >= 0; match = matches.next[match]) {
      addRow(cells, match)
      if (work.spend(columns.length)) await work.pause()
    }
  }
  await forEachRow(left, rows, (cells) => {
    const key = keyOfLeft(cells)
    const match = key === undefined ? -1 : matches.find(key)
    // Few rows have several matches.
    if (match >= 0 && matches.next[match] >= 0) return addRows(cells, match)
    addRow(cells, match)
    return work.spend(columns.length) ? work.pause() : undefined
  })
  return builder
}

const MISSING: Cell = { buf: Buffer.from('null'), start: 0, end: 4 }

/** Initial number of rows that are kept, and size of their values in bytes. */
const INITIAL_ROWS = 1024
const INITIAL_BYTES = 16 * 1024
/** Size of a row without its values, and of the end of a value, in bytes. */
const ROW_BYTES = 8
const END_BYTES = 4

/** Rows of the other table, by their key. The rows with a key are a list, which `next` continues; −1 ends it. */
class MatchingRows {
  next = new Int32Array(INITIAL_ROWS)
  /** The last row with the same key, by the first one. */
  private last = new Int32Array(INITIAL_ROWS)
  private readonly first = new Map<string, number>()
  /** The JSON of all values, and where each ends. */
  private text: Buffer = Buffer.allocUnsafe(INITIAL_BYTES)
  private ends: Uint32Array
  private rows = 0
  private size = 0

  /** `added`: positions of the columns whose values are kept. */
  constructor(
    private readonly added: readonly number[],
    private readonly kept: KeptMemory,
  ) {
    this.ends = new Uint32Array(INITIAL_ROWS * added.length)
  }

  /** Returns the first row with a key; −1 without one. */
  find(key: string): number {
    return this.first.get(key) ?? -1
  }

  /** Returns the value of a row in the k-th column that is kept. */
  cellOf(row: number, k: number): Cell {
    const at = row * this.added.length + k
    return { buf: this.text, start: at === 0 ? 0 : this.ends[at - 1], end: this.ends[at] }
  }

  /** Adds a row. Throws `too_large` if it needs too much memory. */
  add(key: string, cells: readonly Cell[]): void {
    const { added, rows: row } = this
    const before = this.size
    if (row === this.next.length) this.grow()
    for (let k = 0; k < added.length; k++) {
      const { buf, start, end } = cells[added[k]]
      this.text = ensureCapacity(this.text, this.size, end - start)
      this.size += buf.copy(this.text, this.size, start, end)
      this.ends[row * added.length + k] = this.size
    }
    this.rows++
    this.next[row] = -1
    const first = this.first.get(key)
    if (first === undefined) {
      this.first.set(key, row)
      this.last[row] = row
    } else {
      this.next[this.last[first]] = row
      this.last[first] = row
    }
    const entry = first === undefined ? key.length + ENTRY_BYTES : 0
    this.kept.add(entry + this.size - before + ROW_BYTES + added.length * END_BYTES)
  }

  private grow(): void {
    const { next, last, ends } = this
    this.next = new Int32Array(next.length * 2)
    this.next.set(next)
    this.last = new Int32Array(last.length * 2)
    this.last.set(last)
    this.ends = new Uint32Array(ends.length * 2)
    this.ends.set(ends)
  }
}

/** Reads the rows of the other table. */
async function readMatches(
  snap: Snapshot,
  keyOf: KeyOf,
  added: readonly number[],
  { limits, work }: { limits: Limits; work: WorkBudget },
): Promise<MatchingRows> {
  const matches = new MatchingRows(added, new KeptMemory(limits, 'join'))
  await forEachRow(snap, createFirstRows(snap.rows), (cells) => {
    const key = keyOf(cells)
    if (key === undefined) return undefined
    matches.add(key, cells)
    return work.spend(key.length + added.length) ? work.pause() : undefined
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
