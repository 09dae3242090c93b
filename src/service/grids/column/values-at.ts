import { breathe, endOf, skipBlanks } from '../../../json/index.ts'
import type { SliceRef } from '../../store/aggregates/grids.ts'
import { loadText } from '../../store/aggregates/texts.ts'
import { BatchedBlobs } from '../../store/objects/blobs.ts'
import type { Snapshot, SnapshotColumn } from './content.ts'

const NULL = Buffer.from('null')

/** Bytes of a value that are returned. */
export const MAX_VALUE = 1024
/** Slices are this large only if they hold a huge value, which would take long to pass over. */
const MAX_SLICE = 4 * 1024 * 1024

/** The wanted rows of one slice or tail: position among the wanted rows, and row within the text. */
interface Part {
  slice: SliceRef | undefined
  wanted: { at: number; row: number }[]
}

/**
 * The values of some rows as JSON texts, by column, in the order of `rows`. Reads only the slices that contain
 * these rows, with few queries. Missing values are null; of long values there is only the beginning.
 */
export async function valuesAt(
  snap: Snapshot,
  columns: readonly SnapshotColumn[],
  rows: readonly number[],
): Promise<Buffer[][]> {
  const inOrder = ascending(rows)
  const parts = columns.map((column) => partsOf(column, inOrder))
  const blobs = new BatchedBlobs(
    snap.blobs,
    parts.flatMap((own) => own.flatMap(({ slice }) => slice ?? [])),
  )
  const values: Buffer[][] = []
  for (const [k, own] of parts.entries()) {
    const found: Buffer[] = rows.map(() => NULL)
    for (const { slice, wanted } of own) {
      pick(slice ? await loadText(blobs, slice) : columns[k].tail, wanted, found)
      await breathe()
    }
    values.push(found)
  }
  return values
}

/** The columns of these whose values in these rows can be read within `most` bytes, and without a huge value. */
export function affordable(
  columns: readonly SnapshotColumn[],
  rows: readonly number[],
  most: number,
): SnapshotColumn[] {
  const inOrder = ascending(rows)
  let bytes = 0
  return columns.filter((column) => {
    const own = bytesAt(column, inOrder)
    if (own > most - bytes) return false
    bytes += own
    return true
  })
}

/** Size of the slices of a column that contain any of these rows, in bytes, unpacked; infinite if one is huge. */
function bytesAt(column: SnapshotColumn, inOrder: Part['wanted']): number {
  const sizes = partsOf(column, inOrder).map(({ slice }) => slice?.bytes ?? column.tail.length)
  return sizes.some((size) => size > MAX_SLICE) ? Number.POSITIVE_INFINITY : sizes.reduce((a, b) => a + b, 0)
}

/** Row numbers in ascending order, with their places in the list. */
function ascending(rows: readonly number[]): Part['wanted'] {
  return rows.map((row, at) => ({ row, at })).sort((a, b) => a.row - b.row)
}

function partsOf(column: SnapshotColumn, inOrder: Part['wanted']): Part[] {
  const parts: Part[] = []
  let next = 0
  let before = 0
  const take = (slice: SliceRef | undefined, rows: number): void => {
    const wanted: Part['wanted'] = []
    for (; next < inOrder.length && inOrder[next].row < before + rows; next++)
      wanted.push({ at: inOrder[next].at, row: inOrder[next].row - before })
    if (wanted.length > 0) parts.push({ slice, wanted })
    before += rows
  }
  for (const slice of column.slices) take(slice, slice.rows)
  take(undefined, column.rows - before)
  return parts
}

/** Copies the wanted values of a text, which are in ascending order. */
function pick(text: Buffer, wanted: Part['wanted'], found: Buffer[]): void {
  let i = skipBlanks(text, 0)
  let row = 0
  for (const { at, row: want } of wanted) {
    for (; row < want; row++) i = skipBlanks(text, skipBlanks(text, endOf(text, i)) + 1)
    // A copy: the text can be large, and is no longer needed.
    found[at] = Buffer.from(text.subarray(i, Math.min(endOf(text, i), i + MAX_VALUE)))
  }
}
