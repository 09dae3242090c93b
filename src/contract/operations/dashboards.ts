// Operations on boards, under the name that clients of Chart Studio know.
import { uploadHeaders } from '../headers.ts'
import * as r from '../resources/index.ts'
import * as s from '../schema.ts'
import type { Operation } from './operation.ts'
import { dataBody, listQuery, noBody } from './shared.ts'

export const dashboardsOperations = {
  'dashboards.list': {
    summary: 'List your boards',
    method: 'GET',
    path: '/v2/dashboards',
    access: 'caller',
    agentTool: 'reads',
    query: s.object(listQuery),
    body: noBody,
    status: 200,
    result: r.Page,
  },
  'dashboards.create': {
    summary: 'Create a board',
    method: 'POST',
    path: '/v2/dashboards',
    access: 'caller',
    agentTool: 'adds',
    headers: { Draft: uploadHeaders.Draft },
    body: dataBody(r.DashboardCreate),
    status: 201,
    result: r.Created(r.DashboardMeta),
  },
  'dashboards.schema': {
    summary: 'Get the JSON Schema of the content of a board',
    method: 'GET',
    path: '/v2/dashboards/schema',
    access: 'anyone',
    agentTool: 'reads',
    body: noBody,
    status: 200,
    result: s.record(s.anything()),
  },
  'dashboards.get': {
    summary: 'Get a board with its content',
    method: 'GET',
    path: '/v2/dashboards/:fid',
    access: 'read',
    agentTool: 'reads',
    body: noBody,
    status: 200,
    result: r.DashboardMeta,
  },
  'dashboards.update': {
    summary: 'Change the content or the metadata of a board',
    method: 'PUT',
    synonym: 'PATCH',
    path: '/v2/dashboards/:fid',
    access: 'write',
    agentTool: 'changes',
    body: dataBody(r.DashboardUpdate),
    status: 200,
    result: r.DashboardMeta,
  },
} as const satisfies Record<string, Operation>
