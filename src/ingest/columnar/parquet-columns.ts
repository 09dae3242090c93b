// Decides the type of each column of a Parquet file, and how its values are written.
import type { ColumnChunk, SchemaTree } from 'hyparquet'
import type { PlainForm } from '../kernel/plain.ts'
import type { ColumnType } from './decoder-messages.ts'
import {
  convertDecimal,
  convertSingle,
  createDecimalWriter,
  formatInt96,
  formatTime,
  MAX_SAFE,
  type Plain,
  skipNulls,
  type ToJson,
  toBooleanJson,
  toCheckedJson,
  toNestedJson,
  toNumberJson,
  toSingleJson,
  toStringJson,
  toTimeJson,
} from './json-values.ts'
import { RefusedFile, type TableColumn } from './table.ts'

/** The chunks of a row group by the name of their column, the first one of each. */
export type ChunkByName = ReadonlyMap<string | undefined, ColumnChunk>

/** Returns name, type and JSON writer of a column. Throws `RefusedFile` for unsupported types. */
export function parquetColumnOf(field: SchemaTree, groups: readonly ChunkByName[]): TableColumn {
  const { element } = field
  const { name } = element
  const create = (type: ColumnType, toJson: ToJson, form?: PlainForm) => ({ name, type, toJson, form })
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
    const form = scale >= 0 && scale <= MAX_SCALE ? integerFormOf(element, isText, scale) : undefined
    return create(isText ? 'text' : 'number', createDecimalWriter(scale, isText), form)
  }
  const perSecond = ticksPerSecondOf(logical, converted)
  // Values in UTC get a Z.
  if (perSecond !== undefined || isUtc(logical) || type === 'INT96') {
    const plain = skipNulls(leafConverterOf(element))
    return create('text', (value, lost) => toStringJson(plain(value), lost), timeFormOf(element))
  }
  if (converted === 'DATE' || logical?.type === 'DATE')
    return type === 'INT32' ? create('text', toTimeJson, { kind: 'day' }) : create('text', toStringJson)
  // The reader formats integers; other values stay as they are.
  if (converted?.startsWith('TIMESTAMP') || logical?.type === 'TIMESTAMP')
    return create(
      'text',
      type === 'INT32' || type === 'INT64' ? toTimeJson : toStringJson,
      timeFormOf(element),
    )
  const isSigned =
    (converted === undefined || /^INT_(8|16|32|64)$/.test(converted)) &&
    (logical === undefined || (logical.type === 'INTEGER' && logical.isSigned))
  switch (type) {
    case 'BOOLEAN':
      return create('boolean', toBooleanJson)
    case 'INT64': {
      // As in CSV, integers that a double cannot represent make the column text.
      const isSafe = hasSafeIntegers(name, groups)
      const form = isSigned ? integerFormOf(element, !isSafe) : undefined
      return isSafe ? create('number', toNumberJson, form) : create('text', toStringJson, form)
    }
    case 'INT32':
      return create('number', toNumberJson, isSigned ? integerFormOf(element, false) : undefined)
    case 'DOUBLE':
      return create('number', toNumberJson, { kind: 'double' })
    case 'FLOAT':
      return create('number', toSingleJson, { kind: 'single' })
    default:
      return logical?.type === 'FLOAT16'
        ? create('number', toSingleJson)
        : create('text', toStringJson, isPlainText(element) ? { kind: 'text' } : undefined)
  }
}

/** Maximum number of decimals of an integer in the kernel. */
const MAX_SCALE = 18

/** Returns how the kernel writes signed integers; undefined for other types. */
export function integerFormOf(
  { type }: SchemaTree['element'],
  isQuoted: boolean,
  scale = 0,
): PlainForm | undefined {
  const bytes = type === 'INT32' ? 4 : type === 'INT64' ? 8 : undefined
  return bytes && { kind: 'integer', bytes, scale, isQuoted }
}

/** Returns how the kernel writes times since 1970; undefined for other types. */
function timeFormOf({ type, converted_type, logical_type }: SchemaTree['element']): PlainForm | undefined {
  const digits =
    converted_type === 'TIMESTAMP_MILLIS'
      ? 3
      : converted_type === 'TIMESTAMP_MICROS'
        ? 6
        : logical_type?.type === 'TIMESTAMP' && converted_type === undefined
          ? { MILLIS: 3, MICROS: 6, NANOS: 9 }[logical_type.unit]
          : undefined
  return type === 'INT64' && digits
    ? { kind: 'time', digits, separator: ' ', isUtc: isUtc(logical_type) }
    : undefined
}

function isPlainText({ type, converted_type, logical_type }: SchemaTree['element']): boolean {
  return (
    type === 'BYTE_ARRAY' &&
    (converted_type === undefined || converted_type === 'UTF8' || converted_type === 'ENUM') &&
    (logical_type === undefined || logical_type.type === 'STRING' || logical_type.type === 'ENUM')
  )
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
function hasSafeIntegers(name: string, groups: readonly ChunkByName[]): boolean {
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

export function isJson({ converted_type, logical_type }: SchemaTree['element']): boolean {
  return converted_type === 'JSON' || logical_type?.type === 'JSON'
}

export function isDecimal({ converted_type, logical_type }: SchemaTree['element']): boolean {
  return converted_type === 'DECIMAL' || logical_type?.type === 'DECIMAL'
}
