import { invalidField, Problem } from '../../../contract/errors.ts'
import { formatCount } from '../../../contract/message-texts.ts'
import { badData, jsonLines, unpacked } from '../../../ingest/index.ts'
import { acceptedBefore, breathe, RawJson, turnIsLong } from '../../../json/index.ts'
import type { Service } from '../../core/context.ts'
import { checkCanChange } from '../../files/read.ts'
import {
  decodeTypes,
  detectValueType,
  encodeTypes,
  isAssignable,
  isStringType,
  mergeTypeLists,
  mergeTypes,
} from '../../store/schema/column-types.ts'
import { columnsAre } from '../column/content.ts'
import { type RowText, RowTexts } from '../column/tail.ts'
import { typeChange } from '../column/types.ts'
import { type ColumnType, columnsInTurns } from '../column/values.ts'
import { type DataCall, mayChangeTypes } from './reading-options.ts'
import type { Table } from './tables.ts'

export interface GivenRows {
  bodies: RowText[]
  width: number
  types: string
  columns?: readonly { uid: string; name: string }[]
  /** Columns of the grid that no row has, by position. */
  lacks?: boolean[]
}

/** Rows as a table whose columns are those of the grid, by position. */
export async function tableOfRows({ bodies, width }: GivenRows): Promise<Table> {
  const small = await columnsInTurns(
    bodies.map(({ body }) => body),
    Math.max(0, width),
  )
  const rows = bodies.reduce((sum, one) => sum + one.rows, 0)
  const columns = small.map(({ type }, k) => ({ name: String(k), type, rows, slices: [] }))
  return { rows, columns, warnings: [], nameless: true, small, json: bodies }
}

/** A value that does not fit the type of its column. The row is found later, by `misfitIn`. */
export interface Misfit {
  /** Position of the column, from 0. */
  column: number
  name: string
  type: ColumnType
}

/** Returns the error for the first row whose value does not fit the type of its column. */
export async function misfitIn(bodies: readonly RowText[], { column, name, type }: Misfit): Promise<Problem> {
  let row = 0
  for (const { body } of bodies) {
    const text = Buffer.concat([OPEN, body, CLOSE])
    for (const cells of new RawJson(text, 0, text.length, acceptedBefore).items()) {
      row++
      const { buf, start, end, bytes } = [...cells.items()][column]
      if (!isAssignable(detectValueType(buf, start, end), type))
        return typeChange(`row ${row}`, name, bytes, type)
      if (turnIsLong()) await breathe()
    }
  }
  throw new Error('all values fit')
}

const OPEN = Buffer.from('[')
const CLOSE = Buffer.from(']')

/** Returns the error for rows of `width` values in a grid of `columns` columns. */
export function wrongLength(width: number, columns: number): Problem {
  if (columns === 0)
    return new Problem('bad_data', 'the grid has no columns', {
      field: 'rows',
      hint: 'Add columns before rows.',
    })
  return new Problem(
    'bad_data',
    `a row has ${formatCount(width, 'value')}; the grid has ${formatCount(columns, 'column')}`,
    { field: 'rows', hint: 'Give a value for every column; use null for missing values.' },
  )
}

/**
 * Reads the rows of a JSON body (unparsed) and the types of their values. All rows must have the same number
 * of values, at most `most`. Throws `bad_data`.
 */
export async function rowsOf(given: RawJson, most: number): Promise<GivenRows> {
  if (given?.kind !== 'array') throw invalidField('rows', 'must be an array of rows')
  const texts = new RowTexts()
  let types: ColumnType[] | undefined
  for (const row of given.items()) {
    if (row.kind !== 'array') throw invalidField(`rows.${texts.count}`, 'must be an array of values')
    const found = typesOf(row, types?.length ?? most)
    const why = unlike(found.length, types?.length, most)
    if (why) {
      throw new Problem('bad_data', `row ${texts.count + 1} has ${why}`, {
        field: 'rows',
        path: `rows.${texts.count}`,
      })
    }
    types = types ? mergeTypeLists(types, found) : found
    texts.add(row.bytes)
    if (turnIsLong()) await breathe()
  }
  return { bodies: texts.all(), width: types?.length ?? -1, types: encodeTypes(types ?? []) }
}

/** Describes what is wrong with the number of values in a row; undefined if it is valid. */
function unlike(values: number, before: number | undefined, most: number): string | undefined {
  if (before === undefined) return values > most ? `more than ${most} values (limit columns)` : undefined
  if (values === before) return undefined
  return values > before
    ? `more values than the rows before it, which have ${before}`
    : `${values} values; the rows before it have ${before}`
}

/** The types of the values in a row. Stops after `most` + 1 values. */
function typesOf(row: RawJson, most: number): ColumnType[] {
  const types: ColumnType[] = []
  for (const { buf, start, end } of row.items()) {
    types.push(detectValueType(buf, start, end))
    if (types.length > most) break
  }
  return types
}

/** Reads rows from NDJSON: objects by column name, arrays by position. */
export async function rowsOfLines(service: Service, call: DataCall): Promise<GivenRows> {
  const { limits } = service
  await checkCanChange(service, call)
  const { owner, idlocal } = call.fid
  const { columns, held } = await service.store.read(async ({ grids }) => ({
    columns: await grids.listColumns(owner, idlocal),
    held: decodeTypes((await grids.get(owner, idlocal)).types),
  }))
  let types = columns.map((): ColumnType => 'empty')
  const lacks = columns.map(() => true)
  const names = new Map(columns.map(({ name }, k) => [name, k]))
  const source = call.fileName ?? 'the rows'
  const texts = new RowTexts()
  let size = 0
  const add = (line: number, value: RawJson): void => {
    let row = value.bytes
    if (value.kind === 'object') {
      const cells: (Buffer | undefined)[] = columns.map(() => undefined)
      for (const [name, cell] of value.entries()) {
        const at = names.get(name)
        if (at === undefined) {
          throw new Problem(
            'unknown_column',
            `${source}, line ${line}: the grid has no column ${JSON.stringify(name)}`,
            { hint: columnsAre(columns) },
          )
        }
        cells[at] = cell.bytes
        lacks[at] = false
      }
      row = Buffer.from(`[${cells.map((cell) => cell?.toString('utf8') ?? 'null').join(',')}]`)
    } else {
      let values = 0
      for (const _ of value.items()) values++
      if (values !== columns.length) {
        throw badData(
          source,
          { line },
          `${formatCount(values, 'value')}; the grid has ${formatCount(columns.length, 'column')}`,
          'Give a value for every column; use null for missing values.',
        )
      }
      row = Buffer.from(row)
      lacks.fill(false)
    }
    const found = typesOf(new RawJson(row, 0, row.length), columns.length)
    if (!mayChangeTypes(call)) {
      const misfit = found.findIndex((type, k) => {
        // Texts that are dates at first are texts, where the column was empty.
        if (held[k] === 'empty' && isStringType(type) && isStringType(types[k])) return false
        return !isAssignable(type, mergeTypes(held[k], types[k]))
      })
      if (misfit >= 0) {
        const cell = [...new RawJson(row, 0, row.length).items()][misfit]
        const type = mergeTypes(held[misfit], types[misfit])
        throw typeChange(`${source}, line ${line}`, columns[misfit].name, cell.bytes, type)
      }
    }
    types = mergeTypeLists(types, found)
    size += row.length
    if (size > limits.json_body_bytes) {
      throw new Problem(
        'too_large',
        `${source}: more than ${limits.json_body_bytes} bytes of rows (limit json_body_bytes)`,
        { hint: 'Append in several parts, or as CSV.' },
      )
    }
    texts.add(row)
  }
  for await (const { line, value } of jsonLines(unpacked(call.bytes, source, limits), { source, limits })) {
    if (isRecords(value, names)) for (const record of value.items()) add(line, record)
    else add(line, value)
  }
  return { bodies: texts.all(), width: columns.length, types: encodeTypes(types), columns, lacks }
}

/** Whether a line is an array of records (objects keyed by column name), not one row of objects. */
function isRecords(value: RawJson, names: ReadonlyMap<string, number>): boolean {
  if (value.kind !== 'array') return false
  let records = 0
  for (const item of value.items()) {
    if (item.kind !== 'object' || ![...item.members()].every(([name]) => names.has(name))) return false
    records++
  }
  return records > 0
}
