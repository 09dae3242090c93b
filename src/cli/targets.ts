import { type Client, type Kind, lookupIfThere, resolve } from '../client/index.ts'
import { Problem } from '../contract/errors.ts'
import { parseFid, ROOT } from '../contract/fid.ts'
import type { Failure } from './output/failure.ts'
import { isPattern, matchingFiles, patternOf } from './patterns.ts'
import { trashedFiles } from './trash.ts'

export interface Where {
  /** Only files of this kind are meant. */
  filetype?: Kind
  /** They are only read: a link of another server will do. */
  read?: boolean
  /** Files in the trash are meant: they go by name, and by the folder they were in where one is given. */
  trashed?: boolean
}

/** A file as it was given, and what it came to. */
interface Target {
  of: string
  fid: string
}

/** What names came to. */
export interface Targets {
  files: Target[]
  failures: Failure[]
  /** More than one name was given, or one that may stand for any number of files. */
  several: boolean
}

/** The files meant by fids, links, paths and patterns (`Reports/2024*`); one that is not there is a Failure. */
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
      if (!(error instanceof Problem)) throw error
      failures.push({ of, problem: error })
    }
  }
  return { files, failures, several }
}

/** The files one name stands for, and whether it was a pattern. */
async function resolveTarget(
  client: Client,
  given: string,
  where: Where,
): Promise<{ files: Target[]; pattern: boolean }> {
  const only = (fid: string) => ({ files: [{ of: given, fid }], pattern: false })
  if (parseFid(given) || /^https?:\/\//i.test(given)) return only(await resolve(client, given))
  if (where.trashed) return { files: await inTrash(client, given), pattern: isPattern(given) }
  if (!isPattern(given)) return only(await resolve(client, given, where.filetype))
  // A file may be called so.
  const literal = await lookupIfThere(client, given)
  if (literal) return only(literal.fid)
  const found = await matchingFiles(client, given, where.filetype)
  if (found.length > 0)
    return { files: found.map(({ path, file }) => ({ of: path, fid: file.fid })), pattern: true }
  throw new Problem('not_found', `nothing matches ${given}`, { hint: 'See what there is with: gridline ls' })
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
    throw new Problem('not_found', `nothing in the trash is called ${given}`, {
      hint: 'See what is there with: gridline ls --trashed',
    })
  if (found.length > 1 && !isPattern(given)) {
    const which = found.map(({ file, folder: path }) => `${file.fid}${path ? ` (of ${path})` : ''}`)
    throw new Problem('conflict', `${found.length} files in the trash are called ${given}`, {
      hint: `Give one by its id: ${which.join(', ')}`,
    })
  }
  return found.map(({ file, folder: path }) => ({
    of: path ? `${path}/${file.filename}` : file.filename,
    fid: file.fid,
  }))
}

/** The id of a folder of the caller's own: a path, an id, or `/`; Problem `forbidden` for somebody else's. */
export async function idOfFolder(client: Client, folder: string): Promise<number> {
  if (/^\/*$/.test(folder)) return ROOT
  const [owner, idlocal] = (await resolve(client, folder, 'fold')).split(':')
  await checkOwn(client, owner, folder)
  return Number(idlocal)
}

/** Files are kept among one's own; a folder of somebody else's is no place for them. */
export async function checkOwn(client: Client, owner: string, given: string): Promise<void> {
  const { username } = await client.call('users.current')
  if (owner === username) return
  throw new Problem('forbidden', `${given} is a folder of ${owner}; files go among your own (${username})`)
}
