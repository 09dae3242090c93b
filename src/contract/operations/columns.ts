// Operations on columns of grids.
import * as r from '../resources/index.ts'
import * as s from '../schema.ts'
import type { Operation } from './operation.ts'
import { dataBody, noBody, uids } from './shared.ts'

export const columnsOperations = {
  'columns.get': {
    summary: 'Get columns with their data',
    method: 'GET',
    path: '/v2/grids/:fid/col',
    access: 'read',
    takesVersion: true,
    agentTool: 'reads',
    query: s.object({ uid: s.optional(uids) }),
    body: noBody,
    status: 200,
    result: 'stream',
  },
  'columns.create': {
    summary: 'Append columns to a grid',
    method: 'POST',
    path: '/v2/grids/:fid/col',
    access: 'write',
    agentTool: 'adds',
    body: dataBody(r.ColumnsCreate, { raw: ['cols'] }),
    status: 201,
    result: r.ColumnsWritten,
  },
  'columns.update': {
    summary: 'Replace the data, name or order of columns',
    method: 'PUT',
    path: '/v2/grids/:fid/col',
    access: 'write',
    agentTool: 'changes',
    query: s.object({ uid: uids }),
    body: dataBody(r.ColumnsUpdate, { raw: ['cols'] }),
    status: 200,
    result: r.ColumnsWritten,
  },
  'columns.delete': {
    summary: 'Remove columns from a grid',
    method: 'DELETE',
    path: '/v2/grids/:fid/col',
    access: 'write',
    agentTool: 'changes',
    query: s.object({ uid: uids }),
    body: noBody,
    status: 204,
    result: 'none',
  },
} as const satisfies Record<string, Operation>
