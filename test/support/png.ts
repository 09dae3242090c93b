// Compares images.
import { pixelsOf } from '../../src/cli/output/png.ts'

/** Returns the share of pixels that differ visibly, from 0 to 1; 1 for images of different sizes. */
export function difference(one: Uint8Array, other: Uint8Array): number {
  if (Buffer.compare(one, other) === 0) return 0
  const [a, b] = [pixelsOf(one), pixelsOf(other)]
  if (a.width !== b.width || a.height !== b.height) return 1
  let different = 0
  for (let at = 0; at < a.rgba.length; at += 4) {
    let distance = 0
    for (let k = 0; k < 4; k++) distance += Math.abs(a.rgba[at + k] - b.rgba[at + k])
    if (distance > 32) different++
  }
  return different / (a.width * a.height)
}
