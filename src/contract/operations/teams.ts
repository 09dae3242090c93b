// Operations on teams.
import * as r from '../resources/index.ts'
import * as s from '../schema.ts'
import type { Operation } from './operation.ts'
import { jsonBody, noBody } from './shared.ts'

export const teamsOperations = {
  'teams.list': {
    summary: 'List teams you own or are a member of',
    method: 'GET',
    path: '/v2/teams',
    access: 'caller',
    agentTool: 'reads',
    body: noBody,
    status: 200,
    result: s.object({ teams: s.array(r.Team) }),
  },
  'teams.create': {
    summary: 'Create a team',
    method: 'POST',
    path: '/v2/teams',
    access: 'caller',
    agentTool: 'adds',
    body: jsonBody(r.TeamCreate),
    status: 201,
    result: r.Team,
  },
  'teams.get': {
    summary: 'Get a team and its members',
    method: 'GET',
    path: '/v2/teams/:team',
    access: 'caller',
    agentTool: 'reads',
    body: noBody,
    status: 200,
    result: r.Team,
  },
  'teams.delete': {
    summary: 'Delete a team',
    method: 'DELETE',
    path: '/v2/teams/:team',
    access: 'caller',
    agentTool: 'changes',
    body: noBody,
    status: 204,
    result: 'none',
  },
  'members.add': {
    summary: 'Add users to a team',
    method: 'POST',
    path: '/v2/teams/:team/members',
    access: 'caller',
    agentTool: 'adds',
    body: jsonBody(r.MembersChange),
    status: 200,
    result: r.Team,
  },
  'members.remove': {
    summary: 'Remove users from a team',
    method: 'DELETE',
    path: '/v2/teams/:team/members',
    access: 'caller',
    agentTool: 'changes',
    body: jsonBody(r.MembersChange),
    status: 200,
    result: r.Team,
  },
} as const satisfies Record<string, Operation>
