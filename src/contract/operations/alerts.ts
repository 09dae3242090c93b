// Operations on alerts.
import * as r from '../resources/index.ts'
import * as s from '../schema.ts'
import type { Operation } from './operation.ts'
import { jsonBody, noBody } from './shared.ts'

export const alertsOperations = {
  'alerts.list': {
    summary: 'List the alerts on your grids, with their states',
    method: 'GET',
    path: '/v2/alerts',
    access: 'caller',
    agentTool: 'reads',
    query: s.object({ fid: s.optional(s.string({ description: 'Only alerts on this grid.' })) }),
    body: noBody,
    status: 200,
    result: r.Alerts,
  },
  'alerts.create': {
    summary: 'Add an alert to a grid: a message for each change between ok, firing and unknown',
    method: 'POST',
    path: '/v2/grids/:fid/alerts',
    access: 'own',
    agentTool: 'none',
    body: jsonBody(r.AlertCreate),
    status: 201,
    result: r.Alert,
  },
  'alerts.update': {
    summary: 'Change the condition or the receiver of an alert, which is judged again',
    method: 'PATCH',
    path: '/v2/alerts/:id',
    access: 'caller',
    agentTool: 'changes',
    body: jsonBody(r.AlertUpdate),
    status: 200,
    result: r.Alert,
  },
  'alerts.test': {
    summary: 'Send a test message to the receiver of an alert, now',
    method: 'POST',
    path: '/v2/alerts/:id/test',
    access: 'caller',
    agentTool: 'none',
    lasts: true,
    body: noBody,
    status: 200,
    result: r.AlertTest,
  },
  'alerts.delete': {
    summary: 'Remove an alert, and messages that are still to be sent',
    method: 'DELETE',
    path: '/v2/alerts/:id',
    access: 'caller',
    agentTool: 'changes',
    body: noBody,
    status: 204,
    result: 'none',
  },
} as const satisfies Record<string, Operation>
