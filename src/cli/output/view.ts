import { filetypeName } from '../../contract/resources/index.ts'
/** How results are shown as tables. JSON output has all fields. */
export interface TableView {
  columns: readonly ViewColumn[]
  /** The field printed with `--quiet`. */
  id?: string
  /** In tab-separated output, a line for each field, with its name. For counts, whose order says nothing. */
  isLabeled?: true
  /** Below the table of a narrow terminal, the columns that are left out are named. */
  namesLeft?: true
}

export interface ViewColumn {
  field: string
  title: string
  /** Formats a value. Default: its plain text. */
  format?: (value: never, row: never) => string
  /** It is a time: terminals show it relative to now. */
  time?: true
  /** Alignment in tables. Default: left. */
  align?: 'right'
  /** Left out of a table that is wider than the terminal, the last one first. */
  isOptional?: true
  /** Its texts are wrapped to no fewer characters before columns are left out. */
  least?: number
  /** Its texts are cut in a table that is wider than the terminal even so. */
  isCut?: true
}

/** A list of files of any type. */
export const fileView: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    { field: 'filetype', title: 'TYPE', format: filetypeName },
    {
      field: 'world_readable',
      title: 'ACCESS',
      isOptional: true,
      format: (value: boolean) => (value ? 'public' : 'private'),
    },
    { field: 'date_modified', title: 'MODIFIED', time: true, isOptional: true },
  ],
}

/** The version of a grid or plot that a write made. */
export const versionColumn: TableView['columns'][number] = {
  field: 'version',
  title: 'VERSION',
  align: 'right',
}

/** A file that was just created or changed. */
export const madeView: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    { field: 'row_count', title: 'ROWS', align: 'right' },
    { field: 'web_url', title: 'LINK' },
  ],
}

/** A plot that was just created or replaced, and the grid that holds its data. */
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

/** A file with its link. */
export const linkView: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    { field: 'world_readable', title: 'ACCESS', format: accessOf },
    { field: 'web_url', title: 'LINK' },
  ],
}

/** A plot that was changed. */
export const changedView: TableView = { ...linkView, columns: [...linkView.columns, versionColumn] }

function accessOf(isPublic: boolean): string {
  return isPublic ? 'public' : 'private'
}
