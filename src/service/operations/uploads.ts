// Handlers of uploads in parts: `grids.upload` with a body that arrives in several requests.
import type { Bytes } from '../../json/index.ts'
import { ChecksummedBytes, hasContentHash } from '../core/body-checksum.ts'
import type { Call, OperationCall } from '../core/call.ts'
import type { WriteKey } from '../store/aggregates/idempotency.ts'
import { gridUploadHandlers } from './grids.upload.ts'
import type { Handlers, OperationService } from './handler.ts'

/** Fields of the first request, stored to resume the upload. */
interface UploadRequest
  extends Pick<OperationCall<'uploads.create'>, 'headers' | 'contentType' | 'fileName'> {
  key: WriteKey
}

/** Returns a function that reads the bytes of an upload as `grids.upload` does. */
function createReader(
  service: OperationService,
  { caller, fid, filetype, name, trace }: Call,
  { headers, contentType, fileName, key }: UploadRequest,
) {
  return (bytes: Bytes): ReturnType<(typeof gridUploadHandlers)['grids.upload']> => {
    // The idempotency key also covers the content, which arrives later.
    const checksummed = hasContentHash(headers) ? undefined : new ChecksummedBytes(bytes)
    return gridUploadHandlers['grids.upload'](service, {
      caller,
      fid,
      filetype,
      name,
      operation: 'grids.upload',
      headers,
      contentType,
      fileName,
      shareKey: undefined,
      version: undefined,
      ifMatch: undefined,
      trace,
      message: undefined,
      query: {},
      fields: {},
      bytes: checksummed?.bytes ?? bytes,
      writeKey: (owner) => ({ ...key, owner, bodySum: checksummed?.checksum }),
    })
  }
}

/** Returns an upload of the caller. Restores it if an earlier process began it. */
function findUpload(service: OperationService, call: Call) {
  return service.uploads.find(call.caller!.username, call.name, (begun) =>
    createReader(service, call, begun as UploadRequest),
  )
}

/** Handlers of uploads in parts. */
export const uploadHandlers = {
  'uploads.create': async (service, call) => {
    const { caller, contentType, fileName, fields } = call
    const { bodySum: _, ...key } = call.writeKey(caller!.username)
    const { uids } = fields
    // With a body, the type is that of the body, not of the file.
    const begun: UploadRequest = uids
      ? {
          headers: { ...call.headers, Uids: uids.join(',') },
          contentType: 'application/octet-stream',
          fileName,
          key,
        }
      : { headers: call.headers, contentType, fileName, key }
    const { id, received } = service.uploads.begin(
      caller!.username,
      createReader(service, call, begun),
      begun,
    )
    return { body: { id, received } }
  },

  'uploads.get': async (service, call) => {
    const { id, received } = await findUpload(service, call)
    return { body: { id, received } }
  },

  'uploads.put': async (service, call) => {
    const upload = await findUpload(service, call)
    const { offset, last = false } = call.query
    const result = await upload.put(offset, call.bytes, last)
    const { id, received } = upload
    return { body: { id, received, ...result?.body }, etag: result?.etag }
  },

  'uploads.delete': async (service, call) => {
    ;(await findUpload(service, call)).cancel()
    return { body: undefined }
  },
} satisfies Partial<Handlers>
