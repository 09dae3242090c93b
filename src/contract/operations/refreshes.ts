// Operations that refresh grids.
import { uploadHeaders } from '../headers.ts'
import * as r from '../resources/index.ts'
import type { Operation } from './operation.ts'
import { jsonBody, noBody, readingHeaders } from './shared.ts'

export const refreshesOperations = {
  'refreshes.list': {
    summary: 'List your grids that are refreshed from a URL or a query, with their states',
    method: 'GET',
    path: '/v2/refreshes',
    access: 'caller',
    agentTool: 'reads',
    body: noBody,
    status: 200,
    result: r.Refreshes,
  },
  'refreshes.get': {
    summary: 'Get the URL from which a grid is refreshed, and its state',
    method: 'GET',
    path: '/v2/grids/:fid/refresh',
    access: 'write',
    agentTool: 'reads',
    body: noBody,
    status: 200,
    result: r.Refresh,
  },
  'refreshes.set': {
    summary: 'Refresh a grid from a URL, now and then regularly',
    method: 'PUT',
    path: '/v2/grids/:fid/refresh',
    access: 'own',
    agentTool: 'changes',
    headers: {
      ...readingHeaders,
      Sheet: uploadHeaders.Sheet,
      Range: uploadHeaders.Range,
      'Allow-Column-Loss': uploadHeaders['Allow-Column-Loss'],
    },
    body: jsonBody(r.RefreshSet),
    status: 200,
    result: r.Refresh,
  },
  'refreshes.run': {
    summary: 'Refresh a grid now, from its URL or its query',
    method: 'POST',
    path: '/v2/grids/:fid/refresh',
    access: 'write',
    agentTool: 'changes',
    body: noBody,
    status: 200,
    result: r.Refresh,
  },
  'refreshes.delete': {
    summary: 'Stop the refreshes of a grid from its URL',
    method: 'DELETE',
    path: '/v2/grids/:fid/refresh',
    access: 'own',
    agentTool: 'changes',
    body: noBody,
    status: 204,
    result: 'none',
  },
} as const satisfies Record<string, Operation>
