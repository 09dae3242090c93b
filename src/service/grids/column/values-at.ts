import { breathe, endOf, nextValue, skipBlanks } from '../../../json/index.ts'
import { BatchedBlobs } from '../../store/objects/blobs.ts'
import type { Snapshot, SnapshotColumn } from './content.ts'
import { partsOf, rowsByPart } from './parts.ts'

const NULL = Buffer.from('null')

/** Bytes of a value that are returned. */
export const MAX_VALUE = 1024
/** Slices are this large only if they hold a huge value, which would take long to pass over. */
const MAX_SLICE = 4 * 1024 * 1024

/**
 * The values of some rows as JSON texts, by column, in the order of `rows`. Reads only the slices that contain
 * these rows, with few queries. Missing values are null; of long values there is only the beginning.
 */
export async function valuesAt(
  snap: Snapshot,
  columns: readonly SnapshotColumn[],
  rows: readonly number[],
): Promise<Buffer[][]> {
  const order = sortRows(rows)
  const chosen = columns.map((column) => rowsByPart(partsOf(snap, column), order.rows))
  const slices = chosen.flatMap((own) => own.flatMap(({ part }) => part.slice ?? []))
  const blobs = new BatchedBlobs(snap.blobs, slices)
  const values: Buffer[][] = []
  for (const own of chosen) {
    const texts: Buffer[] = rows.map(() => NULL)
    for (const { part, rows: inPart, first } of own) {
      for (const [k, value] of pickValues(await part.load(blobs), inPart)) texts[order.at[first + k]] = value
      await breathe()
    }
    values.push(texts)
  }
  return values
}

/** Returns those columns whose values in these rows can be read within `most` bytes, and without a huge value. */
export function affordable(
  snap: Snapshot,
  columns: readonly SnapshotColumn[],
  rows: readonly number[],
  most: number,
): SnapshotColumn[] {
  const order = sortRows(rows)
  let bytes = 0
  return columns.filter((column) => {
    const sizes = rowsByPart(partsOf(snap, column), order.rows).map(({ part }) => part.bytes)
    const size = sizes.reduce((sum, one) => sum + one, 0)
    if (sizes.some((one) => one > MAX_SLICE) || size > most - bytes) return false
    bytes += size
    return true
  })
}

/** Returns rows in ascending order, with their positions in the list. */
function sortRows(rows: readonly number[]): { rows: number[]; at: number[] } {
  const at = rows.map((_, k) => k).sort((a, b) => rows[a] - rows[b])
  return { rows: at.map((k) => rows[k]), at }
}

/** Yields copies of the values of ascending rows of a text, with their positions among `rows`. */
function* pickValues(text: Buffer, rows: readonly number[]): Generator<[number, Buffer]> {
  let i = skipBlanks(text, 0)
  let row = 0
  for (const [k, wanted] of rows.entries()) {
    for (; row < wanted; row++) i = nextValue(text, endOf(text, i))
    // A copy: the text can be large, and is no longer needed.
    yield [k, Buffer.from(text.subarray(i, Math.min(endOf(text, i), i + MAX_VALUE)))]
  }
}
