/** Checks the items of a board against the grids that they show. */

import { COLUMN_TYPES, type ColumnType as ColumnFamily } from '../../contract/column-types.ts'
import { Problem } from '../../contract/errors.ts'
import { findClosest, formatList, withSuggestion } from '../../contract/message-texts.ts'
import type { Board, BoardItem } from '../../contract/resources/index.ts'
import { parseSort, parseWhere, queriedColumns } from '../../query/index.ts'
import { loadVisibleFile, type Principal } from '../access/access.ts'
import type { Service } from '../core/context.ts'
import { listColumnsInDraft } from '../files/drafts.ts'
import { OF_NUMBERS } from '../grids/reshape/group.ts'
import { listPlotGrids } from '../plots/filter-rows.ts'
import { familyOf } from '../store/schema/column-types.ts'
import type { Readers } from '../store/store.ts'
import { fidOfItem } from './item-files.ts'

/**
 * Checks that grids have the columns of tables and numbers, as far as the caller may read them. Throws `unknown_column`
 * and `invalid_query` with the item at fault.
 */
export async function checkItems(
  service: Service,
  readers: Readers,
  principal: Principal,
  text: string,
): Promise<void> {
  const { settings } = JSON.parse(text) as { settings: { board?: Board } }
  if (settings.board) await checkFilters(service, readers, principal, settings.board)
  for (const [k, { items }] of (settings.board?.rows ?? []).entries())
    for (const [n, item] of items.entries()) {
      const fid = item.plot === undefined ? fidOfItem(service, item) : undefined
      const visible = fid && (await loadVisibleFile(readers, fid, principal))
      if (visible?.file.filetype !== 'grid') continue
      const { filename } = visible.file
      const found = await listColumnsInDraft(readers, visible.file, principal.version)
      const columns = new Map(found.map((column) => [column.name, column]))
      try {
        const missing = columnsOf(item).find((name) => !columns.has(name))
        if (missing !== undefined)
          throw new Problem('unknown_column', `${filename} has no column ${JSON.stringify(missing)}`, {
            hint: withSuggestion(
              findClosest(missing, [...columns.keys()]),
              `Its columns are: ${formatList([...columns.keys()])}`,
            ),
          })
        const familyOfColumn = (name: string) => {
          const type = columns.get(name)?.type
          return type && familyOf(type)
        }
        checkTypes(item, familyOfColumn)
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        throw new Problem(error.code, `row ${k + 1}, item ${n + 1}: ${error.message}`, { hint: error.hint })
      }
    }
}

/** Checks that a number has numbers, and that its line has an order. Throws `invalid_query`. */
function checkTypes(
  { value = '', spark }: BoardItem,
  typeOf: (column: string) => ColumnFamily | undefined,
): void {
  const [, name, column] = /^(\w+):(.+)$/s.exec(value) ?? []
  if (OF_NUMBERS.has(name)) {
    const type = typeOf(column)
    if (type && !['number', 'any'].includes(COLUMN_TYPES[type].compared))
      throw new Problem('invalid_query', `value: ${column} has ${COLUMN_TYPES[type].noun}, not numbers`, {
        hint: 'To count its values: count, or count:column without empty ones.',
      })
  }
  const type = spark === undefined ? undefined : typeOf(spark)
  if (type === 'text' || type === 'boolean')
    throw new Problem('invalid_query', `spark: ${spark} has ${COLUMN_TYPES[type].noun}, not dates or numbers`)
}

/** Checks that a grid of the board has the column of each filter, as far as the caller may read them. */
async function checkFilters(
  service: Service,
  readers: Readers,
  principal: Principal,
  { filters = [], rows }: Board,
): Promise<void> {
  if (filters.length === 0) return
  const columns = new Set<string>()
  for (const item of rows.flatMap(({ items }) => items)) {
    const fid = fidOfItem(service, item)
    if (!fid) continue
    const shown = item.plot === undefined ? [fid] : await listPlotGrids(readers, fid)
    for (const grid of shown) {
      const visible = await loadVisibleFile(readers, grid, principal)
      // Whatever it has is not for the caller to know.
      if (visible?.file.filetype !== 'grid') return
      for (const { name } of await listColumnsInDraft(readers, grid, principal.version)) columns.add(name)
    }
  }
  const unknown = filters.find(({ column }) => !columns.has(column))
  if (unknown)
    throw new Problem(
      'unknown_column',
      `filters: no grid of the board has a column ${JSON.stringify(unknown.column)}`,
      {
        hint: withSuggestion(
          findClosest(unknown.column, [...columns]),
          `Their columns are: ${formatList([...columns])}`,
        ),
      },
    )
}

/** Lists the columns that an item names. Throws `invalid_query`. */
function columnsOf({ value, where, sort, spark, columns = [] }: BoardItem): string[] {
  const aggregated = value?.includes(':') ? [value.slice(value.indexOf(':') + 1)] : []
  const sorted = sort === undefined ? [] : parseSort(sort).map(({ name }) => name)
  const tested = where === undefined ? [] : queriedColumns(parseWhere(where).expression)
  return [...columns, ...(spark === undefined ? [] : [spark]), ...aggregated, ...sorted, ...tested]
}
