// Reads newline-delimited JSON.
import { Problem } from '../../contract/errors.ts'
import { defaultLimits, formatBytes, type Limits } from '../../contract/limits.ts'
import { asBuffer, type Bytes, parseRaw, parseRawAsync, type RawJson } from '../../json/index.ts'
import { decodeToUtf8 } from '../text/decode.ts'
import { LF } from '../values/characters.ts'
import type { DelimitedOptions } from '../values/dialect.ts'
import { badData, Warnings } from '../values/warnings.ts'

/** A line of NDJSON: an object (by column name) or an array (by position). */
export interface JsonLine {
  line: number
  value: RawJson
}

/** Minimum size of a line that is parsed in several turns of the event loop. */
const MIN_LONG_LINE_BYTES = 256 * 1024

/** Number of lines that are offered together, unless they exceed a size in bytes: each offer takes time for each column. */
const MIN_TAKEN_LINES = 16
const MAX_GATHERED_BYTES = 2 * 1024 * 1024

/** Joins chunks until they have several line ends. */
async function* gatherLines(chunks: Bytes): Bytes {
  let gathered: Uint8Array[] = []
  let bytes = 0
  let lines = 0
  for await (const chunk of chunks) {
    for (let at = chunk.indexOf(LF); at >= 0 && lines < MIN_TAKEN_LINES; at = chunk.indexOf(LF, at + 1))
      lines++
    bytes += chunk.length
    const isEnough = lines >= MIN_TAKEN_LINES || bytes >= MAX_GATHERED_BYTES
    if (isEnough && gathered.length === 0) yield chunk
    // A copy, since the sender may reuse the buffer.
    else gathered.push(new Uint8Array(chunk))
    if (!isEnough) continue
    if (gathered.length > 0) yield Buffer.concat(gathered)
    gathered = []
    bytes = 0
    lines = 0
  }
  if (gathered.length > 0) yield Buffer.concat(gathered)
}

type LineOptions = Pick<DelimitedOptions, 'source' | 'encoding' | 'limits'>

/** Parses lines, and counts them for errors. */
class LineParser {
  /** Number of lines that were parsed or skipped. */
  count = 0
  private readonly source: string
  private readonly limits: Limits

  constructor({ source = 'input', limits = defaultLimits }: LineOptions) {
    this.source = source
    this.limits = limits
  }

  /** Parses the next line; undefined if it is blank. Throws `bad_data`. */
  async parse(bytes: Buffer): Promise<JsonLine | undefined> {
    const line = ++this.count
    if (bytes.length < 1024 && bytes.toString('latin1').trim() === '') return undefined
    const hint = 'Give one JSON object or array per line'
    let value: RawJson
    try {
      value =
        bytes.length < MIN_LONG_LINE_BYTES
          ? parseRaw(bytes, 'the line', this.limits)
          : await parseRawAsync(bytes, 'the line', this.limits)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      const isArray = bytes.toString('latin1').trim() === '['
      throw badData(
        this.source,
        { line },
        error.message,
        `${hint}${isArray ? ": jq -c '.[]' converts an array to lines" : ''}.`,
      )
    }
    if (value.kind === 'object' || value.kind === 'array') return { line, value }
    throw badData(this.source, { line }, 'neither an object nor an array', `${hint}.`)
  }

  /** Throws `bad_data` if the next line, of which `bytes` have arrived, is too long. */
  assertLength(bytes: number): void {
    if (bytes <= this.limits.record_bytes) return
    throw badData(
      this.source,
      { line: this.count + 1 },
      `the line is longer than ${formatBytes(this.limits.record_bytes)} (limit record_bytes)`,
    )
  }
}

/**
 * Parses NDJSON of any encoding. Skips blank lines. Throws `bad_data` with line and text. `takeLines` is offered
 * complete lines, of which it can take the first ones, also none.
 */
export async function* readJsonLines(
  input: Bytes,
  options: LineOptions,
  warnings = new Warnings(),
  takeLines?: (lines: Buffer) => Promise<{ rows: number; bytes: number }>,
): AsyncGenerator<JsonLine> {
  const parser = new LineParser(options)
  /** The incomplete last line, in chunks. */
  let rest: Buffer[] = []
  let restBytes = 0
  const text = decodeToUtf8(input, options.encoding, options.source ?? 'input', warnings, true)
  for await (const chunk of takeLines ? gatherLines(text) : text) {
    const buf = asBuffer(chunk)
    let start = 0
    const stop = buf.lastIndexOf(LF) + 1
    while (start < stop) {
      if (takeLines && rest.length === 0) {
        const { rows, bytes } = await takeLines(buf.subarray(start, stop))
        parser.count += rows
        start += bytes
        if (start === stop) break
      }
      const next = buf.indexOf(LF, start) + 1
      // With its line end.
      let whole = buf.subarray(start, next)
      start = next
      parser.assertLength(restBytes + whole.length - 1)
      if (rest.length > 0) {
        whole = Buffer.concat([...rest, whole])
        rest = []
        restBytes = 0
        const { rows } = (await takeLines?.(whole)) ?? { rows: 0 }
        parser.count += rows
        if (rows > 0) continue
      }
      const parsedLine = await parser.parse(whole.subarray(0, -1))
      if (parsedLine) yield parsedLine
    }
    if (start < buf.length) {
      // A copy, since the sender may reuse the buffer.
      rest.push(Buffer.from(buf.subarray(start)))
      restBytes += buf.length - start
    }
    parser.assertLength(restBytes)
  }
  const last = await parser.parse(Buffer.concat(rest))
  if (last) yield last
}
