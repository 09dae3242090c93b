/**
 * The table of all API operations. Routes, the client, validation, the OpenAPI document and the
 * permission tests are derived from it.
 */
import { uploadHeaders } from './headers.ts'
import type { LimitName } from './limits.ts'
import * as r from './resources.ts'
import * as s from './schema.ts'

/**
 * What an operation requires of the caller: nothing (`anyone`), an account (`caller`) or administrator
 * rights (`operator`). For an operation on a file: the access to that file (`service/access/policy.ts`).
 */
export type Access = 'anyone' | 'caller' | 'operator' | FileAccess
export type FileAccess = 'read' | 'collaborate' | 'write' | 'trash' | 'own'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** First path segment → filetype. `files` matches every filetype. */
export const resources = {
  files: undefined,
  grids: 'grid',
  plots: 'plot',
  folders: 'fold',
  extras: 'extra',
} as const
export type Resource = keyof typeof resources

export type Body =
  | { kind: 'none' }
  /** `raw`: fields passed to the handler as unparsed bytes. `form`: form-encoded bodies are accepted too. */
  | { kind: 'json'; schema: s.ObjectSchema; form?: boolean; raw?: readonly string[]; limit: LimitName }
  /** The bytes of a data file. With `json`, a JSON body with that schema is accepted too. */
  | {
      kind: 'bytes'
      types: readonly string[]
      json?: s.ObjectSchema
      raw?: readonly string[]
      limit: LimitName
    }

export interface Operation {
  summary: string
  method: Method
  /** An alternative method with the same effect. */
  synonym?: Method
  /** `:fid` is a file id. The resource in the path restricts which filetype is found. */
  path: string
  /** Other resources that have the same route: `/v2/grids/:fid/trash` besides `/v2/files/:fid/trash`. */
  under?: readonly Resource[]
  access: Access
  /** Requires an account even if the access level alone does not. */
  account?: true
  query?: s.ObjectSchema
  /** Headers of the service's own, without their prefix. */
  headers?: Record<string, s.Schema>
  body: Body
  status: 200 | 201 | 204
  /** JSON Schema of the response body; `stream` for bytes with one of the media types in `produces`. */
  result: s.Schema | 'stream' | 'none'
  /** Media types of a streamed response. Default: JSON. */
  produces?: readonly string[]
}

const none = { kind: 'none' } as const
/** A JSON body: with `raw`, those fields are passed on unparsed; with `form`, it may be form-encoded. */
const json = <S extends s.ObjectSchema>(schema: S, more: { form?: boolean } = {}) =>
  ({ kind: 'json', schema, ...more, limit: 'small_body_bytes' }) as const
/** A body that carries data or a figure. */
const data = <S extends s.ObjectSchema, const R extends readonly string[] = []>(
  schema: S,
  more: { form?: boolean; raw?: R } = {},
) => ({ kind: 'json', schema, ...more, limit: 'json_body_bytes' }) as const

const everywhere = ['grids', 'plots', 'folders', 'extras'] as const

const lookupQuery = s.object({
  path: s.string({ description: "Path relative to parent; names are separated by '/'." }),
  parent: s.optional(
    s.integer({ description: "Id of the folder to start in. Default: the user's home folder." }),
  ),
  user: s.optional(s.string({ description: 'Username of the owner. Default: the caller.' })),
  exists: s.optional(s.boolean({ description: 'If true, return only whether the file exists.' })),
})

const listQuery = {
  user: s.optional(s.string()),
  filetype: s.optional(s.array(s.enumOf(['plot', 'grid', 'fold', 'extra']))),
  order_by: s.optional(s.enumOf(['filename', '-filename', 'date_modified', '-date_modified'])),
  page: s.optional(s.integer({ minimum: 1 })),
  page_size: s.optional(s.integer({ minimum: 1 })),
  cursor: s.optional(s.string()),
}

const uids = s.string({ description: 'Column uids, comma-separated.' })

const pageQuery = {
  page: s.optional(s.integer({ minimum: 1 })),
  page_size: s.optional(s.integer({ minimum: 1 })),
  cursor: s.optional(s.string()),
}

/** Image sizes of `files.image`; any other name is answered with 400. */
export const imageNames = ['default', 'block-thumb', 'list-thumb'] as const

const plotContentQuery = {
  inline_data: s.optional(s.boolean({ description: 'If true, include the data next to the references.' })),
  map_data: s.optional(
    s.enumOf(['unreadable'], {
      description: 'unreadable: include the data of grids that the caller cannot read, keyed by reference.',
    }),
  ),
}

export const contentFormats = ['json', 'csv', 'tsv', 'ndjson'] as const

export const dataTypes = {
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  ndjson: 'application/x-ndjson',
} as const

/** Media types accepted for upload. The actual file format is detected from the bytes. */
export const uploadTypes = [
  dataTypes.csv,
  dataTypes.tsv,
  dataTypes.ndjson,
  'application/json',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/zip',
  'application/x-tar',
  'application/gzip',
] as const

const readingHeaders = {
  Delimiter: uploadHeaders.Delimiter,
  Encoding: uploadHeaders.Encoding,
  Header: uploadHeaders.Header,
  'Null-Text': uploadHeaders['Null-Text'],
  'Allow-Type-Change': uploadHeaders['Allow-Type-Change'],
}

export const operations = {
  'grids.create': {
    summary: 'Create a grid from columns',
    method: 'POST',
    path: '/v2/grids',
    access: 'caller',
    body: data(r.GridCreate, { raw: ['data'] }),
    status: 201,
    result: r.Created(s.union(r.GridMeta, r.FolderMeta)),
  },
  'grids.upload': {
    summary: 'Create a grid from a data file',
    method: 'POST',
    path: '/v2/grids/upload',
    access: 'caller',
    headers: uploadHeaders,
    body: {
      kind: 'bytes',
      types: ['application/octet-stream', ...uploadTypes, 'multipart/form-data'],
      limit: 'upload_bytes',
    },
    status: 201,
    result: r.Uploaded(s.union(r.GridMeta, r.FolderMeta)),
  },
  'grids.lookup': {
    summary: 'Find a grid by its path',
    method: 'GET',
    path: '/v2/grids/lookup',
    access: 'anyone',
    query: lookupQuery,
    body: none,
    status: 200,
    result: r.GridMeta,
  },
  'grids.get': {
    summary: 'Get the metadata of a grid',
    method: 'GET',
    path: '/v2/grids/:fid',
    access: 'read',
    body: none,
    status: 200,
    result: r.GridMeta,
  },
  'grids.content': {
    summary: 'Get the content of a grid as columns or rows',
    method: 'GET',
    path: '/v2/grids/:fid/content',
    access: 'read',
    query: s.object({
      format: s.optional(
        s.enumOf([...contentFormats, 'api'], {
          description: 'json (columns), csv, tsv, or ndjson (one object per row). Default: json.',
        }),
      ),
      columns: s.optional(
        s.array(s.string(), {
          description: 'Names of the columns to return, in this order. Default: all columns.',
        }),
      ),
      head: s.optional(
        s.integer({ minimum: 0, description: 'Maximum number of rows to return, from the first row.' }),
      ),
    }),
    body: none,
    status: 200,
    result: 'stream',
    produces: ['application/json', ...Object.values(dataTypes)],
  },
  'rows.append': {
    summary: 'Append rows to a grid',
    method: 'POST',
    path: '/v2/grids/:fid/row',
    access: 'write',
    headers: readingHeaders,
    body: {
      kind: 'bytes',
      types: [dataTypes.csv, dataTypes.tsv, dataTypes.ndjson],
      json: r.RowsAppend,
      raw: ['rows'],
      limit: 'upload_bytes',
    },
    status: 201,
    result: r.RowsAppended,
  },
  'columns.get': {
    summary: 'Get columns with their data',
    method: 'GET',
    path: '/v2/grids/:fid/col',
    access: 'read',
    query: s.object({ uid: s.optional(uids) }),
    body: none,
    status: 200,
    result: 'stream',
  },
  'columns.create': {
    summary: 'Append columns to a grid',
    method: 'POST',
    path: '/v2/grids/:fid/col',
    access: 'write',
    body: data(r.ColumnsCreate, { raw: ['cols'] }),
    status: 201,
    result: r.ColumnsWritten,
  },
  'columns.update': {
    summary: 'Replace the data, name or order of columns',
    method: 'PUT',
    path: '/v2/grids/:fid/col',
    access: 'write',
    query: s.object({ uid: uids }),
    body: data(r.ColumnsUpdate, { raw: ['cols'] }),
    status: 200,
    result: r.ColumnsWritten,
  },
  'columns.delete': {
    summary: 'Remove columns from a grid',
    method: 'DELETE',
    path: '/v2/grids/:fid/col',
    access: 'write',
    query: s.object({ uid: uids }),
    body: none,
    status: 204,
    result: 'none',
  },
  'files.lookup': {
    summary: 'Find a file by its path',
    method: 'GET',
    path: '/v2/files/lookup',
    access: 'anyone',
    query: lookupQuery,
    body: none,
    status: 200,
    result: r.FileMeta,
  },
  'files.get': {
    summary: 'Get the metadata of a file or folder',
    method: 'GET',
    path: '/v2/files/:fid',
    under: ['extras'],
    access: 'read',
    body: none,
    status: 200,
    result: r.FileMeta,
  },
  'files.update': {
    summary: 'Change the name, folder or access of a file',
    method: 'PATCH',
    synonym: 'PUT',
    path: '/v2/files/:fid',
    under: ['grids', 'folders', 'extras'],
    access: 'write',
    body: json(r.FileUpdate, { form: true }),
    status: 200,
    result: r.FileMeta,
  },
  'files.delete': {
    summary: 'Move a file to the trash; its name becomes available immediately',
    method: 'DELETE',
    path: '/v2/files/:fid',
    under: everywhere,
    access: 'trash',
    body: none,
    status: 204,
    result: 'none',
  },
  'files.content': {
    summary: 'Get the raw content of a file',
    method: 'GET',
    path: '/v2/files/:fid/content',
    under: ['extras'],
    access: 'read',
    query: s.object(plotContentQuery),
    body: none,
    status: 200,
    result: 'stream',
    produces: ['application/json', 'text/plain'],
  },
  'files.copy': {
    summary: 'Copy a file into your own files',
    method: 'POST',
    path: '/v2/files/:fid/copy',
    under: everywhere,
    access: 'read',
    account: true,
    body: json(r.FileCopy, { form: true }),
    status: 200,
    result: r.FileCopied,
  },
  'files.image': {
    summary: 'Get an image of a plot',
    method: 'GET',
    path: '/v2/files/:fid/image',
    under: ['plots'],
    access: 'read',
    query: s.object({ image_name: s.optional(s.enumOf(imageNames)) }),
    body: none,
    status: 200,
    result: 'stream',
    produces: ['image/png'],
  },
  'files.path': {
    summary: 'Get the full path of a file',
    method: 'GET',
    path: '/v2/files/:fid/path',
    under: everywhere,
    access: 'read',
    body: none,
    status: 200,
    result: s.object({ path: s.string() }),
  },
  'files.sources': {
    summary: 'Get the lineage of a plot or grid: its sources, and what was created from it',
    method: 'GET',
    path: '/v2/files/:fid/sources',
    under: ['grids', 'plots'],
    access: 'read',
    query: s.object({
      relation: s.optional(
        s.enumOf(r.relations, {
          description: 'Return only this relation. The metadata of a next or prev node contains it.',
        }),
      ),
      cursor: s.optional(s.string()),
    }),
    body: none,
    status: 200,
    result: r.SourcesGraph,
  },
  'files.trash': {
    summary: 'Move a file to the trash',
    method: 'POST',
    path: '/v2/files/:fid/trash',
    under: everywhere,
    access: 'trash',
    body: none,
    status: 200,
    result: r.FileMeta,
  },
  'files.restore': {
    summary: 'Restore a file from the trash',
    method: 'POST',
    path: '/v2/files/:fid/restore',
    under: everywhere,
    access: 'own',
    body: none,
    status: 200,
    result: r.FileMeta,
  },
  'files.permanent_delete': {
    summary: 'Permanently delete a file in the trash',
    method: 'DELETE',
    path: '/v2/files/:fid/permanent_delete',
    under: everywhere,
    access: 'own',
    body: none,
    status: 204,
    result: 'none',
  },
  'files.drop_reference': {
    summary: 'Remove the reference to an extra; the extra itself is kept',
    method: 'POST',
    path: '/v2/files/:fid/drop_reference',
    under: ['grids', 'plots', 'folders'],
    access: 'write',
    body: json(r.DropReference, { form: true }),
    status: 200,
    result: r.FileMeta,
  },
  'collaborators.list': {
    summary: 'List the collaborators of a file',
    method: 'GET',
    path: '/v2/files/:fid/collaborators',
    under: everywhere,
    access: 'collaborate',
    body: none,
    status: 200,
    result: s.array(r.Collaborator),
  },
  'collaborators.add': {
    summary: 'Share a file with users, teams or e-mail addresses',
    method: 'POST',
    path: '/v2/files/:fid/collaborators',
    under: everywhere,
    access: 'own',
    body: json(r.CollaboratorsAdd),
    status: 200,
    result: r.CollaboratorsChanged,
  },
  'collaborators.remove': {
    summary: 'Stop sharing a file with users or teams',
    method: 'DELETE',
    path: '/v2/files/:fid/collaborators',
    under: everywhere,
    access: 'own',
    body: json(r.CollaboratorsRemove),
    status: 200,
    result: r.CollaboratorsChanged,
  },
  'stars.add': {
    summary: 'Star a file',
    method: 'POST',
    path: '/v2/files/:fid/star',
    under: everywhere,
    access: 'read',
    account: true,
    body: none,
    status: 200,
    result: r.FileMeta,
  },
  'stars.remove': {
    summary: 'Remove the star from a file',
    method: 'DELETE',
    path: '/v2/files/:fid/star',
    under: everywhere,
    access: 'read',
    account: true,
    body: none,
    status: 204,
    result: 'none',
  },
  'extras.create': {
    summary: 'Create an extra, a file that other files reference',
    method: 'POST',
    path: '/v2/extras',
    access: 'caller',
    body: data(r.ExtraCreate),
    status: 201,
    result: r.Created(r.FileMeta),
  },
  'plots.list': {
    summary: 'List public plots, newest first',
    method: 'GET',
    path: '/v2/plots',
    access: 'anyone',
    query: s.object({
      order_by: s.optional(s.enumOf(['views', '-views'])),
      min_quality: s.optional(s.integer()),
      max_quality: s.optional(s.integer()),
      page_size: s.optional(s.integer({ minimum: 1 })),
      cursor: s.optional(s.string({ description: 'A cursor from next or previous.' })),
    }),
    body: none,
    status: 200,
    result: r.PlotPage,
  },
  'plots.feed': {
    summary: 'List the plots of the feed in random order',
    method: 'GET',
    path: '/v2/plots/feed',
    access: 'anyone',
    body: none,
    status: 200,
    result: r.PlotPage,
  },
  'plots.lookup': {
    summary: 'Find a plot by its path',
    method: 'GET',
    path: '/v2/plots/lookup',
    access: 'anyone',
    query: lookupQuery,
    body: none,
    status: 200,
    result: r.PlotMeta,
  },
  'plots.create': {
    summary: 'Create a plot from a figure',
    method: 'POST',
    path: '/v2/plots',
    access: 'caller',
    body: data(r.PlotCreate, { raw: ['figure'] }),
    status: 200,
    result: r.PlotCreated,
  },
  'plots.get': {
    summary: 'Get the metadata of a plot',
    method: 'GET',
    path: '/v2/plots/:fid',
    access: 'read',
    body: none,
    status: 200,
    result: r.PlotMeta,
  },
  'plots.update': {
    summary: 'Replace the figure of a plot, or change its name, folder or access',
    method: 'PATCH',
    synonym: 'PUT',
    path: '/v2/plots/:fid',
    access: 'write',
    body: data(r.PlotUpdate, { form: true, raw: ['figure'] }),
    status: 200,
    result: r.PlotMeta,
  },
  'plots.content': {
    summary: 'Get the figure of a plot',
    method: 'GET',
    path: '/v2/plots/:fid/content',
    access: 'read',
    query: s.object(plotContentQuery),
    body: none,
    status: 200,
    result: 'stream',
  },
  'feed.add': {
    summary: 'Add a public plot to the feed',
    method: 'POST',
    path: '/v2/plots/:fid/feed',
    access: 'operator',
    body: none,
    status: 200,
    result: r.PlotMeta,
  },
  'feed.remove': {
    summary: 'Remove a plot from the feed',
    method: 'DELETE',
    path: '/v2/plots/:fid/feed',
    access: 'operator',
    body: none,
    status: 204,
    result: 'none',
  },
  'folders.create': {
    summary: 'Create a folder',
    method: 'POST',
    path: '/v2/folders',
    access: 'caller',
    body: json(r.FolderCreate, { form: true }),
    status: 201,
    result: r.Created(r.FolderMeta),
  },
  'folders.home': {
    summary: 'List the home folder of a user',
    method: 'GET',
    path: '/v2/folders/home',
    access: 'anyone',
    query: s.object(listQuery),
    body: none,
    status: 200,
    result: r.FolderMeta,
  },
  'folders.all': {
    summary: 'List all files of a user',
    method: 'GET',
    path: '/v2/folders/all',
    access: 'anyone',
    query: s.object(listQuery),
    body: none,
    status: 200,
    result: s.object({ children: r.Page }),
  },
  'folders.shared': {
    summary: 'List files that others share with you',
    method: 'GET',
    path: '/v2/folders/shared',
    access: 'caller',
    query: s.object(pageQuery),
    body: none,
    status: 200,
    result: s.object({ children: r.Page }),
  },
  'folders.starred': {
    summary: 'List starred files',
    method: 'GET',
    path: '/v2/folders/starred',
    access: 'caller',
    query: s.object(pageQuery),
    body: none,
    status: 200,
    result: s.object({ children: r.Page }),
  },
  'folders.trashed': {
    summary: 'List your files in the trash',
    method: 'GET',
    path: '/v2/folders/trashed',
    access: 'caller',
    query: s.object(pageQuery),
    body: none,
    status: 200,
    result: s.object({ children: r.Page }),
  },
  'folders.lookup': {
    summary: 'Find a folder by its path',
    method: 'GET',
    path: '/v2/folders/lookup',
    access: 'anyone',
    query: lookupQuery,
    body: none,
    status: 200,
    result: r.FolderMeta,
  },
  'folders.get': {
    summary: 'Get a folder and its contents',
    method: 'GET',
    path: '/v2/folders/:fid',
    access: 'read',
    query: s.object(listQuery),
    body: none,
    status: 200,
    result: r.FolderMeta,
  },
  'users.current': {
    summary: 'Get the authenticated user',
    method: 'GET',
    path: '/v2/users/current',
    access: 'caller',
    body: none,
    status: 200,
    result: r.UserMeta,
  },
  'users.get': {
    summary: 'Get a user',
    method: 'GET',
    path: '/v2/users/:username',
    access: 'anyone',
    body: none,
    status: 200,
    result: r.UserSummary,
  },
  'keys.list': {
    summary: 'List your API keys',
    method: 'GET',
    path: '/v2/keys',
    access: 'caller',
    body: none,
    status: 200,
    result: s.object({ keys: s.array(r.ApiKey) }),
  },
  'keys.create': {
    summary: 'Create an API key; the key is shown only once',
    method: 'POST',
    path: '/v2/keys',
    access: 'caller',
    body: json(r.KeyCreate),
    status: 201,
    result: r.NewApiKey,
  },
  'keys.revoke': {
    summary: 'Revoke an API key',
    method: 'DELETE',
    path: '/v2/keys/:id',
    access: 'caller',
    body: none,
    status: 204,
    result: 'none',
  },
  'teams.list': {
    summary: 'List teams you own or are a member of',
    method: 'GET',
    path: '/v2/teams',
    access: 'caller',
    body: none,
    status: 200,
    result: s.object({ teams: s.array(r.Team) }),
  },
  'teams.create': {
    summary: 'Create a team',
    method: 'POST',
    path: '/v2/teams',
    access: 'caller',
    body: json(r.TeamCreate),
    status: 201,
    result: r.Team,
  },
  'teams.get': {
    summary: 'Get a team and its members',
    method: 'GET',
    path: '/v2/teams/:team',
    access: 'caller',
    body: none,
    status: 200,
    result: r.Team,
  },
  'teams.delete': {
    summary: 'Delete a team',
    method: 'DELETE',
    path: '/v2/teams/:team',
    access: 'caller',
    body: none,
    status: 204,
    result: 'none',
  },
  'members.add': {
    summary: 'Add users to a team',
    method: 'POST',
    path: '/v2/teams/:team/members',
    access: 'caller',
    body: json(r.MembersChange),
    status: 200,
    result: r.Team,
  },
  'members.remove': {
    summary: 'Remove users from a team',
    method: 'DELETE',
    path: '/v2/teams/:team/members',
    access: 'caller',
    body: json(r.MembersChange),
    status: 200,
    result: r.Team,
  },
  'service.index': {
    summary: 'List the URLs of the resources',
    method: 'GET',
    path: '/v2',
    access: 'anyone',
    body: none,
    status: 200,
    result: s.record(s.string()),
  },
  'service.openapi': {
    summary: 'OpenAPI 3.1 document of this API',
    method: 'GET',
    path: '/v2/openapi.json',
    access: 'anyone',
    body: none,
    status: 200,
    result: s.anything(),
  },
  'service.docs': {
    summary: 'API documentation (HTML)',
    method: 'GET',
    path: '/v2/docs',
    access: 'anyone',
    body: none,
    status: 200,
    result: 'stream',
    produces: ['text/html'],
  },
  'service.metrics': {
    summary: 'Prometheus metrics',
    method: 'GET',
    path: '/metrics',
    access: 'anyone',
    body: none,
    status: 200,
    result: 'stream',
    produces: ['text/plain'],
  },
  'service.health': {
    summary: 'Liveness check',
    method: 'GET',
    path: '/healthz',
    access: 'anyone',
    body: none,
    status: 200,
    result: r.Health,
  },
  'service.ready': {
    summary: 'Readiness check',
    method: 'GET',
    path: '/readyz',
    access: 'anyone',
    body: none,
    status: 200,
    result: r.Health,
  },
} as const satisfies Record<string, Operation>

export type Operations = typeof operations
export type OperationName = keyof Operations

/** The TypeScript type of an operation's response body. */
export type ResultOf<N extends OperationName> = Operations[N]['result'] extends s.Schema
  ? s.Static<Operations[N]['result']>
  : undefined

/** The TypeScript type of an operation's query parameters. */
export type QueryOf<N extends OperationName> = Operations[N] extends { query: infer Q extends s.Schema }
  ? s.Static<Q>
  : Record<string, never>

/** The JSON body of an operation as clients send it. */
export type BodyOf<N extends OperationName> = Operations[N]['body'] extends {
  schema: infer S extends s.Schema
}
  ? s.Static<S>
  : Operations[N]['body'] extends { json: infer S extends s.Schema }
    ? s.Static<S>
    : Record<never, never>

/** Names of the body's fields that an operation gets as unparsed bytes. */
export type RawOf<N extends OperationName> = Operations[N]['body'] extends { raw?: readonly (infer R)[] }
  ? string extends R
    ? never
    : R
  : never

/** The service's own headers of an operation, by name without prefix. */
export type HeadersOf<N extends OperationName> = Operations[N] extends {
  headers: infer H extends Record<string, s.Schema>
}
  ? { [K in keyof H]?: s.Static<H[K]> }
  : Record<never, never>

/** The path of an operation: `pathOf('grids.get', 'alice:1')` is `/v2/grids/alice:1`. */
export function pathOf(name: OperationName, what?: string): string {
  const { path } = operations[name]
  // Do not percent-encode the colon of a fid: clients look for it.
  return what === undefined ? path : path.replace(/:\w+/, encodeURIComponent(what).replace('%3A', ':'))
}

/** All paths of an operation, each with the filetype it is restricted to. */
export function routesOf({
  path,
  under = [],
}: Operation): { path: string; filetype: FileKind | undefined }[] {
  const [, version, resource, ...rest] = path.split('/')
  return [resource, ...under].map((one) => ({
    path: one === undefined ? path : ['', version, one, ...rest].join('/'),
    filetype: resources[one as Resource],
  }))
}

export type FileKind = Exclude<(typeof resources)[Resource], undefined>

/** The methods of an operation. */
export function methodsOf({ method, synonym }: Operation): Method[] {
  return synonym ? [method, synonym] : [method]
}
