import { timingSafeEqual } from 'node:crypto'
import { Problem } from '../../contract/errors.ts'
import { type Fid, ROOT } from '../../contract/fid.ts'
import {
  type FileAccess,
  type FileKind,
  type Operation,
  type OperationName,
  operations,
} from '../../contract/operations/index.ts'
import { type FileMeta, filetypeName } from '../../contract/resources/index.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import { type FolderRow, stateIn } from '../store/aggregates/folders.ts'
import { OWNER, type Viewer } from '../store/aggregates/lists.ts'
import type { Grant } from '../store/aggregates/sharing.ts'
import type { Readers } from '../store/store.ts'
import { isAllowed, type Role, type State } from './policy.ts'

/** The authenticated user and what their API key permits. */
export interface Caller {
  username: string
  scopes: ReadonlySet<string>
  isAdmin: boolean
  /** Hash of the API key in use, also of the one that opened the session; undefined without one. */
  keyHash?: string
  /** Hash under which the session or key in use is stored; undefined without one. */
  credential?: string
  /** Expiry time of the session or key, in ms since 1970; null for never. */
  expiresAt: number | null
}

/** Whose permissions apply: the caller and the share key of the request. */
export interface Principal {
  caller: Caller | undefined
  /** The `share_key` query parameter. */
  shareKey?: string
  /** The version of the file that is asked for, as in the `version` query parameter. */
  version?: string
  /** Whether the client has disconnected. */
  gone?: () => boolean
}

/** The principal used to read a plot's grids: a plot shows whatever its owner may read. */
export function asOwner(username: string): Principal {
  return { caller: { username, scopes: new Set(['read']), isAdmin: false, expiresAt: null } }
}

/** The value of `current_user_permission` in the API. */
export type Permission = FileMeta['current_user_permission']

/** The access that each of them is, from the highest. */
const permissions: Record<Permission, FileAccess> = { admin: 'own', write: 'write', read: 'read' }

/** A file the caller may see, with their roles and permission. */
export interface AuthorizedFile {
  file: FileRow
  state: State
  /** The folders above it, the nearest first, up to one that they may not see. */
  above: () => readonly FolderRow[]
  roles: ReadonlySet<Role>
  permission: Permission
}

/** The access an operation requires, and the filetype it is restricted to. */
interface Wanted {
  access: FileAccess
  filetype?: FileKind
}

/** A file with the folders above it, the nearest first, and the grants on any of them. */
interface Surroundings<F> {
  file: F
  above: readonly FolderRow[]
  grants: readonly Grant[]
}

/** What decides on the roles on a file or folder. */
type Guarded = Pick<
  FileRow,
  'owner' | 'idlocal' | 'world_readable' | 'share_key' | 'trashed_at' | 'removed_at'
>

/** The roles that `principal` has on a file. */
function rolesOf({ file, above, grants }: Surroundings<Guarded>, { caller, shareKey }: Principal): Set<Role> {
  if (caller?.username === file.owner) return new Set(['owner'])
  const roles = new Set<Role>()
  if (file.world_readable === 1) roles.add('anyone')
  if (shareKey !== undefined && file.share_key !== null && same(shareKey, file.share_key))
    roles.add('key_holder')
  const folders = new Set(above.map(({ idlocal }) => idlocal))
  for (const grant of grants) {
    if (grant.idlocal === file.idlocal) addGrant(roles, grant, false)
    if (folders.has(grant.idlocal)) addGrant(roles, grant, true)
  }
  return roles
}

/** The roles of a collaborator. `folder_writer` only if the grant is on a folder. */
const GRANTED: Record<Grant['may_write'], readonly Role[]> = {
  0: ['reader'],
  1: ['reader', 'writer', 'folder_writer'],
}

function addGrant(roles: Set<Role>, { may_write }: Grant, onFolder: boolean): void {
  for (const role of GRANTED[may_write]) if (onFolder || role !== 'folder_writer') roles.add(role)
}

function same(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)]
  return one.length === other.length && timingSafeEqual(one, other)
}

function permissionOf(roles: ReadonlySet<Role>, state: State): Permission {
  const all = Object.entries(permissions) as [Permission, FileAccess][]
  return all.find(([, access]) => isAllowed(access, state, roles))?.[0] ?? 'read'
}

/** The state and the roles of a file; undefined if `principal` may not read it. */
function readable(
  around: Surroundings<Guarded>,
  principal: Principal,
): { state: State; roles: Set<Role> } | undefined {
  const state = stateIn(around.file, around.above)
  if (state === 'gone') return undefined
  const roles = rolesOf(around, principal)
  return isAllowed('read', state, roles) ? { state, roles } : undefined
}

function admitted(around: Surroundings<FileRow>, principal: Principal): AuthorizedFile | undefined {
  const found = readable(around, principal)
  if (!found) return undefined
  const { file, above, grants } = around
  const { state, roles } = found
  return {
    file,
    state,
    roles,
    permission: permissionOf(roles, state),
    above() {
      if (roles.has('owner')) return above
      const end = above.findIndex(
        (folder, k) => !readable({ file: folder, above: above.slice(k + 1), grants }, principal),
      )
      return end < 0 ? above : above.slice(0, end)
    },
  }
}

/**
 * Returns each file with roles and permission, or undefined if `principal` may not read it. Two statements for up to
 * 100 owners: folders, and grants.
 */
export async function visibleFiles(
  readers: Readers,
  files: readonly (FileRow | undefined)[],
  principal: Principal,
): Promise<(AuthorizedFile | undefined)[]> {
  const there = files.filter((file) => file !== undefined)
  const above = await readers.folders.aboveAll(there)
  const grants = await grantsOn(readers, there, above, principal.caller)
  const found = new Map(
    there.map((file, k) => [
      file,
      admitted({ file, above: above[k], grants: grants.get(file.owner) ?? [] }, principal),
    ]),
  )
  return files.map((file) => file && found.get(file))
}

/** What the caller was granted on files of others and the folders above them, by owner. */
async function grantsOn(
  { sharing }: Readers,
  files: readonly FileRow[],
  above: readonly (readonly FolderRow[])[],
  caller: Caller | undefined,
): Promise<Map<string, Grant[]>> {
  const ids = new Map<string, Set<number>>()
  for (const [k, { owner, idlocal }] of files.entries()) {
    if (!caller || owner === caller.username) continue
    const own = ids.get(owner) ?? new Set()
    for (const id of [idlocal, ...above[k].map((folder) => folder.idlocal)]) own.add(id)
    ids.set(owner, own)
  }
  return ids.size === 0 ? new Map() : sharing.grantsOn(caller!.username, ids)
}

/** Returns the file with roles and permission, or undefined if `principal` may not read it. */
export async function visibleFile(
  readers: Readers,
  file: FileRow | undefined,
  principal: Principal,
): Promise<AuthorizedFile | undefined> {
  return (await visibleFiles(readers, [file], principal))[0]
}

/** Like `known`, but looks the file up by its id. */
export async function visibleFileById(
  readers: Readers,
  fid: Fid,
  principal: Principal,
): Promise<AuthorizedFile | undefined> {
  return visibleFile(readers, await readers.files.get(fid.owner, fid.idlocal), principal)
}

/**
 * Returns the file if `principal` has the required access. Throws `not_found` both for missing and for
 * unreadable files, so that existence never leaks.
 */
export async function authorize(
  readers: Readers,
  file: FileRow | undefined,
  principal: Principal,
  { access, filetype }: Wanted,
): Promise<AuthorizedFile> {
  const found =
    filetype && file?.filetype !== filetype ? undefined : await visibleFile(readers, file, principal)
  if (!found) throw notFound(filetype)
  if (isAllowed(access, found.state, found.roles)) return found
  throw accessDenied(principal.caller, access)
}

/** Whether `principal` may change a file. */
export async function mayWrite(readers: Readers, file: FileRow, principal: Principal): Promise<boolean> {
  const found = await visibleFile(readers, file, principal)
  return found !== undefined && isAllowed('write', found.state, found.roles)
}

/** An operation on the file in the path of a request. */
export interface FileRequest extends Principal {
  operation: OperationName
  fid: Fid
  filetype: FileKind | undefined
}

/** Returns the file in the request path; throws unless the caller has the access the operation requires. */
export async function authorizeCall(readers: Readers, call: FileRequest): Promise<AuthorizedFile> {
  const { access } = operations[call.operation] as Operation
  const { owner, idlocal } = call.fid
  if (idlocal === ROOT && owner === call.caller?.username)
    throw new Problem('invalid_request', 'this operation is not possible on the home folder', {
      hint: 'List it under /v2/folders/home.',
    })
  return authorize(readers, await readers.files.get(owner, idlocal), call, {
    access: access as FileAccess,
    filetype: call.filetype,
  })
}

/**
 * Authorizes replaying the stored result of an idempotent write. The file's owner always may; others must
 * still be able to read the file. Throws `not_found` otherwise.
 */
export async function checkReplay(
  readers: Readers,
  file: FileRow | undefined,
  { owner }: { owner: string },
  principal: Principal,
): Promise<void> {
  if (principal.caller?.username === owner) return
  if (!(await visibleFile(readers, file, principal))) throw notFound()
}

export function accessDenied(caller: Caller | undefined, access: FileAccess): Problem {
  if (!caller) return new Problem('unauthenticated', 'this requires an account')
  const why: Record<FileAccess, string> = {
    read: 'you may not read this file',
    collaborate: 'only collaborators of this file may do this',
    write: 'you can read this file, but not change it',
    trash: 'only the owner of this file, or a user who can change its folder, can move it to the trash',
    own: 'only the owner of this file may do this',
  }
  return new Problem('forbidden', why[access], {
    hint: access === 'write' ? 'Ask its owner, or copy the file.' : 'Ask its owner.',
  })
}

export function notFound(filetype?: FileKind): Problem {
  return new Problem(
    'not_found',
    `no such ${filetype ? filetypeName(filetype) : 'file'}, or you may not see it`,
  )
}

/**
 * What the caller may see in lists of files of an owner. `folder`: of the files in it, instead of all files.
 */
export async function viewerOf(
  readers: Readers,
  owner: string,
  caller: Caller | undefined,
  folder?: Pick<AuthorizedFile, 'roles'> | 'home',
): Promise<Viewer> {
  if (caller?.username === owner) return OWNER
  // Who was granted a folder, or one above it, sees all that is in it.
  if (folder !== undefined && folder !== 'home' && folder.roles.has('reader')) return OWNER
  const names = caller ? await readers.sharing.namesOf(caller.username) : []
  if (folder !== undefined || names.length === 0) return { seesAll: false, names, folders: [] }
  return { seesAll: false, names, folders: await readers.folders.sharedWith(owner, names) }
}
