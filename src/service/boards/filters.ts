/** Filters of boards: columns by whose values readers can filter all items. See docs/boards.md#filters. */
import { Problem } from '../../contract/errors.ts'
import { findClosest, formatList, withSuggestion } from '../../contract/message-texts.ts'
import type { BoardFilter } from '../../contract/resources/index.ts'
import { FILTER_PREFIX, listFilters } from '../../contract/web/filter-query.ts'
import type { RowFilter } from '../access/access.ts'
import { listItems, type StoredBoard, toNode } from './content.ts'

/** Maximum length of a value, in characters. */
const MAX_VALUE_CHARACTERS = 1000

/** Throws `invalid_request` if a query filters by a column for which the board has no filter. */
export function assertFiltersKnown(board: StoredBoard, query: URLSearchParams): void {
  const filters = filtersOf(board)
  const [unknown] = listUnknownFilters(filters, query)
  if (unknown === undefined) return
  const names = filters.map(({ column }) => column)
  const others =
    names.length > 0 ? `It has: ${formatList(names)}` : 'A board file names them: filters: [city]'
  throw new Problem('invalid_request', `filter: ${describeUnknownFilter(unknown)}`, {
    field: 'filter',
    hint: withSuggestion(findClosest(unknown, names), others),
  })
}

/** Lists the columns by which a query filters, and for which a board has no filter. */
export function listUnknownFilters(filters: readonly BoardFilter[], query: URLSearchParams): string[] {
  const names = new Set(filters.map(({ column }) => column))
  return listFilters(query).flatMap(({ column }) => (names.has(column) ? [] : [column]))
}

export function describeUnknownFilter(column: string): string {
  return `the board has no filter ${JSON.stringify(column)}`
}

/** Returns the filters that a board offers. */
export function filtersOf({ settings }: StoredBoard): readonly BoardFilter[] {
  return (settings.board as { filters?: BoardFilter[] } | undefined)?.filters ?? []
}

/** Returns the filter that a query asks for, of those that the board offers; its defaults for the others. */
export function parseRowFilter(board: StoredBoard, query: URLSearchParams): RowFilter {
  return filtersOf(board).flatMap(({ column, default: preset = '' }) => {
    const value = (query.get(FILTER_PREFIX + column) ?? preset).slice(0, MAX_VALUE_CHARACTERS)
    return value === '' ? [] : [{ column, value }]
  })
}

/**
 * Throws `forbidden` if somebody else than its owner changes what the filters of a board tell: they are answered with
 * the rights of the owner.
 */
export function assertOwnFilters(before: StoredBoard, after: StoredBoard): void {
  const [old, next] = [filtersOf(before), filtersOf(after)]
  if (old.length === 0 && next.length === 0) return
  const plotsOf = (board: StoredBoard) => new Set(listItems(toNode(board)).flatMap(({ plot }) => plot ?? []))
  const known = plotsOf(before)
  const isNew = next.length > 0 && [...plotsOf(after)].some((plot) => !known.has(plot))
  const isSame = next.every(({ column }) => old.some((one) => one.column === column))
  if (isNew || !isSame)
    throw new Problem(
      'forbidden',
      'only the owner of a board can add filters, or charts to a board with filters',
      {
        hint: 'Ask its owner, or copy the board.',
      },
    )
}
