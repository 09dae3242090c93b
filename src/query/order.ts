// Parses and formats lists of columns to sort by.
import { Problem } from '../contract/errors.ts'

/** A column to sort by. */
export interface SortKey {
  name: string
  descending: boolean
}

/** Formats a key for `parseSort`. */
export function formatSortKey({ name, descending }: SortKey): string {
  const isPlain = /^[^-+",\s](?:[^",]*[^",\s])?$/.test(name)
  return `${descending ? '-' : ''}${isPlain ? name : `"${name.replaceAll('"', '""')}"`}`
}

/** Maximum number of columns to sort by. */
const MAX_SORT_KEYS = 10
/** Maximum length of a list of columns. */
const MAX_SORT_CHARACTERS = 10_000

/**
 * Parses a list of columns to sort by: `-date,city`. A minus sign means descending. Names with commas or a
 * leading minus sign are in double quotes: `-"Revenue, net"`. Throws `invalid_query`.
 */
export function parseSort(text: string): SortKey[] {
  const wrong = (message: string): Problem =>
    new Problem('invalid_query', `sort: ${message}`, {
      field: 'sort',
      hint: 'For example: -date,city. Names with commas are in double quotes.',
    })
  if (text.length > MAX_SORT_CHARACTERS)
    throw wrong(`${text.length} characters; the limit is ${MAX_SORT_CHARACTERS}`)
  const keys: SortKey[] = []
  for (const item of splitItems(text)) {
    if (keys.length === MAX_SORT_KEYS) throw wrong(`more than ${MAX_SORT_KEYS} columns`)
    const trimmed = item.trim()
    const descending = trimmed.startsWith('-')
    const rest = descending || trimmed.startsWith('+') ? trimmed.slice(1) : trimmed
    const isQuoted = rest.length >= 2 && rest.startsWith('"') && rest.endsWith('"')
    const name = isQuoted ? rest.slice(1, -1).replaceAll('""', '"') : rest
    if (name === '') throw wrong('expected a column name')
    if (keys.some((key) => key.name === name)) throw wrong(`the column ${name} is named twice`)
    keys.push({ name, descending })
  }
  return keys
}

/** Splits a text at commas that are not in double quotes. */
function* splitItems(text: string): Generator<string> {
  let from = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') isQuoted = !isQuoted
    else if (text[at] === ',' && !isQuoted) {
      yield text.slice(from, at)
      from = at + 1
    }
  }
  yield text.slice(from)
}
