// Operations on grids and rows.
import { uploadHeaders } from '../headers.ts'
import * as r from '../resources/index.ts'
import * as s from '../schema.ts'
import type { Operation } from './operation.ts'
import {
  contentFormats,
  dataBody,
  dataTypes,
  lookupQuery,
  noBody,
  readingHeaders,
  reshapeQuery,
  uploadTypes,
} from './shared.ts'

const WHERE_FIELD = s.optional(
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
    agentTool: 'adds',
    body: dataBody(r.GridCreate, { raw: ['data'] }),
    status: 201,
    result: r.Created(s.union(r.GridMeta, r.FolderMeta)),
  },
  'grids.upload': {
    summary: 'Create a grid from a data file',
    method: 'POST',
    path: '/v2/grids/upload',
    access: 'caller',
    agentTool: 'changes',
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
    agentTool: 'reads',
    query: lookupQuery,
    body: noBody,
    status: 200,
    result: r.GridMeta,
  },
  'grids.get': {
    summary: 'Get the metadata of a grid',
    method: 'GET',
    path: '/v2/grids/:fid',
    access: 'read',
    takesVersion: true,
    agentTool: 'reads',
    body: noBody,
    status: 200,
    result: r.GridMeta,
  },
  'grids.content': {
    summary: 'Get the content of a grid as columns or rows',
    method: 'GET',
    path: '/v2/grids/:fid/content',
    access: 'read',
    takesVersion: true,
    agentTool: 'reads',
    query: s.object({
      format: s.optional(
        s.enumOf([...contentFormats, 'api'], {
          description:
            'json (columns), csv, tsv, ndjson (one object per row), xlsx, parquet, md (a table in Markdown) or html (a page that is one file). Default: json.',
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
          description: 'Number of random rows to return, in grid order. Not with json.',
        }),
      ),
      where: WHERE_FIELD,
      sort: s.optional(
        s.string({
          description: 'Columns to sort by, comma-separated; a minus sign means descending: -date,city.',
        }),
      ),
      ...reshapeQuery,
    }),
    body: noBody,
    status: 200,
    result: 'stream',
    produces: ['application/json', ...Object.values(dataTypes)],
  },
  'grids.describe': {
    summary: 'Get statistics of the columns of a grid',
    method: 'GET',
    path: '/v2/grids/:fid/describe',
    access: 'read',
    takesVersion: true,
    agentTool: 'reads',
    query: s.object({
      columns: s.optional(
        s.array(s.string(), {
          description: 'Names of the columns to describe, in this order. Default: all columns.',
        }),
      ),
      where: WHERE_FIELD,
    }),
    body: noBody,
    status: 200,
    result: r.GridDescription,
  },
  'grids.diff': {
    summary: 'Compare a grid with another grid, or with an earlier version',
    method: 'GET',
    path: '/v2/grids/:fid/diff',
    access: 'read',
    takesVersion: true,
    agentTool: 'reads',
    query: s.object({
      base: s.optional(
        s.string({ description: 'The id of the grid to compare with. Default: the grid itself.' }),
      ),
      base_version: s.optional(
        s.string({
          description:
            'The version to compare with. Default: the previous one; for another grid, its current one.',
        }),
      ),
      key: s.optional(
        s.array(s.string(), {
          description:
            'Key columns that match rows. Default: the key of the grid. Empty or without a key, rows are compared in order.',
        }),
      ),
      columns: s.optional(
        s.array(s.string(), { description: 'Compare only these columns. Default: all columns.' }),
      ),
      ignore: s.optional(s.array(s.string(), { description: 'Columns to leave out.' })),
      tolerance: s.optional(
        s.number({ minimum: 0, description: 'Numbers are equal up to this difference. Default: 0.' }),
      ),
      limit: s.optional(
        s.integer({ minimum: 0, description: 'Maximum number of rows to list, up to 10,000. Default: 100.' }),
      ),
      context: s.optional(
        s.boolean({
          description:
            'Without a key: add a column that identifies each changed row, even if its value is the same.',
        }),
      ),
      removed_first: s.optional(
        s.boolean({
          description:
            'If there are more rows than the limit, list removed rows first, then changed and added ones.',
        }),
      ),
    }),
    body: noBody,
    status: 200,
    result: r.GridDiff,
  },
  'rows.history': {
    summary: 'List the changes of one row',
    method: 'GET',
    path: '/v2/grids/:fid/row',
    access: 'write',
    agentTool: 'reads',
    query: s.object({
      where: s.string({ description: 'Condition that is true for one row of each version, such as id = 5.' }),
      before: s.optional(s.integer({ minimum: 1, description: 'Only changes before this version.' })),
    }),
    body: noBody,
    status: 200,
    result: r.RowHistory,
  },
  'rows.append': {
    summary: 'Append rows to a grid',
    method: 'POST',
    path: '/v2/grids/:fid/row',
    access: 'write',
    agentTool: 'adds',
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
} as const satisfies Record<string, Operation>
