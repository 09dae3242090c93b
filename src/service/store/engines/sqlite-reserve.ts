/** Reserves disk space next to a database, for the log of transactions that free space. */
import { randomBytes } from 'node:crypto'
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs'

/** Size of the reserved file, in bytes: enough for the log of a cleanup. */
const RESERVE_BYTES = 16 * 1024 * 1024

function reservePathOf(file: string): string {
  return `${file}-reserve`
}

/**
 * Reserves disk space next to a database, unless the disk is full. Deleting data needs some space: without
 * it, a full disk could not be emptied.
 */
export function reserveSpace(file: string): void {
  const reserve = reservePathOf(file)
  try {
    if (existsSync(reserve) && statSync(reserve).size === RESERVE_BYTES) return
    // Random bytes: compressing file systems would not reserve space for zeros.
    writeFileSync(reserve, randomBytes(RESERVE_BYTES), { mode: 0o600 })
  } catch {
    rmSync(reserve, { force: true })
  }
}

/** Releases the reserved disk space. Returns whether there was any. */
export function releaseSpace(file: string): boolean {
  const reserve = reservePathOf(file)
  const existed = existsSync(reserve)
  rmSync(reserve, { force: true })
  return existed
}
