// Builds the JSON of one column of delimited text, and determines its type.
import type { Problem } from '../../contract/errors.ts'
import { ensureCapacity, excerpt } from '../../json/index.ts'
import { type Kernel, OUT } from '../kernel/index.ts'
import { type Bounds, boundsOf, boundUnlessLong, mergeBounds } from './bounds.ts'
import { ESCAPED, QUOTED } from './cell-flags.ts'
import { type DateOrder, parseDate } from './date.ts'
import { dateOrderOf, type GivenType, type NumberStyle } from './dialect.ts'
import { findCommaStyle, isPaddedNumber, parseNumber, parseStyledNumber, styleOptionsOf } from './number.ts'
import { TextType } from './text-type.ts'
import { isTotal } from './total.ts'
import { badData } from './warnings.ts'

/**
 * Encoding of the values of a slice. `number`: each cell as written in the file, which is a JSON number (with
 * surrounding blanks, which are JSON white space) or `null`. `text`: JSON strings or `null`. `number`
 * preserves cells byte for byte: if the column turns out to be text, the slice can be converted without
 * reading the file again.
 */
export type SliceEncoding = 'number' | 'text'

const COMMA = 0x2c
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const EQUALS = 0x3d
const QUOTE = 0x22
const BACKSLASH = 0x5c
const SPACE = 0x20
/** The first byte of `null`. */
const LETTER_N = 0x6e
const EMPTY = Buffer.from('""')
/** A quoted empty cell in `number` encoding: null. It becomes the empty string if the column becomes text. */
const QUOTED_NULL = Buffer.from(' null')
/** Shared initial buffer: a column allocates its own with its first cell, since there may be thousands. */
const NO_BYTES = Buffer.alloc(0)
const MIN_BUFFER_BYTES = 1024
const HEX = '0123456789abcdef'

/** 1 for bytes that must be escaped in a JSON string. */
const NEEDS_ESCAPE = new Uint8Array(256)
for (let c = 0; c < 0x20; c++) NEEDS_ESCAPE[c] = 1
NEEDS_ESCAPE[QUOTE] = 1
NEEDS_ESCAPE[BACKSLASH] = 1

/** Maximum number of cells per batch that the kernel leaves to this code; then it is not called again. */
const MAX_OTHER_CELLS = 64
/** Minimum number of cells for a call of the kernel. */
const MIN_KERNEL_CELLS = 8
/** Maximum size of text whose bounds are computed again when the column becomes text. */
const MAX_REBOUND_BYTES = 16 * 1024

/** Returns the markers of missing values: the given ones, and that of MySQL and PostgreSQL. */
export function nullMarkersOf(texts: readonly string[] = []): Buffer[] {
  return ['\\N', ...texts].map((text) => Buffer.from(text))
}

/** Options of a column. */
export interface ColumnRules {
  name: string
  /** Whether the type comes from the target grid, not from the user. */
  isTarget?: boolean
  declaredType?: GivenType
  /**
   * Whether all values of the sample are numbers in the style `numbers`. A later value that is not makes all
   * of them text.
   */
  styled?: boolean
  nullTexts?: readonly string[]
  numbers?: NumberStyle
  /** Order of day and month in the column of the target grid. */
  order?: DateOrder
  asWritten?: boolean
  quote: number
  /** Byte before an escaped quote; −1 if there is none. */
  escape: number
  source: string
}

/** Builds the JSON of one column, slice by slice, and determines its type. */
export class ColumnBuilder {
  /** JSON so far: values, each followed by a comma. */
  private out: Buffer = NO_BYTES
  private at = 0
  private form: SliceEncoding
  rows = 0
  /** Number of cells that were quoted texts after an equals sign. */
  protectedCells = 0
  /** Number of numeric cells so far. `firstText`: first cell that is neither empty nor a number. */
  numbers = 0
  firstText?: { line: number; text: string }
  /** First cell that does not have the type given by the user. */
  firstWrong?: { line: number; error: Problem }

  /** Whether a number differs from its text in the file. */
  private changed = false

  private readonly nulls: readonly Buffer[]
  /** Type of the texts; undefined if the user declared them as text. */
  readonly texts: TextType | undefined
  /** Bounds of the buffered values; undefined if they must be computed from the text. */
  private bounds: CellBounds | undefined
  /** Bytes and rows of the buffered text that `texts` has seen. */
  private typedBytes = 0
  private typedRows = 0

  constructor(private readonly rules: ColumnRules) {
    const { declaredType } = rules
    this.form = declaredType === 'text' || declaredType?.startsWith('date') ? 'text' : 'number'
    this.bounds = new CellBounds(rules.quote)
    this.nulls = nullMarkersOf(rules.nullTexts)
    if (declaredType === undefined || declaredType.startsWith('date'))
      this.texts = new TextType(rules.order, true, rules.asWritten && declaredType === undefined)
  }

  /** Passes the texts of the last `count` rows, which begin on `lines`, to the type detection. */
  typeTexts(lines: Int32Array, count: number): void {
    const { texts, at, typedBytes, typedRows } = this
    this.typedBytes = at
    this.typedRows = this.rows
    if (typedBytes === at || this.form !== 'text' || texts === undefined || texts.isDecided) return
    // Numbers and texts make the column text. A column of nulls begins as numeric.
    if (this.numbers > 0 && this.effectiveType === undefined) texts.markAsText()
    else texts.add(this.out, typedBytes, at)
    // A column of nulls that becomes text is checked from its first row.
    if (texts.broken) this.brokenLine ??= lines[texts.broken.row + typedRows - (this.rows - count)]
  }

  /** Line of the first text that contradicts those before. */
  brokenLine: number | undefined

  /** Returns the size of the buffered text, in bytes. */
  get size(): number {
    return this.at
  }

  /** Returns the type given by the user or implied by the number style. */
  get effectiveType(): GivenType | undefined {
    return this.rules.declaredType ?? (this.rules.styled && this.form === 'number' ? 'number' : undefined)
  }

  get isText(): boolean {
    return this.form === 'text' || this.firstText !== undefined
  }

  /**
   * Adds cell `column` of rows [from, to) that a kernel has parsed. The kernel writes plain cells; others are
   * read here, and after many of them, all remaining cells.
   */
  addPlain(kernel: Kernel, column: number, width: number, from: number, to: number): void {
    const { bytes, starts, ends, lines } = kernel
    const { effectiveType } = this
    let otherCells =
      to - from >= MIN_KERNEL_CELLS && (effectiveType === undefined || effectiveType === 'text')
        ? 0
        : MAX_OTHER_CELLS
    for (let row = from; row < to; ) {
      if (otherCells < MAX_OTHER_CELLS) {
        const end = kernel.writeColumn(column, row, to, this.form === 'number')
        const isTyped = this.typedBytes === this.at
        this.at += bytes.copy(this.grow(end - OUT), this.at, OUT, end)
        this.numbers += kernel.numbers
        const { stop } = kernel
        this.bounds?.add(kernel, column, width, row, stop, this.form === 'number')
        this.rows += stop - row
        if (isTyped && this.form === 'text' && this.numbers === 0 && this.texts?.canBeMoments) {
          this.typedBytes += kernel.scanMoments(end) - OUT
          this.typedRows += kernel.stop
          this.texts.countMoments(kernel.numbers, kernel.times)
        }
        row = stop
        if (row === to) return
      }
      const count = otherCells++ < MAX_OTHER_CELLS ? 1 : to - row
      const first = row * width
      this.add(bytes, starts.subarray(first), ends.subarray(first), lines.subarray(row), column, width, count)
      row += count
    }
  }

  /** Adds cell `column` of each row. The arrays are those of `Tokenizer`. */
  add(
    buf: Uint8Array,
    starts: Int32Array,
    ends: Int32Array,
    lines: Int32Array,
    column: number,
    width: number,
    rows: number,
  ): void {
    if (this.effectiveType !== undefined && this.effectiveType !== 'text') {
      this.addGiven(buf, starts, ends, lines, column, width, rows)
      return
    }
    const { nulls, bounds, at: before } = this
    const hasMarkers = nulls.length > 1
    let { out, at, numbers } = this
    let numeric = this.form === 'number'
    for (let r = 0, k = column; r < rows; r++, k += width) {
      const start = starts[k]
      const end = ends[k] >> 2
      const flags = ends[k] & 3
      if (at + (end - start) * 6 + 8 > out.length) {
        this.at = at
        out = this.grow((end - start) * 6 + 8)
      }
      if (
        start === end ||
        ((hasMarkers || buf[start] === BACKSLASH) && isNullMarker(nulls, buf, start, end))
      ) {
        if (start === end && flags & QUOTED) {
          for (const c of this.form === 'text' ? EMPTY : QUOTED_NULL) out[at++] = c
        } else {
          out[at++] = 0x6e
          out[at++] = 0x75
          out[at++] = 0x6c
          out[at++] = 0x6c
        }
        out[at++] = COMMA
        continue
      }
      if (numeric) {
        // Fast path for plain numbers: copy while checking, and discard the copy if the check fails.
        let i = start
        let to = at
        if (buf[i] === MINUS) out[to++] = buf[i++]
        const digits = i
        let point = 0
        if (buf[i] !== ZERO || i + 1 === end || buf[i + 1] === POINT) {
          for (; i < end; i++) {
            const c = buf[i]
            if (c > NINE || (c < ZERO && (c !== POINT || point > 0 || i === digits || i + 1 === end))) break
            if (c === POINT) point = i
            out[to++] = c
          }
        }
        if (i === end && i > digits && i - digits < 16) {
          out[to++] = COMMA
          at = to
          numbers++
          continue
        }
        if (flags < ESCAPED && isPaddedNumber(buf, start, end)) {
          for (i = start; i < end; i++) out[at++] = buf[i]
          out[at++] = COMMA
          numbers++
          continue
        }
        numeric = false
        this.at = at
        this.convertToText(lines[r], buf, start, end)
        out = this.grow((end - start) * 6 + 8)
        at = this.at
      }
      // Spreadsheets protect text as a formula: ="007" is 007.
      const formula = end - start >= 3 && buf[start] === EQUALS && buf[end - 1] === QUOTE
      if (formula && (buf[start + 1] === QUOTE || flags >= ESCAPED)) {
        this.at = at
        if (this.addProtectedText(buf, start, end, flags)) {
          out = this.out
          at = this.at
          continue
        }
      }
      out[at++] = QUOTE
      if (flags < ESCAPED) {
        for (let i = start; i < end; i++) {
          const c = buf[i]
          // Needs no escape: above the double quote except the backslash; space and `!`.
          if (c > QUOTE ? c !== BACKSLASH : c === SPACE || c === 0x21) out[at++] = c
          else at = writeEscape(out, at, c)
        }
      } else at = this.writeUnescaped(buf, start, end, out, at)
      out[at++] = QUOTE
      out[at++] = COMMA
    }
    this.at = at
    this.numbers = numbers
    this.rows += rows
    // The bounds are replaced if the column has become text meanwhile.
    if (bounds !== undefined && bounds === this.bounds && rows > 0)
      bounds.addJson(this.out.subarray(before, at - 1), rows)
    else if (this.bounds === undefined && at < MAX_REBOUND_BYTES) {
      this.bounds = new CellBounds(this.rules.quote)
      this.bounds.addJson(this.out.subarray(0, at - 1), this.rows)
    }
  }

  /** Returns the slice so far, without the trailing comma, and starts a new one. */
  takeSlice(): { rows: number; form: SliceEncoding; text: Buffer; bounds?: Bounds } {
    const { rows, form } = this
    const text = this.out.subarray(0, Math.max(0, this.at - 1))
    const slice = { rows, form, text, bounds: this.bounds?.toBounds() }
    this.bounds = new CellBounds(this.rules.quote)
    this.out =
      this.at < MIN_BUFFER_BYTES
        ? NO_BYTES
        : Buffer.allocUnsafe(Math.min(this.out.length, this.at + (this.at >> 3)))
    this.at = 0
    this.typedBytes = 0
    this.typedRows = 0
    this.rows = 0
    return slice
  }

  /** Adds a text that is quoted after an equals sign. Returns whether the cell is one. */
  private addProtectedText(buf: Uint8Array, start: number, end: number, flags: number): boolean {
    const cell = Buffer.from(buf.subarray(start, end)).toString('utf8')
    const { quote } = this.rules
    const q = quote < 0 ? '"' : String.fromCharCode(quote)
    const plain = flags >= ESCAPED ? cell.replaceAll(q + q, q) : cell
    const inner = /^="([^"]*)"$/.exec(plain)?.[1]
    if (inner === undefined) return false
    const text = JSON.stringify(inner)
    this.grow(text.length * 3 + 8)
    this.at += this.out.write(text, this.at, 'utf8')
    this.out[this.at++] = COMMA
    this.protectedCells++
    // A protected text must not become a date.
    this.texts?.markAsText()
    return true
  }

  private writeWord(text: string): void {
    this.at += this.out.write(text, this.at, 'latin1')
    this.out[this.at++] = COMMA
  }

  /** Makes the column text, at its first cell that is not a number. */
  private convertToText(line: number, buf: Uint8Array, start: number, end: number): void {
    this.bounds = undefined
    this.firstText ??= { line, text: excerpt(buf.subarray(start, end)) }
    this.form = 'text'
    this.typedBytes = 0
    this.typedRows = 0
    if (this.at === 0) return
    const quoted = quoteNumbers(this.out.subarray(0, this.at - 1))
    this.out = Buffer.allocUnsafe(Math.max(this.out.length, quoted.length * 2))
    this.at = quoted.copy(this.out)
    this.out[this.at++] = COMMA
  }

  /** Writes buf[start, end) with doubled and escaped quotes decoded. Returns the new offset. */
  private writeUnescaped(buf: Uint8Array, start: number, end: number, out: Buffer, from: number): number {
    const { quote, escape: escaper } = this.rules
    let at = from
    for (let i = start; i < end; i++) {
      let c = buf[i]
      const next = i + 1 < end ? buf[i + 1] : -1
      if (c === quote && next === quote) i++
      else if (c === escaper && (next === quote || next === escaper)) c = buf[++i]
      if (NEEDS_ESCAPE[c] === 0) out[at++] = c
      else at = writeEscape(out, at, c)
    }
    return at
  }

  /** Adds cells of a column whose type the user gave. Stops at a value of another type. */
  private addGiven(
    buf: Uint8Array,
    starts: Int32Array,
    ends: Int32Array,
    lines: Int32Array,
    column: number,
    width: number,
    rows: number,
  ): void {
    this.bounds = undefined
    const { effectiveType } = this
    const { name, source, styled } = this.rules
    const { nulls } = this
    for (let r = 0, k = column; r < rows; r++, k += width) {
      const end = ends[k] >> 2
      const cell = Buffer.from(buf.subarray(starts[k], end)).toString('utf8')
      const value =
        cell.trim() === '' || isNullMarker(nulls, buf, starts[k], end) ? 'null' : this.convertToGiven(cell)
      if (value === undefined && styled && !this.changed) {
        // All values so far are unchanged, so they can also be texts.
        this.convertToText(lines[r], buf, starts[k], end)
        this.rows += r
        this.add(buf, starts.subarray(k), ends.subarray(k), lines.subarray(r), 0, width, rows - r)
        return
      }
      if (value === undefined || value === 'ambiguous') {
        const error = badData(
          source,
          { line: lines[r], column: name },
          value === 'ambiguous'
            ? `"${excerpt(cell)}" can be read with the day or the month first`
            : `"${excerpt(cell)}" is not a ${effectiveType?.startsWith('date') ? 'date' : effectiveType}`,
          value === 'ambiguous'
            ? `Give the order: --column ${JSON.stringify(`${name}:date-dmy`)} or ${JSON.stringify(`${name}:date-mdy`)}.`
            : formatWrongTypeHint(cell, this.rules, effectiveType),
        )
        this.firstWrong ??= { line: lines[r], error }
        return
      }
      if (value !== 'null') {
        this.numbers++
        this.changed ||= value !== cell
      }
      this.grow(value.length * 3 + 8)
      this.writeWord(value)
    }
    this.rows += rows
  }

  /** Returns the JSON of a cell in the given type; undefined if it does not have that type. */
  private convertToGiven(cell: string): string | undefined {
    switch (this.effectiveType) {
      case 'number':
        return this.rules.styled
          ? parseStyledNumber(cell, this.rules.numbers!)
          : parseNumber(cell, this.rules.numbers)
      case 'boolean':
        return parseBooleanCell(cell)
      case 'text':
      case undefined:
        return undefined
      case 'date':
      case 'datetime':
      case 'date-dmy':
      case 'date-mdy': {
        const date = parseDate(cell, dateOrderOf(this.rules.declaredType), true)
        return date === undefined || date === 'ambiguous' ? date : `"${date}"`
      }
      default:
        return this.effectiveType satisfies never
    }
  }

  /** Returns the buffer with space for `more` bytes. */
  private grow(more: number): Buffer {
    if (this.at + more > this.out.length)
      this.out = ensureCapacity(this.out, this.at, Math.max(more, MIN_BUFFER_BYTES - this.at))
    return this.out
  }
}

/** Lowest and highest of plain cells. */
class CellBounds {
  private low: Buffer | undefined
  private high: Buffer | undefined
  private nulls = 0
  private numeric = true
  private rows = 0
  /** Bounds of values that the kernel has not parsed. */
  private others: { bounds: Bounds; rows: number } | undefined

  constructor(private readonly quote: number) {}

  /** Adds cell `column` of rows [from, to), all parsed by the kernel. */
  add(kernel: Kernel, column: number, width: number, from: number, to: number, numeric: boolean): void {
    if (from === to) return
    const kernelBounds = kernel.bounds
    this.numeric = numeric
    this.rows += to - from
    this.nulls += kernelBounds.missing
    if (kernelBounds.lowest < 0) return
    const low = unescapeCell(kernel, kernelBounds.lowest * width + column, this.quote)
    const high = unescapeCell(kernel, kernelBounds.highest * width + column, this.quote)
    const { before } = this
    if (this.low === undefined || before(low, this.low)) this.low = Buffer.from(low)
    if (this.high === undefined || before(this.high, high)) this.high = Buffer.from(high)
  }

  private readonly before = (a: Buffer, b: Buffer): boolean =>
    this.numeric ? Number(a) < Number(b) : a.compare(b) < 0

  /** Adds comma-separated JSON values. */
  addJson(text: Buffer, rows: number): void {
    const bounds = boundsOf(text)
    const { others } = this
    this.others = others
      ? { bounds: mergeBounds(others.bounds, bounds, [others.rows, rows]), rows: others.rows + rows }
      : { bounds, rows }
  }

  toBounds(): Bounds {
    const { low, high, nulls, numeric, others, rows } = this
    const json = (cell: Buffer | undefined): string | undefined =>
      cell && boundUnlessLong(numeric ? cell.toString('latin1') : JSON.stringify(cell.toString('utf8')))
    const plainBounds = { low: json(low), high: json(high), nulls }
    return others ? mergeBounds(plainBounds, others.bounds, [rows, others.rows]) : plainBounds
  }
}

/** Returns the unescaped bytes of a cell. */
function unescapeCell({ bytes, starts, ends }: Kernel, k: number, quote: number): Buffer {
  const cell = bytes.subarray(starts[k], ends[k] >> 2)
  if (!(ends[k] & ESCAPED)) return cell
  const q = String.fromCharCode(quote)
  return Buffer.from(cell.toString('utf8').replaceAll(q + q, q))
}

/** Returns whether a cell is a marker of a missing value. */
function isNullMarker(nulls: readonly Buffer[], buf: Uint8Array, start: number, end: number): boolean {
  for (const text of nulls) {
    if (text.length !== end - start) continue
    let k = 0
    while (k < text.length && text[k] === buf[start + k]) k++
    if (k === text.length) return true
  }
  return false
}

function parseBooleanCell(cell: string): string | undefined {
  const word = cell.trim().toLowerCase()
  if (word === 'true' || word === '1') return 'true'
  if (word === 'false' || word === '0') return 'false'
  return undefined
}

/** Writes byte `c` as a JSON escape. Returns the new offset. */
function writeEscape(out: Uint8Array, at: number, c: number): number {
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

/** Converts a slice from `number` to `text` encoding: cells as written, in quotes. */
export function quoteNumbers(numbers: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(numbers.length * 3 + 2)
  let at = 0
  let start = 0
  for (let i = 0; i <= numbers.length; i++) {
    if (i < numbers.length && numbers[i] !== COMMA) continue
    if (numbers[start] === LETTER_N) {
      for (let k = start; k < i; k++) out[at++] = numbers[k]
    } else if (numbers[start] === SPACE && numbers[start + 1] === LETTER_N) {
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

/** Returns the hint for a cell that does not have the type of its column. */
function formatWrongTypeHint(
  cell: string,
  { name, isTarget }: ColumnRules,
  expectedType: GivenType | undefined,
): string {
  if (isTotal(cell)) return 'To skip the row of the total, use --skip-last 1.'
  const style = expectedType === 'number' && /\d/.test(cell) ? findCommaStyle([cell]) : undefined
  if (style) return `If it has a decimal comma, add ${styleOptionsOf(style)}.`
  const alternative = isTarget
    ? 'allow the change with --allow-type-change'
    : `load the column as text (--column ${JSON.stringify(`${name}:text`)})`
  return `Fix the cell, name it as a missing value (--null ${JSON.stringify(cell.slice(0, 40))}), or ${alternative}.`
}
