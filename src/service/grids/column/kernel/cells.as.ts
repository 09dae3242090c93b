/**
 * AssemblyScript, compiled to WebAssembly by esbuild.config.js: hashes the values of a column, and finds
 * values by row. The text is column JSON, padded with commas. Equal values have equal hashes: `1.50` and
 * `1.5`. If a value needs more than a look at its bytes, `odd` is set.
 */

import { laterFrom, laterTo, micros, readMoment, UNREADABLE } from '../../../../json/moment.as'
import { AMBIGUOUS_ESCAPE, endOf, endOfText, escapes, skipBlanks } from '../../../../json/scan.as'

/** Memory layout: constants of this file, results, row numbers, text. */
export const MAX_VALUES: i32 = 65_536
export const HASHES: i32 = 1024
export const LIST: i32 = HASHES + MAX_VALUES * 8
export const STARTS: i32 = LIST + MAX_VALUES * 4
export const ENDS: i32 = STARTS + MAX_VALUES * 4
export const TEXT: i32 = ENDS + MAX_VALUES * 4

/** Address at which the last call stopped. */
export let stop: i32 = 0
/** 1 if a value was not canonical: its hash may differ from that of equal values. */
export let odd: i32 = 0
/** Row of the first null; −1 if there is none. */
export let missing: i32 = -1

const BLANK: i32 = 0x20
const QUOTE: i32 = 0x22
const COMMA: i32 = 0x2c
const MINUS: i32 = 0x2d
const POINT: i32 = 0x2e
const ZERO: i32 = 0x30
const NINE: i32 = 0x39
const BRACKET: i32 = 0x5b
const BACKSLASH: i32 = 0x5c
const LETTER_E: i32 = 0x65
const LETTER_N: i32 = 0x6e
const BRACE: i32 = 0x7b

const K1: u64 = 0x9e37_79b9_7f4a_7c15
const K2: u64 = 0xd6e8_feb8_6659_fd93

let seed: u64 = 0

/** Sets the seed of hashes. It is random, so that nobody can construct values with equal hashes. */
export function begin(low: i32, high: i32): void {
  seed = ((<u64>(<u32>high)) << 32) | <u64>(<u32>low)
}

function mixed(hash: u64, word: u64): u64 {
  const h = (hash ^ word) * K1
  return h ^ (h >> 32)
}

function hashOf(from: i32, to: i32): u64 {
  let h = seed ^ (<u64>(to - from) * K2)
  let i = from
  while (i + 8 <= to) {
    h = mixed(h, load<u64>(i))
    i += 8
  }
  if (i < to) h = mixed(h, load<u64>(i) & (((<u64>1) << ((<u64>(to - i)) << 3)) - 1))
  h = (h ^ (h >> 29)) * K2
  return h ^ (h >> 32)
}

/** Returns the end of a number without trailing zeros of its fraction. Sets `odd` for exponents. */
function endOfNumber(from: i32, to: i32): i32 {
  let point = 0
  for (let i = from; i < to; i++) {
    const c = <i32>load<u8>(i)
    if (c == POINT) point = i
    else if ((c | 0x20) == LETTER_E) {
      odd = 1
      return to
    }
  }
  if (point == 0) return to
  let end = to
  while (<i32>load<u8>(end - 1) == ZERO) end--
  return end - 1 == point ? point : end
}

/** Hashes up to `most` values in [at, to). Writes the hashes to HASHES; returns their number. */
export function hashes(at: i32, to: i32, most: i32, areMoments: bool): i32 {
  let i = at
  let n = 0
  odd = 0
  missing = -1
  while (n < most) {
    i = skipBlanks(i)
    if (i >= to) break
    let from = i
    const first = <i32>load<u8>(i)
    const end = endOf(i)
    if (escapes & AMBIGUOUS_ESCAPE) odd = 1
    let last = end
    let later: u64 = 0
    if (areMoments && first == QUOTE) {
      // Other texts are hashed as they are, if they are canonical.
      if (readMoment(i + 1, end - 1) & UNREADABLE) odd = 1
      else {
        store<i64>(LIST, micros)
        from = LIST
        last = LIST + 8
        if (laterTo > laterFrom) later = hashOf(laterFrom, laterTo)
      }
    } else if (first == LETTER_N) {
      if (missing < 0) missing = n
    } else if (first == MINUS || (first >= ZERO && first <= NINE)) {
      last = endOfNumber(i, end)
      // −0 is 0.
      if (first == MINUS && last - i == 2 && <i32>load<u8>(i + 1) == ZERO) from = i + 1
    }
    store<u64>(HASHES + (n << 3), hashOf(from, last) ^ later)
    n++
    i = skipBlanks(end) + 1
  }
  stop = i
  return n
}

/**
 * Finds the values of `count` ascending rows from LIST; writes STARTS and ENDS. The value at `at` has row
 * `row`.
 */
export function find(at: i32, row: i32, count: i32): void {
  let i = at
  let n = row
  for (let k = 0; k < count; k++) {
    const wanted = load<i32>(LIST + (k << 2))
    while (true) {
      i = skipBlanks(i)
      const end = endOf(i)
      if (n == wanted) {
        store<i32>(STARTS + (k << 2), i)
        store<i32>(ENDS + (k << 2), end)
        break
      }
      i = skipBlanks(end) + 1
      n++
    }
  }
  stop = i
}

/**
 * Finds up to `most` values that an automaton rejects; writes their rows to LIST and returns their number.
 * STARTS: next state at state * 128 + byte; ENDS: 1 for each accepting state. State 1 is the first; state 0
 * rejects. Nulls and empty texts are accepted; escapes, non-ASCII characters, lists and objects are rejected.
 */
export function match(at: i32, to: i32, row: i32, most: i32): i32 {
  let i = at
  let n = 0
  let passed = row
  while (n < most) {
    i = skipBlanks(i)
    if (i >= to) break
    const first = <i32>load<u8>(i)
    let end = i
    let isAccepted = false
    if (first == QUOTE) {
      let state = 1
      let k = i + 1
      let c = <i32>load<u8>(k)
      while (c != QUOTE && c < 128 && c != BACKSLASH) {
        state = <i32>load<u8>(STARTS + (state << 7) + c)
        c = <i32>load<u8>(++k)
      }
      if (c == QUOTE) {
        end = k + 1
        isAccepted = k == i + 1 || load<u8>(ENDS + state) != 0
      } else end = endOfText(k - 1)
    } else if (first == LETTER_N) {
      end = i + 4
      isAccepted = true
    } else if (first == BRACKET || first == BRACE) end = endOf(i)
    else {
      let state = 1
      let c = first
      while (c > BLANK && c != COMMA) {
        state = <i32>load<u8>(STARTS + (state << 7) + c)
        c = <i32>load<u8>(++end)
      }
      isAccepted = load<u8>(ENDS + state) != 0
    }
    if (!isAccepted) {
      store<i32>(LIST + (n << 2), passed)
      n++
    }
    passed++
    i = skipBlanks(end) + 1
  }
  stop = i
  return n
}

/** Maximum number of digits of integers that are compared. */
const MAX_DIGITS: i32 = 15

/** Returns 1 if all values are integers of up to MAX_DIGITS digits in strictly ascending order; else 0. */
export function ascends(at: i32, to: i32): i32 {
  let i = at
  let last = i64.MIN_VALUE
  while (true) {
    i = skipBlanks(i)
    if (i >= to) return 1
    const isNegative = <i32>load<u8>(i) == MINUS
    if (isNegative) i++
    const first = i
    let value: i64 = 0
    let c = <i32>load<u8>(i)
    while (c >= ZERO && c <= NINE) {
      value = value * 10 + (c - ZERO)
      c = <i32>load<u8>(++i)
    }
    if (i == first || i - first > MAX_DIGITS || (c > BLANK && c != COMMA)) return 0
    if (isNegative) value = -value
    if (value <= last) return 0
    last = value
    i = skipBlanks(i) + 1
  }
}
