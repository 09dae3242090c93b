import { createHash } from 'node:crypto'
import type { ColumnDescription } from '../../../contract/resources/index.ts'
import { endOf, instantIn, nextValue, skipBlanks, Work } from '../../../json/index.ts'
import { familyOf, isDateType } from '../../store/schema/column-types.ts'
import { columnText, type Snapshot, type SnapshotColumn } from '../column/content.ts'
import type { RowSet } from '../column/row-set.ts'

/** Different values that are counted. */
const MAX_DISTINCT = 100_000
/** Bytes of values that are kept to count them. Of longer values, a hash is. */
const MAX_KEPT_CHARACTERS = 200
/** Values of which quantiles are made. */
const SAMPLE_VALUES = 10_000
/** Runs of rows of which a mean is given. */
const TREND_RUNS = 24

/** Statistics of a column, or of some rows of it, computed while its values are streamed: in constant memory. */
export async function describeColumn(
  snap: Snapshot,
  column: SnapshotColumn,
  work = new Work(),
  rows?: RowSet,
): Promise<ColumnDescription> {
  const count = rows?.count ?? column.rows
  const found = new Statistics(count, isDateType(column.type))
  let [row, added] = [0, 0]
  for await (const text of columnText(snap, column)) {
    const buf = Buffer.from(text.buffer, text.byteOffset, text.byteLength)
    // Between slices there is a comma of its own.
    if (buf.length === 1 && buf[0] === 0x2c) continue
    for (let i = skipBlanks(buf, 0); i < buf.length; ) {
      const end = endOf(buf, i)
      if (!rows || rows.has(row)) {
        found.add(buf, i, end)
        added++
      }
      row++
      if (work.spend(end - i)) await work.pause()
      i = nextValue(buf, end)
    }
    await work.pause()
  }
  return { name: column.name, type: familyOf(column.type), rows: added, ...found.result() }
}

class Statistics {
  private nulls = 0
  private numbers = 0
  private hasTexts = false
  private sum = 0
  private row = 0
  private min: number | string | null = null
  private max: number | string | null = null
  /** The smallest and the largest number as they are written. */
  private minWritten: string | undefined
  private maxWritten: string | undefined
  private readonly seen = new Set<string>()
  private isExact = true
  /** Whether numbers or times never become less. */
  private isAscending = true
  private last = Number.NEGATIVE_INFINITY
  private seed = 1
  private readonly sample: number[] = []
  private readonly runs: { sum: number; count: number }[]
  private readonly runLength: number

  /** The times of the least and the latest text, of a column of dates. */
  private earliest = Number.POSITIVE_INFINITY
  private latest = Number.NEGATIVE_INFINITY

  constructor(
    rows: number,
    private readonly isMoments: boolean,
  ) {
    const count = Math.min(TREND_RUNS, rows)
    this.runs = Array.from({ length: count }, () => ({ sum: 0, count: 0 }))
    this.runLength = rows / Math.max(1, count)
  }

  /** Adds the value that is JSON text from `start` to `end`. */
  add(buf: Buffer, start: number, end: number): void {
    const row = this.row++
    const first = buf[start]
    if (first === 0x6e) {
      this.nulls++
      return
    }
    this.count(buf, start, end)
    if (first === 0x22 && this.isMoments) this.moment(buf, start + 1, end - 1)
    else if (first === 0x22) {
      this.hasTexts = true
      this.extend(textOf(buf, start, end))
    } else if (first === 0x2d || (first >= 0x30 && first <= 0x39))
      this.number(buf.toString('latin1', start, end), row)
  }

  private count(buf: Buffer, start: number, end: number): void {
    if (!this.isExact) return
    const length = end - start
    this.seen.add(
      length > MAX_KEPT_CHARACTERS
        ? createHash('sha256').update(buf.subarray(start, end)).digest('base64')
        : buf.toString('latin1', start, end),
    )
    if (this.seen.size >= MAX_DISTINCT) this.isExact = false
  }

  private number(text: string, row: number): void {
    const value = Number(text)
    // Beyond what a double can represent.
    if (!Number.isFinite(value)) return
    this.extend(value, text)
    this.follow(value)
    this.sum += value
    const run = this.runs[Math.min(this.runs.length - 1, Math.floor(row / this.runLength))]
    run.sum += value
    run.count++
    // Algorithm R: each value has the same chance.
    const k = this.numbers < SAMPLE_VALUES ? this.numbers : Math.floor(this.random() * (this.numbers + 1))
    if (k < SAMPLE_VALUES) this.sample[k] = value
    this.numbers++
  }

  /** The same numbers each time, so that statistics of the same values are the same. */
  private random(): number {
    this.seed = (Math.imul(this.seed, 1_664_525) + 1_013_904_223) >>> 0
    return this.seed / 2 ** 32
  }

  private follow(value: number): void {
    if (value < this.last) this.isAscending = false
    this.last = value
  }

  private moment(buf: Buffer, start: number, end: number): void {
    const instant = instantIn(buf, start, end)
    this.follow(instant)
    if (instant < this.earliest) {
      this.earliest = instant
      this.min = buf.toString('latin1', start, end)
    }
    if (instant > this.latest) {
      this.latest = instant
      this.max = buf.toString('latin1', start, end)
    }
  }

  /** Numbers come before texts. */
  private extend(value: number | string, written?: string): void {
    if (this.min === null || isBefore(value, this.min)) {
      this.min = value
      this.minWritten = written
    }
    if (this.max === null || isBefore(this.max, value)) {
      this.max = value
      this.maxWritten = written
    }
  }

  result(): Omit<ColumnDescription, 'name' | 'type' | 'rows'> {
    const sorted = this.sample.sort((a, b) => a - b)
    // Between two values, in proportion.
    const quantile = (share: number): number => {
      const at = share * (sorted.length - 1)
      const below = sorted[Math.floor(at)]
      return below + (sorted[Math.ceil(at)] - below) * (at - Math.floor(at))
    }
    return {
      nulls: this.nulls,
      distinct: this.seen.size,
      distinct_is_exact: this.isExact,
      min: exact(this.min, this.minWritten),
      max: exact(this.max, this.maxWritten),
      mean: this.numbers === 0 ? null : finite(this.sum / this.numbers),
      // Beyond the sample, they are estimates.
      quantiles_are_exact: this.numbers <= SAMPLE_VALUES,
      quantiles: this.numbers === 0 ? null : [quantile(0.25), quantile(0.5), quantile(0.75)],
      ascending: this.last === Number.NEGATIVE_INFINITY || this.hasTexts ? null : this.isAscending,
      trend:
        this.numbers === 0
          ? []
          : this.runs.map(({ sum, count }) => (count === 0 ? null : finite(sum / count))),
    }
  }
}

/** A number; its text if it has more digits than a double holds. */
function exact(value: number | string | null, written: string | undefined): number | string | null {
  if (typeof value !== 'number' || written === undefined) return value
  // Zeros at the end of a fraction are no digits.
  const plain = written.includes('.') && !/e/i.test(written) ? written.replace(/\.?0+$/, '') : written
  const digits = plain.replace(/e.*$/i, '').replace(/^-?0*\.?0*|[.]/g, '')
  return digits.length > 15 && String(value) !== plain ? written : value
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null
}

function isBefore(a: number | string, b: number | string): boolean {
  if (typeof a === typeof b) return a < b
  return typeof a === 'number'
}

/** The beginning of a text value. */
function textOf(buf: Buffer, start: number, end: number): string {
  if (end - start <= MAX_KEPT_CHARACTERS) return JSON.parse(buf.toString('utf8', start, end)) as string
  const whole = buf.toString('utf8', start + 1, Math.min(end - 1, start + MAX_KEPT_CHARACTERS * 6))
  // The cut can be inside of an escape or a character.
  const text = whole.slice(0, MAX_KEPT_CHARACTERS).replace(/(\\u?[0-9a-f]{0,3}|\ufffd|[\ud800-\udbff])$/i, '')
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return text
  }
}
