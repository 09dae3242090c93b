import { Problem } from '../contract/errors.ts'
import { FILE_NAME_HEADER, IDEMPOTENCY_HEADER } from '../contract/headers.ts'
import type { HeadersOf, ResultOf } from '../contract/operations/index.ts'
import type { Client } from './client.ts'

/** Bytes that are sent in one request. */
const PART_BYTES = 64 * 1024 * 1024
/** Waits after failures without progress, in ms. */
const WAITS = [500, 1000, 2000, 4000, 8000, 15_000]
/** Requests of one upload that may reach another server before it begins again. */
const MISDIRECTED = 30

type UploadState = Pick<ResultOf<'uploads.put'>, 'id' | 'received'>

export interface PartsSource {
  /** Size in bytes, if known. */
  size: number | undefined
  /** The bytes from an offset on. */
  open(from: number): AsyncIterable<Uint8Array>
}

export interface PartsEvents {
  /** Bytes are sent. */
  count?: (bytes: number) => void
  /** The server has begun this upload. */
  begun?: (id: string) => void
  /** Sending continues at this byte. */
  at?: (offset: number) => void
  onRetry?: (problem: Problem, wait: number, offset: number) => void
}

/**
 * Uploads a file in parts. After a broken connection it continues where the server is, and begins again if the
 * server has lost the upload. `unfinished` is the id of an upload of the same bytes that was stopped before. See docs/api.md#uploads-in-parts.
 */
export async function uploadInParts(
  client: Client,
  source: PartsSource,
  headers: HeadersOf<'grids.upload'>,
  plainHeaders: Record<string, string>,
  events: PartsEvents = {},
  unfinished?: string,
): Promise<ResultOf<'grids.upload'>> {
  let upload: UploadState | undefined
  if (unfinished !== undefined) {
    const arrived = await received(client, unfinished)
    if (arrived !== undefined) upload = { id: unfinished, received: arrived }
    if (arrived) events.at?.(arrived)
  }
  // One key for all attempts: an upload that was applied is not applied again.
  const key = { [IDEMPOTENCY_HEADER]: client.keyFor('POST', '/v2/uploads', plainHeaders[FILE_NAME_HEADER]) }
  let failures = 0
  let misdirected = 0
  for (;;) {
    const from = upload?.received ?? 0
    try {
      if (!upload) {
        upload = await client.call('uploads.create', { headers, plainHeaders: { ...plainHeaders, ...key } })
        events.begun?.(upload.id)
      }
      for (;;) {
        const { id, received }: UploadState = upload
        const left = source.size === undefined ? undefined : source.size - received
        const part = partOf(source, received, PART_BYTES, events)
        const last = left !== undefined && left <= PART_BYTES
        const state: ResultOf<'uploads.put'> = await client.call('uploads.put', {
          name: id,
          query: { offset: received, last: last || undefined },
          body: { type: 'application/octet-stream', repeatable: false, open: () => part.bytes },
        })
        const sent: UploadState = { id, received: state.received }
        upload = sent
        failures = 0
        if (last) return resultOf(state)
        if (part.isAtEnd()) {
          // The size was not known: an empty part ends the upload.
          return resultOf(
            await client.call('uploads.put', {
              name: id,
              query: { offset: state.received, last: true },
              body: { type: 'application/octet-stream', repeatable: true, open: nothing },
            }),
          )
        }
      }
    } catch (error) {
      if (!(error instanceof Problem) || !isTransient(error)) throw error
      // A proxy distributes requests: the next one may reach the server of the upload.
      if (error.code === 'wrong_server' && misdirected++ < MISDIRECTED) {
        events.at?.(from)
        continue
      }
      const now = upload && (await received(client, upload.id))
      if (now !== undefined && now > from) failures = 0
      if (failures >= WAITS.length) throw error
      const wait = Math.max(WAITS[failures++] * (0.75 + Math.random() / 2), error.retryAfter ?? 0)
      upload = upload && now !== undefined ? { id: upload.id, received: now } : undefined
      events.onRetry?.(error, wait, upload?.received ?? 0)
      events.at?.(upload?.received ?? 0)
      await client.pause(wait)
    }
  }
}

const PASSING: ReadonlySet<string> = new Set([
  'unreachable',
  'overloaded',
  'rate_limited',
  'too_slow',
  'aborted',
  // The server was restarted, or it is another one.
  'not_found',
  'wrong_server',
])

/** Whether an upload that failed like this may succeed later. */
export function isTransient({ code }: Problem): boolean {
  return PASSING.has(code)
}

/** Bytes that the server has; undefined if it does not know the upload, or does not answer. */
async function received(client: Client, id: string): Promise<number | undefined> {
  try {
    for (let k = 0; ; k++) {
      try {
        return (await client.call('uploads.get', { name: id })).received
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'wrong_server' || k >= MISDIRECTED) throw error
      }
    }
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

function resultOf(state: ResultOf<'uploads.put'>): ResultOf<'grids.upload'> {
  const { id: _id, received: _received, file, warnings = [], action, ...counts } = state
  if (!file) throw new Problem('failed', 'the server sent no file for the last part')
  return { file, warnings, action, ...counts }
}

function partOf(source: PartsSource, from: number, most: number, { count }: PartsEvents) {
  let isAtEnd = false
  async function* bytes(): AsyncGenerator<Uint8Array> {
    let left = most
    for await (const chunk of source.open(from)) {
      const part = chunk.subarray(0, left)
      left -= part.length
      count?.(part.length)
      yield part
      if (left === 0) return
    }
    isAtEnd = true
  }
  return { bytes: bytes(), isAtEnd: () => isAtEnd }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
