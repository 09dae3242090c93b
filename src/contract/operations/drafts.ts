// Operations on drafts.
import * as r from '../resources/index.ts'
import * as s from '../schema.ts'
import type { Operation } from './operation.ts'
import { noBody } from './shared.ts'

export const draftsOperations = {
  'drafts.list': {
    summary: 'List your drafts',
    method: 'GET',
    path: '/v2/drafts',
    access: 'caller',
    agentTool: 'reads',
    query: s.object({ name: s.optional(s.string({ description: 'Only drafts with this name.' })) }),
    body: noBody,
    status: 200,
    result: r.Drafts,
  },
  'drafts.charts': {
    summary: 'List the charts and boards of your drafts with this name, with images before and after',
    method: 'GET',
    path: '/v2/drafts/:id/charts',
    access: 'caller',
    agentTool: 'none',
    body: noBody,
    status: 200,
    result: r.DraftCharts,
  },
  'drafts.delete': {
    summary: 'Delete your drafts with this name',
    method: 'DELETE',
    path: '/v2/drafts/:id',
    access: 'caller',
    agentTool: 'changes',
    query: s.object({
      fid: s.optional(s.array(s.string(), { description: 'Only drafts of these grids. Default: all.' })),
    }),
    body: noBody,
    status: 200,
    result: r.DraftsDeleted,
  },
} as const satisfies Record<string, Operation>
