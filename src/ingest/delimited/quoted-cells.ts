// Finds the ends of quoted cells.
import type { Problem } from '../../contract/errors.ts'
import { excerpt } from '../../json/index.ts'
import type { RecordStyle } from '../detect/repair.ts'
import { ESCAPED } from '../values/cells.ts'
import { CR, LF, SPACE, TAB } from '../values/characters.ts'
import { badData, type Warnings } from '../values/warnings.ts'
import { MALFORMED, NEEDS_MORE_TEXT, type TextBlock } from './scanned-rows.ts'

/** Finds closing quotes. Remembers a cell that a block cuts, to continue inside it. */
export class QuotedCells {
  /** Number of line ends in the last cell, and its flags. */
  newlines = 0
  flags = 0
  /** Creates the error for the malformed cell. */
  createError: (() => Problem) | undefined
  /** State of a cell without closing quote at the end of the block. Offsets count from the start of its row. */
  unfinished: { open: number; at: number; newlines: number; flags: number; stray: number } | undefined

  /** `byteKinds`: 1 for the delimiter, 2 for line ends, otherwise 0. */
  constructor(
    private readonly style: RecordStyle,
    private readonly byteKinds: Uint8Array,
    private readonly warnings: Warnings,
    private readonly source: string,
  ) {}

  /** Skips spaces and tabs after a closing quote. */
  skipSpaces(buf: Uint8Array, i: number): number {
    let k = i
    while (this.byteKinds[buf[k]] === 0 && (buf[k] === SPACE || buf[k] === TAB)) k++
    return k
  }

  /**
   * Finds the end of the cell that is quoted at `open`, on a line. Returns the offset of the closing quote,
   * NEEDS_MORE_TEXT or MALFORMED. Sets `newlines` and `flags`,
   * or `createError`.
   */
  find(block: TextBlock, row: number, open: number, line: number): number {
    const { buf, to, final } = block
    const { delimiter, quote, escape: escaper, crOnly } = this.style
    const before = this.unfinished?.open === open - row ? this.unfinished : undefined
    if (before) this.unfinished = undefined
    let newlines = before?.newlines ?? 0
    let flags = before?.flags ?? 0
    let stray = before && before.stray >= 0 ? row + before.stray : -1
    let j = before ? row + before.at : open + 1
    for (;;) {
      const c = buf[j]
      if (c === quote) {
        const after = this.skipSpaces(buf, j + 1)
        if ((after >= to || (buf[after] === CR && after + 1 >= to)) && !final) break
        if (buf[j + 1] === quote) {
          flags = ESCAPED
          j += 2
        } else if (
          this.byteKinds[buf[after]] !== 0 &&
          (buf[after] !== CR || crOnly || buf[after + 1] === LF)
        ) {
          if (stray >= 0 && newlines > 0) return this.rejectStrayQuote(block, open, stray, line)
          if (stray >= 0) this.warnings.countLine(line, 'unescaped quotes inside quoted cells were kept')
          this.newlines = newlines
          this.flags = flags
          return j
        } else {
          // A stray quote: taken literally if the cell is closed on this line.
          if (stray < 0) stray = j
          flags = ESCAPED
          j++
        }
      } else if (c === LF || (c === CR && crOnly)) {
        if (j >= to && !final) break
        if (j >= to) return this.rejectOpenQuote(block, open, line)
        newlines++
        j++
        if (stray >= 0) return this.rejectStrayQuote(block, open, stray, line)
      } else if (c === delimiter && stray >= 0) {
        return this.rejectStrayQuote(block, open, stray, line)
      } else if (c === escaper) {
        if (j + 1 >= to && !final) break
        flags = ESCAPED
        j = Math.min(to, j + (buf[j + 1] === quote || buf[j + 1] === escaper ? 2 : 1))
      } else j++
    }
    const at = j - row
    this.unfinished = { open: open - row, at, newlines, flags, stray: stray < 0 ? -1 : stray - row }
    return NEEDS_MORE_TEXT
  }

  /** Prepares the error for a quoted cell that does not end. */
  private rejectOpenQuote({ buf, to }: TextBlock, open: number, line: number): number {
    this.createError = () =>
      badData(
        this.source,
        { line },
        `a quote is opened and never closed: ${excerpt(buf.subarray(open, Math.min(to, open + 200)))}`,
        'Close the quote. If the file uses another delimiter, give --delimiter.',
      )
    return MALFORMED
  }

  /** Prepares the error for a quoted cell with a quote that neither closes it nor is escaped. */
  private rejectStrayQuote({ buf, to }: TextBlock, open: number, stray: number, line: number): number {
    this.createError = () =>
      badData(
        this.source,
        { line },
        `text after the closing quote of a cell: ${excerpt(buf.subarray(open, Math.min(to, stray + 20)))}`,
        'Double every quote inside a quoted cell.',
      )
    return MALFORMED
  }
}
