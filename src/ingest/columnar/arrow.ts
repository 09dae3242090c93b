// Reads Arrow IPC files and streams.
import { readSync } from 'node:fs'
import { CompressionType, type DataType, type Field, setCompressionCodec, Type } from '@uwdata/flechette'
import { decompressZstd } from 'hyparquet-compressors'
import { readTable } from './arrow-stream.ts'
import { type ColumnarJob, type ColumnType, FILE_DESCRIPTOR } from './decoder-messages.ts'
import {
  convertDecimal,
  convertSingle,
  createDecimalWriter,
  formatDay,
  formatTime,
  formatTimestamp,
  MAX_SAFE,
  type Plain,
  skipNulls,
  type ToJson,
  toBigInt,
  toBooleanJson,
  toNestedJson,
  toNumberJson,
  toSingleJson,
  toStringJson,
} from './json-values.ts'
import { unpackLz4 } from './lz4.ts'
import { RefusedFile, type Table } from './table.ts'

/** Maximum size of an Arrow file, which is read into memory. */
const MAX_ARROW_BYTES = 1024 * 1024 * 1024
/** Number of values per batch. */
const BATCH_ROWS = 65_536

/** Reads an Arrow IPC file or stream (also known as Feather, version 2). */
export function readArrow({ size, columns: mostColumns, rows: mostRows, ratio }: ColumnarJob): Table {
  if (size > MAX_ARROW_BYTES)
    throw new RefusedFile('an Arrow file of more than 1 GiB', 'Write it as Parquet, which is read in parts.')
  const bytes = new Uint8Array(size)
  for (let at = 0; at < size; ) {
    const count = readSync(FILE_DESCRIPTOR, bytes, at, size - at, at)
    if (count === 0) throw new RefusedFile('the Arrow file is truncated')
    at += count
  }
  let unpacked = 0
  const counted = (unpack: (data: Uint8Array) => Uint8Array) => (data: Uint8Array) => {
    const output = unpack(data)
    // Buffers of 64-bit values must be aligned to 8 bytes.
    const result = output.byteOffset % 8 === 0 ? output : output.slice()
    unpacked += result.length
    if (unpacked > MAX_ARROW_BYTES || unpacked > 16 * 1024 * 1024 + size * ratio)
      throw new RefusedFile('the data grows too much when unpacked (limit compression_ratio)')
    return result
  }
  const none = (): never => {
    throw new Error('files are not written')
  }
  setCompressionCodec(CompressionType.LZ4_FRAME, {
    decode: counted((data) => unpackLz4(data, MAX_ARROW_BYTES - unpacked)),
    encode: none,
  })
  setCompressionCodec(CompressionType.ZSTD, { decode: counted((data) => decompressZstd(data)), encode: none })
  const table = readTable(bytes)
  const { fields, endianness } = table.schema
  if (endianness !== 0)
    throw new RefusedFile('a big-endian Arrow file', 'Write it on a little-endian machine, or as Parquet.')
  if (fields.length > mostColumns)
    throw new RefusedFile(`${fields.length} columns; the limit is ${mostColumns} (columns)`)
  if (table.numRows > mostRows) throw new RefusedFile(`the file claims to have ${table.numRows} rows`)
  const columns = fields.map((field, k) => {
    const { name, type } = field
    const columnFormat = columnTypeOf(field)
    const own = valueTypeOf(type)
    const hasUnsafe = (): boolean => hasUnsafeInteger(table.getChildAt(k), table.numRows)
    if (own.typeId === Type.Decimal && own.scale === 0) {
      const isText = hasUnsafe()
      return {
        name,
        type: isText ? ('text' as const) : ('number' as const),
        toJson: createDecimalWriter(0, isText),
      }
    }
    // As in CSV, 64-bit integers that a double cannot represent make the column text.
    if (own.typeId === Type.Int && columnFormat.type === 'number' && hasUnsafe())
      return { name, type: 'text' as const, toJson: toStringJson }
    return { name, ...columnFormat }
  })
  return {
    rows: table.numRows,
    columns,
    async *values() {
      for (let from = 0; from < table.numRows; from += BATCH_ROWS) {
        const length = Math.min(BATCH_ROWS, table.numRows - from)
        for (const [k] of columns.entries()) {
          const column = table.getChildAt(k)
          yield { column: k, values: Array.from({ length }, (_, r) => column.at(from + r)) }
        }
      }
    },
  }
}

/** Returns whether one of the first `count` values is an integer that a double cannot represent. */
function hasUnsafeInteger(column: { at(k: number): unknown }, count: number): boolean {
  for (let k = 0; k < count; k++) {
    const value = column.at(k)
    if (typeof value === 'bigint' && (value > MAX_SAFE || value < -MAX_SAFE)) return true
  }
  return false
}

/** Returns the type of the values of a column that may be encoded by a dictionary, or as runs. */
function valueTypeOf(type: DataType): DataType {
  if (type.typeId === Type.Dictionary) return valueTypeOf(type.dictionary)
  return type.typeId === Type.RunEndEncoded ? valueTypeOf(type.children[1].type) : type
}

/** An extension type of the format: how its values are stored, and a function that converts them. */
interface Extension {
  isStoredAs: (type: DataType) => boolean
  type: ColumnType
  convert: (value: never) => unknown
}

/** Extension types by their name in the metadata of a field. */
const EXTENSIONS: Readonly<Record<string, Extension>> = {
  'arrow.uuid': {
    isStoredAs: (type) => type.typeId === Type.FixedSizeBinary && type.stride === 16,
    type: 'text',
    convert: formatUuid,
  },
  'arrow.bool8': {
    isStoredAs: (type) => type.typeId === Type.Int && type.bitWidth === 8,
    type: 'boolean',
    convert: (value: number) => value !== 0,
  },
}

function extensionOf({ metadata, type }: Field): Extension | undefined {
  const name = metadata?.get('ARROW:extension:name') ?? ''
  if (Object.hasOwn(EXTENSIONS, name) && EXTENSIONS[name].isStoredAs(valueTypeOf(type)))
    return EXTENSIONS[name]
  return type.typeId === Type.RunEndEncoded ? extensionOf(type.children[1]) : undefined
}

/** Returns the text of a UUID of 16 bytes. */
function formatUuid(bytes: Uint8Array): string {
  const digits = Buffer.from(bytes).toString('hex')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/**
 * Returns the column type of an Arrow field, and the function that writes its values as JSON. Throws
 * `RefusedFile`.
 */
function columnTypeOf(field: Field): { type: ColumnType; toJson: ToJson } {
  const extension = extensionOf(field)
  if (extension) {
    const convert = skipNulls(extension.convert)
    return { type: extension.type, toJson: (value) => JSON.stringify(convert(value)) ?? 'null' }
  }
  const type = valueTypeOf(field.type)
  switch (type.typeId) {
    case Type.Union:
      throw new RefusedFile('a column of unions, which are not supported', 'Write a column for each type.')
    case Type.Null:
    case Type.Int:
      return { type: 'number', toJson: toNumberJson }
    case Type.Float:
      return { type: 'number', toJson: type.precision === 2 ? toNumberJson : toSingleJson }
    case Type.Decimal: {
      const isText = type.scale <= 0 && type.precision - type.scale > 15
      return { type: isText ? 'text' : 'number', toJson: createDecimalWriter(type.scale, isText) }
    }
    case Type.Bool:
      return { type: 'boolean', toJson: toBooleanJson }
    case Type.Date:
    case Type.Timestamp:
    case Type.Time:
    case Type.Duration: {
      const text = momentFormatterOf(type)
      return {
        type: 'text',
        toJson: (value) => (value === null || value === undefined ? 'null' : JSON.stringify(text(value))),
      }
    }
    case Type.Interval:
      throw new RefusedFile('a column of intervals, which are not supported', 'Write it as text.')
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
    case Type.FixedSizeBinary:
      return { type: 'text', toJson: toStringJson }
    default: {
      const plain = jsonConverterOf(field)
      return { type: 'json', toJson: (value, lost) => toNestedJson(plain(value), lost) }
    }
  }
}

/** Returns the function that formats dates, times or durations of an Arrow type. */
function momentFormatterOf(type: DataType): (value: unknown) => string {
  if (type.typeId === Type.Date) return (value) => formatDay(Math.floor(Number(value) / DAY_MS))
  if (type.typeId === Type.Time || type.typeId === Type.Duration) {
    const perSecond = TICKS_PER_SECOND[type.unit]
    return (value) => formatTime(toBigInt(value), perSecond)
  }
  const { unit, timezone } = type as Extract<DataType, { typeId: typeof Type.Timestamp }>
  const perSecond = TICKS_PER_SECOND[unit]
  // Values with a time zone are in UTC.
  return (value) => `${formatTimestamp(toBigInt(value), perSecond)}${timezone ? 'Z' : ''}`
}

/** Ticks per second by Arrow time unit: s, ms, µs, ns. */
const TICKS_PER_SECOND = [1n, 1000n, 1_000_000n, 1_000_000_000n]
const DAY_MS = 24 * 3600 * 1000

/** Returns the function that converts values of a field to JSON values, at any depth. Throws `RefusedFile`. */
function jsonConverterOf(field: Field): Plain {
  const extension = extensionOf(field)
  if (extension) return skipNulls(extension.convert)
  const type = valueTypeOf(field.type)
  switch (type.typeId) {
    case Type.Date:
    case Type.Timestamp:
    case Type.Time:
    case Type.Duration:
      return skipNulls(momentFormatterOf(type))
    case Type.Decimal:
      return skipNulls((value) => convertDecimal(value, type.scale))
    case Type.Float:
      return type.precision === 2 ? (value) => value : convertSingle
    case Type.Union:
      throw new RefusedFile('a column of unions, which are not supported', 'Write a column for each type.')
    case Type.List:
    case Type.LargeList:
    case Type.ListView:
    case Type.LargeListView:
    case Type.FixedSizeList: {
      const inner = jsonConverterOf(type.children[0])
      return skipNulls((value: Iterable<unknown>) => Array.from(value, inner))
    }
    case Type.Struct: {
      if (new Set(type.children.map(({ name }) => name)).size < type.children.length)
        throw new RefusedFile(
          'a struct has two members of the same name, of which one would be lost',
          'Rename one of them, or leave it out.',
        )
      const inner = type.children.map((child) => [child.name, jsonConverterOf(child)] as const)
      return skipNulls((value: Record<string, unknown>) =>
        Object.fromEntries(inner.map(([name, toPlain]) => [name, toPlain(value[name])])),
      )
    }
    case Type.Map: {
      const [key, toPlain] = (
        type.children[0].type as Extract<DataType, { typeId: typeof Type.Struct }>
      ).children.map(jsonConverterOf)
      return skipNulls((value: Iterable<[unknown, unknown]>) =>
        Array.from(value, ([name, item]) => [key(name), toPlain(item)]),
      )
    }
    default:
      return (value) => value
  }
}
