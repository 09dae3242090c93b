// Parses and formats the column names in chart options.
import { matchesWildcard } from '../../contract/wildcard.ts'

/**
 * Returns the column names in an option, split at commas. Names with commas are quoted as in CSV, or are in
 * `known`: `Revenue, net,Cost` is two names if the grid has a column `Revenue, net`. `temp_*` expands to the
 * known names with that prefix, `2019-2023` to the known names from one to the other.
 */
export function parseColumnNames(input: string | readonly string[], known: readonly string[] = []): string[] {
  const texts = typeof input === 'string' ? [input] : input
  return texts
    .flatMap((text) => splitColumnNames(text, new Set(known)))
    .flatMap((name) => expandColumnName(name, known))
}

/** Returns the known names that a pattern (`temp_*`) or range (`2019-2023`) matches, else the name itself. */
function expandColumnName(name: string, known: readonly string[]): readonly string[] {
  if (known.includes(name)) return [name]
  if (name.includes('*')) {
    const matches = known.filter((candidate) => matchesWildcard(name, candidate))
    return matches.length > 0 ? matches : [name]
  }
  for (let at = name.indexOf('-'); at > 0; at = name.indexOf('-', at + 1)) {
    const [from, to] = [name.slice(0, at), name.slice(at + 1)].map((end) => known.indexOf(end.trim()))
    if (from >= 0 && to >= from) return known.slice(from, to + 1)
  }
  return [name]
}

/** Splits at commas, outside quotes. A known name with commas stays whole. */
function splitColumnNames(text: string, known: ReadonlySet<string>): string[] {
  if (known.has(text)) return [text]
  const parts = [...text.matchAll(/\s*"((?:[^"]|"")*)"\s*(?:,|$)|([^,]*)(?:,|$)/g)]
    .filter(([whole, , plain]) => whole !== '' || plain === undefined)
    .map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain)
  if (text.endsWith(',') === false && parts.at(-1) === '' && parts.length > 1) parts.pop()
  const names: string[] = []
  for (let k = 0; k < parts.length; ) {
    let end = k + 1
    // Prefer the longest known name.
    for (let to = parts.length; to > k + 1; to--)
      if (known.has(parts.slice(k, to).join(',').trim())) {
        end = to
        break
      }
    names.push(known.has(parts[k]) && end === k + 1 ? parts[k] : parts.slice(k, end).join(',').trim())
    k = end
  }
  return names
}

/** Value of --x that puts the names of the --y columns on the x axis. */
export const COLUMN_NAMES_AXIS = 'columns'

/** Returns the type of a column for display. The API type `json` is shown as `mixed`. */
export function formatColumnType(type: string): string {
  if (type === 'json') return 'mixed'
  return type === 'datetime-zone' ? 'datetime' : type
}

/** Returns whether the values of a column are labels: text or booleans. */
export function hasLabels(column: { type?: string } | undefined): boolean {
  return column?.type === 'text' || column?.type === 'boolean'
}

/** Returns a name as one item of a comma-separated list, quoted if necessary. */
export function quoteColumnName(name: string): string {
  return /[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name
}

/** Returns why texts are not read as numbers, such as `decimal commas`; undefined if they are no numbers. */
export function detectNumberStyle(values: readonly unknown[]): string | undefined {
  const texts = values.filter((value) => typeof value === 'string').map((text) => text.trim())
  const matchesAny = (pattern: RegExp): boolean => texts.some((text) => pattern.test(text))
  if (matchesAny(/^[-+]?[\d. ]*\d,\d+$/)) return 'decimal commas'
  if (matchesAny(/^[-+]?\d{1,3}([,' \u00a0\u202f]\d{3})+(\.\d+)?$/)) return 'thousands separators'
  if (matchesAny(/^[-+]?\.\d+$/)) return 'no digit before the point'
  if (matchesAny(/[$€£¥₹]|\b(USD|EUR|GBP|CHF|JPY)\b/)) return 'currency'
  if (matchesAny(/^[-+]?[\d.,]+\s*%$/)) return 'percent signs'
  return undefined
}

/** Minimum number of year columns. */
const MIN_YEAR_COLUMNS = 3

/** Returns the names that are years, such as `2019`; empty if there are fewer than three. */
export function filterYearNames(names: readonly string[]): readonly string[] {
  const years = names.filter((name) => /^(?:1[5-9]|20)\d\d$/.test(name))
  return years.length < MIN_YEAR_COLUMNS ? [] : years
}
