import { readSync } from 'node:fs'
import { CompressionType, type DataType, setCompressionCodec, Type, tableFromIPC } from '@uwdata/flechette'
import { decompressZstd } from 'hyparquet-compressors'
import { unpackLz4 } from './lz4.ts'
import { type ColumnarJob, type ColumnType, FILE } from './messages.ts'
import { Refused, type Table } from './table.ts'
import {
  booleanText,
  dateText,
  decimalText,
  jsonText,
  MAX_SAFE,
  numberText,
  singleText,
  stringText,
  type ToText,
  timeText,
} from './values.ts'

/** An Arrow file is read into memory as a whole. */
const MOST_BYTES = 1024 * 1024 * 1024
/** Values of one run. */
const RUN = 65_536

/** Reads an Arrow IPC file or stream (also known as Feather, version 2). */
export function arrowTable({ size, columns: mostColumns, ratio }: ColumnarJob): Table {
  if (size > MOST_BYTES)
    throw new Refused('an Arrow file of more than 1 GiB', 'Write it as Parquet, which is read in pieces.')
  const bytes = new Uint8Array(size)
  for (let at = 0; at < size; ) {
    const count = readSync(FILE, bytes, at, size - at, at)
    if (count === 0) throw new Refused('the Arrow file is truncated')
    at += count
  }
  let unpacked = 0
  const counted = (unpack: (data: Uint8Array) => Uint8Array) => (data: Uint8Array) => {
    const made = unpack(data)
    // Buffers of 64-bit values begin at multiples of 8 bytes.
    const result = made.byteOffset % 8 === 0 ? made : made.slice()
    unpacked += result.length
    if (unpacked > MOST_BYTES || unpacked > 16 * 1024 * 1024 + size * ratio)
      throw new Refused('the data grows too much when unpacked (limit compression_ratio)')
    return result
  }
  const none = (): never => {
    throw new Error('files are not written')
  }
  setCompressionCodec(CompressionType.LZ4_FRAME, {
    decode: counted((data) => unpackLz4(data, MOST_BYTES - unpacked)),
    encode: none,
  })
  setCompressionCodec(CompressionType.ZSTD, { decode: counted((data) => decompressZstd(data)), encode: none })
  const table = tableFromIPC(bytes, { useBigInt: true })
  const { fields, endianness } = table.schema
  if (endianness !== 0)
    throw new Refused('a big-endian Arrow file', 'Write it on a little-endian machine, or as Parquet.')
  if (fields.length > mostColumns)
    throw new Refused(`${fields.length} columns; the limit is ${mostColumns} (columns)`)
  if (new Set(fields.map(({ name }) => name)).size < fields.length)
    throw new Refused('two columns have the same name')
  const columns = fields.map(({ name, type }, k) => {
    const found = columnType(type)
    const isUnsafe = (value: unknown): boolean =>
      typeof value === 'bigint' && (value > MAX_SAFE || value < -MAX_SAFE)
    // A double does not hold all 64-bit integers: then they are texts, as in CSV.
    if (
      found.type === 'number' &&
      type.typeId === Type.Int &&
      someValue(table.getChildAt(k), table.numRows, isUnsafe)
    )
      return { name, type: 'text' as const, toText: stringText }
    return { name, ...found }
  })
  return {
    rows: table.numRows,
    columns,
    async *values() {
      for (const [k] of columns.entries()) {
        const column = table.getChildAt(k)
        for (let from = 0; from < table.numRows; from += RUN) {
          const length = Math.min(RUN, table.numRows - from)
          yield { column: k, values: Array.from({ length }, (_, r) => column.at(from + r)) }
        }
      }
    },
  }
}

function someValue(
  column: { at(k: number): unknown },
  count: number,
  is: (value: unknown) => boolean,
): boolean {
  for (let k = 0; k < count; k++) if (is(column.at(k))) return true
  return false
}

function columnType(type: DataType): { type: ColumnType; toText: ToText } {
  switch (type.typeId) {
    case Type.Dictionary:
      return columnType(type.dictionary)
    case Type.Null:
    case Type.Int:
      return { type: 'number', toText: numberText }
    case Type.Float:
      return { type: 'number', toText: type.precision === 2 ? numberText : singleText }
    case Type.Decimal:
      return { type: 'number', toText: decimalText(type.scale) }
    case Type.Bool:
      return { type: 'boolean', toText: booleanText }
    case Type.Date:
    case Type.Timestamp:
      return { type: 'text', toText: momentText }
    case Type.Time: {
      const perSecond = [1, 1e3, 1e6, 1e9][type.unit]
      return {
        type: 'text',
        toText: (value) =>
          value === null || value === undefined
            ? 'null'
            : JSON.stringify(timeText(Math.floor((Number(value) / perSecond) * 1e6))),
      }
    }
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
    case Type.FixedSizeBinary:
      return { type: 'text', toText: stringText }
    default:
      return { type: 'json', toText: jsonText }
  }
}

/** A date or time, which is given in milliseconds since the epoch, with a fraction. */
const momentText: ToText = (value) => {
  if (value === null || value === undefined) return 'null'
  const ms = value instanceof Date ? value.getTime() : Number(value)
  const whole = Math.floor(ms)
  return JSON.stringify(dateText(whole, Math.round((ms - whole) * 1000)))
}
