// Reads Parquet files.
import { readSync } from 'node:fs'
import {
  type ColumnMetaData,
  type FileMetaData,
  type ParquetParsers,
  parquetMetadataAsync,
  parquetRead,
  parquetSchema,
  type RowGroup,
  type SchemaTree,
} from 'hyparquet'
import { COLUMNS_KEY, type ParquetMark } from '../../contract/formats.ts'
import { createCodecs } from './codecs.ts'
import { type ColumnarJob, FILE_DESCRIPTOR } from './decoder-messages.ts'
import { findPlainPages, isFlatColumn, readFlatColumn } from './flat-column.ts'
import { JsonText } from './json-text.ts'
import { decodeBytes, formatCachedDay, formatTimestamp, toNumberJson, toStringJson } from './json-values.ts'
import { checkPages } from './pages.ts'
import { type ChunkByName, integerFormOf, isDecimal, isJson, parquetColumnOf } from './parquet-columns.ts'
import { RefusedFile, type Table, type TableColumn } from './table.ts'

/** Maximum rows of a row group. All values of a column chunk are in memory at once. */
const MAX_GROUP_ROWS = 20_000_000

/** Formats dates and timestamps as text, and texts that are not UTF-8 in Base64. */
const parsers = {
  timestampFromMilliseconds: (ms: bigint) => formatTimestamp(ms, 1000n),
  timestampFromMicroseconds: (micros: bigint) => formatTimestamp(micros, 1_000_000n),
  timestampFromNanoseconds: (nanos: bigint) => formatTimestamp(nanos, 1_000_000_000n),
  dateFromDays: (days: number) => formatCachedDay(days),
  stringFromBytes: (bytes: Uint8Array | undefined) => bytes && decodeBytes(bytes),
  // hyparquet types these by its own parsers.
} as unknown as Partial<ParquetParsers>

/** Opens a Parquet file. Values are read one column chunk at a time. Throws `RefusedFile`. */
export async function openParquet({ size, columns: mostColumns, ratio }: ColumnarJob): Promise<Table> {
  const file = {
    byteLength: size,
    slice(start: number, end = size): ArrayBuffer {
      const length = Math.max(0, Math.min(end, size) - start)
      const bytes = new Uint8Array(length)
      for (let at = 0; at < length; ) {
        const count = readSync(FILE_DESCRIPTOR, bytes, at, length - at, start + at)
        if (count === 0) throw new RefusedFile('the Parquet file is truncated')
        at += count
      }
      return bytes.buffer
    },
  }
  const metadata = await parquetMetadataAsync(file)
  const fields = parquetSchema(metadata).children
  if (fields.length > mostColumns)
    throw new RefusedFile(`${fields.length} columns; the limit is ${mostColumns} (columns)`)
  if (metadata.row_groups.some(({ columns }) => columns.some((chunk) => chunk.crypto_metadata !== undefined)))
    throw new RefusedFile('columns of this Parquet file are encrypted', 'Write it without encryption.')
  checkSizes(metadata, size, ratio)
  checkTypes(fields, metadata)
  const codecs = createCodecs(ratio)
  const read = async (name: string, from: number, to: number): Promise<ArrayLike<unknown>[]> => {
    const chunks: { rowStart: number; columnData: ArrayLike<unknown> }[] = []
    await parquetRead({
      file,
      metadata,
      columns: [name],
      rowStart: from,
      rowEnd: to,
      compressors: codecs,
      utf8: false,
      parsers,
      onChunk: (chunk) => chunks.push(chunk),
    })
    return chunks.sort((a, b) => a.rowStart - b.rowStart).map(({ columnData }) => columnData)
  }
  const rows = Number(metadata.num_rows)
  const marks = readMarks(metadata)
  const groups = metadata.row_groups.map(indexChunks)
  const columns = fields.map((field, k) => applyMark(field, parquetColumnOf(field, groups), marks[k]))
  for (const { element } of fields.flatMap(leafFieldsOf))
    if (isDecimal(element) || isJson(element)) {
      // The reader would round decimals and numbers in JSON. Without the type, it returns unscaled integers and text.
      element.converted_type = undefined
      element.logical_type = undefined
    }
    // The reader knows days by the older name of their type.
    else if (element.logical_type?.type === 'DATE' && element.type === 'INT32')
      element.converted_type ??= 'DATE'
  const keys = nameByPosition(fields, metadata)
  return {
    rows,
    columns,
    async *values(losses) {
      const out = new JsonText()
      let from = 0
      for (const group of metadata.row_groups) {
        const to = from + Number(group.num_rows)
        const chunks = indexChunks(group)
        for (const [k, name] of keys.entries()) {
          const { meta_data: meta, file_path: elsewhere } = chunks.get(name) ?? {}
          const isFlat = meta && !elsewhere && isFlatColumn(fields[k], meta)
          const bytes = isFlat ? file.slice(...rangeOf(meta)) : undefined
          if (bytes) checkPages(bytes, meta!)
          else checkChunks(group, name, file.slice)
          const pages = bytes && findPlainPages(bytes, to - from, fields[k])
          if (pages) {
            const { toJson, form } = columns[k]
            const column = { field: fields[k], toJson, form, losses: losses[k], parsers, compressors: codecs }
            for (const batch of readFlatColumn(pages, column, meta!, out)) yield { column: k, ...batch }
          } else for (const values of await read(name, from, to)) yield { column: k, values }
        }
        from = to
      }
    },
  }
}

/** Checks the pages of all chunks of a column with members, or of another form. */
function checkChunks(
  { columns }: RowGroup,
  name: string | undefined,
  read: (start: number, end: number) => ArrayBuffer,
): void {
  for (const { meta_data: meta, file_path: elsewhere } of columns)
    if (meta && !elsewhere && meta.path_in_schema[0] === name) checkPages(read(...rangeOf(meta)), meta)
}

/** Returns the chunks of a row group by the name of their column, the first one of each. */
function indexChunks({ columns }: RowGroup): ChunkByName {
  return new Map(columns.map((chunk) => [chunk.meta_data?.path_in_schema[0], chunk] as const).reverse())
}

/** Returns where the pages of a chunk of a column begin and end. */
function rangeOf(meta: ColumnMetaData): [start: number, end: number] {
  const start = meta.dictionary_page_offset || meta.data_page_offset
  return [Number(start), Number(start + meta.total_compressed_size)]
}

/**
 * Renames the columns to their positions, by which the reader finds them, since names can repeat. Returns the
 * new names.
 */
function nameByPosition(fields: readonly SchemaTree[], { row_groups }: FileMetaData): string[] {
  let leaf = 0
  return fields.map((field, k) => {
    const name = `${k}`
    const { element } = field
    element.name = name
    // The reader misreads INT96 with a negative time of day. As bytes, they are read by `formatInt96`.
    const isTime = element.type === 'INT96' && element.repetition_type !== 'REPEATED'
    if (isTime) Object.assign(element, INT96_AS_BYTES)
    for (const end = leaf + leafFieldsOf(field).length; leaf < end; leaf++)
      for (const { columns } of row_groups) {
        const meta = columns[leaf]?.meta_data
        if (!meta) continue
        if (meta.path_in_schema) meta.path_in_schema[0] = name
        if (isTime) meta.type = INT96_AS_BYTES.type
      }
    return name
  })
}

const INT96_AS_BYTES = { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 12 } as const

function leafFieldsOf(field: SchemaTree): SchemaTree[] {
  return field.children.length === 0 ? [field] : field.children.flatMap(leafFieldsOf)
}

/** Reads the marks of the columns of a file that we have written; empty for others. */
function readMarks({ key_value_metadata }: FileMetaData): readonly Partial<ParquetMark>[] {
  const text = key_value_metadata?.find(({ key }) => key === COLUMNS_KEY)?.value
  try {
    const marks: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(marks) ? marks.map((mark) => mark ?? {}) : []
  } catch {
    return []
  }
}

/** Restores what a column of ours does not keep. */
function applyMark(
  { element }: SchemaTree,
  column: TableColumn,
  mark: Partial<ParquetMark> = {},
): TableColumn {
  const { type, toJson, form } = column
  if (mark.separator === 'T')
    return {
      ...column,
      toJson: (value, lost) => toJson(value, lost).replace(' ', 'T'),
      form: form?.kind === 'time' ? { ...form, separator: 'T' } : undefined,
    }
  if (mark.type === 'text' && type === 'text') return { ...column, isExact: true }
  // Integers that a double cannot represent.
  return mark.type === 'number' && element.type === 'INT64' && toJson === toStringJson
    ? { ...column, type: 'number', toJson: toNumberJson, form: form && integerFormOf(element, false) }
    : column
}

/** Throws `RefusedFile` if a chunk has values of another type than its column. */
function checkTypes(fields: readonly SchemaTree[], { row_groups }: FileMetaData): void {
  for (const [k, { element }] of fields.flatMap(leafFieldsOf).entries())
    for (const { columns } of row_groups) {
      const type = columns[k]?.meta_data?.type
      if (type !== undefined && element.type !== undefined && type !== element.type)
        throw new RefusedFile(
          `the Parquet file is damaged: the column ${JSON.stringify(element.name.slice(0, 100))} is ${element.type}, and its values are ${type}`,
        )
    }
}

/** Throws `RefusedFile` if the declared sizes exceed the limits or do not add up. */
function checkSizes({ num_rows, row_groups }: FileMetaData, size: number, ratio: number): void {
  let rows = 0n
  for (const group of row_groups) {
    rows += group.num_rows
    if (group.num_rows > MAX_GROUP_ROWS)
      throw new RefusedFile(
        `a row group has more than ${MAX_GROUP_ROWS} rows`,
        'Write the file again with smaller row groups.',
      )
    for (const { meta_data } of group.columns)
      if (meta_data && meta_data.total_uncompressed_size > BigInt(size) * BigInt(ratio) + 65_536n)
        throw new RefusedFile('the data grows too much when unpacked (limit compression_ratio)')
  }
  if (rows !== num_rows) throw new RefusedFile('the Parquet file is damaged: its row groups do not add up')
}
