// Reads the values of columns for rules. Chunks whose bounds already decide a rule are not read.

import type { ColumnType } from '../../../contract/column-types.ts'
import { findValueEnd, hasEscapes, nextValue, skipWhitespace, type WorkBudget } from '../../../json/index.ts'
import { type Comparison, familyOf, isDateType } from '../../store/schema/column-types.ts'
import { DAY_CHARACTERS, DAY_MS } from '../column/bounds.ts'
import { type ColumnChunk, columnChunksOf, readCells } from '../column/chunks.ts'
import type { CellReader, RowHashes } from '../column/kernel/cells.ts'
import { ValueKernel } from '../column/kernel/values.ts'
import type { Snapshot, SnapshotColumn } from '../column/snapshot.ts'
import { areAlike } from '../column/value-order.ts'
import type { ValueTest } from './value-rules.ts'

/** Maximum number of rows in a result. */
export const MAX_LISTED_ROWS = 20
/** Work units of matching a character with the pattern library. */
const UNITS_PER_MATCHED_CHARACTER = 20

/** Maximum number of values per chunk that are tested one by one after an automaton has rejected them. */
const MAX_RETESTED_VALUES = 1000

/** Number of values at the start of a chunk that tell whether texts are repeated, and the least repetitions. */
const SAMPLED_VALUES = 256
const MIN_REPEATS = 4

/** Values of a chunk, parsed on demand. */
class ChunkValues {
  private parsed: unknown[] | undefined
  private texts: unknown[] | undefined
  private distinct: Promise<DistinctTexts | undefined> | undefined

  constructor(
    private readonly text: Buffer,
    private readonly rows: number,
    private readonly family: ColumnType,
  ) {}

  private get isNumbers(): boolean {
    return this.family === 'number'
  }

  /** Returns the distinct texts; undefined for other values, and if few are repeated. */
  loadDistinct(work: WorkBudget): Promise<DistinctTexts | undefined> {
    this.distinct ??=
      this.family === 'text' && areRepeated(this.text)
        ? readDistinctTexts(this.text, this.rows, work)
        : Promise.resolve(undefined)
    return this.distinct
  }

  /** Returns all values; with `asTexts`, numbers as written. */
  all(asTexts: boolean): readonly unknown[] {
    if (asTexts && this.isNumbers) {
      this.texts ??= this.text
        .toString('latin1')
        .split(',')
        .map((json) => (json.trim() === 'null' ? null : json.trim()))
      return this.texts
    }
    this.parsed ??= parseColumn(this.text)
    return this.parsed
  }

  /** Returns a value as results list it: a number as a number. */
  listedValueOf(value: unknown): unknown {
    return this.isNumbers && typeof value === 'string' ? Number(value) : value
  }
}

/** Texts of a chunk. Most of them are distinct; the first one is null. */
interface DistinctTexts {
  values: unknown[]
  /** Position in `values`, by row. */
  numbers: Uint32Array
}

/** Returns whether texts of a chunk are repeated often, as far as its start tells. */
function areRepeated(text: Buffer): boolean {
  const distinct = new Set<string>()
  let count = 0
  for (let at = skipWhitespace(text, 0); at < text.length && count < SAMPLED_VALUES; count++) {
    const end = findValueEnd(text, at)
    distinct.add(text.toString('latin1', at, end))
    at = nextValue(text, end)
  }
  return distinct.size * MIN_REPEATS <= count
}

/** Reads each text of a chunk once, if it is repeated; undefined without a kernel. */
async function readDistinctTexts(
  text: Buffer,
  rows: number,
  work: WorkBudget,
): Promise<DistinctTexts | undefined> {
  const kernel = ValueKernel.acquire(rows, text.length)
  if (!kernel) return undefined
  const values: unknown[] = [null]
  const add = (buf: Buffer, start: number, end: number): number =>
    values.push(
      hasEscapes(buf, start, end)
        ? JSON.parse(buf.toString('utf8', start, end))
        : buf.toString('utf8', start + 1, end - 1),
    ) - 1
  const numbers = new Uint32Array(rows)
  let row = 0
  try {
    for (const batch of kernel.numberValues(text, [], add, 0)) {
      numbers.set(batch, row)
      row += batch.length
      await work.spendAndPause(batch.length)
    }
    return { values, numbers }
  } finally {
    kernel.release()
  }
}

/** Values that fail a rule. `rows`: the first ones, from 0. */
export interface Failures {
  count: number
  rows: { row: number; value: unknown }[]
}

/** A test of values, and the failures so far. */
export interface OpenTest {
  test: ValueTest
  failures: Failures
}

/**
 * Hashes of the values of a column. Chunks with ascending values (first rows in `ascending`) have no hashes.
 */
export interface ColumnHashes {
  hashes: RowHashes
  comparison: Comparison
  ascending: Set<number>
}

/** Values of a column, read chunk by chunk, as far as rules need them. */
export class ColumnValues {
  constructor(
    private readonly parts: readonly ColumnChunk[],
    private readonly column: SnapshotColumn,
    private readonly isMissing: (value: unknown) => boolean,
    private readonly work: WorkBudget,
  ) {}

  /**
   * Returns the chunks to read, with the tests that bounds do not decide. `from`: first row that tests apply
   * to.
   */
  selectChunks(
    tests: readonly OpenTest[],
    isUnique: boolean,
    from: number,
  ): { part: ColumnChunk; open: OpenTest[] }[] {
    return this.parts.flatMap((part) => {
      const { bounds, rows } = part
      const open = tests.filter(
        ({ test }) =>
          part.from + rows > from &&
          !test.holdsFor(bounds, rows, this.column.type) &&
          (bounds?.nulls !== rows || test.refusesMissing),
      )
      return isUnique || open.length > 0 ? [{ part, open }] : []
    })
  }

  /** Tests the values of a chunk and records failures. */
  async testChunk(
    reader: CellReader,
    part: ColumnChunk,
    text: Buffer,
    open: readonly OpenTest[],
    from: number,
  ): Promise<void> {
    const family = familyOf(this.column.type)
    const isNumbers = family === 'number'
    const first = Math.max(0, from - part.from)
    const values = new ChunkValues(text, part.rows, family)
    for (const { test, failures } of open) {
      // Columns of mixed values need parsed JSON.
      const isSimple = test.automaton && family !== 'json'
      const rows = isSimple ? reader.findRejected(text, test.automaton!, MAX_RETESTED_VALUES) : undefined
      if (rows?.length !== 0) await test.prepare?.()
      const record = (value: unknown, row: number): void => {
        failures.count++
        if (failures.rows.length < MAX_LISTED_ROWS)
          failures.rows.push({ row: part.from + row, value: values.listedValueOf(value) })
      }
      await this.work.spendAndPause(text.length)
      if (!rows) await this.testAll(values, test, first, record)
      else
        for (const [k, { buf, start, end }] of reader.findCells(text, rows).entries()) {
          if (rows[k] < first) continue
          const json = buf.toString('utf8', start, end)
          const value = test.takesNumbersAsText && isNumbers ? json : JSON.parse(json)
          if (this.fails(test, value)) record(value, rows[k])
        }
    }
  }

  private fails(test: ValueTest, value: unknown): boolean {
    return this.isMissing(value) ? test.refusesMissing === true : test.breaks(value)
  }

  /** Tests all values of a chunk from row `first` on, repeated texts once. Calls `record` for each that fails. */
  private async testAll(
    values: ChunkValues,
    test: ValueTest,
    first: number,
    record: (value: unknown, row: number) => void,
  ): Promise<void> {
    const spend = (value: unknown): boolean => {
      const units = typeof value === 'string' ? value.length : 1
      return this.work.spend(test.prepare ? units * UNITS_PER_MATCHED_CHARACTER : units)
    }
    const distinct = await values.loadDistinct(this.work)
    if (!distinct) {
      for (const [row, value] of values.all(test.takesNumbersAsText === true).entries()) {
        if (row >= first && this.fails(test, value)) record(value, row)
        if (spend(value)) await this.work.pause()
      }
      return
    }
    const hasFailed: boolean[] = []
    for (const value of distinct.values) {
      hasFailed.push(this.fails(test, value))
      if (spend(value)) await this.work.pause()
    }
    if (!hasFailed.includes(true)) return
    const { values: texts, numbers } = distinct
    for (let row = first; row < numbers.length; row++)
      if (hasFailed[numbers[row]]) record(texts[numbers[row]], row)
  }

  /** Counts missing values. `each` is called with the row of each; without it, bounds can replace reading. */
  async countMissing(each?: (row: number) => void): Promise<number> {
    let count = 0
    for (const part of this.parts) {
      const { bounds } = part
      // Without texts, only nulls are missing, and bounds count them.
      const isNoText = bounds?.low !== undefined && !bounds.low.startsWith('"')
      if (bounds && !each && (isNoText || bounds.nulls === part.rows)) count += bounds.nulls
      else if (bounds?.nulls === 0 && isNoText) continue
      else
        for (const [k, value] of (await this.loadValues(part)).entries()) {
          if (!this.isMissing(value)) continue
          count++
          each?.(part.from + k)
        }
    }
    return count
  }

  /**
   * Returns the latest of the dates, or without any a text; undefined without values. `timeOf` returns the time of a date in
   * ms, that of a day at its end. Bounds can be too wide: they only exclude chunks.
   */
  async findNewest(timeOf: (text: string) => number | undefined): Promise<string | undefined> {
    const { type } = this.column
    const lastTimeOf = ({ bounds }: ColumnChunk): number => {
      const high: unknown = bounds?.high === undefined ? undefined : JSON.parse(bounds.high)
      const lastDay =
        typeof high === 'string' && isDateType(type) ? timeOf(high.slice(0, DAY_CHARACTERS)) : undefined
      // A zone moves a time by less than a day.
      return (lastDay ?? Number.POSITIVE_INFINITY) + (type === 'datetime-zone' ? DAY_MS : 0)
    }
    const parts = this.parts
      .filter(({ bounds, rows }) => bounds?.nulls !== rows)
      .map((part) => ({ part, last: lastTimeOf(part) }))
      .sort((a, b) => (a.last === b.last ? 0 : b.last - a.last))
    let newest: { text: string; time: number } | undefined
    for (const { part, last } of parts) {
      if (newest && last <= newest.time) continue
      for (const value of await this.loadValues(part)) {
        if (this.isMissing(value)) continue
        const text = String(value)
        const isKnownDate = newest !== undefined && Number.isFinite(newest.time)
        if (isKnownDate && areAlike(text, newest!.text) && text <= newest!.text) continue
        const time = timeOf(text) ?? Number.NEGATIVE_INFINITY
        if (!newest || time > newest.time) newest = { text, time }
      }
    }
    return newest?.text
  }

  private async loadValues(part: ColumnChunk): Promise<unknown[]> {
    const text = await part.load()
    this.work.spend(text.length)
    await this.work.pause()
    return parseColumn(text)
  }
}

/** Parses the values of a column JSON. */
function parseColumn(text: Buffer): unknown[] {
  return JSON.parse(`[${text.toString('utf8')}]`)
}

/** Returns the values of ascending rows. */
export async function readParsedValues(
  reader: CellReader,
  snap: Snapshot,
  column: SnapshotColumn,
  rows: readonly number[],
): Promise<unknown[]> {
  const cells = await readCells(reader, columnChunksOf(snap, column), rows)
  return cells.map((json) => JSON.parse(json))
}
