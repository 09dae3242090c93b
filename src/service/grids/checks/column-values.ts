// Reads the values of columns for rules: only parts whose bounds do not settle them.
import type { Work } from '../../../json/index.ts'
import { familyOf } from '../../store/schema/column-types.ts'
import type { Snapshot, SnapshotColumn } from '../column/content.ts'
import type { CellReader, RowHashes } from '../column/kernel/cells.ts'
import { type Part, partsOf, readCells } from '../column/parts.ts'
import type { ValueTest } from './value-rules.ts'

/** Rows that a result lists. */
export const MAX_LISTED = 20
/** Work of matching a character with the library of patterns. */
const MATCHED_UNITS = 20

/** Values that an automaton does not accept are looked at one by one, if there are no more of a part. */
const FEW = 1000

/** The values of a part, parsed when they are needed. */
class PartValues {
  private parsed: unknown[] | undefined
  private texts: unknown[] | undefined

  constructor(
    private readonly text: Buffer,
    private readonly isNumbers: boolean,
  ) {}

  /** All values; `asTexts`: numbers as they are written. */
  all(asTexts: boolean): readonly unknown[] {
    if (asTexts && this.isNumbers) {
      this.texts ??= this.text
        .toString('latin1')
        .split(',')
        .map((json) => (json.trim() === 'null' ? null : json.trim()))
      return this.texts
    }
    this.parsed ??= JSON.parse(`[${this.text.toString('utf8')}]`) as unknown[]
    return this.parsed
  }

  /** A value as it is listed. */
  shown(value: unknown): unknown {
    return this.isNumbers && typeof value === 'string' ? Number(value) : value
  }
}

export interface Broken {
  count: number
  rows: { row: number; value: unknown }[]
}

/** A test of values, and what it has found. */
export interface Open {
  test: ValueTest
  broken: Broken
}

/** Hashes of the values of a column. Of parts whose values ascend, by their first rows, there are none. */
export interface KnownHashes {
  hashes: RowHashes
  ascending: Set<number>
}

/** The values of a column, read part by part, as far as something has to be known of them. */
export class ColumnValues {
  constructor(
    private readonly parts: readonly Part[],
    private readonly column: SnapshotColumn,
    private readonly isMissing: (value: unknown) => boolean,
    private readonly work: Work,
  ) {}

  /** The parts that have to be read from a row on, with the tests that they may not pass. */
  wanted(tests: readonly Open[], isUnique: boolean, from: number): { part: Part; open: Open[] }[] {
    return this.parts.flatMap((part) => {
      const { bounds, rows } = part
      const open = tests.filter(
        ({ test }) =>
          part.from + rows > from &&
          !test.holdsFor(bounds, rows, this.column.type) &&
          (bounds?.nulls !== rows || test.takesMissing),
      )
      return isUnique || open.length > 0 ? [{ part, open }] : []
    })
  }

  /** Counts the values of a part that break tests. */
  async look(
    reader: CellReader,
    part: Part,
    text: Buffer,
    open: readonly Open[],
    from: number,
  ): Promise<void> {
    const family = familyOf(this.column.type)
    const isNumbers = family === 'number'
    const first = Math.max(0, from - part.from)
    const values = new PartValues(text, isNumbers)
    for (const { test, broken } of open) {
      // Values of several kinds are compared as they are meant.
      const isSimple = test.automaton && family !== 'json'
      const rows = isSimple ? reader.unaccepted(text, test.automaton!, FEW) : undefined
      if (rows?.length !== 0) await test.prepare?.()
      const count = (value: unknown, row: number): void => {
        if (row < first || (this.isMissing(value) ? !test.takesMissing : !test.breaks(value))) return
        broken.count++
        if (broken.rows.length < MAX_LISTED)
          broken.rows.push({ row: part.from + row, value: values.shown(value) })
      }
      await this.work.spendAndPause(text.length)
      if (rows)
        for (const [k, { buf, start, end }] of reader.find(text, rows).entries()) {
          const json = buf.toString('utf8', start, end)
          count(test.takesTexts && isNumbers ? json : JSON.parse(json), rows[k])
        }
      else
        for (const [row, value] of values.all(test.takesTexts === true).entries()) {
          count(value, row)
          const units = typeof value === 'string' ? value.length : 1
          if (this.work.spend(test.prepare ? units * MATCHED_UNITS : units)) await this.work.pause()
        }
    }
  }

  /** How many values are missing. */
  async missing(each?: (row: number) => void): Promise<number> {
    let count = 0
    for (const part of this.parts) {
      const { bounds } = part
      // Without other texts that are missing, bounds say it.
      const isNoText = bounds?.low !== undefined && !bounds.low.startsWith('"')
      if (bounds && !each && (isNoText || bounds.nulls === part.rows)) count += bounds.nulls
      else if (bounds?.nulls === 0 && isNoText) continue
      else
        for (const [k, value] of (await this.valuesOf(part)).entries()) {
          if (!this.isMissing(value)) continue
          count++
          each?.(part.from + k)
        }
    }
    return count
  }

  /** The greatest text. Bounds may be wider than the values: they say only which parts need not be read. */
  async newest(): Promise<string | undefined> {
    const highOf = ({ bounds }: Part): string | undefined => {
      const high: unknown = bounds?.high === undefined ? undefined : JSON.parse(bounds.high)
      return typeof high === 'string' ? high : undefined
    }
    const parts = this.parts
      .filter(({ bounds, rows }) => bounds?.nulls !== rows)
      .map((part) => ({ part, high: highOf(part) }))
      .sort((a, b) => (a.high === b.high ? 0 : a.high === undefined || (b.high ?? '') < a.high ? -1 : 1))
    let newest: string | undefined
    for (const { part, high } of parts) {
      if (newest !== undefined && high !== undefined && high <= newest) continue
      for (const value of await this.valuesOf(part))
        if (!this.isMissing(value) && (newest === undefined || String(value) > newest)) newest = String(value)
    }
    return newest
  }

  private async valuesOf(part: Part): Promise<unknown[]> {
    const text = await part.load()
    this.work.spend(text.length)
    await this.work.pause()
    return JSON.parse(`[${text.toString('utf8')}]`) as unknown[]
  }
}

/** Returns the values of ascending rows. */
export async function readValues(
  reader: CellReader,
  snap: Snapshot,
  column: SnapshotColumn,
  rows: readonly number[],
): Promise<unknown[]> {
  return (await readCells(reader, partsOf(snap, column), rows)).map((json) => JSON.parse(json) as unknown)
}
