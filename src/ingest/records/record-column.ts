// A column of records, and the values of it that are not in a slice yet.
import { ensureCapacity, excerpt, findValueEnd, jsonKindOf, nextItem } from '../../json/index.ts'
import { type RecordKernel, VALUE_KINDS } from '../kernel/records.ts'
import { CLOSING_BRACKET } from '../values/characters.ts'
import type { ColumnType, FirstValue } from '../values/dialect.ts'
import { IsoTexts } from '../values/text-type.ts'

const OPEN_BRACKET = 0x5b
const OPEN_BRACE = 0x7b
/** Maximum initial size of a column's buffer. */
const MAX_INITIAL_BUFFER_BYTES = 512 * 1024
/** Maximum number of nulls written at once. */
const MAX_NULLS_PER_WRITE = 65_536

/** A column with its buffered values, comma-separated, up to the next slice. */
export class RecordColumn {
  type: ColumnType | 'empty' = 'empty'
  private readonly texts = new IsoTexts()
  /** The first value of each type. */
  readonly firstValues: FirstValue[] = []
  rows = 0
  /** Number of rows already passed to the sink. */
  sentRows = 0
  private out: Buffer = Buffer.allocUnsafe(64)
  private at = 0

  constructor(
    readonly name: string,
    /** Name before it was made unique. */
    readonly requestedName: string,
    readonly position: number,
  ) {}

  add(json: Buffer, record: number): void {
    const value = compactValue(json)
    this.addPlain(value, 1)
    this.noteType(value, 0, value.length, record)
  }

  /**
   * Adds the values of an array from buf[from] on, until the column has `until` rows or the array ends. Returns the start
   * of the next value. Values without blanks between them are added together.
   */
  addValues(buf: Buffer, from: number, until = Number.POSITIVE_INFINITY): number {
    let i = from
    let record = this.sentRows + this.rows
    // Start, end and number of the values that are not added yet.
    let [start, end, count] = [i, i, 0]
    while (record < until && buf[i] !== CLOSING_BRACKET) {
      const valueEnd = findValueEnd(buf, i)
      const isNested = buf[i] === OPEN_BRACE || buf[i] === OPEN_BRACKET
      if (count > 0 && (isNested || i > end + 1)) {
        this.addPlain(buf.subarray(start, end), count)
        count = 0
      }
      record++
      if (isNested) this.add(buf.subarray(i, valueEnd), record)
      else {
        if (count++ === 0) start = i
        this.noteType(buf, i, valueEnd, record)
      }
      end = valueEnd
      i = nextItem(buf, valueEnd)
    }
    if (count > 0) this.addPlain(buf.subarray(start, end), count)
    return i
  }

  /** Adds comma-separated values without blanks, whose types the caller notes. */
  private addPlain(text: Buffer, rows: number): void {
    this.write(text)
    this.rows += rows
    this.texts.add(text)
  }

  /** Notes the type of the value buf[start, end) of a record. */
  private noteType(buf: Buffer, start: number, end: number, record: number): void {
    const kind = jsonKindOf(buf[start])
    if (kind === 'null') return
    const type = kind === 'string' ? 'text' : kind === 'number' || kind === 'boolean' ? kind : 'json'
    if (!this.hasType(type)) this.addType(type, record, buf.subarray(start, end))
  }

  /** Adds value `k` of rows [from, to) that a kernel has scanned. `records`: number of earlier records. */
  addScanned(kernel: RecordKernel, k: number, from: number, to: number, records: number): void {
    const text = kernel.values(k, from, to)
    this.write(text)
    this.rows += to - from
    let [hasValues, isNew] = [false, false]
    for (const type of VALUE_KINDS) {
      if (kernel.firstOf(type) < 0) continue
      hasValues = true
      if (!this.hasType(type)) isNew = true
    }
    if (hasValues) this.texts.add(text, () => kernel.scanMoments())
    if (isNew) this.addScannedTypes(kernel, text, from, records)
  }

  private addScannedTypes(kernel: RecordKernel, text: Buffer, from: number, records: number): void {
    const firsts = VALUE_KINDS.map((type) => ({ type, row: kernel.firstOf(type) }))
    firsts.sort((a, b) => a.row - b.row)
    for (const { type, row } of firsts)
      if (row >= 0 && !this.hasType(type)) {
        const start = skipValues(text, 0, row - from)
        this.addType(type, records + row - from + 1, text.subarray(start, findValueEnd(text, start)))
      }
  }

  private hasType(type: ColumnType): boolean {
    return this.firstValues.some((first) => first.type === type)
  }

  private addType(type: ColumnType, record: number, value: Buffer): void {
    if (!this.hasType(type)) this.firstValues.push({ type, where: `record ${record}`, text: excerpt(value) })
    this.type = this.type === 'empty' || this.type === type ? type : 'json'
  }

  /** Returns the common type of all values. */
  get resultType(): ColumnType {
    if (this.type === 'empty') return 'text'
    return this.type === 'text' ? this.texts.type : this.type
  }

  /** Adds `count` nulls. */
  addNulls(count: number): void {
    for (let left = count; left > 0; left -= MAX_NULLS_PER_WRITE) {
      const rows = Math.min(left, MAX_NULLS_PER_WRITE)
      this.write(NULLS_TEXT.subarray(0, rows * 5 - 1))
      this.rows += rows
    }
  }

  /** Returns the slice so far, and starts a new one. */
  takeSlice(): { rows: number; text: Buffer } {
    const slice = { rows: this.rows, text: this.out.subarray(0, this.at) }
    this.sentRows += this.rows
    this.out = Buffer.allocUnsafe(Math.max(64, Math.min(this.at, MAX_INITIAL_BUFFER_BYTES)))
    this.at = 0
    this.rows = 0
    return slice
  }

  private write(text: Buffer): void {
    this.out = ensureCapacity(this.out, this.at, text.length + 1)
    if (this.rows > 0) this.out[this.at++] = 0x2c
    text.copy(this.out, this.at)
    this.at += text.length
  }
}

/** Returns the offset of a value of a column JSON of plain values without blanks. */
function skipValues(text: Buffer, from: number, count: number): number {
  let at = from
  for (let n = 0; n < count; n++) at = findValueEnd(text, at) + 1
  return at
}

/** Removes line ends and indentation from an object or array; returns other values unchanged. */
function compactValue(value: Buffer): Buffer {
  if ((value[0] !== 0x7b && value[0] !== 0x5b) || !(value.includes(0x0a) || value.includes(0x0d)))
    return value
  const out = Buffer.allocUnsafe(value.length)
  let at = 0
  let inString = false
  for (let k = 0; k < value.length; k++) {
    const c = value[k]
    if (inString) {
      out[at++] = c
      if (c === 0x5c) out[at++] = value[++k]
      else if (c === 0x22) inString = false
    } else if (c > 0x20) {
      out[at++] = c
      inString = c === 0x22
    }
  }
  return out.subarray(0, at)
}

const NULLS_TEXT = Buffer.from('null,'.repeat(MAX_NULLS_PER_WRITE))
