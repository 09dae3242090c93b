// Parses and formats the column names in chart options.
import { Problem } from '../../contract/errors.ts'
import { matchesWildcard } from '../../contract/wildcard.ts'

/** Maximum number of patterns in an option, and of the names that it stands for. Bound the work of a request. */
const MAX_PATTERNS = 100
const MAX_NAMES = 100_000
/** Maximum number of hyphens in a range, and of commas in a name that is not quoted. */
const MAX_HYPHENS = 100
const MAX_COMMAS = 100

/**
 * Returns the column names in an option, split at commas. Names with commas are quoted as in CSV, or are in
 * `known`: `Revenue, net,Cost` is two names if the grid has a column `Revenue, net`. `temp_*` expands to the
 * known names with that prefix, `2019-2023` to the known names from one to the other. Throws `invalid_request` for very
 * many patterns or names.
 */
export function parseColumnNames(input: string | readonly string[], known: readonly string[] = []): string[] {
  const positions = new Map(known.map((name, k) => [name, k] as const).reverse())
  const commas = createCommaTree(known)
  const expanded = new Map<string, readonly string[]>()
  const names: string[] = []
  for (const text of typeof input === 'string' ? [input] : input)
    for (const name of positions.has(text) ? [text] : splitColumnNames(text, positions, commas)) {
      let all = positions.has(name) ? [name] : expanded.get(name)
      if (!all) {
        all = expandColumnName(name, known, positions)
        if (name.includes('*')) expanded.set(name, all)
      }
      if (names.length + all.length > MAX_NAMES || expanded.size > MAX_PATTERNS)
        throw new Problem('invalid_request', 'too many column names or patterns')
      names.push(...all)
    }
  return names
}

/** Returns the known names that a pattern (`temp_*`) or range (`2019-2023`) matches, else the name itself. */
function expandColumnName(
  name: string,
  known: readonly string[],
  positions: ReadonlyMap<string, number>,
): readonly string[] {
  if (name.includes('*')) {
    const matches = known.filter((candidate) => matchesWildcard(name, candidate))
    return matches.length > 0 ? matches : [name]
  }
  let at = name.indexOf('-')
  for (let k = 0; at > 0 && k < MAX_HYPHENS; k++) {
    const [from = -1, to = -1] = [name.slice(0, at), name.slice(at + 1)].map((end) =>
      positions.get(end.trim()),
    )
    if (from >= 0 && to >= from) return known.slice(from, to + 1)
    at = name.indexOf('-', at + 1)
  }
  return [name]
}

/** Names with commas, by their parts between them. */
interface CommaTree {
  isName: boolean
  next: Map<string, CommaTree>
}

function createCommaTree(names: readonly string[]): CommaTree {
  const root: CommaTree = { isName: false, next: new Map() }
  for (const name of names) {
    if (!name.includes(',')) continue
    const parts = name.split(',')
    if (parts.length > MAX_COMMAS + 1) continue
    let node = root
    for (const part of parts) {
      const child = node.next.get(part) ?? { isName: false, next: new Map() }
      node.next.set(part, child)
      node = child
    }
    node.isName = true
  }
  return root
}

/** Splits at commas, outside quotes. A known name with commas stays whole. */
function splitColumnNames(text: string, known: ReadonlyMap<string, number>, commas: CommaTree): string[] {
  const parts = [...text.matchAll(/\s*"((?:[^"]|"")*)"\s*(?:,|$)|([^,]*)(?:,|$)/g)]
    .filter(([whole, , plain]) => whole !== '' || plain === undefined)
    .map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain)
  if (text.endsWith(',') === false && parts.at(-1) === '' && parts.length > 1) parts.pop()
  const names: string[] = []
  for (let k = 0; k < parts.length; ) {
    const end = findNameEnd(parts, k, commas)
    names.push(known.has(parts[k]) && end === k + 1 ? parts[k] : parts.slice(k, end).join(',').trim())
    k = end
  }
  return names
}

/** Returns the end of the longest known name that begins with part `first`. */
function findNameEnd(parts: readonly string[], first: number, commas: CommaTree): number {
  let end = first + 1
  let node: CommaTree | undefined = commas
  for (let k = first; node && k < parts.length; k++) {
    const part = k === first ? parts[k].trimStart() : parts[k]
    if (node.next.get(part.trimEnd())?.isName) end = k + 1
    node = node.next.get(part)
  }
  return end
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
