/**
 * Every operation of the API, once. Routes, the client, validation, the OpenAPI document and the
 * permission tests are read off this table.
 */
import { uploadHeaders } from './headers.ts'
import type { LimitName } from './limits.ts'
import * as r from './resources.ts'
import * as s from './schema.ts'

/** What a caller must be: nobody in particular, somebody, or somebody with that permission on the file. */
export type Access = 'anyone' | 'caller' | 'read' | 'write' | 'admin'

export type Body =
  | { kind: 'none' }
  /** `raw` fields are handed on as the bytes they came in; `form`: form-encoded bodies are taken too. */
  | { kind: 'json'; schema: s.ObjectSchema; form?: boolean; raw?: readonly string[]; limit: LimitName }
  /** Bytes of a data file. With `json`, a JSON body of that schema is taken as well. */
  | {
      kind: 'bytes'
      types: readonly string[]
      json?: s.ObjectSchema
      raw?: readonly string[]
      limit: LimitName
    }

export interface Operation {
  summary: string
  /** Section of the reference. */
  section: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** `:fid` stands for a file id. */
  path: string
  access: Access
  /** Only files of this kind are found under the path. */
  filetype?: 'grid' | 'plot' | 'fold'
  query?: s.ObjectSchema
  /** Headers of the service's own, without their prefix. */
  headers?: Record<string, s.Schema>
  body: Body
  status: 200 | 201 | 204
  /** JSON Schema of the answer; `stream` for bytes of a type the handler names. */
  result: s.Schema | 'stream' | 'none'
}

const none = { kind: 'none' } as const
const json = (schema: s.ObjectSchema, more: { form?: boolean; raw?: readonly string[] } = {}) =>
  ({ kind: 'json', schema, ...more, limit: 'json_body_bytes' }) as const

const lookupQuery = s.object({
  path: s.string({ description: "Names parted by '/', relative to parent." }),
  parent: s.optional(
    s.integer({ description: "Id of the folder to start in; the user's home folder if not given." }),
  ),
  user: s.optional(s.string({ description: 'Whose files; the caller if not given.' })),
})

const listQuery = {
  user: s.optional(s.string()),
  filetype: s.optional(s.array(s.oneOf(['plot', 'grid', 'fold']))),
  order_by: s.optional(s.oneOf(['filename', '-filename', 'date_modified', '-date_modified'])),
  page: s.optional(s.integer({ minimum: 1 })),
  page_size: s.optional(s.integer({ minimum: 1 })),
  cursor: s.optional(s.string()),
}

const uids = s.string({ description: 'Column uids, parted by commas.' })

export const contentFormats = ['json', 'csv', 'tsv', 'ndjson'] as const

export const dataTypes = {
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  ndjson: 'application/x-ndjson',
} as const

const readingHeaders = {
  Delimiter: uploadHeaders.Delimiter,
  Encoding: uploadHeaders.Encoding,
  Header: uploadHeaders.Header,
  'Null-Text': uploadHeaders['Null-Text'],
}

export const operations = {
  'grids.create': {
    summary: 'Make a grid of columns',
    section: '4.1',
    method: 'POST',
    path: '/v2/grids',
    access: 'caller',
    body: json(r.GridCreate, { raw: ['data'] }),
    status: 201,
    result: r.Created(r.GridMeta),
  },
  'grids.upload': {
    summary: 'Make a grid of a data file',
    section: '4.1',
    method: 'POST',
    path: '/v2/grids/upload',
    access: 'caller',
    headers: uploadHeaders,
    body: {
      kind: 'bytes',
      types: ['application/octet-stream', dataTypes.csv, dataTypes.tsv, 'multipart/form-data'],
      limit: 'upload_bytes',
    },
    status: 201,
    result: r.Created(r.GridMeta),
  },
  'grids.lookup': {
    summary: 'Find a grid by its path',
    section: '4.1',
    method: 'GET',
    path: '/v2/grids/lookup',
    access: 'anyone',
    filetype: 'grid',
    query: lookupQuery,
    body: none,
    status: 200,
    result: r.GridMeta,
  },
  'grids.get': {
    summary: 'Meta information of a grid',
    section: '4.1',
    method: 'GET',
    path: '/v2/grids/:fid',
    access: 'read',
    filetype: 'grid',
    body: none,
    status: 200,
    result: r.GridMeta,
  },
  'grids.content': {
    summary: 'The columns of a grid, or its rows',
    section: '4.1',
    method: 'GET',
    path: '/v2/grids/:fid/content',
    access: 'read',
    filetype: 'grid',
    query: s.object({
      format: s.optional(
        s.oneOf([...contentFormats, 'api'], {
          description: 'json (columns), csv, tsv, or ndjson (an object a row)',
        }),
      ),
      columns: s.optional(
        s.array(s.string(), { description: 'Names of the columns wanted, in that order; all if not given.' }),
      ),
      head: s.optional(s.integer({ minimum: 0, description: 'Only the first rows.' })),
    }),
    body: none,
    status: 200,
    result: 'stream',
  },
  'rows.append': {
    summary: 'Append rows',
    section: '4.1',
    method: 'POST',
    path: '/v2/grids/:fid/row',
    access: 'write',
    filetype: 'grid',
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
    summary: 'Columns with their data',
    section: '4.1',
    method: 'GET',
    path: '/v2/grids/:fid/col',
    access: 'read',
    filetype: 'grid',
    query: s.object({ uid: s.optional(uids) }),
    body: none,
    status: 200,
    result: 'stream',
  },
  'columns.create': {
    summary: 'Append columns',
    section: '4.1',
    method: 'POST',
    path: '/v2/grids/:fid/col',
    access: 'write',
    filetype: 'grid',
    body: json(r.ColumnsCreate),
    status: 201,
    result: r.ColumnsWritten,
  },
  'columns.update': {
    summary: 'Replace data, name or order of columns',
    section: '4.1',
    method: 'PUT',
    path: '/v2/grids/:fid/col',
    access: 'write',
    filetype: 'grid',
    query: s.object({ uid: uids }),
    body: json(r.ColumnsUpdate, { raw: ['cols'] }),
    status: 200,
    result: r.ColumnsWritten,
  },
  'columns.delete': {
    summary: 'Remove columns',
    section: '4.1',
    method: 'DELETE',
    path: '/v2/grids/:fid/col',
    access: 'write',
    filetype: 'grid',
    query: s.object({ uid: uids }),
    body: none,
    status: 204,
    result: 'none',
  },
  'files.lookup': {
    summary: 'Find a file by its path',
    section: '4.3',
    method: 'GET',
    path: '/v2/files/lookup',
    access: 'anyone',
    query: s.object({
      ...lookupQuery.properties,
      exists: s.optional(s.boolean({ description: 'true: only whether it exists.' })),
    }),
    body: none,
    status: 200,
    result: r.FileMeta,
  },
  'files.get': {
    summary: 'Meta information of a file or folder',
    section: '4.3',
    method: 'GET',
    path: '/v2/files/:fid',
    access: 'read',
    body: none,
    status: 200,
    result: r.FileMeta,
  },
  'folders.create': {
    summary: 'Make a folder',
    section: '4.3',
    method: 'POST',
    path: '/v2/folders',
    access: 'caller',
    body: json(r.FolderCreate, { form: true }),
    status: 201,
    result: r.Created(r.FolderMeta),
  },
  'folders.home': {
    summary: "What is in a user's home folder",
    section: '4.3',
    method: 'GET',
    path: '/v2/folders/home',
    access: 'anyone',
    query: s.object(listQuery),
    body: none,
    status: 200,
    result: r.FolderMeta,
  },
  'folders.all': {
    summary: "All of a user's files",
    section: '4.3',
    method: 'GET',
    path: '/v2/folders/all',
    access: 'anyone',
    query: s.object(listQuery),
    body: none,
    status: 200,
    result: s.object({ children: r.Page }),
  },
  'folders.lookup': {
    summary: 'Find a folder by its path',
    section: '4.3',
    method: 'GET',
    path: '/v2/folders/lookup',
    access: 'anyone',
    filetype: 'fold',
    query: lookupQuery,
    body: none,
    status: 200,
    result: r.FolderMeta,
  },
  'folders.get': {
    summary: 'A folder and what is in it',
    section: '4.3',
    method: 'GET',
    path: '/v2/folders/:fid',
    access: 'read',
    filetype: 'fold',
    query: s.object(listQuery),
    body: none,
    status: 200,
    result: r.FolderMeta,
  },
  'users.current': {
    summary: 'Who the caller is',
    section: '5',
    method: 'GET',
    path: '/v2/users/current',
    access: 'caller',
    body: none,
    status: 200,
    result: r.UserMeta,
  },
  'service.index': {
    summary: 'Addresses of the resources',
    section: '9',
    method: 'GET',
    path: '/v2',
    access: 'anyone',
    body: none,
    status: 200,
    result: s.record(s.string()),
  },
  'service.openapi': {
    summary: 'This API as an OpenAPI 3.1 document',
    section: '9',
    method: 'GET',
    path: '/v2/openapi.json',
    access: 'anyone',
    body: none,
    status: 200,
    result: s.anything(),
  },
  'service.health': {
    summary: 'The process answers',
    section: '-',
    method: 'GET',
    path: '/healthz',
    access: 'anyone',
    body: none,
    status: 200,
    result: r.Health,
  },
  'service.ready': {
    summary: 'The store answers',
    section: '-',
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

/** What an operation answers, as a type. */
export type ResultOf<N extends OperationName> = Operations[N]['result'] extends s.Schema
  ? s.Static<Operations[N]['result']>
  : undefined

/** What an operation takes in its query, as a type. */
export type QueryOf<N extends OperationName> = Operations[N] extends { query: infer Q extends s.Schema }
  ? s.Static<Q>
  : Record<string, never>

/** The path of an operation: `pathOf('grids.get', 'alice:1')` is `/v2/grids/alice:1`. */
export function pathOf(name: OperationName, fid?: string): string {
  const { path } = operations[name]
  return fid === undefined ? path : path.replace(':fid', fid)
}
