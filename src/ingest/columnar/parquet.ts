// Reads Parquet files.
import { readSync } from 'node:fs'
import {
  type ColumnChunk,
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
import { type ColumnarJob, type ColumnType, FILE_DESCRIPTOR } from './decoder-messages.ts'
import { findPlainPages, isFlatColumn, readFlatColumn } from './flat-column.ts'
import {
  convertDecimal,
  convertSingle,
  createDecimalWriter,
  formatCachedDay,
  formatInt96,
  formatTime,
  formatTimestamp,
  MAX_SAFE,
  type Plain,
  skipNulls,
  type ToJson,
  toBooleanJson,
  toCheckedJson,
  toIsoTimeJson,
  toNestedJson,
  toNumberJson,
  toSingleJson,
  toStringJson,
  toTimeJson,
} from './json-values.ts'
import { RefusedFile, type Table, type TableColumn } from './table.ts'

/** Maximum rows of a row group. All values of a column chunk are in memory at once. */
const MAX_GROUP_ROWS = 20_000_000

/** Formats dates and timestamps as text. */
const parsers = {
  timestampFromMilliseconds: (ms: bigint) => formatTimestamp(ms, 1000n),
  timestampFromMicroseconds: (micros: bigint) => formatTimestamp(micros, 1_000_000n),
  timestampFromNanoseconds: (nanos: bigint) => formatTimestamp(nanos, 1_000_000_000n),
  dateFromDays: (days: number) => formatCachedDay(days),
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
  checkSizes(metadata, size, ratio)
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
  const keys = nameByPosition(fields, metadata)
  return {
    rows,
    columns,
    async *values(losses) {
      let from = 0
      for (const group of metadata.row_groups) {
        const to = from + Number(group.num_rows)
        const chunks = indexChunks(group)
        for (const [k, name] of keys.entries()) {
          const { meta_data: meta, file_path: elsewhere } = chunks.get(name) ?? {}
          const isFlat = meta && !elsewhere && isFlatColumn(fields[k], meta)
          const bytes = isFlat ? file.slice(...rangeOf(meta)) : undefined
          const pages = bytes && findPlainPages(bytes, to - from, fields[k])
          if (pages) {
            const { toJson } = columns[k]
            const column = { field: fields[k], toJson, losses: losses[k], parsers, compressors: codecs }
            for (const batch of readFlatColumn(pages, column, meta!)) yield { column: k, ...batch }
          } else for (const values of await read(name, from, to)) yield { column: k, values }
        }
        from = to
      }
    },
  }
}

/** Returns the chunks of a row group by the name of their column, the first one of each. */
function indexChunks({ columns }: RowGroup): ReadonlyMap<string | undefined, ColumnChunk> {
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

function isJson({ converted_type, logical_type }: SchemaTree['element']): boolean {
  return converted_type === 'JSON' || logical_type?.type === 'JSON'
}

function isDecimal({ converted_type, logical_type }: SchemaTree['element']): boolean {
  return converted_type === 'DECIMAL' || logical_type?.type === 'DECIMAL'
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
  const { type, toJson } = column
  if (mark.separator === 'T' && toJson === toTimeJson) return { ...column, toJson: toIsoTimeJson }
  if (mark.separator === 'T')
    return { ...column, toJson: (value, lost) => toJson(value, lost).replace(' ', 'T') }
  if (mark.type === 'text' && type === 'text') return { ...column, isExact: true }
  // Integers that a double cannot represent.
  return mark.type === 'number' && element.type === 'INT64' && toJson === toStringJson
    ? { ...column, type: 'number', toJson: toNumberJson }
    : column
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

/** Returns name, type and JSON writer of a column. Throws `RefusedFile` for unsupported types. */
function parquetColumnOf(field: SchemaTree, groups: readonly ReturnType<typeof indexChunks>[]): TableColumn {
  const { element } = field
  const { name } = element
  const create = (type: ColumnType, toJson: ToJson) => ({ name, type, toJson })
  refuseUnsupported(field)
  refuseDuplicatePaths(field)
  if (field.children.length > 0 || element.repetition_type === 'REPEATED') {
    const plain = jsonConverterOf(field)
    return create('json', (value, lost) => toNestedJson(plain(value), lost))
  }
  const { type, converted_type: converted, logical_type: logical } = element
  if (isJson(element)) return create('json', toCheckedJson)
  if (logical?.type === 'GEOMETRY' || logical?.type === 'GEOGRAPHY') return create('json', toNestedJson)
  if (isDecimal(element)) {
    const { scale = 0, precision = 38 } = element
    // Databases write integers as decimals of high precision. Their values decide, as for 64-bit integers.
    const isText = scale <= 0 && precision - scale > 15 && !hasSafeIntegers(name, groups)
    return create(isText ? 'text' : 'number', createDecimalWriter(scale, isText))
  }
  const perSecond = ticksPerSecondOf(logical, converted)
  // Values in UTC get a Z.
  if (perSecond !== undefined || isUtc(logical) || type === 'INT96') {
    const plain = skipNulls(leafConverterOf(element))
    return create('text', (value, lost) => toStringJson(plain(value), lost))
  }
  const isTime =
    converted?.startsWith('TIMESTAMP') ||
    logical?.type === 'TIMESTAMP' ||
    converted === 'DATE' ||
    logical?.type === 'DATE'
  // The reader formats integers; other values stay as they are.
  if (isTime) return create('text', type === 'INT32' || type === 'INT64' ? toTimeJson : toStringJson)
  switch (type) {
    case 'BOOLEAN':
      return create('boolean', toBooleanJson)
    case 'INT64':
      // As in CSV, integers that a double cannot represent make the column text.
      return hasSafeIntegers(name, groups) ? create('number', toNumberJson) : create('text', toStringJson)
    case 'INT32':
    case 'DOUBLE':
      return create('number', toNumberJson)
    case 'FLOAT':
      return create('number', toSingleJson)
    default:
      return logical?.type === 'FLOAT16' ? create('number', toSingleJson) : create('text', toStringJson)
  }
}

/** Throws `RefusedFile` if a column or one of its members has an unsupported type. */
function refuseUnsupported({ element, children }: SchemaTree): void {
  const kind = element.logical_type?.type
  const what =
    kind === 'VARIANT'
      ? 'VARIANT'
      : element.converted_type === 'INTERVAL' || element.converted_type === 'BSON'
        ? element.converted_type
        : undefined
  if (what)
    throw new RefusedFile(
      `column ${element.name} has the type ${what}, which is not supported`,
      'Leave the column out, or write it as text or JSON.',
    )
  for (const child of children) refuseUnsupported(child)
}

/** Throws `RefusedFile` if two members of a column have the same path, since the reader would drop one. */
function refuseDuplicatePaths(field: SchemaTree): void {
  const paths = new Set<string>()
  const add = ({ path, children }: SchemaTree): void => {
    const text = path.join('.')
    if (paths.has(text))
      throw new RefusedFile(
        `column ${path[0]} has two members ${text}`,
        'Rename one of them, or leave it out.',
      )
    paths.add(text)
    for (const child of children) add(child)
  }
  add(field)
}

/** Returns the function that converts values of a nested column to JSON values. */
function jsonConverterOf(
  field: SchemaTree,
  isRepeated = field.element.repetition_type === 'REPEATED',
): Plain {
  if (isRepeated) {
    const convertItem = jsonConverterOf(field, false)
    // The reader returns undefined for an empty list.
    return (value) => Array.from((value ?? []) as Iterable<unknown>, convertItem)
  }
  const { element, children } = field
  const [inner] = children
  if (!inner) return skipNulls(leafConverterOf(element))
  const holdsRepeated = children.length === 1 && inner.element.repetition_type === 'REPEATED'
  // The reader unwraps lists of one field, and maps of a key and a value.
  if (element.converted_type === 'LIST' && holdsRepeated && inner.children.length < 2) {
    const convertItem =
      inner.children.length === 1 ? jsonConverterOf(inner.children[0]) : jsonConverterOf(inner, false)
    return skipNulls((value: Iterable<unknown>) => Array.from(value, convertItem))
  }
  if (element.converted_type === 'MAP' && holdsRepeated && inner.children.length === 2) {
    const convertItem = jsonConverterOf(inner.children[1])
    return skipNulls((value: Record<string, unknown>) =>
      Object.fromEntries(Object.entries(value).map(([key, item]) => [key, convertItem(item)])),
    )
  }
  const members = children.map((child) => [child.element.name, jsonConverterOf(child)] as const)
  return skipNulls((value: Record<string, unknown>) =>
    Object.fromEntries(members.map(([name, item]) => [name, item(value[name])])),
  )
}

function isUtc(logical: SchemaTree['element']['logical_type']): boolean {
  return (logical?.type === 'TIMESTAMP' || logical?.type === 'TIME') && logical.isAdjustedToUTC
}

/** Returns the function that converts values of a field to JSON values. */
function leafConverterOf(element: SchemaTree['element']): (value: never) => unknown {
  const { type, converted_type: converted, logical_type: logical, scale = 0 } = element
  const zone = isUtc(logical) ? 'Z' : ''
  const perSecond = ticksPerSecondOf(logical, converted)
  if (perSecond !== undefined) {
    const day = 86_400n * perSecond
    // Wraps times in UTC that fall on the day before or after.
    const inDay = (value: bigint): bigint => (zone === '' ? value : ((value % day) + day) % day)
    return (value: bigint) => `${formatTime(inDay(BigInt(value)), perSecond)}${zone}`
  }
  if (isDecimal(element)) return (value) => convertDecimal(value, scale)
  // Top-level INT96 values are bytes; the reader has formatted the nested ones.
  if (type === 'INT96') return (value: unknown) => (value instanceof Uint8Array ? formatInt96(value) : value)
  if (type === 'FLOAT' || logical?.type === 'FLOAT16') return convertSingle
  return zone === '' ? (value) => value : (value) => `${value}${zone}`
}

/** Returns the ticks per second of a time-of-day type; undefined for other types. */
function ticksPerSecondOf(
  logical: { type: string; unit?: string } | undefined,
  converted: string | undefined,
): bigint | undefined {
  if (converted === 'TIME_MILLIS') return 1000n
  if (converted === 'TIME_MICROS') return 1_000_000n
  if (logical?.type !== 'TIME') return undefined
  return logical.unit === 'MILLIS' ? 1000n : logical.unit === 'MICROS' ? 1_000_000n : 1_000_000_000n
}

/** Returns whether a double can represent all integers of a column, by the statistics in the file. */
function hasSafeIntegers(name: string, groups: readonly ReturnType<typeof indexChunks>[]): boolean {
  return groups.every((chunks) => {
    const chunk = chunks.get(name)?.meta_data
    const low = chunk?.statistics?.min_value ?? chunk?.statistics?.min
    const high = chunk?.statistics?.max_value ?? chunk?.statistics?.max
    if (low === undefined || high === undefined) {
      // Without statistics, only a column of nulls is known to be safe.
      return chunk?.statistics?.null_count !== undefined && chunk.statistics.null_count === chunk.num_values
    }
    // Statistics of decimals are doubles.
    const isWithin = (value: unknown): boolean =>
      typeof value === 'bigint'
        ? value >= -MAX_SAFE && value <= MAX_SAFE
        : Number.isSafeInteger(Math.trunc(Number(value)))
    return isWithin(low) && isWithin(high)
  })
}
