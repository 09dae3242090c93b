import type { IncomingMessage } from 'node:http'
import { Problem } from '../../contract/errors.ts'
import { bytesText, type Limits } from '../../contract/limits.ts'
import type { Bytes } from '../../json/index.ts'

/** Bodies up to this many bytes are received completely before their request is processed. */
export const SMALL_BYTES = 16 * 1024

/** How often slow clients are looked for, in ms. */
const CHECK_EVERY_MS = 250

const waits = new Set<() => void>()
let timer: NodeJS.Timeout | undefined

/**
 * Calls `look` every `CHECK_EVERY_MS` ms until `unwatch(look)`. All share one timer: most bodies arrive at once, and a
 * timer for each would cost more than reading it.
 */
export function watch(look: () => void): void {
  waits.add(look)
  timer ??= setInterval(lookAtAll, CHECK_EVERY_MS).unref()
}

export function unwatch(look: () => void): void {
  waits.delete(look)
}

function lookAtAll(): void {
  for (const look of waits) look()
  if (waits.size > 0) return
  clearInterval(timer)
  timer = undefined
}

/** The time allowed for a body of `size` bytes at `rate` bytes per second, in ms. */
function allowedMs(size: number, rate: number, limits: Limits): number {
  return (limits.slow_seconds + size / rate) * 1000
}

export function tooSlow(limits: Limits): Problem {
  return new Problem(
    'too_slow',
    `the body arrived more slowly than ${bytesText(limits.body_bytes_per_second)} per second (limit body_bytes_per_second), or too slowly while other requests wait`,
  )
}

/** The announced size of the request body in bytes; undefined if it is not announced. */
export function announcedBytes(headers: { get(name: string): string | null }): number | undefined {
  const length = headers.get('content-length')
  if (length !== null) return Number(length)
  return headers.get('transfer-encoding') === null ? 0 : undefined
}

/**
 * Calls `then` with a small body once it has arrived completely. If the client disconnects or is too slow,
 * `then` gets a body that throws when read.
 */
export function whenArrived(
  request: IncomingMessage,
  limits: Limits,
  then: (body: Buffer | Bytes) => void,
): void {
  const parts: Buffer[] = []
  const began = performance.now()
  const look = (): void => {
    const size = parts.reduce((sum, { length }) => sum + length, 0)
    if (performance.now() - began > allowedMs(size, limits.body_bytes_per_second, limits))
      end(failed(tooSlow(limits)))
  }
  const end = (body: Buffer | Bytes): void => {
    unwatch(look)
    request.off('data', take)
    request.off('end', whole)
    request.off('close', lost)
    then(body)
  }
  const take = (chunk: Buffer): void => void parts.push(chunk)
  const whole = (): void => end(parts.length === 1 ? parts[0] : Buffer.concat(parts))
  const lost = (): void => end(failed(new Problem('aborted', 'the client disconnected')))
  request.on('data', take)
  request.on('end', whole)
  request.on('close', lost)
  request.on('error', () => {})
  watch(look)
}

// biome-ignore lint/correctness/useYield: reading it fails
async function* failed(error: Problem): Bytes {
  throw error
}
