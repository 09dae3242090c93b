// Filters of boards in the query of their pages and images: `filter.city=Oslo`. See docs/boards.md#filters.
import { invalidField } from '../errors.ts'

/** Prefix of the query parameters of filters. */
export const FILTER_PREFIX = 'filter.'

/** Lists the filters of a query, in their order. An empty value stands for all values. */
export function listFilters(query: URLSearchParams): { column: string; value: string }[] {
  return [...query].flatMap(([name, value]) =>
    name.startsWith(FILTER_PREFIX) ? [{ column: name.slice(FILTER_PREFIX.length), value }] : [],
  )
}

/** Returns filters, as `column=value`, with those of a link to a board, unless they have other values. */
export function addLinkFilters(link: string, filters: readonly string[] = []): string[] {
  const query = /^https?:/i.test(link) && URL.canParse(link) ? new URL(link).searchParams : undefined
  const ofLink = query ? listFilters(query) : []
  const others = ofLink.filter(({ column }) => !filters.some((text) => text.startsWith(`${column}=`)))
  return [...filters, ...others.map(({ column, value }) => `${column}=${value}`)]
}

/** Writes filters, as `column=value`, as the query of a page. Throws `invalid_request`. */
export function toFilterQuery(filters: readonly string[]): URLSearchParams {
  const query = new URLSearchParams()
  for (const text of filters) {
    const [, column, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
    if (column === undefined) throw invalidField('filter', 'must be column=value, such as city=Oslo')
    const name = FILTER_PREFIX + column
    if (query.has(name)) throw invalidField('filter', `${JSON.stringify(column)} has several values`)
    query.set(name, value)
  }
  return query
}
