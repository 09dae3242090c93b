/** The resources of the API as JSON Schema. Field names, types and notes: reference section 2. */
import { type Static, type TSchema, Type } from 'typebox'

const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const Timestamp = Type.String({ format: 'date-time' })
const Results = Type.Object({ results: Type.Array(Type.Unknown()), count: Type.Integer() })

/** Reference 2.1. Fields for the owner only are optional. */
const meta = {
  fid: Type.String(),
  filename: Type.String(),
  filetype: Type.Enum(['plot', 'grid', 'fold', 'extra']),
  owner: Type.String(),
  title: Type.String(),
  web_url: Type.String(),
  embed_url: Type.String(),
  img_url: Type.String(),
  image_urls: Type.Record(Type.String(), Type.String()),
  api_urls: Type.Record(Type.String(), Nullable(Type.String())),
  creation_time: Timestamp,
  date_modified: Timestamp,
  parent: Type.Integer(),
  parented: Type.Boolean(),
  world_readable: Type.Boolean(),
  current_user_permission: Type.Enum(['read', 'write', 'admin']),
  comments: Results,
  stars: Results,
  collaborators: Results,
  references: Type.Array(Type.String()),
  referencers: Type.Array(Type.String()),
  preview: Type.String(),
  subfolder_count: Nullable(Type.Integer()),
  views: Type.Integer(),
  is_theme: Nullable(Type.Boolean()),
  is_template: Nullable(Type.Boolean()),
  metadata: Type.Record(Type.String(), Type.Unknown()),
  deleted: Type.Optional(Type.Boolean()),
  share_key: Type.Optional(Nullable(Type.String())),
  share_key_enabled: Type.Optional(Type.Boolean()),
}

export const FileMeta = Type.Object(meta)
export type FileMeta = Static<typeof FileMeta>

export const columnTypes = ['empty', 'number', 'text', 'boolean', 'json'] as const

export const ColumnMeta = Type.Object({
  name: Type.String(),
  uid: Type.String(),
  order: Type.Integer(),
  type: Type.Enum([...columnTypes], { description: 'What the values are, nulls aside; `json` where they differ.' }),
})
export type ColumnMeta = Static<typeof ColumnMeta>

export const GridMeta = Type.Object({
  ...meta,
  cols: Type.Array(ColumnMeta, { description: 'In column order.' }),
  row_count: Type.Integer({ description: 'Rows of the longest column.' }),
  source_fid: Type.Optional(Nullable(Type.String())),
  source_url: Type.Optional(Nullable(Type.String())),
})
export type GridMeta = Static<typeof GridMeta>

export const Page = Type.Object({
  results: Type.Array(FileMeta),
  count: Type.Integer({ description: 'Files on this page.' }),
  next: Nullable(Type.String()),
  previous: Nullable(Type.String()),
})

export const FolderMeta = Type.Object({ ...meta, children: Type.Optional(Page) })
export type FolderMeta = Static<typeof FolderMeta>

export const Created = <T extends TSchema>(file: T) => Type.Object({ file, warnings: Type.Array(Type.String()) })

export const Column = Type.Object({
  name: Type.String(),
  uid: Type.String(),
  order: Type.Integer(),
  data: Type.Array(Type.Unknown()),
})

/** A new grid's columns by name; also taken as a JSON-encoded string of the same. Reference 2.2. */
export const GridData = Type.Object({
  cols: Type.Record(
    Type.String(),
    Type.Object({ data: Type.Array(Type.Unknown()), order: Type.Optional(Type.Integer()) }),
  ),
})

export const Parent = {
  parent: Type.Optional(Nullable(Type.Integer())),
  parent_path: Type.Optional(Type.String()),
}

export const GridCreate = Type.Object({
  data: Type.Union([GridData, Type.String()]),
  filename: Type.Optional(Type.String()),
  ...Parent,
  world_readable: Type.Optional(Type.Boolean()),
  share_key_enabled: Type.Optional(Type.Boolean()),
  metadata: Type.Optional(Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.String()])),
  source_fid: Type.Optional(Type.String()),
  source_url: Type.Optional(Type.String()),
  source_referer: Type.Optional(Type.String()),
})

export const FolderCreate = Type.Object({
  path: Type.String({ description: 'Folders by name, parted by /; missing ones are made.' }),
  ...Parent,
})

export const RowsAppend = Type.Object({
  rows: Type.Array(Type.Array(Type.Unknown()), { description: 'One array a row, one value a column, in column order.' }),
})

export const RowsAppended = Type.Object({
  fid: Type.String(),
  rows_added: Type.Integer(),
  row_count: Type.Integer(),
  warnings: Type.Array(Type.String()),
})
export type RowsAppended = Static<typeof RowsAppended>

export const ColumnsCreate = Type.Object({
  cols: Type.String({ description: 'JSON-encoded array of {name, data}.' }),
})

export const ColumnsUpdate = Type.Object({
  cols: Type.Union([Type.String({ description: 'JSON-encoded array of {data, name, order}, matched to the uids of the query.' }), Type.Array(Type.Unknown())]),
})

export const ColumnsWritten = Type.Object({ cols: Type.Array(ColumnMeta) })
export type ColumnsWritten = Static<typeof ColumnsWritten>

export const UserMeta = Type.Object({
  username: Type.String(),
  email: Nullable(Type.String()),
  is_admin: Type.Boolean(),
  date_joined: Type.String(),
})
export type UserMeta = Static<typeof UserMeta>

export const Health = Type.Object({ status: Type.String() })
