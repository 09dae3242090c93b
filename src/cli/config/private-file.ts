import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Writes a file that only the user can read, all at once: another process sees the old text or the new one. Makes its
 * folder. Throws errors of the file system.
 */
export function writePrivately(file: string, text: string): void {
  const part = `${file}.${process.pid}`
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  try {
    writeFileSync(part, text, { mode: 0o600 })
    renameSync(part, file)
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
}
