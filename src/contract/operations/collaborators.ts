// Operations on the collaborators of a file.
import * as r from '../resources/index.ts'
import * as s from '../schema.ts'
import type { Operation } from './operation.ts'
import { everywhere, json, none } from './shared.ts'

export const collaboratorsOperations = {
  'collaborators.list': {
    summary: 'List the collaborators of a file',
    method: 'GET',
    path: '/v2/files/:fid/collaborators',
    under: everywhere,
    access: 'collaborate',
    agents: 'reads',
    body: none,
    status: 200,
    result: s.array(r.Collaborator),
  },
  'collaborators.add': {
    summary: 'Share a file with users, teams or e-mail addresses',
    method: 'POST',
    path: '/v2/files/:fid/collaborators',
    under: everywhere,
    access: 'own',
    agents: 'adds',
    body: json(r.CollaboratorsAdd),
    status: 200,
    result: r.CollaboratorsChanged,
  },
  'collaborators.remove': {
    summary: 'Stop sharing a file with users or teams',
    method: 'DELETE',
    path: '/v2/files/:fid/collaborators',
    under: everywhere,
    access: 'own',
    agents: 'changes',
    body: json(r.CollaboratorsRemove),
    status: 200,
    result: r.CollaboratorsChanged,
  },
} as const satisfies Record<string, Operation>
