import { Problem } from '../contract/errors.ts'

/** A column that rows are sorted by. */
export interface SortKey {
  name: string
  descending: boolean
}

/** Returns a key as `parseSort` reads it. */
export function sortText({ name, descending }: SortKey): string {
  const isPlain = /^[^-+",\s](?:[^",]*[^",\s])?$/.test(name)
  return `${descending ? '-' : ''}${isPlain ? name : `"${name.replaceAll('"', '""')}"`}`
}

/** Columns that rows are sorted by at most. */
const MAX_KEYS = 10
/** Characters of a list of columns at most. */
const MAX_CHARACTERS = 10_000

/**
 * Reads a list of columns to sort by: `-date,city`. A minus sign means descending. Names with commas or with a minus
 * sign at the start are in double quotes: `-"Revenue, net"`. Throws `invalid_query`.
 */
export function parseSort(text: string): SortKey[] {
  const wrong = (message: string): Problem =>
    new Problem('invalid_query', `sort: ${message}`, {
      field: 'sort',
      hint: 'For example: -date,city. Names with commas are in double quotes.',
    })
  if (text.length > MAX_CHARACTERS)
    throw wrong(`${text.length} characters; at most ${MAX_CHARACTERS} are read`)
  const keys: SortKey[] = []
  for (const item of itemsOf(text)) {
    if (keys.length === MAX_KEYS) throw wrong(`rows are sorted by at most ${MAX_KEYS} columns`)
    const given = item.trim()
    const descending = given.startsWith('-')
    const rest = descending || given.startsWith('+') ? given.slice(1) : given
    const isQuoted = rest.length >= 2 && rest.startsWith('"') && rest.endsWith('"')
    const name = isQuoted ? rest.slice(1, -1).replaceAll('""', '"') : rest
    if (name === '') throw wrong('the name of a column is missing')
    if (keys.some((key) => key.name === name)) throw wrong(`the column ${name} is named twice`)
    keys.push({ name, descending })
  }
  return keys
}

/** Returns the parts between commas that are not in double quotes. */
function* itemsOf(text: string): Generator<string> {
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
