import { Problem } from '../contract/errors.ts'
import { bytesText, defaultLimits } from '../contract/limits.ts'
import { type Bytes, breathe, excerpt, turnIsLong } from '../json/index.ts'
import { peek, utf8 } from './bytes.ts'
import { ColumnBuilder, type SliceEncoding } from './column.ts'
import type { ColumnType, DelimitedOptions, Dialect, FirstValue, GivenType } from './dialect.ts'
import { isSparse, sparse } from './gaps.ts'
import { unprinted } from './printed.ts'
import { SAMPLE_BYTES, sniff } from './sniff.ts'
import { Tokenizer } from './tokenizer.ts'
import { badData, Warnings } from './warnings.ts'

/** A run of rows of one column, as the JSON text it is served as, without brackets. */
export interface Slice {
  column: number
  rows: number
  form: SliceEncoding
  text: Buffer
}

/** Receives the slices of a table while it is parsed. `begin` announces columns before their slices. */
export interface SliceSink {
  begin?(names: string[]): void
  /** The parser waits for the promise, if any. The sink owns the text. */
  slice(slice: Slice): void | Promise<void>
}

export interface ColumnFound {
  name: string
  /** `empty`: the column has no values. */
  type: ColumnType | 'empty'
  /** The first values that are text. */
  seen?: FirstValue[]
  /** For a text column that also contains numbers: the first cell that is not a number. */
  text?: { line: number; text: string }
}

export interface Ingested {
  rows: number
  columns: ColumnFound[]
  dialect: Dialect
  warnings: string[]
}

/** A slice ends at the first limit reached: its rows, or the bytes of all columns. */
const SLICE_ROWS = 65_536
const GROUP_BYTES = 8 * 1024 * 1024
const BLOCK = 512 * 1024

/** Numbers with a decimal comma: 1,5 and 1.234,50. */
const DECIMAL_COMMA = /^-?\d+(\.\d{3})*,\d+$/

/**
 * Parses delimited text (any encoding, also gzipped) into slices, in constant memory. A column is `number`
 * if every non-empty cell is a number. If a column turns out to be text (`columns[].type`), the sink must
 * convert its earlier `number` slices with `numbersAsText`. Throws `bad_data` with line and text.
 */
export async function ingestDelimited(
  input: Bytes,
  given: DelimitedOptions,
  sink: SliceSink,
): Promise<Ingested> {
  const warnings = new Warnings()
  const source = given.source ?? 'input'
  const maxRecord = (given.limits ?? defaultLimits).record_bytes
  const text = utf8(input, given.encoding, source, warnings)
  let { head, whole, ended } = await sample(text, maxRecord, source)
  const printed = unprinted(whole, head, given, source, warnings)
  const options = printed?.options ?? given
  if (printed) ({ head, whole, ended } = await sample(printed.text, maxRecord, source))
  const dialect = await sniff(head, ended, options, warnings)
  const { names } = dialect
  const tokenizer = new Tokenizer(dialect, names.length, warnings, source)
  tokenizer.headerRows = dialect.headerRows
  // In one column, a value can well be the same as the name.
  if (dialect.headerRows === 1 && names.length > 1) tokenizer.header = names.map((name) => Buffer.from(name))
  const builders = columnBuilders(names, dialect, options, source)
  sink.begin?.(names)

  let rows = 0
  let pending = 0
  const flush = async (): Promise<void> => {
    pending = 0
    for (const [column, builder] of builders.entries()) {
      if (builder.rows === 0) continue
      await sink.slice({ column, ...builder.take() })
    }
  }
  /** Header rows still to be skipped. */
  let headerRows = dialect.headerRows
  const take = async (buf: Buffer, from: number, to: number, final: boolean): Promise<number> => {
    let at = from
    for (;;) {
      // Malformed rows take longer than others.
      if (turnIsLong()) await breathe()
      const next = tokenizer.next(buf, at, to, final)
      if (tokenizer.rows === 0 && next === at) return at
      const skip = Math.min(headerRows, tokenizer.rows)
      headerRows -= skip
      const count = tokenizer.rows - skip
      const { starts, ends, lines, width } = tokenizer
      if (count > 0) {
        const first = skip * width
        const [s, e, l] =
          skip > 0
            ? [starts.subarray(first), ends.subarray(first), lines.subarray(skip)]
            : [starts, ends, lines]
        let size = 0
        for (let column = 0; column < width; column++) {
          builders[column].add(buf, s, e, l, column, width, count)
          size += builders[column].size
          if (column % 64 === 63 && turnIsLong()) await breathe()
        }
        refuseSecondTable(tokenizer, buf, builders, source)
        rows += count
        pending += count
        if (isSparse(rows, width, rows * width - tokenizer.missing))
          throw sparse(
            source,
            rows,
            width,
            'Give every row all of its cells, or remove names from the header.',
          )
        if (pending >= SLICE_ROWS || size >= GROUP_BYTES) await flush()
      }
      at = next
      if (at >= to) return at
    }
  }
  await blocks(whole, dialect, tokenizer, take, maxRecord, source)
  await flush()

  if (rows === 0) warnings.note('there are no rows below the header')
  const columns = builders.map((builder, k): ColumnFound => {
    const { firstText, given } = builder
    const seen = firstText && [
      { type: 'text' as const, where: `line ${firstText.line}`, text: firstText.text },
    ]
    const type = typeOfGiven(given) ?? (rows === 0 ? 'empty' : builder.isText ? 'text' : 'number')
    return { name: names[k], type, seen, text: builder.numbers > 0 ? firstText : undefined }
  })
  for (const [k, builder] of builders.entries()) {
    const { firstText, protectedCells } = builder
    if (protectedCells > 0)
      warnings.note(
        `column ${names[k]}: ${protectedCells} texts written as ="…" were read without the formula`,
      )
    if (firstText && DECIMAL_COMMA.test(firstText.text)) {
      warnings.note(
        `column ${names[k]} looks like numbers with a decimal comma (line ${firstText.line}: ${firstText.text}); kept as text; to read them: --decimal ,`,
      )
    }
  }
  const mixed = columns.flatMap(({ name, text }) =>
    text
      ? [`column ${name} is text: line ${text.line} holds ${JSON.stringify(text.text)}${missing(text.text)}`]
      : [],
  )
  return { rows, columns, dialect, warnings: [...warnings.list(), ...mixed] }
}

/** The type of a column whose type the user gave: dates are text. */
function typeOfGiven(given: GivenType | undefined): 'number' | 'text' | 'boolean' | undefined {
  return given === 'date' || given === 'date-dmy' || given === 'date-mdy' ? 'text' : given
}

/**
 * Throws if a second table begins: a row of words after a blank line, which contains the first text in a
 * column of numbers, is the header of another table.
 */
function refuseSecondTable(
  { behindGaps, lines, starts, ends, rows, width }: Tokenizer,
  buf: Buffer,
  builders: readonly ColumnBuilder[],
  source: string,
): void {
  for (const line of behindGaps.splice(0)) {
    const row = lines.subarray(0, rows).indexOf(line)
    if (row < 0 || width < 2) continue
    const cells = Array.from({ length: width }, (_, k) => {
      const at = row * width + k
      return buf.toString('utf8', starts[at], ends[at] >> 2).trim()
    })
    const isHeader =
      new Set(cells).size === width && cells.every((cell) => cell !== '' && !/^[+-]?[\d.,]+$/.test(cell))
    const breaks = builders.some((builder) => builder.numbers > 0 && builder.firstText?.line === line)
    if (isHeader && breaks)
      throw badData(
        source,
        { line },
        `a second table starts here, with the columns ${excerpt(cells.join(', '))}`,
        'Put each table in its own file.',
      )
  }
}

/** A hint to use `--null`, if a text among numbers looks like a missing value. */
function missing(text: string): string {
  return /^(n\/?a|nan|null|none|nil|-+|\?+|\.)$/i.test(text)
    ? ` (if that is a missing value: --null ${text})`
    : ''
}

/** The start of the text, long enough to detect the dialect. */
async function sample(
  text: Bytes,
  maxRecord: number,
  source: string,
): Promise<{ head: Buffer; whole: Bytes; ended: boolean }> {
  let { head, whole } = await peek(text, SAMPLE_BYTES)
  let ended = head.length < SAMPLE_BYTES
  while (!ended && !hasLine(head)) {
    if (head.length > maxRecord) throw recordTooLong(source, head.includes(0x0a) ? 2 : 1, maxRecord)
    const wanted = head.length * 4
    ;({ head, whole } = await peek(whole, wanted))
    ended = head.length < wanted
  }
  return { head, whole, ended }
}

function hasLine(head: Buffer): boolean {
  const first = head.indexOf(0x0a)
  return first >= 0 ? head.indexOf(0x0a, first + 1) >= 0 : head.includes(0x0d)
}

function recordTooLong(source: string, line: number, limit: number): Problem {
  return badData(
    source,
    { line },
    `the line is longer than ${bytesText(limit)} (limit record_bytes)`,
    'Check for a missing line end or an unclosed quote.',
  )
}

function columnBuilders(
  names: string[],
  dialect: Dialect,
  options: DelimitedOptions,
  source: string,
): ColumnBuilder[] {
  for (const name of options.types?.keys() ?? []) {
    if (names.includes(name)) continue
    throw new Problem('unknown_column', `${source}: no column named ${name}`, {
      field: 'column',
      hint: `Columns are: ${names.slice(0, 20).join(', ')}${names.length > 20 ? ' …' : ''}`,
    })
  }
  return names.map(
    (name, k) =>
      new ColumnBuilder({
        name,
        given:
          options.types?.get(name) ??
          options.expected?.(name, k) ??
          (dialect.profile.styled[k] ? 'number' : undefined),
        nullTexts: options.nullTexts,
        numbers: options.numbers,
        quote: dialect.quote === '' ? -1 : dialect.quote.charCodeAt(0),
        escape: dialect.escape === '' ? -1 : dialect.escape.charCodeAt(0),
        source,
      }),
  )
}

/** The offset of the last byte of the first line end in a piece; −1 if there is none. */
function lineEnd(piece: Uint8Array, crEnds: boolean): number {
  const lf = piece.indexOf(0x0a)
  const cr = crEnds ? piece.indexOf(0x0d) : -1
  if (cr < 0 || (lf >= 0 && lf < cr)) return lf
  return lf === cr + 1 ? lf : cr
}

type Take = (buf: Buffer, from: number, to: number, final: boolean) => Promise<number>

/** Splits the text into chunks of at most `BLOCK` bytes. Yields to the event loop. */
async function* inBlocks(text: Bytes): Bytes {
  for await (const chunk of text) {
    for (let at = 0; at < chunk.length; at += BLOCK) {
      if (turnIsLong()) await breathe()
      yield chunk.subarray(at, at + BLOCK)
    }
  }
}

/** Passes the text to `take` in blocks. Each block begins with the incomplete row of the previous one. */
async function blocks(
  text: Bytes,
  dialect: Dialect,
  tokenizer: Tokenizer,
  take: Take,
  maxRecord: number,
  source: string,
): Promise<void> {
  let work = Buffer.allocUnsafe(2 * BLOCK + 1)
  let filled = 0
  let threshold = BLOCK
  let preamble = dialect.preamble
  for await (const part of inBlocks(text)) {
    let piece = part
    // Skip the lines of the preamble.
    while (preamble > 0 && piece.length > 0) {
      const end = lineEnd(piece, dialect.crOnly)
      if (end >= 0) {
        preamble--
        tokenizer.line++
      }
      piece = piece.subarray(end < 0 ? piece.length : end + 1)
    }
    if (filled + piece.length >= work.length) {
      const bigger = Buffer.allocUnsafe(Math.max(work.length * 2, filled + piece.length + 1))
      work.copy(bigger, 0, 0, filled)
      work = bigger
    }
    work.set(piece, filled)
    filled += piece.length
    if (filled < threshold) continue
    const done = await take(work, 0, filled, false)
    work.copyWithin(0, done, filled)
    filled -= done
    if (filled > maxRecord) throw recordTooLong(source, tokenizer.line, maxRecord)
    // Parse a long incomplete row again only after twice as much of it has arrived.
    threshold = tokenizer.inLongCell ? filled + BLOCK : Math.max(BLOCK, filled * 2)
  }
  if (filled === 0) return
  await take(work, 0, filled, true)
}
