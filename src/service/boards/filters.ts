/** Filters of boards: columns by whose values readers can filter all items. See docs/boards.md#filters. */
import { Problem } from '../../contract/errors.ts'
import type { BoardFilter } from '../../contract/resources/index.ts'
import type { RowFilter } from '../access/access.ts'
import { listItems, type StoredBoard, toNode } from './content.ts'

/** Maximum length of a value, in characters. */
const MAX_VALUE_CHARACTERS = 1000

/** Prefix of the query parameters of filters: `filter.city=Oslo`. */
export const FILTER_PREFIX = 'filter.'

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
