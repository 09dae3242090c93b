// Parses rows sent as JSON or NDJSON.

import { invalidField, Problem } from '../../../contract/errors.ts'
import { formatCount } from '../../../contract/message-texts.ts'
import { badData, decompress, readJsonLines } from '../../../ingest/index.ts'
import { NO_JSON_LIMITS, RawJson, shouldYield, yieldToEventLoop } from '../../../json/index.ts'
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
import { type ColumnType, transposeRowsInTurns } from '../column/column-json.ts'
import { formatColumns } from '../column/snapshot.ts'
import { RowPacker, type RowsJson } from '../column/tail.ts'
import { typeChangeError } from '../column/type-names.ts'
import { allowsTypeChange, type DataCall } from './reading-options.ts'
import type { Table } from './tables.ts'

/** Parsed rows. `width`: number of values per row, -1 without rows. `types`: as in `Append`. */
export interface JsonRows {
  bodies: RowsJson[]
  width: number
  types: string
  columns?: readonly { uid: string; name: string }[]
  /** For each column of the grid, whether no row has a value for it. */
  isMissing?: boolean[]
}

/** Converts rows to a table whose columns are matched by position. */
export async function toTable({ bodies, width }: JsonRows): Promise<Table> {
  const small = await transposeRowsInTurns(
    bodies.map(({ body }) => body),
    Math.max(0, width),
  )
  const rows = bodies.reduce((sum, body) => sum + body.rows, 0)
  const columns = small.map(({ type }, k) => ({ name: String(k), type, rows, slices: [] }))
  return { rows, columns, warnings: [], isNameless: true, small, json: bodies }
}

/** Column with a value that does not fit its type. `findMisfit` finds the row. */
export interface Misfit {
  /** Position of the column, from 0. */
  column: number
  name: string
  type: ColumnType
}

/** Finds the first row with a value that does not fit the column type, and creates its error. */
export async function findMisfit(
  bodies: readonly RowsJson[],
  { column, name, type }: Misfit,
): Promise<Problem> {
  let row = 0
  for (const { body } of bodies) {
    const text = Buffer.concat([OPEN, body, CLOSE])
    for (const cells of new RawJson(text, 0, text.length, NO_JSON_LIMITS).items()) {
      row++
      const { buf, start, end, bytes } = [...cells.items()][column]
      if (!isAssignable(detectValueType(buf, start, end), type))
        return typeChangeError(`row ${row}`, name, bytes, type)
      if (shouldYield()) await yieldToEventLoop()
    }
  }
  throw new Error('all values fit')
}

const OPEN = Buffer.from('[')
const CLOSE = Buffer.from(']')

/** Creates the error for rows of `width` values in a grid of `columns` columns. */
export function wrongLengthError(width: number, columns: number): Problem {
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
 * Reads the rows of a JSON body and the types of their values; row texts are kept as sent. Throws `bad_data`
 * unless all rows have the same number of values, at most `maxColumns`.
 */
export async function parseJsonRows(json: RawJson, maxColumns: number): Promise<JsonRows> {
  if (json?.kind !== 'array') throw invalidField('rows', 'must be an array of rows')
  const texts = new RowPacker()
  let types: ColumnType[] | undefined
  for (const row of json.items()) {
    if (row.kind !== 'array') throw invalidField(`rows.${texts.rowCount}`, 'must be an array of values')
    const rowTypes = rowTypesOf(row, types?.length ?? maxColumns)
    const problem = describeLength(rowTypes.length, types?.length, maxColumns)
    if (problem) {
      throw new Problem('bad_data', `row ${texts.rowCount + 1} has ${problem}`, {
        field: 'rows',
        path: `rows.${texts.rowCount}`,
      })
    }
    types = types ? mergeTypeLists(types, rowTypes) : rowTypes
    texts.add(row.bytes)
    if (shouldYield()) await yieldToEventLoop()
  }
  return { bodies: texts.finish(), width: types?.length ?? -1, types: encodeTypes(types ?? []) }
}

/** Describes an invalid number of values in a row; undefined if it is valid. */
function describeLength(
  values: number,
  expected: number | undefined,
  maxColumns: number,
): string | undefined {
  if (expected === undefined)
    return values > maxColumns ? `more than ${maxColumns} values (limit columns)` : undefined
  if (values === expected) return undefined
  return values > expected
    ? `more values than the rows before it, which have ${expected}`
    : `${values} values; the rows before it have ${expected}`
}

/** Returns the types of the values in a row. Stops after `maxColumns` + 1 values. */
function rowTypesOf(row: RawJson, maxColumns: number): ColumnType[] {
  const types: ColumnType[] = []
  for (const { buf, start, end } of row.items()) {
    types.push(detectValueType(buf, start, end))
    if (types.length > maxColumns) break
  }
  return types
}

/** Reads rows from NDJSON: objects by column name, arrays by position. Checks write access first. */
export async function readNdjsonRows(service: Service, call: DataCall): Promise<JsonRows> {
  const { limits } = service
  await checkCanChange(service, call)
  const { owner, idlocal } = call.fid
  const { columns, storedTypes } = await service.store.read(async ({ grids }) => ({
    columns: await grids.listColumns(owner, idlocal),
    storedTypes: decodeTypes((await grids.get(owner, idlocal)).types),
  }))
  let types = columns.map((): ColumnType => 'empty')
  const lacks = columns.map(() => true)
  const names = new Map(columns.map(({ name }, k) => [name, k]))
  const source = call.fileName ?? 'the rows'
  const texts = new RowPacker()
  let size = 0
  const add = (line: number, value: RawJson): void => {
    let row = value.bytes
    if (value.kind === 'object') {
      const cells: (Buffer | undefined)[] = columns.map(() => undefined)
      for (const [name, cell] of value.entries()) {
        const position = names.get(name)
        if (position === undefined) {
          throw new Problem(
            'unknown_column',
            `${source}, line ${line}: the grid has no column ${JSON.stringify(name)}`,
            { hint: formatColumns(columns) },
          )
        }
        cells[position] = cell.bytes
        lacks[position] = false
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
    const rowTypes = rowTypesOf(new RawJson(row, 0, row.length), columns.length)
    if (!allowsTypeChange(call)) {
      const misfit = rowTypes.findIndex((type, k) => {
        // In an empty column, dates and other texts may be mixed: the column becomes text.
        if (storedTypes[k] === 'empty' && isStringType(type) && isStringType(types[k])) return false
        return !isAssignable(type, mergeTypes(storedTypes[k], types[k]))
      })
      if (misfit >= 0) {
        const cell = [...new RawJson(row, 0, row.length).items()][misfit]
        const type = mergeTypes(storedTypes[misfit], types[misfit])
        throw typeChangeError(`${source}, line ${line}`, columns[misfit].name, cell.bytes, type)
      }
    }
    types = mergeTypeLists(types, rowTypes)
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
  for await (const { line, value } of readJsonLines(decompress(call.bytes, source, limits), {
    source,
    limits,
  })) {
    if (isArrayOfRecords(value, names)) for (const record of value.items()) add(line, record)
    else add(line, value)
  }
  return {
    bodies: texts.finish(),
    width: columns.length,
    types: encodeTypes(types),
    columns,
    isMissing: lacks,
  }
}

/** Returns whether a line is an array of records (objects by column name), not one row of objects. */
function isArrayOfRecords(value: RawJson, names: ReadonlyMap<string, number>): boolean {
  if (value.kind !== 'array') return false
  let records = 0
  for (const item of value.items()) {
    if (item.kind !== 'object' || ![...item.members()].every(([name]) => names.has(name))) return false
    records++
  }
  return records > 0
}
