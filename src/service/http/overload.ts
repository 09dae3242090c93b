/** Queues that keep the server responsive under overload: starts and refusals of requests. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { formatErrorBody, Problem } from '../../contract/errors.ts'
import { shouldYield } from '../../json/index.ts'
import { discardBody } from './send-response.ts'

/** Requests that have arrived. Bursts are started over several turns of the event loop. */
export class StartQueue {
  private readonly waiting: (() => void)[] = []

  /** Starts a request now, or after those that wait. */
  add(begin: () => void): void {
    if (this.waiting.length === 0 && !shouldYield()) begin()
    else if (this.waiting.push(begin) === 1) setImmediate(() => this.startNext())
  }

  private startNext(): void {
    let count = 0
    while (count < this.waiting.length && (count === 0 || !shouldYield())) this.waiting[count++]()
    this.waiting.splice(0, count)
    if (this.waiting.length > 0) setImmediate(() => this.startNext())
  }
}

const BUSY_BODY = JSON.stringify(
  formatErrorBody(new Problem('overloaded', 'the server is busy (limit requests_waiting)')),
)
const BUSY_HEADERS = {
  'content-type': 'application/json',
  'x-content-type-options': 'nosniff',
  'retry-after': '1',
  'content-length': String(Buffer.byteLength(BUSY_BODY)),
}

/** Minimum delay of a refusal, in ms: a client that is refused at once repeats its request at once. */
const MIN_REFUSAL_DELAY_MS = 1000
/** Maximum rate of refusals. The delay grows with the queue, so that refusals use little CPU time. */
const MAX_REFUSALS_PER_MS = 0.5
/** Maximum delay of a refusal, in ms. */
const MAX_REFUSAL_DELAY_MS = 5000
/** Interval at which due refusals are sent, in ms. */
const REFUSAL_CHECK_MS = 50

/** Refuses requests after a delay, so that refusals leave the CPU to accepted requests under overload. */
export class RefusalQueue {
  private waiting: { request: IncomingMessage; response: ServerResponse; at: number }[] = []
  private timer: NodeJS.Timeout | undefined

  add(request: IncomingMessage, response: ServerResponse): void {
    const delay = Math.min(
      MAX_REFUSAL_DELAY_MS,
      MIN_REFUSAL_DELAY_MS + this.waiting.length / MAX_REFUSALS_PER_MS,
    )
    this.waiting.push({ request, response, at: performance.now() + delay })
    this.timer ??= setInterval(() => this.sendDue(), REFUSAL_CHECK_MS)
  }

  private sendDue(): void {
    const now = performance.now()
    let count = 0
    // In a long turn of the event loop, leave the rest for the next check.
    while (count < this.waiting.length && this.waiting[count].at <= now && (count % 50 > 0 || !shouldYield()))
      sendRefusal(this.waiting[count++])
    this.waiting.splice(0, count)
    if (this.waiting.length > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }
}

/** Responds 503, unless the client has disconnected. */
function sendRefusal({ request, response }: { request: IncomingMessage; response: ServerResponse }): void {
  if (response.destroyed) return
  response.writeHead(503, BUSY_HEADERS)
  response.end(BUSY_BODY)
  if (!request.complete) discardBody(request)
}
