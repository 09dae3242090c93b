import { isTagged, WatchedBytes } from '../core/watched.ts'
import { gridHandlers } from './grids.ts'
import type { Handlers } from './handler.ts'

/** Uploads in parts: `grids.upload` with a body that arrives in several requests. */
export const uploadHandlers = {
  'uploads.create': async (service, call) => {
    const { id, received } = service.uploads.begin(call.caller!.username, (bytes) => {
      // A key stands for the content too, which arrives later.
      const watched = isTagged(call.headers) ? undefined : new WatchedBytes(bytes)
      const writeKey = (owner: string) => ({ ...call.writeKey(owner), bodySum: watched?.sum })
      const upload = { ...call, query: {}, fields: {}, bytes: watched?.bytes ?? bytes, writeKey }
      return gridHandlers['grids.upload'](service, { ...upload, operation: 'grids.upload' })
    })
    return { body: { id, received } }
  },

  'uploads.get': async (service, call) => {
    const { id, received } = service.uploads.get(call.caller!.username, call.name)
    return { body: { id, received } }
  },

  'uploads.put': async (service, call) => {
    const upload = service.uploads.get(call.caller!.username, call.name)
    const { offset, last = false } = call.query
    const result = await upload.put(offset, call.bytes, last)
    const { id, received } = upload
    return { body: { id, received, ...result?.body }, etag: result?.etag }
  },

  'uploads.delete': async (service, call) => {
    service.uploads.get(call.caller!.username, call.name).cancel()
    return { body: undefined }
  },
} satisfies Partial<Handlers>
