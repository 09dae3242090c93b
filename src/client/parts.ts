// Uploads files in parts, and resumes after interruptions.
import { Problem } from '../contract/errors.ts'
import { FILE_NAME_HEADER, IDEMPOTENCY_HEADER } from '../contract/headers.ts'
import type { HeadersOf, ResultOf } from '../contract/operations/index.ts'
import type { Client } from './client.ts'

/** Size of a part, in bytes. */
const PART_BYTES = 64 * 1024 * 1024
/** Waits after consecutive failures without progress, in ms. */
const RETRY_WAITS_MS = [500, 1000, 2000, 4000, 8000, 15_000]
/** Maximum number of requests that reach a wrong server before the upload starts again. */
const MAX_MISDIRECTED_REQUESTS = 30

/** Id of an upload, and number of received bytes. */
type UploadState = Pick<ResultOf<'uploads.put'>, 'id' | 'received'>

/** File to upload. */
export interface PartsSource {
  /** Size in bytes; undefined if unknown. */
  size: number | undefined
  /** Yields the bytes from an offset. */
  open(from: number): AsyncIterable<Uint8Array>
}

/** Request that starts or resumes an upload. */
interface PartsRequest {
  headers: HeadersOf<'grids.upload'>
  plainHeaders: Record<string, string>
  /** Uids of the columns, as the header `Uids` has them. */
  uids?: readonly string[]
  /** Id of an interrupted upload of the same bytes. */
  unfinished?: string
}

/** Callbacks. Offsets and sizes in bytes, waits in ms. */
export interface PartsEvents {
  /** Called with the number of sent bytes. */
  onBytes?: (bytes: number) => void
  /** Called when the server has started this upload. */
  onStart?: (id: string) => void
  /** Called when sending continues at an offset. */
  onResume?: (offset: number) => void
  /** Called before a retry. */
  onRetry?: (problem: Problem, wait: number, offset: number) => void
}

/**
 * Uploads a file in parts. After a broken connection, continues at the server's offset, or starts again if
 * the server has lost the upload. See docs/api.md#uploads-in-parts.
 */
export async function uploadInParts(
  client: Client,
  source: PartsSource,
  { headers, plainHeaders, uids, unfinished }: PartsRequest,
  events: PartsEvents = {},
): Promise<ResultOf<'grids.upload'>> {
  let upload: UploadState | undefined
  if (unfinished !== undefined) {
    const receivedBytes = await loadReceivedBytes(client, unfinished)
    if (receivedBytes !== undefined) upload = { id: unfinished, received: receivedBytes }
    if (receivedBytes) events.onResume?.(receivedBytes)
  }
  // One key for all attempts: a completed upload is not applied again.
  const key = { [IDEMPOTENCY_HEADER]: client.keyFor('POST', '/v2/uploads', plainHeaders[FILE_NAME_HEADER]) }
  let failures = 0
  let misdirected = 0
  for (;;) {
    const startOffset = upload?.received ?? 0
    try {
      if (!upload) {
        upload = await client.call('uploads.create', {
          headers,
          plainHeaders: { ...plainHeaders, ...key },
          ...(uids && { json: { uids: [...uids] } }),
        })
        events.onStart?.(upload.id)
      }
      for (;;) {
        const { id, received }: UploadState = upload
        const remaining = source.size === undefined ? undefined : source.size - received
        const part = createPart(source, received, PART_BYTES, events)
        const isLast = remaining !== undefined && remaining <= PART_BYTES
        const state: ResultOf<'uploads.put'> = await client.call('uploads.put', {
          name: id,
          query: { offset: received, last: isLast || undefined },
          body: { type: 'application/octet-stream', repeatable: false, open: () => part.bytes },
        })
        const progress: UploadState = { id, received: state.received }
        upload = progress
        failures = 0
        if (isLast) return toUploadResult(state)
        if (part.isAtEnd()) {
          // The size was unknown: an empty part completes the upload.
          return toUploadResult(
            await client.call('uploads.put', {
              name: id,
              query: { offset: state.received, last: true },
              body: { type: 'application/octet-stream', repeatable: true, open: emptyStream },
            }),
          )
        }
      }
    } catch (error) {
      if (!(error instanceof Problem) || !isTransient(error)) throw error
      // Behind a load balancer, the next request can reach the right server.
      if (error.code === 'wrong_server' && misdirected++ < MAX_MISDIRECTED_REQUESTS) {
        events.onResume?.(startOffset)
        continue
      }
      const currentOffset = upload && (await loadReceivedBytes(client, upload.id))
      if (currentOffset !== undefined && currentOffset > startOffset) failures = 0
      if (failures >= RETRY_WAITS_MS.length) throw error
      const wait = Math.max(RETRY_WAITS_MS[failures++] * (0.75 + Math.random() / 2), error.retryAfter ?? 0)
      upload = upload && currentOffset !== undefined ? { id: upload.id, received: currentOffset } : undefined
      events.onRetry?.(error, wait, upload?.received ?? 0)
      events.onResume?.(upload?.received ?? 0)
      await client.pause(wait)
    }
  }
}

const TRANSIENT_ERRORS: ReadonlySet<string> = new Set([
  'unreachable',
  'overloaded',
  'rate_limited',
  'too_slow',
  'aborted',
  // Restarted or different server.
  'not_found',
  'wrong_server',
])

/** Returns whether an upload that failed with this error can succeed later. */
export function isTransient({ code }: Problem): boolean {
  return TRANSIENT_ERRORS.has(code)
}

/** Returns the number of bytes received by the server; undefined if it cannot be asked or refuses. */
async function loadReceivedBytes(client: Client, id: string): Promise<number | undefined> {
  try {
    for (let k = 0; ; k++) {
      try {
        return (await client.call('uploads.get', { name: id })).received
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'wrong_server' || k >= MAX_MISDIRECTED_REQUESTS)
          throw error
      }
    }
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

/** Converts the last response to the result of an upload. Throws `failed` without a file. */
function toUploadResult(state: ResultOf<'uploads.put'>): ResultOf<'grids.upload'> {
  const { id: _id, received: _received, file, warnings = [], action, ...counts } = state
  if (!file) throw new Problem('failed', 'the server sent no file for the last part')
  return { file, warnings, action, ...counts }
}

/** Returns one part of the source as a stream, and whether the source ended in it. */
function createPart(source: PartsSource, from: number, maxBytes: number, { onBytes }: PartsEvents) {
  let isAtEnd = false
  async function* bytes(): AsyncGenerator<Uint8Array> {
    let remaining = maxBytes
    for await (const chunk of source.open(from)) {
      const part = chunk.subarray(0, remaining)
      remaining -= part.length
      onBytes?.(part.length)
      yield part
      if (remaining === 0) return
    }
    isAtEnd = true
  }
  return { bytes: bytes(), isAtEnd: () => isAtEnd }
}

async function* emptyStream(): AsyncGenerator<Uint8Array> {}
