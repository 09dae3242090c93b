// Reads the values of a column to sort rows by, and ranks them.
import { ensureCapacity, hasEscapes, jsonKindOf, type WorkBudget } from '../../../json/index.ts'
import { parseNumberLiteral, type Scalar } from '../../../query/index.ts'
import { mergeSort } from '../../../query/merge-sort.ts'
import { decodeStart } from './decode-start.ts'
import { createPositions, inBatches, RadixSorter } from './radix-sort.ts'

/** Order of kinds of values: numbers come first, missing values last. */
const NUMBER = 0
const OTHER = 1
const TEXT = 2
const NONE = 3
/** Number of the missing value. */
export const MISSING = 0
/** Maximum number of bytes of a value that are compared. */
const MAX_KEY_BYTES = 1024
/** Number of bytes of a text that are sorted by at once. */
const PART_BYTES = 8
/** Maximum number of texts with the same beginning that are compared with each other. */
const MAX_COMPARED = 512
/** Initial capacity for values, and for their texts in bytes. */
const INITIAL_VALUES = 1024
const INITIAL_TEXT_BYTES = 64 * 1024
/** Number of values that are scanned without yielding to the event loop. */
const SCANNED_VALUES = 8192
/** Number of bytes that are compared in a loop. */
const LOOP_BYTES = 32

/** A double and its words, the low one first. */
const double = new Float64Array(1)
const doubleWords = new Uint32Array(double.buffer)

/** Sets the low and the high word of a number at a position. They sort as the numbers do. */
export function setSortedWords(
  value: number,
  [low, high]: readonly [Uint32Array, Uint32Array],
  position: number,
): void {
  // −0 is 0.
  double[0] = value + 0
  const top = doubleWords[1]
  const isNegative = top >>> 31 === 1
  low[position] = isNegative ? ~doubleWords[0] : doubleWords[0]
  high[position] = isNegative ? ~top : top ^ 0x8000_0000
}

/** Range of sorted values that are equal in `parts` parts of their texts. */
interface Run {
  from: number
  to: number
  parts: number
}

/** Values being sorted. */
interface Sorting {
  order: Uint32Array
  isNew: Uint8Array
  /** Runs that are still to be sorted by their next part. */
  runs: Run[]
  work: WorkBudget
}

/** Values of a column, by number. Some can be equal. */
export class SortValues {
  count = 1
  private kinds = new Uint8Array(INITIAL_VALUES)
  /** Low and high words, which sort as the number or as a part of the text. */
  private words = [new Uint32Array(INITIAL_VALUES), new Uint32Array(INITIAL_VALUES)] as const
  /** Concatenated decoded texts, also of integers that a double cannot represent, and the start of each. UTF-8 bytes sort as code points do. */
  private texts: Buffer = Buffer.allocUnsafe(INITIAL_TEXT_BYTES)
  private starts = new Uint32Array(INITIAL_VALUES + 1)

  constructor() {
    this.kinds[MISSING] = NONE
  }

  /** Size of all texts, in bytes. */
  get bytes(): number {
    return this.starts[this.count]
  }

  /** Adds a number, or a time in ms since 1970. Returns its number. */
  addNumber(value: number): number {
    const id = this.add(NUMBER)
    setSortedWords(value, this.words, id)
    return id
  }

  /** Adds a value of a column of numbers or times. */
  addScalar(value: Scalar): number {
    if (typeof value === 'number') return Number.isNaN(value) ? MISSING : this.addNumber(value)
    if (typeof value !== 'bigint') return MISSING
    const id = this.addNumber(Number(value))
    const text = String(value)
    if (text.length < MAX_KEY_BYTES)
      this.starts[this.count] += this.texts.write(text, this.starts[id], 'latin1')
    return id
  }

  /** Adds the JSON value buf[start, end) of a column of texts or of mixed values. */
  addJson(buf: Buffer, start: number, end: number): number {
    const kind = jsonKindOf(buf[start])
    if (kind === 'null') return MISSING
    if (kind === 'number') return this.addScalar(parseNumberLiteral(buf.toString('latin1', start, end)))
    const id = this.add(kind === 'string' ? TEXT : OTHER)
    // The beginning of a long value is enough.
    const cut = Math.min(end, start + MAX_KEY_BYTES)
    let at = this.starts[id]
    if (kind !== 'string') at += buf.copy(this.texts, at, start, cut)
    else if (hasEscapes(buf, start, cut))
      at += this.texts.write(decodeStart(buf, start, end, MAX_KEY_BYTES), at)
    else at += buf.copy(this.texts, at, start + 1, Math.min(end - 1, cut))
    this.starts[this.count] = at
    this.setPart(id, 0)
    return id
  }

  private add(kind: number): number {
    const id = this.count++
    if (this.count >= this.kinds.length) this.grow()
    this.kinds[id] = kind
    const at = this.starts[id]
    this.starts[this.count] = at
    this.texts = ensureCapacity(this.texts, at, MAX_KEY_BYTES * 3)
    return id
  }

  private grow(): void {
    const { kinds, words, starts } = this
    this.kinds = new Uint8Array(2 * kinds.length)
    this.kinds.set(kinds)
    this.words = [new Uint32Array(2 * kinds.length), new Uint32Array(2 * kinds.length)]
    for (const [k, word] of words.entries()) this.words[k].set(word)
    this.starts = new Uint32Array(this.kinds.length + 1)
    this.starts.set(starts)
  }

  /** Sets the words of a value to a part of its text. */
  private setPart(id: number, part: number): void {
    const from = this.starts[id] + part * PART_BYTES
    this.words[1][id] = this.readWord(from, this.starts[id + 1])
    this.words[0][id] = this.readWord(from + PART_BYTES / 2, this.starts[id + 1])
  }

  /** Reads up to four bytes as a word that sorts as they do. */
  private readWord(from: number, end: number): number {
    if (from + 4 <= end) return this.texts.readUInt32BE(from)
    let word = 0
    for (let k = from; k < from + 4; k++) word = word * 256 + (k < end ? this.texts[k] : 0)
    return word
  }

  /** Returns the rank of each value, from 1; equal values have equal ranks. Missing values have the last. */
  async rank(work: WorkBudget): Promise<Uint32Array> {
    const sorter = new RadixSorter(createPositions(this.count), work)
    for (const words of [...this.words, this.kinds]) await sorter.sortBy(words)
    const order = sorter.positions
    // 1 for each value that differs from the one before.
    const isNew = new Uint8Array(this.count)
    const sorting: Sorting = { order, isNew, runs: [], work }
    await this.sortRuns(sorting, { from: 0, to: this.count, parts: 1 })
    for (let run = sorting.runs.pop(); run; run = sorting.runs.pop()) await this.sortByPart(sorting, run)
    const ranks = new Uint32Array(this.count)
    let rank = 1
    await inBatches(0, this.count, work, (from, to) => {
      for (let k = from; k < to; k++) ranks[order[k]] = rank += isNew[k]
    })
    return ranks
  }

  /** Sorts a run of texts by their next part, then the values whose next part is equal. */
  private async sortByPart(sorting: Sorting, { from, to, parts }: Run): Promise<void> {
    const { order, work } = sorting
    const values = order.subarray(from, to)
    await inBatches(0, values.length, work, (start, end) => {
      for (let k = start; k < end; k++) this.setPart(values[k], parts)
    })
    const sorter = new RadixSorter(values.slice(), work)
    for (const words of this.words) await sorter.sortBy(words)
    values.set(sorter.positions)
    await this.sortRuns(sorting, { from, to, parts: parts + 1 })
  }

  /**
   * Marks the values of a range that differ from the one before in kind or words. Sorts runs of others, which
   * are equal in `parts` parts: few values at once, many later, as `runs`.
   */
  private async sortRuns(sorting: Sorting, { from, to, parts }: Run): Promise<void> {
    const { order, isNew, runs, work } = sorting
    await inBatches(from + 1, to, work, (start, end) => this.markNew(order, start, end, isNew))
    let first = from
    for (let start = from + 1; start <= to; start += SCANNED_VALUES) {
      const end = Math.min(to, start + SCANNED_VALUES - 1)
      for (let k = start; k <= end; k++) {
        if (k < to && isNew[k] === 0) continue
        const run = { from: first, to: k, parts }
        first = k
        if (run.to - run.from < 2 || this.areEqual(order, run)) continue
        if (run.to - run.from <= MAX_COMPARED) this.sortFew(sorting, run)
        else if (this.mustCompare(order, run)) await this.sortMany(sorting, run)
        else runs.push(run)
      }
      await work.spendAndPause(end - start + 1)
    }
  }

  /** Returns whether the values of a run are equal: they have no further parts, and the same length. */
  private areEqual(order: Uint32Array, { from, to, parts }: Run): boolean {
    const length = this.lengthOf(order[from])
    if (length > (this.kinds[order[from]] === NUMBER ? 0 : parts * PART_BYTES)) return false
    for (let k = from + 1; k < to; k++) if (this.lengthOf(order[k]) !== length) return false
    return true
  }

  /** Returns whether a run cannot be sorted by further parts: of numbers, and of texts that have no more. */
  private mustCompare(order: Uint32Array, { from, to, parts }: Run): boolean {
    if (this.kinds[order[from]] === NUMBER) return true
    for (let k = from; k < to; k++) if (this.lengthOf(order[k]) > parts * PART_BYTES) return false
    return true
  }

  private lengthOf(id: number): number {
    return this.starts[id + 1] - this.starts[id]
  }

  private sortFew({ order, isNew }: Sorting, { from, to, parts }: Run): void {
    const compare = (a: number, b: number): number => this.compare(a, b, parts)
    order.subarray(from, to).sort(compare)
    for (let k = from + 1; k < to; k++) if (compare(order[k - 1], order[k]) !== 0) isNew[k] = 1
  }

  private async sortMany({ order, isNew, work }: Sorting, { from, to, parts }: Run): Promise<void> {
    const compare = (a: number, b: number): number => this.compare(a, b, parts)
    order.set(await mergeSort(order.slice(from, to), compare, work), from)
    await inBatches(from + 1, to, work, (start, end) => {
      for (let k = start; k < end; k++) if (compare(order[k - 1], order[k]) !== 0) isNew[k] = 1
    })
  }

  /** Marks values that differ from the one before in kind or words. */
  private markNew(order: Uint32Array, from: number, to: number, isNew: Uint8Array): void {
    const { kinds } = this
    const [low, high] = this.words
    for (let k = from; k < to; k++) {
      const a = order[k - 1]
      const b = order[k]
      if (kinds[a] !== kinds[b] || low[a] !== low[b] || high[a] !== high[b]) isNew[k] = 1
    }
  }

  /**
   * Compares values of the same kind with the same words, whose first `parts` parts are equal. Returns a
   * negative number if `a` comes before `b`; 0 if they are equal.
   */
  private compare(a: number, b: number, parts: number): number {
    const { starts, texts } = this
    if (this.kinds[a] === NUMBER) return this.compareIntegers(a, b)
    const [end, endOther] = [starts[a + 1], starts[b + 1]]
    let i = Math.min(end, starts[a] + parts * PART_BYTES)
    let j = Math.min(endOther, starts[b] + parts * PART_BYTES)
    // A loop is faster for short texts, a call for long ones.
    for (const near = i + LOOP_BYTES; i < near && i < end && j < endOther; i++, j++)
      if (texts[i] !== texts[j]) return texts[i] - texts[j]
    const rest = i < end && j < endOther ? texts.compare(texts, j, endOther, i, end) : 0
    return rest || end - starts[a] - (endOther - starts[b])
  }

  /** Compares integers that are equal as doubles. */
  private compareIntegers(a: number, b: number): number {
    const { starts, texts } = this
    if (starts[a] === starts[a + 1] || starts[b] === starts[b + 1]) return 0
    const [integer, other] = [a, b].map((id) => BigInt(texts.toString('latin1', starts[id], starts[id + 1])))
    return integer < other ? -1 : integer > other ? 1 : 0
  }
}
