// Reads JSON values as bytes.
import { Problem } from '../contract/errors.ts'
import { defaultLimits, type Limits } from '../contract/limits.ts'
import { parseJsonString } from './decode-string.ts'
import { shouldYield, yieldToEventLoop } from './event-loop.ts'
import {
  findStringEnd,
  findValueEnd,
  hasEscapes,
  type JsonKind,
  jsonKindOf,
  nextItem,
  nextValue,
  skipWhitespace,
} from './scan.ts'

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

  get kind(): JsonKind {
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
    const isPlain = PLAIN_NAME.test(name)
    let member: RawJson | undefined
    for (const at of this.listSpans()) {
      const isMatch = isPlain ? hasPlainName(buf, at, name) : decodeMemberName(buf, at) === name
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
      i = nextItem(buf, end)
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

/** Creates the error for an object with too many members. */
export function tooManyMembersError({ json_members }: JsonLimits): Problem {
  return new Problem(
    'invalid_request',
    `an object has more than ${json_members} members (limit json_members)`,
  )
}

/** Minimum size of objects that cache the offsets of their members. */
const MIN_CACHED_OBJECT_BYTES = 64 * 1024

/** Yields the members of the object at `start`. */
function* iterateMembers(buf: Buffer, start: number): Generator<Member> {
  let at = skipWhitespace(buf, start + 1)
  while (buf[at] !== 0x7d) {
    const member = parseMemberAt(buf, at)
    yield member
    at = skipWhitespace(buf, member.end)
    if (buf[at] === 0x2c) at = skipWhitespace(buf, at + 1)
    else return
  }
}

/** Returns the member whose name starts at `start`. */
function parseMemberAt(buf: Buffer, start: number): Member {
  const nameEnd = findStringEnd(buf, start)
  const value = nextValue(buf, nameEnd)
  return { start, nameEnd, value, end: findValueEnd(buf, value) }
}

/** A name that has as many bytes as characters, and needs no escapes. */
const PLAIN_NAME = /^[ !#-[\]-~]*$/

/** Returns whether a member has a name that matches `PLAIN_NAME`. */
function hasPlainName(buf: Buffer, at: Member, name: string): boolean {
  const length = at.nameEnd - at.start - 2
  // A name with escapes is longer than the name itself.
  if (length !== name.length)
    return length > name.length && hasEscapes(buf, at.start, at.nameEnd) && decodeMemberName(buf, at) === name
  for (let k = 0; k < length; k++) if (buf[at.start + 1 + k] !== name.charCodeAt(k)) return false
  return true
}

/** Returns the decoded name of a member. */
export function decodeMemberName(buf: Buffer, { start, nameEnd }: Member): string {
  if (hasEscapes(buf, start, nameEnd)) return parseJsonString(buf.toString('utf8', start, nameEnd))
  return buf.toString('utf8', start + 1, nameEnd - 1)
}
