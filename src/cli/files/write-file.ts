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
    const place = replaceablePlaceOf(file)
    if (place) await writeThroughPart(place, content)
    else await writeFile(file, content)
  } catch (error) {
    throw toWriteProblem(file, error)
  }
}

/** Path of a file that can be replaced, and its mode; without one, there is no file yet. */
interface ReplaceablePlace {
  path: string
  mode?: number
}

/**
 * Returns the place of a file that another one can replace: one with a single name, of the user and their group. Undefined
 * for others, for devices, pipes and links to nothing.
 */
function replaceablePlaceOf(file: string): ReplaceablePlace | undefined {
  if (!lstatSync(file, { throwIfNoEntry: false })) return { path: file }
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats?.isFile() || stats.nlink !== 1) return undefined
  const isOwn =
    stats.uid === (process.getuid?.() ?? stats.uid) && stats.gid === (process.getgid?.() ?? stats.gid)
  return isOwn ? { path: realpathSync(file), mode: stats.mode & 0o7777 } : undefined
}

/** Writes a part that gets the name of the file once it is complete, and the mode of a former one. */
async function writeThroughPart(
  { path, mode }: ReplaceablePlace,
  content: string | Uint8Array,
): Promise<void> {
  if (mode !== undefined) await access(path, constants.W_OK)
  await withPart(path, async (part) => {
    await writeFile(part, content)
    if (mode !== undefined) await chmod(part, mode)
    await rename(part, path)
  }).catch((error) => {
    if (!CLOSED_PLACE.has(errorCodeOf(error))) throw error
    return writeFile(path, content)
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
