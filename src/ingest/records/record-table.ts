// Collects records into columns and slices.
import { defaultLimits } from '../../contract/limits.ts'
import {
  ensureCapacity,
  excerpt,
  findValueEnd,
  jsonKindOf,
  nextItem,
  type RawJson,
  shouldYield,
  skipWhitespace,
  yieldToEventLoop,
} from '../../json/index.ts'
import { isSparse, sparseError } from '../delimited/sparse.ts'
import { type RecordKernel, VALUE_KINDS } from '../kernel/records.ts'
import { CLOSING_BRACKET } from '../values/characters.ts'
import {
  type ColumnType,
  createEmptyDialect,
  type DelimitedOptions,
  type FirstValue,
} from '../values/dialect.ts'
import { findSliceEnds, hashJsonValue, keyPositionsOf, SliceEnds } from '../values/slice-ends.ts'
import type { IngestResult, SliceSink } from '../values/table.ts'
import { IsoTexts } from '../values/text-type.ts'
import { badFile, type Warnings } from '../values/warnings.ts'

export type JsonOptions = Pick<DelimitedOptions, 'source' | 'encoding' | 'limits' | 'flatten' | 'keys'>

const OPEN_BRACKET = 0x5b
const OPEN_BRACE = 0x7b
/** Maximum initial size of a column's buffer. */
const MAX_INITIAL_BUFFER_BYTES = 512 * 1024
/** Maximum number of nulls added at once. */
const MAX_NULLS_PER_WRITE = 65_536
/** Number of columns that get values in one turn of the event loop. */
const COLUMNS_PER_TURN = 64

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

  /** Returns the size of the buffered text, in bytes. */
  get size(): number {
    return this.at
  }

  add(json: Buffer, record: number): void {
    const value = compactValue(json)
    this.addPlain(value, 1)
    this.noteType(value, 0, value.length, record)
  }

  /** Adds comma-separated values without blanks, whose types the caller notes. */
  addPlain(text: Buffer, rows: number): void {
    this.write(text)
    this.rows += rows
    this.texts.add(text)
  }

  /** Notes the type of the value buf[start, end) of a record. */
  noteType(buf: Buffer, start: number, end: number, record: number): void {
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
    if (count === 0) return
    this.write(repeatNull(count))
    this.rows += count
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

/**
 * Adds the values of an array from buf[from] on, until the column has `until` rows or the array ends. Returns the start of
 * the next value. Values without blanks between them are added together.
 */
function addValues(
  column: RecordColumn,
  buf: Buffer,
  from: number,
  until = Number.POSITIVE_INFINITY,
): number {
  let i = from
  let record = column.sentRows + column.rows
  // Start, end and number of the values that are not added yet.
  let [start, end, count] = [i, i, 0]
  while (record < until && buf[i] !== CLOSING_BRACKET) {
    const valueEnd = findValueEnd(buf, i)
    const next = nextItem(buf, valueEnd)
    record++
    if (buf[i] === OPEN_BRACE || buf[i] === OPEN_BRACKET) {
      if (count > 0) column.addPlain(buf.subarray(start, end), count)
      column.add(buf.subarray(i, valueEnd), record)
      count = 0
    } else {
      if (count > 0 && i > end + 1) {
        column.addPlain(buf.subarray(start, end), count)
        count = 0
      }
      if (count === 0) start = i
      column.noteType(buf, i, valueEnd, record)
      count++
    }
    end = valueEnd
    i = next
  }
  if (count > 0) column.addPlain(buf.subarray(start, end), count)
  return i
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

function repeatNull(count: number): Buffer {
  return NULLS_TEXT.subarray(0, count * 5 - 1)
}

/** Collects records into columns and slices. Columns are added when their names first appear. */
export class RecordTable {
  private readonly columns: RecordColumn[] = []
  private readonly byName = new Map<string, RecordColumn>()
  /** Columns of members of nested objects, by path. Different paths can have the same name. */
  private readonly nested = new Map<string, RecordColumn>()
  private readonly names = new Set<string>()
  rows = 0
  private readonly ends = new SliceEnds()
  private valueCount = 0

  constructor(
    private readonly sink: SliceSink,
    private readonly options: JsonOptions,
  ) {}

  /** Returns the column of a member; adds it if it is new. `place`: path of a member of a nested object. */
  getOrAddColumn(memberName: string, place?: string): RecordColumn {
    const existing = place === undefined ? this.byName.get(memberName) : this.nested.get(place)
    if (existing) return existing
    const most = (this.options.limits ?? defaultLimits).columns
    const source = this.options.source ?? 'input'
    if (most !== undefined && this.columns.length >= most)
      throw badFile(source, `more than ${most} columns (limit columns)`)
    if (!memberName.isWellFormed() || memberName.includes('\0'))
      throw badFile(source, `a column name is not valid text: ${excerpt(memberName)}`)
    const nonEmpty = memberName.trim() === '' ? `column_${this.columns.length + 1}` : memberName
    let name = nonEmpty
    for (let n = 2; this.names.has(name); n++) name = `${nonEmpty} (${n})`
    const column = new RecordColumn(name, nonEmpty, this.columns.length)
    this.columns.push(column)
    if (place === undefined) this.byName.set(memberName, column)
    else this.nested.set(place, column)
    this.names.add(name)
    this.sink.begin?.([name])
    return column
  }

  /** Adds the columns of a record, without values. */
  addColumns(cells: Iterable<Member>): void {
    for (const [name, , place] of this.options.flatten ? flattenMembers(cells) : cells)
      this.getOrAddColumn(name, place)
  }

  /** Adds a record. Missing columns get null. */
  async addRecord(cells: Iterable<Member>): Promise<void> {
    let size = 0
    let hash = 0
    for (const [name, cell, place] of this.options.flatten ? flattenMembers(cells) : cells) {
      const column = this.getOrAddColumn(name, place)
      this.padColumn(column)
      column.add(cell.bytes, this.rows + 1)
      size += cell.bytes.length
      if (this.isKey(column.name)) hash = hashJsonValue(hash, cell.buf, cell.start, cell.end)
      this.valueCount++
      if (this.valueCount % 256 === 0 && shouldYield()) await yieldToEventLoop()
    }
    this.rows++
    this.rejectSparse()
    if (this.ends.addRow(size, () => hash)) await this.flushSlices(true)
    else if (shouldYield()) await yieldToEventLoop()
  }

  /** Adds rows that a kernel has scanned, with a value for each of these columns. */
  async addScanned(kernel: RecordKernel, columns: readonly RecordColumn[], rows: number): Promise<void> {
    for (let from = 0; from < rows; ) {
      const last = kernel.findEnd(from, rows, this.ends.size)
      this.ends.size = kernel.size
      const to = last < 0 ? rows : last + 1
      for (let k = 0; k < columns.length; k += COLUMNS_PER_TURN) {
        this.addToColumns(kernel, columns, k, from, to)
        if (shouldYield()) await yieldToEventLoop()
      }
      this.valueCount += (to - from) * columns.length
      this.rows += to - from
      this.rejectSparse()
      if (last >= 0) await this.flushSlices(true)
      from = to
    }
  }

  /** Adds the values of some columns, from column `first` on, of rows [from, to). */
  private addToColumns(
    kernel: RecordKernel,
    columns: readonly RecordColumn[],
    first: number,
    from: number,
    to: number,
  ): void {
    const last = Math.min(columns.length, first + COLUMNS_PER_TURN)
    for (let k = first; k < last; k++) {
      this.padColumn(columns[k])
      columns[k].addScanned(kernel, k, from, to, this.rows)
    }
  }

  private isKey(name: string): boolean {
    const { keys } = this.options
    return keys === undefined || keys.length === 0 || keys.includes(name)
  }

  /** Adds complete columns. */
  async addCompleteColumns(arrays: readonly (readonly [string, RawJson])[]): Promise<void> {
    const keys = keyPositionsOf(
      arrays.map(([name]) => name),
      this.options.keys,
    )
    const texts = arrays.map(([, array]) => array.buf.subarray(array.start + 1, array.end - 1))
    const ends = await findSliceEnds(texts, keys)
    for (const [name, array] of arrays) await this.addCompleteColumn(name, array, ends)
  }

  private async addCompleteColumn(name: string, array: RawJson, ends: readonly number[]): Promise<void> {
    const column = this.getOrAddColumn(name)
    let i = skipWhitespace(array.buf, array.start + 1)
    for (let k = 0; array.buf[i] !== CLOSING_BRACKET; k++) {
      i = addValues(column, array.buf, i, ends[k])
      if (column.sentRows + column.rows === ends[k]) await this.sendSlice(column, true)
    }
    const rows = column.sentRows + column.rows
    this.valueCount += rows
    this.rows = Math.max(this.rows, rows)
    this.rejectSparse()
  }

  /**
   * Throws `bad_data` if the table is sparse: a few bytes of records must not create a huge table of nulls.
   */
  private rejectSparse(): void {
    const { rows, columns, valueCount } = this
    if (!isSparse(rows, columns.length, valueCount)) return
    throw sparseError(
      this.options.source ?? 'input',
      rows,
      columns.length,
      'Give records with the same names, for example {"name": …, "value": …}.',
    )
  }

  /** Pads a column with nulls up to the current row. */
  private padColumn(column: RecordColumn): void {
    for (let missing = this.rows - column.sentRows - column.rows; missing > 0; missing -= MAX_NULLS_PER_WRITE)
      column.addNulls(Math.min(missing, MAX_NULLS_PER_WRITE))
  }

  /** Passes the buffered values of a column to the sink. */
  private async sendSlice(column: RecordColumn, ended: boolean): Promise<void> {
    if (column.rows === 0) return
    const { rows, text } = column.takeSlice()
    await this.sink.slice({ column: column.position, rows, form: 'text', text, ended })
    await yieldToEventLoop()
  }

  private async flushSlices(ended: boolean): Promise<void> {
    for (const column of this.columns) {
      this.padColumn(column)
      await this.sendSlice(column, ended)
    }
  }

  /** Passes the remaining values to the sink, and returns the result with its warnings. */
  async finish(warnings: Warnings): Promise<IngestResult> {
    await this.flushSlices(false)
    const source = this.options.source ?? 'input'
    if (this.rows === 0 || this.columns.length === 0)
      throw badFile(source, 'no rows', 'Give at least one row.')
    for (const { name, requestedName, position } of this.columns)
      if (name !== requestedName)
        warnings.note(
          `column ${position + 1} has the duplicate name ${excerpt(requestedName)}; renamed to ${excerpt(name)}`,
        )
    for (const { name, type, firstValues: values } of this.columns)
      if (type === 'json' && values.length > 1)
        warnings.note(
          `column ${name} holds values of several types (${values
            .map(({ where, text }) => `${where}: ${text}`)
            .join(', ')}); kept as JSON values`,
        )
    return {
      rows: this.rows,
      columns: this.columns.map(({ name, resultType, firstValues: values }) => ({
        name,
        type: resultType,
        seen: values,
      })),
      dialect: createEmptyDialect(this.columns.map(({ name }) => name)),
      warnings: warnings.list(),
    }
  }
}

/** A value with the name of its column and, inside a nested object, its unique path in the record. */
export type Member = [name: string, cell: RawJson, place?: string]

/**
 * Yields the members of a record, replacing objects by their members: `{"a": {"b": {"c": 1}}}` gives `a.b.c`.
 * A member `a.b.c` of the record itself is another column.
 */
function* flattenMembers(cells: Iterable<Member>, above = '', placeAbove = ''): Generator<Member> {
  for (const [name, cell, ownPlace] of cells) {
    const path = above + name
    const place = ownPlace ?? `${placeAbove}${name.length}:${name}`
    const members = cell.kind === 'object' ? cell.entries() : undefined
    // An empty object is kept as a value.
    if (members && members.size > 0) yield* flattenMembers(members, `${path}.`, place)
    else yield [path, cell, above === '' ? ownPlace : place]
  }
}
