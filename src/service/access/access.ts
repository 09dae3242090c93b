import { timingSafeEqual } from 'node:crypto'
import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid, ROOT } from '../../contract/fid.ts'
import {
  type FileAccess,
  type FileKind,
  type Operation,
  type OperationName,
  operations,
} from '../../contract/operations.ts'
import type { FileRow } from '../store/files.ts'
import type { Grant } from '../store/sharing.ts'
import type { Readers } from '../store/store.ts'
import { isAllowed, type Role, type State } from './policy.ts'

/** Who asks: a user with what the key allows, or nobody. */
export interface Caller {
  username: string
  scopes: ReadonlySet<string>
  isAdmin: boolean
  /** When the key ends; null for never. */
  expiresAt: number | null
}

/** A caller and what else they came with: what decides on permissions. */
export interface Principal {
  caller: Caller | undefined
  /** `share_key` of the query. */
  shareKey?: string
}

/** What an owner may read, of whom something is asked by others: what a plot shows. */
export function asOwner(username: string): Principal {
  return { caller: { username, scopes: new Set(['read']), isAdmin: false, expiresAt: null } }
}

/** As the API words it in `current_user_permission`. */
export type Permission = 'read' | 'write' | 'admin'

/** A file somebody may know of, with all they are to it. */
export interface AuthorizedFile {
  file: FileRow
  roles: ReadonlySet<Role>
  permission: Permission
}

/** Whatever a file is found for: an operation asks for `access`, and only files of `filetype` are found. */
interface Wanted {
  access: FileAccess
  filetype?: FileKind
}

export function stateOf(file: Pick<FileRow, 'trashed_at'>): State {
  return file.trashed_at === null ? 'active' : 'trashed'
}

/** What somebody is to a file. */
export async function rolesFor(readers: Readers, file: FileRow, asker: Principal): Promise<Set<Role>> {
  const { caller, shareKey } = asker
  if (caller?.username === file.owner) return new Set(['owner'])
  const roles = new Set<Role>()
  if (file.world_readable === 1) roles.add('anyone')
  if (shareKey !== undefined && file.share_key !== null && same(shareKey, file.share_key))
    roles.add('key_holder')
  if (!caller) return roles
  const grants = await readers.sharing.grants(file.owner, caller.username)
  if (grants.length === 0) return roles
  for (const grant of grants.filter(({ idlocal }) => idlocal === file.idlocal)) addGrant(roles, grant, false)
  for (let folder = file.parent; folder !== ROOT && file.filetype !== 'extra'; ) {
    for (const grant of grants.filter(({ idlocal }) => idlocal === folder)) addGrant(roles, grant, true)
    folder = (await readers.files.get(file.owner, folder))?.parent ?? ROOT
  }
  return roles
}

function addGrant(roles: Set<Role>, { may_write }: Grant, onFolder: boolean): void {
  roles.add('reader')
  if (may_write !== 1) return
  roles.add('writer')
  if (onFolder) roles.add('folder_writer')
}

function same(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)]
  return one.length === other.length && timingSafeEqual(one, other)
}

function permissionOf(roles: ReadonlySet<Role>, state: State): Permission {
  if (isAllowed('own', state, roles)) return 'admin'
  return isAllowed('write', state, roles) ? 'write' : 'read'
}

/** The file if the asker may know of it. */
export async function visibleFile(
  readers: Readers,
  file: FileRow | undefined,
  asker: Principal,
): Promise<AuthorizedFile | undefined> {
  if (!file) return undefined
  const roles = await rolesFor(readers, file, asker)
  const state = stateOf(file)
  return isAllowed('read', state, roles) ? { file, roles, permission: permissionOf(roles, state) } : undefined
}

/** The same for a file by its id. */
export async function visibleFileById(
  readers: Readers,
  fid: Fid,
  asker: Principal,
): Promise<AuthorizedFile | undefined> {
  return visibleFile(readers, await readers.files.get(fid.owner, fid.idlocal), asker)
}

/** The file, or the answer that there is none: unreadable and absent are told apart by nobody. */
export async function authorize(
  readers: Readers,
  file: FileRow | undefined,
  asker: Principal,
  { access, filetype }: Wanted,
): Promise<AuthorizedFile> {
  const found = filetype && file?.filetype !== filetype ? undefined : await visibleFile(readers, file, asker)
  if (!found) throw notFound(filetype)
  if (isAllowed(access, stateOf(found.file), found.roles)) return found
  throw accessDenied(asker.caller, access)
}

/** An operation on the file in the path of a request. */
export interface FileRequest extends Principal {
  operation: OperationName
  fid: Fid
  filetype: FileKind | undefined
}

/** The file in the path of a request, if the caller may do with it what the operation does. */
export async function authorizeCall(readers: Readers, call: FileRequest): Promise<AuthorizedFile> {
  const { access } = operations[call.operation] as Operation
  const { owner, idlocal } = call.fid
  if (idlocal === ROOT && owner === call.caller?.username)
    throw new Problem('invalid_request', 'this cannot be done with the home folder', {
      hint: 'List it under /v2/folders/home.',
    })
  return authorize(readers, await readers.files.get(owner, idlocal), call, {
    access: access as FileAccess,
    filetype: call.filetype,
  })
}

/**
 * A write that was made before is answered again only to somebody who may still read the file; of a file
 * that is gone, to its owner.
 */
export async function checkReplay(
  readers: Readers,
  file: FileRow | undefined,
  { owner }: { owner: string },
  asker: Principal,
): Promise<void> {
  if (asker.caller?.username === owner) return
  if (!(await visibleFile(readers, file, asker))) throw notFound()
}

export function accessDenied(caller: Caller | undefined, access: FileAccess): Problem {
  if (!caller) return new Problem('unauthenticated', 'this needs an account')
  const why: Record<FileAccess, string> = {
    read: 'you may not read this file',
    collaborate: 'only collaborators of this file may do this',
    write: 'you may read this file, not change it',
    trash: 'only its owner, and those who may change the folder it is in, may move this file to the trash',
    own: 'only the owner of this file may do this',
  }
  return new Problem('forbidden', why[access], {
    hint: access === 'write' ? 'Ask its owner, or make a copy.' : 'Ask its owner.',
  })
}

/** Kinds of files as people are told of them. */
export const filetypeNames: Record<FileKind, string> = {
  grid: 'grid',
  plot: 'plot',
  fold: 'folder',
  extra: 'extra',
}

export function notFound(filetype?: FileKind): Problem {
  return new Problem(
    'not_found',
    `no such ${filetype ? filetypeNames[filetype] : 'file'}, or you may not see it`,
  )
}

/** What of one owner's files a caller may see in lists: all, or what is public and what was given to them. */
export async function visibleTo(
  readers: Readers,
  owner: string,
  caller: Caller | undefined,
): Promise<{ files: number[]; folders: number[] } | undefined> {
  if (caller?.username === owner) return undefined
  const grants = caller ? await readers.sharing.grants(owner, caller.username) : []
  const ids = grants.map(({ idlocal }) => idlocal)
  return { files: ids, folders: ids.length > 0 ? await readers.files.foldersBelow(owner, ids) : [] }
}

/** The fid as text if the asker may know of the file: for relations, which tell nobody of what they may not see. */
export async function readableFid(readers: Readers, fid: Fid, asker: Principal): Promise<string | undefined> {
  return (await visibleFileById(readers, fid, asker)) ? formatFid(fid) : undefined
}
