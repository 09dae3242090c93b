// Reads newline-delimited JSON.
import { Problem } from '../../contract/errors.ts'
import { defaultLimits, formatBytes } from '../../contract/limits.ts'
import { asBuffer, type Bytes, parseRaw, parseRawAsync, type RawJson } from '../../json/index.ts'
import { decodeToUtf8 } from '../text/decode.ts'
import type { DelimitedOptions } from '../values/dialect.ts'
import { badData, Warnings } from '../values/warnings.ts'

/** A line of NDJSON: an object (by column name) or an array (by position). */
export interface JsonLine {
  line: number
  value: RawJson
}

/** Minimum size of a line that is parsed in several turns of the event loop. */
const MIN_LONG_LINE_BYTES = 256 * 1024

/**
 * Parses NDJSON of any encoding. Skips blank lines. Throws `bad_data` with line and text. `takeLines` is offered
 * complete lines, of which it can take the first ones, also none.
 */
export async function* readJsonLines(
  input: Bytes,
  {
    source = 'input',
    encoding,
    limits = defaultLimits,
  }: Pick<DelimitedOptions, 'source' | 'encoding' | 'limits'>,
  warnings = new Warnings(),
  takeLines?: (lines: Buffer) => Promise<{ rows: number; bytes: number }>,
): AsyncGenerator<JsonLine> {
  /** The incomplete last line, in chunks. */
  let rest: Buffer[] = []
  let restBytes = 0
  let line = 0
  const lineOf = async (bytes: Buffer): Promise<JsonLine | undefined> => {
    line++
    if (bytes.length < 1024 && bytes.toString('latin1').trim() === '') return undefined
    try {
      const value =
        bytes.length < MIN_LONG_LINE_BYTES
          ? parseRaw(bytes, 'the line', limits)
          : await parseRawAsync(bytes, 'the line', limits)
      if (value.kind === 'object' || value.kind === 'array') return { line, value }
    } catch (error) {
      throw error instanceof Problem
        ? badData(
            source,
            { line },
            error.message,
            `Give one JSON object or array per line${bytes.toString('latin1').trim() === '[' ? ": jq -c '.[]' converts an array to lines" : ''}.`,
          )
        : error
    }
    throw badData(
      source,
      { line },
      'neither an object nor an array',
      'Give one JSON object or array per line.',
    )
  }
  for await (const chunk of decodeToUtf8(input, encoding, source, warnings, true)) {
    const buf = asBuffer(chunk)
    let start = 0
    const stop = buf.lastIndexOf(0x0a) + 1
    while (start < stop) {
      if (takeLines && rest.length === 0) {
        const { rows, bytes } = await takeLines(buf.subarray(start, stop))
        line += rows
        start += bytes
        if (start === stop) break
      }
      const end = buf.indexOf(0x0a, start)
      const part = buf.subarray(start, end)
      const parsedLine = await lineOf(rest.length > 0 ? Buffer.concat([...rest, part]) : part)
      rest = []
      restBytes = 0
      if (parsedLine) yield parsedLine
      start = end + 1
    }
    if (start < buf.length) {
      // A copy, since the sender may reuse the buffer.
      rest.push(Buffer.from(buf.subarray(start)))
      restBytes += buf.length - start
    }
    if (restBytes > limits.record_bytes) {
      throw badData(
        source,
        { line: line + 1 },
        `the line is longer than ${formatBytes(limits.record_bytes)} (limit record_bytes)`,
      )
    }
  }
  const last = await lineOf(Buffer.concat(rest))
  if (last) yield last
}
