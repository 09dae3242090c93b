/** AssemblyScript: converts decimal numbers of up to 19 digits to the nearest double. */

/** Maximum number of digits of a number, and of those after its point. */
export const MAX_PLACES: i32 = 19
/** Largest integer up to which a double has all integers. It has all powers of ten up to MAX_PLACES. */
const MAX_WHOLE: u64 = 9_007_199_254_740_992

const POWERS: StaticArray<f64> = [
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
]

/** The first 128 bits of 5 to the power of -19 to 0, as two words each, rounded up. */
const FIFTHS: StaticArray<u64> = [
  0xec1e4a7db69561a5, 0x2b31e9e3d06c32e6, 0x9392ee8e921d5d07, 0x3aff322e62439fd0, 0xb877aa3236a4b449,
  0x09befeb9fad487c3, 0xe69594bec44de15b, 0x4c2ebe687989a9b4, 0x901d7cf73ab0acd9, 0x0f9d37014bf60a11,
  0xb424dc35095cd80f, 0x538484c19ef38c95, 0xe12e13424bb40e13, 0x2865a5f206b06fba, 0x8cbccc096f5088cb,
  0xf93f87b7442e45d4, 0xafebff0bcb24aafe, 0xf78f69a51539d749, 0xdbe6fecebdedd5be, 0xb573440e5a884d1c,
  0x89705f4136b4a597, 0x31680a88f8953031, 0xabcc77118461cefc, 0xfdc20d2b36ba7c3e, 0xd6bf94d5e57a42bc,
  0x3d32907604691b4d, 0x8637bd05af6c69b5, 0xa63f9a49c2c1b110, 0xa7c5ac471b478423, 0x0fcf80dc33721d54,
  0xd1b71758e219652b, 0xd3c36113404ea4a9, 0x83126e978d4fdf3b, 0x645a1cac083126ea, 0xa3d70a3d70a3d70a,
  0x3d70a3d70a3d70a4, 0xcccccccccccccccc, 0xcccccccccccccccd, 0x8000000000000000, 0x0000000000000000,
]

/** Bits of a product that decide how it is rounded: if all are set, the lower word of the power matters. */
const ROUNDING_BITS: u64 = 0x1ff
const MANTISSA_BITS: u64 = 52

/** Upper and lower word of the last product. */
let high: u64 = 0
let low: u64 = 0

/** Multiplies two words to `high` and `low`. */
function multiply(a: u64, b: u64): void {
  const aHigh = a >> 32
  const aLow = a & 0xffff_ffff
  const bHigh = b >> 32
  const bLow = b & 0xffff_ffff
  const lows = aLow * bLow
  const mixed = aHigh * bLow + (lows >> 32)
  const middle = aLow * bHigh + (mixed & 0xffff_ffff)
  high = aHigh * bHigh + (mixed >> 32) + (middle >> 32)
  low = (middle << 32) | (lows & 0xffff_ffff)
}

/**
 * Returns the double nearest to `digits` divided by 10 to the power of `places`, which is at most MAX_PLACES. Method:
 * Lemire, Number parsing at a gigabyte per second (2021), for the exponents of which it needs no other case.
 */
export function decimal(digits: u64, places: i32): f64 {
  // Both are exact, so that one division rounds once.
  if (digits <= MAX_WHOLE) return <f64>digits / unchecked(POWERS[places])
  const shift = clz(digits)
  const word = digits << shift
  const at = (MAX_PLACES - places) << 1
  multiply(word, unchecked(FIFTHS[at]))
  let product = high
  let rest = low
  if ((product & ROUNDING_BITS) == ROUNDING_BITS) {
    multiply(word, unchecked(FIFTHS[at + 1]))
    rest += high
    if (high > rest) product++
  }
  const upper = product >> 63
  const dropped = upper + 9
  let mantissa = product >> dropped
  // Half way between two doubles: to the even one.
  if (rest <= 1 && places <= 4 && (mantissa & 3) == 1 && mantissa << dropped == product) mantissa--
  mantissa = (mantissa + (mantissa & 1)) >> 1
  // The power of two of 5^-places · 2^-places, by 217706/65536 = log2(10).
  let exponent = <u64>(((217_706 * -places) >> 16) + 63 + 1023) + upper - shift
  if (mantissa == (<u64>2) << MANTISSA_BITS) {
    mantissa >>= 1
    exponent++
  }
  return reinterpret<f64>((mantissa & ~((<u64>1) << MANTISSA_BITS)) | (exponent << MANTISSA_BITS))
}
