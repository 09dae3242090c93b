// Decides who may see and change a file: roles, permissions and access checks.
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
import { type FileMeta, filetypeLabel } from '../../contract/resources/index.ts'
import type { UserRow } from '../store/aggregates/accounts.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import { type FolderRow, trashStateOf } from '../store/aggregates/folders.ts'
import type { ListScope } from '../store/aggregates/list-ranges.ts'
import { OWNER_SCOPE } from '../store/aggregates/lists.ts'
import type { Grant } from '../store/aggregates/sharing.ts'
import { addToSet } from '../store/schema/row-groups.ts'
import type { Readers } from '../store/store.ts'
import { isAllowed, type Role, type State } from './policy.ts'

/** Authenticated user, and the permissions of their API key. */
export interface Caller {
  username: string
  scopes: ReadonlySet<string>
  isAdmin: boolean
  /** Hash of the API key in use, or of the key that opened the session; undefined without a key. */
  keyHash?: string
  /** Hash under which the session or key in use is stored; undefined without credentials. */
  credential?: string
  /** Expiry of the session or key, in ms since 1970; null for never. */
  expiresAt: number | null
}

/** Subject of an access check: the caller and the share key of the request. */
export interface Principal {
  caller: Caller | undefined
  /** The `share_key` query parameter. */
  shareKey?: string
  /** Requested version of the file, as in the `version` query parameter. */
  version?: string
  /** File that a board shows to them, which they may read as with its share key. Only the service sets it. */
  shownFile?: Fid
  /** Filter of a board, which the data of its charts follow. Only the service sets it. */
  rowFilter?: RowFilter
  /** Returns whether the client has disconnected. */
  isAborted?: () => boolean
}

/** Values that columns of these names must have, in grids with such a column. */
export type RowFilter = readonly { column: string; value: string }[]

/** Returns the principal that reads the grids of a plot: a plot shows all data that its owner may read. */
export function ownerPrincipal(username: string): Principal & { caller: Caller } {
  return { caller: { username, scopes: new Set(['read']), isAdmin: false, expiresAt: null } }
}

/** Throws `forbidden` unless an account may act: nothing leaves the service for a disabled one. */
export function assertEnabled(username: string, user: Pick<UserRow, 'disabled_at'> | undefined): void {
  if (user?.disabled_at !== null) throw new Problem('forbidden', `the account of ${username} is disabled`)
}

/** Returns whether the caller's API key has `scope` (or `admin`); true without one. */
export function hasScope(caller: Caller | undefined, scope: 'read' | 'write'): boolean {
  return !caller || caller.scopes.has(scope) || caller.scopes.has('admin')
}

/** Throws `forbidden` unless the caller's API key has `scope` (or `admin`). */
export function checkScope(caller: Caller | undefined, scope: 'read' | 'write'): void {
  if (hasScope(caller, scope)) return
  throw new Problem('forbidden', `this API key has no ${scope} scope`, {
    hint: 'Create a key that has it with: gridline key create --scopes read,write',
  })
}

/** The value of `current_user_permission` in the API. */
export type Permission = FileMeta['current_user_permission']

/** Access that each permission grants, highest first. */
const ACCESS_BY_PERMISSION: Record<Permission, FileAccess> = { admin: 'own', write: 'write', read: 'read' }

/** File that the principal may see, with their roles and permission. */
export interface AuthorizedFile {
  file: FileRow
  state: State
  /** Returns the ancestor folders, nearest first, up to the first that the principal may not see. */
  above: () => readonly FolderRow[]
  roles: ReadonlySet<Role>
  permission: Permission
}

/** Access that an operation requires, and the filetype that it is restricted to. */
interface RequiredAccess {
  access: FileAccess
  filetype?: FileKind
}

/** File with its ancestor folders, nearest first, and all grants on them. */
interface FileWithGrants<F> {
  file: F
  above: readonly FolderRow[]
  grants: readonly Grant[]
}

/** Fields of a file or folder that decide who has which role. */
type AccessFields = Pick<
  FileRow,
  'owner' | 'idlocal' | 'world_readable' | 'share_key' | 'trashed_at' | 'removed_at'
>

/** Returns the roles of `principal` on a file. */
function rolesOnFile(
  { file, above, grants }: FileWithGrants<AccessFields>,
  { caller, shareKey, shownFile }: Principal,
): Set<Role> {
  if (caller?.username === file.owner) return new Set(['owner'])
  const roles = new Set<Role>()
  if (file.world_readable === 1) roles.add('anyone')
  if (shareKey !== undefined && file.share_key !== null && isSameSecret(shareKey, file.share_key))
    roles.add('key_holder')
  if (shownFile?.owner === file.owner && shownFile.idlocal === file.idlocal) roles.add('key_holder')
  const folders = new Set(above.map(({ idlocal }) => idlocal))
  for (const grant of grants) {
    if (grant.idlocal === file.idlocal) addGrant(roles, grant, false)
    if (folders.has(grant.idlocal)) addGrant(roles, grant, true)
  }
  return roles
}

/** Roles of a collaborator. `folder_writer` requires a grant on a folder. */
const ROLES_BY_GRANT: Record<Grant['may_write'], readonly Role[]> = {
  0: ['reader'],
  1: ['reader', 'writer', 'folder_writer'],
}

/** Adds the roles of a grant. `onFolder`: the grant is on an ancestor folder. */
function addGrant(roles: Set<Role>, { may_write }: Grant, onFolder: boolean): void {
  for (const role of ROLES_BY_GRANT[may_write]) if (onFolder || role !== 'folder_writer') roles.add(role)
}

/** Compares two secrets in constant time. */
function isSameSecret(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** Returns the highest permission of the roles. */
function permissionOf(roles: ReadonlySet<Role>, state: State): Permission {
  const candidates = Object.entries(ACCESS_BY_PERMISSION) as [Permission, FileAccess][]
  return candidates.find(([, access]) => isAllowed(access, state, roles))?.[0] ?? 'read'
}

/** Returns state and roles of a file; undefined if `principal` may not read it. */
function resolveRoles(
  context: FileWithGrants<AccessFields>,
  principal: Principal,
): { state: State; roles: Set<Role> } | undefined {
  const state = trashStateOf(context.file, context.above)
  if (state === 'gone') return undefined
  const roles = rolesOnFile(context, principal)
  return isAllowed('read', state, roles) ? { state, roles } : undefined
}

/** Returns the file with roles and permission; undefined if `principal` may not read it. */
function resolveAccess(context: FileWithGrants<FileRow>, principal: Principal): AuthorizedFile | undefined {
  const access = resolveRoles(context, principal)
  if (!access) return undefined
  const { file, above, grants } = context
  const { state, roles } = access
  return {
    file,
    state,
    roles,
    permission: permissionOf(roles, state),
    above() {
      if (roles.has('owner')) return above
      const end = above.findIndex(
        (folder, k) => !resolveRoles({ file: folder, above: above.slice(k + 1), grants }, principal),
      )
      return end < 0 ? above : above.slice(0, end)
    },
  }
}

/**
 * Returns each file with roles and permission, or undefined if `principal` may not read it. Runs two queries
 * per 100 owners: ancestor folders and grants.
 */
export async function resolveVisibleFiles(
  readers: Readers,
  files: readonly (FileRow | undefined)[],
  principal: Principal,
): Promise<(AuthorizedFile | undefined)[]> {
  const existing = files.filter((file) => file !== undefined)
  const above = await readers.folders.loadAncestorsOfAll(existing)
  const grants = await loadGrants(readers, existing, above, principal.caller)
  const visible = new Map(
    existing.map((file, k) => [
      file,
      resolveAccess({ file, above: above[k], grants: grants.get(file.owner) ?? [] }, principal),
    ]),
  )
  return files.map((file) => file && visible.get(file))
}

/** Returns the caller's grants on files of other users and on their ancestor folders, by owner. */
async function loadGrants(
  { sharing }: Readers,
  files: readonly FileRow[],
  above: readonly (readonly FolderRow[])[],
  caller: Caller | undefined,
): Promise<Map<string, Grant[]>> {
  const ids = new Map<string, Set<number>>()
  for (const [k, { owner, idlocal }] of files.entries()) {
    if (!caller || owner === caller.username) continue
    for (const id of [idlocal, ...above[k].map((folder) => folder.idlocal)]) addToSet(ids, owner, id)
  }
  return ids.size === 0 ? new Map() : sharing.loadGrants(caller!.username, ids)
}

/** Returns the file with roles and permission, or undefined if `principal` may not read it. */
export async function resolveVisibleFile(
  readers: Readers,
  file: FileRow | undefined,
  principal: Principal,
): Promise<AuthorizedFile | undefined> {
  return (await resolveVisibleFiles(readers, [file], principal))[0]
}

/** Loads a file by its id. Returns undefined if it is missing or `principal` may not read it. */
export async function loadVisibleFile(
  readers: Readers,
  fid: Fid,
  principal: Principal,
): Promise<AuthorizedFile | undefined> {
  return resolveVisibleFile(readers, await readers.files.get(fid.owner, fid.idlocal), principal)
}

/**
 * Returns the file if `principal` has the required access. Throws `not_found` both for missing and for
 * unreadable files, so that nobody learns of their existence.
 */
export async function authorize(
  readers: Readers,
  file: FileRow | undefined,
  principal: Principal,
  { access, filetype }: RequiredAccess,
): Promise<AuthorizedFile> {
  const visible =
    filetype && file?.filetype !== filetype ? undefined : await resolveVisibleFile(readers, file, principal)
  if (!visible) throw notFound(filetype)
  if (isAllowed(access, visible.state, visible.roles)) return visible
  throw accessDenied(principal.caller, access)
}

/** Returns whether `principal` may change a file. */
export async function canWrite(readers: Readers, file: FileRow, principal: Principal): Promise<boolean> {
  const visible = await resolveVisibleFile(readers, file, principal)
  return visible !== undefined && isAllowed('write', visible.state, visible.roles)
}

/** Operation on the file in the path of a request. */
export interface FileRequest extends Principal {
  operation: OperationName
  fid: Fid
  filetype: FileKind | undefined
}

/** Returns the file in the request path. Throws unless the caller has the required access. */
export async function authorizeCall(readers: Readers, call: FileRequest): Promise<AuthorizedFile> {
  const { access }: Operation = operations[call.operation]
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
 * Authorizes a replay of the stored result of an idempotent write. The file's owner always may; others must
 * still be able to read the file. Throws `not_found` otherwise.
 */
export async function checkReplay(
  readers: Readers,
  file: FileRow | undefined,
  { owner }: { owner: string },
  principal: Principal,
): Promise<void> {
  if (principal.caller?.username === owner) return
  if (!(await resolveVisibleFile(readers, file, principal))) throw notFound()
}

/** Returns the error for a file that the caller can read, but without the required access. */
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

/** Returns the error both for missing and for unreadable files. */
export function notFound(filetype?: FileKind): Problem {
  return new Problem(
    'not_found',
    `no such ${filetype ? filetypeLabel(filetype) : 'file'}, or you may not see it`,
  )
}

/** Returns the files of an owner that the caller may see in lists. `folder`: only files in this folder. */
export async function loadListScope(
  readers: Readers,
  owner: string,
  caller: Caller | undefined,
  folder?: Pick<AuthorizedFile, 'roles'> | 'home',
): Promise<ListScope> {
  if (caller?.username === owner) return OWNER_SCOPE
  // A grant on a folder, or on an ancestor of it, covers all its content.
  if (folder !== undefined && folder !== 'home' && folder.roles.has('reader')) return OWNER_SCOPE
  const names = caller ? await readers.sharing.listGranteesOf(caller.username) : []
  if (folder !== undefined || names.length === 0) return { seesAll: false, names, folders: [] }
  return { seesAll: false, names, folders: await readers.folders.listSharedFolders(owner, names) }
}
