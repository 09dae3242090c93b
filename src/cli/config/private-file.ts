// Writes files that only the user can read.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Writes a file atomically, readable only by the user. Creates its folder. Throws errors of the file system.
 */
export function writePrivateFile(file: string, text: string): void {
  const temporaryFile = `${file}.${process.pid}`
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  try {
    writeFileSync(temporaryFile, text, { mode: 0o600 })
    renameSync(temporaryFile, file)
  } catch (error) {
    rmSync(temporaryFile, { force: true })
    throw error
  }
}
