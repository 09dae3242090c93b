// Finds what a query names: tables, and words that can be columns.
import type { DuckDBConnection } from '@duckdb/node-api'
import { describeAt, lineAt } from './describe-error.ts'
import type { QueryNames, TableName } from './messages.ts'

/** Tables that SHOW reads. */
const LISTS_OF_TABLES: ReadonlySet<string> = new Set(['"tables"', '__show_tables_expanded', '"databases"'])

/** The syntax tree of a query, or an error. */
interface SyntaxTree {
  error: boolean
  error_message?: string
  /** Where the error is, in bytes. */
  position?: string
  statements?: unknown[]
}

/** Functions in FROM that read no columns but those that they name. */
const KNOWN_TABLE_FUNCTIONS: ReadonlySet<unknown> = new Set(['range', 'generate_series', 'unnest'])

/** Maximum number of words of a query, beyond which they are not told. */
const MAX_WORDS = 2000

/**
 * Returns the tables and words of a query. Tables that it also defines (WITH) are marked. Throws for a query that cannot
 * be parsed, that is not one statement, or that does more than read.
 */
export async function findNames(connection: DuckDBConnection, sql: string): Promise<QueryNames> {
  const statement = await connection.prepare('SELECT json_serialize_sql($1::VARCHAR)::VARCHAR')
  statement.bindVarchar(1, sql)
  const [[json]] = await (await statement.run()).getRows()
  // DuckDB writes infinite constants as JSON cannot.
  const tree: SyntaxTree = JSON.parse(String(json).replace(/(?<!\\)":-?Infinity(?=[,}\]])/g, '":null'))
  if (tree.error) {
    const message = tree.error_message ?? 'the query cannot be parsed'
    // PIVOT of a whole table is two statements; in FROM, it is one.
    if (/Only SELECT statements/.test(message))
      throw new Error(
        /^\s*pivot\b/i.test(sql)
          ? "PIVOT needs its values here: SELECT * FROM (PIVOT t ON city IN ('Oslo', 'Rome') USING sum(temp))"
          : 'a query reads: SELECT, FROM or WITH',
      )
    throw new Error(tree.position === undefined ? message : describeAt(message, sql, Number(tree.position)))
  }
  const count = tree.statements?.length ?? 0
  if (count !== 1) throw new Error(describeCount(count))
  const defined = new Set<string>()
  const found = new Map<string, TableName>()
  const hasLines = sql.trimEnd().includes('\n')
  visit(tree.statements, (node) => {
    const { type, schema_name, table_name, cte_map, query_location } = node as Record<string, unknown>
    if (type === 'SHOW_REF' && /^\s*show\b/i.test(sql) && LISTS_OF_TABLES.has(String(table_name)))
      throw new Error('a query has the tables that it names; list your grids with: gridline ls')
    if (type === 'BASE_TABLE') {
      const table: TableName = { schema: String(schema_name ?? ''), name: String(table_name) }
      if (hasLines) table.line = lineAt(sql, Number(query_location))
      const key = JSON.stringify([table.schema, table.name])
      if (!found.has(key)) found.set(key, table)
    }
    const map = (cte_map as { map?: { key: string }[] } | undefined)?.map ?? []
    for (const { key } of map) defined.add(key.toLowerCase())
  })
  const tables = [...found.values()].map(
    (table): TableName =>
      table.schema === '' && defined.has(table.name.toLowerCase()) ? { ...table, isDefined: true } : table,
  )
  const byLowerCase = new Map<string, TableName>()
  for (const table of tables) {
    const key = JSON.stringify([table.schema, table.name]).toLowerCase()
    const other = byLowerCase.get(key)
    // SQL would take both for the same table.
    if (other && !table.isDefined)
      throw new Error(`${other.name} and ${table.name} differ only in case: name one of them by its id`)
    byLowerCase.set(key, table)
  }
  return { tables, words: findWords(tree.statements) }
}

/** Returns the words of a syntax tree in lower case; undefined if it can read columns that it does not name. */
function findWords(statements: unknown): ReadonlySet<string> | undefined {
  const words = new Set<string>()
  const names = new Set<unknown>()
  const last = new Set<string>()
  let isKnown = true
  visit(statements, (node) => {
    const fields = node as Record<string, unknown>
    for (const value of Object.values(fields).flat())
      if (typeof value === 'string') words.add(value.toLowerCase())
    const { type, ref_type, table_name, alias, column_name_alias, column_names, function: call } = fields
    // `FROM t AS u (a, b)` gives columns other names.
    if (Array.isArray(column_name_alias) && column_name_alias.length > 0) isKnown = false
    if (ref_type === 'NATURAL' || UNKNOWN_TYPES.has(type)) isKnown = false
    if (type === 'TABLE_FUNCTION')
      isKnown &&= KNOWN_TABLE_FUNCTIONS.has((call as { function_name?: unknown }).function_name)
    if (table_name !== undefined)
      for (const name of [table_name, alias]) names.add(String(name).toLowerCase())
    // `t`, `schema.t` and `catalog.schema.t` can each be the row of a table.
    if (Array.isArray(column_names)) last.add(String(column_names.at(-1)).toLowerCase())
  })
  const isRow = [...last].some((name) => names.has(name))
  return isKnown && !isRow && words.size <= MAX_WORDS ? words : undefined
}

/** Types of nodes that read columns without their names. */
const UNKNOWN_TYPES: ReadonlySet<unknown> = new Set(['STAR', 'POSITIONAL_REFERENCE', 'SHOW_REF', 'PIVOT'])

/** Describes a query that is not one statement. */
export function describeCount(statements: number): string {
  return statements === 0 ? 'the query is empty' : `a query is one statement, not ${statements}`
}

/** Calls a function for each object in a value. */
function visit(value: unknown, call: (node: object) => void): void {
  const pending = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    if (typeof next !== 'object' || next === null) continue
    if (!Array.isArray(next)) call(next)
    for (const member of Object.values(next)) pending.push(member)
  }
}
