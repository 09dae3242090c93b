// Describes errors of DuckDB: what is wrong, and in which line of the query.

import { findClosest } from '../contract/message-texts.ts'

/** Number of functions that an error names as candidates; more are left out. */
const MAX_CANDIDATES = 5

/** Length up to which an error quotes the query, in characters: a text without an end is the rest of it. */
const QUOTED_CHARACTERS = 30

/** Messages that do not say what to do, and better ones. */
const REWRITES: readonly [RegExp, (...parts: string[]) => string][] = [
  [
    /^Referenced column "(.*?)" not found in FROM clause!(?: Candidate bindings: (.*))?$/s,
    (_, name, candidates) =>
      describeUnknown(
        `no column is named "${name}"`,
        name,
        candidates,
        `; a text is in single quotes: '${name}'`,
      ),
  ],
  [
    /^(?:Table|Values list) "(.*?)" does not have a column named "(.*?)"(?: Candidate bindings: : (.*))?$/s,
    (_, table, name, candidates) => describeUnknown(`"${table}" has no column "${name}"`, name, candidates),
  ],
  [
    /^(?:Unimplemented type for cast \((?:INTEGER|BIGINT|DOUBLE) -> (?:DATE|TIMESTAMP)\)|Cannot compare values of type (?:DATE|TIMESTAMP) and type INTEGER).*/s,
    () => "a number is used as a date; a date is in single quotes: '2026-03-01'",
  ],
  [/^syntax error at or near "[:{}]"$/, (text) => `${text}; a parameter is written $name`],
  [/(?<= at or near ")(.*)(?="$)/s, (text) => shorten(text)],
]

/** Describes an unknown column, with a similar one of the candidates, which are in double quotes. */
function describeUnknown(message: string, name: string, candidates = '', otherwise = ''): string {
  const closest = findClosest(
    name,
    [...candidates.matchAll(/"((?:[^"]|"")*)"/g)].map(([, column]) => column),
  )
  return closest === undefined ? message + otherwise : `${message}. Did you mean ${closest}?`
}

function shorten(text: string): string {
  return text.length > QUOTED_CHARACTERS ? `${text.slice(0, QUOTED_CHARACTERS - 1)}…` : text
}

/** Returns the message of an error as one paragraph. `sql`: a query with several lines, whose line is named. */
export function describeError(message: string, sql = ''): string {
  const line = /\n+LINE (\d+):/.exec(message)?.[1]
  const text = message
    .replace(/\n+(?:LINE \d+:|Possible solutions:)[\s\S]*$/, '')
    .replace(/^(?:Failed to \w+[^:]*: )?(?:\w+ )*Error: /, '')
    .replace(/\n\s*Candidate functions:((?:\n\t.*)+)/, (all, list: string) =>
      list.split('\n').length - 1 > MAX_CANDIDATES ? '' : all,
    )
    .replace(/\s*\n\s*/g, ' ')
    .trim()
  const described = rewrite(text)
  return line === undefined ? described : withLine(described, Number(line), sql)
}

/** Returns a message with the line of a position in a query, in bytes. */
export function describeAt(message: string, sql: string, position: number): string {
  return withLine(rewrite(message.replace(/\s*\n\s*/g, ' ')), lineAt(sql, position), sql)
}

function rewrite(message: string): string {
  return REWRITES.reduce((text, [pattern, to]) => text.replace(pattern, to), message)
}

/** Returns the line of a position in a query, in bytes. */
export function lineAt(sql: string, position: number): number {
  return Buffer.from(sql).subarray(0, position).toString('utf8').split('\n').length
}

function withLine(message: string, line: number, sql: string): string {
  return sql.trimEnd().includes('\n') ? `line ${line}: ${message}` : message
}
