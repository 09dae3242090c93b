// Describes how results are printed as tables.
import { filetypeLabel } from '../../contract/resources/index.ts'
/** View of results as a table. JSON output has all fields. */
export interface TableView {
  columns: readonly ViewColumn[]
  /** Field printed with `--quiet`. */
  id?: string
  /** True for counts: tab-separated output has one line per field, with its name. */
  isLabeled?: true
  /** True if names of omitted columns are printed below the table. */
  namesOmitted?: true
}

/** Column of a view. */
export interface ViewColumn {
  field: string
  title: string
  /** Formats a value. Default: plain text. */
  format?: (value: never, row: never) => string
  /** True for times: terminals show them relative to now. */
  time?: true
  /** Alignment. Default: left. */
  align?: 'right'
  /** True if the column may be omitted from a wide table, last first. */
  isOptional?: true
  /** Minimum width, in characters, to which texts are wrapped before columns are omitted. */
  minCharacters?: number
  /** True if texts are cut in a table that is still too wide. */
  isCut?: true
}

/** View of files of any type. */
export const fileView: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    { field: 'filetype', title: 'TYPE', format: filetypeLabel },
    {
      field: 'world_readable',
      title: 'ACCESS',
      isOptional: true,
      format: formatAccess,
    },
    { field: 'date_modified', title: 'MODIFIED', time: true, isOptional: true },
  ],
}

/** Column with the version created by a write. */
export const versionColumn: TableView['columns'][number] = {
  field: 'version',
  title: 'VERSION',
  align: 'right',
}

/** View of created or changed files. */
export const createdView: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    { field: 'row_count', title: 'ROWS', align: 'right' },
    { field: 'web_url', title: 'LINK' },
  ],
}

/** View of created plots, with the grid of their data. */
export const chartView: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    { field: 'grid_fid', title: 'DATA', format: (fid: string | null) => fid ?? '' },
    { field: 'web_url', title: 'LINK' },
    { field: 'action', title: 'ACTION' },
    versionColumn,
  ],
}

/** View of files with links. */
export const linkView: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    { field: 'world_readable', title: 'ACCESS', format: formatAccess },
    { field: 'web_url', title: 'LINK' },
  ],
}

/** View of changed plots. */
export const changedView: TableView = { ...linkView, columns: [...linkView.columns, versionColumn] }

/** Formats why something failed. */
export function formatError(error: { detail: string; hint?: string } | null | undefined): string {
  return error ? [error.detail, error.hint].filter(Boolean).join('. ') : ''
}

/** Formats the access of a file. */
export function formatAccess(
  isPublic: boolean,
  { share_key_enabled = false }: { share_key_enabled?: boolean } = {},
): string {
  if (isPublic) return 'public'
  return share_key_enabled ? 'secret link' : 'private'
}
