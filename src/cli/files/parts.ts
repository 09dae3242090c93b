// Files that are being written, under other names.
import { rmSync } from 'node:fs'

/** Returns the name of a file until it is complete. */
export function partNameOf(file: string): string {
  return `${file}.${process.pid}.part`
}

/** Returns the name of the file to which a part belongs, which any process has begun; undefined if it is no part. */
export function wholeNameOf(part: string): string | undefined {
  return /^(.*)\.\d+\.part$/.exec(part)?.[1]
}

/** Parts that are being written now. */
const openParts = new Set<string>()

/**
 * Writes a file: `work` writes its part, and renames or removes it. A part that is left by an error, or by a command that
 * is interrupted, is removed.
 */
export async function withPart<T>(file: string, work: (part: string) => Promise<T>): Promise<T> {
  const part = partNameOf(file)
  if (openParts.size === 0) process.once('exit', removeOpenParts)
  openParts.add(part)
  try {
    return await work(part)
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  } finally {
    openParts.delete(part)
    if (openParts.size === 0) process.off('exit', removeOpenParts)
  }
}

function removeOpenParts(): void {
  for (const part of openParts) rmSync(part, { force: true })
}
