// Sort keys of a column.
import { asBuffer, findValueEnd, nextValue, skipWhitespace, type WorkBudget } from '../../../json/index.ts'
import { isDateType } from '../../store/schema/column-types.ts'
import { ValueKernel } from '../column/kernel/values.ts'
import type { RowSet } from '../column/row-set.ts'
import { streamScalars } from '../column/scalars.ts'
import { largestChunkBytes, type Snapshot, type SnapshotColumn, streamColumn } from '../column/snapshot.ts'
import { inBatches } from './radix-sort.ts'
import { MISSING, SortValues, setSortedWords } from './sort-values.ts'

/** Word of rows without a value, which come last. */
const LAST = 0xffff_ffff
/** Number of bytes that are read before their work is counted. */
const READ_BATCH_BYTES = 20_000
const COMMA = 0x2c

/** Words of each sorted row, the least significant ones first. Rows without a value have `LAST` in all. */
export interface SortKeys {
  words: Uint32Array[]
  /** Size of the texts that were read, in bytes. */
  bytes: number
}

/** A column to sort by. `only`: the sorted rows. */
export interface SortInput {
  snap: Snapshot
  column: SnapshotColumn
  only: RowSet | undefined
  work: WorkBudget
}

/** Reads the sort keys of a column. */
export async function readSortKeys(input: SortInput, isDescending: boolean): Promise<SortKeys> {
  const { column, work } = input
  const isNumeric = column.type === 'number' || isDateType(column.type)
  const keys = (isNumeric && (await readNumberKeys(input))) || (await readRankKeys(input, isNumeric))
  if (isDescending) await reverse(keys.words, work)
  return keys
}

/** Reads numbers, or times. Returns undefined if one is not a double, such as an integer of 20 digits. */
async function readNumberKeys({ snap, column, only, work }: SortInput): Promise<SortKeys | undefined> {
  const count = only?.count ?? snap.rows
  // A column can be shorter than others.
  const words = [new Uint32Array(count).fill(LAST), new Uint32Array(count).fill(LAST)] as const
  let [row, position] = [0, 0]
  for await (const batch of streamScalars(snap, column)) {
    if (!(batch instanceof Float64Array)) return undefined
    await inBatches(0, batch.length, work, (from, to) => {
      for (let k = from; k < to; k++, row++) {
        if (only && !only.has(row)) continue
        if (!Number.isNaN(batch[k])) setSortedWords(batch[k], words, position)
        position++
      }
    })
  }
  return { words: [...words], bytes: 0 }
}

/** Reads any values. */
async function readRankKeys(input: SortInput, isNumeric: boolean): Promise<SortKeys> {
  const { snap, only, work } = input
  const values = new SortValues()
  const valueOfRow = new Uint32Array(only?.count ?? snap.rows).fill(MISSING)
  await (isNumeric ? readScalars : readTexts)(input, values, valueOfRow)
  const ranks = await values.rank(work)
  ranks[MISSING] = LAST
  await inBatches(0, valueOfRow.length, work, (from, to) => {
    for (let row = from; row < to; row++) valueOfRow[row] = ranks[valueOfRow[row]]
  })
  return { words: [valueOfRow], bytes: values.bytes }
}

async function readScalars(
  { snap, column, only, work }: SortInput,
  values: SortValues,
  valueOfRow: Uint32Array,
): Promise<void> {
  let [row, position] = [0, 0]
  for await (const batch of streamScalars(snap, column))
    await inBatches(0, batch.length, work, (from, to) => {
      for (let k = from; k < to; k++, row++)
        if (!only || only.has(row)) valueOfRow[position++] = values.addScalar(batch[k])
    })
}

async function readTexts(
  { snap, column, only, work }: SortInput,
  values: SortValues,
  valueOfRow: Uint32Array,
): Promise<void> {
  const add = (buf: Buffer, start: number, end: number): number => values.addJson(buf, start, end)
  // A kernel does not know which rows are wanted.
  const kernel = only ? undefined : ValueKernel.acquire(column.rows, largestChunkBytes(column))
  const known: number[] = []
  let [row, position, read] = [0, 0, 0]
  try {
    for await (const text of streamColumn(snap, column, undefined, 1)) {
      const buf = asBuffer(text)
      if (buf.length === 1 && buf[0] === COMMA) continue
      if (kernel) {
        for (const ids of kernel.numberValues(buf, known, add, MISSING)) {
          valueOfRow.set(ids, row)
          row += ids.length
          await work.spendAndPause(ids.length)
        }
        work.spend(buf.length)
        continue
      }
      for (let i = skipWhitespace(buf, 0); i < buf.length; row++) {
        const end = findValueEnd(buf, i)
        if (!only || only.has(row)) valueOfRow[position++] = add(buf, i, end)
        read += end - i
        if (read > READ_BATCH_BYTES) {
          if (work.spend(read)) await work.pause()
          read = 0
        }
        i = nextValue(buf, end)
      }
      await work.pause()
    }
  } finally {
    kernel?.release()
  }
}

/** Reverses the order of keys, except those of rows without a value. No key is 0 in all words. */
async function reverse(words: readonly Uint32Array[], work: WorkBudget): Promise<void> {
  const most = words[words.length - 1]
  await inBatches(0, most.length, work, (from, to) => {
    for (let k = from; k < to; k++) if (most[k] !== LAST) for (const column of words) column[k] = ~column[k]
  })
}
