// Writes the values of a flat column of a Parquet file as JSON, page by page. Others need the reader of the library,
// which makes a value in memory of each.
import type {
  ColumnMetaData,
  Compressors,
  DecodedArray,
  PageHeader,
  ParquetParsers,
  SchemaTree,
} from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { convert, DEFAULT_PARSERS } from 'hyparquet/src/convert.js'
import { decompressPage } from 'hyparquet/src/datapage.js'
import { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js'
import { readPlain } from 'hyparquet/src/plain.js'
import { readVarInt } from 'hyparquet/src/thrift.js'
import { MAX_PAGE_BYTES } from './codecs.ts'
import { type JsonBatch, JsonText } from './json-text.ts'
import {
  type LossCounts,
  type ToJson,
  toIsoTimeJson,
  toNumberJson,
  toStringJson,
  toTimeJson,
} from './json-values.ts'

/** A flat column: without members, and with at most one value in each row. */
export interface FlatColumn {
  field: SchemaTree
  /** Returns the JSON of a value as the library returns it. */
  toJson: ToJson
  losses: LossCounts
  parsers: Partial<ParquetParsers>
  compressors: Compressors
}

/** Encodings of pages that are read here. */
const ENCODINGS: ReadonlySet<string> = new Set(['PLAIN', 'PLAIN_DICTIONARY', 'RLE_DICTIONARY'])

/** Returns whether a column is flat. */
export function isFlatColumn({ element, children }: SchemaTree, { type }: ColumnMetaData): boolean {
  return (
    children.length === 0 &&
    element.repetition_type !== 'REPEATED' &&
    element.type === type &&
    type !== 'BOOLEAN' &&
    type !== 'INT96'
  )
}

/** A page as it is stored. */
interface StoredPage {
  header: PageHeader
  packed: Uint8Array
}

/**
 * Finds the pages of a chunk of a flat column with `rows` rows. Undefined if `readFlatColumn` does not read one of them:
 * the library does, as far as it can be read.
 */
export function findPlainPages(
  bytes: ArrayBuffer,
  rows: number,
  { element }: SchemaTree,
): StoredPage[] | undefined {
  const reader = { view: new DataView(bytes), offset: 0 }
  const isSize = (size: unknown, most: number): boolean =>
    Number.isInteger(size) && (size as number) >= 0 && (size as number) <= most
  const pages: StoredPage[] = []
  let left = rows
  while (left > 0 && reader.offset < bytes.byteLength - 1) {
    const header = parquetHeader(reader)
    const { type, compressed_page_size: size, uncompressed_page_size: unpacked } = header
    const { data_page_header: first, data_page_header_v2: second, dictionary_page_header: words } = header
    if (!isSize(size, bytes.byteLength - reader.offset) || !isSize(unpacked, MAX_PAGE_BYTES)) return undefined
    const packed = new Uint8Array(bytes, reader.offset, size)
    reader.offset += size
    const isFirst = pages.length === 0
    pages.push({ header, packed })
    if (type === 'DICTIONARY_PAGE') {
      if (!isFirst || !words || !isSize(words.num_values, unpacked)) return undefined
      continue
    }
    const head = type === 'DATA_PAGE' ? first : type === 'DATA_PAGE_V2' ? second : undefined
    if (!head || (first && second) || !isSize(head.num_values, left) || !ENCODINGS.has(head.encoding))
      return undefined
    if (second) {
      const { repetition_levels_byte_length: repetition, definition_levels_byte_length: definition } = second
      const isOptional = element.repetition_type !== 'REQUIRED'
      if (repetition !== 0 || !isSize(definition, size) || isOptional !== definition > 0) return undefined
    }
    left -= head.num_values
  }
  return left === 0 ? pages : undefined
}

/** Writes up to `count` of the next non-null values of a page, until the text is full. Returns how many. */
type WriteValues = (out: JsonText, count: number) => number

/** A page of data: which of its rows have values, and those. */
interface DataPage {
  rows: number
  /** 1 for each row with a value; undefined: all. */
  levels: Uint8Array | undefined
  write: WriteValues
}

/** Reads the pages of a chunk of a column, as `findPlainPages` returns them. Throws if one is damaged. */
export function* readFlatColumn(
  pages: readonly StoredPage[],
  column: FlatColumn,
  meta: ColumnMetaData,
): Generator<JsonBatch> {
  const out = new JsonText()
  let dictionary: Dictionary | undefined
  for (const { header, packed } of pages) {
    if (header.type === 'DICTIONARY_PAGE') {
      dictionary = readDictionary(header, packed, column, meta)
      continue
    }
    const { rows, levels, write } = openPage(header, packed, column, meta, dictionary)
    for (let k = 0; k < rows; ) {
      if (!levels || levels[k] === 1) {
        let end = levels ? k + 1 : rows
        while (end < rows && levels?.[end] === 1) end++
        k += write(out, end - k)
      } else {
        out.beginValue()
        out.addNull()
        k++
      }
      if (out.isFull) yield out.take()
    }
  }
  if (out.rows > 0) yield out.take()
}

/** Distinct values of a chunk as JSON: those of value k are `text[ends[k], ends[k + 1])`. */
interface Dictionary {
  text: Uint8Array
  ends: Uint32Array
  /** 1 for each value that JSON cannot represent; undefined without any. */
  lost: Uint8Array | undefined
}

function readDictionary(
  header: PageHeader,
  packed: Uint8Array,
  column: FlatColumn,
  meta: ColumnMetaData,
): Dictionary {
  const count = header.dictionary_page_header!.num_values
  const view = viewOf(unpack(packed, header.uncompressed_page_size, column, meta))
  const out = new JsonText()
  const ends = [0]
  const losses = { infinite: 0 }
  const lost = new Uint8Array(count)
  const add = createPlainWriter(view, 0, count, { ...column, losses })
  for (let k = 0; k < count; k++) {
    const before = losses.infinite
    add(out)
    ends.push(out.length)
    lost[k] = losses.infinite - before
  }
  return {
    text: out.take().text,
    ends: Uint32Array.from(ends),
    lost: losses.infinite > 0 ? lost : undefined,
  }
}

function unpack(
  packed: Uint8Array,
  size: number,
  { compressors }: FlatColumn,
  { codec }: ColumnMetaData,
): Uint8Array {
  return decompressPage(packed, size, codec, compressors)
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** Opens a page of data. */
function openPage(
  header: PageHeader,
  packed: Uint8Array,
  column: FlatColumn,
  meta: ColumnMetaData,
  dictionary: Dictionary | undefined,
): DataPage {
  const { data_page_header: first, data_page_header_v2: second, uncompressed_page_size: size } = header
  const { num_values: rows, encoding } = (first ?? second)!
  const isOptional = column.field.element.repetition_type !== 'REQUIRED'
  let levels: Uint8Array | undefined
  let body: { view: DataView; offset: number }
  if (second) {
    // The levels are not compressed.
    const { repetition_levels_byte_length: repetition, definition_levels_byte_length: definition } = second
    const start = repetition + definition
    if (isOptional) levels = readLevels(packed.subarray(repetition, start), rows)
    const rest = packed.subarray(start)
    const view =
      second.is_compressed === false ? viewOf(rest) : viewOf(unpack(rest, size - start, column, meta))
    body = { view, offset: 0 }
  } else {
    const page = unpack(packed, size, column, meta)
    body = { view: viewOf(page), offset: 0 }
    if (isOptional && rows > 0) {
      body.offset = 4 + body.view.getUint32(0, true)
      levels = readLevels(page.subarray(4, body.offset), rows)
    }
  }
  let count = rows
  if (levels) for (const level of levels) if (level !== 1) count--
  return { rows, levels, write: createWriter(encoding, body, count, column, dictionary) }
}

/** Reads which rows of a page have values: 1 for each that has one; undefined if all have. */
function readLevels(bytes: Uint8Array, rows: number): Uint8Array | undefined {
  if (rows === 0) return undefined
  const body = { view: viewOf(bytes), offset: 0 }
  // Usually one run of ones.
  const header = readVarInt(body)
  if ((header & 1) === 0 && header >>> 1 >= rows && bytes[body.offset] === 1) return undefined
  const levels = new Uint8Array(rows)
  assertRuns({ view: viewOf(bytes), offset: 0 }, 1, rows)
  readRleBitPackedHybrid({ view: viewOf(bytes), offset: 0 }, 1, levels, bytes.length)
  return levels
}

/** Number of values of a run that do not count: some writers fill the last one. */
const MAX_FILL = 1024

/** Throws if a run of values is much longer than `count`, since the library would write each of them. */
function assertRuns(
  { view, offset }: { view: DataView; offset: number },
  width: number,
  count: number,
): void {
  const reader = { view, offset }
  for (let left = count; left > 0; ) {
    const header = readVarInt(reader)
    const isPacked = (header & 1) === 1
    const run = isPacked ? (header >>> 1) * 8 : header >>> 1
    if (run > left + MAX_FILL) throw new Error('a run of values ends after its page')
    reader.offset += isPacked ? (run / 8) * width : (width + 7) >> 3
    left -= run
  }
}

function createWriter(
  encoding: string,
  body: { view: DataView; offset: number },
  count: number,
  column: FlatColumn,
  dictionary: Dictionary | undefined,
): WriteValues {
  if (encoding === 'PLAIN') return repeat(createPlainWriter(body.view, body.offset, count, column))
  if (!dictionary) throw new Error('the dictionary is missing')
  const indexes = new Uint32Array(count)
  const width = count === 0 ? 0 : body.view.getUint8(body.offset++)
  if (width > 0) {
    assertRuns(body, width, count)
    readRleBitPackedHybrid(body, width, indexes, body.view.byteLength - body.offset)
  }
  const { text, ends, lost } = dictionary
  let next = 0
  return repeat((out) => {
    const index = indexes[next++]
    if (index + 1 >= ends.length) throw new Error('no such value in the dictionary')
    if (lost) column.losses.infinite += lost[index]
    out.addBytes(text, ends[index], ends[index + 1])
  })
}

/** Repeats what adds the next value. */
function repeat(add: (out: JsonText) => void): WriteValues {
  return (out, count) => {
    let written = 0
    while (written < count && !out.isFull) {
      out.beginValue()
      add(out)
      written++
    }
    return written
  }
}

/** Creates what adds the next of `count` values, which begin at `offset`. */
function createPlainWriter(
  view: DataView,
  offset: number,
  count: number,
  column: FlatColumn,
): (out: JsonText) => void {
  const { field, toJson: kind, losses } = column
  const toJson = (value: unknown): string => kind(value, losses)
  const { element } = field
  const { type, converted_type: converted, logical_type: logical } = element
  const isPlainInteger =
    kind === toNumberJson &&
    (converted === undefined || /^INT_(8|16|32|64)$/.test(converted)) &&
    (logical === undefined || (logical.type === 'INTEGER' && logical.isSigned))
  let at = offset
  if (type === 'BYTE_ARRAY' && kind === toStringJson && isText(converted, logical?.type)) {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
    const convertBytes = createConverter(column)
    return (out) => {
      const start = at + 4
      at = start + view.getUint32(at, true)
      if (at > bytes.length) throw new Error('a value ends after its page')
      if (!out.addString(bytes, start, at)) out.addText(toJson(convertBytes(bytes.subarray(start, at))))
    }
  }
  if (type === 'INT32' && isPlainInteger)
    return (out) => {
      out.addInteger(view.getInt32(at, true))
      at += 4
    }
  if (type === 'DOUBLE' && kind === toNumberJson)
    return (out) => {
      const value = view.getFloat64(at, true)
      at += 8
      if (Number.isFinite(value)) out.addNumber(value)
      else out.addText(toJson(value))
    }
  const isTime = kind === toTimeJson || kind === toIsoTimeJson
  const separator = kind === toIsoTimeJson ? LETTER_T : BLANK
  const perSecond = isTime && type === 'INT64' ? unitOf(converted, logical) : undefined
  if (type === 'INT64' && (isPlainInteger || perSecond !== undefined))
    return (out) => {
      const value = view.getInt32(at + 4, true) * 2 ** 32 + view.getUint32(at, true)
      const isExact = Math.abs(value) <= MAX_SAFE_INTEGER
      if (isExact && perSecond === undefined) out.addInteger(value)
      else if (isExact && value % perSecond! === 0) out.addTime(value / perSecond!, separator)
      else out.addText(toJson(createConverter(column)(view.getBigInt64(at, true))))
      at += 8
    }
  const values = convertValues(readPlain({ view, offset }, type!, count, element.type_length), column)
  let next = 0
  return (out) => out.addText(toJson(values[next++]))
}

const { MAX_SAFE_INTEGER } = Number
const [LETTER_T, BLANK] = Buffer.from('T ')

function isText(converted: string | undefined, logical: string | undefined): boolean {
  return (
    (converted === undefined || converted === 'UTF8' || converted === 'ENUM') &&
    (logical === undefined || logical === 'STRING' || logical === 'ENUM')
  )
}

/** Returns the ticks per second of a timestamp; undefined for other types. */
function unitOf(
  converted: string | undefined,
  logical: SchemaTree['element']['logical_type'],
): number | undefined {
  if (converted === 'TIMESTAMP_MILLIS') return 1000
  if (converted === 'TIMESTAMP_MICROS') return 1_000_000
  if (converted !== undefined || logical?.type !== 'TIMESTAMP') return undefined
  return logical.unit === 'MILLIS' ? 1000 : logical.unit === 'MICROS' ? 1_000_000 : 1_000_000_000
}

/** Converts raw values as the reader of the library does. */
function convertValues(raw: DecodedArray, { field, parsers }: FlatColumn): DecodedArray {
  return convert(raw, {
    element: field.element,
    schemaPath: [field],
    utf8: false,
    parsers: { ...DEFAULT_PARSERS, ...parsers },
  } as Parameters<typeof convert>[1])
}

function createConverter(column: FlatColumn): (value: unknown) => unknown {
  return (value) => convertValues([value], column)[0]
}
