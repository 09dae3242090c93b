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
import { findValueEnd } from '../../json/index.ts'
import { MAX_KERNEL_ROWS, type PlainForm, PlainKernel } from '../kernel/plain.ts'
import { LETTER_N } from '../values/characters.ts'
import { MAX_PAGE_BYTES } from './codecs.ts'
import { type JsonBatch, JsonText } from './json-text.ts'
import type { LossCounts, ToJson } from './json-values.ts'

/** A flat column: without members, and with at most one value in each row. */
export interface FlatColumn {
  field: SchemaTree
  /** Returns the JSON of a value as the library returns it. */
  toJson: ToJson
  /** How the kernel writes its values; undefined for other types. */
  form?: PlainForm
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

/** Values of a page, without its nulls. */
interface PageValues {
  /**
   * Writes up to `count` rows, at least one. `levels`: which of these rows have a value; undefined: all. Returns the
   * number of rows.
   */
  write(out: JsonText, count: number, levels: Uint8Array | undefined): number
}

/** A page of data: which of its rows have values, and those. */
interface DataPage {
  rows: number
  /** 1 for each row with a value; undefined: all. */
  levels: Uint8Array | undefined
  values: PageValues
}

/**
 * Reads the pages of a chunk of a column, as `findPlainPages` returns them. A batch is valid until the next one is read.
 * Throws if a page is damaged.
 */
export function* readFlatColumn(
  pages: readonly StoredPage[],
  column: FlatColumn,
  meta: ColumnMetaData,
  out: JsonText,
): Generator<JsonBatch> {
  let dictionary: Dictionary | undefined
  for (const { header, packed } of pages) {
    if (header.type === 'DICTIONARY_PAGE') {
      dictionary = readDictionary(header, packed, column, meta)
      continue
    }
    const { rows, levels, values } = openPage(header, packed, column, meta, dictionary)
    for (let k = 0; k < rows; ) {
      const count = Math.min(rows - k, out.freeRows)
      k += values.write(out, count, levels?.subarray(k, k + count))
      if (out.isFull) yield out.take()
    }
  }
  if (out.rows > 0) yield out.take()
}

/** Distinct values of a chunk as JSON, each with a comma: those of value k are `text[ends[k], ends[k + 1])`. */
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
  const page = unpack(packed, header.uncompressed_page_size, column, meta)
  const out = new JsonText()
  const losses = { infinite: 0 }
  const ends = new Uint32Array(count + 1)
  const lost = new Uint8Array(count)
  const values = new PlainValues(page, 0, { ...column, losses })
  let at = 0
  for (let k = 0; k < count; ) {
    const before = losses.infinite
    const until = k + values.write(out, count - k, undefined)
    const { text } = out
    for (; k < until; k++) {
      // A value of a column with losses is a number: null is one that JSON cannot represent.
      if (losses.infinite > before && text[at] === LETTER_N) lost[k] = 1
      at = findValueEnd(text, at) + 1
      ends[k + 1] = at
    }
  }
  return { text: out.text, ends, lost: losses.infinite > 0 ? lost : undefined }
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
  let page: Uint8Array
  let offset = 0
  if (second) {
    // The levels are not compressed.
    const { repetition_levels_byte_length: repetition, definition_levels_byte_length: definition } = second
    const start = repetition + definition
    if (isOptional) levels = readLevels(packed.subarray(repetition, start), rows)
    const rest = packed.subarray(start)
    page = second.is_compressed === false ? rest : unpack(rest, size - start, column, meta)
  } else {
    page = unpack(packed, size, column, meta)
    if (isOptional && rows > 0) {
      offset = 4 + viewOf(page).getUint32(0, true)
      levels = readLevels(page.subarray(4, offset), rows)
    }
  }
  if (encoding === 'PLAIN') return { rows, levels, values: new PlainValues(page, offset, column) }
  if (!dictionary) throw new Error('the dictionary is missing')
  const indexes = readIndexes(viewOf(page), offset, countValues(rows, levels))
  return { rows, levels, values: new DictionaryValues(dictionary, indexes, column.losses) }
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

/** Reads the indexes of `count` values of a dictionary. */
function readIndexes(view: DataView, offset: number, count: number): Uint32Array {
  const indexes = new Uint32Array(count)
  const width = count === 0 ? 0 : view.getUint8(offset)
  if (width === 0) return indexes
  const body = { view, offset: offset + 1 }
  assertRuns(body, width, count)
  readRleBitPackedHybrid(body, width, indexes, view.byteLength - body.offset)
  return indexes
}

function countValues(rows: number, levels: Uint8Array | undefined): number {
  if (!levels) return rows
  let count = 0
  for (let k = 0; k < rows; k++) if (levels[k] === 1) count++
  return count
}

/** Values that are indexes of a dictionary. */
class DictionaryValues implements PageValues {
  private next = 0

  constructor(
    private readonly dictionary: Dictionary,
    private readonly indexes: Uint32Array,
    private readonly losses: LossCounts,
  ) {}

  write(out: JsonText, count: number, levels: Uint8Array | undefined): number {
    const { dictionary, indexes, next } = this
    const { text, ends, lost } = dictionary
    const written = lost
      ? undefined
      : PlainKernel.open()?.writeWords(dictionary, indexes.subarray(next), count, levels)
    if (written && written.rows > 0) {
      out.addRows(written.json, written.rows)
      this.next += written.taken
      return written.rows
    }
    if (levels && levels[0] !== 1) {
      out.addValue('null')
      return 1
    }
    const index = indexes[this.next++]
    if (index + 1 >= ends.length) throw new Error('no such value in the dictionary')
    if (lost) this.losses.infinite += lost[index]
    out.addRow(text, ends[index], ends[index + 1])
    return 1
  }
}

/** Number of odd values after which their share counts, and that share: then the kernel does not read the rest. */
const MIN_ODD_VALUES = 64
const MAX_ODD_SHARE = 1 / 16
/** Factor by which batches shrink around a text that is not UTF-8. They grow again by 2. */
const BATCH_SHRINKAGE = 8
/** Number of rows that are read at once without the kernel. */
const OTHER_ROWS = 1024

/** Values as they are stored, one after another. */
class PlainValues implements PageValues {
  private oddValues = 0
  private kernelRows = 0
  /** Number of rows that the kernel writes at once: fewer after a text that is not UTF-8. */
  private batchRows = MAX_KERNEL_ROWS

  constructor(
    private readonly page: Uint8Array,
    /** Where the next value begins. */
    private offset: number,
    private readonly column: FlatColumn,
  ) {}

  write(out: JsonText, count: number, levels: Uint8Array | undefined): number {
    const { column, page, offset } = this
    const kernel = column.form && PlainKernel.open()
    if (!kernel || this.isOdd) return this.writeOthers(out, Math.min(count, OTHER_ROWS), levels)
    for (;;) {
      const most = Math.min(count, this.batchRows)
      const { rows, json, taken, isInvalid } = kernel.write(column.form!, page, offset, most, levels)
      if (isInvalid && most > 1) {
        this.batchRows = Math.ceil(most / BATCH_SHRINKAGE)
        continue
      }
      if (rows === 0) {
        this.oddValues++
        return this.writeOthers(out, 1, levels)
      }
      this.batchRows = Math.min(MAX_KERNEL_ROWS, this.batchRows * 2)
      out.addRows(json, rows)
      this.kernelRows += rows
      this.offset += taken
      return rows
    }
  }

  private get isOdd(): boolean {
    const { oddValues, kernelRows } = this
    return oddValues > MIN_ODD_VALUES && oddValues > (oddValues + kernelRows) * MAX_ODD_SHARE
  }

  /** Writes rows as the reader of the library reads them. */
  private writeOthers(out: JsonText, count: number, levels: Uint8Array | undefined): number {
    const { page, column } = this
    const { field, toJson, losses } = column
    const { type, type_length: size } = field.element
    const reader = { view: viewOf(page), offset: this.offset }
    const values = convertValues(readPlain(reader, type!, countValues(count, levels), size), column)
    if (reader.offset > page.length) throw new Error('a value ends after its page')
    this.offset = reader.offset
    let next = 0
    for (let k = 0; k < count; k++)
      out.addValue(!levels || levels[k] === 1 ? toJson(values[next++], losses) : 'null')
    return count
  }
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
