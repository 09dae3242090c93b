// Parses delimited text: decodes it, detects its dialect, and reads it in blocks.
import { defaultLimits } from '../../contract/limits.ts'
import { type Bytes, ensureCapacity, peek, shouldYield, yieldToEventLoop } from '../../json/index.ts'
import { SAMPLE_BYTES, sniff } from '../detect/sniff.ts'
import { Kernel } from '../kernel/index.ts'
import { decodeToUtf8 } from '../text/decode.ts'
import { nullMarkersOf } from '../values/column.ts'
import type { DelimitedOptions, Dialect } from '../values/dialect.ts'
import { keyPositionsOf } from '../values/slice-ends.ts'
import type { IngestResult, SliceSink } from '../values/table.ts'
import { lineTooLongError, Warnings } from '../values/warnings.ts'
import { convertAsciiTable } from './ascii-table.ts'
import { DelimitedTable, repeatedHeaderOf } from './delimited-table.ts'
import { canUseKernel } from './plain-rows.ts'
import { skipLastLines } from './skip-last.ts'

const MAX_BLOCK_BYTES = 512 * 1024
/** Size of the text of wide rows that is parsed at once: each column takes time for each block. */
const WIDE_BLOCK_BYTES = 2 * 1024 * 1024
/** Number of columns from which rows are wide. */
const WIDE_COLUMNS = 1000

/**
 * Parses delimited text of any encoding into slices, in constant memory. A column is `number` if every
 * non-empty cell is a number. If a column turns out to be text, the sink must convert its earlier `number`
 * slices with `quoteNumbers`. Throws `bad_data` with line and text.
 */
export async function ingestDelimited(
  input: Bytes,
  requested: DelimitedOptions,
  sink: SliceSink,
): Promise<IngestResult> {
  const warnings = new Warnings()
  const source = requested.source ?? 'input'
  const maxRecord = (requested.limits ?? defaultLimits).record_bytes
  const decoded = decodeToUtf8(input, requested.encoding, source, warnings)
  const text = requested.skipLast ? skipLastLines(decoded, requested.skipLast, requested, warnings) : decoded
  let { head, whole, ended } = await readSample(text, maxRecord, source)
  const printed = convertAsciiTable(whole, head, requested, warnings)
  const options = printed?.options ?? requested
  if (printed) ({ head, whole, ended } = await readSample(printed.text, maxRecord, source))
  const dialect = await sniff(head, ended, options, warnings)
  const kernel = acquireKernel(dialect, options, !ended)
  try {
    const table = new DelimitedTable(dialect, options, sink, warnings, kernel)
    await parseBlocks(whole, table, maxRecord, source)
    return await table.finish()
  } finally {
    kernel?.release()
  }
}

/** Reads the beginning of the text, long enough to detect the dialect. */
async function readSample(
  text: Bytes,
  maxRecord: number,
  source: string,
): Promise<{ head: Buffer; whole: Bytes; ended: boolean }> {
  let { head, whole } = await peek(text, SAMPLE_BYTES)
  let ended = head.length < SAMPLE_BYTES
  while (!ended && !hasTwoLineEnds(head)) {
    if (head.length > maxRecord) throw lineTooLongError(source, head.includes(0x0a) ? 2 : 1, maxRecord)
    const size = head.length * 4
    ;({ head, whole } = await peek(whole, size))
    ended = head.length < size
  }
  return { head, whole, ended }
}

/** Returns whether a text has at least two line ends, or a CR without any LF. */
function hasTwoLineEnds(head: Buffer): boolean {
  const first = head.indexOf(0x0a)
  return first >= 0 ? head.indexOf(0x0a, first + 1) >= 0 : head.includes(0x0d)
}

/** Acquires and configures a kernel; undefined if the dialect needs the tokenizer. */
function acquireKernel(dialect: Dialect, options: DelimitedOptions, isLarge: boolean): Kernel | undefined {
  if (!canUseKernel(dialect)) return undefined
  const kernel = Kernel.acquire(isLarge)
  const code = (character: string): number => (character === '' ? -1 : character.charCodeAt(0))
  const fits = kernel?.configure({
    width: dialect.names.length,
    delimiter: code(dialect.delimiter),
    quote: code(dialect.quote),
    comment: code(dialect.comment),
    firstName: repeatedHeaderOf(dialect)?.[0],
    nulls: nullMarkersOf(options.nullTexts),
    keys: keyPositionsOf(dialect.names, options.keys),
  })
  if (kernel && !fits) kernel.release()
  return fits ? kernel : undefined
}

/** Returns the index of the last byte of the first line end in a chunk; −1 if there is none. */
function findLineEnd(piece: Uint8Array, crEnds: boolean): number {
  const lf = piece.indexOf(0x0a)
  const cr = crEnds ? piece.indexOf(0x0d) : -1
  if (cr < 0 || (lf >= 0 && lf < cr)) return lf
  return lf === cr + 1 ? lf : cr
}

/** Splits chunks to at most `MAX_BLOCK_BYTES`. Yields to the event loop. */
async function* splitIntoBlocks(text: Bytes): Bytes {
  for await (const chunk of text) {
    for (let at = 0; at < chunk.length; at += MAX_BLOCK_BYTES) {
      if (shouldYield()) await yieldToEventLoop()
      yield chunk.subarray(at, at + MAX_BLOCK_BYTES)
    }
  }
}

/**
 * Passes the text after the preamble to the table in blocks, each beginning with the incomplete row of the
 * previous one. Throws `bad_data` if that row exceeds `maxRecord` bytes.
 */
async function parseBlocks(
  text: Bytes,
  table: DelimitedTable,
  maxRecord: number,
  source: string,
): Promise<void> {
  const { tokenizer, dialect, kernel } = table
  let work = kernel?.text ?? Buffer.allocUnsafe(2 * MAX_BLOCK_BYTES + 1)
  const blockBytes = tokenizer.width < WIDE_COLUMNS ? MAX_BLOCK_BYTES : WIDE_BLOCK_BYTES
  let filled = 0
  let threshold = blockBytes
  let preamble = dialect.preamble
  let endsWithCr = false
  for await (const block of splitIntoBlocks(text)) {
    let rest = block
    // The LF of a CR LF that ends the preamble.
    if (endsWithCr && rest[0] === 0x0a) rest = rest.subarray(1)
    if (block.length > 0) endsWithCr = false
    while (preamble > 0 && rest.length > 0) {
      const end = findLineEnd(rest, dialect.crOnly)
      if (end >= 0) {
        preamble--
        tokenizer.line++
      }
      endsWithCr = end === rest.length - 1 && rest[end] === 0x0d
      rest = rest.subarray(end < 0 ? rest.length : end + 1)
    }
    // One extra byte: the tokenizer writes after the end.
    work = ensureCapacity(work, filled, rest.length + 1)
    work.set(rest, filled)
    filled += rest.length
    if (filled < threshold) continue
    const done = await table.readRows(work, 0, filled, false)
    work.copyWithin(0, done, filled)
    filled -= done
    if (filled > maxRecord) throw lineTooLongError(source, tokenizer.line, maxRecord)
    // Parses a long incomplete row again only after its size has doubled.
    threshold = tokenizer.isInLongCell ? filled + MAX_BLOCK_BYTES : Math.max(blockBytes, filled * 2)
  }
  if (filled === 0) return
  await table.readRows(work, 0, filled, true)
}
