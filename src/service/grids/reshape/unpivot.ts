// Turns columns into rows: each of their values becomes a row, with the name of its column.
import { invalidField, Problem } from '../../../contract/errors.ts'
import { findClosest, formatList, withSuggestion } from '../../../contract/message-texts.ts'
import type { WorkBudget } from '../../../json/index.ts'
import { familyOf, mergeTypes } from '../../store/schema/column-types.ts'
import { type Cell, createFirstRows, type RowSequence } from '../column/cursor.ts'
import type { Snapshot, SnapshotColumn } from '../column/snapshot.ts'
import { forEachRow } from '../read/rows.ts'
import { type BuiltColumn, TableBuilder } from './table-builder.ts'

/** Columns to unpivot, and the names of the column of names and the column of values. */
export interface Unpivot {
  columns: readonly string[]
  into: readonly string[]
}

/** Returns the position of each named column. `table`: names it in errors. Throws `unknown_column`. */
export function findColumns(
  columns: readonly { name: string }[],
  names: readonly string[],
  field: string,
  table = 'the table',
): number[] {
  const positions = new Map(columns.map((column, k) => [column.name, k] as const).reverse())
  return names.map((name) => {
    const index = positions.get(name)
    if (index !== undefined) return index
    const all = columns.map((column) => column.name)
    throw new Problem('unknown_column', `${field}: ${table} has no column ${JSON.stringify(name)}`, {
      field,
      hint: /[-+*/()]/.test(name)
        ? `It takes a column. To calculate, use SQL: gridline query. Columns: ${formatList(all)}.`
        : withSuggestion(findClosest(name, all), `Columns: ${formatList(all)}.`),
    })
  })
}

/** Receives the rows of a builder when they are many, so that they need not be in memory. */
type Flush = (builder: TableBuilder) => Promise<void>

/** Number of cells of a row that are written before the work may pause. */
const CELLS_PER_TURN = 100_000
/** Number of bytes after which rows are flushed. */
const FLUSH_BYTES = 4 * 1024 * 1024

/**
 * Unpivots columns: a row for each of them, with the values of the other columns. Returns the builder with the rows
 * that were not flushed. Throws `unknown_column` and `invalid_request`.
 */
export async function unpivot(
  snap: Snapshot,
  { columns: names, into }: Unpivot,
  { rows, maxBytes, work, flush }: { rows?: RowSequence; maxBytes: number; work: WorkBudget; flush?: Flush },
): Promise<TableBuilder> {
  if (into.length !== 2) throw invalidField('into', 'must be the names of two columns, such as year,value')
  const { columns } = snap
  const chosen = new Set(findColumns(columns, names, 'unpivot'))
  const unpivoted = [...chosen]
  const kept = [...columns.keys()].filter((k) => !chosen.has(k))
  const taken = into.find(
    (name, k) => kept.some((at) => columns[at].name === name) || into.indexOf(name) !== k,
  )
  if (taken !== undefined) throw invalidField('into', `the table has a column ${JSON.stringify(taken)}`)
  // Names of years are numbers.
  const areNumbers = unpivoted.every((k) => WHOLE_NUMBER.test(columns[k].name))
  const types = unpivoted.map((k) => (hasNoValues(columns[k]) ? 'empty' : columns[k].type))
  const merged = types.reduce(mergeTypes, 'empty')
  // Texts among numbers make a column of texts.
  const isText = types.every((type) => familyOf(type) !== 'json')
  const built: BuiltColumn[] = [
    ...kept.map((k) => ({ name: columns[k].name, type: columns[k].type })),
    { name: into[0], type: areNumbers ? 'number' : 'text' },
    { name: into[1], type: merged === 'json' && isText ? 'text' : merged },
  ]
  const builder = new TableBuilder(built, maxBytes)
  const interrupt = async (isFull: boolean): Promise<void> => {
    if (isFull) await flush!(builder)
    await work.pause()
  }
  const labels = unpivoted.map((k) => (areNumbers ? columns[k].name : JSON.stringify(columns[k].name)))
  const mustQuote = merged === 'json' && isText
  const [nameAt, valueAt] = [kept.length, kept.length + 1]
  const addRows = (cells: readonly Cell[], first: number, end: number): Promise<void> | undefined => {
    let size = 0
    for (let k = first; k < end; k++) {
      const at = unpivoted[k]
      for (const [to, from] of kept.entries()) builder.addCell(to, cells[from])
      builder.addJson(nameAt, labels[k])
      if (mustQuote) builder.addJson(valueAt, toTextJson(cells[at]))
      else builder.addCell(valueAt, cells[at])
      builder.endRow()
      size += cells[at].end - cells[at].start + kept.length
    }
    const isFull = flush !== undefined && builder.addedBytes > FLUSH_BYTES
    return work.spend(size) || isFull ? interrupt(isFull) : undefined
  }
  const step = Math.ceil(CELLS_PER_TURN / built.length)
  const addAllRows = async (cells: readonly Cell[]): Promise<void> => {
    for (let k = 0; k < unpivoted.length; k += step)
      await addRows(cells, k, Math.min(unpivoted.length, k + step))
  }
  await forEachRow(snap, rows ?? createFirstRows(snap.rows), (cells) =>
    unpivoted.length <= step ? addRows(cells, 0, unpivoted.length) : addAllRows(cells),
  )
  return builder
}

/** Returns whether all values of a column are missing: they fit every type. */
function hasNoValues({ slices, tail }: SnapshotColumn): boolean {
  return (
    slices.every(({ bounds, rows }) => bounds?.nulls === rows) &&
    tail.toString('latin1').replaceAll(/null|,/g, '') === ''
  )
}

/** A whole number without leading zeros, as a year is written. */
const WHOLE_NUMBER = /^(?:0|[1-9]\d{0,14})$/

/** Returns the JSON of a value as a text. Missing values stay missing. */
function toTextJson({ buf, start, end }: Cell): string {
  const json = buf.toString('utf8', start, end)
  return json === 'null' || json.startsWith('"') ? json : JSON.stringify(json)
}
