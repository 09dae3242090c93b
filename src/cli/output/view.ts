/** How things are shown to people; JSON shows them whole. */
export interface TableView {
  columns: readonly ViewColumn[]
  /** The field `--quiet` prints. */
  id?: string
}

export interface ViewColumn {
  field: string
  title: string
  /** Text of a value; its plain text if not given. */
  format?: (value: never, row: never) => string
  /** Only on a terminal: a link as long as the line would be in everybody's way elsewhere too. */
  align?: 'right'
}

/** Files of any kind in a list. */
export const fileView: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    { field: 'filetype', title: 'TYPE' },
    { field: 'world_readable', title: 'ACCESS', format: (value: boolean) => (value ? 'public' : 'private') },
    { field: 'date_modified', title: 'MODIFIED' },
  ],
}

/** A file that was just made or changed. */
export const madeView: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    { field: 'row_count', title: 'ROWS', align: 'right' },
    { field: 'web_url', title: 'LINK' },
  ],
}

/** A file and where it is found by others. */
export const linkView: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    { field: 'world_readable', title: 'ACCESS', format: (value: boolean) => (value ? 'public' : 'private') },
    { field: 'web_url', title: 'LINK' },
  ],
}

/** The type of a column as people are told it: `json` of the API is a mixture of types. */
export function typeName(type: string): string {
  return type === 'json' ? 'mixed' : type
}
