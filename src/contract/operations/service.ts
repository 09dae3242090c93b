// Operations on the service itself.
import * as r from '../resources/index.ts'
import * as s from '../schema.ts'
import type { Operation } from './operation.ts'
import { noBody } from './shared.ts'

export const serviceOperations = {
  'service.index': {
    summary: 'List the URLs of the resources',
    method: 'GET',
    path: '/v2',
    access: 'anyone',
    agentTool: 'none',
    body: noBody,
    status: 200,
    result: s.record(s.string()),
  },
  'service.openapi': {
    summary: 'OpenAPI 3.1 document of this API',
    method: 'GET',
    path: '/v2/openapi.json',
    access: 'anyone',
    agentTool: 'none',
    body: noBody,
    status: 200,
    result: s.anything(),
  },
  'service.docs': {
    summary: 'API documentation (HTML)',
    method: 'GET',
    path: '/v2/docs',
    access: 'anyone',
    agentTool: 'none',
    body: noBody,
    status: 200,
    result: 'stream',
    produces: ['text/html'],
  },
  'service.metrics': {
    summary: 'Prometheus metrics',
    method: 'GET',
    path: '/metrics',
    access: 'anyone',
    agentTool: 'none',
    body: noBody,
    status: 200,
    result: 'stream',
    produces: ['text/plain'],
  },
  'service.health': {
    summary: 'Liveness check',
    method: 'GET',
    path: '/healthz',
    access: 'anyone',
    agentTool: 'none',
    body: noBody,
    status: 200,
    result: r.Health,
  },
  'service.ready': {
    summary: 'Readiness check',
    method: 'GET',
    path: '/readyz',
    access: 'anyone',
    agentTool: 'none',
    body: noBody,
    status: 200,
    result: r.Health,
  },
} as const satisfies Record<string, Operation>
