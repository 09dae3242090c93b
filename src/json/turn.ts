/** How long one turn of the event loop may take before others get theirs, in ms. */
const TURN = 10

let began = performance.now()
let watching = false

function watch(): void {
  watching = false
}

/** Whether this turn of the event loop has taken long already. */
export function turnIsLong(): boolean {
  if (watching) return performance.now() - began > TURN
  // The first call in a turn.
  watching = true
  began = performance.now()
  setImmediate(watch)
  return false
}

/**
 * Lets the event loop go round if this turn has taken long. Queries of SQLite answer at once, so a chain
 * of them would otherwise keep new requests and health checks waiting until all are done.
 */
export async function breathe(): Promise<void> {
  if (turnIsLong()) await new Promise(setImmediate)
}

/** Parts as one, copied a part in each turn of the event loop. */
export async function joinInTurns(parts: readonly Uint8Array[]): Promise<Buffer> {
  const all = Buffer.allocUnsafe(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
    if (turnIsLong()) await breathe()
  }
  return all
}
