import type { GivenType } from './dialect.ts'
import { asNumber, isNumber } from './number.ts'
import { ESCAPED, QUOTED } from './tokenizer.ts'
import { badData, excerpt } from './warnings.ts'

/**
 * How the values of a slice stand in its text. `number`: each cell as it stood in the file, which is
 * a JSON number (blanks around it are JSON white space) or `null`. `text`: each a JSON string or `null`.
 * From `number` the cells can be had back to the byte, so a slice found too early to be numbers is
 * turned into text without a second look at the file.
 */
export type Form = 'number' | 'text'

const COMMA = 0x2c
const QUOTE = 0x22
const BACKSLASH = 0x5c
const SPACE = 0x20
const NULL = [0x6e, 0x75, 0x6c, 0x6c]
/** An empty cell in quotes among numbers: null, but the empty string should the column become text. */
const QUOTED_EMPTY = ' null'
const HEX = '0123456789abcdef'

/** 1 where a byte cannot stand in a JSON string as it is. */
const special = new Uint8Array(256)
for (let c = 0; c < 0x20; c++) special[c] = 1
special[QUOTE] = 1
special[BACKSLASH] = 1

export interface ColumnRules {
  name: string
  given?: GivenType
  nullText?: string
  quote: number
  backslash: boolean
  source: string
}

/** Builds the JSON text of one column, slice by slice, and learns its type on the way. */
export class ColumnBuilder {
  /** The text so far: values with a comma behind each. */
  private out: Buffer
  private at = 0
  private form: Form
  rows = 0
  /** Cells seen that are numbers, and the first that is something else. */
  numbers = 0
  firstText?: { line: number; text: string }

  private readonly nullBytes?: Buffer

  constructor(private readonly rules: ColumnRules) {
    this.form = rules.given === 'text' ? 'text' : 'number'
    this.out = Buffer.allocUnsafe(4096)
    if (rules.nullText) this.nullBytes = Buffer.from(rules.nullText)
  }

  /** Bytes of text held. */
  get size(): number {
    return this.at
  }

  get isText(): boolean {
    return this.form === 'text' || this.firstText !== undefined
  }

  /** Adds cell `column` of each row. The arrays are a Tokenizer's. */
  add(
    buf: Uint8Array,
    starts: Int32Array,
    ends: Int32Array,
    lines: Int32Array,
    column: number,
    width: number,
    rows: number,
  ): void {
    if (this.rules.given === 'number' || this.rules.given === 'boolean') {
      this.addGiven(buf, starts, ends, lines, column, width, rows)
      return
    }
    const { nullBytes } = this
    for (let r = 0, k = column; r < rows; r++, k += width) {
      const start = starts[k]
      const flags = ends[k] & 3
      const end = ends[k] >> 2
      const length = end - start
      if (this.at + length * 6 + 8 > this.out.length) this.grow(length * 6 + 8)
      if (length === 0) {
        if (flags & QUOTED) this.word(this.form === 'text' ? '""' : QUOTED_EMPTY)
        else this.null()
        continue
      }
      if (nullBytes !== undefined && length === nullBytes.length && nullBytes.compare(buf, start, end) === 0) {
        this.null()
        continue
      }
      if (this.form === 'number') {
        if (flags < ESCAPED && this.number(buf, start, end)) continue
        this.becomeText(lines[r], buf, start, end)
        if (this.at + length * 6 + 8 > this.out.length) this.grow(length * 6 + 8)
      }
      this.text(buf, start, end, flags)
    }
    this.rows += rows
  }

  /** The slice so far, its text without the last comma; the builder goes on with an empty one. */
  take(): { rows: number; form: Form; text: Buffer } {
    const slice = { rows: this.rows, form: this.form, text: this.out.subarray(0, Math.max(0, this.at - 1)) }
    this.out = Buffer.allocUnsafe(Math.max(4096, Math.min(this.out.length, this.at + (this.at >> 3))))
    this.at = 0
    this.rows = 0
    return slice
  }

  private null(): void {
    const { out } = this
    out[this.at++] = NULL[0]
    out[this.at++] = NULL[1]
    out[this.at++] = NULL[2]
    out[this.at++] = NULL[3]
    out[this.at++] = COMMA
  }

  private word(text: string): void {
    this.at += this.out.latin1Write(text, this.at)
    this.out[this.at++] = COMMA
  }

  /** Writes buf[start, end) if it is a number, blanks around it included. */
  private number(buf: Uint8Array, start: number, end: number): boolean {
    let from = start
    let to = end
    while (from < to && buf[from] === SPACE) from++
    while (to > from && buf[to - 1] === SPACE) to--
    if (!isNumber(buf, from, to)) return false
    const { out } = this
    let at = this.at
    for (let i = start; i < end; i++) out[at++] = buf[i]
    out[at++] = COMMA
    this.at = at
    this.numbers++
    return true
  }

  private becomeText(line: number, buf: Uint8Array, start: number, end: number): void {
    this.firstText ??= { line, text: excerpt(buf.subarray(start, end)) }
    this.form = 'text'
    if (this.at === 0) return
    const quoted = numbersAsText(this.out.subarray(0, this.at - 1))
    this.out = Buffer.allocUnsafe(Math.max(this.out.length, quoted.length * 2))
    this.at = quoted.copy(this.out)
    this.out[this.at++] = COMMA
  }

  /** Writes buf[start, end) as a JSON string, quotes inside a quoted cell undone. */
  private text(buf: Uint8Array, start: number, end: number, flags: number): void {
    const { out } = this
    const escaped = (flags & ESCAPED) !== 0
    const { quote, backslash } = this.rules
    let at = this.at
    out[at++] = QUOTE
    for (let i = start; i < end; i++) {
      let c = buf[i]
      if (escaped) {
        if (c === quote && buf[i + 1] === quote && i + 1 < end) i++
        else if (backslash && c === BACKSLASH && i + 1 < end && (buf[i + 1] === quote || buf[i + 1] === BACKSLASH))
          c = buf[++i]
      }
      if (special[c] === 0) out[at++] = c
      else at = escape(out, at, c)
    }
    out[at++] = QUOTE
    out[at++] = COMMA
    this.at = at
  }

  /** Cells of a type that a person named: what is not of it is refused. */
  private addGiven(
    buf: Uint8Array,
    starts: Int32Array,
    ends: Int32Array,
    lines: Int32Array,
    column: number,
    width: number,
    rows: number,
  ): void {
    const { given, nullText, name, source } = this.rules
    for (let r = 0, k = column; r < rows; r++, k += width) {
      const cell = Buffer.from(buf.subarray(starts[k], ends[k] >> 2)).toString('utf8')
      const value =
        cell.trim() === '' || cell === nullText ? 'null' : given === 'number' ? asNumber(cell) : asBoolean(cell)
      if (value === undefined) {
        throw badData(
          source,
          { line: lines[r], column: name },
          `"${excerpt(cell)}" is not a ${given}`,
          `Mend the cell, or leave the type of ${name} open.`,
        )
      }
      if (this.at + value.length + 8 > this.out.length) this.grow(value.length + 8)
      this.word(value)
    }
    this.rows += rows
  }

  private grow(more: number): void {
    const bigger = Buffer.allocUnsafe(Math.max(this.out.length * 2, this.at + more))
    this.out.copy(bigger, 0, 0, this.at)
    this.out = bigger
  }
}

function asBoolean(cell: string): string | undefined {
  const word = cell.trim().toLowerCase()
  if (word === 'true' || word === '1') return 'true'
  if (word === 'false' || word === '0') return 'false'
  return undefined
}

/** Writes byte `c` as a JSON escape; returns where to go on. */
function escape(out: Uint8Array, at: number, c: number): number {
  out[at++] = BACKSLASH
  if (c === QUOTE || c === BACKSLASH) out[at++] = c
  else if (c === 0x0a) out[at++] = 0x6e
  else if (c === 0x0d) out[at++] = 0x72
  else if (c === 0x09) out[at++] = 0x74
  else {
    out[at++] = 0x75
    out[at++] = 0x30
    out[at++] = 0x30
    out[at++] = 0x30 + (c >> 4)
    out[at++] = HEX.charCodeAt(c & 15)
  }
  return at
}

/** The text of a slice in `number` form, turned into `text` form: the cells as they stood, in quotes. */
export function numbersAsText(numbers: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(numbers.length * 3 + 2)
  let at = 0
  let start = 0
  for (let i = 0; i <= numbers.length; i++) {
    if (i < numbers.length && numbers[i] !== COMMA) continue
    if (numbers[start] === NULL[0]) {
      for (let k = start; k < i; k++) out[at++] = numbers[k]
    } else if (numbers[start] === SPACE && numbers[start + 1] === NULL[0]) {
      out[at++] = QUOTE
      out[at++] = QUOTE
    } else {
      out[at++] = QUOTE
      for (let k = start; k < i; k++) out[at++] = numbers[k]
      out[at++] = QUOTE
    }
    if (i < numbers.length) out[at++] = COMMA
    start = i + 1
  }
  return out.subarray(0, at)
}
