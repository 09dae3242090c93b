// Round numbers for axis steps.

/** Rounds down to 1, 2 or 5 times a power of ten. */
export function roundDownToStep(size: number): number {
  const power = 10 ** Math.floor(Math.log10(size || 1))
  return ([5, 2, 1].find((digit) => digit * power <= size) ?? 1) * power
}

/** Rounds up to 1, 2 or 5 times a power of ten. */
export function roundUpToStep(size: number): number {
  const power = 10 ** Math.floor(Math.log10(size || 1))
  return ([1, 2, 5].find((digit) => digit * power >= size * 0.999999) ?? 10) * power
}

/** Decimals beyond those of a step at which noise of floating-point numbers is cut, and maximum number of decimals. */
const GUARD_DECIMALS = 6
const MAX_DECIMALS = 20

/** Returns a multiple of a step without the noise of floating-point numbers: 0.3, not 0.30000000000000004. */
export function withoutNoise(value: number, step: number): number {
  const decimals = GUARD_DECIMALS - Math.floor(Math.log10(step))
  return decimals > MAX_DECIMALS
    ? Number(value.toPrecision(12))
    : Number(value.toFixed(Math.max(0, decimals)))
}
