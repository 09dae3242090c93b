// Describes errors of DuckDB: what is wrong, and in which line of the query.

import { findClosest, formatList } from '../contract/message-texts.ts'

/** Length up to which an error quotes the query, in characters: a text without an end is the rest of it. */
const QUOTED_CHARACTERS = 30

/** Keywords that a wrong word is compared with. */
const KEYWORDS =
  'SELECT FROM WHERE GROUP ORDER BY HAVING LIMIT JOIN LEFT INNER USING WITH UNION DISTINCT BETWEEN WHEN THEN ELSE OVER PARTITION'.split(
    ' ',
  )

/** Words that are no part of a name, though nobody means them by another. */
const OTHER_KEYWORDS: ReadonlySet<string> = new Set([
  ...KEYWORDS,
  ...'AND AS ASC AT CASE CAST CROSS DESC ELSE END EXCEPT FULL IN INTERVAL IS LIKE NOT NULL OFFSET ON OR OUTER RIGHT TIME VALUES ZONE'.split(
    ' ',
  ),
])

/** Types in messages, in words. */
const TYPE_WORDS: Readonly<Record<string, string>> = {
  VARCHAR: 'text',
  STRING_LITERAL: 'text',
  DOUBLE: 'number',
  BIGINT: 'number',
  INTEGER: 'number',
  INTEGER_LITERAL: 'number',
  DECIMAL: 'number',
}

/** A function, or an operator, that does not take values of these types. */
const WRONG_TYPES =
  /^(?:No function matches the given name and argument types|Could not choose a best candidate function for the function call) ['"](\S+?)\((.*?)\)['"]\..*/s

/** A query whose error is described. */
interface FailedQuery {
  sql: string
  /** Columns that it can read. */
  columns: readonly string[]
}

/** Messages that do not say what to do, and better ones. */
const REWRITES: readonly [RegExp, (query: FailedQuery, ...parts: string[]) => string][] = [
  [
    /^Referenced column "(.*?)" not found in FROM clause!(?: Candidate bindings: .*)?$/s,
    (query, _, name) => {
      const text = isMeantAsText(query.sql, name) ? `; a text is in single quotes: '${name}'` : ''
      return describeUnknown(query, `no column is named "${name}"`, name, text)
    },
  ],
  [
    /^(?:Table|Values list) "(.*?)" does not have a column named "(.*?)"(?: Candidate bindings: .*)?$/s,
    (query, _, table, name) => describeUnknown(query, `"${table}" has no column "${name}"`, name),
  ],
  [
    /^(?:Scalar |Aggregate |Table )?Function with name (\S+?) does not exist!(?: Did you mean "(.*?)"\?)?$/s,
    (_query, _, name, similar) =>
      `no function is named ${name}${similar === undefined ? '' : `. Did you mean ${similar}?`}`,
  ],
  [WRONG_TYPES, (_query, _, name, types) => describeWrongTypes(name, types)],
  [
    /^(?:Unimplemented type for cast \((?:INTEGER|BIGINT|DOUBLE) -> (?:DATE|TIMESTAMP)\)|Cannot compare values of type (?:DATE|TIMESTAMP) and type INTEGER).*/s,
    () => "a number is used as a date; a date is in single quotes: '2026-03-01'",
  ],
  [/^syntax error at or near "[:{}]"$/, (_, text) => `${text}; a parameter is written $name`],
  [/(?<= at or near ")([^"]*)(?="$)/s, (_, text) => shorten(text)],
]

/** Functions of columns of numbers. */
const OF_NUMBERS: ReadonlySet<string> = new Set(
  'sum avg mean median stddev variance var_samp corr'.split(' '),
)
const AMOUNT_HINT =
  '; a text such as 1.5 is made a number by ::DOUBLE, a column of amounts such as €1.50 by: gridline upload FILE --column NAME:number'

/** Describes which types a function does not take, and how others are made of text. */
function describeWrongTypes(name: string, types: string): string {
  const words = types.replaceAll(/[A-Z_]+/g, (type) => TYPE_WORDS[type] ?? type.toLowerCase())
  const ofNumbers = OF_NUMBERS.has(name)
    ? AMOUNT_HINT
    : '; a text is made a date by ::DATE, a number by ::DOUBLE'
  const hint = /VARCHAR/.test(types) ? ofNumbers : ''
  return `${name} does not take (${words})${hint}`
}

/** Returns whether a name that is no column is probably a text: in double quotes, or compared with a column. */
function isMeantAsText(sql: string, name: string): boolean {
  if (sql.includes(`"${name}"`)) return true
  return /^\w+$/.test(name) && new RegExp(`(?:[=<>]|\\blike|\\bin\\s*\\()\\s*${name}\\b`, 'i').test(sql)
}

/** Returns whether a message is about an unknown column. */
export function namesNoColumn(message: string): boolean {
  return /does not have a column named|^(?:\w+ )*Error: Referenced column/.test(message)
}

/** Number of columns that an error names. */
const MAX_NAMED_COLUMNS = 30

/** Describes an unknown column: with a similar one, or the columns that there are. */
function describeUnknown({ columns }: FailedQuery, message: string, name: string, otherwise = ''): string {
  const closest = findClosest(name, columns)
  if (closest !== undefined) return `${message}. Did you mean ${closest}?`
  const list = columns.length === 0 ? '' : `. Columns: ${formatList(columns, MAX_NAMED_COLUMNS)}`
  return message + otherwise + list
}

function shorten(text: string): string {
  return text.length > QUOTED_CHARACTERS ? `${text.slice(0, QUOTED_CHARACTERS - 1)}…` : text
}

/**
 * Returns the message of an error as one paragraph. `sql`: a query with several lines, whose line is named; `columns`:
 * those that the query can read.
 */
export function describeError(message: string, sql = '', columns: readonly string[] = []): string {
  const line = /\n+LINE (\d+):/.exec(message)?.[1]
  const text = message
    .replace(/\n+(?:LINE \d+:|Possible solutions:)[\s\S]*$/, '')
    .replace(/^(?:Failed to \w+[^:]*: )?(?:\w+ )*Error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .trim()
  const described = rewrite(text, { sql, columns })
  return line === undefined ? described : withLine(described, Number(line), sql)
}

/** Returns a message with the line of a position in a query, in bytes. */
export function describeAt(message: string, sql: string, position: number): string {
  const described = rewrite(message.replace(/\s*\n\s*/g, ' '), { sql, columns: [] }) + hintAt(sql, position)
  return withLine(described, lineAt(sql, position), sql)
}

/** Returns what a query probably means where it cannot be read: a path in quotes, or a keyword. */
function hintAt(sql: string, position: number): string {
  const bytes = Buffer.from(sql)
  const [before, after] = [bytes.subarray(0, position), bytes.subarray(position)].map(String)
  const [folder = ''] = /[\w.-]+$/.exec(before) ?? []
  const [path] = /^[\w.-]+(?:\/[\w.-]+)+/.exec(folder + after) ?? []
  if (path !== undefined) return `; write a path as "${path}", in double quotes`
  const words = [/^\w+/.exec(after), /\w+(?=\s*$)/.exec(before)].map(
    (match) => match?.[0].toUpperCase() ?? '',
  )
  const meant = words.flatMap((word) => (KEYWORDS.includes(word) ? [] : (findClosest(word, KEYWORDS) ?? [])))
  if (meant.length > 0) return `. Did you mean ${meant[0]}?`
  const [second, first] = words
  const areNames = first !== second && !words.some((word) => word === '' || OTHER_KEYWORDS.has(word))
  const [name] = /\w+\s+$/.exec(before) ?? []
  return areNames && name
    ? `; a name with a space is in double quotes: "${name.trim()} ${/^\w+/.exec(after)}"`
    : ''
}

function rewrite(message: string, query: FailedQuery): string {
  return REWRITES.reduce(
    (text, [pattern, to]) => text.replace(pattern, (...parts: string[]) => to(query, ...parts)),
    message,
  )
}

/** Returns the line of a position in a query, in bytes. */
export function lineAt(sql: string, position: number): number {
  return Buffer.from(sql).subarray(0, position).toString('utf8').split('\n').length
}

function withLine(message: string, line: number, sql: string): string {
  return sql.trimEnd().includes('\n') ? `line ${line}: ${message}` : message
}
