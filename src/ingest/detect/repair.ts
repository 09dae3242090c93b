// Finds the most likely reading of a record with misplaced quotes.

import { ESCAPED, QUOTED } from '../values/cells.ts'
import type { Dialect } from '../values/dialect.ts'

const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const TAB = 0x09

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

/** Start of a cell, and the cheapest path to it. */
interface Step {
  at: number
  cell: number
  cost: number
  /** Number of paths of that cost; 2 for two or more. */
  ways: number
  lines: number
  /** The previous cell, with its offsets and flags. */
  from: Step | undefined
  start: number
  end: number
  flags: number
}

export type RecordStyle = Pick<Dialect, 'skipSpace' | 'crOnly'> & {
  delimiter: number
  quote: number
  /** −1 without escape character. */
  escape: number
}

/**
 * Returns the cheapest reading of the record at buf[row] with exactly `expected` cells; undefined if none
 * exists, or several have the same cost. The table has `width` columns. buf[to] must be a line end.
 */
export function repairRecord(
  buf: Uint8Array,
  row: number,
  to: number,
  expected: number,
  width: number,
  style: RecordStyle,
): RecordReading | undefined {
  const { delimiter, quote, escape: escaper, skipSpace, crOnly } = style
  const limit = Math.min(to, row + MAX_REPAIR_BYTES)
  const endsLine = (i: number): boolean =>
    i >= to || buf[i] === LF || (buf[i] === CR && (crOnly || buf[i + 1] === LF || i + 1 >= to))
  const begin: Step = {
    at: row,
    cell: 0,
    cost: 0,
    ways: 1,
    lines: 0,
    from: undefined,
    start: 0,
    end: 0,
    flags: 0,
  }
  // By offset and cell number. Offsets are visited in ascending order, so each is final when visited.
  const waiting = new Map<number, Map<number, Step>>([[row, new Map([[0, begin]])]])
  const order: number[] = [row]
  let best: Step | undefined
  let steps = 0

  /** Adds a cell after `from` that ends at `stop`, a delimiter or a line end. */
  const reach = (
    from: Step,
    stop: number,
    start: number,
    end: number,
    flags: number,
    cost: number,
    lines: number,
  ) => {
    const total = from.cost + cost
    if (best && total > best.cost) return
    const step: Step = {
      at: stop + 1,
      cell: from.cell + 1,
      cost: total,
      ways: from.ways,
      lines: from.lines + lines,
      from,
      start,
      end,
      flags,
    }
    if (endsLine(stop)) {
      if (step.cell !== expected) return
      step.at = stop
      if (!best || total < best.cost) best = step
      else best.ways = 2
      return
    }
    if (step.cell >= expected) return
    let cells = waiting.get(stop + 1)
    if (!cells) {
      cells = new Map()
      waiting.set(stop + 1, cells)
      // Offsets are few, but reached in any order.
      let k = order.length
      while (k > 0 && order[k - 1] > stop + 1) k--
      order.splice(k, 0, stop + 1)
    }
    const existing = cells.get(step.cell)
    if (!existing || total < existing.cost) cells.set(step.cell, step)
    else if (total === existing.cost) existing.ways = 2
  }

  /**
   * Finds the end of a cell in which pairs of quotes hide delimiters and line ends, and counts these lines.
   */
  const hiding = (start: number): { stop: number; lines: number } | undefined => {
    let inside = false
    let lines = 0
    for (let i = start; i <= limit; i++) {
      if (++steps > MAX_SEARCH_STEPS) return undefined
      const c = buf[i]
      if (!inside && (endsLine(i) || c === delimiter)) return { stop: i, lines }
      if (i >= to) return undefined
      if (c === quote) inside = !inside
      else if (c === LF || (c === CR && crOnly)) {
        if (++lines > MAX_CELL_LINES || isRecordStart(buf, i + 1, to, width, style)) return undefined
      }
    }
    return undefined
  }

  for (let k = 0; k < order.length; k++) {
    const cells = waiting.get(order[k])!
    let start = order[k]
    if (skipSpace) while (buf[start] === SPACE) start++
    // Unquoted, a cell ends at the first delimiter.
    let quotes = 0
    let stop = start
    for (; !endsLine(stop) && buf[stop] !== delimiter; stop++) if (buf[stop] === quote) quotes++
    if (stop > limit) return undefined
    const literal = buf[start] === quote ? quotes * LITERAL_QUOTE_COST : 0
    for (const step of cells.values()) reach(step, stop, start, stop, 0, literal, 0)
    if (quotes > 0) {
      const hidden = hiding(start)
      if (hidden && hidden.stop !== stop)
        for (const step of cells.values())
          reach(
            step,
            hidden.stop,
            start,
            hidden.stop,
            0,
            HIDING_QUOTES_COST + (hidden.lines > 0 ? SPANS_LINES_COST : 0),
            hidden.lines,
          )
    }
    if (buf[start] !== quote) continue
    // Quoted, it can end at any quotes before a delimiter or line end.
    let cost = 0
    let lines = 0
    let flags = QUOTED
    for (let i = start + 1; i < limit && lines <= MAX_CELL_LINES; i++) {
      if (++steps > MAX_SEARCH_STEPS) return undefined
      const c = buf[i]
      if (c === LF || (c === CR && crOnly)) {
        // A line that is a complete record does not belong to a cell.
        if (isRecordStart(buf, i + 1, to, width, style)) break
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
      let after = run
      while ((buf[after] === SPACE || buf[after] === TAB) && buf[after] !== delimiter) after++
      if (endsLine(after) || buf[after] === delimiter) {
        const quotedCost =
          cost + (count % 2 === 0 ? LITERAL_QUOTE_COST : 0) + (lines > 0 ? SPANS_LINES_COST : 0)
        const cellFlags = count > 1 ? flags | ESCAPED : flags
        for (const step of cells.values())
          reach(step, after, start + 1, run - 1, cellFlags, quotedCost, lines)
      }
      if (count % 2 === 1) cost += LITERAL_QUOTE_COST
      if (best && cost > best.cost) break
      flags |= ESCAPED
      i = run - 1
    }
  }
  if (!best || best.ways > 1) return undefined
  const starts: number[] = []
  const ends: number[] = []
  for (let step: Step | undefined = best; step?.from; step = step.from) {
    if (step.ways > 1) return undefined
    starts.unshift(step.start)
    ends.unshift((step.end << 2) | step.flags)
  }
  const stop = best.at
  const next = stop >= to ? to : buf[stop] === CR && buf[stop + 1] === LF ? stop + 2 : stop + 1
  // The next line can be the rest of a cell whose quote was taken literally.
  if (next < to && isCellRemainder(buf, next, to, width, style)) return undefined
  return { starts, ends, next, lines: best.lines + 1 }
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
