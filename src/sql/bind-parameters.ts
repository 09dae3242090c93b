// Binds the parameters of a query.
import {
  type DuckDBConnection,
  type DuckDBPreparedStatement,
  DuckDBTypeId,
  type DuckDBValue,
} from '@duckdb/node-api'
import { formatList } from '../contract/message-texts.ts'
import type { QueryParameter } from './messages.ts'

/** Types to which a text is converted, if the query needs one: a date is given as a text. */
const CONVERTED: Partial<Record<DuckDBTypeId, string>> = {
  [DuckDBTypeId.DATE]: 'DATE',
  [DuckDBTypeId.TIMESTAMP]: 'TIMESTAMP',
  [DuckDBTypeId.TIMESTAMP_TZ]: 'TIMESTAMPTZ',
  [DuckDBTypeId.DOUBLE]: 'DOUBLE',
  [DuckDBTypeId.BIGINT]: 'BIGINT',
  [DuckDBTypeId.HUGEINT]: 'HUGEINT',
  [DuckDBTypeId.INTEGER]: 'INTEGER',
  [DuckDBTypeId.BOOLEAN]: 'BOOLEAN',
}

/** Values of these types, for people. */
const NAMES: Readonly<Record<string, string>> = {
  DATE: 'a date, such as 2026-03-01',
  TIMESTAMP: 'a time, such as 2026-03-01 14:30',
  TIMESTAMPTZ: 'a time, such as 2026-03-01 14:30',
  BOOLEAN: 'true or false',
  DOUBLE: 'a number',
  BIGINT: 'a whole number',
  HUGEINT: 'a whole number',
  INTEGER: 'a whole number',
}

/** Binds the values of all parameters. Throws for a missing and for an unknown one. */
export async function bindParameters(
  connection: DuckDBConnection,
  statement: DuckDBPreparedStatement,
  parameters: Readonly<Record<string, QueryParameter>>,
): Promise<void> {
  const names = Array.from({ length: statement.parameterCount }, (_, k) =>
    statement.parameterName(k + 1).toLowerCase(),
  )
  // Names have no case in SQL.
  const given = new Map(Object.entries(parameters).map(([name, value]) => [name.toLowerCase(), value]))
  const unknown = Object.keys(parameters).find((name) => !names.includes(name.toLowerCase()))
  if (unknown !== undefined) {
    const list = names.length === 0 ? 'no parameters' : formatList(names.map((name) => `$${name}`))
    throw new Error(`the query has no parameter $${unknown}; it has ${list}`)
  }
  for (const [k, name] of names.entries()) {
    const value = given.get(name)
    if (value === undefined) throw new Error(`parameter $${name} has no value`)
    const to = CONVERTED[statement.parameterTypeId(k + 1)]
    if (value === null) statement.bindNull(k + 1)
    else if (typeof value === 'boolean') statement.bindBoolean(k + 1, value)
    else if (typeof value === 'number' && !Number.isSafeInteger(value)) statement.bindDouble(k + 1, value)
    else if (typeof value === 'number') statement.bindBigInt(k + 1, BigInt(value))
    else if (to === undefined) statement.bindVarchar(k + 1, value)
    else statement.bindValue(k + 1, await convert(connection, name, value, to))
  }
}

/** Converts a text to a value of a type. Throws if it is none. */
async function convert(
  connection: DuckDBConnection,
  name: string,
  text: string,
  type: string,
): Promise<DuckDBValue> {
  const statement = await connection.prepare(`SELECT TRY_CAST($1::VARCHAR AS ${type})`)
  statement.bindVarchar(1, text)
  const [[value]] = await (await statement.run()).getRows()
  if (value === null)
    throw new Error(
      `parameter $${name}: ${JSON.stringify(text)} is not ${NAMES[type]}, which the query needs`,
    )
  return value
}
