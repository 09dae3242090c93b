// Operations on checks of grids.
import * as r from '../resources/index.ts'
import type { Operation } from './operation.ts'
import { dataBody, noBody } from './shared.ts'

export const checksOperations = {
  'checks.run': {
    summary: 'Check a grid against rules',
    method: 'POST',
    path: '/v2/grids/:fid/check',
    access: 'read',
    takesVersion: true,
    agentTool: 'reads',
    body: dataBody(r.ChecksRun),
    status: 200,
    result: r.CheckReport,
  },
  'checks.get': {
    summary: 'Get the rules that every write to a grid is checked against',
    method: 'GET',
    path: '/v2/grids/:fid/checks',
    access: 'read',
    agentTool: 'reads',
    body: noBody,
    status: 200,
    result: r.GridChecks,
  },
  'checks.set': {
    summary: 'Set or remove the rules that every write to a grid is checked against',
    method: 'PUT',
    path: '/v2/grids/:fid/checks',
    access: 'write',
    agentTool: 'changes',
    body: dataBody(r.GridChecks),
    status: 200,
    result: r.GridChecks,
  },
} as const satisfies Record<string, Operation>
