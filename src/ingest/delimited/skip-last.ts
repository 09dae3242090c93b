// Removes the last lines of a text, such as totals.
import { defaultLimits } from '../../contract/limits.ts'
import { asBuffer, type Bytes, excerpt, shouldYield, yieldToEventLoop } from '../../json/index.ts'
import type { DelimitedOptions } from '../values/dialect.ts'
import { isTotal } from '../values/total.ts'
import { badFile, lineTooLongError, type Warnings } from '../values/warnings.ts'

/**
 * Removes the last `count` lines. Empty lines among them are removed too, but not counted. Lines end with LF,
 * CR or both.
 */
export async function* skipLastLines(
  text: Bytes,
  count: number,
  { sheetName, source = 'input', limits }: DelimitedOptions,
  warnings: Warnings,
): AsyncGenerator<Uint8Array> {
  const maxRecord = (limits ?? defaultLimits).record_bytes
  const last = new LastLines(count)
  for await (const chunk of text) {
    const out = last.addChunk(asBuffer(chunk))
    if (last.size > 4 * maxRecord) throw lineTooLongError(source, 1, maxRecord)
    if (out.length > 0) yield Buffer.concat(out)
    if (shouldYield()) await yieldToEventLoop()
  }
  const line = last.end()
  if (line) yield line
  const skipped = last.list()
  // Not every sheet of a workbook has a total in its last line.
  if (sheetName !== undefined && !skipped.some((text) => isTotal(firstCellOf(text))))
    warnings.note(
      `skipped by --skip-last ${count}: ${skipped.map((text) => excerpt(Buffer.from(text), 60)).join('; ')}`,
    )
  if (last.isInsideQuotes)
    throw badFile(
      source,
      `the last ${count} lines begin inside a quoted cell`,
      'Choose a number of lines that begins with a whole row (--skip-last).',
    )
}

/** Returns the first non-empty cell of a CSV line. */
function firstCellOf(line: string): string {
  const first = line.split(',').find((cell) => cell !== '') ?? ''
  return first.replaceAll('"', '')
}

/** Holds back the lines of a text that may be among the last `count`. */
class LastLines {
  /** Each non-empty line with the empty lines after it. */
  private readonly lines: Buffer[] = []
  private filled = 0
  private rest: Buffer[] = []
  /** Size of the text that is held back, in bytes. */
  size = 0
  private quotes = 0

  constructor(private readonly count: number) {}

  /** Adds text. Returns the lines that can no longer be among the last. */
  addChunk(buf: Buffer): Buffer[] {
    const out: Buffer[] = []
    let start = 0
    for (let k = 0; k < buf.length; k++) {
      const isLf = buf[k] === 0x0a
      // A CR and LF may be split between chunks; the LF is then an empty line.
      if (!isLf && (buf[k] !== 0x0d || buf[k + 1] === 0x0a)) continue
      this.hold(buf.subarray(start, k + 1))
      const done = this.end()
      if (done) out.push(done)
      start = k + 1
    }
    if (start < buf.length) this.hold(buf.subarray(start))
    return out
  }

  /** Adds a part of a line. */
  private hold(part: Buffer): void {
    this.size += part.length
    this.rest.push(Buffer.from(part))
  }

  /** Ends a line. Returns the line that can no longer be among the last, if any. */
  end(): Buffer | undefined {
    const { lines, rest } = this
    if (rest.length === 0) return undefined
    const line = rest.length > 1 ? Buffer.concat(rest) : rest[0]
    this.rest = []
    if (line.toString('latin1').trim() === '' && lines.length > 0) {
      lines.push(Buffer.concat([lines.pop()!, line]))
      return undefined
    }
    lines.push(line)
    if (++this.filled <= this.count) return undefined
    this.filled--
    const first = lines.shift()!
    this.size -= first.length
    for (const c of first) if (c === 0x22) this.quotes++
    return first
  }

  /** Returns the last lines. */
  list(): string[] {
    return this.lines.map((line) => line.toString('utf8').trim())
  }

  /** Whether the last lines begin inside a quoted cell. */
  get isInsideQuotes(): boolean {
    return this.quotes % 2 === 1
  }
}
