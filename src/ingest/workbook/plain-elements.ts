// Reads plain elements of XML directly from bytes: those of which large parts of workbooks consist. Everything else
// is left to a parser of XML.

/** Results in place of an offset: the element is not plain. */
export const ODD = -1

/** Properties of a text, as bits. */
const NOT_ASCII = 1
/** It has references to entities. */
const HAS_ENTITY = 2
/** It has characters that CSV may quote, or an underscore, which may begin an escape. */
const IS_SPECIAL = 4

const [TAB, LF, CR, SPACE, QUOTE, AMPERSAND, COMMA] = [0x09, 0x0a, 0x0d, 0x20, 0x22, 0x26, 0x2c]
const [SLASH, LESS, EQUALS, GREATER, BRACKET, UNDERSCORE] = [0x2f, 0x3c, 0x3d, 0x3e, 0x5d, 0x5f]
const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
}

/** Why reading stopped: the bytes end, the next element is not plain, or the output is full. */
export type StopReason = 'end' | 'odd' | 'full'

/** Reads consecutive plain elements of one name. */
export abstract class PlainElements {
  stop: StopReason = 'end'
  /** Number of elements that the last call of `read` has read. */
  readCount = 0
  /** Properties of the last scanned text. */
  protected text = 0
  private readonly startTag: Buffer
  private readonly endTag: Buffer

  /** `parent`: name of the element around them. */
  constructor(
    readonly parent: string,
    element: string,
  ) {
    this.startTag = Buffer.from(`<${element}`)
    this.endTag = Buffer.from(`</${element}>`)
  }

  /** Reads the element that begins at buf[from]. Returns its end, or `ODD`. The bytes have the end of an element. */
  protected abstract readElement(buf: Buffer, from: number): number

  protected get isFull(): boolean {
    return false
  }

  /** Reads elements. Returns the offset after the last one, and sets `stop`. */
  read(buf: Buffer, from: number): number {
    const to = buf.lastIndexOf(this.endTag)
    this.readCount = 0
    for (let at = from; ; ) {
      const start = skipSpace(buf, at)
      this.stop = start > to ? 'end' : this.isFull ? 'full' : 'odd'
      if (this.stop !== 'odd' || !this.isStart(buf, start)) return start
      const end = this.readElement(buf, start)
      if (end === ODD) return start
      this.readCount++
      at = end
    }
  }

  /** Returns the end of the element that begins at buf[from]; −1 if it is further on, and `ODD` if none begins there. */
  findEnd(buf: Buffer, from: number): number {
    const end = this.isStart(buf, from) ? buf.indexOf(this.endTag, from) : -1
    return end < 0 ? end : end + this.endTag.length
  }

  isStart(buf: Buffer, at: number): boolean {
    const after = at + this.startTag.length
    if (buf[after] !== GREATER && buf[after] !== SPACE && buf[after] !== SLASH) return false
    return buf.compare(this.startTag, 0, this.startTag.length, at, after) === 0
  }

  /** Scans a text up to the next tag. Returns its end, or `ODD`, and sets `text`. */
  protected scanText(buf: Buffer, from: number): number {
    let properties = 0
    let i = from
    for (; i < buf.length; i++) {
      const c = buf[i]
      if (c > UNDERSCORE && c < 0x80) continue
      if (c === LESS) break
      if (c < SPACE) {
        if (c !== TAB && c !== LF) return ODD
        properties |= IS_SPECIAL
      } else if (c === QUOTE || c === COMMA || c === UNDERSCORE) properties |= IS_SPECIAL
      else if (c === AMPERSAND) {
        const end = buf.indexOf(0x3b, i)
        if (end < 0 || end > i + 5 || !(buf.toString('latin1', i, end + 1) in ENTITIES)) return ODD
        properties |= HAS_ENTITY
      } else if (c >= 0x80) {
        if (isLineEndOrForbidden(buf, i)) return ODD
        properties |= NOT_ASCII
      } else if (c === BRACKET && buf[i + 1] === BRACKET) return ODD
    }
    if (i > from && (buf[from] === SPACE || buf[i - 1] === SPACE)) properties |= IS_SPECIAL
    this.text = properties
    return i
  }

  /** Returns buf[from, to), a text that was just scanned. */
  protected decodeText(buf: Buffer, from: number, to: number, properties = this.text): string {
    const text = properties & NOT_ASCII ? buf.toString('utf8', from, to) : buf.toString('latin1', from, to)
    return properties & HAS_ENTITY ? text.replace(/&\w+;/g, (entity) => ENTITIES[entity]) : text
  }
}

/** Returns whether the character at buf[i] ends a line in XML 1.1 (U+0085, U+2028), or must not occur (U+FFFE, U+FFFF). */
function isLineEndOrForbidden(buf: Buffer, i: number): boolean {
  const [first, second, third] = [buf[i], buf[i + 1], buf[i + 2]]
  if (first === 0xc2) return second === 0x85
  if (first === 0xe2) return second === 0x80 && third === 0xa8
  return first === 0xef && second === 0xbf && third >= 0xbe
}

export function skipSpace(buf: Buffer, from: number): number {
  let i = from
  while (buf[i] === SPACE || buf[i] === LF || buf[i] === CR || buf[i] === TAB) i++
  return i
}

/** Returns the end of an attribute's value, which begins at buf[from]; `ODD` if it is not plain. */
export function findValueQuote(buf: Buffer, from: number): number {
  let i = from
  while (buf[i] !== QUOTE) {
    if (!(buf[i] >= SPACE) || buf[i] === LESS || buf[i] === AMPERSAND) return ODD
    i++
  }
  return i
}

/** Returns the end of an attribute's name and `="`; `ODD` if it is not plain. */
export function findValueStart(buf: Buffer, from: number): number {
  let i = from
  while (buf[i] > SPACE && buf[i] !== EQUALS && buf[i] !== GREATER) i++
  return i > from && buf[i] === EQUALS && buf[i + 1] === QUOTE ? i + 2 : ODD
}

/** Returns the number in buf[from, to): up to nine digits; `ODD` for all else. */
export function readDigits(buf: Buffer, from: number, to: number): number {
  if (to === from || to > from + 9) return ODD
  let number = 0
  for (let i = from; i < to; i++) {
    const digit = buf[i] - 0x30
    if (digit < 0 || digit > 9) return ODD
    number = number * 10 + digit
  }
  return number
}

/** Returns whether bytes are at buf[at]. */
export function startsWith(buf: Buffer, at: number, bytes: Buffer): boolean {
  for (let k = 0; k < bytes.length; k++) if (buf[at + k] !== bytes[k]) return false
  return true
}

/** Returns the end of a tag that begins at buf[at], or `ODD`. */
export function skipPast(buf: Buffer, at: number, tag: Buffer): number {
  return at >= 0 && startsWith(buf, at, tag) ? at + tag.length : ODD
}
