// Operations of uploads in parts.
import { uploadHeaders } from '../headers.ts'
import * as r from '../resources/index.ts'
import * as s from '../schema.ts'
import type { Operation } from './operation.ts'
import { noBody } from './shared.ts'

/** Uploads in parts, which can be resumed after a broken connection. See docs/api.md#uploads-in-parts. */
export const uploadsOperations = {
  'uploads.create': {
    summary: 'Start a multipart upload',
    method: 'POST',
    path: '/v2/uploads',
    access: 'caller',
    agentTool: 'none',
    lasts: true,
    headers: uploadHeaders,
    body: {
      kind: 'json',
      schema: s.object({
        uids: s.optional(
          s.array(s.string(), {
            description: 'The header Gridline-Uids as a list, for grids of very many columns.',
          }),
        ),
      }),
      limit: 'json_body_bytes',
    },
    status: 201,
    result: r.UploadState,
  },
  'uploads.get': {
    summary: 'Get the progress of a multipart upload',
    method: 'GET',
    path: '/v2/uploads/:upload',
    access: 'caller',
    agentTool: 'none',
    body: noBody,
    status: 200,
    result: r.UploadState,
  },
  'uploads.put': {
    summary: 'Send the next part of a multipart upload',
    method: 'PUT',
    path: '/v2/uploads/:upload',
    access: 'caller',
    agentTool: 'none',
    lasts: true,
    isIdempotent: true,
    query: s.object({
      offset: s.integer({ minimum: 0, description: 'Number of bytes of the file before this part.' }),
      last: s.optional(s.boolean({ description: 'Whether the file ends with this part.' })),
    }),
    body: { kind: 'bytes', types: ['application/octet-stream'], limit: 'upload_bytes' },
    status: 200,
    result: r.UploadState,
  },
  'uploads.delete': {
    summary: 'Cancel a multipart upload',
    method: 'DELETE',
    path: '/v2/uploads/:upload',
    access: 'caller',
    agentTool: 'none',
    lasts: true,
    body: noBody,
    status: 204,
    result: 'none',
  },
} as const satisfies Record<string, Operation>
