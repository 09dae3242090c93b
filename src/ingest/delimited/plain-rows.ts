// Chooses between kernel and tokenizer, row by row.
import type { Kernel } from '../kernel/index.ts'
import type { Dialect } from '../values/dialect.ts'
import type { Tokenizer } from './tokenizer.ts'

/**
 * Number of rows that the tokenizer reads before the kernel is tried again. Doubles while the kernel finds
 * none.
 */
const FEW_ROWS = 16
/** Number of consecutive plain rows that resets the above. */
const MANY_ROWS = 200

/** Returns whether a kernel can read rows of a dialect. */
export function hasPlainRows({ crOnly, skipSpace, collapse, escape: escaper, closed }: Dialect): boolean {
  return !crOnly && !skipSpace && !collapse && escaper === '' && !closed
}

/** Scans plain rows with a kernel, and others with the tokenizer. */
export class PlainRows {
  /** Whether the rows of the last call are plain. */
  plain = false
  /** Number of rows that the tokenizer reads next. */
  private others = FEW_ROWS

  constructor(
    readonly kernel: Kernel,
    private readonly tokenizer: Tokenizer,
  ) {}

  /** Scans rows as `Tokenizer.next` does, and sets the fields of the tokenizer. */
  next(buf: Buffer, from: number, to: number, final: boolean): number {
    const { kernel, tokenizer } = this
    this.plain = false
    if (buf.buffer !== kernel.text.buffer) return tokenizer.next(buf, from, to, final)
    if (!tokenizer.isBetweenRows) return tokenizer.next(buf, from, to, final, this.others)
    const { rows, line, next, odd } = kernel.rows(from, to, tokenizer.maxRows, tokenizer.line)
    if (rows > 0) {
      this.plain = true
      tokenizer.accept(rows, line)
      if (rows > MANY_ROWS) this.others = FEW_ROWS
      return next
    }
    if (!odd && !final) {
      tokenizer.accept(0, line)
      return from
    }
    const maxRows = this.others
    this.others = Math.min(this.others * 2, tokenizer.maxRows)
    return tokenizer.next(buf, from, to, final, maxRows)
  }
}
