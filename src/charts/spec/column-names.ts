// Parses and formats the column names in chart options.

/** Splits column names at commas, outside quotes. */
export function splitAtCommas(text: string): string[] {
  const parts = [...text.matchAll(/\s*"((?:[^"]|"")*)"\s*(?:,|$)|([^,]*)(?:,|$)/g)]
    .filter(([whole, , plain]) => whole !== '' || plain === undefined)
    .map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain)
  if (text.endsWith(',') === false && parts.at(-1) === '' && parts.length > 1) parts.pop()
  return parts
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
