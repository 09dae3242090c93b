// Finds the ends of values, strings and white space in the bytes of JSON.

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'

/** Error of a text that is not JSON, with the offset of the first wrong byte. */
export class NotJson extends Error {
  constructor(readonly at: number) {
    super('not JSON')
  }
}

/** Returns the kind of the JSON value that begins with this byte. */
export function jsonKindOf(c: number): JsonKind {
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

/**
 * Returns the start of what follows the value that ends at `end`: the next item or member, past the comma, or the closing
 * bracket.
 */
export function nextItem(buf: Uint8Array, end: number): number {
  const at = skipWhitespace(buf, end)
  return buf[at] === 0x2c ? skipWhitespace(buf, at + 1) : at
}

/** Returns the end of the value at `from`. The JSON must be valid: only brackets and quotes are checked. */
export function findValueEnd(buf: Uint8Array, from: number): number {
  if (buf.length > MIN_CACHED_TEXT_BYTES && (buf[from] === 0x5b || buf[from] === 0x7b)) {
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

/** Caches the end of a large object or array in a large text, which must be valid. */
export function cacheSpan(buf: Uint8Array, start: number, end: number): void {
  if (end - start <= MIN_CACHED_SPAN_BYTES || buf.length <= MIN_CACHED_TEXT_BYTES) return
  let spans = spansCache.get(buf)
  if (!spans) {
    spans = new Map()
    spansCache.set(buf, spans)
    lastCachedText = undefined
  }
  spans.set(start, end)
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

/** Returns whether the string buf[start, end) contains escapes. */
export function hasEscapes(buf: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (buf[i] === 0x5c) return true
  return false
}
