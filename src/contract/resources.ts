/** The resources of the API as JSON Schema. Field names, types and notes: reference section 2. */
import * as s from './schema.ts'

const Timestamp = s.string({ format: 'date-time' })
const Results = s.object({ results: s.array(s.anything()), count: s.integer() })

/** Reference 2.1. Fields for the owner only are optional. */
const meta = {
  fid: s.string(),
  filename: s.string(),
  filetype: s.oneOf(['plot', 'grid', 'fold', 'extra']),
  owner: s.string(),
  title: s.string(),
  web_url: s.string(),
  embed_url: s.string(),
  img_url: s.string(),
  image_urls: s.record(s.string()),
  api_urls: s.record(s.nullable(s.string())),
  creation_time: Timestamp,
  date_modified: Timestamp,
  parent: s.integer(),
  parented: s.boolean(),
  world_readable: s.boolean(),
  current_user_permission: s.oneOf(['read', 'write', 'admin']),
  comments: Results,
  stars: Results,
  collaborators: Results,
  references: s.array(s.string()),
  referencers: s.array(s.string()),
  preview: s.string(),
  subfolder_count: s.nullable(s.integer()),
  views: s.integer(),
  is_theme: s.nullable(s.boolean()),
  is_template: s.nullable(s.boolean()),
  metadata: s.record(s.anything()),
  deleted: s.optional(s.boolean()),
  share_key: s.optional(s.nullable(s.string())),
  share_key_enabled: s.optional(s.boolean()),
}

export const FileMeta = s.object(meta)
export type FileMeta = s.Static<typeof FileMeta>

export const columnTypes = ['empty', 'number', 'text', 'boolean', 'json'] as const

export const ColumnMeta = s.object({
  name: s.string(),
  uid: s.string(),
  order: s.integer(),
  type: s.oneOf(columnTypes, { description: 'What the values are, nulls aside; `json` where they differ.' }),
})
export type ColumnMeta = s.Static<typeof ColumnMeta>

export const GridMeta = s.object({
  ...meta,
  cols: s.array(ColumnMeta, { description: 'In column order.' }),
  row_count: s.integer({ description: 'Rows of the longest column.' }),
  source_fid: s.optional(s.nullable(s.string())),
  source_url: s.optional(s.nullable(s.string())),
})
export type GridMeta = s.Static<typeof GridMeta>

export const Page = s.object({
  results: s.array(FileMeta),
  count: s.integer({ description: 'Files on this page.' }),
  next: s.nullable(s.string()),
  previous: s.nullable(s.string()),
})

export const FolderMeta = s.object({ ...meta, children: s.optional(Page) })
export type FolderMeta = s.Static<typeof FolderMeta>

export const Created = <T extends s.Schema>(file: T) => s.object({ file, warnings: s.array(s.string()) })

export const Column = s.object({
  name: s.string(),
  uid: s.string(),
  order: s.integer(),
  data: s.array(s.anything()),
})

/** A new grid's columns by name; also taken as a JSON-encoded string of the same. Reference 2.2. */
export const GridData = s.object({
  cols: s.record(s.object({ data: s.array(s.anything()), order: s.optional(s.integer()) })),
})

export const Parent = {
  parent: s.optional(s.nullable(s.integer())),
  parent_path: s.optional(s.string()),
}

export const GridCreate = s.object({
  data: s.either(GridData, s.string()),
  filename: s.optional(s.string()),
  ...Parent,
  world_readable: s.optional(s.boolean()),
  share_key_enabled: s.optional(s.boolean()),
  metadata: s.optional(s.either(s.record(s.anything()), s.string())),
  source_fid: s.optional(s.string()),
  source_url: s.optional(s.string()),
  source_referer: s.optional(s.string()),
})

export const FolderCreate = s.object({
  path: s.string({ description: 'Folders by name, parted by /; missing ones are made.' }),
  ...Parent,
})

export const RowsAppend = s.object({
  rows: s.array(s.array(s.anything()), {
    description: 'One array a row, one value a column, in column order.',
  }),
})

export const RowsAppended = s.object({
  fid: s.string(),
  rows_added: s.integer(),
  row_count: s.integer(),
  warnings: s.array(s.string()),
})
export type RowsAppended = s.Static<typeof RowsAppended>

export const ColumnsCreate = s.object({
  cols: s.string({ description: 'JSON-encoded array of {name, data}.' }),
})

export const ColumnsUpdate = s.object({
  cols: s.either(
    s.string({ description: 'JSON-encoded array of {data, name, order}, matched to the uids of the query.' }),
    s.array(s.anything()),
  ),
})

export const ColumnsWritten = s.object({ cols: s.array(ColumnMeta) })
export type ColumnsWritten = s.Static<typeof ColumnsWritten>

export const UserMeta = s.object({
  username: s.string(),
  email: s.nullable(s.string()),
  is_admin: s.boolean(),
  date_joined: s.string(),
})
export type UserMeta = s.Static<typeof UserMeta>

export const Health = s.object({ status: s.string() })
