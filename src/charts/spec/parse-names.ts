// Parses the column names in options.
import { Problem } from '../../contract/errors.ts'
import { matchesWildcard } from '../../contract/wildcard.ts'
import { splitAtCommas } from './column-names.ts'

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

/** Splits column names. A known name with commas stays whole. */
function splitColumnNames(text: string, known: ReadonlyMap<string, number>, commas: CommaTree): string[] {
  const parts = splitAtCommas(text)
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
