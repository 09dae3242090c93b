import type { ResultOf } from '../../contract/operations/index.ts'
import type { CheckReport, GridMeta, UploadAction } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import { rowsByKey } from '../output/row-counts.ts'
import { madeView, type TableView, versionColumn } from '../output/view.ts'

/** A grid that was made or changed, with what was done. */
export type Made = GridMeta & { action?: UploadAction; warnings: string[]; checks?: CheckReport }

/** Uploaded files with the action taken. */
export const uploadedView: TableView = {
  ...madeView,
  columns: [
    ...madeView.columns.map((column) =>
      column.field === 'filename' ? { ...column, field: 'path' } : column,
    ),
    { field: 'action', title: 'ACTION' },
    versionColumn,
  ],
}

/** What uploads print beside the file that was made. */
export const uploadFields = {
  file: 'the local file',
  path: 'path of the grid',
  rows_added: 'with a key: rows that were appended',
  rows_updated: 'with a key: rows whose values changed',
  rows_unchanged: 'with a key: rows that were as they are',
  rows_removed: 'with --delete-missing: rows that the file lacks',
  checks: 'with --checks: what became of each rule',
  warnings: 'an array of texts',
}

/** An uploaded file; its warnings are printed. */
export function uploadOf(context: Context, file: string, made: ResultOf<'grids.upload'>): Made {
  const { file: grid, warnings, action, version, ...counts } = made
  const rows = rowsByKey(counts)
  if (rows !== undefined) context.messages.note(`${file}: ${rows}`)
  for (const warning of warnings) context.messages.warning(warning, file)
  const own = version === undefined ? {} : { version }
  return { ...(grid as GridMeta), ...own, action, warnings, ...counts }
}
