/** Receives small request bodies completely before the request is processed. */
import type { IncomingMessage } from 'node:http'
import { Problem } from '../../contract/errors.ts'
import { bytesText, type Limits } from '../../contract/limits.ts'
import type { Bytes } from '../../json/index.ts'

/** Maximum size of a body that is received completely before its request is processed. */
export const SMALL_BYTES = 16 * 1024

/** Interval of checks for slow clients, in ms. */
const CHECK_EVERY_MS = 250

const waits = new Set<() => void>()
let timer: NodeJS.Timeout | undefined

/** Calls a check every 250 ms. All share one timer: one per body would cost more than reading it. */
export function watch(check: () => void): void {
  waits.add(check)
  timer ??= setInterval(lookAtAll, CHECK_EVERY_MS).unref()
}

export function unwatch(check: () => void): void {
  waits.delete(check)
}

/** Runs all checks. Stops the timer if none is left. */
function lookAtAll(): void {
  for (const check of waits) check()
  if (waits.size > 0) return
  clearInterval(timer)
  timer = undefined
}

/** Returns the time allowed for a body of `size` bytes at `rate` bytes per second, in ms. */
function allowedMs(size: number, rate: number, limits: Limits): number {
  return (limits.slow_seconds + size / rate) * 1000
}

/** Creates the error for a client that sends its body too slowly. */
export function tooSlow(limits: Limits): Problem {
  return new Problem(
    'too_slow',
    `the body arrived more slowly than ${bytesText(limits.body_bytes_per_second)} per second (limit body_bytes_per_second), or too slowly while other requests wait`,
  )
}

/** Returns the announced size of the request body in bytes; undefined for chunked bodies. */
export function announcedBytes(headers: { get(name: string): string | null }): number | undefined {
  const length = headers.get('content-length')
  if (length !== null) return Number(length)
  return headers.get('transfer-encoding') === null ? 0 : undefined
}

/**
 * Calls `then` with a small body when it is complete. If the client disconnects or is too slow, `then` gets a
 * body that throws when read.
 */
export function whenArrived(
  request: IncomingMessage,
  limits: Limits,
  then: (body: Buffer | Bytes) => void,
): void {
  const chunks: Buffer[] = []
  const start = performance.now()
  const checkSpeed = (): void => {
    const size = chunks.reduce((sum, { length }) => sum + length, 0)
    if (performance.now() - start > allowedMs(size, limits.body_bytes_per_second, limits))
      finish(failed(tooSlow(limits)))
  }
  const finish = (body: Buffer | Bytes): void => {
    unwatch(checkSpeed)
    request.off('data', addChunk)
    request.off('end', complete)
    request.off('close', abort)
    then(body)
  }
  const addChunk = (chunk: Buffer): void => void chunks.push(chunk)
  const complete = (): void => finish(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
  const abort = (): void => finish(failed(new Problem('aborted', 'the client disconnected')))
  request.on('data', addChunk)
  request.on('end', complete)
  request.on('close', abort)
  request.on('error', () => {})
  watch(checkSpeed)
}

// biome-ignore lint/correctness/useYield: reading it throws
async function* failed(error: Problem): Bytes {
  throw error
}
