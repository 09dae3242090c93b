// Validates JSON and reads its values as bytes.
import { isUtf8 } from 'node:buffer'
import { Problem } from '../contract/errors.ts'
import { defaultLimits, type Limits } from '../contract/limits.ts'
import { shouldYield, yieldToEventLoop } from './event-loop.ts'
import { excerpt } from './excerpt.ts'

/** Limits of JSON documents: depth of nesting, and members per object. */
export type JsonLimits = Pick<Limits, 'json_depth' | 'json_members'>

/** No limits, for stored JSON: it stays readable even if the limits are lowered. */
export const NO_JSON_LIMITS: JsonLimits = {
  json_depth: Number.POSITIVE_INFINITY,
  json_members: Number.POSITIVE_INFINITY,
}

/**
 * A JSON value as its original bytes. Columns are stored as written, so that numbers never pass through a
 * double. Only values that the service itself needs are parsed.
 */
export class RawJson {
  private cachedMembers: Member[] | undefined

  /** buf[start, end): one valid JSON value without surrounding white space. */
  constructor(
    readonly buf: Buffer,
    readonly start: number,
    readonly end: number,
    readonly limits: JsonLimits = defaultLimits,
  ) {}

  get kind(): 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null' {
    return jsonKindOf(this.buf[this.start])
  }

  get bytes(): Buffer {
    return this.buf.subarray(this.start, this.end)
  }

  /** Parses the value. */
  toValue(): unknown {
    return JSON.parse(this.bytes.toString('utf8'))
  }

  /** Yields the members of an object in order, including duplicate names; nothing for other kinds. */
  *members(): Generator<[string, RawJson]> {
    if (this.kind !== 'object') return
    const { buf, limits } = this
    for (const at of this.listSpans())
      yield [decodeMemberName(buf, at), new RawJson(buf, at.value, at.end, limits)]
  }

  /** Returns the members of an object in order. The last of duplicate names wins. */
  entries(): Map<string, RawJson> {
    return new Map(this.members())
  }

  /** Returns one member of an object; undefined if it is missing or this is not an object. */
  get(name: string): RawJson | undefined {
    if (this.kind !== 'object') return undefined
    const { buf } = this
    const plain = Buffer.from(name)
    let member: RawJson | undefined
    for (const at of this.listSpans()) {
      const length = at.nameEnd - at.start - 2
      // A name with escapes is longer than the name itself.
      const isMatch =
        length === plain.length
          ? plain.compare(buf, at.start + 1, at.nameEnd - 1) === 0
          : length > plain.length &&
            hasEscapes(buf, at.start, at.nameEnd) &&
            decodeMemberName(buf, at) === name
      if (isMatch) member = new RawJson(buf, at.value, at.end, this.limits)
    }
    return member
  }

  /** Indexes the members of a large object in advance, yielding to the event loop. */
  async indexMembers(): Promise<this> {
    if (this.kind !== 'object' || this.end - this.start < MIN_CACHED_OBJECT_BYTES || this.cachedMembers)
      return this
    const indexed: Member[] = []
    for (const member of this.limitedMembers()) {
      indexed.push(member)
      if (shouldYield()) await yieldToEventLoop()
    }
    this.cachedMembers = indexed
    return this
  }

  /** Returns the offsets of the members. Cached for large objects. */
  private listSpans(): Iterable<Member> {
    if (this.end - this.start < MIN_CACHED_OBJECT_BYTES) return iterateMembers(this.buf, this.start)
    this.cachedMembers ??= [...this.limitedMembers()]
    return this.cachedMembers
  }

  /** Yields the members. Throws beyond the limit `json_members`. */
  private *limitedMembers(): Generator<Member> {
    let count = 0
    for (const member of iterateMembers(this.buf, this.start)) {
      if (++count > this.limits.json_members) throw tooManyMembersError(this.limits)
      yield member
    }
  }

  /** Yields the items of an array; nothing for other kinds. */
  *items(): Generator<RawJson> {
    if (this.kind !== 'array') return
    const { buf } = this
    let i = skipWhitespace(buf, this.start + 1)
    while (buf[i] !== 0x5d) {
      const end = findValueEnd(buf, i)
      yield new RawJson(buf, i, end, this.limits)
      i = skipWhitespace(buf, end)
      if (buf[i] === 0x2c) i = skipWhitespace(buf, i + 1)
    }
  }
}

/**
 * Offsets of an object member: name from `start` to `nameEnd`, with its quotes; value from `value` to `end`.
 */
export interface Member {
  start: number
  nameEnd: number
  value: number
  end: number
}

function tooManyMembersError({ json_members }: JsonLimits): Problem {
  return new Problem(
    'invalid_request',
    `an object has more than ${json_members} members (limit json_members)`,
  )
}

/** Minimum size of objects that cache the offsets of their members. */
const MIN_CACHED_OBJECT_BYTES = 64 * 1024

/** Yields the members of the object at `start`. */
function* iterateMembers(buf: Buffer, start: number): Generator<Member> {
  for (let at = findFirstMember(buf, start); at; at = findNextMember(buf, at.end)) yield at
}

/** Returns the first member of the object at `from`; undefined if it is empty. */
function findFirstMember(buf: Buffer, from: number): Member | undefined {
  const start = skipWhitespace(buf, from + 1)
  return buf[start] === 0x7d ? undefined : parseMemberAt(buf, start)
}

/** Returns the next member after offset `end`; undefined if there is none. */
function findNextMember(buf: Buffer, end: number): Member | undefined {
  const comma = skipWhitespace(buf, end)
  return buf[comma] === 0x2c ? parseMemberAt(buf, skipWhitespace(buf, comma + 1)) : undefined
}

/** Returns the member whose name starts at `start`. */
function parseMemberAt(buf: Buffer, start: number): Member {
  const nameEnd = findStringEnd(buf, start)
  const value = nextValue(buf, nameEnd)
  return { start, nameEnd, value, end: findValueEnd(buf, value) }
}

/** Returns the decoded name of a member. */
export function decodeMemberName(buf: Buffer, { start, nameEnd }: Member): string {
  if (hasEscapes(buf, start, nameEnd)) return JSON.parse(buf.toString('utf8', start, nameEnd)) as string
  return buf.toString('utf8', start + 1, nameEnd - 1)
}

/** Returns whether the string buf[start, end) contains escapes. */
export function hasEscapes(buf: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (buf[i] === 0x5c) return true
  return false
}

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

/**
 * Decodes a JSON string to UTF-8, yielding to the event loop: a JSON document inside a string may be as large
 * as a request body.
 */
export async function decodeStringAsync({ buf, start, end }: RawJson): Promise<Buffer> {
  const out = Buffer.allocUnsafe(end - start)
  // The search ends with the string, since a large document may follow.
  const inside = buf.subarray(0, end - 1)
  let at = 0
  let turn = start
  for (let i = start + 1; i < end - 1; ) {
    if (i - turn > MAX_TURN_BYTES) {
      turn = i
      await yieldToEventLoop()
    }
    const backslash = inside.indexOf(0x5c, i)
    const upTo = backslash < 0 ? end - 1 : backslash
    at += buf.copy(out, at, i, upTo)
    i = upTo
    if (i === end - 1) break
    const simple = SIMPLE_ESCAPES.get(buf[i + 1])
    if (simple !== undefined) {
      out[at++] = simple
      i += 2
      continue
    }
    const length = escapeLengthAt(buf, i)
    at += out.write(JSON.parse(`"${buf.toString('latin1', i, i + length)}"`) as string, at)
    i += length
  }
  return out.subarray(0, at)
}

/** Single-character escapes: character after the backslash → decoded byte. */
const SIMPLE_ESCAPES = new Map([
  [0x22, 0x22],
  [0x5c, 0x5c],
  [0x2f, 0x2f],
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
])

/** Returns the length of the escape at `i`, or of both escapes of a surrogate pair. */
function escapeLengthAt(buf: Buffer, i: number): number {
  if (buf[i + 1] !== 0x75) return 2
  const isHigh = /^d[89ab]/i.test(buf.toString('latin1', i + 2, i + 4))
  return isHigh && buf[i + 6] === 0x5c && buf[i + 7] === 0x75 ? 12 : 6
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

class NotJson extends Error {
  constructor(readonly at: number) {
    super('not JSON')
  }
}

class TooDeep extends Error {}

/** Returns the kind of the JSON value that begins with this byte. */
export function jsonKindOf(c: number): RawJson['kind'] {
  switch (c) {
    case 0x7b:
      return 'object'
    case 0x5b:
      return 'array'
    case 0x22:
      return 'string'
    case 0x74:
    case 0x66:
      return 'boolean'
    case 0x6e:
      return 'null'
    default:
      return 'number'
  }
}

/** Returns the index of the first byte that is not white space. */
export function skipWhitespace(buf: Uint8Array, from: number): number {
  let i = from
  for (;;) {
    const c = buf[i]
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return i
    i++
  }
}

/** Returns the start of the value after one that ends at `end`, past the comma between them. */
export function nextValue(buf: Uint8Array, end: number): number {
  return skipWhitespace(buf, skipWhitespace(buf, end) + 1)
}

/** Returns the end of the value at `from`. The JSON must be valid: only brackets and quotes are checked. */
export function findValueEnd(buf: Uint8Array, from: number): number {
  if (buf.length > MIN_CACHED_TEXT_BYTES) {
    const cached = cachedSpansOf(buf)?.get(from)
    if (cached !== undefined) return cached
  }
  let i = from
  let open = 0
  for (;;) {
    const c = buf[i]
    if (c === 0x22) {
      i = findStringEnd(buf, i)
      if (open === 0) return i
    } else if (c === 0x5b || c === 0x7b) {
      open++
      i++
    } else if (c === 0x5d || c === 0x7d) {
      i++
      if (--open === 0) return i
    } else if (i >= buf.length) throw new NotJson(i)
    else if (open > 0) {
      i++
      while (IS_PLAIN[buf[i]] === 1) i++
    } else {
      // Numbers, true, false and null end at the next separator.
      while (i < buf.length && IS_WORD[buf[i]]) i++
      return i
    }
  }
}

/** Minimum size of texts that cache the ends of their large values, to avoid repeated scans. */
const MIN_CACHED_TEXT_BYTES = 1024 * 1024
/** Minimum size of a value whose end is cached. */
const MIN_CACHED_SPAN_BYTES = 64 * 1024
const spansCache = new WeakMap<Uint8Array, Map<number, number>>()
let lastCachedText: WeakRef<Uint8Array> | undefined
let lastCachedSpans: Map<number, number> | undefined

/** Returns start → end of large objects and arrays in a validated text; undefined if they are not cached. */
function cachedSpansOf(buf: Uint8Array): Map<number, number> | undefined {
  if (lastCachedText?.deref() !== buf) {
    lastCachedText = new WeakRef(buf)
    lastCachedSpans = spansCache.get(buf)
  }
  return lastCachedSpans
}

/** 1 for bytes other than brackets and quotes. */
const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, c) =>
  '"[]{}'.includes(String.fromCharCode(c)) ? 0 : 1,
)

/** Returns the end of the string whose opening quote is at `start`. The string must be valid. */
export function findStringEnd(buf: Uint8Array, start: number): number {
  const near = Math.min(buf.length, start + 256)
  let i = start + 1
  for (; i < near; i += buf[i] === 0x5c ? 2 : 1) if (buf[i] === 0x22) return i + 1
  // Long strings: the first quote after an even number of backslashes.
  for (let quote = buf.indexOf(0x22, i); quote >= 0; quote = buf.indexOf(0x22, quote + 1)) {
    let slash = quote
    while (slash > i && buf[slash - 1] === 0x5c) slash--
    if ((quote - slash) % 2 === 0) return quote + 1
  }
  throw new NotJson(buf.length)
}

/** 1 for bytes of numbers, true, false and null. */
const IS_WORD = Uint8Array.from({ length: 256 }, (_, c) => (/[\w.+-]/.test(String.fromCharCode(c)) ? 1 : 0))

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
          if (i - start > MIN_CACHED_SPAN_BYTES && buf.length > MIN_CACHED_TEXT_BYTES)
            this.cacheSpan(start, i)
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

  private cacheSpan(start: number, end: number): void {
    let spans = spansCache.get(this.buf)
    if (!spans) {
      spans = new Map()
      spansCache.set(this.buf, spans)
      lastCachedText = undefined
    }
    spans.set(start, end)
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
      } else if (
        next === 0x22 ||
        next === 0x5c ||
        next === 0x2f ||
        next === 0x62 ||
        next === 0x66 ||
        next === 0x6e ||
        next === 0x72 ||
        next === 0x74
      ) {
        i += 2
      } else throw new NotJson(i)
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
