// Resolves names, ids, links and patterns to files.
import { type Client, type FileKind, lookupOrUndefined, resolveFid } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { parseFid, ROOT } from '../../contract/fid.ts'
import type { Failure } from '../output/failure.ts'
import { compilePattern, isPattern, listMatchingFiles } from './patterns.ts'
import { listTrashedFiles } from './trash.ts'

/** Filter for files. */
export interface TargetFilter {
  /** Type of the files. */
  filetype?: FileKind
  /** True if files are only read: links to other servers are allowed. */
  read?: boolean
  /** True for files in the trash, by name and optionally former folder. */
  trashed?: boolean
}

/** Resolved file, with the name as given. */
interface ResolvedFile {
  subject: string
  fid: string
}

/** Resolved names. */
export interface Targets {
  files: ResolvedFile[]
  failures: Failure[]
  /** True if several names or a pattern were given. */
  isMultiple: boolean
}

/** Resolves ids, links, paths and patterns (`Reports/2024*`) to files. Unknown names become failures. */
export async function resolveTargets(
  client: Client,
  names: readonly string[],
  where: TargetFilter = {},
): Promise<Targets> {
  const files: ResolvedFile[] = []
  const failures: Failure[] = []
  let several = names.length > 1
  for (const of of names) {
    try {
      const resolved = await resolveTarget(client, of, where)
      several ||= resolved.pattern
      for (const file of resolved.files) {
        if (!files.some(({ fid }) => fid === file.fid)) files.push(file)
      }
    } catch (error) {
      if (!(error instanceof Problem) || affectsAllFiles(error)) throw error
      failures.push({ subject: of, problem: error })
    }
  }
  return { files, failures, isMultiple: several }
}

/** Returns whether an error concerns the server or key, not a single file. */
export function affectsAllFiles({ code }: Problem): boolean {
  return code === 'unreachable' || code === 'unauthenticated'
}

/** Resolves one name or pattern. */
async function resolveTarget(
  client: Client,
  name: string,
  where: TargetFilter,
): Promise<{ files: ResolvedFile[]; pattern: boolean }> {
  const single = (fid: string) => ({ files: [{ subject: name, fid }], pattern: false })
  if (parseFid(name) || /^https?:\/\//i.test(name)) return single(await resolveFid(client, name))
  if (where.trashed) return { files: await findInTrash(client, name), pattern: isPattern(name) }
  if (!isPattern(name)) return single(await resolveFid(client, name, where.filetype))
  // A file can have this literal name.
  const literal = await lookupOrUndefined(client, name)
  if (literal) return single(literal.fid)
  const matches = await listMatchingFiles(client, name, where.filetype)
  if (matches.length > 0)
    return { files: matches.map(({ path, file }) => ({ subject: path, fid: file.fid })), pattern: true }
  throw new Problem('not_found', `no files match ${name}`, { hint: 'List files with: gridline ls' })
}

/**
 * Finds files in the trash by name, pattern, or former path. Throws `not_found`, or `conflict` if ambiguous.
 */
async function findInTrash(client: Client, text: string): Promise<ResolvedFile[]> {
  const segments = text.split('/').filter((part) => part !== '')
  const name = segments.pop() ?? ''
  const folder = segments.map(compilePattern)
  const wasInFolder = (path: string | undefined): boolean => {
    if (folder.length === 0) return true
    const names = path?.split('/') ?? []
    return names.length === folder.length && names.every((segment, k) => folder[k].test(segment))
  }
  const pattern = compilePattern(name)
  const all = await listTrashedFiles(
    client,
    (filename) => filename === name || (isPattern(name) && pattern.test(filename)),
  )
  const matches = all.filter((item) => wasInFolder(item.folder))
  if (matches.length === 0)
    throw new Problem('not_found', `no file named ${text} in the trash`, {
      hint: 'List the trash with: gridline ls --trashed',
    })
  if (matches.length > 1 && !isPattern(text)) {
    const candidates = matches.map(({ file, folder: path }) => `${file.fid}${path ? ` (from ${path})` : ''}`)
    throw new Problem('conflict', `${matches.length} files in the trash are named ${text}`, {
      hint: `Use an id instead: ${candidates.join(', ')}`,
    })
  }
  return matches.map(({ file, folder: path }) => ({
    subject: path ? `${path}/${file.filename}` : file.filename,
    fid: file.fid,
  }))
}

/**
 * Returns the id of a folder owned by the user (path, id or `/`). Throws `forbidden` for folders of others.
 */
export async function resolveFolderId(client: Client, folder: string): Promise<number> {
  if (/^\/*$/.test(folder)) return ROOT
  const [owner, idlocal] = (await resolveFid(client, folder, 'fold')).split(':')
  await assertOwnFolder(client, owner, folder)
  return Number(idlocal)
}

/** Throws `forbidden` unless the user owns the folder. */
export async function assertOwnFolder(client: Client, owner: string, folder: string): Promise<void> {
  const { username } = await client.call('users.current')
  if (owner === username) return
  throw new Problem(
    'forbidden',
    `${folder} is a folder of ${owner}; you (${username}) can only put files in your own folders`,
  )
}
