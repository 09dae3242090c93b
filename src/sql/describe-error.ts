// Describes errors of DuckDB: what is wrong, and in which line of the query.

/** Number of functions that an error names as candidates; more are left out. */
const MAX_CANDIDATES = 5

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
  return line === undefined ? text : withLine(text, Number(line), sql)
}

/** Returns a message with the line of a position in a query, in bytes. */
export function describeAt(message: string, sql: string, position: number): string {
  const before = Buffer.from(sql).subarray(0, position).toString('utf8')
  return withLine(message.replace(/\s*\n\s*/g, ' '), before.split('\n').length, sql)
}

function withLine(message: string, line: number, sql: string): string {
  return sql.trimEnd().includes('\n') ? `line ${line}: ${message}` : message
}
