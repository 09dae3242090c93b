/** AssemblyScript: finds the ends of JSON values, 16 bytes at a time. The text ends with padding: commas. */

const BLANK: i32 = 0x20
const QUOTE: i32 = 0x22
const COMMA: i32 = 0x2c
const SLASH: i32 = 0x2f
const BRACKET: i32 = 0x5b
const BACKSLASH: i32 = 0x5c
const LETTER_U: i32 = 0x75
const BRACE: i32 = 0x7b

/** Escapes that the last call of `endOf` passed: of one spelling, or of several, as `\\/` and `\\u002f`. */
export let escapes: i32 = 0
const ANY_ESCAPE: i32 = 1
export const AMBIGUOUS_ESCAPE: i32 = 2

/** Returns the end of the value at `at`, and sets `escapes`. */
export function endOf(at: i32): i32 {
  const first = <i32>load<u8>(at)
  escapes = 0
  if (first == QUOTE) return endOfText(at)
  if (first == BRACKET || first == BRACE) {
    let depth = 0
    let i = at
    while (true) {
      const c = <i32>load<u8>(i)
      if (c == QUOTE) {
        i = endOfText(i)
        continue
      }
      i++
      // Brackets and braces differ in bit 5 alone.
      const kind = c & 0xdf
      if (kind == BRACKET) depth++
      else if (kind == 0x5d && --depth == 0) return i
    }
  }
  let i = at
  while (true) {
    const v = v128.load(i)
    const found = i8x16.bitmask(
      v128.or(i8x16.eq(v, i8x16.splat(<i8>COMMA)), i8x16.le_u(v, i8x16.splat(<i8>BLANK))),
    )
    if (found) return i + <i32>ctz(found)
    i += 16
  }
}

/** Returns the end of the text at `at`, and adds to `escapes`. */
export function endOfText(at: i32): i32 {
  let i = at + 1
  while (true) {
    const v = v128.load(i)
    const found = i8x16.bitmask(
      v128.or(i8x16.eq(v, i8x16.splat(<i8>QUOTE)), i8x16.eq(v, i8x16.splat(<i8>BACKSLASH))),
    )
    if (!found) {
      i += 16
      continue
    }
    i += <i32>ctz(found)
    if (<i32>load<u8>(i) == QUOTE) return i + 1
    const escaped = <i32>load<u8>(i + 1)
    escapes |= escaped == LETTER_U || escaped == SLASH ? ANY_ESCAPE | AMBIGUOUS_ESCAPE : ANY_ESCAPE
    i += 2
  }
}

/** Returns the index after the comma that follows `count` values. */
export function skipValues(at: i32, count: i32): i32 {
  let i = at
  for (let n = count; n > 0; n--) i = skipBlanks(endOf(skipBlanks(i))) + 1
  return i
}

/** Returns the index of the first byte that is no blank. */
export function skipBlanks(at: i32): i32 {
  let i = at
  while (<i32>load<u8>(i) <= BLANK) i++
  return i
}
