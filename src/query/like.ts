// Compiles patterns of `like` and `ilike` to tests that read each text once.

/** Maximum length of a pattern. */
export const MAX_PATTERN_CHARACTERS = 256

/** Matches any one character. */
const ANY_CHARACTER = -1

/** Code points of a pattern between two `%`. */
type Part = readonly number[]

/**
 * Returns a test of texts against a pattern: `%` matches any text, `_` one character, and `\` escapes the
 * next character. Runs in time proportional to the length of the text, without backtracking.
 */
export function createLikeTest(pattern: string, anyCase: boolean): (text: string) => boolean {
  const parts: number[][] = [[]]
  const characters = [...(anyCase ? foldCase(pattern) : pattern)]
  for (let k = 0; k < characters.length; k++) {
    const c = characters[k]
    const part = parts[parts.length - 1]
    if (c === '%') parts.push([])
    else if (c === '_') part.push(ANY_CHARACTER)
    else part.push((c === '\\' && k + 1 < characters.length ? characters[++k] : c).codePointAt(0)!)
  }
  const test = createPartsTest(parts)
  return anyCase ? (text) => test(foldCaseCached(text)) : test
}

/** Returns the number of steps of a test per character of a text. */
export function likeStepsPerCharacter(pattern: string, anyCase: boolean): number {
  const steps = pattern.includes('_') ? 4 + 2 * Math.ceil(pattern.length / WORD_BITS) : 1
  return steps + (anyCase ? 4 : 0)
}

let lastText = ''
let lastFoldedText = ''

/** Caches `foldCase` of the last text, since several patterns of one condition test it in turn. */
function foldCaseCached(text: string): string {
  if (text !== lastText) {
    lastFoldedText = foldCase(text)
    lastText = text
  }
  return lastFoldedText
}

/** Converts a text to lower case, character by character, so that the result does not depend on neighbors. */
function foldCase(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase()
  return text.replace(/[A-Z]+|[^\0-\x7f]/gu, (c) => {
    const lower = c.toLowerCase()
    return c < '\x80' || [...lower].length === 1 ? lower : c
  })
}

/** Creates a test for parts separated by any text. */
function createPartsTest(parts: readonly Part[]): (text: string) => boolean {
  const [first, ...middle] = parts
  const last = middle.pop()
  if (last === undefined) return (text) => matchAt(text, 0, first) === text.length
  const searches = middle.filter((part) => part.length > 0).map(createSearch)
  return (text) => {
    let at = matchAt(text, 0, first)
    for (let k = 0; at >= 0 && k < searches.length; k++) at = searches[k](text, at)
    if (at < 0) return false
    const start = indexOfLast(text, last.length)
    return start >= at && matchAt(text, start, last) === text.length
  }
}

/** Returns the index after a part that begins at `at`; -1 if the text does not match there. */
function matchAt(text: string, at: number, part: Part): number {
  let i = at
  for (const codePoint of part) {
    const c = text.codePointAt(i)
    if (c === undefined || (codePoint !== ANY_CHARACTER && c !== codePoint)) return -1
    i += c > 0xffff ? 2 : 1
  }
  return i
}

/** Returns the index of the last `count` characters; -1 if there are fewer. */
function indexOfLast(text: string, count: number): number {
  let i = text.length
  for (let k = 0; k < count; k++) {
    if (i === 0) return -1
    i -= i > 1 && text.codePointAt(i - 2)! > 0xffff ? 2 : 1
  }
  return i
}

/**
 * Creates a search for the first match of a part from an index on. It returns the index after the part, or
 * -1.
 */
function createSearch(part: Part): (text: string, from: number) => number {
  if (!part.includes(ANY_CHARACTER)) {
    const plain = String.fromCodePoint(...part)
    return (text, from) => {
      const start = text.indexOf(plain, from)
      return start < 0 ? -1 : start + plain.length
    }
  }
  return createBitSearch(part)
}

const WORD_BITS = 32

/**
 * Creates a Shift-And search. Bit k of the state: the last k + 1 characters match the beginning of the part.
 * Each character shifts the state and masks it with the positions at which the part has that character.
 */
function createBitSearch(part: Part): (text: string, from: number) => number {
  const words = Math.ceil(part.length / WORD_BITS)
  const masksOf = (c: number): Uint32Array => {
    const masks = new Uint32Array(words)
    for (const [k, codePoint] of part.entries())
      if (codePoint === ANY_CHARACTER || codePoint === c) masks[k >> 5] |= 1 << (k & 31)
    return masks
  }
  const anyMasks = masksOf(ANY_CHARACTER)
  const masks = new Map<number, Uint32Array>(part.map((c) => [c, masksOf(c)]))
  const ascii = Array.from({ length: 128 }, (_, c) => masks.get(c) ?? anyMasks)
  const lastWord = words - 1
  const lastBit = 1 << ((part.length - 1) & 31)
  const state = new Uint32Array(words)
  return (text, from) => {
    state.fill(0)
    for (let i = from; i < text.length; ) {
      const c = text.codePointAt(i)!
      i += c > 0xffff ? 2 : 1
      const mask = c < 128 ? ascii[c] : (masks.get(c) ?? anyMasks)
      let carry = 1
      for (let k = 0; k < words; k++) {
        const word = state[k]
        state[k] = ((word << 1) | carry) & mask[k]
        carry = word >>> 31
      }
      if ((state[lastWord] & lastBit) !== 0) return i
    }
    return -1
  }
}
