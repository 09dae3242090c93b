/** JSON Schemas of the API resources. docs/api.md describes their fields. */
import * as s from './schema.ts'

/** Scopes of API keys. See docs/api.md#keys. */
export const scopeNames = ['read', 'write', 'admin'] as const

const Timestamp = s.string({ format: 'date-time' })
const Results = s.object({ results: s.array(s.anything()), count: s.integer() })

/** Metadata common to all filetypes. Fields that only the owner sees are optional. See docs/api.md#files. */
const meta = {
  fid: s.string(),
  filename: s.string(),
  filetype: s.enumOf(['plot', 'grid', 'fold', 'extra']),
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
  current_user_permission: s.enumOf(['read', 'write', 'admin']),
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
  source_tag: s.optional(
    s.nullable(s.string({ description: 'The Source-Tag of the upload, if the file has not changed since.' })),
  ),
  /** Parts of the change that were ignored. */
  warnings: s.optional(s.array(s.string())),
}

/** Read-only fields that clients may send in an update. They are ignored and named in `warnings`. */
export const readOnlyFields: ReadonlySet<string> = new Set([
  ...Object.keys(meta),
  'cols',
  'children',
  'row_count',
  'refresh_interval',
  'organize_view_url',
  'autosize',
  'caption',
  'height',
  'width',
  'user',
])

export const FileMeta = s.object(meta)
export type FileMeta = s.Static<typeof FileMeta>

export const columnTypes = ['empty', 'number', 'text', 'boolean', 'json'] as const

export const ColumnMeta = s.object({
  name: s.string(),
  uid: s.string(),
  order: s.integer(),
  type: s.enumOf(columnTypes, {
    description: 'Type of the values that are not null; `json` if their types differ.',
  }),
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

/** A number, a text of up to 200 characters, or null. */
const scalar = s.anything()

export const ColumnDescription = s.object({
  name: s.string(),
  type: s.enumOf(columnTypes),
  rows: s.integer(),
  nulls: s.integer(),
  distinct: s.integer({
    description: 'Different values; at most 100,000 are counted, see distinct_is_exact.',
  }),
  distinct_is_exact: s.boolean(),
  min: scalar,
  max: scalar,
  mean: s.nullable(s.number()),
  quantiles_are_exact: s.boolean({
    description:
      'Whether the quantiles are of all values. Of more than 10,000, they are estimated from a sample.',
  }),
  quantiles: s.nullable(
    s.array(s.number(), {
      description: 'The 25 %, 50 % and 75 % quantiles; of a sample of 10,000 values if there are more.',
    }),
  ),
  trend: s.array(s.nullable(s.number()), {
    description: 'Means of up to 24 runs of rows, in the order of the rows. Empty for texts.',
  }),
})
export type ColumnDescription = s.Static<typeof ColumnDescription>

export const GridDescription = s.object({
  fid: s.string(),
  filename: s.string(),
  row_count: s.integer(),
  columns: s.array(ColumnDescription),
})
export type GridDescription = s.Static<typeof GridDescription>

export const Page = s.object({
  results: s.array(FileMeta),
  count: s.integer({ description: 'Files on all pages, in lists of one owner; else files on this page.' }),
  next: s.nullable(s.string()),
  previous: s.nullable(s.string()),
})

export const FolderMeta = s.object({ ...meta, children: s.optional(Page) })
export type FolderMeta = s.Static<typeof FolderMeta>

export const Created = <T extends s.Schema>(file: T) => s.object({ file, warnings: s.array(s.string()) })

/** Possible results of an upload. */
export const uploadActions = ['created', 'replaced', 'appended', 'unchanged'] as const
export type UploadAction = (typeof uploadActions)[number]

export const Uploaded = <T extends s.Schema>(file: T) =>
  s.object({
    file,
    warnings: s.array(s.string()),
    action: s.optional(
      s.enumOf(uploadActions, { description: 'unchanged: the grid already contains exactly this data.' }),
    ),
  })

/** An upload in parts; at its end with what `grids.upload` returns. */
export const UploadState = s.object({
  id: s.string(),
  received: s.integer({ description: 'Bytes that have arrived: where the next part begins.' }),
  file: s.optional(s.union(GridMeta, FolderMeta)),
  warnings: s.optional(s.array(s.string())),
  action: s.optional(s.enumOf(uploadActions)),
})

export const Column = s.object({
  name: s.string(),
  uid: s.string(),
  order: s.integer(),
  data: s.array(s.anything()),
})

/** Columns of a new grid, by name. A JSON-encoded string is accepted too. See docs/api.md#grids. */
export const GridData = s.object({
  cols: s.record(
    s.object({
      data: s.array(s.anything()),
      order: s.optional(s.integer()),
      uid: s.optional(
        s.string({ description: 'Six hexadecimal digits, to keep the uid of another server.' }),
      ),
    }),
  ),
})

export const Parent = {
  parent: s.optional(s.nullable(s.integer())),
  parent_path: s.optional(s.string()),
}

const Metadata = s.union(s.record(s.anything()), s.string())

/** Body of `grids.create`. Without `data`, the grid is imported from `source_url`. */
export const GridCreate = s.object({
  data: s.optional(s.union(GridData, s.string())),
  filename: s.optional(s.string()),
  ...Parent,
  world_readable: s.optional(s.boolean()),
  share_key_enabled: s.optional(s.boolean()),
  metadata: s.optional(Metadata),
  source_fid: s.optional(s.nullable(s.string())),
  source_url: s.optional(s.nullable(s.string())),
  source_referer: s.optional(s.nullable(s.string())),
})

/** Writable metadata. Fields that are not given stay unchanged. */
const writable = {
  filename: s.optional(s.string()),
  ...Parent,
  world_readable: s.optional(s.boolean()),
  share_key_enabled: s.optional(s.boolean()),
  metadata: s.optional(Metadata),
  is_theme: s.optional(s.nullable(s.boolean())),
  is_template: s.optional(s.nullable(s.boolean())),
}

export const FileUpdate = s.object(writable)
export type FileUpdate = s.Static<typeof FileUpdate>

/** A plotly.js figure. See docs/api.md#plots. */
export const Figure = s.object({
  data: s.optional(s.array(s.record(s.anything()))),
  layout: s.optional(s.record(s.anything())),
  frames: s.optional(s.array(s.anything())),
})

/** A user as embedded in plots. Private fields are null for everybody else. See docs/api.md#users. */
export const UserSummary = s.object({
  username: s.string(),
  profile_url: s.string(),
  avatar_url: s.nullable(s.string()),
  background_url: s.nullable(s.string()),
  bio: s.nullable(s.string()),
  nickname: s.nullable(s.string()),
  website: s.nullable(s.string()),
  stream_tokens: s.nullable(s.array(s.string())),
  feature_set_id: s.nullable(s.string()),
  csrf_token: s.nullable(s.string()),
  date_joined: s.string({ description: 'YYYY-MM-DD HH:MM:SS' }),
  map_access_tokens: s.nullable(s.anything()),
  has_password: s.nullable(s.boolean()),
  email: s.nullable(s.string()),
  is_active: s.nullable(s.boolean()),
  readonly: s.nullable(s.boolean()),
  is_dash_creator: s.nullable(s.boolean()),
  dash_created_count: s.nullable(s.integer()),
  is_chart_creator: s.nullable(s.boolean()),
  charts_created_count: s.nullable(s.integer()),
})
export type UserSummary = s.Static<typeof UserSummary>

export const PlotMeta = s.object({
  ...meta,
  figure: s.optional(s.nullable(Figure)),
  quality: s.integer({
    description:
      '0 to 5: one point each for a title, an axis title, trace names, visible data, and a legend or annotation.',
  }),
  refresh_interval: s.nullable(s.integer()),
  organize_view_url: s.string(),
  autosize: s.boolean(),
  caption: s.string(),
  height: s.nullable(s.anything()),
  width: s.nullable(s.anything()),
  user: s.optional(UserSummary),
  source_fid: s.optional(s.nullable(s.string())),
})
export type PlotMeta = s.Static<typeof PlotMeta>

/** One page of plots. See docs/api.md#paging. */
export const PlotPage = s.object({
  results: s.array(PlotMeta),
  next: s.nullable(s.string()),
  previous: s.nullable(s.string()),
})
export type PlotPage = s.Static<typeof PlotPage>

export const PlotCreate = s.object({
  figure: Figure,
  raw_data: s.optional(
    s.enumOf(['refuse', 'grid'], {
      description:
        'grid: move the data arrays of the figure into a grid. refuse: return 400. Default: refuse.',
    }),
  ),
  on_conflict: s.optional(
    s.enumOf(['fail', 'rename', 'replace'], {
      description:
        'What to do if the name is taken: `fail` (409; the default), `rename` (to `chart (1)`), `replace` (the figure of the plot of that name; it keeps its fid, its link and its access).',
    }),
  ),
  filename: s.optional(s.string()),
  ...Parent,
  world_readable: s.optional(s.boolean()),
  share_key_enabled: s.optional(s.boolean()),
  metadata: s.optional(Metadata),
  source_fid: s.optional(s.nullable(s.string())),
})

export const PlotCreated = s.object({
  file: PlotMeta,
  action: s.optional(
    s.enumOf(['created', 'replaced', 'unchanged'], {
      description: 'unchanged: the plot already has exactly this figure.',
    }),
  ),
  warnings: s.array(s.string()),
  grid_fid: s.optional(s.nullable(s.string({ description: 'The grid that contains the data arrays.' }))),
})
export type PlotCreated = s.Static<typeof PlotCreated>

export const PlotUpdate = s.object({
  ...writable,
  figure: s.optional(Figure),
  raw_data: PlotCreate.properties.raw_data,
})

export const SessionCreate = s.object({
  path: s.optional(s.string({ description: 'The page to show after signing in, for example /~alice/7/.' })),
})

export const NewSession = s.object({
  url: s.string({ description: 'Signs in the browser that opens it first, within five minutes.' }),
  path: s.string({ description: 'The same without the address of the server.' }),
  expires_at: s.string(),
})

const size = (description: string) => s.optional(s.nullable(s.number({ description })))

export const ImageCreate = s.object({
  figure: Figure,
  format: s.optional(s.enumOf(['png', 'svg', 'jpeg', 'webp', 'pdf'], { description: 'Default: png.' })),
  width: size('In CSS pixels. Default: the width in the layout, or 700.'),
  height: size('In CSS pixels. Default: the height in the layout, or 500.'),
  scale: size('Pixels per CSS pixel. Default: 1.'),
  encoded: s.optional(
    s.boolean({ description: 'If true, return a JSON object whose field `image` is the image in base64.' }),
  ),
})

export const FileCopy = s.object({
  deep_copy: s.optional(s.boolean({ description: 'For plots: also copy the data.' })),
  make_public: s.optional(s.boolean({ description: 'Whether anyone can read the copy.' })),
})

export const FileCopied = s.object({
  files: s.array(s.union(GridMeta, PlotMeta, FileMeta)),
  new_fid: s.string(),
  warnings: s.array(s.string()),
})
export type FileCopied = s.Static<typeof FileCopied>

/** Relations between files in a sources graph. See docs/api.md#sources. */
export const relations = ['parent', 'child', 'created plots', 'source grids', 'source URL'] as const
export type Relation = (typeof relations)[number]

/** JSON Graph Format 2. */
export const SourcesGraph = s.object({
  graph: s.object({
    id: s.string(),
    type: s.string(),
    label: s.string(),
    directed: s.boolean(),
    nodes: s.record(s.object({ label: s.string(), metadata: s.optional(s.record(s.anything())) })),
    edges: s.array(
      s.object({ source: s.string(), target: s.string(), relation: s.string(), directed: s.boolean() }),
    ),
  }),
})
export type SourcesGraph = s.Static<typeof SourcesGraph>

export const DropReference = s.object({ fid: s.string({ description: 'Fid of the extra.' }) })

export const ExtraCreate = s.object({
  filename: s.string(),
  content: s.anything(),
  referencers: s.array(s.string(), { description: 'Fids of the files that reference the extra.' }),
  world_readable: s.optional(s.boolean()),
})

/** A collaborator: a user, an invited e-mail address or a team. See docs/api.md#collaborators. */
export const Collaborator = s.object({
  type: s.optional(s.enumOf(['email', 'team'])),
  username: s.optional(s.string()),
  name: s.optional(s.string()),
  email: s.optional(s.nullable(s.string())),
  readonly: s.boolean(),
})
export type Collaborator = s.Static<typeof Collaborator>

export const CollaboratorsAdd = s.object({
  users: s.optional(
    s.array(s.string(), { description: 'Usernames, or e-mail addresses of people without an account.' }),
  ),
  teams: s.optional(s.array(s.string())),
  readonly: s.optional(s.boolean({ description: 'If true, they can only read the file. Default: false.' })),
  send_email: s.optional(s.boolean({ description: 'Whether to notify them by e-mail. Default: false.' })),
  email_text: s.optional(s.string()),
  add_to_grids: s.optional(
    s.boolean({ description: 'For plots: also share the grids of the plot that you own.' }),
  ),
})

export const CollaboratorsRemove = s.object({
  users: s.optional(s.array(s.string())),
  teams: s.optional(s.array(s.string())),
})

export const CollaboratorsChanged = s.object({
  collaborators: s.array(Collaborator),
  emails_sent: s.integer(),
  warnings: s.array(s.string()),
  remaining_access: s.optional(
    s.array(s.string(), { description: 'Who can still open the file, and why, of those who were removed.' }),
  ),
})
export type CollaboratorsChanged = s.Static<typeof CollaboratorsChanged>

export const Team = s.object({
  name: s.string(),
  owner: s.string(),
  members: s.array(s.string()),
})
export type Team = s.Static<typeof Team>

export const TeamCreate = s.object({ name: s.string(), members: s.optional(s.array(s.string())) })
export const MembersChange = s.object({ users: s.array(s.string()) })

export const ApiKey = s.object({
  id: s.string(),
  name: s.string(),
  scopes: s.array(s.string()),
  created_at: Timestamp,
  expires_at: s.nullable(Timestamp),
})
export type ApiKey = s.Static<typeof ApiKey>

export const KeyCreate = s.object({
  name: s.optional(s.string()),
  scopes: s.optional(s.array(s.enumOf(scopeNames))),
  expires: s.optional(
    s.string({ description: 'A duration such as 30d, 12h or 90m. Default: the key does not expire.' }),
  ),
})

export const NewApiKey = s.object({ ...ApiKey.properties, username: s.string(), api_key: s.string() })
export type NewApiKey = s.Static<typeof NewApiKey>

export const TokenExchange = s.object({
  token: s.string({
    description: 'An OpenID Connect identity token whose audience is the URL of the service.',
  }),
})

export const LoginRedeem = s.object({
  code: s.string({ description: 'The code that the browser was given.' }),
  verifier: s.string({ description: 'The secret whose SHA-256, in Base64url, was the challenge.' }),
  name: s.optional(s.string({ description: 'Label of the key.' })),
})

export const FolderCreate = s.object({
  path: s.string({ description: 'Folder names, separated by /. Missing folders are created.' }),
  ...Parent,
  world_readable: s.optional(s.boolean()),
})

export const RowsAppend = s.object({
  rows: s.array(s.array(s.anything()), {
    description: 'One array per row, with one value per column in column order.',
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
  cols: s.union(
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
