// Reads large JSON arrays object by object.
import { Problem } from '../../contract/errors.ts'
import { formatBytes, type Limits } from '../../contract/limits.ts'
import {
  asBuffer,
  type Bytes,
  parseRaw,
  type RawJson,
  skipWhitespace,
  yieldToEventLoop,
} from '../../json/index.ts'
import { BACKSLASH, CLOSING_BRACKET, COMMA, QUOTE } from '../values/characters.ts'
import { badFile } from '../values/warnings.ts'
import type { PlainRecords } from './plain-records.ts'

const OPENING_BRACKET = 0x5b
const OPEN = 0x7b
const CLOSE = 0x7d

const isWhitespace = (c: number): boolean => c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09

/**
 * Yields the objects of a JSON array, in constant memory. Throws `bad_data` with the item. After each, `plain` takes those
 * that follow and are like it.
 */
export async function* readJsonArray(
  text: Bytes,
  source: string,
  limits: Limits,
  plain?: Pick<PlainRecords, 'take' | 'hasGivenUp'>,
): AsyncGenerator<RawJson> {
  const reader = new ArrayReader(source, limits)
  for await (const chunk of text) {
    reader.addChunk(asBuffer(chunk))
    for (let record = reader.next(); record; record = reader.next()) {
      yield record
      if (plain && !plain.hasGivenUp) await reader.takeLike(record, plain)
    }
    reader.keepRest()
    await yieldToEventLoop()
  }
  reader.end()
}

/** Reads the objects of an array, chunk by chunk. */
class ArrayReader {
  private buf: Buffer = Buffer.alloc(0)
  /** Offset up to which `buf` has been read. */
  private at = 0
  private state: 'before' | 'value' | 'between' | 'after' = 'before'
  /** Number of objects so far. */
  private items = 0
  /** Start of the object that is being read, if any; its open braces; and whether `at` is in a string. */
  private start = -1
  private depth = 0
  private inString = false

  constructor(
    private readonly source: string,
    private readonly limits: Limits,
  ) {}

  addChunk(chunk: Buffer): void {
    this.buf = this.buf.length > 0 ? Buffer.concat([this.buf, chunk]) : chunk
  }

  /** Keeps what is read of an object, in a copy, since the sender of a chunk may reuse it. Throws `bad_data`. */
  keepRest(): void {
    const from = this.start < 0 ? this.buf.length : this.start
    this.buf = Buffer.from(this.buf.subarray(from))
    this.at -= from
    if (this.start > 0) this.start = 0
    const { record_bytes } = this.limits
    if (this.buf.length > record_bytes)
      throw this.createError(`it is larger than ${formatBytes(record_bytes)} (limit record_bytes)`)
  }

  /** Returns the next object; undefined if it is not complete yet. Throws `bad_data`. */
  next(): RawJson | undefined {
    for (; this.at < this.buf.length; this.at++) {
      const c = this.buf[this.at]
      if (this.start < 0) this.readBetween(c)
      if (this.start < 0) continue
      const end = this.findObjectEnd()
      if (end < 0) return undefined
      const record = this.parse(this.buf.subarray(this.start, end))
      this.items++
      this.start = -1
      this.at = end
      this.state = 'between'
      return record
    }
    return undefined
  }

  /** Reads a character between objects, or the first one of an object. */
  private readBetween(c: number): void {
    const { state } = this
    if (isWhitespace(c)) return
    if (state === 'before' && c === OPENING_BRACKET) this.state = 'value'
    else if (state === 'value' && c === OPEN) this.start = this.at
    else if (state === 'between' && c === COMMA) this.state = 'value'
    else if ((state === 'between' || (state === 'value' && this.items === 0)) && c === CLOSING_BRACKET)
      this.state = 'after'
    else throw this.createError(state === 'after' ? 'text after the end of the array' : 'not an object')
  }

  /** Reads on in an object. Returns its end; −1 if it is not in the buffer yet. */
  private findObjectEnd(): number {
    const { buf } = this
    let { at, depth, inString } = this
    let end = -1
    for (; at < buf.length && end < 0; at++) {
      const c = buf[at]
      if (inString) {
        if (c === BACKSLASH) {
          // The escaped character may be in the next chunk.
          if (at + 1 >= buf.length) break
          at++
        } else if (c === QUOTE) inString = false
      } else if (c === QUOTE) inString = true
      else if (c === OPEN) depth++
      else if (c === CLOSE && --depth === 0) end = at + 1
    }
    Object.assign(this, { at, depth, inString })
    return end
  }

  private parse(bytes: Buffer): RawJson {
    try {
      return parseRaw(bytes, 'the object', this.limits)
    } catch (error) {
      throw error instanceof Problem ? this.createError(error.message) : error
    }
  }

  /** Lets `plain` take the objects that follow and are like the last one, if such a one may be complete. */
  async takeLike(last: RawJson, plain: Pick<PlainRecords, 'take'>): Promise<void> {
    const { buf, at } = this
    const comma = skipWhitespace(buf, at)
    const next = buf[comma] === COMMA ? skipWhitespace(buf, comma + 1) : buf.length
    if (buf[next] !== OPEN || buf.length - next < last.end) return
    const { rows, bytes } = await plain.take(last, buf.subarray(at, next), buf.subarray(next))
    this.items += rows
    this.at = next + bytes
    this.state = 'value'
  }

  /** Throws `bad_data` if the array is not complete. */
  end(): void {
    if (this.state !== 'after') throw this.createError('the text ends before the array does')
  }

  private createError(what: string): Problem {
    const hint = 'Give an array of objects: [{"a": 1}, {"a": 2}].'
    return badFile(this.source, `item ${this.items + 1} of the array: ${what}`, hint)
  }
}
