// Collects records into columns and slices.
import { defaultLimits } from '../../contract/limits.ts'
import { excerpt, type RawJson, shouldYield, skipWhitespace, yieldToEventLoop } from '../../json/index.ts'
import { isSparse, sparseError } from '../delimited/sparse.ts'
import type { RecordKernel } from '../kernel/records.ts'
import { CLOSING_BRACKET } from '../values/characters.ts'
import { createEmptyDialect, type DelimitedOptions } from '../values/dialect.ts'
import { findSliceEnds, hashJsonValue, keyPositionsOf, SliceEnds } from '../values/slice-ends.ts'
import type { IngestResult, SliceSink } from '../values/table.ts'
import { badFile, type Warnings } from '../values/warnings.ts'
import { RecordColumn } from './record-column.ts'

export type JsonOptions = Pick<DelimitedOptions, 'source' | 'encoding' | 'limits' | 'flatten' | 'keys'>

/** Number of columns that get values in one turn of the event loop. */
const COLUMNS_PER_TURN = 64

/** Collects records into columns and slices. Columns are added when their names first appear. */
export class RecordTable {
  private readonly columns: RecordColumn[] = []
  private readonly byName = new Map<string, RecordColumn>()
  /** Columns of members of nested objects, by path. Different paths can have the same name. */
  private readonly nested = new Map<string, RecordColumn>()
  private readonly names = new Set<string>()
  private readonly unnamed: RecordColumn[] = []
  /** The first name that an object gives twice. */
  private repeatedName: string | undefined
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
    if (memberName.trim() === '') this.unnamed.push(column)
    if (place === undefined) this.byName.set(memberName, column)
    else this.nested.set(place, column)
    this.names.add(name)
    this.sink.begin?.([name])
    return column
  }

  /** Adds the columns of a record, without values. */
  addColumns(cells: Iterable<Member>): void {
    for (const [name, , place] of this.cellsOf(cells)) this.getOrAddColumn(name, place)
  }

  /** Returns the members of an object, the last of several with one name. Remembers such a name for a warning. */
  membersOf(object: RawJson): Map<string, RawJson> {
    const members = new Map<string, RawJson>()
    for (const [name, cell] of object.members()) {
      if (members.has(name)) this.repeatedName ??= name
      members.set(name, cell)
    }
    return members
  }

  private cellsOf(members: Iterable<Member>): Iterable<Member> {
    return this.options.flatten ? flattenMembers(members, (object) => this.membersOf(object)) : members
  }

  /** Adds a record. Missing columns get null. */
  async addRecord(cells: Iterable<Member>): Promise<void> {
    let size = 0
    let hash = 0
    for (const [name, cell, place] of this.cellsOf(cells)) {
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
      i = column.addValues(array.buf, i, ends[k])
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
    column.addNulls(this.rows - column.sentRows - column.rows)
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
    if (this.repeatedName !== undefined)
      warnings.note(`an object has several members ${excerpt(this.repeatedName)}; the last one was read`)
    for (const { name, position } of this.unnamed)
      warnings.note(`column ${position + 1} has no name; named ${name}`)
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
function* flattenMembers(
  cells: Iterable<Member>,
  membersOf: (object: RawJson) => Map<string, RawJson>,
  above = '',
  placeAbove = '',
): Generator<Member> {
  for (const [name, cell, ownPlace] of cells) {
    const path = above + name
    const place = ownPlace ?? `${placeAbove}${name.length}:${name}`
    const members = cell.kind === 'object' ? membersOf(cell) : undefined
    // An empty object is kept as a value.
    if (members && members.size > 0) yield* flattenMembers(members, membersOf, `${path}.`, place)
    else yield [path, cell, above === '' ? ownPlace : place]
  }
}
