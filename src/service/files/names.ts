// File names and paths: validation, lookup, and creation of folders.
import { Problem } from '../../contract/errors.ts'
import { ROOT } from '../../contract/fid.ts'
import { INVISIBLE_CHARACTERS } from '../../contract/invisible-characters.ts'
import type { Limits } from '../../contract/limits.ts'
import type { FileReader, FileRow } from '../store/aggregates/files.ts'
import type { Readers, Writers } from '../store/store.ts'

/** Returns `name` if it is valid in a path. Throws `invalid_request` otherwise. */
export function checkFilename(name: unknown, limits: Limits, field = 'filename'): string {
  const refuse = (why: string): Problem =>
    new Problem('invalid_request', `${field}: ${why}`, { field, hint: 'Give another name.' })
  if (typeof name !== 'string') throw refuse('must be a string')
  if (name.trim() === '') throw refuse('must not be empty')
  if (name.length > limits.filename_length) {
    throw refuse(`${name.length} characters; the limit is ${limits.filename_length} (filename_length)`)
  }
  if (name.includes('/')) throw refuse("must not contain '/'")
  if (/[\u0000-\u001f\u007f-\u009f]/.test(name)) throw refuse('must not contain control characters')
  const invisible = findInvisibleCharacter(name)
  if (invisible) throw refuse(`must not contain invisible characters (${invisible})`)
  if (!name.isWellFormed()) throw refuse('is not well-formed Unicode')
  if (name === '.' || name === '..') throw refuse(`must not be ${name}`)
  return name
}

/** Returns the code point of the first invisible or reordering character, which could disguise a name. */
function findInvisibleCharacter(name: string): string | undefined {
  const match = name.match(INVISIBLE_CHARACTERS)?.[0]
  return match && `U+${match.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}

/** Splits a path into names. Ignores empty names: `//` and slashes at either end are allowed. */
export function splitPath(path: string, limits: Limits): string[] {
  const names = path.split('/').filter((name) => name !== '')
  if (names.length > limits.path_depth) {
    throw new Problem(
      'invalid_request',
      `path: ${names.length} levels; the limit is ${limits.path_depth} (path_depth)`,
      { field: 'path' },
    )
  }
  return names
}

/** Returns the active file at a path below `parent`; undefined for an empty path. */
export async function findByPath(
  files: FileReader,
  owner: string,
  parent: number,
  names: string[],
): Promise<FileRow | undefined> {
  return names.length === 0 ? undefined : files.findByPath(owner, parent, names)
}

/** Destination folder of a new file. */
export interface FileDestination {
  parent?: number | null
  parent_path?: string
}

/** Returns the folder id of `parent` and `parent_path`. Creates missing folders of `parent_path`. */
export async function resolveDestination(
  writers: Writers,
  owner: string,
  place: FileDestination,
  limits: Limits,
): Promise<number> {
  const { parent, parent_path } = place
  const start = parent === undefined || parent === null ? ROOT : await checkFolder(writers, owner, parent)
  return parent_path === undefined
    ? start
    : createFolders(writers, owner, ROOT, splitPath(parent_path, limits), limits)
}

/** Returns `idlocal` if it is an active folder of the owner, or ROOT. Throws `invalid_request` otherwise. */
async function checkFolder({ files, folders }: Readers, owner: string, idlocal: number): Promise<number> {
  if (idlocal === ROOT) return ROOT
  const file = await files.get(owner, idlocal)
  if (file?.filetype === 'fold' && (await folders.filterActive([file])).length > 0) return idlocal
  throw new Problem('invalid_request', `parent: no folder with the id ${idlocal}`, {
    field: 'parent',
    hint: 'Give the id of one of your folders, or -1 for the home folder.',
  })
}

/** Returns the id of the last folder in a path. Creates missing folders. */
export async function createFolders(
  writers: Writers,
  owner: string,
  start: number,
  names: string[],
  limits: Limits,
): Promise<number> {
  let parent = start
  for (const name of names) {
    const existing = await writers.files.findByName(owner, parent, name)
    if (existing && existing.filetype !== 'fold') {
      throw new Problem('conflict', `a file named '${name}' already exists, and it is not a folder`, {
        field: 'path',
      })
    }
    parent = existing ? existing.idlocal : await createFolder(writers, owner, parent, name, limits)
  }
  return parent
}

/** Throws if `levels` more folders in `parent` would exceed the limit `path_depth`. */
export async function checkDepth(
  { folders }: Readers,
  owner: string,
  parent: number,
  levels: number,
  limits: Limits,
): Promise<void> {
  const depth = (await folders.loadAncestors({ owner, parent, filetype: 'fold' })).length + levels
  if (depth <= limits.path_depth) return
  throw new Problem(
    'invalid_request',
    `parent: ${depth} nested folders; the limit is ${limits.path_depth} (path_depth)`,
    { field: 'parent' },
  )
}

/** Returns the id of a new folder: `idlocal`, or the next one. */
export async function createFolder(
  writers: Writers,
  owner: string,
  parent: number,
  name: string,
  limits: Limits,
  idlocal?: number,
): Promise<number> {
  await checkDepth(writers, owner, parent, 1, limits)
  const folder = await writers.files.add({
    owner,
    idlocal,
    parent,
    filetype: 'fold',
    filename: checkFilename(name, limits),
  })
  return folder.idlocal
}

/** Returns the error for a taken name. Existing clients search its message for "already exists". */
export function nameTaken(name: string, hint = 'Choose another name.'): Problem {
  return new Problem('already_exists', `a file named '${name}' already exists`, {
    field: 'filename',
    hint,
  })
}

/** Cuts a name to 240 characters, without splitting a surrogate pair. A suffix then fits. */
export function truncateName(name: string): string {
  return name.slice(0, 240).replace(/[\ud800-\udbff]$/, '')
}

/** Numbers tried first: 1 to 16, then powers of two from 32. */
const FIRST_NUMBERS = [
  ...Array.from({ length: 16 }, (_, k) => k + 1),
  ...Array.from({ length: 20 }, (_, k) => 32 << k),
]
/** Names looked up per query while searching for the first free number. */
const PROBES_PER_QUERY = 32

/**
 * Returns `name`, or `name (1)`, `name (2)` … if it is taken. Finds the lowest free number up to 16. Above
 * 16, finds a free number that follows a taken one, in a few queries even if thousands of names are taken.
 */
export async function findFreeName(
  files: FileReader,
  owner: string,
  parent: number,
  name: string,
): Promise<string> {
  if (!(await files.findByName(owner, parent, name))) return name
  // Leave room for the number, so that the result is within the length limit.
  const stem = truncateName(name)
  const numbered = (n: number): string => `${stem} (${n})`
  const firstFree = async (numbers: readonly number[]): Promise<number | undefined> => {
    const taken = await files.findTakenNames(owner, parent, numbers.map(numbered))
    return numbers.find((n) => !taken.has(numbered(n)))
  }
  let free = await firstFree(FIRST_NUMBERS)
  if (free === undefined) throw nameTaken(name)
  if (free <= 16) return numbered(free)
  // Invariant: `free` is free and `low` is taken.
  for (let low = free === 32 ? 16 : free / 2; free - low > 1; ) {
    const step = Math.max(1, Math.floor((free - low) / PROBES_PER_QUERY))
    const probes: number[] = []
    for (let n = low + step; n < free; n += step) probes.push(n)
    const firstFreeProbe: number = (await firstFree(probes)) ?? free
    const lastTakenProbe = probes.filter((n) => n < firstFreeProbe).at(-1)
    low = lastTakenProbe ?? low
    free = firstFreeProbe
  }
  return numbered(free)
}
