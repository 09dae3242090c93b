import { Problem } from '../contract/errors.ts'
import type { Access } from '../contract/operations.ts'
import type { FileRow } from './store/files.ts'

/** Who asks: a user with what the key allows, or nobody. */
export interface Caller {
  username: string
  scopes: ReadonlySet<string>
  isAdmin: boolean
}

export type Permission = 'read' | 'write' | 'admin'
const rank = { read: 1, write: 2, admin: 3 }

/** What a caller may do with a file; undefined if they may not know of it. Reference section 5. */
export function permissionOn(file: FileRow, caller: Caller | undefined): Permission | undefined {
  if (caller?.username === file.owner) return 'admin'
  return file.world_readable && file.trashed_at === null ? 'read' : undefined
}

/** The file, or the answer that there is none: unreadable and absent are told apart by nobody. */
export function admit(
  file: FileRow | undefined,
  caller: Caller | undefined,
  access: Access,
  filetype?: string,
): { file: FileRow; permission: Permission } {
  const permission = file && permissionOn(file, caller)
  if (!file || !permission || (filetype && file.filetype !== filetype)) throw notFound(filetype)
  if (access !== 'read' && access !== 'write' && access !== 'admin') return { file, permission }
  if (rank[permission] >= rank[access]) return { file, permission }
  if (!caller) throw new Problem('unauthenticated', 'this needs an account')
  throw new Problem('forbidden', 'you may read this file, not change it', {
    hint: 'Ask its owner, or make a copy.',
  })
}

export function notFound(filetype?: string): Problem {
  const what =
    filetype === 'grid' ? 'grid' : filetype === 'fold' ? 'folder' : filetype === 'plot' ? 'plot' : 'file'
  return new Problem('not_found', `no such ${what}, or you may not see it`)
}
