// Parses the rows of a delimited table into slices, and reports what was noticed on the way.

import { Problem } from '../../contract/errors.ts'
import { formatList } from '../../contract/message-texts.ts'
import { shouldYield, yieldToEventLoop } from '../../json/index.ts'
import type { Kernel } from '../kernel/index.ts'
import { ColumnBuilder } from '../values/column.ts'
import type { DateOrder, KnownOrders } from '../values/date.ts'
import { type DelimitedOptions, type Dialect, dateOrderOf } from '../values/dialect.ts'
import { hashCell, keyPositionsOf, SliceEnds } from '../values/slice-ends.ts'
import type { IngestResult, Slice, SliceSink } from '../values/table.ts'
import { convertTexts, type Rewrite } from '../values/text-type.ts'
import type { Warnings } from '../values/warnings.ts'
import { describeColumn, listMixedColumns } from './column-result.ts'
import { RowLines } from './line-numbers.ts'
import { isAmbiguous, NumberWarnings } from './number-warnings.ts'
import { PlainRows } from './plain-rows.ts'
import { refuseSecondTable } from './second-table.ts'
import { isSparse, sparseError } from './sparse.ts'
import { Tokenizer } from './tokenizer.ts'
import { Totals } from './totals.ts'

/**
 * Maximum size of slices that wait until the file decides the order of their dates. Further ones are
 * rewritten after they are stored.
 */
const MAX_HELD_BYTES = 32 * 1024 * 1024
/** Returns the cells of a header that can be repeated further down. */
export function repeatedHeaderOf({ repeated }: Dialect): Buffer[] | undefined {
  return repeated?.map((cell) => Buffer.from(cell))
}

/** Parses the rows of one table of known dialect, and passes its slices to the sink. */
export class DelimitedTable {
  readonly tokenizer: Tokenizer
  private readonly plainRows: PlainRows | undefined
  private readonly builders: ColumnBuilder[]
  private rows = 0
  private readonly totals = new Totals()
  private readonly ends = new SliceEnds()
  private readonly keys: readonly number[] | undefined
  private readonly lines = new RowLines()
  /**
   * Slices by column that wait for the end of the file, which decides the order of dates. Rewriting stored
   * slices costs more.
   */
  private readonly held = new Map<number, Slice[]>()
  private heldBytes = 0
  /** Columns of which the sink has received text. */
  private readonly hasSentText: boolean[] = []
  /** Header rows still to be skipped. */
  private headerRows: number
  private readonly source: string

  constructor(
    readonly dialect: Dialect,
    private readonly options: DelimitedOptions,
    private readonly sink: SliceSink,
    private readonly warnings: Warnings,
    readonly kernel: Kernel | undefined,
  ) {
    const { names, headerRows } = dialect
    const { source = 'input' } = options
    this.source = source
    this.tokenizer = new Tokenizer(dialect, names.length, warnings, source, kernel)
    this.tokenizer.headerRows = headerRows
    this.tokenizer.header = repeatedHeaderOf(dialect)
    this.headerRows = headerRows
    this.plainRows = kernel && new PlainRows(kernel, this.tokenizer)
    this.builders = createColumnBuilders(names, dialect, options, source)
    this.keys = keyPositionsOf(names, options.keys)
    sink.begin?.(names)
  }

  /**
   * Parses the complete rows in buf[from, to); overwrites buf[to]. With `final`, the last row needs no line
   * end. Returns the offset of the first incomplete row.
   */
  async readRows(buf: Buffer, from: number, to: number, final: boolean): Promise<number> {
    const { tokenizer, plainRows, source } = this
    const { width } = tokenizer
    let at = from
    for (;;) {
      // Malformed rows take longer than others.
      if (shouldYield()) await yieldToEventLoop()
      const next = (plainRows ?? tokenizer).next(buf, at, to, final)
      if (tokenizer.rows === 0 && next === at) return at
      const skip = Math.min(this.headerRows, tokenizer.rows)
      this.headerRows -= skip
      const count = tokenizer.rows - skip
      if (count > 0) {
        this.lines.add(this.rows, tokenizer.lines, skip, tokenizer.rows)
        await this.addRows(buf, skip, tokenizer.rows)
        refuseSecondTable(tokenizer, buf, this.builders, source)
        this.totals.addRows(buf, tokenizer, skip, tokenizer.rows)
        this.rows += count
        if (isSparse(this.rows, width, this.rows * width - tokenizer.missingCells))
          throw sparseError(
            source,
            this.rows,
            width,
            'Give every row all of its cells, or remove names from the header.',
          )
      }
      at = next
      if (at >= to) return at
    }
  }

  /** Adds rows [from, to), and passes completed slices to the sink. */
  private async addRows(buf: Buffer, from: number, to: number): Promise<void> {
    for (let row = from; row < to; ) {
      const last = this.findSliceEnd(buf, row, to)
      const end = last < 0 ? to : last + 1
      await this.addCells(buf, row, end)
      if (last >= 0) await this.flushSlices(true)
      row = end
    }
  }

  /** Returns the first of rows [from, to) after which slices end; −1 if there is none. */
  private findSliceEnd(buf: Buffer, from: number, to: number): number {
    const { ends, kernel, keys, tokenizer } = this
    if (kernel && this.plainRows?.arePlain) {
      const row = kernel.findEnd(from, to, ends.size)
      ends.size = kernel.size
      return row
    }
    const { starts, ends: cellEnds, width } = tokenizer
    for (let row = from; row < to; row++) {
      const first = row * width
      const hash = (): number => {
        let rowHash = 0
        const add = (k: number): void => {
          rowHash = hashCell(rowHash, buf, starts[k], cellEnds[k] >> 2)
        }
        if (keys) for (const key of keys) add(first + key)
        else for (let k = first; k < first + width; k++) add(k)
        return rowHash
      }
      if (ends.addRow((cellEnds[first + width - 1] >> 2) - starts[first], hash)) return row
    }
    return -1
  }

  /** Adds the cells of rows [from, to) to their columns. */
  private async addCells(buf: Buffer, from: number, to: number): Promise<void> {
    const { tokenizer, builders, kernel } = this
    const isPlain = this.plainRows?.arePlain
    let wrong: ColumnBuilder['firstWrong']
    for (const [column, builder] of builders.entries()) {
      if (isPlain) builder.addPlain(kernel!, column, from, to)
      else builder.add(buf, tokenizer, column, from, to)
      builder.typeTexts(tokenizer.lines, to)
      const { firstWrong } = builder
      if (firstWrong && (!wrong || firstWrong.line < wrong.line)) wrong = firstWrong
      if (column % 64 === 63 && shouldYield()) await yieldToEventLoop()
    }
    if (wrong) throw wrong.error
  }

  /** Passes the slices so far to the sink, or holds them. `ended`: at a content-defined boundary. */
  private async flushSlices(ended: boolean): Promise<void> {
    for (const [column, builder] of this.builders.entries()) {
      if (builder.rows === 0) continue
      const slice = { column, ended, ...builder.takeSlice() }
      const held = this.held.get(column)
      if (
        builder.texts?.hasRewrites &&
        this.heldBytes + slice.text.length <= MAX_HELD_BYTES &&
        (held || !this.hasSentText[column])
      ) {
        this.heldBytes += slice.text.length
        if (held) held.push(slice)
        else this.held.set(column, [slice])
        continue
      }
      await this.sendHeld(column)
      this.hasSentText[column] ||= slice.form === 'text'
      await this.sink.slice(slice)
    }
  }

  /** Passes the held slices of a column to the sink. */
  private async sendHeld(column: number, rewrite?: Rewrite): Promise<void> {
    for (const { text, form, ...slice } of this.held.get(column) ?? []) {
      this.heldBytes -= text.length
      this.hasSentText[column] = true
      await this.sink.slice(
        rewrite
          ? { ...slice, form: 'text', text: convertTexts(text, rewrite), bounds: undefined }
          : { ...slice, form, text },
      )
      if (shouldYield()) await yieldToEventLoop()
    }
    this.held.delete(column)
  }

  /** Passes all held slices to the sink in their stored form. Returns the columns that were rewritten. */
  private async sendAllHeld(): Promise<ReadonlySet<number>> {
    const done = new Set<number>()
    for (const column of [...this.held.keys()]) {
      const rewrite = this.builders[column].texts?.result().rewrite
      if (rewrite) done.add(column)
      await this.sendHeld(column, rewrite)
    }
    return done
  }

  /** Passes the remaining rows to the sink, and returns the result with its warnings. */
  async finish(): Promise<IngestResult> {
    await this.flushSlices(false)
    const done = await this.sendAllHeld()
    const { rows, warnings, builders, dialect, options } = this
    if (rows === 0) warnings.note('no rows below the header')
    const columns = builders.map((builder, k) => describeColumn(builder, dialect.names[k], rows, done.has(k)))
    for (const [k, { protectedCells, currencies }] of builders.entries()) {
      const name = dialect.names[k]
      if (protectedCells > 0)
        warnings.note(`column ${name}: ${protectedCells} texts written as ="…" were read without the formula`)
      if (currencies.length > 1) {
        const examples = currencies.map(({ line, text }) => `line ${line}: ${text}`).join(', ')
        warnings.note(`column ${name}: amounts in several currencies were read as numbers (${examples})`)
      }
    }
    const amounts = dialect.names.flatMap((name, k) =>
      isKnownAmount(dialect, options, name, k) ? [options.targetName?.(k) ?? name] : [],
    )
    // A column that rows are appended to cannot become text.
    const hint = options.expected ? '' : '; to keep texts: --column NAME:text'
    if (amounts.length > 0) warnings.note(`read as numbers, as in the grid: ${formatList(amounts, 5)}${hint}`)
    warnings.addAll(new NumberWarnings(builders, dialect, options).list())
    this.totals.warn(warnings, this.tokenizer.noteLines, options.sheetName)
    const mixed = listMixedColumns(columns, builders, dialect, options.asWritten)
    const lineOf = (row: number): number => this.lines.lineOf(row)
    return { rows, columns, dialect, warnings: [...warnings.list(), ...mixed], lineOf }
  }
}

/**
 * Returns whether a column of the file looks like amounts (€1.50, 5%), and the grid has numbers in that column. Such
 * amounts are read as numbers.
 */
function isKnownAmount(
  { profile }: Pick<Dialect, 'profile'>,
  { types, asWritten, isNumber, numbers }: DelimitedOptions,
  name: string,
  k: number,
): boolean {
  const shape = profile.shapes[k]
  // Amounts of another style need its options.
  const isRead = !shape?.numbers || shape.numbers.decimal === numbers?.decimal
  const isAmount = shape?.types.length === 1 && shape.types[0] === 'number' && isRead
  return isAmount && !asWritten && !types?.has(name) && isNumber?.(name, k) === true
}

/** `given`: order that the user gives. That a column has the month first, as in 1/31/2024, says nothing about dots. */
function knownOrdersOf(ofColumn: DateOrder, given: DateOrder): KnownOrders {
  return { usual: ofColumn ?? given, dotted: ofColumn === 'mdy' ? given : (ofColumn ?? given) }
}

/** Creates the builders of all columns. Throws `unknown_column` for types of missing columns, unless they are optional. */
function createColumnBuilders(
  names: string[],
  dialect: Dialect,
  options: DelimitedOptions,
  source: string,
): ColumnBuilder[] {
  for (const name of options.types?.keys() ?? []) {
    if (options.areTypesOptional || names.includes(name)) continue
    throw new Problem('unknown_column', `${source}: no column named ${name}`, {
      field: 'column',
      hint: `Its columns are: ${formatList(names)}`,
    })
  }
  return names.map((name, k) => {
    const given = options.types?.get(name)
    const isExact = options.asWritten && (given === 'date' || given === 'datetime')
    const isAmount = isKnownAmount(dialect, options, name, k)
    return new ColumnBuilder({
      name: options.targetName?.(k) ?? name,
      isTarget: options.expected !== undefined && !options.types?.has(name),
      isExact,
      declaredType: isExact
        ? 'text'
        : (given ??
          options.expected?.(name, k) ??
          (isAmount ? 'number' : isAmbiguous(dialect, options, k) ? 'text' : undefined)),
      orders: knownOrdersOf(options.order?.(name, k), dateOrderOf(options.dates)),
      asWritten: options.asWritten,
      styled: dialect.profile.styled[k],
      nullTexts: isAmount
        ? [...(options.nullTexts ?? []), ...(dialect.profile.shapes[k]?.missing ?? [])]
        : options.nullTexts,
      numbers: options.numbers,
      quote: dialect.quote === '' ? -1 : dialect.quote.charCodeAt(0),
      escape: dialect.escape === '' ? -1 : dialect.escape.charCodeAt(0),
      source,
    })
  })
}
