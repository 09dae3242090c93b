// Turns the result of a query into the JSON of its columns.
import {
  type DuckDBDataChunk,
  type DuckDBResult,
  DuckDBTypeId,
  type DuckDBValue,
  JsonDuckDBValueConverter,
} from '@duckdb/node-api'
import type { QueryMessage, ResultColumn } from './messages.ts'

/** Number of rows in a message. */
const MESSAGE_ROWS = 16_384

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
const TEXT: ValueFormat = { type: 'text', write: (value) => JSON.stringify(toWellFormed(String(value))) }

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
  const text = String(value)
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
  return JSON.stringify(JSON.stringify(value))
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
  const names = result.deduplicatedColumnNames()
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
      for (const value of valuesOf(chunk, k, ids[k])) {
        const written = value === null ? 'null' : format.write(value)
        if (written === undefined) types[k] = 'text'
        text += `${written ?? JSON.stringify(String(value))},`
      }
      texts[k] = text
    }
    rows += chunk.rowCount
    if (rows >= MESSAGE_ROWS) await flush()
  }
  await flush()
  await send({ types })
}

function valuesOf(chunk: DuckDBDataChunk, column: number, id: DuckDBTypeId): readonly DuckDBValue[] {
  return FORMATS[id]?.write === writeNested
    ? (chunk.convertColumnValues(column, JsonDuckDBValueConverter) as DuckDBValue[])
    : chunk.getColumnValues(column)
}
