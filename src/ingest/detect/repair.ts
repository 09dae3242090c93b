// Finds the most likely reading of a record with misplaced quotes.

import { ESCAPED, QUOTED } from '../values/cells.ts'
import { CR, LF, SPACE, TAB } from '../values/characters.ts'
import type { Dialect } from '../values/dialect.ts'

/** Maximum size of a record that is repaired. */
export const MAX_REPAIR_BYTES = 32 * 1024
/** Maximum number of line ends in one quoted cell of a malformed record. */
const MAX_CELL_LINES = 50
/** Maximum number of steps of one search. */
const MAX_SEARCH_STEPS = 200_000

/**
 * Costs of a reading. A literal quote at the start of a cell, or a quote that is not doubled inside one;
 * pairs of quotes inside an unquoted cell that hide a delimiter or line end; line ends inside a cell, since
 * it may have swallowed the next record.
 */
const LITERAL_QUOTE_COST = 2
const HIDING_QUOTES_COST = 3
const SPANS_LINES_COST = 1

/** A reading of a malformed record. */
export interface RecordReading {
  /** Offsets and flags of the cells, as in `Tokenizer`. */
  starts: number[]
  ends: number[]
  /** Offset after the line end, and number of lines of the record. */
  next: number
  lines: number
}

/** A possible cell. */
interface CellReading {
  start: number
  end: number
  flags: number
  /** Offset of the delimiter or line end after it. */
  stop: number
  cost: number
  /** Number of line ends inside. */
  lines: number
}

/** Start of a cell, and the cheapest path to it. */
interface Step {
  at: number
  /** Number of cells before it. */
  cells: number
  cost: number
  /** Number of paths of that cost; 2 for two or more. */
  ways: number
  lines: number
  /** The previous cell, and the step at its start. */
  from?: { step: Step; cell: CellReading }
}

export type RecordStyle = Pick<Dialect, 'skipSpace' | 'crOnly'> & {
  delimiter: number
  quote: number
  /** −1 without escape character. */
  escape: number
}

/** Form that a record must have: its number of cells, in a table of `width` columns. */
interface RecordForm {
  cells: number
  width: number
  style: RecordStyle
}

/**
 * Returns the cheapest reading of the record at buf[row] with exactly `form.cells` cells; undefined if none
 * exists, or several have the same cost. buf[to] must be a line end.
 */
export function repairRecord(
  buf: Uint8Array,
  row: number,
  to: number,
  form: RecordForm,
): RecordReading | undefined {
  return new RecordSearch(buf, row, to, form).run()
}

/** Search for the cheapest reading of one record, cell by cell. */
class RecordSearch {
  private readonly limit: number
  /** By offset and number of cells. Offsets are visited in ascending order, so each is final when visited. */
  private readonly waiting: Map<number, Map<number, Step>>
  private readonly order: number[]
  private best: Step | undefined
  private steps = 0

  constructor(
    private readonly buf: Uint8Array,
    row: number,
    private readonly to: number,
    private readonly form: RecordForm,
  ) {
    this.limit = Math.min(to, row + MAX_REPAIR_BYTES)
    this.waiting = new Map([[row, new Map([[0, { at: row, cells: 0, cost: 0, ways: 1, lines: 0 }]])]])
    this.order = [row]
  }

  run(): RecordReading | undefined {
    const { buf, waiting, order } = this
    const { quote, skipSpace } = this.form.style
    for (let k = 0; k < order.length; k++) {
      const steps = [...waiting.get(order[k])!.values()]
      let start = order[k]
      if (skipSpace) while (buf[start] === SPACE) start++
      if (!this.addUnquoted(steps, start)) return undefined
      if (buf[start] === quote && !this.addQuoted(steps, start)) return undefined
    }
    return this.best && this.readPath(this.best)
  }

  private endsLine(i: number): boolean {
    const { buf, to } = this
    return (
      i >= to ||
      buf[i] === LF ||
      (buf[i] === CR && (this.form.style.crOnly || buf[i + 1] === LF || i + 1 >= to))
    )
  }

  private endsCell(i: number): boolean {
    return this.endsLine(i) || this.buf[i] === this.form.style.delimiter
  }

  private isLineEnd(c: number): boolean {
    return c === LF || (c === CR && this.form.style.crOnly)
  }

  /** Returns whether a complete record begins at an offset, which then does not belong to a cell. */
  private isRecordStart(at: number): boolean {
    return isRecordStart(this.buf, at, this.to, this.form.width, this.form.style)
  }

  /** Adds a cell after each of `steps`. */
  private addCell(steps: readonly Step[], cell: CellReading): void {
    for (const step of steps)
      this.addStep({
        at: cell.stop + 1,
        cells: step.cells + 1,
        cost: step.cost + cell.cost,
        ways: step.ways,
        lines: step.lines + cell.lines,
        from: { step, cell },
      })
  }

  /** Adds a step, unless there is a cheaper one. */
  private addStep(step: Step): void {
    const { best, waiting, order } = this
    const { at, cells, cost } = step
    if (best && cost > best.cost) return
    if (this.endsLine(at - 1)) {
      if (cells !== this.form.cells) return
      step.at--
      if (!best || cost < best.cost) this.best = step
      else best.ways = 2
      return
    }
    if (cells >= this.form.cells) return
    let others = waiting.get(at)
    if (!others) {
      others = new Map()
      waiting.set(at, others)
      // Offsets are few, but reached in any order.
      let k = order.length
      while (k > 0 && order[k - 1] > at) k--
      order.splice(k, 0, at)
    }
    const existing = others.get(cells)
    if (!existing || cost < existing.cost) others.set(cells, step)
    else if (cost === existing.cost) existing.ways = 2
  }

  /**
   * Adds the unquoted cell at `start`, which ends at the first delimiter, or at the first that quotes do not
   * hide. Returns whether the search can continue.
   */
  private addUnquoted(steps: readonly Step[], start: number): boolean {
    const { buf, limit } = this
    const { quote } = this.form.style
    let quotes = 0
    let stop = start
    for (; !this.endsCell(stop); stop++) if (buf[stop] === quote) quotes++
    if (stop > limit) return false
    const cost = buf[start] === quote ? quotes * LITERAL_QUOTE_COST : 0
    this.addCell(steps, { start, end: stop, flags: 0, stop, cost, lines: 0 })
    const hidden = quotes > 0 ? this.findVisibleEnd(start) : undefined
    if (hidden && hidden.stop !== stop)
      this.addCell(steps, {
        start,
        end: hidden.stop,
        flags: 0,
        ...hidden,
        cost: HIDING_QUOTES_COST + (hidden.lines > 0 ? SPANS_LINES_COST : 0),
      })
    return true
  }

  /**
   * Finds the end of a cell in which pairs of quotes hide delimiters and line ends, and counts these lines.
   */
  private findVisibleEnd(start: number): { stop: number; lines: number } | undefined {
    const { buf, to, limit } = this
    let inside = false
    let lines = 0
    for (let i = start; i <= limit; i++) {
      if (++this.steps > MAX_SEARCH_STEPS) return undefined
      const c = buf[i]
      if (!inside && this.endsCell(i)) return { stop: i, lines }
      if (i >= to) return undefined
      if (c === this.form.style.quote) inside = !inside
      else if (this.isLineEnd(c) && (++lines > MAX_CELL_LINES || this.isRecordStart(i + 1))) return undefined
    }
    return undefined
  }

  /**
   * Adds the quoted cells at `start`, which can end at any quotes before a delimiter or line end. Returns
   * whether the search can continue.
   */
  private addQuoted(steps: readonly Step[], start: number): boolean {
    const { buf, to, limit } = this
    const { delimiter, quote, escape: escaper } = this.form.style
    let cost = 0
    let lines = 0
    let flags = QUOTED
    for (let i = start + 1; i < limit && lines <= MAX_CELL_LINES; i++) {
      if (++this.steps > MAX_SEARCH_STEPS) return false
      const c = buf[i]
      if (this.isLineEnd(c)) {
        if (this.isRecordStart(i + 1)) break
        lines++
        continue
      }
      if (c === escaper && (buf[i + 1] === quote || buf[i + 1] === escaper)) {
        flags |= ESCAPED
        i++
        continue
      }
      if (c !== quote) continue
      let run = i + 1
      while (buf[run] === quote && run < to) run++
      const count = run - i
      let stop = run
      while ((buf[stop] === SPACE || buf[stop] === TAB) && buf[stop] !== delimiter) stop++
      if (this.endsCell(stop))
        this.addCell(steps, {
          start: start + 1,
          end: run - 1,
          flags: count > 1 ? flags | ESCAPED : flags,
          stop,
          cost: cost + (count % 2 === 0 ? LITERAL_QUOTE_COST : 0) + (lines > 0 ? SPANS_LINES_COST : 0),
          lines,
        })
      if (count % 2 === 1) cost += LITERAL_QUOTE_COST
      if (this.best && cost > this.best.cost) break
      flags |= ESCAPED
      i = run - 1
    }
    return true
  }

  /** Returns the reading that ends with a step; undefined if it is not the only one. */
  private readPath(last: Step): RecordReading | undefined {
    const { buf, to } = this
    const starts: number[] = []
    const ends: number[] = []
    for (let step = last; ; step = step.from.step) {
      if (step.ways > 1) return undefined
      if (!step.from) break
      const { start, end, flags } = step.from.cell
      starts.unshift(start)
      ends.unshift((end << 2) | flags)
    }
    const stop = last.at
    const next = stop >= to ? to : buf[stop] === CR && buf[stop + 1] === LF ? stop + 2 : stop + 1
    // The next line can be the rest of a cell whose quote was taken literally.
    if (next < to && isCellRemainder(buf, next, to, this.form.width, this.form.style)) return undefined
    return { starts, ends, next, lines: last.lines + 1 }
  }
}

/** Maximum size of a record whose form is checked. */
const MAX_CHECKED_BYTES = 8 * 1024

/**
 * Counts the cells and quotes of a well-formed record; undefined if a quote is not closed or doubled. With
 * `oneLine`, a quoted cell must end on its line.
 */
function countCells(
  buf: Uint8Array,
  from: number,
  to: number,
  { delimiter, quote, escape: escaper, skipSpace, crOnly }: RecordStyle,
  oneLine: boolean,
): { cells: number; quotes: number; loose: number } | undefined {
  const limit = Math.min(to, from + MAX_CHECKED_BYTES)
  let cells = 0
  let quotes = 0
  let loose = 0
  let i = from
  const ends = (): boolean => i >= to || buf[i] === LF || (buf[i] === CR && (crOnly || buf[i + 1] === LF))
  for (;;) {
    if (skipSpace) while (buf[i] === SPACE) i++
    if (buf[i] === quote && i < to) {
      quotes++
      for (i++; i < limit && !(oneLine && ends()); i++) {
        if (buf[i] === escaper && (buf[i + 1] === quote || buf[i + 1] === escaper)) i++
        else if (buf[i] === quote && buf[i + 1] === quote) i++
        else if (buf[i] === quote) break
      }
      if (buf[i] !== quote || i >= limit) return undefined
      quotes++
      i++
      while ((buf[i] === SPACE || buf[i] === TAB) && buf[i] !== delimiter) i++
      if (!ends() && buf[i] !== delimiter) return undefined
    } else
      for (; !ends() && buf[i] !== delimiter; i++) {
        if (buf[i] === quote) loose++
        if (i > limit) return undefined
      }
    cells++
    if (ends()) return { cells, quotes: quotes + loose, loose }
    i++
  }
}

/** Returns whether a record of `width` cells begins at `from`. */
export function isRecordStart(
  buf: Uint8Array,
  from: number,
  to: number,
  width: number,
  style: RecordStyle,
): boolean {
  return width > 1 && from < to && countCells(buf, from, to, style, false)?.cells === width
}

/** Returns whether all quotes of the record at `from` are in place. It then has no other reading. */
export function isWellFormed(buf: Uint8Array, from: number, to: number, style: RecordStyle): boolean {
  return countCells(buf, from, to, style, false)?.loose === 0
}

/**
 * Returns whether the line at `from` looks like the end of a quoted cell: too few cells, and an odd number of
 * quotes.
 */
export function isCellRemainder(
  buf: Uint8Array,
  from: number,
  to: number,
  width: number,
  style: RecordStyle,
): boolean {
  if (from >= to) return false
  const line = countCells(buf, from, to, style, true)
  return line !== undefined && line.cells < width && line.quotes % 2 === 1
}
