/** Target size of a row of the `tail` table, in bytes. */
const TAIL_ROW_BYTES = 16 * 1024
const COMMA = Buffer.from(',')

/** JSON arrays, one per row, comma-separated. */
export interface RowText {
  rows: number
  body: Buffer
}

/** Merges small bodies, up to the size of a tail row. */
export function* tailBodies(bodies: readonly RowText[]): Generator<RowText> {
  let parts: Buffer[] = []
  let size = 0
  let count = 0
  for (const { rows, body } of bodies) {
    if (size > 0 && size + body.length > TAIL_ROW_BYTES) {
      yield { rows: count, body: Buffer.concat(parts) }
      parts = []
      size = 0
      count = 0
    }
    if (count > 0) parts.push(COMMA)
    parts.push(body)
    size += body.length + 1
    count += rows
  }
  yield { rows: count, body: Buffer.concat(parts) }
}

/** Collects single rows into bodies of the size of a tail row. */
export class RowTexts {
  readonly bodies: RowText[] = []
  private parts: Buffer[] = []
  private bytes = 0
  count = 0

  add(row: Buffer): void {
    if (this.bytes > 0 && this.bytes + row.length > TAIL_ROW_BYTES) this.end()
    this.parts.push(row)
    this.bytes += row.length + 1
    this.count++
  }

  /** Returns all bodies. No rows may be added afterwards. */
  all(): RowText[] {
    if (this.parts.length > 0) this.end()
    return this.bodies
  }

  private end(): void {
    const body = this.parts.length === 1 ? this.parts[0] : joined(this.parts, this.bytes)
    this.bodies.push({ rows: this.parts.length, body })
    this.parts = []
    this.bytes = 0
  }
}

function joined(parts: readonly Buffer[], size: number): Buffer {
  const body = Buffer.allocUnsafe(size - 1)
  let at = 0
  for (const part of parts) {
    if (at > 0) body[at++] = 0x2c
    at += part.copy(body, at)
  }
  return body
}
