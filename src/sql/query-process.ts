// Query process: runs one query on the tables that its parent names, and ends. It has no secrets and no network, and
// can read no files but those of its tables. Its parent limits time and memory.
import {
  type DuckDBConnection,
  DuckDBInstance,
  type DuckDBPreparedStatement,
  StatementType,
} from '@duckdb/node-api'
import { errorMessageOf } from '../contract/errors.ts'
import { bindParameters } from './bind-parameters.ts'
import { describeError, namesNoColumn } from './describe-error.ts'
import { describeCount, findNames } from './find-names.ts'
import type { EmptyTable, QueryMessage, QuerySettings, QueryTables, QueryText } from './messages.ts'
import { openTable, readsMissingColumn } from './open-table.ts'
import { quoteName, quoteText } from './quote.ts'
import { streamResult } from './result-json.ts'

const settings: QuerySettings = JSON.parse(process.argv[2])

/** Whether files lack columns that the query does not name. */
let isPartial = false

/** Messages that have not been taken. */
const received: unknown[] = []
let wake: (() => void) | undefined
process.on('message', (message) => {
  received.push(message)
  wake?.()
})
// `exit` would wait for the query.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))

/** Waits for the next message of the parent. */
async function receive<T>(): Promise<T> {
  while (received.length === 0)
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  return received.shift() as T
}

/** Sends a message. Resolves when it is written, so that results do not pile up. */
function send(message: QueryMessage): Promise<void> {
  return new Promise((resolve) => process.send!(message, () => resolve()))
}

/** Settings of DuckDB that a query must not change. */
const CONFIGURATION = {
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
  allow_unsigned_extensions: 'false',
  preserve_insertion_order: 'true',
  threads: '2',
}

/** Makes the tables visible under the names of the query. Returns false if they must be opened afresh. */
async function openTables(connection: DuckDBConnection, { tables }: QueryTables): Promise<boolean> {
  for (const one of tables) {
    const { table } = one
    if ('path' in one && one.storedColumns < one.columns.length) isPartial = true
    const source = 'path' in one ? await openTable(connection, one) : formatEmptyTable(one)
    if (source === undefined) return false
    if (table.schema !== '') await connection.run(`CREATE SCHEMA IF NOT EXISTS ${quoteName(table.schema)}`)
    const name = [table.schema, table.name].filter((part) => part !== '').map(quoteName)
    await connection.run(`CREATE VIEW ${name.join('.')} AS ${source}`)
  }
  return true
}

function formatEmptyTable({ columns }: EmptyTable): string {
  const list = columns.map(({ name, type }) => `NULL::${type} AS ${quoteName(name)}`)
  return `SELECT ${list.join(', ')} LIMIT 0`
}

/** Limits memory and temporary files. */
async function limit(connection: DuckDBConnection): Promise<void> {
  const { folder, memoryBytes, temporaryBytes } = settings
  await connection.run(`SET temp_directory = ${quoteText(folder)}`)
  await connection.run(`SET max_temp_directory_size = '${temporaryBytes} bytes'`)
  await connection.run(`SET memory_limit = '${memoryBytes} bytes'`)
  await connection.run("SET TimeZone = 'UTC'")
}

/** Forbids access to other files than those of the tables, and changes of the settings. */
async function lock(connection: DuckDBConnection, { tables }: QueryTables): Promise<void> {
  const paths = tables.flatMap((one) => ('path' in one ? [one.path, one.rest?.path ?? one.path] : []))
  await connection.run(`SET allowed_paths = [${paths.map(quoteText).join(', ')}]`)
  await connection.run('SET enable_external_access = false')
  await connection.run('SET lock_configuration = true')
}

/** Prepares the only statement of a query. Throws unless it reads. */
async function prepare(connection: DuckDBConnection, sql: string): Promise<DuckDBPreparedStatement> {
  const statements = await connection.extractStatements(sql)
  if (statements.count !== 1) throw new Error(describeCount(statements.count))
  const statement = await statements.prepare(0)
  if (statement.statementType !== StatementType.SELECT) throw new Error('a query reads: SELECT, FROM or WITH')
  return statement
}

/** Prepares or runs a query. Its errors name the line of the query; those of other statements do not. */
async function withLines<T>(connection: DuckDBConnection, sql: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const message = errorMessageOf(error)
    const columns = namesNoColumn(message) ? await listColumns(connection) : []
    throw new Error(describeError(message, sql, columns), { cause: error })
  }
}

/** Lists the names of all columns of the tables. */
async function listColumns(connection: DuckDBConnection): Promise<string[]> {
  const result = await connection.run(
    'SELECT column_name FROM duckdb_columns() WHERE NOT internal ORDER BY table_oid, column_index',
  )
  return [...new Set((await result.getRows()).map(([name]) => String(name)))]
}

/** Returns the code of an error of DuckDB. */
function codeOf(message: string): 'invalid_query' | 'unknown_column' | 'too_large' {
  if (/out of memory|could not allocate/i.test(message)) return 'too_large'
  return namesNoColumn(message) ? 'unknown_column' : 'invalid_query'
}

async function runQuery(): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:', CONFIGURATION)
  const connection = await instance.connect()
  const { sql, parameters, isRepeatable } = await receive<QueryText>()
  await send(await findNames(connection, sql))
  await limit(connection)
  const tables = await receive<QueryTables>()
  const isLoaded = await openTables(connection, tables)
  if (isRepeatable) await connection.run('SET threads = 1')
  await lock(connection, tables)
  await send({ isLoaded })
  if (!isLoaded) return
  const statement = await withLines(connection, sql, () => prepare(connection, sql))
  await bindParameters(connection, statement, parameters)
  await withLines(connection, sql, async () => streamResult(await statement.stream(), send))
}

runQuery()
  .catch((error) => {
    const message = errorMessageOf(error)
    if (isPartial && readsMissingColumn(message)) return send({ isLoaded: false })
    return send({
      refused: describeError(message),
      code: codeOf(errorMessageOf(error.cause ?? error)),
    })
  })
  .finally(() => process.disconnect())
