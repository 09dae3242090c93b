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
