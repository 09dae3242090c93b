// Writes columns as a Parquet file, one row group after the other.
import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'
import type { ColumnChunk, KeyValue, RowGroup, SchemaElement, Statistics } from 'hyparquet'
import { type Bytes, shouldYield, yieldToEventLoop } from '../../../../json/index.ts'
import { type ENCODINGS, type EncodedPage, PageEncoder } from '../../column/kernel/pages.ts'
import { batchReads, type Snapshot } from '../../column/snapshot.ts'
import { type Footer, writeFooter } from './write-footer.ts'

type Encoding = keyof typeof ENCODINGS

/** How values of a column are stored: as a type of Parquet, in an encoding. */
interface Storage {
  encoding: Encoding
  schema: Omit<SchemaElement, 'name'>
}

/** Storages of columns. `digits`: whole numbers beyond 64 bits, as texts. `empty`: a column without values. */
export const STORAGES = {
  integer: { encoding: 'integer', schema: { type: 'INT64' } },
  double: { encoding: 'double', schema: { type: 'DOUBLE' } },
  digits: { encoding: 'json', schema: { type: 'BYTE_ARRAY', converted_type: 'UTF8' } },
  empty: { encoding: 'json', schema: { type: 'BYTE_ARRAY', converted_type: 'UTF8' } },
  boolean: { encoding: 'boolean', schema: { type: 'BOOLEAN' } },
  day: {
    encoding: 'day',
    schema: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
  },
  localTime: {
    encoding: 'time',
    schema: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'MICROS' } },
  },
  utcTime: {
    encoding: 'time',
    schema: {
      type: 'INT64',
      converted_type: 'TIMESTAMP_MICROS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
    },
  },
  text: {
    encoding: 'text',
    schema: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  },
  json: {
    encoding: 'json',
    schema: { type: 'BYTE_ARRAY', converted_type: 'JSON', logical_type: { type: 'JSON' } },
  },
} as const satisfies Record<string, Storage>

export type StorageName = keyof typeof STORAGES

/** A column of a file that is written. */
export interface FileColumn {
  name: string
  storage: StorageName
  /** Values as column JSON, in pieces of whole values. Missing ones at the end are null. */
  values: Bytes
}

export interface FileOptions {
  rows: number
  /** Size of the largest piece of column JSON, in bytes. */
  textBytes: number
  isCompressed: boolean
  createdBy?: string
  metadata?: KeyValue[]
  /** Is called with the facts about the values of a column (`FACTS`) in each row group. */
  check?(column: number, facts: number): void
}

/** Number of rows of a row group: DuckDB reads each in one thread, and has pieces of that size itself. */
export const GROUP_ROWS = 122_880
/** Levels of gzip above the first take much more time for little. Small pieces of output take time, too. */
const GZIP = { level: 1, chunkSize: 256 * 1024 }
/** Pages up to this size are compressed on this thread, which takes less time than to hand them to another, in bytes. */
const SMALL_PAGE_BYTES = 16 * 1024
const SMALL_GZIP = { level: 1, chunkSize: SMALL_PAGE_BYTES }
/** Number of pages that are compressed at once. */
const COMPRESSED_AT_ONCE = 3

const compress = promisify(gzip)

/** A page of a column, with its levels. */
interface Page extends Pick<EncodedPage, 'rows' | 'nulls' | 'low' | 'high'> {
  group: number
  column: number
  bytes: Promise<{ body: Buffer; size: number }>
}

/** Returns a snapshot that loads blobs in batches, if a file of its columns is written: with one group, in their order. */
export function batchGroupReads(snap: Snapshot): Snapshot {
  return snap.rows <= GROUP_ROWS ? batchReads(snap, snap.columns) : snap
}

/** Streams a Parquet file. */
export async function* writeFile(
  columns: readonly FileColumn[],
  options: FileOptions,
): AsyncGenerator<Uint8Array> {
  const library = await import('../../../../vendor/parquet.ts')
  const { ByteWriter, writePageHeader } = library
  const { rows, isCompressed, createdBy, metadata } = options
  const out = new ByteWriter()
  const take = (): Uint8Array => {
    const bytes = out.getBytes().slice()
    out.index = 0
    return bytes
  }
  out.appendUint32(MAGIC)
  const groups: RowGroup[] = []
  for await (const { group, column, rows: count, nulls, low, high, bytes } of encodePages(columns, options)) {
    const { body, size } = await bytes
    const groupRows = Math.min(GROUP_ROWS, rows - group * GROUP_ROWS)
    groups[group] ??= { columns: [], total_byte_size: 0n, num_rows: BigInt(groupRows) }
    const from = out.offset
    writePageHeader(out, {
      type: 'DATA_PAGE',
      uncompressed_page_size: size,
      compressed_page_size: body.length,
      data_page_header: {
        num_values: count,
        encoding: 'PLAIN',
        definition_level_encoding: 'RLE',
        repetition_level_encoding: 'RLE',
      },
    })
    const headerBytes = out.offset - from
    yield take()
    yield body
    out.offset += body.length
    const chunk = (groups[group].columns[column] ??= createChunk(columns[column], from, isCompressed))
    const facts = chunk.meta_data!
    facts.num_values += BigInt(count)
    facts.total_uncompressed_size += BigInt(headerBytes + size)
    facts.total_compressed_size += BigInt(out.offset - from)
    groups[group].total_byte_size += BigInt(headerBytes + size)
    addBounds(facts.statistics!, nulls, low, high)
  }
  const footer: Footer = {
    version: 2,
    created_by: createdBy,
    schema: [
      { name: 'schema', num_children: columns.length },
      ...columns.map(
        ({ name, storage }): SchemaElement => ({
          name,
          repetition_type: 'OPTIONAL',
          ...STORAGES[storage].schema,
        }),
      ),
    ],
    num_rows: BigInt(rows),
    row_groups: groups,
    key_value_metadata: metadata,
  }
  await writeFooter(out, library, footer)
  out.appendUint32(MAGIC)
  yield take()
}

/** The characters `PAR1`. */
const MAGIC = 0x31_52_41_50

function addBounds(known: Statistics, nulls: number, low?: number | bigint, high?: number | bigint): void {
  known.null_count! += BigInt(nulls)
  const [lowest, highest] = [known.min_value, known.max_value] as (number | bigint | undefined)[]
  if (low !== undefined && (lowest === undefined || low < lowest)) known.min_value = low
  if (high !== undefined && (highest === undefined || high > highest)) known.max_value = high
}

function createChunk({ name, storage }: FileColumn, from: number, isCompressed: boolean): ColumnChunk {
  return {
    file_offset: BigInt(from),
    meta_data: {
      type: STORAGES[storage].schema.type,
      encodings: ['PLAIN', 'RLE'],
      path_in_schema: [name],
      codec: isCompressed ? 'GZIP' : 'UNCOMPRESSED',
      num_values: 0n,
      total_uncompressed_size: 0n,
      total_compressed_size: 0n,
      data_page_offset: BigInt(from),
      statistics: { null_count: 0n },
    },
  }
}

/** Encodes the pages of all columns, by row group. A few are compressed meanwhile. */
async function* encodePages(columns: readonly FileColumn[], options: FileOptions): AsyncGenerator<Page> {
  const { rows, textBytes, isCompressed, check } = options
  const encoder = PageEncoder.create(rows * columns.length, textBytes)
  const readers = columns.map(({ values }) => new ColumnReader(values))
  const waiting: Page[] = []
  try {
    for (let group = 0; group * GROUP_ROWS < rows; group++) {
      for (const [column, { storage }] of columns.entries()) {
        const { encoding } = STORAGES[storage]
        const left = Math.min(GROUP_ROWS, rows - group * GROUP_ROWS)
        for await (const { levels, values, ...page } of readers[column].encode(encoder, encoding, left)) {
          const parts = [encodeLevels(levels), encoding === 'boolean' ? packBits(values) : values]
          waiting.push({ ...page, group, column, bytes: finish(parts, isCompressed) })
          if (waiting.length === COMPRESSED_AT_ONCE) yield waiting.shift()!
        }
        check?.(column, encoder.takeFacts())
        if (shouldYield()) await yieldToEventLoop()
      }
    }
    while (waiting.length > 0) yield waiting.shift()!
  } finally {
    await Promise.allSettled(waiting.map(({ bytes }) => bytes))
    for (const reader of readers) await reader.close()
  }
}

async function finish(parts: Buffer[], isCompressed: boolean): Promise<{ body: Buffer; size: number }> {
  const page = Buffer.concat(parts)
  const size = page.length
  if (!isCompressed) return { body: page, size }
  return { body: size <= SMALL_PAGE_BYTES ? gzipSync(page, SMALL_GZIP) : await compress(page, GZIP), size }
}

/** Reads the values of a column in order. */
class ColumnReader {
  private readonly pieces: AsyncIterator<Uint8Array>
  private text: Buffer = Buffer.alloc(0)
  private at = 0
  private isDone = false

  constructor(values: Bytes) {
    this.pieces = values[Symbol.asyncIterator]()
  }

  /** Encodes the next `rows` values. Yields pages. */
  async *encode(encoder: PageEncoder, encoding: Encoding, rows: number): AsyncGenerator<EncodedPage> {
    for (let left = rows; left > 0; ) {
      if (this.at >= this.text.length && !this.isDone) await this.load()
      let isFull = false
      if (this.isDone) {
        const count = encoder.addNulls(left)
        left -= count
        isFull = left > 0
      } else {
        const added = encoder.add(encoding, this.text, this.at, left)
        this.at = added.end
        left -= added.count
        isFull = added.isFull
      }
      if (isFull || (left === 0 && encoder.rows > 0)) yield encoder.take(encoding)
      if (shouldYield()) await yieldToEventLoop()
    }
  }

  close(): Promise<unknown> | undefined {
    return this.pieces.return?.()
  }

  private async load(): Promise<void> {
    const { value, done } = await this.pieces.next()
    this.isDone = done === true
    // A piece between two others can be their comma.
    const isComma = value?.length === 1 && value[0] === COMMA
    this.text = done || isComma ? Buffer.alloc(0) : Buffer.from(value.buffer, value.byteOffset, value.length)
    this.at = 0
  }
}

const COMMA = 0x2c

/** Encodes levels of 0 and 1 as runs and packed bits, after the size of both. */
function encodeLevels(levels: Buffer): Buffer {
  const isFilled = !levels.includes(0)
  const head = isFilled ? levels.length * 2 : Math.ceil(levels.length / 8) * 2 + 1
  const size: number[] = []
  for (let rest = head; ; rest >>>= 7) {
    size.push(rest < 128 ? rest : (rest & 127) | 128)
    if (rest < 128) break
  }
  const body = Buffer.concat([Buffer.from(size), isFilled ? Buffer.from([1]) : packBits(levels)])
  const length = Buffer.alloc(4)
  length.writeUInt32LE(body.length)
  return Buffer.concat([length, body])
}

/** Packs bytes of 0 and 1 into bits, lowest first. */
function packBits(bytes: Buffer): Buffer {
  const packed = Buffer.alloc(Math.ceil(bytes.length / 8))
  for (let k = 0; k < bytes.length; k++) packed[k >> 3] |= bytes[k] << (k & 7)
  return packed
}
