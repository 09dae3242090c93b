// Writes the files and folders that people name.
import { existsSync, lstatSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { access, chmod, constants, rename, writeFile } from 'node:fs/promises'
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

/** Errors of a place where no other file can be made or renamed, though a file in it may be writable. */
const CLOSED_PLACE = new Set(['EACCES', 'EPERM', 'EROFS', 'EBUSY', 'ENAMETOOLONG', 'EXDEV'])

/**
 * Writes a file, behind links. If that fails, a file of the user stays as it was. Throws `failed` with the reason.
 */
export async function writeNamedFile(file: string, content: string | Uint8Array): Promise<void> {
  try {
    if (!lstatSync(file, { throwIfNoEntry: false })) await writeThroughPart(file, content)
    else {
      const mode = replaceableModeOf(file)
      if (mode === undefined) await writeFile(file, content)
      else await replaceFile(file, content, mode)
    }
  } catch (error) {
    throw toWriteProblem(file, error)
  }
}

/** Replaces a file by another one with the same name and mode. */
async function replaceFile(file: string, content: string | Uint8Array, mode: number): Promise<void> {
  const path = realpathSync(file)
  await access(path, constants.W_OK)
  await writeThroughPart(path, content, mode)
}

/** Writes a part that gets the name of the file once it is complete. */
async function writeThroughPart(file: string, content: string | Uint8Array, mode?: number): Promise<void> {
  await withPart(file, async (part) => {
    await writeFile(part, content)
    if (mode !== undefined) await chmod(part, mode)
    await rename(part, file)
  }).catch((error) => {
    if (!CLOSED_PLACE.has(errorCodeOf(error))) throw error
    return writeFile(file, content)
  })
}

/**
 * Returns the mode of a file that another one can replace: one with a single name, of the user and their group. Undefined
 * for others, for devices, pipes and links to nothing.
 */
function replaceableModeOf(file: string): number | undefined {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats?.isFile() || stats.nlink !== 1) return undefined
  const isOwn =
    stats.uid === (process.getuid?.() ?? stats.uid) && stats.gid === (process.getgid?.() ?? stats.gid)
  return isOwn ? stats.mode & 0o7777 : undefined
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
