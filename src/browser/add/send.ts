/// <reference lib="dom" />
// Sends a file: small ones at once, others in parts that are resumed after a lost connection.
import { createIdempotencyKey } from '../../contract/idempotency-key.ts'
import type { ResultOf } from '../../contract/operations/index.ts'
import { ApiError, call, toHeaderText } from '../api.ts'

/** Size of a part, and of the largest file that is sent at once. */
const PART_BYTES = 8 * 1024 * 1024
/** Size of the beginning of a large text that is read for the preview. */
const PREVIEW_BYTES = 2 * 1024 * 1024
/** Delays before a part is sent again, in ms. Then the upload waits until it is continued. */
const RETRY_DELAYS_MS = [1000, 2000, 5000, 10_000, 30_000]
/** Files whose beginning can be read alone. */
const TEXT_NAME = /\.(?:csv|tsv|tab|txt|psv|ndjson|jsonl)$/i

export type UploadResult = ResultOf<'grids.upload'>

/** Headers with the name of a file. */
function nameHeaders(name: string): Record<string, string> {
  return { 'X-File-Name': toHeaderText(name) }
}

/**
 * Returns what is sent for a preview: the file, or the beginning of a large text up to a whole line. Undefined if
 * the file can only be read whole and is large.
 */
export async function previewBody(file: File): Promise<{ body: Blob; isWhole: boolean } | undefined> {
  if (file.size <= PART_BYTES) return { body: file, isWhole: true }
  if (!TEXT_NAME.test(file.name)) return undefined
  const bytes = new Uint8Array(await file.slice(0, PREVIEW_BYTES).arrayBuffer())
  const end = findLastRowEnd(bytes)
  return end > 0 ? { body: new Blob([bytes.slice(0, end)]), isWhole: false } : undefined
}

/** Returns the end of the last whole row: the last line end outside of quotes. 0 without one, as in UTF-16. */
function findLastRowEnd(bytes: Uint8Array): number {
  const [quote, lineFeed, zero] = [0x22, 0x0a, 0]
  let isQuoted = false
  let end = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === zero) return 0
    if (byte === quote) isQuoted = !isQuoted
    else if (byte === lineFeed && !isQuoted) end = at + 1
  }
  return end
}

/** Reads a file without storing it. */
export function previewUpload(
  name: string,
  body: Blob,
  headers: Record<string, string>,
): Promise<UploadResult> {
  return call('grids.upload', {
    body,
    headers: {
      ...nameHeaders(name),
      ...headers,
      'Gridline-Dry-Run': 'true',
      'content-type': 'application/octet-stream',
    },
  })
}

/** Listeners of an upload. */
interface Progress {
  /** Bytes that the server has. */
  onSent(bytes: number): void
  /** The connection is lost; the upload goes on after the delay, in ms. */
  onWaiting(delay: number): void
}

/** Stores a file. Throws `ApiError` if the server refuses it, and an error if the file has changed. */
export async function sendFile(
  file: File,
  headers: Record<string, string>,
  progress: Progress,
  signal: AbortSignal,
): Promise<UploadResult> {
  const all = {
    ...nameHeaders(file.name),
    ...headers,
    'Idempotency-Key': createIdempotencyKey(),
  }
  if (file.size <= PART_BYTES) {
    const body = new Blob([await readPart(file, 0, file.size)])
    const sent = { ...all, 'content-type': 'application/octet-stream' }
    return retry(() => call('grids.upload', { body, headers: sent, signal }), progress, signal)
  }
  const { id } = await retry(() => call('uploads.create', { headers: all, signal }), progress, signal)
  const path = { upload: id }
  try {
    let received = 0
    for (;;) {
      const offset = received
      const end = Math.min(offset + PART_BYTES, file.size)
      const body = new Blob([await readPart(file, offset, end)])
      const query = { offset, ...(end === file.size && { last: true }) }
      const put = { path, query, body, signal, headers: { 'content-type': 'application/octet-stream' } }
      const state = await retry(
        () => call('uploads.put', put),
        progress,
        signal,
        // A part may have arrived although its response did not.
        async () => {
          received = (await call('uploads.get', { path, signal })).received
          return received !== offset
        },
      )
      if (state === undefined) continue
      received = state.received
      progress.onSent(received)
      if (state.file) return { ...state, file: state.file, warnings: state.warnings ?? [] }
    }
  } catch (error) {
    call('uploads.delete', { path }).catch(() => {})
    throw error
  }
}

/** Reads a part of a file. Throws if the file is not what it was. */
async function readPart(file: File, start: number, end: number): Promise<ArrayBuffer> {
  try {
    return await file.slice(start, end).arrayBuffer()
  } catch {
    throw new Error(`${file.name} has changed, or can no longer be read. Choose it again`)
  }
}

/**
 * Repeats a request while the server cannot be reached. `isDone`: asked before a repetition; if it is true, the
 * result is undefined.
 */
async function retry<T>(send: () => Promise<T>, progress: Progress, signal: AbortSignal): Promise<T>
async function retry<T>(
  send: () => Promise<T>,
  progress: Progress,
  signal: AbortSignal,
  isDone: () => Promise<boolean>,
): Promise<T | undefined>
async function retry<T>(
  send: () => Promise<T>,
  progress: Progress,
  signal: AbortSignal,
  isDone = async () => false,
): Promise<T | undefined> {
  for (let tries = 0; ; tries++) {
    try {
      if (tries > 0 && (await isDone())) return undefined
      return await send()
    } catch (error) {
      const isLasting =
        error instanceof ApiError && error.status !== 503 && error.status !== 429 && error.status !== 502
      if (isLasting || signal.aborted || tries >= RETRY_DELAYS_MS.length) throw error
      progress.onWaiting(RETRY_DELAYS_MS[tries])
      await waitUntilOnline(RETRY_DELAYS_MS[tries], signal)
    }
  }
}

/** Waits for a delay, or until the browser is online again. */
function waitUntilOnline(delay: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, delay)
    addEventListener('online', () => resolve(), { once: true, signal })
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** A grid whose data is replaced or added to. */
export interface Target {
  fid: string
  name: string
}

/** A file to add, and its folder below the chosen one. */
export interface Chosen {
  file: File
  folder: string
}
