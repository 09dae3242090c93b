import { type Client, lookupIfThere, resolve, startOf } from '../client/index.ts'
import { Problem } from '../contract/errors.ts'
import { parseFid, ROOT } from '../contract/fid.ts'
import type { FileMeta } from '../contract/resources.ts'
import type { Failure, Outcome } from './command.ts'
import type { Context } from './context.ts'
import type { View } from './output/view.ts'

const PAGE = 500

export type Kind = 'grid' | 'plot' | 'fold'

interface Where {
  /** Only files of this kind are meant. */
  filetype?: Kind
  /** They are only read: a link of another server will do. */
  read?: boolean
  /** Files in the trash are meant: they go by name, and by the folder they were in where one is given. */
  trashed?: boolean
}

/** A file as it was given, and what it came to. */
interface Meant {
  of: string
  fid: string
}

/** What names came to. */
export interface AllMeant {
  files: Meant[]
  failures: Failure[]
  /** More than one name was given, or one that may stand for any number of files. */
  several: boolean
}

/** The files meant by fids, links, paths and patterns (`Reports/2024*`); one that is not there is a Failure. */
export async function meant(client: Client, given: readonly string[], where: Where = {}): Promise<AllMeant> {
  const files: Meant[] = []
  const failures: Failure[] = []
  let several = given.length > 1
  for (const of of given) {
    try {
      const found = await one(client, of, where)
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
async function one(
  client: Client,
  given: string,
  where: Where,
): Promise<{ files: Meant[]; pattern: boolean }> {
  const only = (fid: string) => ({ files: [{ of: given, fid }], pattern: false })
  if (parseFid(given) || /^https?:\/\//i.test(given)) return only(await resolve(client, given))
  if (where.trashed) return { files: await inTrash(client, given), pattern: isPattern(given) }
  if (!isPattern(given)) return only(await resolve(client, given, where.filetype))
  // A file may be called so.
  const literal = await lookupIfThere(client, given)
  if (literal) return only(literal.fid)
  const found = await matching(client, given, where.filetype)
  if (found.length > 0)
    return { files: found.map(({ path, file }) => ({ of: path, fid: file.fid })), pattern: true }
  throw new Problem('not_found', `nothing matches ${given}`, { hint: 'See what there is with: gridline ls' })
}

/** Whether a name may stand for others; a link never does. */
export function isPattern(text: string): boolean {
  return /[*?[]/.test(text) && !/^https?:\/\//i.test(text)
}

/** `*` any text, `?` any character, `[ab]` one of these; never a slash. */
function patternOf(text: string): RegExp {
  const source = text.replace(/\[(!?)([^\]]+)\]|[*?]|[.+^${}()|\\[\]]/g, (found, not, characters) => {
    if (found === '*') return '.*'
    if (found === '?') return '.'
    if (characters !== undefined) return `[${not ? '^' : ''}${characters.replace(/[\\\]^]/g, '\\$&')}]`
    return `\\${found}`
  })
  return new RegExp(`^${source}$`, 'su')
}

/** The files whose paths match, with their paths. */
export async function matching(
  client: Client,
  given: string,
  filetype?: Kind,
): Promise<{ path: string; file: FileMeta }[]> {
  const { path: inside, user, parent } = startOf(given)
  const parts = inside.split('/').filter((part) => part !== '')
  const start = user === undefined ? undefined : `${user}:${parent}`
  let level: { path: string; fid: string | undefined }[] = [
    { path: start === undefined ? '' : `${start}/`, fid: start },
  ]
  let files: { path: string; file: FileMeta }[] = []
  for (const [k, part] of parts.entries()) {
    const pattern = patternOf(part)
    const last = k === parts.length - 1
    files = []
    for (const folder of level) {
      for (const file of await childrenOf(client, folder.fid)) {
        const wanted = last ? !filetype || file.filetype === filetype : file.filetype === 'fold'
        if (wanted && pattern.test(file.filename))
          files.push({ path: `${folder.path}${file.filename}`, file })
      }
    }
    level = files.map(({ path, file }) => ({ path: `${path}/`, fid: file.fid }))
  }
  return files
}

/** All files of a folder, or of the home folder. */
export async function childrenOf(client: Client, fid: string | undefined): Promise<FileMeta[]> {
  return pages(async (cursor) => {
    const query = { page_size: PAGE, cursor }
    const folder =
      fid === undefined
        ? await client.call('folders.home', { query })
        : await client.call('folders.get', { fid, query })
    return folder.children!
  })
}

/** What all pages of a list hold. */
export async function pages<T>(
  read: (cursor: string | undefined) => Promise<{ results: T[]; next: string | null }>,
  most = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  const all: T[] = []
  for (let cursor: string | undefined; ; ) {
    const { results, next } = await read(cursor)
    all.push(...results)
    cursor = next === null ? undefined : (new URL(next).searchParams.get('cursor') ?? undefined)
    if (cursor === undefined || all.length >= most) return all.slice(0, most)
  }
}

/** A file in the trash, with the path of the folder it was in; undefined where that is gone. */
export interface Trashed {
  file: FileMeta
  folder: string | undefined
}

/** Files in the trash that are called so, or all. */
export async function trashedFiles(
  client: Client,
  isMeant: (name: string) => boolean = () => true,
  most?: number,
): Promise<Trashed[]> {
  const all = await pages(
    async (cursor) => (await client.call('folders.trashed', { query: { page_size: PAGE, cursor } })).children,
    most,
  )
  const folders = new Map<string, string | undefined>()
  const found: Trashed[] = []
  for (const file of all.filter(({ filename }) => isMeant(filename))) {
    const fid = `${file.owner}:${file.parent}`
    if (!folders.has(fid)) folders.set(fid, file.parent === ROOT ? '' : await pathOfFolder(client, fid))
    found.push({ file, folder: folders.get(fid) })
  }
  return found
}

async function pathOfFolder(client: Client, fid: string): Promise<string | undefined> {
  try {
    return (await client.call('files.path', { fid })).path.replace(/^\/|\/$/g, '')
  } catch (error) {
    if (error instanceof Problem && error.code === 'not_found') return undefined
    throw error
  }
}

async function inTrash(client: Client, given: string): Promise<Meant[]> {
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

/** Does the same with every file given: one answer for one file, a report for several. */
export async function overFiles(
  context: Context,
  given: readonly string[],
  work: (client: Client, fid: string, of: string) => Promise<object>,
  view: View,
  where: Where = {},
): Promise<Outcome> {
  const client = await (where.read && given.length === 1 ? context.clientFor(given[0]) : context.client())
  client.several = given.length > 1
  return overFound(context, await meant(client, given, where), (fid, of) => work(client, fid, of), view)
}

/** The same with files that have been found already. */
export async function overFound(
  context: Context,
  { files, failures, several }: AllMeant,
  work: (fid: string, of: string) => Promise<object>,
  view: View,
): Promise<Outcome> {
  if (!several) {
    if (failures.length > 0) throw failures[0].problem
    const [{ of, fid }] = files
    return { many: [warned(context, of, await work(fid, of))], view, alone: true }
  }
  const done = await overEach(files, async ({ of, fid }) => warned(context, of, await work(fid, of)))
  return { many: done.many, view, failures: [...failures, ...done.failures] }
}

/**
 * Does the same with each of several: what came of them, and those it could not be done with. Where the
 * server cannot be reached, the rest is not tried.
 */
export async function overEach<T extends string | { of: string }>(
  things: readonly T[],
  work: (thing: T) => Promise<object | object[]>,
): Promise<{ many: object[]; failures: Failure[] }> {
  const many: object[] = []
  const failures: Failure[] = []
  const nameOf = (thing: T): string => (typeof thing === 'string' ? thing : thing.of)
  for (const [k, thing] of things.entries()) {
    try {
      many.push(...[await work(thing)].flat())
    } catch (error) {
      if (!(error instanceof Problem) || error.code === 'interrupted') throw error
      failures.push({ of: nameOf(thing), problem: error })
      const rest = things.slice(k + 1)
      if (error.code !== 'unreachable' || rest.length === 0) continue
      failures[failures.length - 1].untried = rest.map(nameOf)
      break
    }
  }
  return { many, failures }
}

function warned(context: Context, of: string, made: object): object {
  for (const warning of (made as { warnings?: string[] }).warnings ?? [])
    context.messages.warning(`${of}: ${warning}`)
  return made
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
