import { type Client, type Kind, lookupIfThere, resolve } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { parseFid, ROOT } from '../../contract/fid.ts'
import type { Failure } from '../output/failure.ts'
import { isPattern, matchingFiles, patternOf } from './patterns.ts'
import { trashedFiles } from './trash.ts'

export interface Where {
  /** Only files of this type. */
  filetype?: Kind
  /** The files are only read, so links of other servers are allowed. */
  read?: boolean
  /** Files in the trash, by name and optionally by the folder they were in. */
  trashed?: boolean
}

/** A resolved file: the name as given, and its fid. */
interface Target {
  of: string
  fid: string
}

/** Resolved names. */
export interface Targets {
  files: Target[]
  failures: Failure[]
  /** Whether several names or a pattern were given. */
  several: boolean
}

/** Resolves fids, links, paths and patterns (`Reports/2024*`) to files. Missing files become failures. */
export async function resolveTargets(
  client: Client,
  given: readonly string[],
  where: Where = {},
): Promise<Targets> {
  const files: Target[] = []
  const failures: Failure[] = []
  let several = given.length > 1
  for (const of of given) {
    try {
      const found = await resolveTarget(client, of, where)
      several ||= found.pattern
      for (const file of found.files) {
        if (!files.some(({ fid }) => fid === file.fid)) files.push(file)
      }
    } catch (error) {
      if (!(error instanceof Problem) || happensToAll(error)) throw error
      failures.push({ of, problem: error })
    }
  }
  return { files, failures, several }
}

/** Whether an error is about the server or the key, and not about one file. */
export function happensToAll({ code }: Problem): boolean {
  return code === 'unreachable' || code === 'unauthenticated'
}

/** Resolves one name. `pattern`: whether it was a pattern. */
async function resolveTarget(
  client: Client,
  given: string,
  where: Where,
): Promise<{ files: Target[]; pattern: boolean }> {
  const only = (fid: string) => ({ files: [{ of: given, fid }], pattern: false })
  if (parseFid(given) || /^https?:\/\//i.test(given)) return only(await resolve(client, given))
  if (where.trashed) return { files: await inTrash(client, given), pattern: isPattern(given) }
  if (!isPattern(given)) return only(await resolve(client, given, where.filetype))
  // A file may have this literal name.
  const literal = await lookupIfThere(client, given)
  if (literal) return only(literal.fid)
  const found = await matchingFiles(client, given, where.filetype)
  if (found.length > 0)
    return { files: found.map(({ path, file }) => ({ of: path, fid: file.fid })), pattern: true }
  throw new Problem('not_found', `no files match ${given}`, { hint: 'List files with: gridline ls' })
}

async function inTrash(client: Client, given: string): Promise<Target[]> {
  const parts = given.split('/').filter((part) => part !== '')
  const name = parts.pop() ?? ''
  const folder = parts.map(patternOf)
  const wasIn = (path: string | undefined): boolean => {
    if (folder.length === 0) return true
    const names = path?.split('/') ?? []
    return names.length === folder.length && names.every((one, k) => folder[k].test(one))
  }
  const pattern = patternOf(name)
  const all = await trashedFiles(client, (one) => one === name || (isPattern(name) && pattern.test(one)))
  const found = all.filter((one) => wasIn(one.folder))
  if (found.length === 0)
    throw new Problem('not_found', `no file named ${given} in the trash`, {
      hint: 'List the trash with: gridline ls --trashed',
    })
  if (found.length > 1 && !isPattern(given)) {
    const which = found.map(({ file, folder: path }) => `${file.fid}${path ? ` (from ${path})` : ''}`)
    throw new Problem('conflict', `${found.length} files in the trash are named ${given}`, {
      hint: `Use an id instead: ${which.join(', ')}`,
    })
  }
  return found.map(({ file, folder: path }) => ({
    of: path ? `${path}/${file.filename}` : file.filename,
    fid: file.fid,
  }))
}

/** Resolves a folder of the caller (path, id or `/`) to its id. Throws `forbidden` for others' folders. */
export async function idOfFolder(client: Client, folder: string): Promise<number> {
  if (/^\/*$/.test(folder)) return ROOT
  const [owner, idlocal] = (await resolve(client, folder, 'fold')).split(':')
  await checkOwn(client, owner, folder)
  return Number(idlocal)
}

/** Throws `forbidden` unless the caller owns the folder: files can only be put into one's own folders. */
export async function checkOwn(client: Client, owner: string, given: string): Promise<void> {
  const { username } = await client.call('users.current')
  if (owner === username) return
  throw new Problem(
    'forbidden',
    `${given} is a folder of ${owner}; you (${username}) can only put files in your own folders`,
  )
}
