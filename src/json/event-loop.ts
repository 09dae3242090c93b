// Lets long work yield to the event loop.

/** Maximum duration of a turn of the event loop before long work yields, in ms. */
const MAX_TURN_MS = 10

let turnStart = performance.now()
let isWatching = false

function endTurn(): void {
  isWatching = false
}

/** Returns whether more than `MAX_TURN_MS` have passed since the first call in this turn of the event loop. */
export function shouldYield(): boolean {
  if (isWatching) return performance.now() - turnStart > MAX_TURN_MS
  // This is the first call in this turn.
  isWatching = true
  turnStart = performance.now()
  setImmediate(endTurn)
  return false
}

/**
 * Yields to the event loop if this turn has taken long. SQLite queries are synchronous, so a chain of them
 * would otherwise block new requests and health checks.
 */
export async function yieldToEventLoop(): Promise<void> {
  if (shouldYield()) await waitForTurn()
}

/** Resolvers of work that waits for a turn, first come, first served. */
const waiters: (() => void)[] = []

/**
 * Waits for a turn of the event loop. Each turn resumes one waiter: if all resumed at once, hundreds of
 * streams would block connections and health checks for seconds.
 */
function waitForTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiters.push(resolve) === 1) setImmediate(resumeNext)
  })
}

function resumeNext(): void {
  waiters.shift()?.()
  if (waiters.length > 0) setImmediate(resumeNext)
}

/** Concatenates buffers, yielding to the event loop. */
export async function concatAsync(parts: readonly Uint8Array[]): Promise<Buffer> {
  const joined = Buffer.allocUnsafe(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
    if (shouldYield()) await yieldToEventLoop()
  }
  return joined
}

/** Items that are loaded ahead of the one in use. */
const LOADED_AHEAD = 3

/** Yields the loaded items in order, loading a few ahead: up to `maxAhead` at once. */
export async function* loadAhead<T, R>(
  items: Iterable<T>,
  load: (item: T) => Promise<R>,
  maxAhead = LOADED_AHEAD,
): AsyncGenerator<R> {
  const loading: Promise<R>[] = []
  const rest = items[Symbol.iterator]()
  try {
    for (;;) {
      while (loading.length < maxAhead) {
        const { value, done } = rest.next()
        if (done) break
        const result = load(value)
        // Prevents an unhandled rejection; the error is thrown when the promise is awaited.
        result.catch(() => {})
        loading.push(result)
      }
      const next = loading.shift()
      if (!next) return
      yield await next
    }
  } finally {
    await Promise.allSettled(loading)
  }
}
