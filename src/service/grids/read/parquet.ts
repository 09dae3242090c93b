// Writes rows as a Parquet file.
import type { RowGroup, SchemaElement } from 'hyparquet'
import type { ColumnType } from '../../../contract/column-types.ts'
import { Problem } from '../../../contract/errors.ts'
import { COLUMNS_KEY, type ParquetMark } from '../../../contract/formats.ts'
import { version } from '../../../contract/version.ts'
import { type Bytes, findValueEnd, parseShortNumber, yieldToEventLoop } from '../../../json/index.ts'
import { familyOf } from '../../store/schema/column-types.ts'
import type { Snapshot } from '../column/snapshot.ts'
import { decodeJsonText, type RowWriter } from './row-writers.ts'

/** Maximum number of values and bytes of JSON of a row group, all of which are in memory and written at once. */
const MAX_GROUP_VALUES = 131_072
const MAX_GROUP_BYTES = 8 * 1024 * 1024
/** Maximum number of columns times row groups: the facts about all of them are written at once. */
const MAX_CHUNKS = 50_000

const NULL = 0x6e
const COMMA = Buffer.from(',')

/** How a column is stored. */
interface Storage {
  schema: Omit<SchemaElement, 'name'>
  /** Converts a value that is not null from its JSON. */
  convert(buf: Buffer, start: number, end: number): unknown
}

const STORAGES = {
  integer: {
    schema: { type: 'INT64' },
    convert: (buf, start, end) => BigInt(buf.toString('latin1', start, end)),
  },
  double: { schema: { type: 'DOUBLE' }, convert: parseNumber },
  boolean: { schema: { type: 'BOOLEAN' }, convert: (buf, start) => buf[start] === 0x74 },
  day: {
    schema: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
    convert: (buf, start) => daysOf(buf.toString('latin1', start + 1, start + 1 + DAY_CHARACTERS)),
  },
  localTime: {
    schema: {
      type: 'INT64',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'MICROS' },
    },
    convert: (buf, start, end) => microsOf(buf.toString('latin1', start + 1, end - 1)),
  },
  utcTime: {
    schema: {
      type: 'INT64',
      converted_type: 'TIMESTAMP_MICROS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
    },
    convert: (buf, start, end) => microsOf(buf.toString('latin1', start + 1, end - 2)),
  },
  text: {
    schema: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
    convert: decodeJsonText,
  },
  // Without the converted type, the writer does not parse and format the values again.
  json: {
    schema: { type: 'BYTE_ARRAY', logical_type: { type: 'JSON' } },
    convert: (buf, start, end) => Uint8Array.prototype.slice.call(buf, start, end),
  },
} as const satisfies Record<string, Storage>

type StorageName = keyof typeof STORAGES

/** Storage of the columns of a type. Where there are two, the values decide. */
const STORAGE_OF_TYPE: Record<ColumnType, StorageName> = {
  empty: 'text',
  number: 'integer',
  text: 'text',
  boolean: 'boolean',
  date: 'day',
  datetime: 'localTime',
  json: 'json',
}

/** A column whose storage is known, or still being decided. */
interface StoredColumn {
  storage: StorageName
  /** Between day and time of day. */
  separator?: ParquetMark['separator']
}

/**
 * Streams rows as Parquet. `write` streams the rows of columns with a writer. It is called twice: first, the values
 * of numbers and dates decide how their columns are stored. Throws `too_large` for grids of many columns and rows.
 */
export async function* streamParquet(
  snap: Snapshot,
  rows: number,
  write: (snap: Snapshot, writer: RowWriter) => Bytes,
): AsyncGenerator<Uint8Array> {
  const groups = Math.ceil((rows * snap.columns.length) / MAX_GROUP_VALUES)
  if (snap.columns.length === 0 || groups * snap.columns.length > MAX_CHUNKS)
    throw new Problem(
      'too_large',
      `${rows} rows of ${snap.columns.length} columns do not fit into a Parquet file that is written here`,
      { field: 'format', hint: 'Use CSV or NDJSON, or choose fewer columns.' },
    )
  const stored = await chooseStorages(snap, write)
  const { ByteWriter, ParquetWriter } = await import('../../../vendor/parquet.ts')
  const out = new ByteWriter()
  const marks = stored.map(({ separator }, k): ParquetMark => {
    const type = familyOf(snap.columns[k].type)
    // A column of a file without values is text.
    return { type: type === 'empty' ? 'text' : type, separator }
  })
  const writer = new ParquetWriter({
    writer: out,
    createdBy: `gridline version ${version}`,
    schema: [
      { name: 'schema', num_children: snap.columns.length },
      // Columns are found by their position, and named at the end.
      ...stored.map(
        ({ storage }, k): SchemaElement => ({
          name: `${k}`,
          repetition_type: 'OPTIONAL',
          ...STORAGES[storage].schema,
        }),
      ),
    ],
    kvMetadata: [{ key: COLUMNS_KEY, value: JSON.stringify(marks) }],
  })
  const take = (): Uint8Array => {
    const bytes = out.getBytes().slice()
    out.index = 0
    return bytes
  }
  const converters = stored.map(({ storage }): Storage['convert'] => STORAGES[storage].convert)
  const maxRows = Math.ceil(MAX_GROUP_VALUES / Math.max(1, stored.length))
  let group: unknown[][] = stored.map(() => [])
  let groupBytes = 0
  const writeGroup = (): void => {
    writer.write({
      columnData: group.map((data, k) => ({ name: `${k}`, data })),
      rowGroupSize: group[0]?.length || 1,
    })
    group = stored.map(() => [])
    groupBytes = 0
  }
  for await (const bytes of write(snap, createValueListWriter())) {
    for (const { k, buf, start, end } of valuesOf(bytes, stored.length)) {
      group[k].push(buf[start] === NULL ? null : converters[k](buf, start, end))
      groupBytes += end - start
      if (k < stored.length - 1) continue
      if (group[0].length < maxRows && groupBytes < MAX_GROUP_BYTES) continue
      writeGroup()
      yield take()
      await yieldToEventLoop()
    }
  }
  if (stored.length > 0 && group[0].length > 0) writeGroup()
  nameColumns(
    writer,
    snap.columns.map(({ name }) => name),
  )
  writer.finish()
  yield take()
}

/** Gives the columns of a file their names. The writer splits paths at points, and finds no empty ones. */
function nameColumns(
  { schema, row_groups }: { schema: SchemaElement[]; row_groups: RowGroup[] },
  names: readonly string[],
): void {
  for (const [k, name] of names.entries()) {
    const element = schema[k + 1]
    element.name = name
    // Older readers know only this type. With it, the writer would have parsed the values.
    if (element.logical_type?.type === 'JSON') element.converted_type = 'JSON'
    for (const { columns } of row_groups) columns[k].meta_data!.path_in_schema = [name]
  }
}

/** Decides how each column is stored. */
async function chooseStorages(
  snap: Snapshot,
  write: (snap: Snapshot, writer: RowWriter) => Bytes,
): Promise<StoredColumn[]> {
  const stored = snap.columns.map(({ type }): StoredColumn => ({ storage: STORAGE_OF_TYPE[familyOf(type)] }))
  const isOpen = ({ storage }: StoredColumn): boolean => Object.hasOwn(DECIDERS, storage)
  const open = [...stored.keys()].filter((k) => isOpen(stored[k]))
  if (open.length === 0) return stored
  const columns = open.map((k) => snap.columns[k])
  for await (const bytes of write({ ...snap, columns }, createValueListWriter())) {
    for (const { k, buf, start, end } of valuesOf(bytes, open.length)) {
      const column = stored[open[k]]
      if (buf[start] !== NULL) DECIDERS[column.storage]?.(column, buf, start, end)
    }
    if (!open.some((k) => isOpen(stored[k]))) break
  }
  return stored
}

/** Functions that change the storage of a column if a value does not fit. */
const DECIDERS: Partial<
  Record<StorageName, (column: StoredColumn, buf: Buffer, start: number, end: number) => void>
> = {
  integer(column, buf, start, end) {
    if (!isInteger(buf, start, end)) column.storage = 'double'
  },
  day(column, buf, start, end) {
    const isDay = end - start === DAY_CHARACTERS + 2 && isDayText(buf.toString('latin1', start + 1, end - 1))
    if (!isDay) column.storage = 'text'
  },
  localTime: chooseTime,
  utcTime: chooseTime,
}

/** Maximum number of characters of an integer that always has 64 bits. */
const SURE_INTEGER_CHARACTERS = 18
const [MINUS, DIGIT_0, DIGIT_9] = [0x2d, 0x30, 0x39]

/** Returns whether a number is written as an integer of 64 bits. Minus zero is none. */
function isInteger(buf: Buffer, start: number, end: number): boolean {
  const from = buf[start] === MINUS ? start + 1 : start
  for (let k = from; k < end; k++) if (buf[k] < DIGIT_0 || buf[k] > DIGIT_9) return false
  if (end - start <= SURE_INTEGER_CHARACTERS) return from === start || buf[from] !== DIGIT_0
  const value = BigInt(buf.toString('latin1', start, end))
  return BigInt.asIntN(64, value) === value
}

const DAY_CHARACTERS = '2024-01-31'.length
/** Times that a reader writes in the same way. */
const TIME_TEXT = /^"(\d{4}-\d\d-\d\d)([ T])([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{0,5}[1-9])?(Z?)"$/

function chooseTime(column: StoredColumn, buf: Buffer, start: number, end: number): void {
  const match = TIME_TEXT.exec(buf.toString('latin1', start, end))
  const separator = match?.[2] as ParquetMark['separator']
  const storage = match?.[5] === 'Z' ? 'utcTime' : 'localTime'
  const isFirst = column.separator === undefined
  if (match && isFirst) Object.assign(column, { storage, separator })
  const isSame = column.separator === separator && column.storage === storage
  if (!match || !isSame || !isDayText(match[1]))
    Object.assign(column, { storage: 'text', separator: undefined })
}

const DAY_TEXT = /^\d{4}-\d\d-\d\d$/
const DAY_MS = 24 * 3600 * 1000
/** Days since 1970, by text. */
const dayCache = new Map<string, number>()
const MAX_CACHED_DAYS = 100_000

/** Returns the days since 1970 of a day; NaN if the calendar does not have it. */
function daysOf(text: string): number {
  let days = dayCache.get(text)
  if (days === undefined) {
    const date = new Date(`${text}T00:00:00Z`)
    days = date.getUTCDate() === Number(text.slice(-2)) ? date.getTime() / DAY_MS : Number.NaN
    if (dayCache.size > MAX_CACHED_DAYS) dayCache.clear()
    dayCache.set(text, days)
  }
  return days
}

function isDayText(text: string): boolean {
  return DAY_TEXT.test(text) && !Number.isNaN(daysOf(text))
}

/** Returns the microseconds since 1970 of a time: `2024-01-31 10:00:00.5`. */
function microsOf(text: string): bigint {
  const at = (from: number): number => Number(text.slice(from, from + 2))
  const day = daysOf(text.slice(0, DAY_CHARACTERS))
  const seconds = ((day * 24 + at(11)) * 60 + at(14)) * 60 + at(17)
  return BigInt(seconds) * 1_000_000n + BigInt(text.slice(20).padEnd(6, '0'))
}

function parseNumber(buf: Buffer, start: number, end: number): number {
  const short = parseShortNumber(buf, start, end)
  return Number.isNaN(short) ? Number(buf.toString('latin1', start, end)) : short
}

/** Creates a writer of all values as JSON, in the order of rows. A comma follows each value. */
function createValueListWriter(): RowWriter {
  let width = 0
  return {
    get format() {
      const before = Array.from({ length: width }, (_, k) => (k > 0 ? COMMA : Buffer.alloc(0)))
      return { before, after: COMMA, separator: undefined }
    },
    head(columns) {
      width = columns.length
      return ''
    },
    row(cells, out) {
      for (const { buf, start, end } of cells) {
        out.addBytes(buf, start, end)
        out.addByte(COMMA[0])
      }
    },
  }
}

/** Iterates over the values of whole rows, as `createValueListWriter` writes them. `k`: position of the column. */
function* valuesOf(
  bytes: Uint8Array,
  width: number,
): Generator<{ k: number; buf: Buffer; start: number; end: number }> {
  const buf = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const value = { k: -1, buf, start: 0, end: 0 }
  for (let at = 0; at < buf.length; at = value.end + 1) {
    value.k = value.k + 1 === width ? 0 : value.k + 1
    value.start = at
    const first = buf[at]
    const isNested = first === 0x22 || first === 0x5b || first === 0x7b
    value.end = isNested ? findValueEnd(buf, at) : buf.indexOf(COMMA[0], at)
    yield value
  }
}
