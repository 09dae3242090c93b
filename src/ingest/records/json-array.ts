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

const OPEN = 0x7b
const CLOSE = 0x7d

const isWhitespace = (c: number): boolean => c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09

/** Returns where the object after a comma starts; −1 if it is not in the buffer yet. */
function nextItemOf(buf: Buffer, from: number): number {
  const comma = skipWhitespace(buf, from)
  const next = buf[comma] === COMMA ? skipWhitespace(buf, comma + 1) : -1
  return buf[next] === OPEN ? next : -1
}

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
  let buf: Buffer = Buffer.alloc(0)
  let item = 0
  let state: 'before' | 'value' | 'between' | 'after' = 'before'
  /** Start of the current object, and the offset up to which it has been scanned. */
  let start = -1
  let at = 0
  let depth = 0
  let inString = false
  const wrong = (what: string): Problem =>
    badFile(
      source,
      `item ${item + 1} of the array: ${what}`,
      'Give an array of objects: [{"a": 1}, {"a": 2}].',
    )
  for await (const chunk of text) {
    buf = at < buf.length || start >= 0 ? Buffer.concat([buf, chunk]) : asBuffer(chunk)
    if (start < 0) at = 0
    for (; at < buf.length; at++) {
      const c = buf[at]
      if (start >= 0) {
        if (inString) {
          if (c === BACKSLASH) {
            // The escaped character may be in the next chunk.
            if (at + 1 >= buf.length) break
            at++
          } else if (c === QUOTE) inString = false
        } else if (c === QUOTE) inString = true
        else if (c === OPEN) depth++
        else if (c === CLOSE && --depth === 0) {
          const record = parsed(buf.subarray(start, at + 1))
          yield record
          item++
          start = -1
          state = 'between'
          const next = !plain || plain.hasGivenUp ? -1 : nextItemOf(buf, at + 1)
          // Only if another object like it may be complete.
          if (plain && next >= 0 && buf.length - next >= record.end) {
            const separator = buf.subarray(at + 1, next)
            const { rows, bytes } = await plain.take(record, separator, buf.subarray(next))
            item += rows
            at = next + bytes - 1
            state = 'value'
          }
        }
        continue
      }
      if (isWhitespace(c)) continue
      if (state === 'before' && c === 0x5b) state = 'value'
      else if (state === 'value' && c === OPEN) {
        start = at
        depth = 1
      } else if (state === 'between' && c === COMMA) state = 'value'
      else if ((state === 'between' || (state === 'value' && item === 0)) && c === CLOSING_BRACKET)
        state = 'after'
      else throw wrong(state === 'after' ? 'text after the end of the array' : 'not an object')
    }
    if (start >= 0) {
      buf = Buffer.from(buf.subarray(start))
      at -= start
      start = 0
    } else {
      buf = buf.subarray(buf.length)
      at = 0
    }
    if (buf.length > limits.record_bytes)
      throw wrong(`it is larger than ${formatBytes(limits.record_bytes)} (limit record_bytes)`)
    await yieldToEventLoop()
  }
  if (state !== 'after') throw wrong('the text ends before the array does')

  function parsed(bytes: Buffer): RawJson {
    try {
      return parseRaw(bytes, 'the object', limits)
    } catch (error) {
      throw error instanceof Problem ? wrong(error.message) : error
    }
  }
}
