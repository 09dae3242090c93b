import { defaultLimits } from '../../contract/limits.ts'
import { asBuffer, type Bytes, breathe, excerpt, turnIsLong, withRoom } from '../../json/index.ts'
import { SAMPLE_BYTES, sniff } from '../detect/sniff.ts'
import { Kernel } from '../kernel/index.ts'
import { utf8 } from '../text/bytes.ts'
import { peek } from '../text/peek.ts'
import { nullTexts } from '../values/column.ts'
import type { DelimitedOptions, Dialect } from '../values/dialect.ts'
import { keysAmong } from '../values/slice-ends.ts'
import type { Ingested, SliceSink } from '../values/table.ts'
import { isTotal } from '../values/total.ts'
import { badData, lineTooLong, Warnings } from '../values/warnings.ts'
import { DelimitedTable, headerOf } from './delimited-table.ts'
import { hasPlainRows } from './plain-rows.ts'
import { unprinted } from './printed.ts'

const BLOCK_BYTES = 512 * 1024

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
  const decoded = utf8(input, given.encoding, source, warnings)
  const text = given.skipLast ? withoutLastLines(decoded, given, maxRecord, source, warnings) : decoded
  let { head, whole, ended } = await sample(text, maxRecord, source)
  const printed = unprinted(whole, head, given, maxRecord, source, warnings)
  const options = printed?.options ?? given
  if (printed) ({ head, whole, ended } = await sample(printed.text, maxRecord, source))
  const dialect = await sniff(head, ended, options, warnings)
  const kernel = kernelFor(dialect, options, !ended)
  try {
    const table = new DelimitedTable(dialect, options, sink, warnings, source, kernel)
    await blocks(whole, dialect, table, kernel, maxRecord, source)
    return await table.end()
  } finally {
    kernel?.release()
  }
}

/**
 * Returns the text without its last lines. Empty lines at the end go too, and do not count. A line ends with
 * LF, CR or both.
 */
async function* withoutLastLines(
  text: Bytes,
  { skipLast: count = 0, sheetName }: DelimitedOptions,
  maxRecord: number,
  source: string,
  warnings: Warnings,
): AsyncGenerator<Uint8Array> {
  /** Whole lines that may be among the last ones: with text, each with the empty ones behind it. */
  const lines: Buffer[] = []
  let filled = 0
  let rest: Buffer[] = []
  let size = 0
  let quotes = 0
  /** Adds a line. Returns what can no longer be among the last ones. */
  const add = (line: Buffer): Buffer | undefined => {
    size += line.length
    if (line.toString('latin1').trim() === '' && lines.length > 0)
      lines.push(Buffer.concat([lines.pop()!, line]))
    else {
      lines.push(line)
      filled++
    }
    if (filled <= count) return undefined
    filled--
    const first = lines.shift()!
    size -= first.length
    for (const c of first) if (c === 0x22) quotes++
    return first
  }
  for await (const chunk of text) {
    const buf = asBuffer(chunk)
    const out: Buffer[] = []
    let start = 0
    for (let k = 0; k < buf.length; k++) {
      const isLf = buf[k] === 0x0a
      // The second half of a line end may be in the next chunk, where it is an empty line.
      if (!isLf && (buf[k] !== 0x0d || buf[k + 1] === 0x0a)) continue
      const piece = Buffer.from(buf.subarray(start, k + 1))
      const done = add(rest.length > 0 ? Buffer.concat([...rest, piece]) : piece)
      rest = []
      if (done) out.push(done)
      start = k + 1
    }
    if (start < buf.length) rest.push(Buffer.from(buf.subarray(start)))
    if (size + rest.reduce((sum, { length }) => sum + length, 0) > 4 * maxRecord)
      throw lineTooLong(source, 1, maxRecord)
    if (out.length > 0) yield Buffer.concat(out)
    if (turnIsLong()) await breathe()
  }
  const last = rest.length > 0 ? add(Buffer.concat(rest)) : undefined
  if (last) yield last
  // Of several sheets, one may have a total and another one not.
  const skipped = lines.map((line) => line.toString('utf8').trim())
  if (
    sheetName !== undefined &&
    !skipped.some((line) =>
      isTotal(
        line
          .split(',')
          .find((cell) => cell !== '')
          ?.replaceAll('"', '') ?? '',
      ),
    )
  )
    warnings.note(
      `left out by --skip-last ${count}: ${skipped.map((line) => excerpt(Buffer.from(line), 60)).join('; ')}`,
    )
  if (quotes % 2 === 1)
    throw badData(
      source,
      {},
      `the last ${count} lines begin inside of a cell with line ends`,
      'Give a number of lines that ends with whole rows (--skip-last).',
    )
}

/** Returns the start of the text, long enough to detect the dialect. */
async function sample(
  text: Bytes,
  maxRecord: number,
  source: string,
): Promise<{ head: Buffer; whole: Bytes; ended: boolean }> {
  let { head, whole } = await peek(text, SAMPLE_BYTES)
  let ended = head.length < SAMPLE_BYTES
  while (!ended && !hasLine(head)) {
    if (head.length > maxRecord) throw lineTooLong(source, head.includes(0x0a) ? 2 : 1, maxRecord)
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

/** Returns a kernel, if one can read the rows. */
function kernelFor(dialect: Dialect, options: DelimitedOptions, isLarge: boolean): Kernel | undefined {
  if (!hasPlainRows(dialect)) return undefined
  const kernel = Kernel.acquire(isLarge)
  const code = (character: string): number => (character === '' ? -1 : character.charCodeAt(0))
  const fits = kernel?.configure({
    width: dialect.names.length,
    delimiter: code(dialect.delimiter),
    quote: code(dialect.quote),
    comment: code(dialect.comment),
    firstName: headerOf(dialect)?.[0],
    nulls: nullTexts(options.nullTexts),
    keys: keysAmong(dialect.names, options.keys),
  })
  if (kernel && !fits) kernel.release()
  return fits ? kernel : undefined
}

/** Returns the offset of the last byte of the first line end in a piece; −1 if there is none. */
function lineEnd(piece: Uint8Array, crEnds: boolean): number {
  const lf = piece.indexOf(0x0a)
  const cr = crEnds ? piece.indexOf(0x0d) : -1
  if (cr < 0 || (lf >= 0 && lf < cr)) return lf
  return lf === cr + 1 ? lf : cr
}

/** Splits the text into chunks of at most `BLOCK_BYTES` bytes. Yields to the event loop. */
async function* inBlocks(text: Bytes): Bytes {
  for await (const chunk of text) {
    for (let at = 0; at < chunk.length; at += BLOCK_BYTES) {
      if (turnIsLong()) await breathe()
      yield chunk.subarray(at, at + BLOCK_BYTES)
    }
  }
}

/** Passes the text to the table in blocks. Each block begins with the incomplete row of the previous one. */
async function blocks(
  text: Bytes,
  dialect: Dialect,
  table: DelimitedTable,
  kernel: Kernel | undefined,
  maxRecord: number,
  source: string,
): Promise<void> {
  const { tokenizer } = table
  let work = kernel?.text ?? Buffer.allocUnsafe(2 * BLOCK_BYTES + 1)
  let filled = 0
  let threshold = BLOCK_BYTES
  let preamble = dialect.preamble
  let endsWithCr = false
  for await (const part of inBlocks(text)) {
    let piece = part
    // The second half of a line end of the preamble.
    if (endsWithCr && piece[0] === 0x0a) piece = piece.subarray(1)
    if (part.length > 0) endsWithCr = false
    // Skip the lines of the preamble.
    while (preamble > 0 && piece.length > 0) {
      const end = lineEnd(piece, dialect.crOnly)
      if (end >= 0) {
        preamble--
        tokenizer.line++
      }
      endsWithCr = end === piece.length - 1 && piece[end] === 0x0d
      piece = piece.subarray(end < 0 ? piece.length : end + 1)
    }
    // One byte more: the tokenizer writes behind the last one.
    work = withRoom(work, filled, piece.length + 1)
    work.set(piece, filled)
    filled += piece.length
    if (filled < threshold) continue
    const done = await table.take(work, 0, filled, false)
    work.copyWithin(0, done, filled)
    filled -= done
    if (filled > maxRecord) throw lineTooLong(source, tokenizer.line, maxRecord)
    // Parse a long incomplete row again only after twice as much of it has arrived.
    threshold = tokenizer.inLongCell ? filled + BLOCK_BYTES : Math.max(BLOCK_BYTES, filled * 2)
  }
  if (filled === 0) return
  await table.take(work, 0, filled, true)
}
