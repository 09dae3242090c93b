// Reads plain rows of XLSX sheets: cells in order, each with a number, a boolean, or a text without formats.
import { ensureCapacity } from '../../json/index.ts'
import { badFile } from '../values/warnings.ts'
import {
  findValueQuote,
  findValueStart,
  ODD,
  PlainElements,
  readDigits,
  skipPast,
  skipSpace,
  startsWith,
} from './plain-elements.ts'
import { MAX_SHEET_ROWS } from './sheet-range.ts'
import { quoteSheetCell, type SheetWriter } from './sheet-writer.ts'

/** A cell as it is stored. */
export interface Cell {
  type: string
  style: number
  text: string
}

/** Tags and parts of tags. */
const [END_OF_ROW, END_OF_CELL] = [Buffer.from('</row>'), Buffer.from('</c>')]
const [VALUE, END_OF_VALUE, END_OF_FORMULA] = [Buffer.from('<v>'), Buffer.from('</v>'), Buffer.from('</f>')]
const [TEXT, SPACED_TEXT, END_OF_TEXT] = [
  Buffer.from('<is><t>'),
  Buffer.from('<is><t xml:space="preserve">'),
  Buffer.from('</t></is>'),
]
const TYPES = ['n', 's', 'str', 'inlineStr', 'b']
const TYPE_BYTES = TYPES.map((type) => Buffer.from(`${type}"`))
const [NUMBER, SHARED, FORMULA_TEXT, INLINE, BOOLEAN] = TYPES.keys()
const [SPACE, QUOTE, MINUS, POINT, SLASH, ZERO, NINE, LESS, EQUALS, GREATER] = Buffer.from(' "-./09<=>')
const [A, Z, C, F, R, S, T] = Buffer.from('AZcfrst')
/** Maximum number of digits of a number that is certainly a shortest exact form. */
const MAX_PLAIN_DIGITS = 15
/** Maximum length of shared strings of which the bytes are kept. */
const MAX_KEPT_CHARACTERS = 256
/** Fields of a stored cell: column, type, style, start and end of its text, properties of the text. */
const FIELDS = 6

/** State of the reader of a sheet that rows of both kinds change. */
export interface SheetPosition {
  /** Number of the last row. */
  number: number
}

/** Styles and shared strings, and the conversion of cells that are not copied. */
interface CellContext {
  /** Returns whether numbers of a style are written as they are. */
  isPlainStyle(style: number): boolean
  shared: SharedTexts
  /** Converts a cell to text. */
  textOf(cell: Cell, line: number): string
}

/** Reads plain rows, and writes them as CSV. */
export class PlainRows extends PlainElements {
  private cells = new Int32Array(64 * FIELDS)
  /** Number of cells of the row that have a value, and column of the last cell. */
  private count = 0
  private column = -1

  constructor(
    private readonly position: SheetPosition,
    private readonly writer: SheetWriter,
    private readonly context: CellContext,
  ) {
    super('sheetData', 'row')
  }

  protected override get isFull(): boolean {
    return this.writer.isFull
  }

  protected override readElement(buf: Buffer, from: number): number {
    let i = from + '<row'.length
    let given = ODD
    while (buf[i] === SPACE) {
      const start = findValueStart(buf, i + 1)
      const end = start === ODD ? ODD : findValueQuote(buf, start)
      if (end === ODD) return ODD
      if (buf[i + 1] === R && start === i + 4) {
        if (given !== ODD) return ODD
        given = readDigits(buf, start, end)
        if (given === ODD) return ODD
      }
      i = end + 1
    }
    const { position } = this
    const number = given > position.number && given <= MAX_SHEET_ROWS ? given : position.number + 1
    if (buf[i] === SLASH && buf[i + 1] === GREATER) i += 2
    else {
      if (buf[i] !== GREATER || !this.writer.takesPlainRow(number)) return ODD
      i = this.readCells(buf, i + 1)
      if (i === ODD) return ODD
      if (this.count > 0) this.writeRow(buf)
    }
    position.number = number
    return i
  }

  /** Reads the cells of a row, up to its end tag. Returns the end of that, or `ODD`. */
  private readCells(buf: Buffer, from: number): number {
    const { width } = this.writer.size
    if (this.cells.length < width * FIELDS) this.cells = new Int32Array(width * FIELDS)
    this.count = 0
    this.column = -1
    for (let i = from; ; ) {
      i = skipSpace(buf, i)
      if (startsWith(buf, i, END_OF_ROW)) return i + END_OF_ROW.length
      if (buf[i] !== LESS || buf[i + 1] !== C) return ODD
      i = this.readCell(buf, i + 2)
      if (i === ODD) return ODD
    }
  }

  /** Reads a cell after `<c`. Adds it if it has a value. Returns its end, or `ODD`. */
  private readCell(buf: Buffer, from: number): number {
    let i = from
    let column = -1
    let style = -1
    let type = -1
    for (; buf[i] === SPACE; i++) {
      const name = buf[i + 1]
      if (buf[i + 2] !== EQUALS || buf[i + 3] !== QUOTE) return ODD
      const start = i + 4
      i = start
      if (name === R && column < 0) {
        for (let c = buf[i]; c >= A && c <= Z; c = buf[++i]) column = (column + 1) * 26 + (c - A)
        if (i === start || i > start + 3) return ODD
        while (buf[i] >= ZERO && buf[i] <= NINE) i++
      } else if (name === S && style < 0) {
        i = findValueQuote(buf, i)
        style = i === ODD ? ODD : readDigits(buf, start, i)
        if (style < 0) return ODD
      } else if (name === T && type < 0) {
        type = TYPE_BYTES.findIndex((bytes) => startsWith(buf, start, bytes))
        if (type < 0) return ODD
        i += TYPE_BYTES[type].length - 1
      } else return ODD
      if (buf[i] !== QUOTE) return ODD
    }
    if (column < 0) column = this.column + 1
    if (column <= this.column) return ODD
    this.column = column
    if (buf[i] === SLASH && buf[i + 1] === GREATER) return i + 2
    return buf[i] === GREATER ? this.readValue(buf, i + 1, type < 0 ? NUMBER : type, style) : ODD
  }

  /** Reads formula, value and end tag of a cell. Returns the end, or `ODD`. */
  private readValue(buf: Buffer, from: number, type: number, style: number): number {
    let i = skipSpace(buf, from)
    let hasFormula = false
    if (buf[i] === LESS && buf[i + 1] === F) {
      hasFormula = true
      i = this.skipFormula(buf, i)
      if (i === ODD) return ODD
    }
    let start = 0
    let end = 0
    if (buf[i + 1] !== SLASH) {
      const isInline = type === INLINE
      const tag = !isInline ? VALUE : startsWith(buf, i, TEXT) ? TEXT : SPACED_TEXT
      start = skipPast(buf, i, tag)
      end = start === ODD ? ODD : this.scanText(buf, start)
      i = end === ODD ? ODD : skipPast(buf, end, isInline ? END_OF_TEXT : END_OF_VALUE)
      if (i === ODD) return ODD
      i = skipSpace(buf, i)
    }
    if (end > start) {
      if (this.column >= this.writer.size.width) return ODD
      if (type === SHARED && readDigits(buf, start, end) === ODD) return ODD
      this.addCell(type, style, start, end)
    }
    // A formula without a value is reported.
    else if (hasFormula && type !== FORMULA_TEXT) return ODD
    return skipPast(buf, i, END_OF_CELL)
  }

  /** Returns the end of a formula and the space after it, or `ODD`. */
  private skipFormula(buf: Buffer, from: number): number {
    let i = from + '<f'.length
    while (buf[i] === SPACE) {
      const start = findValueStart(buf, i + 1)
      i = start === ODD ? ODD : findValueQuote(buf, start)
      if (i === ODD) return ODD
      i++
    }
    if (buf[i] === SLASH && buf[i + 1] === GREATER) return skipSpace(buf, i + 2)
    const end = buf[i] === GREATER ? this.scanText(buf, i + 1) : ODD
    const after = end === ODD ? ODD : skipPast(buf, end, END_OF_FORMULA)
    return after === ODD ? ODD : skipSpace(buf, after)
  }

  private addCell(type: number, style: number, start: number, end: number): void {
    const { cells, column, text } = this
    const at = this.count++ * FIELDS
    cells[at] = column
    cells[at + 1] = type
    cells[at + 2] = style
    cells[at + 3] = start
    cells[at + 4] = end
    cells[at + 5] = text
  }

  /** Writes the cells of a row. */
  private writeRow(buf: Buffer): void {
    const { cells, count, writer } = this
    let first = -1
    let written = 0
    for (let k = 0; k < count; k++) {
      const at = k * FIELDS
      const column = cells[at]
      writer.addCommas(column - written)
      written = column
      const before = writer.at
      this.writeCell(buf, at)
      if (first < 0 && writer.at > before) first = column
    }
    writer.endPlainRow(written, first, count)
  }

  private writeCell(buf: Buffer, at: number): void {
    const { cells, writer, context } = this
    const [type, style, start, end, text] = [
      cells[at + 1],
      cells[at + 2],
      cells[at + 3],
      cells[at + 4],
      cells[at + 5],
    ]
    if (type === SHARED) {
      context.shared.write(readDigits(buf, start, end), writer)
      return
    }
    const isCopied =
      type === NUMBER
        ? isPlainNumber(buf, start, end) && context.isPlainStyle(style)
        : type !== BOOLEAN && text === 0
    if (isCopied) writer.addBytes(buf, start, end)
    else {
      const cell = { type: TYPES[type], style, text: this.decodeText(buf, start, end, text) }
      writer.addCell(context.textOf(cell, writer.nextLine))
    }
  }
}

/** Shared strings, and the bytes of short ones as cells of CSV. */
export class SharedTexts {
  private bytes: Buffer = Buffer.alloc(0)
  private used = 0
  /** Start and end of each text in `bytes`, from 1; 0 for a text that was not written yet. */
  private readonly spans: Uint32Array

  constructor(
    private readonly texts: readonly string[],
    private readonly source: string,
  ) {
    this.spans = new Uint32Array(2 * texts.length)
  }

  /** Returns a text. Throws `bad_data` if the workbook does not have it. */
  get(index: number): string {
    const text = this.texts[index]
    if (text !== undefined) return text
    throw badFile(
      this.source,
      'a cell refers to a text that it does not have',
      'Save it again with its program.',
    )
  }

  /** Writes a text as a cell. */
  write(index: number, writer: SheetWriter): void {
    const { spans } = this
    if (!spans[2 * index]) {
      const text = this.get(index)
      if (text.length > MAX_KEPT_CHARACTERS) {
        writer.addCell(text)
        return
      }
      const cell = quoteSheetCell(text)
      this.bytes = ensureCapacity(this.bytes, this.used, cell.length * 3)
      spans[2 * index] = this.used + 1
      this.used += this.bytes.write(cell, this.used)
      spans[2 * index + 1] = this.used + 1
    }
    writer.addBytes(this.bytes, spans[2 * index] - 1, spans[2 * index + 1] - 1)
  }
}

/** Returns whether String(Number(text)) is the text, for sure. */
function isPlainNumber(buf: Buffer, from: number, to: number): boolean {
  const start = buf[from] === MINUS ? from + 1 : from
  if (to - start > MAX_PLAIN_DIGITS || to === start) return false
  let point = -1
  for (let i = start; i < to; i++) {
    if (buf[i] === POINT && point < 0) point = i
    else if (buf[i] < ZERO || buf[i] > NINE) return false
  }
  const isZero = buf[start] === ZERO
  if (point < 0) return !isZero || (to === start + 1 && start === from)
  if (point === start || buf[to - 1] === ZERO || to === point + 1) return false
  // Smaller numbers are written with an exponent.
  return (
    !isZero ||
    (point === start + 1 && !(to - point > 6 && buf.toString('latin1', point, point + 7) === '.000000'))
  )
}
