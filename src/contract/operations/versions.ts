// Operations on versions.
import * as r from '../resources/index.ts'
import * as s from '../schema.ts'
import type { Operation } from './operation.ts'
import { jsonBody, noBody } from './shared.ts'

const under = ['grids', 'plots'] as const

export const versionsOperations = {
  'versions.list': {
    summary: 'List the versions of a grid or plot',
    method: 'GET',
    path: '/v2/files/:fid/versions',
    alsoUnder: under,
    access: 'read',
    agentTool: 'reads',
    query: s.object({
      before: s.optional(s.integer({ minimum: 1, description: 'Only versions before this one.' })),
      page_size: s.optional(s.integer({ minimum: 1 })),
    }),
    body: noBody,
    status: 200,
    result: r.Versions,
  },
  'versions.revert': {
    summary: 'Restore an earlier version of a grid or plot, as a new version',
    method: 'POST',
    path: '/v2/files/:fid/revert',
    alsoUnder: under,
    access: 'write',
    agentTool: 'changes',
    body: jsonBody(r.VersionRevert, { form: true }),
    status: 200,
    result: r.Reverted,
  },
  'versions.keep': {
    summary: 'Keep a version of a grid or plot: it does not expire, and everyone with read access can see it',
    method: 'POST',
    path: '/v2/files/:fid/keep',
    alsoUnder: under,
    access: 'write',
    agentTool: 'adds',
    body: jsonBody(r.VersionKeep, { form: true }),
    status: 200,
    result: r.Version,
  },
  'versions.forget': {
    summary: 'Permanently remove a version of a grid or plot',
    method: 'DELETE',
    path: '/v2/files/:fid/versions',
    alsoUnder: under,
    access: 'own',
    agentTool: 'none',
    query: s.object({ version: s.string({ description: 'Number or other reference of the version.' }) }),
    body: noBody,
    status: 200,
    result: r.VersionForgotten,
  },
} as const satisfies Record<string, Operation>
