import { uploadHeaders } from '../headers.ts'
import * as r from '../resources/index.ts'
import * as s from '../schema.ts'
import type { Operation } from './operation.ts'
import { contentFormats, data, dataTypes, lookupQuery, none, readingHeaders, uploadTypes } from './shared.ts'

const whereField = s.optional(
  s.string({
    description:
      "Only rows for which this is true: temp > 20 and city in ('Oslo', 'Rome'). See docs/filtering.md.",
  }),
)

export const gridsOperations = {
  'grids.create': {
    summary: 'Create a grid from columns',
    method: 'POST',
    path: '/v2/grids',
    access: 'caller',
    agents: 'adds',
    body: data(r.GridCreate, { raw: ['data'] }),
    status: 201,
    result: r.Created(s.union(r.GridMeta, r.FolderMeta)),
  },
  'grids.upload': {
    summary: 'Create a grid from a data file',
    method: 'POST',
    path: '/v2/grids/upload',
    access: 'caller',
    agents: 'changes',
    headers: uploadHeaders,
    body: {
      kind: 'bytes',
      types: ['application/octet-stream', ...uploadTypes, 'multipart/form-data'],
      limit: 'upload_bytes',
    },
    status: 201,
    result: r.Uploaded(s.union(r.GridMeta, r.FolderMeta)),
  },
  'grids.try_upload': {
    summary: 'Say what an upload would do, without changing anything',
    method: 'POST',
    path: '/v2/grids/upload/try',
    access: 'caller',
    agents: 'none',
    repeatable: true,
    isDry: true,
    headers: uploadHeaders,
    body: {
      kind: 'bytes',
      types: ['application/octet-stream', ...uploadTypes, 'multipart/form-data'],
      limit: 'upload_bytes',
    },
    status: 200,
    result: r.UploadTried,
  },
  'grids.lookup': {
    summary: 'Find a grid by its path',
    method: 'GET',
    path: '/v2/grids/lookup',
    access: 'anyone',
    agents: 'reads',
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
    ofVersions: true,
    agents: 'reads',
    body: none,
    status: 200,
    result: r.GridMeta,
  },
  'grids.content': {
    summary: 'Get the content of a grid as columns or rows',
    method: 'GET',
    path: '/v2/grids/:fid/content',
    access: 'read',
    ofVersions: true,
    agents: 'reads',
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
      offset: s.optional(s.integer({ minimum: 0, description: 'Number of rows to leave out at the start.' })),
      tail: s.optional(s.integer({ minimum: 0, description: 'Number of rows to return from the end.' })),
      sample: s.optional(
        s.integer({
          minimum: 0,
          description: 'Number of rows to return at random, in their order. Not with json.',
        }),
      ),
      where: whereField,
      sort: s.optional(
        s.string({
          description: 'Columns to sort by, comma-separated; a minus sign means descending: -date,city.',
        }),
      ),
    }),
    body: none,
    status: 200,
    result: 'stream',
    produces: ['application/json', ...Object.values(dataTypes)],
  },
  'grids.describe': {
    summary: 'Get statistics of the columns of a grid',
    method: 'GET',
    path: '/v2/grids/:fid/describe',
    access: 'read',
    ofVersions: true,
    agents: 'reads',
    query: s.object({
      columns: s.optional(
        s.array(s.string(), {
          description: 'Names of the columns to describe, in this order. Default: all columns.',
        }),
      ),
      where: whereField,
    }),
    body: none,
    status: 200,
    result: r.GridDescription,
  },
  'grids.diff': {
    summary: 'Compare a grid with another one, or with an earlier version of it',
    method: 'GET',
    path: '/v2/grids/:fid/diff',
    access: 'read',
    ofVersions: true,
    agents: 'reads',
    query: s.object({
      base: s.optional(
        s.string({ description: 'The id of the grid to compare with. Default: the grid itself.' }),
      ),
      base_version: s.optional(
        s.string({
          description:
            'The version to compare with. Default: the one before; of another grid, its present one.',
        }),
      ),
      key: s.optional(
        s.array(s.string(), {
          description:
            'Columns by which rows are found. Default: the key of the grid. Empty or without one, rows are compared in order.',
        }),
      ),
      columns: s.optional(
        s.array(s.string(), { description: 'Compare only these columns. Default: all columns.' }),
      ),
      ignore: s.optional(s.array(s.string(), { description: 'Columns that are not compared.' })),
      tolerance: s.optional(
        s.number({ minimum: 0, description: 'Numbers that differ by no more are the same. Default: 0.' }),
      ),
      limit: s.optional(
        s.integer({ minimum: 0, description: 'Rows that are listed, of up to 10,000. Default: 100.' }),
      ),
      context: s.optional(
        s.boolean({
          description:
            'Without a key: changed rows have a column more, also where it is the same, which says what they are about.',
        }),
      ),
      removed_first: s.optional(
        s.boolean({
          description:
            'If there are more rows than the limit, list removed ones, then changed ones, then added ones.',
        }),
      ),
    }),
    body: none,
    status: 200,
    result: r.GridDiff,
  },
  'rows.append': {
    summary: 'Append rows to a grid',
    method: 'POST',
    path: '/v2/grids/:fid/row',
    access: 'write',
    agents: 'adds',
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
  'rows.try_append': {
    summary: 'Say what an append would do, without changing anything',
    method: 'POST',
    path: '/v2/grids/:fid/row/try',
    access: 'write',
    agents: 'none',
    repeatable: true,
    isDry: true,
    headers: readingHeaders,
    body: {
      kind: 'bytes',
      types: [dataTypes.csv, dataTypes.tsv, dataTypes.ndjson],
      json: r.RowsAppend,
      raw: ['rows'],
      limit: 'upload_bytes',
    },
    status: 200,
    result: r.RowsAppended,
  },
} as const satisfies Record<string, Operation>
