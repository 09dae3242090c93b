/** Receives small request bodies completely before the request is processed. */
import type { IncomingMessage } from 'node:http'
import { Problem } from '../../contract/errors.ts'
import { formatBytes, type Limits } from '../../contract/limits.ts'
import type { Bytes } from '../../json/index.ts'

/** Maximum size of a body that is received completely before its request is processed. */
export const MAX_SMALL_BODY_BYTES = 16 * 1024

/** Interval of checks for slow clients, in ms. */
const SPEED_CHECK_MS = 250

const speedChecks = new Set<() => void>()
let timer: NodeJS.Timeout | undefined

/** Calls a check every 250 ms. All share one timer: one per body would cost more than reading it. */
export function addSpeedCheck(check: () => void): void {
  speedChecks.add(check)
  timer ??= setInterval(runSpeedChecks, SPEED_CHECK_MS).unref()
}

/** Ends the calls of a check. */
export function removeSpeedCheck(check: () => void): void {
  speedChecks.delete(check)
}

/** Runs all checks. Stops the timer if none is left. */
function runSpeedChecks(): void {
  for (const check of speedChecks) check()
  if (speedChecks.size > 0) return
  clearInterval(timer)
  timer = undefined
}

/** Returns the time allowed for a body of `size` bytes at `rate` bytes per second, in ms. */
function allowedArrivalMs(size: number, rate: number, limits: Limits): number {
  return (limits.slow_seconds + size / rate) * 1000
}

/** Creates the error for a client that sends its body too slowly. */
export function createTooSlowError(limits: Limits): Problem {
  return new Problem(
    'too_slow',
    `the body arrived more slowly than ${formatBytes(limits.body_bytes_per_second)} per second (limit body_bytes_per_second), or too slowly while other requests wait`,
  )
}

/** Returns the announced size of the request body in bytes; undefined for chunked bodies. */
export function readContentLength(headers: { get(name: string): string | null }): number | undefined {
  const length = headers.get('content-length')
  if (length !== null) return Number(length)
  return headers.get('transfer-encoding') === null ? 0 : undefined
}

/**
 * Calls `then` with a small body when it is complete. If the client disconnects or is too slow, `then` gets a
 * body that throws when read.
 */
export function receiveSmallBody(
  request: IncomingMessage,
  limits: Limits,
  then: (body: Buffer | Bytes) => void,
): void {
  const chunks: Buffer[] = []
  const start = performance.now()
  const checkSpeed = (): void => {
    const size = chunks.reduce((sum, { length }) => sum + length, 0)
    if (performance.now() - start > allowedArrivalMs(size, limits.body_bytes_per_second, limits))
      finish(createFailingBody(createTooSlowError(limits)))
  }
  const finish = (body: Buffer | Bytes): void => {
    removeSpeedCheck(checkSpeed)
    request.off('data', addChunk)
    request.off('end', complete)
    request.off('close', abort)
    then(body)
  }
  const addChunk = (chunk: Buffer): void => void chunks.push(chunk)
  const complete = (): void => finish(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
  const abort = (): void => finish(createFailingBody(new Problem('aborted', 'the client disconnected')))
  request.on('data', addChunk)
  request.on('end', complete)
  request.on('close', abort)
  request.on('error', () => {})
  addSpeedCheck(checkSpeed)
}

// biome-ignore lint/correctness/useYield: reading it throws
async function* createFailingBody(error: Problem): Bytes {
  throw error
}
