/**
 * Where slices end (docs/adr/0024): after a row that the hash of its cells chooses, so that a row more or less changes
 * the slices around it only. A slice has 16,384 to 131,072 rows, about 40,000 on average; of rows of more than 341
 * bytes it has as many fewer. `kernel/rows.as.ts` does the same.
 */
import { breathe, endOf, skipBlanks, turnIsLong } from '../../json/index.ts'

/** A row counts for UNITS, or PER_BYTE for each of its bytes if that is more. */
const UNITS = 1024
const PER_BYTE = 3
const HEAVIEST = 1 << 21
const MIN_SLICE_UNITS = 16_384 * UNITS
/** Up to this size, few rows end a slice; beyond it, many. */
const USUAL = 40_960 * UNITS
const MAX_SLICE_UNITS = 131_072 * UNITS
const RARE = 41
const OFTEN = 1365
const PRIME_1 = 0x9e3779b1
const PRIME_2 = 0x85ebca77
const PRIME_3 = 0xc2b2ae3d

/**
 * Returns the hash of a row with one more cell, which is buf[start, end): of its last 8 bytes and its length.
 */
export function withCell(hash: number, buf: Uint8Array, start: number, end: number): number {
  const length = end - start
  let low = 0
  let high = 0
  // Little-endian: the last byte is the highest one.
  for (let i = Math.max(start, end - 8), at = 0; i < end; i++, at += 8) {
    if (at < 32) low |= buf[i] << at
    else high |= buf[i] << (at - 32)
  }
  const cell = (Math.imul(low ^ length, PRIME_1) + Math.imul(high, PRIME_2)) | 0
  return Math.imul(((hash << 13) | (hash >>> 19)) ^ cell, PRIME_3)
}

/**
 * Returns the hash of a row with one more cell, given as JSON: what a text is in quotes, and nothing for
 * null.
 */
export function withValue(hash: number, buf: Uint8Array, start: number, end: number): number {
  if (buf[start] === 0x22) return withCell(hash, buf, start + 1, end - 1)
  return buf[start] === 0x6e ? withCell(hash, buf, start, start) : withCell(hash, buf, start, end)
}

/** Returns the positions of the columns of a key; undefined without one, or if a column is missing. */
export function keysAmong(names: readonly string[], keys: readonly string[] = []): number[] | undefined {
  const found = keys.map((key) => names.indexOf(key))
  return found.length === 0 || found.includes(-1) ? undefined : found
}

function mixed(hash: number): number {
  let h = hash ^ (hash >>> 15)
  h = Math.imul(h, PRIME_2)
  h ^= h >>> 13
  h = Math.imul(h, PRIME_1)
  return (h ^ (h >>> 16)) >>> 0
}

/** Decides after which rows slices end, from the first row on. */
export class SliceEnds {
  /** Size of the rows since the last end. */
  size = 0

  /** Adds a row. Returns whether a slice ends after it. `hash` is called only if it matters. */
  isAfter(bytes: number, hash: () => number): boolean {
    const weight = Math.max(UNITS, Math.min(HEAVIEST, bytes * PER_BYTE))
    this.size += weight
    if (this.size < MIN_SLICE_UNITS) return false
    if (this.size < MAX_SLICE_UNITS && mixed(hash()) >= weight * (this.size < USUAL ? RARE : OFTEN))
      return false
    this.size = 0
    return true
  }

  /** Adds rows of which only the number and the size are known, which no slice ends in. */
  skip(rows: number, bytes: number): void {
    this.size += Math.min(MAX_SLICE_UNITS, Math.max(rows * UNITS, bytes * PER_BYTE))
  }
}

/**
 * Returns the rows, from 1, after which slices of these columns end, given as comma-separated JSON. Columns
 * may differ in length. `keys`: positions of the columns whose values decide; all if not given.
 */
export async function endsAmong(
  columns: readonly Uint8Array[],
  keys?: readonly number[],
  ends = new SliceEnds(),
): Promise<number[]> {
  const at = columns.map((text) => skipBlanks(text, 0))
  const found: number[] = []
  for (let row = 1; ; row++) {
    let hash = 0
    let bytes = 0
    let isOver = true
    for (let k = 0; k < columns.length; k++) {
      const text = columns[k]
      const i = at[k]
      if (i >= text.length) continue
      isOver = false
      const end = endOf(text, i)
      bytes += end - i
      if (keys === undefined || keys.includes(k)) hash = withValue(hash, text, i, end)
      let next = skipBlanks(text, end)
      if (text[next] === 0x2c) next = skipBlanks(text, next + 1)
      at[k] = next
    }
    if (isOver) return found
    if (ends.isAfter(bytes, () => hash)) found.push(row)
    if (row % 256 === 0 && turnIsLong()) await breathe()
  }
}
