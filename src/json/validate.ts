// Validates JSON, strictly and in steps.
import { isUtf8 } from 'node:buffer'
import { Problem } from '../contract/errors.ts'
import { defaultLimits } from '../contract/limits.ts'
import { SIMPLE_ESCAPES } from './decode-string.ts'
import { yieldToEventLoop } from './event-loop.ts'
import { excerpt } from './excerpt.ts'
import { decodeMemberName, type JsonLimits, type Member, RawJson, tooManyMembersError } from './raw-json.ts'
import { cacheSpan, NotJson, skipWhitespace } from './scan.ts'

/**
 * Validates one JSON value. Throws `invalid_request` with the position of the error. `what`: subject of the
 * message.
 */
export function parseRaw(buf: Buffer, what: string, limits: JsonLimits): RawJson {
  try {
    const validator = new Validator(skipByteOrderMark(buf), limits)
    validator.advance(Number.POSITIVE_INFINITY)
    return validator.finish()
  } catch (error) {
    throw toProblem(error, buf, what, limits)
  }
}

/** Number of bytes validated per turn of the event loop. */
const MAX_TURN_BYTES = 256 * 1024

/** Like `parseRaw`, but yields to the event loop. For large texts. */
export async function parseRawAsync(
  buf: Buffer,
  what = 'the body',
  limits: JsonLimits = defaultLimits,
): Promise<RawJson> {
  try {
    return (await validate(buf, limits)).finish()
  } catch (error) {
    throw toProblem(error, buf, what, limits)
  }
}

/** Like `parseRawAsync`, and returns the members of the object. Throws beyond the limits. */
export async function parseMembersAsync(
  buf: Buffer,
  limits: JsonLimits,
): Promise<{ json: RawJson; members: [string, RawJson][] }> {
  try {
    const validator = await validate(buf, limits, true)
    return {
      json: validator.finish(),
      members: validator.members.map((at) => [
        decodeMemberName(buf, at),
        new RawJson(buf, at.value, at.end, limits),
      ]),
    }
  } catch (error) {
    throw toProblem(error, buf, 'the body', limits)
  }
}

/** Validates a text, yielding to the event loop. */
async function validate(buf: Buffer, limits: JsonLimits, keepMembers = false): Promise<Validator> {
  const validator = new Validator(skipByteOrderMark(buf), limits, keepMembers)
  for (let upTo = MAX_TURN_BYTES; !validator.advance(upTo); upTo += MAX_TURN_BYTES) await yieldToEventLoop()
  return validator
}

/** Skips a byte order mark and white space. Throws `NotUtf8`. */
function skipByteOrderMark(buf: Buffer): { buf: Buffer; start: number } {
  if (!isUtf8(buf)) throw new NotUtf8()
  return { buf, start: skipWhitespace(buf, buf[0] === 0xef && buf[1] === 0xbb ? 3 : 0) }
}

/** Converts errors of validation to `invalid_request`; returns others unchanged. */
function toProblem(error: unknown, buf: Buffer, what: string, limits: JsonLimits): unknown {
  if (error instanceof NotUtf8) return new Problem('invalid_request', `${what} is not UTF-8`)
  if (error instanceof TooDeep)
    return new Problem(
      'invalid_request',
      `${what} is nested deeper than ${limits.json_depth} levels (limit json_depth)`,
    )
  if (!(error instanceof NotJson)) return error
  const at = Math.min(error.at, buf.length)
  return new Problem(
    'invalid_request',
    at >= buf.length
      ? `${what} is not JSON: it ends too early`
      : `${what} is not JSON: unexpected ${excerpt(buf.subarray(at, at + 20))} at byte ${at}`,
  )
}

class NotUtf8 extends Error {}

class TooDeep extends Error {}

const ARRAY = 1
const OBJECT = 2

/** Validates one JSON value strictly (RFC 8259), resumable for long texts. */
class Validator {
  /** Members of the outermost object, if requested. */
  readonly members: Member[] = []
  private readonly buf: Buffer
  private readonly start: number
  private i: number
  /** ARRAY or OBJECT for each open bracket. */
  private readonly openKinds: number[] = []
  /** Start of each open array or object. */
  private readonly openStarts: number[] = []
  private depth = 0
  /** Expected next token. `string`: inside a string; `after`: after a value. */
  private expected: 'value' | 'string' | 'name' | 'after' = 'value'
  private isDone = false

  constructor(
    { buf, start }: { buf: Buffer; start: number },
    private readonly limits: JsonLimits,
    private readonly keepMembers = false,
  ) {
    this.buf = buf
    this.start = start
    this.i = start
  }

  /** Continues to about `upTo`. Returns whether the value is complete. */
  advance(upTo: number): boolean {
    const { buf, openKinds } = this
    const most = this.limits.json_depth
    let { i, depth, expected } = this
    while (!this.isDone && i < upTo) {
      if (expected === 'value') {
        const c = buf[i]
        if (c === 0x5b || c === 0x7b) {
          if (depth >= most) throw new TooDeep()
          this.openStarts[depth] = i
          openKinds[depth++] = c === 0x5b ? ARRAY : OBJECT
          i = skipWhitespace(buf, i + 1)
          if (buf[i] === c + 2) {
            i++
            depth--
            expected = 'after'
          } else if (c === 0x7b) expected = 'name'
        } else if (c === 0x22) {
          i++
          expected = 'string'
        } else {
          i = skipScalar(buf, i)
          expected = 'after'
        }
      } else if (expected === 'string') {
        // A long string may need several calls.
        const end = scanString(buf, i, upTo)
        i = end < 0 ? ~end : end
        if (end >= 0) expected = 'after'
      } else if (expected === 'name') {
        if (buf[i] !== 0x22) throw new NotJson(i)
        const nameEnd = skipString(buf, i)
        const colon = skipWhitespace(buf, nameEnd)
        if (buf[colon] !== 0x3a) throw new NotJson(colon)
        const value = skipWhitespace(buf, colon + 1)
        if (depth === 1 && this.keepMembers) this.addMember(i, nameEnd, value)
        i = value
        expected = 'value'
      } else if (depth === 0) {
        this.isDone = true
      } else {
        if (depth === 1 && this.members.length > 0) this.members[this.members.length - 1].end = i
        i = skipWhitespace(buf, i)
        const c = buf[i]
        const inArray = openKinds[depth - 1] === ARRAY
        if (c === 0x2c) {
          i = skipWhitespace(buf, i + 1)
          expected = inArray ? 'value' : 'name'
        } else if (c === (inArray ? 0x5d : 0x7d)) {
          i++
          const start = this.openStarts[--depth]
          cacheSpan(buf, start, i)
        } else throw new NotJson(i)
      }
    }
    // The value may have ended exactly at `upTo`.
    if (expected === 'after' && depth === 0) this.isDone = true
    Object.assign(this, { i, depth, expected })
    return this.isDone
  }

  /** Returns the value. Throws `NotJson` if other text follows. */
  finish(): RawJson {
    const after = skipWhitespace(this.buf, this.i)
    if (after < this.buf.length) throw new NotJson(after)
    return new RawJson(this.buf, this.start, this.i, this.limits)
  }

  private addMember(start: number, nameEnd: number, value: number): void {
    if (this.members.length >= this.limits.json_members) throw tooManyMembersError(this.limits)
    this.members.push({ start, nameEnd, value, end: value })
  }
}

/** Returns the end of the string, number, true, false or null at `i`. Throws `NotJson`. */
function skipScalar(buf: Uint8Array, i: number): number {
  switch (buf[i]) {
    case 0x22:
      return skipString(buf, i)
    case 0x74:
      return skipWord(buf, i, 'true')
    case 0x66:
      return skipWord(buf, i, 'false')
    case 0x6e:
      return skipWord(buf, i, 'null')
    default:
      return skipNumber(buf, i)
  }
}

function skipWord(buf: Uint8Array, i: number, word: string): number {
  for (let k = 1; k < word.length; k++) if (buf[i + k] !== word.charCodeAt(k)) throw new NotJson(i)
  return i + word.length
}

function skipString(buf: Uint8Array, start: number): number {
  return scanString(buf, start + 1, Number.POSITIVE_INFINITY)
}

/**
 * Returns the index after the closing quote. Returns `~at` if the string is still open at `upTo`; resume at
 * `at`.
 */
function scanString(buf: Uint8Array, from: number, upTo: number): number {
  let i = from
  while (i < upTo) {
    const c = buf[i]
    if (c === 0x22) return i + 1
    if (c === 0x5c) {
      const next = buf[i + 1]
      if (next === 0x75) {
        for (let k = 2; k < 6; k++) if (!isHex(buf[i + k])) throw new NotJson(i)
        i += 6
      } else if (SIMPLE_ESCAPES[next] > 0) i += 2
      else throw new NotJson(i)
    } else if (c >= 0x20) i++
    else throw new NotJson(i)
  }
  return ~i
}

function isHex(c: number): boolean {
  return (c >= 0x30 && c <= 0x39) || (c >= 0x41 && c <= 0x46) || (c >= 0x61 && c <= 0x66)
}

function skipNumber(buf: Uint8Array, start: number): number {
  let i = start
  if (buf[i] === 0x2d) i++
  if (buf[i] === 0x30) i++
  else i = skipDigits(buf, i)
  if (buf[i] === 0x2e) i = skipDigits(buf, i + 1)
  if (buf[i] === 0x65 || buf[i] === 0x45) {
    i++
    if (buf[i] === 0x2b || buf[i] === 0x2d) i++
    i = skipDigits(buf, i)
  }
  return i
}

function skipDigits(buf: Uint8Array, start: number): number {
  let i = start
  while (buf[i] >= 0x30 && buf[i] <= 0x39) i++
  if (i === start) throw new NotJson(i)
  return i
}
