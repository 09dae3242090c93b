/** How long one turn of the event loop may take before others get theirs, in ms. */
const TURN = 10

let began = performance.now()
let watching = false

function watch(): void {
  began = performance.now()
  watching = false
}

/**
 * Lets the event loop go round if this turn has taken long. Queries of SQLite answer at once, so a chain
 * of them would otherwise keep new requests and health checks waiting until all are done.
 */
export async function breathe(): Promise<void> {
  const now = performance.now()
  if (!watching) {
    // The first call in a turn: `began` is set anew when the next one comes.
    watching = true
    began = now
    setImmediate(watch)
    return
  }
  if (now - began > TURN) await new Promise(setImmediate)
}
