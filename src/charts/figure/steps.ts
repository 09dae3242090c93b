/** The largest of 1, 2 and 5 times a power of ten that is at most a size. */
export function stepBelow(size: number): number {
  const power = 10 ** Math.floor(Math.log10(size || 1))
  return ([5, 2, 1].find((digit) => digit * power <= size) ?? 1) * power
}

/** The least of 1, 2 and 5 times a power of ten that is at least a size. */
export function stepAbove(size: number): number {
  const power = 10 ** Math.floor(Math.log10(size || 1))
  return ([1, 2, 5].find((digit) => digit * power >= size * 0.999999) ?? 10) * power
}
