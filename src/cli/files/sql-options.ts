// Options of commands that take a query in SQL.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Problem } from '../../contract/errors.ts'
import { findClosest } from '../../contract/message-texts.ts'
import type { Option } from '../core/define.ts'

export const sqlOptions = [
  { flags: '--file <file>', description: 'read the query from this file; - for standard input' },
  {
    flags: '--param <name=value>',
    repeatable: true,
    description: 'value of a parameter, which the query names $name (repeatable)',
  },
] as const satisfies readonly Option[]

export type QueryParameters = Record<string, string | number | boolean | null>

/** Returns the query, given as text or in a file. Throws `usage`. */
export function readSql(text: string | undefined, file: string | undefined): string {
  if ((text === undefined) === (file === undefined))
    throw new Problem(
      'usage',
      text === undefined ? 'the query is missing' : 'give the query or --file, not both',
      {
        hint: "For example: gridline query 'select * from sales limit 5'",
      },
    )
  if (text !== undefined && /^\S+\.sql$/i.test(text))
    throw new Problem('usage', `${text} is not a query`, { hint: `For the query in a file: --file ${text}` })
  if (text !== undefined) return text
  try {
    return readFileSync(file === '-' ? 0 : file!, 'utf8')
  } catch {
    throw new Problem('no_such_file', existsSync(file!) ? `cannot read ${file}` : `no file ${file}`)
  }
}

/**
 * Sends a query. Its errors name the file of the query, and say that a table is a data file that is not here, or in
 * `filesHint` what to do with one that is.
 */
export async function sendSql<T>(
  send: () => Promise<T>,
  { file, filesHint }: { file: string | undefined; filesHint?: string },
): Promise<T> {
  try {
    return await send()
  } catch (error) {
    if (!(error instanceof Problem) || !SQL_ERRORS.has(error.code)) throw error
    const missing = /parameter \$(\w+) has no value/.exec(error.message)?.[1]
    const { message, hint } =
      missing === undefined
        ? ((await describeMissingFile(error.tables?.[0], filesHint)) ?? error)
        : { message: error.message, hint: `Give it with: --param ${missing}=VALUE` }
    const prefix = file === undefined || file === '-' ? '' : `${file}: `
    if (prefix === '' && message === error.message && hint === error.hint) throw error
    throw new Problem(error.code, prefix + message, { hint, tables: error.tables })
  }
}

const SQL_ERRORS: ReadonlySet<string> = new Set(['invalid_query', 'unknown_table', 'unknown_column'])

/** Describes a table that no grid is named as: undefined unless it is named like a data file. */
async function describeMissingFile(
  table: string | undefined,
  filesHint: string | undefined,
): Promise<{ message: string; hint: string | undefined } | undefined> {
  if (table === undefined) return undefined
  const { isDataFile } = await import('../../ingest/index.ts')
  if (!isDataFile(table)) return undefined
  if (existsSync(table) && filesHint !== undefined)
    return { message: `${table} is a file, not a grid`, hint: filesHint }
  if (existsSync(table))
    return { message: `${table} is a file`, hint: `Name it in single quotes: '${table}'` }
  const folder = dirname(table)
  const isFolder = existsSync(folder) && statSync(folder).isDirectory()
  const files = isFolder ? readdirSync(folder).filter(isDataFile) : []
  const closest = findClosest(table, folder === '.' ? files : files.map((name) => join(folder, name)))
  return {
    message: `no grid and no file is named ${table}`,
    hint: closest === undefined ? undefined : `Did you mean ${closest}?`,
  }
}

/** Parses `name=value`: numbers, true, false and null have these types, everything else is text. */
export function parseParameters(given: readonly string[]): QueryParameters {
  const parameters: QueryParameters = {}
  for (const text of given) {
    const [, name, value] = /^\$?(\w+)=(.*)$/s.exec(text) ?? []
    if (name === undefined)
      throw new Problem('usage', `--param ${text}: expected NAME=VALUE`, {
        hint: 'For example: --param day=2024-06-01',
      })
    parameters[name] = isExactLiteral(value) ? JSON.parse(value) : value
  }
  return parameters
}

/** Returns whether a text is true, false, null, or a number that JSON keeps exactly. */
function isExactLiteral(text: string): boolean {
  return /^(?:true|false|null|-?(?:0|[1-9]\d{0,14})(?:\.\d{1,10})?)$/.test(text)
}
