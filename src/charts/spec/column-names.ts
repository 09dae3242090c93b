import { matchesWildcard } from '../../contract/wildcard.ts'

/**
 * The columns that an option names, comma-separated. Names that hold commas are in quotes, as in CSV, or are known:
 * `Revenue, net,Cost` is two names if the grid has a column `Revenue, net`. Of known names, `temp_*` is all that begin so, and
 * `2019-2023` those from one to the other.
 */
export function columnNames(given: string | readonly string[], known: readonly string[] = []): string[] {
  const texts = typeof given === 'string' ? [given] : given
  return texts.flatMap((text) => namesIn(text, new Set(known))).flatMap((name) => columnsLike(name, known))
}

/** The known names that a name stands for: `temp_*` for all that begin so, `2019-2023` for those from one to the other. */
function columnsLike(name: string, known: readonly string[]): readonly string[] {
  if (known.includes(name)) return [name]
  if (name.includes('*')) {
    const found = known.filter((one) => matchesWildcard(name, one))
    return found.length > 0 ? found : [name]
  }
  for (let at = name.indexOf('-'); at > 0; at = name.indexOf('-', at + 1)) {
    const [from, to] = [name.slice(0, at), name.slice(at + 1)].map((end) => known.indexOf(end.trim()))
    if (from >= 0 && to >= from) return known.slice(from, to + 1)
  }
  return [name]
}

function namesIn(text: string, known: ReadonlySet<string>): string[] {
  if (known.has(text)) return [text]
  const parts = [...text.matchAll(/\s*"((?:[^"]|"")*)"\s*(?:,|$)|([^,]*)(?:,|$)/g)]
    .filter(([whole, , plain]) => whole !== '' || plain === undefined)
    .map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain)
  if (text.endsWith(',') === false && parts.at(-1) === '' && parts.length > 1) parts.pop()
  const names: string[] = []
  for (let k = 0; k < parts.length; ) {
    let end = k + 1
    // The longest name that is known.
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

/** What `--x` is for the names of the columns of `--y`. */
export const COLUMNS = 'columns'

/** The type of a column for display: `json` in the API means mixed types. */
export function typeName(type: string): string {
  if (type === 'json') return 'mixed'
  return type === 'datetime-zone' ? 'datetime' : type
}

/** Whether the values of a column are labels. */
export function hasLabels(column: { type?: string } | undefined): boolean {
  return column?.type === 'text' || column?.type === 'boolean'
}

/** A name as it stands in a list of columns. */
export function nameInList(name: string): string {
  return /[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name
}

/** Why numbers were read as text; undefined if they do not look like numbers. */
export function numberStyle(values: readonly unknown[]): string | undefined {
  const texts = values.filter((value) => typeof value === 'string').map((text) => text.trim())
  const some = (pattern: RegExp): boolean => texts.some((text) => pattern.test(text))
  if (some(/^[-+]?[\d. ]*\d,\d+$/)) return 'decimal commas'
  if (some(/^[-+]?\d{1,3}([,' \u00a0\u202f]\d{3})+(\.\d+)?$/)) return 'thousands separators'
  if (some(/^[-+]?\.\d+$/)) return 'no digit before the point'
  if (some(/[$€£¥₹]|\b(USD|EUR|GBP|CHF|JPY)\b/)) return 'currency'
  if (some(/^[-+]?[\d.,]+\s*%$/)) return 'percent signs'
  return undefined
}

/** Columns that are years, at least, for a table to be one of years. */
const MIN_YEARS = 3

/** The names of columns that are years, such as `2019`; none if they are fewer than three. */
export function yearNames(names: readonly string[]): readonly string[] {
  const years = names.filter((name) => /^(?:1[5-9]|20)\d\d$/.test(name))
  return years.length < MIN_YEARS ? [] : years
}
