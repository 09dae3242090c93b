// Parses rows sent as JSON or NDJSON.

import { invalidField, Problem } from '../../../contract/errors.ts'
import type { Limits } from '../../../contract/limits.ts'
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
import type { KnownColumn } from './like-columns.ts'
import { allowsTypeChange, type DataCall } from './reading-options.ts'
import type { Table } from './tables.ts'

/** Parsed rows. `width`: number of values per row, -1 without rows. `types`: as in `Append`. */
export interface JsonRows {
  bodies: RowsJson[]
  width: number
  types: string
  columns?: readonly KnownColumn[]
  /** For each column of the grid, whether no row has a value for it. */
  isMissing?: boolean[]
  /** For each column of the grid, the number of records without a member for it. */
  absentRows?: number[]
}

/** Converts rows to a table whose columns are matched by position. */
export async function toTable({
  bodies,
  width,
  columns: matched,
  isMissing = [],
  absentRows = [],
}: JsonRows): Promise<Table> {
  const small = await transposeRowsInTurns(bodies, Math.max(0, width))
  const rows = bodies.reduce((sum, body) => sum + body.rows, 0)
  const columns = small.map(({ type }, k) => ({ name: String(k), type, rows, slices: [] }))
  // A column that no record has keeps its values.
  const updateWarnings = matched?.flatMap(({ name }, k) =>
    absentRows[k] > 0 && !isMissing[k]
      ? [
          `column ${name}: missing in ${formatCount(absentRows[k], 'record')}; in rows that they update, it is null now`,
        ]
      : [],
  )
  return { rows, columns, warnings: [], updateWarnings, isNameless: true, matched, small, json: bodies }
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
  const source = call.fileName ?? 'the rows'
  const rows = new NdjsonRows(columns, allowsTypeChange(call) ? undefined : storedTypes, source, limits)
  for await (const { line, value } of readJsonLines(decompress(call.bytes, source, limits), {
    source,
    limits,
  })) {
    if (rows.isArrayOfRecords(value)) for (const record of value.items()) rows.add(line, record)
    else rows.add(line, value)
  }
  return rows.finish()
}

/** Collects the rows of NDJSON for a grid. */
class NdjsonRows {
  private types: ColumnType[]
  private readonly isMissing: boolean[]
  private readonly absentRows: number[]
  private readonly names: ReadonlyMap<string, number>
  private readonly packer = new RowPacker()
  private size = 0

  constructor(
    private readonly columns: readonly KnownColumn[],
    /** Types that values must fit; undefined if they may change. */
    private readonly storedTypes: readonly ColumnType[] | undefined,
    private readonly source: string,
    private readonly limits: Limits,
  ) {
    this.types = columns.map(() => 'empty')
    this.isMissing = columns.map(() => true)
    this.absentRows = columns.map(() => 0)
    this.names = new Map(columns.map(({ name }, k) => [name, k]))
  }

  /** Adds the row of a line. Throws for unknown columns, a wrong number of values, and types that do not fit. */
  add(line: number, value: RawJson): void {
    const row = value.kind === 'object' ? this.arrangeRecord(line, value) : this.copyRow(line, value)
    const rowTypes = rowTypesOf(new RawJson(row, 0, row.length), this.columns.length)
    if (this.storedTypes) this.checkTypes(line, row, rowTypes, this.storedTypes)
    this.types = mergeTypeLists(this.types, rowTypes)
    this.size += row.length
    const { json_body_bytes: maxBytes } = this.limits
    if (this.size > maxBytes)
      throw new Problem(
        'too_large',
        `${this.source}: more than ${maxBytes} bytes of rows (limit json_body_bytes)`,
        { hint: 'Append in several parts, or as CSV.' },
      )
    this.packer.add(row)
  }

  finish(): JsonRows {
    const { columns, isMissing, absentRows } = this
    const types = encodeTypes(this.types)
    return { bodies: this.packer.finish(), width: columns.length, types, columns, isMissing, absentRows }
  }

  /** Arranges the values of a record in the order of the columns, as a JSON array. */
  private arrangeRecord(line: number, record: RawJson): Buffer {
    const cells: (Buffer | undefined)[] = this.columns.map(() => undefined)
    for (const [name, cell] of record.entries()) {
      const position = this.names.get(name)
      if (position === undefined)
        throw new Problem(
          'unknown_column',
          `${this.source}, line ${line}: the grid has no column ${JSON.stringify(name)}`,
          { hint: formatColumns(this.columns) },
        )
      cells[position] = cell.bytes
      this.isMissing[position] = false
    }
    for (let k = 0; k < cells.length; k++) if (!cells[k]) this.absentRows[k]++
    return Buffer.from(`[${cells.map((cell) => cell?.toString('utf8') ?? 'null').join(',')}]`)
  }

  /** Copies the values of an array, which has one for each column. */
  private copyRow(line: number, row: RawJson): Buffer {
    const { length } = this.columns
    let values = 0
    for (const _ of row.items()) values++
    if (values !== length)
      throw badData(
        this.source,
        { line },
        `${formatCount(values, 'value')}; the grid has ${formatCount(length, 'column')}`,
        'Give a value for every column; use null for missing values.',
      )
    this.isMissing.fill(false)
    return Buffer.from(row.bytes)
  }

  /** Throws `type_change` if a value does not fit the type of its column. */
  private checkTypes(
    line: number,
    row: Buffer,
    rowTypes: readonly ColumnType[],
    storedTypes: readonly ColumnType[],
  ): void {
    const misfit = rowTypes.findIndex((type, k) => {
      // In an empty column, dates and other texts may be mixed: the column becomes text.
      if (storedTypes[k] === 'empty' && isStringType(type) && isStringType(this.types[k])) return false
      return !isAssignable(type, mergeTypes(storedTypes[k], this.types[k]))
    })
    if (misfit < 0) return
    const cell = [...new RawJson(row, 0, row.length).items()][misfit]
    const type = mergeTypes(storedTypes[misfit], this.types[misfit])
    throw typeChangeError(`${this.source}, line ${line}`, this.columns[misfit].name, cell.bytes, type)
  }

  /** Returns whether a line is an array of records (objects by column name), not one row of objects. */
  isArrayOfRecords(value: RawJson): boolean {
    if (value.kind !== 'array') return false
    let records = 0
    for (const item of value.items()) {
      if (item.kind !== 'object' || ![...item.members()].every(([name]) => this.names.has(name))) return false
      records++
    }
    return records > 0
  }
}
