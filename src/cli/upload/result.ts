// Result of an upload, as printed.
import { findClosest, formatList } from '../../contract/message-texts.ts'
import type { ResultOf } from '../../contract/operations/index.ts'
import type { CheckReport, GridMeta, UploadAction } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import { listUnknownColumns } from '../files/parse-options.ts'
import { formatUpsertCounts } from '../output/row-counts.ts'
import { createdView, type TableView, versionColumn } from '../output/view.ts'
import type { UploadOptions } from './options.ts'

/** Created or changed grid, with the action. */
export type UploadedGrid = GridMeta & { action?: UploadAction; warnings: string[]; checks?: CheckReport }

/** View of uploaded files, with the action. */
export const uploadedView: TableView = {
  ...createdView,
  columns: [
    ...createdView.columns.map((column) =>
      column.field === 'filename' ? { ...column, field: 'path' } : column,
    ),
    { field: 'action', title: 'ACTION' },
    versionColumn,
  ],
}

/** Fields that uploads print besides those of the grid. */
export const UPLOAD_FIELDS = {
  file: 'path of the local file',
  path: 'path of the grid',
  rows_added: 'with a key: number of appended rows',
  rows_updated: 'with a key: number of changed rows',
  rows_unchanged: 'with a key: number of unchanged rows',
  rows_removed: 'with --delete-missing: number of removed rows',
  checks: 'with --checks: results of the rules',
  warnings: 'warnings, as an array of texts',
}

/** Converts an upload response to an output row. Prints its warnings and row counts. */
export function toUploadRow(
  context: Context,
  file: string,
  response: ResultOf<'grids.upload'>,
): UploadedGrid {
  const { file: grid, warnings, action, version, ...counts } = response
  const rows = formatUpsertCounts(counts)
  if (rows !== undefined) context.messages.note(`${file}: ${rows}`)
  context.messages.warnAll(warnings, file)
  const versionField = version === undefined ? {} : { version }
  return { ...(grid as GridMeta), ...versionField, action, warnings, ...counts }
}

/** Warns of columns of --column that no file has. */
export function warnOfUnknownColumns(
  context: Context,
  rows: readonly { columns?: { name: string }[] | number; cols?: { name: string }[] }[],
  options: Pick<UploadOptions, 'column'>,
): void {
  const lists = rows.map(({ columns, cols }) => (Array.isArray(columns) ? columns : cols))
  const names = lists.flatMap((list) => list?.map(({ name }) => name) ?? [])
  const unknown = listUnknownColumns(options, new Set(names))
  // Of folders of grids, and without details, they are not known.
  if (unknown.length === 0 || lists.includes(undefined)) return
  const suggestion = findClosest(unknown[0], names)
  const hint = suggestion === undefined ? '' : `. Did you mean ${suggestion}?`
  context.messages.warning(`no file has a column named ${formatList(unknown)}${hint}`)
}
