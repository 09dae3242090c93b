// Opens tables in Parquet files: as queries for their rows, with the types of their values.
import { rmSync } from 'node:fs'
import type { DuckDBConnection } from '@duckdb/node-api'
import type { ColumnStorage, StoredTable, TableColumn } from './messages.ts'
import { quoteName, quoteText } from './quote.ts'

/** SQL type of the values of each storage; undefined: that of the type of the column. */
const TYPES: Record<ColumnStorage, string | undefined> = {
  integer: 'BIGINT',
  digits: 'HUGEINT',
  double: 'DOUBLE',
  boolean: 'BOOLEAN',
  day: 'DATE',
  localTime: 'TIMESTAMP',
  utcTime: 'TIMESTAMPTZ',
  text: 'VARCHAR',
  empty: undefined,
}

/** SQL type of a column without values. */
const TYPES_OF_NOTHING: Record<TableColumn['type'], string> = {
  number: 'BIGINT',
  text: 'VARCHAR',
  boolean: 'BOOLEAN',
  date: 'DATE',
  datetime: 'TIMESTAMP',
}

/** Storages of numbers: a column with numbers of two of them has the type of the later one. */
const NUMBERS: readonly ColumnStorage[] = ['integer', 'digits', 'double']

/**
 * Returns the query for all rows of a table; undefined if only one file of all rows has the same types and values, or
 * if the file cannot be read. Such a file is deleted.
 */
export async function openTable(
  connection: DuckDBConnection,
  { path, columns, storedColumns, rest }: StoredTable,
): Promise<string | undefined> {
  let stored: string[]
  try {
    stored = await listColumns(connection, path)
    if (stored.length !== storedColumns) throw new Error('another number of columns')
  } catch {
    rmSync(path, { force: true })
    return undefined
  }
  const storages = stored.map((name) => name.replace(POSITION, '') as ColumnStorage)
  if (!rest) return formatSelect(path, columns, stored, storages)
  const common = storages.map((storage, k) => findCommonStorage(storage, rest.storages[k]))
  if (!common.every((storage) => storage !== undefined)) return undefined
  const following = await listColumns(connection, rest.path)
  return [
    formatSelect(path, columns, stored, common),
    formatSelect(rest.path, columns, following, common),
  ].join(' UNION ALL ')
}

async function listColumns(connection: DuckDBConnection, path: string): Promise<string[]> {
  const described = await connection.run(`DESCRIBE FROM ${formatFile(path)}`)
  return (await described.getRows()).map(([name]) => String(name))
}

/** Digits at the end of the name of a column in a file. */
const POSITION = /\d+$/

/** Error of a query that reads a column that the file lacks. */
const MISSING_COLUMN = 'gridline: this column is not in the file'

/** Returns whether an error is about a column that the file lacks. */
export function readsMissingColumn(message: string): boolean {
  return message.includes(MISSING_COLUMN)
}

/**
 * Formats the query for a file: each of its columns as the type of a storage, by the name of the column. Columns that
 * the file lacks are there by name, but reading one is an error.
 */
function formatSelect(
  path: string,
  columns: readonly TableColumn[],
  stored: readonly string[],
  storages: readonly ColumnStorage[],
): string {
  const byPosition = new Map(stored.map((name, k) => [Number(POSITION.exec(name)?.[0]), k]))
  // One expression for all columns of a type: binding 10,000 takes half a second.
  const missing = new Map<string, string>()
  const list = columns.map(({ name, type }, position) => {
    const k = byPosition.get(position)
    if (k !== undefined)
      return `CAST(${quoteName(stored[k])} AS ${TYPES[storages[k]] ?? TYPES_OF_NOTHING[type]}) AS ${quoteName(name)}`
    missing.set(
      type,
      `CAST(error(${quoteText(MISSING_COLUMN)}) AS ${TYPES_OF_NOTHING[type]}) AS missing_${type}`,
    )
    return `missing_${type} AS ${quoteName(name)}`
  })
  const from =
    missing.size > 0
      ? `(SELECT *, ${[...missing.values()].join(', ')} FROM ${formatFile(path)})`
      : formatFile(path)
  return `SELECT ${list.join(', ')} FROM ${from}`
}

/** A folder `year=2024` in the path would be a column of all files in it. */
function formatFile(path: string): string {
  return `read_parquet(${quoteText(path)}, hive_partitioning = false)`
}

/** Returns the storage of the values of both; undefined if there is none with the same values. */
function findCommonStorage(before: ColumnStorage, after: ColumnStorage): ColumnStorage | undefined {
  if (after === 'empty' || before === after || before === 'text') return before
  if (before === 'empty') return after
  const [from, to] = [NUMBERS.indexOf(before), NUMBERS.indexOf(after)]
  return from < 0 || to < 0 ? undefined : NUMBERS[Math.max(from, to)]
}
