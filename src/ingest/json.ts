import { isUtf8 } from 'node:buffer'
import { Problem } from '../contract/errors.ts'
import { defaultLimits } from '../contract/limits.ts'
import { excerpt } from './warnings.ts'

/**
 * JSON as the bytes it came in. Values of columns are stored as they were written, so a number never
 * becomes a float on the way; only what the service itself looks at is parsed.
 */
export class RawJson {
  /** buf[start, end) is one valid JSON value without white space around it. */
  constructor(
    readonly buf: Buffer,
    readonly start: number,
    readonly end: number,
  ) {}

  get kind(): 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null' {
    return kindOf(this.buf[this.start])
  }

  get bytes(): Buffer {
    return this.buf.subarray(this.start, this.end)
  }

  /** The value as JavaScript has it. */
  value(): unknown {
    return JSON.parse(this.bytes.toString('utf8'))
  }

  /** Members of an object in the order written, one by one; a name given twice comes twice. None of what is no object. */
  *members(): Generator<[string, RawJson]> {
    if (this.kind !== 'object') return
    const { buf } = this
    for (let at = firstMember(buf, this.start); at; at = nextMember(buf, at.end))
      yield [memberName(buf, at), new RawJson(buf, at.value, at.end)]
  }

  /** Members of an object in the order written; of a name given twice the last counts. */
  entries(): Map<string, RawJson> {
    const members = new Map<string, RawJson>()
    for (const [name, value] of this.members()) {
      members.set(name, value)
      if (members.size > defaultLimits.json_members) {
        throw new Problem(
          'invalid_request',
          `an object has more than ${defaultLimits.json_members} members (limit json_members)`,
        )
      }
    }
    return members
  }

  /** One member of an object, found without reading the others; undefined for what is no object. */
  get(name: string): RawJson | undefined {
    if (this.kind !== 'object') return undefined
    const { buf } = this
    const plain = Buffer.from(name)
    let found: RawJson | undefined
    for (let at = firstMember(buf, this.start); at; at = nextMember(buf, at.end)) {
      const length = at.nameEnd - at.start - 2
      // Written with escapes, a name is longer than it is.
      const same =
        length === plain.length
          ? plain.compare(buf, at.start + 1, at.nameEnd - 1) === 0
          : length > plain.length && hasEscapes(buf, at.start, at.nameEnd) && memberName(buf, at) === name
      if (same) found = new RawJson(buf, at.value, at.end)
    }
    return found
  }

  /** Items of an array; none of what is no array. */
  *items(): Generator<RawJson> {
    if (this.kind !== 'array') return
    const { buf } = this
    let i = skipBlanks(buf, this.start + 1)
    while (buf[i] !== 0x5d) {
      const end = endOf(buf, i)
      yield new RawJson(buf, i, end)
      i = skipBlanks(buf, end)
      if (buf[i] === 0x2c) i = skipBlanks(buf, i + 1)
    }
  }
}

/** Where a member of an object stands: from the quote of its name to behind its value. */
export interface Member {
  start: number
  nameEnd: number
  value: number
  end: number
}

/** The first member of the object that begins at `from`; undefined where there is none. */
function firstMember(buf: Buffer, from: number): Member | undefined {
  const start = skipBlanks(buf, from + 1)
  return buf[start] === 0x7d ? undefined : memberAt(buf, start)
}

/** The member behind the one that ends at `end`. */
function nextMember(buf: Buffer, end: number): Member | undefined {
  const comma = skipBlanks(buf, end)
  return buf[comma] === 0x2c ? memberAt(buf, skipBlanks(buf, comma + 1)) : undefined
}

function memberAt(buf: Buffer, start: number): Member {
  const nameEnd = endOfString(buf, start)
  const value = skipBlanks(buf, skipBlanks(buf, nameEnd) + 1)
  return { start, nameEnd, value, end: endOf(buf, value) }
}

/** The name of a member. */
export function memberName(buf: Buffer, { start, nameEnd }: Member): string {
  if (hasEscapes(buf, start, nameEnd)) return JSON.parse(buf.toString('utf8', start, nameEnd)) as string
  return buf.toString('utf8', start + 1, nameEnd - 1)
}

/** Whether the string from `start` to `end` is written with escapes. */
export function hasEscapes(buf: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (buf[i] === 0x5c) return true
  return false
}

/** Reads one JSON value; Problem `invalid_request` with the place where it is none. */
export function parseRaw(buf: Buffer, what = 'the body'): RawJson {
  if (!isUtf8(buf)) throw new Problem('invalid_request', `${what} is not UTF-8`)
  const start = skipBlanks(buf, buf[0] === 0xef && buf[1] === 0xbb ? 3 : 0)
  try {
    const end = skipValue(buf, start)
    const after = skipBlanks(buf, end)
    if (after < buf.length) throw new NotJson(after)
    return new RawJson(buf, start, end)
  } catch (error) {
    if (error instanceof TooDeep) {
      throw new Problem(
        'invalid_request',
        `${what} is nested deeper than ${defaultLimits.json_depth} levels (limit json_depth)`,
      )
    }
    if (!(error instanceof NotJson)) throw error
    const at = Math.min(error.at, buf.length)
    throw new Problem(
      'invalid_request',
      at >= buf.length
        ? `${what} is not JSON: it ends too early`
        : `${what} is not JSON: unexpected ${excerpt(buf.subarray(at, at + 20))} at byte ${at}`,
    )
  }
}

class NotJson extends Error {
  constructor(readonly at: number) {
    super('not JSON')
  }
}

class TooDeep extends Error {}

export function kindOf(c: number): RawJson['kind'] {
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

export function skipBlanks(buf: Uint8Array, from: number): number {
  let i = from
  for (;;) {
    const c = buf[i]
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return i
    i++
  }
}

/** Behind the value that begins at `from`, which is known to be valid: only brackets and quotes are looked at. */
export function endOf(buf: Uint8Array, from: number): number {
  let i = from
  let open = 0
  for (;;) {
    const c = buf[i]
    if (c === 0x22) {
      i = endOfString(buf, i)
      if (open === 0) return i
    } else if (c === 0x5b || c === 0x7b) {
      open++
      i++
    } else if (c === 0x5d || c === 0x7d) {
      i++
      if (--open === 0) return i
    } else if (i >= buf.length) throw new NotJson(i)
    else if (open > 0) i++
    else {
      // A number or a word, up to what parts it from the next.
      while (i < buf.length && WORD[buf[i]]) i++
      return i
    }
  }
}

/** Behind the string whose quote is at `start`, which is known to be valid. */
export function endOfString(buf: Uint8Array, start: number): number {
  for (let i = start + 1; i < buf.length; i += buf[i] === 0x5c ? 2 : 1) if (buf[i] === 0x22) return i + 1
  throw new NotJson(buf.length)
}

/** Bytes that numbers and words are made of. */
const WORD = Uint8Array.from({ length: 256 }, (_, c) => (/[\w.+-]/.test(String.fromCharCode(c)) ? 1 : 0))

/** Behind the value that begins at `i`. RFC 8259, strictly. Throws where there is none. */
function skipValue(buf: Uint8Array, i: number, depth = 0): number {
  switch (buf[i]) {
    case 0x22:
      return skipString(buf, i)
    case 0x5b:
      return skipArray(buf, i, depth)
    case 0x7b:
      return skipObject(buf, i, depth)
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
  let i = start + 1
  for (;;) {
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

function skipArray(buf: Uint8Array, start: number, depth: number): number {
  if (depth >= defaultLimits.json_depth) throw new TooDeep()
  let i = skipBlanks(buf, start + 1)
  if (buf[i] === 0x5d) return i + 1
  for (;;) {
    i = skipBlanks(buf, skipValue(buf, i, depth + 1))
    if (buf[i] === 0x5d) return i + 1
    if (buf[i] !== 0x2c) throw new NotJson(i)
    i = skipBlanks(buf, i + 1)
  }
}

function skipObject(buf: Uint8Array, start: number, depth: number): number {
  if (depth >= defaultLimits.json_depth) throw new TooDeep()
  let i = skipBlanks(buf, start + 1)
  if (buf[i] === 0x7d) return i + 1
  for (;;) {
    if (buf[i] !== 0x22) throw new NotJson(i)
    i = skipBlanks(buf, skipString(buf, i))
    if (buf[i] !== 0x3a) throw new NotJson(i)
    i = skipBlanks(buf, skipValue(buf, skipBlanks(buf, i + 1), depth + 1))
    if (buf[i] === 0x7d) return i + 1
    if (buf[i] !== 0x2c) throw new NotJson(i)
    i = skipBlanks(buf, i + 1)
  }
}
