/** Longest pattern, in characters: the cost of a comparison grows with it. */
export const LONGEST_PATTERN_CHARACTERS = 256

/** A part of a pattern between two `%`: its characters, of which undefined is any one character. */
type Part = readonly (string | undefined)[]

/**
 * A test of texts against a pattern of `like`: `%` is any text, `_` is one character, and `\` takes the next character
 * as it is. A text is compared from left to right without going back to an earlier `%`.
 */
export function likeTest(pattern: string, anyCase: boolean): (text: string) => boolean {
  const parts: (string | undefined)[][] = [[]]
  const characters = [...(anyCase ? folded(pattern) : pattern)]
  for (let k = 0; k < characters.length; k++) {
    const c = characters[k]
    const part = parts[parts.length - 1]
    if (c === '%') parts.push([])
    else if (c === '_') part.push(undefined)
    else part.push(c === '\\' && k + 1 < characters.length ? characters[++k] : c)
  }
  const isPlain = parts.every((part) => !part.includes(undefined))
  const test = isPlain ? plainTest(parts.map((part) => part.join(''))) : partTest(parts)
  return anyCase ? (text) => test(folded(text)) : test
}

/** In lower case, character by character: the case of one does not depend on its neighbours. */
function folded(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase()
  return [...text].map((c) => ([...c.toLowerCase()].length === 1 ? c.toLowerCase() : c)).join('')
}

/** Texts between `%`, without `_`. */
function plainTest(parts: readonly string[]): (text: string) => boolean {
  const [first, ...rest] = parts
  const last = rest.pop()
  if (last === undefined) return (text) => text === first
  return (text) => {
    if (!text.startsWith(first)) return false
    let at = first.length
    for (const part of rest) {
      const found = text.indexOf(part, at)
      if (found < 0) return false
      at = found + part.length
    }
    return text.length - last.length >= at && text.endsWith(last)
  }
}

function partTest(parts: readonly Part[]): (text: string) => boolean {
  const [first, ...rest] = parts
  const last = rest.pop()
  return (text) => {
    const characters = [...text]
    if (!isAt(characters, 0, first)) return false
    if (last === undefined) return characters.length === first.length
    let at = first.length
    for (const part of rest) {
      while (at + part.length <= characters.length && !isAt(characters, at, part)) at++
      if (at + part.length > characters.length) return false
      at += part.length
    }
    const end = characters.length - last.length
    return end >= at && isAt(characters, end, last)
  }
}

function isAt(characters: readonly string[], at: number, part: Part): boolean {
  if (at + part.length > characters.length) return false
  return part.every((c, k) => c === undefined || c === characters[at + k])
}
