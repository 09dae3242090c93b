// Checksum of self-contained pages of charts: SHA-256 of the page, in which its own digits are zeros.
import { createHash } from 'node:crypto'

/** Number of hexadecimal digits. */
export const CHECKSUM_LENGTH = 64
const START = Buffer.from('<meta name="gridline-sha256" content="')
/** The checksum is at the beginning: texts of the chart come later. */
const MAX_OFFSET = 64 * 1024

/** Returns the offset of the checksum in a page; −1 without one. */
function findChecksum(page: Buffer): number {
  const at = page.subarray(0, MAX_OFFSET).indexOf(START)
  return at < 0 ? -1 : at + START.length
}

function computeChecksum(page: Buffer, at: number): string {
  return createHash('sha256')
    .update(page.subarray(0, at))
    .update('0'.repeat(CHECKSUM_LENGTH))
    .update(page.subarray(at + CHECKSUM_LENGTH))
    .digest('hex')
}

/** Writes the checksum of a page into it, in place. */
export function stampPage(page: Buffer): Buffer {
  const at = findChecksum(page)
  page.write(computeChecksum(page, at), at, 'latin1')
  return page
}

/** Returns whether a page is as it was written; undefined if it has no checksum. */
export function verifyPage(page: Buffer): boolean | undefined {
  const at = findChecksum(page)
  if (at < 0) return undefined
  return page.toString('latin1', at, at + CHECKSUM_LENGTH) === computeChecksum(page, at)
}
