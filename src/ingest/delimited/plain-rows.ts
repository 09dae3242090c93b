import type { Kernel } from '../kernel/index.ts'
import type { Dialect } from '../values/dialect.ts'
import type { Tokenizer } from './tokenizer.ts'

/** Rows that are read one way before the other is tried again; it doubles as long as that does not help. */
const FEW_ROWS = 16
/** Plain rows after which others count as rare again. */
const MANY_ROWS = 200

/** Returns whether a kernel can read rows of a dialect. */
export function hasPlainRows({ crOnly, skipSpace, collapse, escape: escaper, closed }: Dialect): boolean {
  return !crOnly && !skipSpace && !collapse && escaper === '' && !closed
}

/** Finds rows with a kernel where they are plain, and with the tokenizer where they are not. */
export class PlainRows {
  /** Whether the rows of the last call are plain. */
  plain = false
  private others = FEW_ROWS

  constructor(
    readonly kernel: Kernel,
    private readonly tokenizer: Tokenizer,
  ) {}

  /** As `Tokenizer.next`, whose fields it sets. */
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
    const most = this.others
    this.others = Math.min(this.others * 2, tokenizer.maxRows)
    return tokenizer.next(buf, from, to, final, most)
  }
}
