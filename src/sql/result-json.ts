// Turns the result of a query into the JSON of its columns.
import {
  DuckDBArrayValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBMapValue,
  type DuckDBResult,
  DuckDBStructValue,
  DuckDBTypeId,
  DuckDBUnionValue,
  type DuckDBValue,
} from '@duckdb/node-api'
import { takeUniqueName } from '../contract/unique-name.ts'
import type { QueryMessage, ResultColumn } from './messages.ts'

/** Number of rows in a message. */
const MESSAGE_ROWS = 16_384
/** Size of a message, after which the next begins. */
const MESSAGE_CHARACTERS = 4 * 1024 * 1024
/** Maximum size of a value: others wait while it is written. */
const MAX_VALUE_CHARACTERS = 1024 * 1024

type Type = ResultColumn['type']

/** How values of a type of DuckDB are written. `write`: JSON text; undefined if the column must become text. */
interface ValueFormat {
  type: Type
  write(value: NonNullable<DuckDBValue>): string | undefined
}

const NUMBER: ValueFormat = {
  type: 'number',
  // Not a number, or infinite: missing, as in uploads.
  write: (value) => (typeof value === 'number' && !Number.isFinite(value) ? 'null' : String(value)),
}
const TEXT: ValueFormat = { type: 'text', write: (value) => JSON.stringify(toWellFormed(toText(value))) }

/** Formats by type. All others are text. */
const FORMATS: Partial<Record<DuckDBTypeId, ValueFormat>> = {
  [DuckDBTypeId.BOOLEAN]: { type: 'boolean', write: String },
  ...Object.fromEntries(
    [
      ...[DuckDBTypeId.TINYINT, DuckDBTypeId.SMALLINT, DuckDBTypeId.INTEGER, DuckDBTypeId.BIGINT],
      ...[DuckDBTypeId.UTINYINT, DuckDBTypeId.USMALLINT, DuckDBTypeId.UINTEGER, DuckDBTypeId.UBIGINT],
      ...[DuckDBTypeId.HUGEINT, DuckDBTypeId.UHUGEINT, DuckDBTypeId.DECIMAL, DuckDBTypeId.DOUBLE],
    ].map((type) => [type, NUMBER]),
  ),
  // The shortest text that is the same in single precision.
  [DuckDBTypeId.FLOAT]: {
    type: 'number',
    write: (value) => (Number.isFinite(value as number) ? shortestSingle(value as number) : 'null'),
  },
  [DuckDBTypeId.DATE]: { type: 'date', write: (value) => writeIfMatches(value, /^\d{4}-\d{2}-\d{2}$/) },
  [DuckDBTypeId.TIMESTAMP]: { type: 'datetime', write: writeMoment },
  [DuckDBTypeId.TIMESTAMP_S]: { type: 'datetime', write: writeMoment },
  [DuckDBTypeId.TIMESTAMP_MS]: { type: 'datetime', write: writeMoment },
  [DuckDBTypeId.TIMESTAMP_NS]: { type: 'datetime', write: writeMoment },
  [DuckDBTypeId.TIMESTAMP_TZ]: {
    type: 'datetime',
    write: (value) =>
      writeMoment(
        String(value)
          .replace(/[+-]00(?::00)?$/, 'Z')
          .replace(' ', 'T'),
      ),
  },
  ...Object.fromEntries(
    [
      ...[DuckDBTypeId.LIST, DuckDBTypeId.ARRAY, DuckDBTypeId.STRUCT, DuckDBTypeId.MAP, DuckDBTypeId.UNION],
    ].map((type) => [type, { type: 'text', write: writeNested }]),
  ),
}

function writeMoment(value: NonNullable<DuckDBValue>): string | undefined {
  return writeIfMatches(value, /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(?:\.\d+)?Z?$/)
}

function writeIfMatches(value: NonNullable<DuckDBValue>, pattern: RegExp): string | undefined {
  const text = toText(value)
  return pattern.test(text) ? JSON.stringify(text) : undefined
}

function shortestSingle(value: number): string {
  for (let digits = 6; digits < 9; digits++) {
    const text = value.toPrecision(digits)
    if (Math.fround(Number(text)) === value) return String(Number(text))
  }
  return String(value)
}

/** Lists and structs become the text of their JSON. */
function writeNested(value: NonNullable<DuckDBValue>): string {
  return JSON.stringify(toJson(value))
}

/** Returns the JSON of a value, with numbers of any size. */
function toJson(value: DuckDBValue): string {
  if (value === null) return 'null'
  if (typeof value === 'boolean' || typeof value === 'bigint' || value instanceof DuckDBDecimalValue)
    return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null'
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue)
    return `[${value.items.map(toJson).join(',')}]`
  if (value instanceof DuckDBStructValue) return toObject(Object.entries(value.entries))
  if (value instanceof DuckDBMapValue)
    return toObject(value.entries.map(({ key, value: item }) => [toText(key), item]))
  if (value instanceof DuckDBUnionValue) return toJson(value.value)
  return JSON.stringify(toWellFormed(toText(value)))
}

/** Returns the text of a value. The library writes infinite dates as ordinary ones. */
function toText(value: DuckDBValue): string {
  if (value instanceof DuckDBDateValue && !value.isFinite) return value.days > 0 ? 'infinity' : '-infinity'
  return String(value)
}

function toObject(entries: readonly (readonly [string, DuckDBValue])[]): string {
  return `{${entries.map(([name, item]) => `${JSON.stringify(name)}:${toJson(item)}`).join(',')}}`
}

/** Replaces halves of surrogate pairs, which JSON text in UTF-8 cannot have. */
function toWellFormed(text: string): string {
  return text.toWellFormed()
}

/** Sends columns, rows and final types of a result. */
export async function streamResult(
  result: DuckDBResult,
  send: (message: QueryMessage) => Promise<void>,
): Promise<void> {
  const names = uniqueNames(result.columnNames())
  const ids = names.map((_, k) => result.columnTypeId(k))
  const formats = ids.map((id) => FORMATS[id] ?? TEXT)
  const types = formats.map(({ type }) => type)
  await send({ columns: names.map((name, k) => ({ name, type: types[k] })) })
  let texts: string[] = names.map(() => '')
  let rows = 0
  const flush = async (): Promise<void> => {
    if (rows > 0) await send({ rows, texts: texts.map((text) => Buffer.from(text)) })
    texts = names.map(() => '')
    rows = 0
  }
  for await (const chunk of result) {
    for (const [k, format] of formats.entries()) {
      let text = texts[k]
      for (const value of chunk.getColumnValues(k)) {
        const written = value === null ? 'null' : format.write(value)
        if (written === undefined) types[k] = 'text'
        const json = written ?? JSON.stringify(toText(value))
        if (json.length > MAX_VALUE_CHARACTERS)
          throw new Error(`a value in ${names[k]} is longer than ${MAX_VALUE_CHARACTERS} characters`)
        text += `${json},`
      }
      texts[k] = text
    }
    rows += chunk.rowCount
    const size = texts.reduce((sum, { length }) => sum + length, 0)
    if (rows >= MESSAGE_ROWS || size >= MESSAGE_CHARACTERS) await flush()
  }
  await flush()
  await send({ types })
}

/** Gives columns of the same name numbers. */
function uniqueNames(names: readonly string[]): string[] {
  const used = new Set<string>()
  return names.map((name) => takeUniqueName(name, used))
}
