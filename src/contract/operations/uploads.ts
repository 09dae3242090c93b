import { uploadHeaders } from '../headers.ts'
import * as r from '../resources.ts'
import * as s from '../schema.ts'
import type { Operation } from './operation.ts'
import { none } from './shared.ts'

/** Uploads in parts, which go on after a broken connection. See docs/api.md#uploads-in-parts. */
export const uploadsOperations = {
  'uploads.create': {
    summary: 'Begin an upload in parts',
    method: 'POST',
    path: '/v2/uploads',
    access: 'caller',
    headers: uploadHeaders,
    body: none,
    status: 201,
    result: r.UploadState,
  },
  'uploads.get': {
    summary: 'Get how much of an upload has arrived',
    method: 'GET',
    path: '/v2/uploads/:upload',
    access: 'caller',
    body: none,
    status: 200,
    result: r.UploadState,
  },
  'uploads.put': {
    summary: 'Send the next part of an upload',
    method: 'PUT',
    path: '/v2/uploads/:upload',
    access: 'caller',
    repeatable: true,
    query: s.object({
      offset: s.integer({ minimum: 0, description: 'Number of bytes of the file before this part.' }),
      last: s.optional(s.boolean({ description: 'Whether the file ends with this part.' })),
    }),
    body: { kind: 'bytes', types: ['application/octet-stream'], limit: 'upload_bytes' },
    status: 200,
    result: r.UploadState,
  },
  'uploads.delete': {
    summary: 'End an upload in parts, without a result',
    method: 'DELETE',
    path: '/v2/uploads/:upload',
    access: 'caller',
    body: none,
    status: 204,
    result: 'none',
  },
} as const satisfies Record<string, Operation>
