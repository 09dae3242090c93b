/** Files, folders and extras. See docs/api.md#files. */
import * as s from '../schema.ts'
import { CREATABLE_FIELDS, NEW_IDLOCAL, Parent, Results, Timestamp } from './shared.ts'

/** Types of files, as in the API: `fold` is a folder, `dashboard` a board. */
export const FILETYPES = ['plot', 'grid', 'fold', 'extra', 'dashboard'] as const

export const SHARE_ITEMS = 'Of a board: its readers see all items that its owner may read.'

/** Metadata common to all filetypes. Fields that only the owner sees are optional. See docs/api.md#files. */
export const META_FIELDS = {
  fid: s.string(),
  filename: s.string(),
  filetype: s.enumOf(FILETYPES),
  owner: s.string(),
  title: s.string({
    description: 'The same as filename. The title of a chart is figure.layout.title.text.',
  }),
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
  share_items: s.optional(s.boolean()),
  stale_since: s.optional(
    s.string({ description: 'Since when refreshes of the grid fail. Absent if the last one did not.' }),
  ),
  source_tag: s.optional(
    s.nullable(s.string({ description: 'The Source-Tag of the upload, if the file has not changed since.' })),
  ),
  /** Ignored parts of the change. */
  warnings: s.optional(s.array(s.string())),
}

/** Read-only fields that clients may send in an update. They are ignored, and named in `warnings`. */
export const readOnlyFields: ReadonlySet<string> = new Set([
  ...Object.keys(META_FIELDS),
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

export const FileMeta = s.object(META_FIELDS)
export type FileMeta = s.Static<typeof FileMeta>

export const Page = s.object({
  results: s.array(FileMeta),
  count: s.nullable(
    s.integer({
      description:
        'In lists of one owner: files on all pages; null above 1,000 files of another user. In other lists: files on this page.',
    }),
  ),
  next: s.nullable(s.string()),
  previous: s.nullable(s.string()),
})

export const FolderMeta = s.object({ ...META_FIELDS, children: s.optional(Page) })
export type FolderMeta = s.Static<typeof FolderMeta>

export const Created = <T extends s.Schema>(file: T) => s.object({ file, warnings: s.array(s.string()) })

/** Writable metadata. Missing fields keep their values. */
export const WRITABLE_FIELDS = {
  ...CREATABLE_FIELDS,
  is_theme: s.optional(s.nullable(s.boolean())),
  is_template: s.optional(s.nullable(s.boolean())),
  share_items: s.optional(s.boolean({ description: SHARE_ITEMS })),
}

export const FileUpdate = s.object(WRITABLE_FIELDS)
export type FileUpdate = s.Static<typeof FileUpdate>

/** Relations between files in a sources graph. See docs/api.md#sources. */
export const relations = [
  'parent',
  'child',
  'created plots',
  'boards',
  'derived grids',
  'source grids',
  'source URL',
  'items',
  'alerts',
  'mailings',
] as const

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
  idlocal: NEW_IDLOCAL,
})

export const FolderCreate = s.object({
  path: s.string({ description: 'Folder names, separated by /. Missing folders are created.' }),
  ...Parent,
  world_readable: s.optional(s.boolean()),
  idlocal: NEW_IDLOCAL,
})

/** Returns the name of a filetype for people: `folder` for the API's `fold`. */
export function filetypeLabel(filetype: string): string {
  return filetype === 'fold' ? 'folder' : filetype === 'dashboard' ? 'board' : filetype
}
