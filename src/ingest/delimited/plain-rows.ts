// Chooses between kernel and tokenizer, row by row.
import type { Kernel } from '../kernel/index.ts'
import type { Dialect } from '../values/dialect.ts'
import type { Tokenizer } from './tokenizer.ts'

/**
 * Number of rows that the tokenizer reads before the kernel is tried again. Doubles while the kernel finds
 * none.
 */
const MIN_TOKENIZED_ROWS = 16
/** Number of consecutive plain rows that resets the above. */
const MIN_RESET_ROWS = 200

/** Returns whether a kernel can read rows of a dialect. */
export function canUseKernel({ crOnly, skipSpace, collapse, escape: escaper, closed }: Dialect): boolean {
  return !crOnly && !skipSpace && !collapse && escaper === '' && !closed
}

/** Scans plain rows with a kernel, and others with the tokenizer. */
export class PlainRows {
  /** Whether the rows of the last call are plain. */
  arePlain = false
  /** Number of rows that the tokenizer reads next. */
  private tokenizedRows = MIN_TOKENIZED_ROWS

  constructor(
    readonly kernel: Kernel,
    private readonly tokenizer: Tokenizer,
  ) {}

  /** Scans rows as `Tokenizer.next` does, and sets the fields of the tokenizer. */
  next(buf: Buffer, from: number, to: number, final: boolean): number {
    const { kernel, tokenizer } = this
    this.arePlain = false
    if (buf.buffer !== kernel.text.buffer) return tokenizer.next(buf, from, to, final)
    if (!tokenizer.isBetweenRows) return tokenizer.next(buf, from, to, final, this.tokenizedRows)
    const { rows, line, next, odd } = kernel.findRows(from, to, tokenizer.maxRows, tokenizer.line)
    if (rows > 0) {
      this.arePlain = true
      tokenizer.acceptRows(rows, line)
      if (rows > MIN_RESET_ROWS) this.tokenizedRows = MIN_TOKENIZED_ROWS
      return next
    }
    if (!odd && !final) {
      tokenizer.acceptRows(0, line)
      return from
    }
    const maxRows = this.tokenizedRows
    this.tokenizedRows = Math.min(this.tokenizedRows * 2, tokenizer.maxRows)
    return tokenizer.next(buf, from, to, final, maxRows)
  }
}
