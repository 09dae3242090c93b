/**
 * Ends slices by content-defined chunking (docs/adr/0024), after rows chosen by the hash of their cells: an
 * inserted or deleted row changes only nearby slices. A slice has 16,384 to 131,072 rows, about 40,000 on
 * average, and fewer if rows have more than 341 bytes. `kernel/rows.as.ts` has the same algorithm.
 */

import { findValueEnd, nextValue, shouldYield, skipWhitespace, yieldToEventLoop } from '../../json/index.ts'
import { ColumnKernel } from '../kernel/columns.ts'

/** Weight of a row: UNITS, or PER_BYTE for each of its bytes if that is more, up to HEAVIEST. */
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

/** Adds a cell, buf[start, end), to the hash of a row: its last 8 bytes and its length. */
export function hashCell(hash: number, buf: Uint8Array, start: number, end: number): number {
  const length = end - start
  let low = 0
  let high = 0
  // Little-endian: the last byte is the most significant.
  for (let i = Math.max(start, end - 8), at = 0; i < end; i++, at += 8) {
    if (at < 32) low |= buf[i] << at
    else high |= buf[i] << (at - 32)
  }
  const cell = (Math.imul(low ^ length, PRIME_1) + Math.imul(high, PRIME_2)) | 0
  return Math.imul(((hash << 13) | (hash >>> 19)) ^ cell, PRIME_3)
}

/** Adds a JSON value to the hash of a row: strings without their quotes, null as an empty cell. */
export function hashJsonValue(hash: number, buf: Uint8Array, start: number, end: number): number {
  if (buf[start] === 0x22) return hashCell(hash, buf, start + 1, end - 1)
  return buf[start] === 0x6e ? hashCell(hash, buf, start, start) : hashCell(hash, buf, start, end)
}

/** Returns the positions of the key columns; undefined without a key, or if a column is missing. */
export function keyPositionsOf(names: readonly string[], keys: readonly string[] = []): number[] | undefined {
  const positions = keys.map((key) => names.indexOf(key))
  return positions.length === 0 || positions.includes(-1) ? undefined : positions
}

function mixHash(hash: number): number {
  let h = hash ^ (hash >>> 15)
  h = Math.imul(h, PRIME_2)
  h ^= h >>> 13
  h = Math.imul(h, PRIME_1)
  return (h ^ (h >>> 16)) >>> 0
}

/** Decides after which rows slices end, from the first row on. */
export class SliceEnds {
  /** Weight of the rows since the last end. */
  size = 0

  /** Adds a row, and returns whether a slice ends after it. `hash` is called only if needed. */
  addRow(bytes: number, hash: () => number): boolean {
    const weight = Math.max(UNITS, Math.min(HEAVIEST, bytes * PER_BYTE))
    this.size += weight
    if (this.size < MIN_SLICE_UNITS) return false
    if (this.size < MAX_SLICE_UNITS && mixHash(hash()) >= weight * (this.size < USUAL ? RARE : OFTEN))
      return false
    this.size = 0
    return true
  }

  /** Adds rows in which no slice ends, by number and size. */
  skipRows(rows: number, bytes: number): void {
    this.size += Math.min(MAX_SLICE_UNITS, Math.max(rows * UNITS, bytes * PER_BYTE))
  }
}

/**
 * Returns the rows, from 1, after which slices of these columns end. Columns are comma-separated JSON and may
 * differ in length. `keys`: positions of the columns whose values decide; default: all.
 */
export async function findSliceEnds(
  columns: readonly Uint8Array[],
  keys?: readonly number[],
  ends = new SliceEnds(),
): Promise<number[]> {
  const isKey = columns.map((_, k) => keys === undefined || keys.includes(k))
  const found = ColumnKernel.findEnds(columns, isKey, ends.size)
  if (found) {
    ends.size = found.weight
    return found.rows
  }
  const at = columns.map((text) => skipWhitespace(text, 0))
  // Of the current row; an end of 0 is that of a column without a value.
  const valueStarts = columns.map(() => 0)
  const valueEnds = columns.map(() => 0)
  const hashRow = (): number => {
    let hash = 0
    for (let k = 0; k < columns.length; k++)
      if (isKey[k] && valueEnds[k] > 0) hash = hashJsonValue(hash, columns[k], valueStarts[k], valueEnds[k])
    return hash
  }
  const rows: number[] = []
  for (let row = 1; ; row++) {
    let bytes = 0
    let isOver = true
    for (let k = 0; k < columns.length; k++) {
      const text = columns[k]
      const i = at[k]
      valueEnds[k] = 0
      if (i >= text.length) continue
      isOver = false
      const end = findValueEnd(text, i)
      bytes += end - i
      valueStarts[k] = i
      valueEnds[k] = end
      at[k] = nextValue(text, end)
    }
    if (isOver) return rows
    if (ends.addRow(bytes, hashRow)) rows.push(row)
    if (row % 256 === 0 && shouldYield()) await yieldToEventLoop()
  }
}
