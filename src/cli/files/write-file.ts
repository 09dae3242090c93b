// Writes the files and folders that people name.
import { existsSync, mkdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCodeOf, errorMessageOf, Problem } from '../../contract/errors.ts'

/** Reasons why files cannot be written, by error code of the system. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such directory',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of the path is a file',
  EACCES: 'permission denied',
  ENOSPC: 'the disk is full',
}

/** Writes a file. Throws `failed` with the reason. */
export async function writeNamedFile(file: string, content: string | Uint8Array): Promise<void> {
  await writeFile(file, content).catch((error) => {
    throw toWriteProblem(file, error)
  })
}

/** Converts an error of writing a file to a Problem. */
export function toWriteProblem(file: string, error: unknown): Problem {
  return new Problem(
    'failed',
    `cannot write ${file}: ${REASONS[errorCodeOf(error)] ?? errorMessageOf(error)}`,
  )
}

/**
 * Creates a folder and its ancestors. Throws `failed`. The recursive `mkdir` of Node.js may never end if the system
 * refuses.
 */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder)
  } catch (error) {
    // Another process created it first.
    if (errorCodeOf(error) !== 'EEXIST') throw toWriteProblem(folder, error)
  }
}
