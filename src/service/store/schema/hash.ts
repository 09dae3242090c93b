// SHA-256 of stored bytes, in hex.
import { createHash } from 'node:crypto'

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}
