// Options of commands that take a query in SQL.
import { readFileSync } from 'node:fs'
import { Problem } from '../../contract/errors.ts'
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
  if (text !== undefined) return text
  try {
    return readFileSync(file === '-' ? 0 : file!, 'utf8')
  } catch {
    throw new Problem('no_such_file', `cannot read ${file}`)
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
