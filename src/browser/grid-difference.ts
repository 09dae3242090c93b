/// <reference lib="dom" />
// The difference of two versions of a grid, in words and as a table.
import type { ResultOf } from '../contract/operations/index.ts'
import { parseExactly, request, textOfValue } from './api.ts'
import { create } from './dom.ts'

export type Diff = ResultOf<'grids.diff'>

/** Number of rows that differ and are listed. */
export const MAX_LISTED_ROWS = 50

/** Loads a difference; its numbers are as they are stored. */
export async function loadDiff(fid: string, query: object): Promise<Diff> {
  const response = await request('grids.diff', { path: { fid }, query: query as never })
  const diff = parseExactly<Diff>(await response.text())
  // Counts are plain numbers.
  const counts = Object.entries(diff).map(([name, value]) =>
    /^(?:rows|cells)_/.test(name) ? [name, Number(textOfValue(value))] : [name, value],
  )
  return Object.fromEntries(counts) as Diff
}

/** Returns the difference of two grids in words and as a table. */
export function createDifference(diff: Diff): HTMLElement[] {
  const { rows_added, rows_removed, rows_changed, cells_changed, columns, rows, is_same, is_complete } = diff
  if (is_same) return [create('p', {}, 'The data is the same.')]
  const parts = [
    `rows added: ${rows_added.toLocaleString('en')}`,
    `removed: ${rows_removed.toLocaleString('en')}`,
    `changed: ${rows_changed.toLocaleString('en')}`,
    `cells changed: ${cells_changed.toLocaleString('en')}`,
  ]
  const names = [...new Set(rows.flatMap(({ before, after }) => Object.keys({ ...before, ...after })))].slice(
    0,
    30,
  )
  const changedColumns = columns.filter(({ change }) => change !== 'values')
  return [
    create('p', { class: 'lead' }, parts.join(', ')),
    ...(changedColumns.length > 0
      ? [create('p', {}, `Columns: ${changedColumns.map(describeColumn).join(', ')}`)]
      : []),
    create(
      'div',
      { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Rows that differ' },
      create(
        'table',
        {},
        create(
          'thead',
          {},
          create('tr', {}, create('th', {}, ''), ...names.map((name) => create('th', {}, name))),
        ),
        create(
          'tbody',
          {},
          ...rows.map(({ change, before, after }) =>
            create(
              'tr',
              {},
              create('th', { scope: 'row' }, change),
              ...names.map((name) => createCell(name, before, after)),
            ),
          ),
        ),
      ),
    ),
    ...(is_complete ? [] : [create('p', {}, 'Only the first rows that differ are listed.')]),
  ]
}

function describeColumn({
  change,
  name_before,
  name_after,
  type_before,
  type_after,
}: Diff['columns'][number]): string {
  if (change === 'renamed') return `${name_before} is now ${name_after}`
  if (change === 'retyped') return `${name_after}: ${type_before} is now ${type_after}`
  return `${name_after ?? name_before} ${change}`
}

type Values = Readonly<Record<string, unknown>> | null

/** Returns the cell of a column in a row that differs: the value before and after. */
function createCell(name: string, before: Values, after: Values): HTMLTableCellElement {
  const [old, next] = [before, after].map((values) => textOfValue(values?.[name]).slice(0, 100))
  if (before && after && old === next) return create('td', {}, old)
  return create(
    'td',
    {},
    old !== '' && create('del', {}, old),
    old !== '' && next !== '' && ' ',
    next !== '' && create('ins', {}, next),
  )
}
