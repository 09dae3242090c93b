/** Formats rows that fail checks. */
import type { CheckResult, FailedRow } from '../../contract/resources/index.ts'

/** Maximum length of a printed value. */
const MAX_VALUE_CHARACTERS = 60

/** Returns the title of a rule: `email: matches .+@.+`. */
export function ruleTitle({ column, expected }: Pick<CheckResult, 'column' | 'expected'>): string {
  return column === null ? expected : `${column}: ${expected}`
}

/** Formats the failed rows of a rule: `    line 4   "foo"`. */
export function formatFailedRows({ rows, count }: Pick<CheckResult, 'rows' | 'count'>): string[] {
  const locations = rows.map(rowLocation)
  const width = Math.max(0, ...locations.map((location) => location.length))
  const lines = rows.map((row, k) => `    ${locations[k].padEnd(width)}  ${formatFailedValue(row)}`)
  const more = (count ?? 0) - rows.length
  return rows.length > 0 && more > 0 ? [...lines, `    … and ${more} more`] : lines
}

/** Returns `line 4`, or `row 3` for data without lines. */
export function rowLocation({ line, row }: Pick<FailedRow, 'row' | 'line'>): string {
  return line === null ? `row ${row}` : `line ${line}`
}

/** Formats a failed value, and the row of which it is a duplicate. */
export function formatFailedValue({ value, same_as, line }: FailedRow): string {
  const text = JSON.stringify(value) ?? ''
  const short = text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS - 1)}…` : text
  if (same_as === undefined) return short
  // A row of the file may be a duplicate of one that the grid already has.
  const place = line !== null && same_as.line === null ? ' of the grid' : ''
  return `${short}, as in ${rowLocation(same_as)}${place}`
}
