// Operations on extras.
import * as r from '../resources/index.ts'
import type { Operation } from './operation.ts'
import { dataBody } from './shared.ts'

export const extrasOperations = {
  'extras.create': {
    summary: 'Create an extra (text or JSON that files refer to)',
    method: 'POST',
    path: '/v2/extras',
    access: 'caller',
    agentTool: 'adds',
    body: dataBody(r.ExtraCreate),
    status: 201,
    result: r.Created(r.FileMeta),
  },
} as const satisfies Record<string, Operation>
