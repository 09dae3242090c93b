// Operations on derived grids.
import { uploadHeaders } from '../headers.ts'
import * as r from '../resources/index.ts'
import type { Operation } from './operation.ts'
import { jsonBody, noBody } from './shared.ts'

export const derivationsOperations = {
  'grids.derive': {
    summary: 'Create a grid from a query, which follows the grids that it reads',
    method: 'POST',
    path: '/v2/grids/derive',
    access: 'caller',
    agentTool: 'changes',
    headers: { 'Allow-Column-Loss': uploadHeaders['Allow-Column-Loss'], Draft: uploadHeaders.Draft },
    body: jsonBody(r.Derive),
    status: 201,
    result: r.Derived,
  },
  'derivations.list': {
    summary: 'List your derived grids, with their states',
    method: 'GET',
    path: '/v2/derivations',
    access: 'caller',
    agentTool: 'reads',
    body: noBody,
    status: 200,
    result: r.Derivations,
  },
  'derivations.get': {
    summary: 'Get the state of a derived grid, and with write access its query',
    method: 'GET',
    path: '/v2/grids/:fid/derivation',
    access: 'read',
    agentTool: 'reads',
    body: noBody,
    status: 200,
    result: r.Derivation,
  },
  'derivations.delete': {
    summary: 'Make a derived grid one like others, with the content that it has',
    method: 'DELETE',
    path: '/v2/grids/:fid/derivation',
    access: 'own',
    agentTool: 'changes',
    body: noBody,
    status: 204,
    result: 'none',
  },
} as const satisfies Record<string, Operation>
