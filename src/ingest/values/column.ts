// Builds the JSON of one column of delimited text, and determines its type.
import type { Problem } from '../../contract/errors.ts'
import { ensureCapacity, excerpt } from '../../json/index.ts'
import { type Kernel, OUT } from '../kernel/index.ts'
import type { Bounds } from './bounds.ts'
import { CellBounds } from './cell-bounds.ts'
import { copyByte, copyEscaped, copyPlainNumber, quoteNumbers, type SliceEncoding } from './cell-json.ts'
import { ESCAPED, QUOTED, type RowCells } from './cells.ts'
import { BACKSLASH, COMMA, QUOTE } from './characters.ts'
import type { GivenType } from './dialect.ts'
import { type ColumnRules, convertToGiven, createTypeError } from './given-type.ts'
import { isPaddedNumber, narrowCurrencies } from './number.ts'
import { ExactTexts, TextType } from './text-type.ts'

const EQUALS = 0x3d
const NULL = Buffer.from('null,')
const EMPTY = Buffer.from('"",')
/** A quoted empty cell in `number` encoding: null. It becomes the empty string if the column becomes text. */
const QUOTED_NULL = Buffer.from(' null,')
/** Shared initial buffer: a column allocates its own with its first cell, since there may be thousands. */
const NO_BYTES = Buffer.alloc(0)
const MIN_BUFFER_BYTES = 1024

/** Maximum number of cells per batch that the kernel leaves to this code; then it is not called again. */
const MAX_OTHER_CELLS = 64
/** Minimum number of cells for a call of the kernel. */
const MIN_KERNEL_CELLS = 8
/** Maximum size of text whose bounds are computed again when the column becomes text. */
const MAX_REBOUND_BYTES = 16 * 1024

/** Returns the markers of missing values: the given ones, and that of MySQL and PostgreSQL. An empty list: none. */
export function nullMarkersOf(texts?: readonly string[]): Buffer[] {
  return texts?.length === 0 ? [] : ['\\N', ...(texts ?? [])].map((text) => Buffer.from(text))
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
  /** First amount with a currency, and first one in another currency. */
  readonly currencies: { line: number; text: string }[] = []
  /** Currencies that all amounts may have; undefined before the first one. */
  private possibleCurrencies: readonly string[] | undefined

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
    if (rules.isExact) this.texts = new ExactTexts()
    else if (declaredType === undefined || declaredType.startsWith('date'))
      this.texts = new TextType(rules.orders, true, rules.asWritten && declaredType === undefined)
  }

  /** Passes the texts since the last call, of rows before `end`, to the type detection. */
  typeTexts(lines: Int32Array, end: number): void {
    const { texts, at, typedBytes, typedRows } = this
    this.typedBytes = at
    this.typedRows = this.rows
    if (typedBytes === at || this.form !== 'text' || texts === undefined || texts.isDecided) return
    // Numbers and texts make the column text. A column of nulls begins as numeric.
    if (this.numbers > 0 && this.effectiveType === undefined) texts.markAsText()
    else texts.add(this.out, typedBytes, at)
    // A column of nulls that becomes text is checked from its first row.
    if (texts.broken) this.brokenLine ??= lines[end + texts.broken.row + typedRows - this.rows]
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
  addPlain(kernel: Kernel, column: number, from: number, to: number): void {
    const { effectiveType } = this
    let otherCells =
      to - from >= MIN_KERNEL_CELLS && (effectiveType === undefined || effectiveType === 'text')
        ? 0
        : MAX_OTHER_CELLS
    for (let row = from; row < to; ) {
      if (otherCells < MAX_OTHER_CELLS) {
        row = this.addKernelCells(kernel, column, row, to)
        if (row === to) return
      }
      const end = otherCells++ < MAX_OTHER_CELLS ? row + 1 : to
      this.add(kernel.bytes, kernel, column, row, end)
      row = end
    }
  }

  /** Adds cells that the kernel writes. Returns the row of the first other cell. */
  private addKernelCells(kernel: Kernel, column: number, from: number, to: number): number {
    const isNumeric = this.form === 'number'
    const end = kernel.writeColumn(column, from, to, isNumeric)
    const isTyped = this.typedBytes === this.at
    this.at += kernel.bytes.copy(this.grow(end - OUT), this.at, OUT, end)
    this.numbers += kernel.numbers
    const { stop } = kernel
    this.bounds?.add(kernel, column, stop - from, isNumeric)
    this.rows += stop - from
    if (isTyped && !isNumeric && this.numbers === 0 && this.texts?.canBeMoments) {
      this.typedBytes += kernel.scanMoments(end) - OUT
      this.typedRows += kernel.stop
      this.texts.countMoments(kernel.numbers, kernel.times)
    }
    return stop
  }

  /** Adds cell `column` of rows [from, to). */
  add(buf: Uint8Array, cells: RowCells, column: number, from: number, to: number): void {
    if (this.effectiveType !== undefined && this.effectiveType !== 'text') {
      this.addGiven(buf, cells, column, from, to)
      return
    }
    const { nulls, bounds, at: before } = this
    const { starts, ends, width } = cells
    const hasMarkers = nulls.length > 1
    for (let row = from, k = from * width + column; row < to; row++, k += width) {
      const start = starts[k]
      const end = ends[k] >> 2
      const flags = ends[k] & 3
      this.grow((end - start) * 6 + 8)
      if (start === end) this.addEmpty(flags)
      else if ((hasMarkers || buf[start] === BACKSLASH) && isNullMarker(nulls, buf, start, end))
        this.writeBytes(NULL)
      else if (this.form !== 'number') this.addText(buf, start, end, flags)
      else if (!this.addNumber(buf, start, end, flags)) {
        this.convertToText(cells.lines[row], buf, start, end)
        this.grow((end - start) * 6 + 8)
        this.addText(buf, start, end, flags)
      }
    }
    this.rows += to - from
    const { at } = this
    // The bounds are replaced if the column has become text meanwhile.
    if (bounds !== undefined && bounds === this.bounds && to > from)
      bounds.addJson(this.out.subarray(before, at - 1), to - from)
    else if (this.bounds === undefined && at < MAX_REBOUND_BYTES) {
      this.bounds = new CellBounds(this.rules.quote)
      this.bounds.addJson(this.out.subarray(0, at - 1), this.rows)
    }
  }

  /** Adds a null, or an empty string if the cell was quoted. */
  private addEmpty(flags: number): void {
    this.writeBytes(!(flags & QUOTED) ? NULL : this.form === 'text' ? EMPTY : QUOTED_NULL)
  }

  /** Writes a few bytes, including the comma. */
  private writeBytes(bytes: Buffer): void {
    for (let i = 0; i < bytes.length; i++) this.out[this.at++] = bytes[i]
  }

  /** Adds a cell as a number. Returns whether it is one. */
  private addNumber(buf: Uint8Array, start: number, end: number, flags: number): boolean {
    const { out } = this
    let at = copyPlainNumber(out, this.at, buf, start, end)
    if (at < 0) {
      if (flags >= ESCAPED || !isPaddedNumber(buf, start, end)) return false
      at = this.at
      for (let i = start; i < end; i++) out[at++] = buf[i]
    }
    out[at++] = COMMA
    this.at = at
    this.numbers++
    return true
  }

  /** Adds a cell as a string. The buffer has space for it. */
  private addText(buf: Uint8Array, start: number, end: number, flags: number): void {
    // Spreadsheets protect text as a formula: ="007" is 007.
    const formula = end - start >= 3 && buf[start] === EQUALS && buf[end - 1] === QUOTE
    if (formula && (buf[start + 1] === QUOTE || flags >= ESCAPED)) {
      if (this.addProtectedText(buf, start, end, flags)) return
    }
    const { out } = this
    out[this.at++] = QUOTE
    let at = flags < ESCAPED ? copyEscaped(out, this.at, buf, start, end) : this.copyDecoded(buf, start, end)
    out[at++] = QUOTE
    out[at++] = COMMA
    this.at = at
  }

  /** Copies buf[start, end) with doubled and escaped quotes decoded. Returns the end of the copy. */
  private copyDecoded(buf: Uint8Array, start: number, end: number): number {
    const { quote, escape: escaper } = this.rules
    const { out } = this
    let { at } = this
    for (let i = start; i < end; i++) {
      let c = buf[i]
      const next = i + 1 < end ? buf[i + 1] : -1
      if (c === quote && next === quote) i++
      else if (c === escaper && (next === quote || next === escaper)) c = buf[++i]
      at = copyByte(out, at, c)
    }
    return at
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

  /** Adds cells of a column whose type the user gave. Stops at a value of another type. */
  private addGiven(buf: Uint8Array, cells: RowCells, column: number, from: number, to: number): void {
    this.bounds = undefined
    const { effectiveType, nulls, rules } = this
    const { starts, ends, lines, width } = cells
    for (let row = from, k = from * width + column; row < to; row++, k += width) {
      const end = ends[k] >> 2
      const cell = Buffer.from(buf.subarray(starts[k], end)).toString('utf8')
      const value =
        cell.trim() === '' || isNullMarker(nulls, buf, starts[k], end)
          ? 'null'
          : convertToGiven(cell, effectiveType, rules)
      if (value === undefined && rules.styled && !this.changed) {
        // All values so far are unchanged, so they can also be texts.
        this.convertToText(lines[row], buf, starts[k], end)
        this.rows += row - from
        this.add(buf, cells, column, row, to)
        return
      }
      if (value === undefined || value === 'ambiguous') {
        const error = createTypeError(cell, value, { line: lines[row], type: effectiveType }, rules)
        this.firstWrong ??= { line: lines[row], error }
        return
      }
      if (value !== 'null') {
        this.numbers++
        if (value !== cell) this.noteChange(cell, lines[row])
      }
      this.grow(value.length * 3 + 8)
      this.at += this.out.write(value, this.at, 'latin1')
      this.out[this.at++] = COMMA
    }
    this.rows += to - from
  }

  /** Notes that a cell is stored in another form. */
  private noteChange(cell: string, line: number): void {
    this.changed = true
    const { currencies } = this
    if (currencies.length > 1 || this.effectiveType !== 'number') return
    const before = this.possibleCurrencies
    this.possibleCurrencies = narrowCurrencies(before, cell)
    const isFirst = before === undefined && this.possibleCurrencies !== undefined
    if (isFirst || this.possibleCurrencies?.length === 0)
      currencies.push({ line, text: excerpt(cell.trim()) })
  }

  /** Returns the buffer with space for `more` bytes. */
  private grow(more: number): Buffer {
    if (this.at + more > this.out.length)
      this.out = ensureCapacity(this.out, this.at, Math.max(more, MIN_BUFFER_BYTES - this.at))
    return this.out
  }
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
