// Parses the rows of a delimited table into slices, and reports what was noticed on the way.

import { Problem } from '../../contract/errors.ts'
import { formatList } from '../../contract/message-texts.ts'
import { excerpt, shouldYield, yieldToEventLoop } from '../../json/index.ts'
import type { Kernel } from '../kernel/index.ts'
import { ColumnBuilder } from '../values/column.ts'
import { parseDate } from '../values/date.ts'
import {
  type DelimitedOptions,
  type Dialect,
  dateOrderOf,
  type FirstValue,
  type GivenType,
  type NumberStyle,
} from '../values/dialect.ts'
import { parseStyledNumber, styleOptionsOf } from '../values/number.ts'
import { hashCell, keyPositionsOf, SliceEnds } from '../values/slice-ends.ts'
import type { IngestResult, ParsedColumn, Slice, SliceSink } from '../values/table.ts'
import { convertTexts, type Rewrite } from '../values/text-type.ts'
import { canBeTotal, isTotal } from '../values/total.ts'
import { badData, type Warnings } from '../values/warnings.ts'
import { RowLines } from './line-numbers.ts'
import { PlainRows } from './plain-rows.ts'
import { isSparse, sparseError } from './sparse.ts'
import { Tokenizer } from './tokenizer.ts'

/**
 * Maximum size of slices that wait until the file decides the order of their dates. Further ones are
 * rewritten after they are stored.
 */
const MAX_HELD_BYTES = 32 * 1024 * 1024
/** Numbers whose commas can separate thousands: 1,234 and 12,345,678. */
const WITH_THOUSANDS = /^-?\d{1,3}(,\d{3})+$/
/** Numbers with a decimal comma: 1,5 and 1.234,50. */
const DECIMAL_COMMA = /^-?\d+(\.\d{3})*,\d+$/

/** Maximum number of total rows. If there are more, the word is a category. */
const MAX_TOTALS = 20
/** Number of rows searched for totals, which people add to short tables. */
const MAX_ROWS_WITH_TOTALS = 10_000

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
  private lastRow: { line: number; text: string } | undefined
  /** Rows whose first cell labels them as totals. */
  private readonly totals: { line: number; text: string }[] = []
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

  constructor(
    private readonly dialect: Dialect,
    private readonly options: DelimitedOptions,
    private readonly sink: SliceSink,
    private readonly warnings: Warnings,
    private readonly source: string,
    private readonly kernel: Kernel | undefined,
  ) {
    const { names, headerRows } = dialect
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
        this.rememberLastRow(buf)
        if (this.rows < MAX_ROWS_WITH_TOTALS) this.rememberTotals(buf, skip)
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

  /** Remembers the first filled cell of the last row, which may label it as a total. */
  private rememberLastRow(buf: Buffer): void {
    const { starts, ends, lines, rows, width } = this.tokenizer
    for (let k = (rows - 1) * width; k < rows * width; k++) {
      const end = ends[k] >> 2
      if (end === starts[k]) continue
      const text = end - starts[k] > 40 ? '' : buf.toString('utf8', starts[k], end).trim()
      this.lastRow = { line: lines[rows - 1], text }
      return
    }
  }

  /** Remembers rows that look like totals, by their first cell, or by the second if that is empty. */
  private rememberTotals(buf: Buffer, skip: number): void {
    const { starts, ends, lines, rows, width } = this.tokenizer
    for (let row = skip; row < rows && this.totals.length <= MAX_TOTALS; row++) {
      let k = row * width
      if (ends[k] >> 2 === starts[k] && width > 1) k++
      const [start, end] = [starts[k], ends[k] >> 2]
      if (end - start < 3 || end - start > 40 || !canBeTotal(buf[start])) continue
      const text = buf.toString('utf8', start, end).trim()
      if (isTotal(text)) this.totals.push({ line: lines[row], text })
    }
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
    const { rows, warnings, builders, dialect } = this
    const { names } = dialect
    if (rows === 0) warnings.note('no rows below the header')
    const columns = builders.map((builder, k): ParsedColumn => {
      const { firstText, effectiveType } = builder
      const values = firstText && firstValuesOf(builder, firstText)
      const name = names[k]
      const isText =
        effectiveType === undefined
          ? builder.isText
          : effectiveType === 'text' || effectiveType.startsWith('date')
      if (!isText)
        return {
          name,
          type: rows === 0 ? 'empty' : effectiveType === 'boolean' ? effectiveType : 'number',
          seen: values,
        }
      const mixed = builder.numbers > 0 && effectiveType === undefined ? firstText : undefined
      const type = effectiveType === undefined && rows === 0 ? 'empty' : 'text'
      const typed = typeOfTextColumn(builder, effectiveType)
      if (done.has(k)) delete typed.rewrite
      return { name, type, seen: values, text: mixed, ...typed }
    })
    for (const [k, builder] of builders.entries()) {
      const { protectedCells } = builder
      if (protectedCells > 0)
        warnings.note(
          `column ${names[k]}: ${protectedCells} texts written as ="…" were read without the formula`,
        )
    }
    for (const text of listNumberWarnings(builders, dialect, this.options)) warnings.note(text)
    if (this.lastRow && rows > 2 && isTotal(this.lastRow.text)) {
      const { sheetName } = this.options
      const where = sheetName === undefined ? '' : ` --sheet ${JSON.stringify(sheetName)}`
      warnings.note(
        `line ${this.lastRow.line}: ${JSON.stringify(this.lastRow.text)} looks like the total of the rows above; read as a row; to skip it: --skip-last ${1 + this.tokenizer.noteLines}${where}`,
      )
    }
    const among = this.totals.filter(({ line }) => line !== this.lastRow?.line)
    if (rows <= MAX_ROWS_WITH_TOTALS && among.length > 0 && among.length <= Math.min(MAX_TOTALS, rows / 3)) {
      const [{ line, text }] = among
      const which =
        among.length === 1
          ? `line ${line}: ${JSON.stringify(text)} looks like a total among the rows; read as a row`
          : `${among.length} rows look like totals (first: line ${line}: ${JSON.stringify(text)}); read as rows`
      warnings.note(`${which}; to exclude rows from charts: --where`)
    }
    const mixed = columns.flatMap(({ name, text }) =>
      text
        ? [
            `column ${name} is text: line ${text.line} holds ${JSON.stringify(text.text)}${formatMissingHint(text.text)}`,
          ]
        : [],
    )
    for (const [k, builder] of builders.entries()) {
      const odd = dialect.profile.nonNumbers[k]
      // If a number came first, `mixed` already has a warning.
      if (odd && builder.isText && builder.numbers === 0 && builder.effectiveType === undefined)
        mixed.push(
          `column ${names[k]} holds numbers except in ${formatLines(odd)}; kept as text${formatMissingHint(odd[0].text)}`,
        )
    }
    const lineOf = (row: number): number => this.lines.lineOf(row)
    return { rows, columns, dialect, warnings: [...warnings.list(), ...mixed], lineOf }
  }
}

/** Formats values with their lines: `lines 2 and 3 ("%", "Smp")`. */
function formatLines(values: readonly { line: number; text: string }[]): string {
  const [first, second] = values
  const quoted = (text: string): string => JSON.stringify(excerpt(text))
  if (values.length === 1) return `line ${first.line} (${quoted(first.text)})`
  if (values.length === 2)
    return `lines ${first.line} and ${second.line} (${quoted(first.text)}, ${quoted(second.text)})`
  return `${values.length} lines (first: line ${first.line}: ${quoted(first.text)})`
}

/**
 * Returns whether values are ambiguous: with --decimal , a point may separate thousands or be another decimal
 * point.
 */
function isAmbiguous(
  { profile }: Pick<Dialect, 'profile'>,
  { numbers }: DelimitedOptions,
  k: number,
): boolean {
  return numbers?.decimal === ',' && numbers.thousands !== '.' && profile.grouped[k] !== undefined
}

/**
 * Returns warnings about columns that look like numbers of another style, and about ambiguous numbers.
 * Suggests an option only if it reads the whole sample of the column, and misreads no other column.
 */
function listNumberWarnings(
  builders: readonly ColumnBuilder[],
  { names, profile, delimiter }: Dialect,
  options: DelimitedOptions,
): string[] {
  const { styles, grouped } = profile
  const lines: string[] = []
  /** Columns that share a warning. */
  const alike = new Map<string, { names: string[]; place: string; looks: string; how: string }>()
  const isGiven = (k: number): boolean => options.types?.has(names[k]) === true
  /** Returns whether a style would misread another column. */
  const misread = (style: NumberStyle, column: number): boolean =>
    styles.some(
      (columnStyle, k) =>
        k !== column &&
        columnStyle !== undefined &&
        columnStyle.decimal !== style.decimal &&
        builders[k].isText &&
        !isGiven(k),
    )
  const points = (style: NumberStyle): string => {
    const k = grouped.findIndex((text, at) => text !== undefined && !builders[at].isText)
    if (style.decimal !== ',' || style.thousands !== '.' || k < 0) return ''
    return ` (this also reads ${names[k]} ${grouped[k]} as ${grouped[k]!.replaceAll('.', '')})`
  }
  /** Returns the locale with this style, unless it misreads another column. */
  const localeOf = (style: NumberStyle): string =>
    style.decimal === ',' && style.thousands !== ' ' && points({ decimal: ',', thousands: '.' }) === ''
      ? ' (or --locale de)'
      : ''
  for (const [k, builder] of builders.entries()) {
    const { firstText } = builder
    if (isGiven(k)) continue
    if (isAmbiguous({ profile }, options, k)) {
      const plain = grouped[k]!.replaceAll('.', '')
      lines.push(
        `column ${names[k]}: ${grouped[k]} is ${plain} if its point separates thousands; kept as text; to read it as ${plain}: --thousands .; as a decimal number: --column ${JSON.stringify(`${names[k]}:number`)}`,
      )
      continue
    }
    const dates = formatDateWarning(builder, names[k])
    if (dates !== undefined) {
      lines.push(dates)
      continue
    }
    // No hint on formatted values if the user wants them unchanged.
    const look = options.asWritten ? undefined : profile.shapes[k]
    const isKnown = builder.texts !== undefined && builder.texts.result().type !== 'text'
    if (isKnown) continue
    if (look && builder.isText && builder.effectiveType === undefined && firstText) {
      const types = look.types.map((type) => `--column ${JSON.stringify(`${names[k]}:${type}`)}`)
      // Numbers of another style also need its options, unless they are given or misread another column.
      const style = options.numbers?.decimal === ',' ? undefined : look.numbers
      const how = style ? ` ${styleOptionsOf(style)}${points(style)}` : ''
      const isRead = types.length > 0 && !(style && misread(style, k))
      lines.push(
        `column ${names[k]} looks like ${look.what} (line ${firstText.line}: ${firstText.text}); kept as text${isRead ? `; to read them: ${types.join(' or ')}${how}${profile.endsInTotal ? ' --skip-last 1' : ''}` : ''}`,
      )
      continue
    }
    const style = styles[k]
    if (!firstText || (!WITH_THOUSANDS.test(firstText.text) && !DECIMAL_COMMA.test(firstText.text) && !style))
      continue
    if (options.numbers !== undefined && parseStyledNumber(firstText.text, options.numbers) !== undefined) {
      lines.push(
        `column ${names[k]} has values that are not numbers in the given style; kept as text (line ${firstText.line}: ${firstText.text}, and others)`,
      )
      continue
    }
    const isGroups = WITH_THOUSANDS.test(firstText.text) || (style !== undefined && style.decimal === '.')
    const looks = isGroups ? 'with groups of digits' : 'with a decimal comma'
    const how =
      !style || misread(style, k)
        ? ''
        : WITH_THOUSANDS.test(firstText.text) && style.decimal === ',' && style.thousands === ''
          ? // Each value is a number in both styles.
            '; to read them: --thousands , (or, if the comma is decimal: --decimal ,)'
          : `; to read them: ${styleOptionsOf(style)}${points(style)}${localeOf(style)}`
    const place = `(line ${firstText.line}: ${firstText.text})`
    const group = alike.get(looks + how)
    if (group) group.names.push(names[k])
    else alike.set(looks + how, { names: [names[k]], place, looks, how })
  }
  for (const { names: columns, place, looks, how } of alike.values()) {
    const which =
      columns.length === 1 ? `column ${columns[0]} looks` : `columns ${formatList(columns, 5)} look`
    lines.push(`${which} like numbers ${looks} ${place}; kept as text${how}`)
  }
  const comma = styles.findIndex((style, k) => style?.decimal === ',' && builders[k].isText && !isGiven(k))
  // A semicolon as delimiter also suggests decimal commas.
  if (options.numbers === undefined && (comma >= 0 || delimiter === ';'))
    for (const [k, text] of grouped.entries()) {
      if (text === undefined || builders[k].isText || isGiven(k)) continue
      const why =
        comma >= 0
          ? `, but column ${names[comma]} has decimal commas; if the point separates thousands`
          : '; if its point separates thousands'
      lines.push(`column ${names[k]}: ${text} was read as a decimal number${why}: --decimal , --thousands .`)
    }
  return lines
}

/** Minimum number of dates or booleans before a contradiction is reported. */
const MIN_TYPED_VALUES = 3

/** Texts with the form of days, such as `32.12.2024`. */
const DAY_SHAPED = /^\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?!\d)/

/**
 * Returns the first text of a column, and the first that contradicts its type if the column began as dates or
 * booleans.
 */
function firstValuesOf(
  { texts, brokenLine }: ColumnBuilder,
  { line, text }: { line: number; text: string },
): FirstValue[] {
  const broken = brokenLine === undefined ? undefined : texts?.broken
  const first = { type: broken?.before ?? ('text' as const), where: `line ${line}`, text }
  return broken ? [first, { type: 'text', where: `line ${brokenLine}`, text: broken.text }] : [first]
}

/** Returns the detected type of a column's texts; empty for plain text. */
function typeOfTextColumn(
  { texts, brokenLine }: ColumnBuilder,
  expectedType: GivenType | undefined,
): Partial<ParsedColumn> {
  if (texts === undefined) return {}
  const { type, order, rewrite, isUndecided } = texts.result()
  const { broken, count } = texts
  if (isUndecided) return { dateOrder: 'undecided' }
  if (type !== 'text') return { type, dateOrder: dateOrderOf(expectedType) ?? order, rewrite }
  if (!broken || brokenLine === undefined) return {}
  if (count < MIN_TYPED_VALUES && (broken.before === 'boolean' || !DAY_SHAPED.test(broken.text))) return {}
  return { text: { line: brokenLine, text: broken.text } }
}

/**
 * Returns the warning about dates that are ambiguous or stored in another form; undefined if there is none.
 */
function formatDateWarning({ texts }: ColumnBuilder, name: string): string | undefined {
  const { type, order, isUndecided, written } = texts?.result() ?? {}
  if (written === undefined) return undefined
  const columns = ['dmy', 'mdy'].map((suffix) => `--column ${JSON.stringify(`${name}:date-${suffix}`)}`)
  if (isUndecided)
    return `column ${name}: dates such as ${excerpt(written)} can have the day or the month first; kept as text; to read them: ${columns.join(' or ')}`
  if (type === 'text' || type === 'boolean') return undefined
  // No warning if the order is given, or known from the target column.
  if (texts?.givenOrder !== undefined && (order ?? texts.givenOrder) === texts.givenOrder) return undefined
  const first = order === undefined ? '' : ` (the ${order === 'dmy' ? 'day' : 'month'} is first)`
  return `column ${name}: dates such as ${excerpt(written)} are stored as ${parseDate(written, order ?? 'dmy')}${first}; to keep them as written: --column ${JSON.stringify(`${name}:text`)}`
}

/**
 * Throws `bad_data` if a second table begins: a row of words after a blank line, with the first text in a
 * numeric column, is the header of another table.
 */
function refuseSecondTable(
  { gapLines, lines, starts, ends, rows, width }: Tokenizer,
  buf: Buffer,
  builders: readonly ColumnBuilder[],
  source: string,
): void {
  for (const line of gapLines.splice(0)) {
    const row = lines.subarray(0, rows).indexOf(line)
    if (row < 0 || width < 2) continue
    const cells = Array.from({ length: width }, (_, k) => {
      const at = row * width + k
      return buf.toString('utf8', starts[at], ends[at] >> 2).trim()
    })
    const last = cells.findLastIndex((cell) => cell !== '')
    const filled = cells.slice(0, last + 1)
    const isHeader =
      last > 0 &&
      new Set(filled).size === filled.length &&
      filled.every((cell) => cell !== '' && !/^[+-]?[\d.,]+$/.test(cell) && !isMissingMarker(cell))
    const broken = builders.filter((builder) => builder.numbers > 0 && builder.firstText?.line === line)
    // An incomplete header must break more than one column.
    if (isHeader && broken.length > (last + 1 < width ? 1 : 0))
      throw badData(
        source,
        { line },
        `a second table starts here, with the columns ${excerpt(filled.join(', '))}`,
        'Put each table in its own file.',
      )
  }
}

/** Returns whether a text looks like a marker of a missing value. */
function isMissingMarker(text: string): boolean {
  return /^(n\/?a|n\.a\.|nan|\(?null\)?|none|nil|missing|unknown|tbd|[-+]?inf(inity)?|#[a-z/0]+[!?]?|-+|\?+|\*+|\.+|…|\.\.\.)$/i.test(
    text,
  )
}

/** Returns a hint on `--null`, if a text among numbers looks like a missing value. */
function formatMissingHint(text: string): string {
  return isMissingMarker(text)
    ? ` (if that is a missing value: --null ${/^[\w/.-]+$/.test(text) ? text : JSON.stringify(text)})`
    : ''
}

/** Creates the builders of all columns. Throws `unknown_column` for types of missing columns. */
function createColumnBuilders(
  names: string[],
  dialect: Dialect,
  options: DelimitedOptions,
  source: string,
): ColumnBuilder[] {
  for (const name of options.types?.keys() ?? []) {
    if (names.includes(name)) continue
    throw new Problem('unknown_column', `${source}: no column named ${name}`, {
      field: 'column',
      hint: `Its columns are: ${formatList(names)}`,
    })
  }
  return names.map(
    (name, k) =>
      new ColumnBuilder({
        name: options.targetName?.(k) ?? name,
        isTarget: options.expected !== undefined && !options.types?.has(name),
        declaredType:
          options.types?.get(name) ??
          options.expected?.(name, k) ??
          (isAmbiguous(dialect, options, k) ? 'text' : undefined),
        order: options.order?.(name, k) ?? dateOrderOf(options.dates),
        asWritten: options.asWritten,
        styled: dialect.profile.styled[k],
        nullTexts: options.nullTexts,
        numbers: options.numbers,
        quote: dialect.quote === '' ? -1 : dialect.quote.charCodeAt(0),
        escape: dialect.escape === '' ? -1 : dialect.escape.charCodeAt(0),
        source,
      }),
  )
}
