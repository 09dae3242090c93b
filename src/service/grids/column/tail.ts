// Packs appended rows into bodies of the `tail` table.

/** Target size of a row of the `tail` table, in bytes. */
const TAIL_ROW_BYTES = 16 * 1024
const COMMA = Buffer.from(',')

/** JSON arrays, one per row, comma-separated. `rows`: their number. */
export interface RowsJson {
  rows: number
  body: Buffer
}

/** Merges small bodies, up to `TAIL_ROW_BYTES`. */
export function* packBodies(bodies: readonly RowsJson[]): Generator<RowsJson> {
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

/** Collects rows into bodies of up to `TAIL_ROW_BYTES`. */
export class RowPacker {
  readonly bodies: RowsJson[] = []
  private parts: Buffer[] = []
  private bytes = 0
  rowCount = 0

  add(row: Buffer): void {
    if (this.bytes > 0 && this.bytes + row.length > TAIL_ROW_BYTES) this.closeBody()
    this.parts.push(row)
    this.bytes += row.length + 1
    this.rowCount++
  }

  /** Returns all bodies. No rows may be added afterwards. */
  finish(): RowsJson[] {
    if (this.parts.length > 0) this.closeBody()
    return this.bodies
  }

  private closeBody(): void {
    const body = this.parts.length === 1 ? this.parts[0] : joinRows(this.parts, this.bytes)
    this.bodies.push({ rows: this.parts.length, body })
    this.parts = []
    this.bytes = 0
  }
}

function joinRows(parts: readonly Buffer[], size: number): Buffer {
  const body = Buffer.allocUnsafe(size - 1)
  let at = 0
  for (const part of parts) {
    if (at > 0) body[at++] = 0x2c
    at += part.copy(body, at)
  }
  return body
}
