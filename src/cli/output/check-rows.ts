/** Rows that break rules, as lines of text. */
import type { CheckResult, FailedRow } from '../../contract/resources/index.ts'

/** The longest value that is shown. */
const WIDEST_CHARACTERS = 60

/** `email: matches .+@.+`. */
export function titleOf({ column, expected }: Pick<CheckResult, 'column' | 'expected'>): string {
  return column === null ? expected : `${column}: ${expected}`
}

/** `    line 4   "foo"`, for the rows that a result lists. */
export function rowLines({ rows, count }: Pick<CheckResult, 'rows' | 'count'>): string[] {
  const places = rows.map(placeOf)
  const width = Math.max(0, ...places.map((place) => place.length))
  const lines = rows.map((row, k) => `    ${places[k].padEnd(width)}  ${valueText(row)}`)
  const more = (count ?? 0) - rows.length
  return rows.length > 0 && more > 0 ? [...lines, `    … and ${more} more`] : lines
}

/** `line 4`, or `row 3` where there are no lines. */
export function placeOf({ line, row }: Pick<FailedRow, 'row' | 'line'>): string {
  return line === null ? `row ${row}` : `line ${line}`
}

export function valueText({ value, same_as }: FailedRow): string {
  const text = JSON.stringify(value) ?? ''
  const short = text.length > WIDEST_CHARACTERS ? `${text.slice(0, WIDEST_CHARACTERS - 1)}…` : text
  return same_as === undefined ? short : `${short}, as in ${placeOf(same_as)}`
}
