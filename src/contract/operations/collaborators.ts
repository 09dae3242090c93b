// Operations on the collaborators of a file.
import * as r from '../resources/index.ts'
import * as s from '../schema.ts'
import type { Operation } from './operation.ts'
import { allResources, jsonBody, noBody } from './shared.ts'

export const collaboratorsOperations = {
  'collaborators.list': {
    summary: 'List the collaborators of a file',
    method: 'GET',
    path: '/v2/files/:fid/collaborators',
    alsoUnder: allResources,
    access: 'collaborate',
    agentTool: 'reads',
    body: noBody,
    status: 200,
    result: s.array(r.Collaborator),
  },
  'collaborators.add': {
    summary: 'Share a file with users, teams or e-mail addresses',
    method: 'POST',
    path: '/v2/files/:fid/collaborators',
    alsoUnder: allResources,
    access: 'own',
    agentTool: 'adds',
    body: jsonBody(r.CollaboratorsAdd),
    status: 200,
    result: r.CollaboratorsChanged,
  },
  'collaborators.remove': {
    summary: 'Stop sharing a file with users or teams',
    method: 'DELETE',
    path: '/v2/files/:fid/collaborators',
    alsoUnder: allResources,
    access: 'own',
    agentTool: 'changes',
    body: jsonBody(r.CollaboratorsRemove),
    status: 200,
    result: r.CollaboratorsChanged,
  },
} as const satisfies Record<string, Operation>
