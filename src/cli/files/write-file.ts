// Writes the files and folders that people name.
import { existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCodeOf, errorMessageOf, Problem } from '../../contract/errors.ts'
import { withPart } from './parts.ts'

/** Reasons why files cannot be written, by error code of the system. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such directory',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of the path is a file',
  EACCES: 'permission denied',
  ENOSPC: 'the disk is full',
}

/** Errors of a folder in which no file can be made, though a file in it may be writable. */
const CLOSED_FOLDER = new Set(['EACCES', 'EPERM', 'EROFS'])

/** Writes a file, behind links. If that fails, the file stays as it was. Throws `failed` with the reason. */
export async function writeNamedFile(file: string, content: string | Uint8Array): Promise<void> {
  try {
    const place = replaceableOf(file)
    if (place)
      await withPart(place.path, async (part) => {
        await writeFile(part, content, { mode: place.mode })
        await rename(part, place.path)
      }).catch((error) => {
        if (!CLOSED_FOLDER.has(errorCodeOf(error))) throw error
        return writeFile(file, content)
      })
    else await writeFile(file, content)
  } catch (error) {
    throw toWriteProblem(file, error)
  }
}

/** Returns path and mode of a file that another one can replace; undefined for devices, pipes, and links to nothing. */
function replaceableOf(file: string): { path: string; mode: number } | undefined {
  const own = lstatSync(file, { throwIfNoEntry: false })
  if (!own) return { path: file, mode: 0o666 }
  if (own.isSymbolicLink() && !existsSync(file)) return undefined
  const path = realpathSync(file)
  const stats = lstatSync(path)
  return stats.isFile() && stats.nlink === 1 ? { path, mode: stats.mode & 0o777 } : undefined
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
