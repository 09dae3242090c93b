import type { FileAccess } from '../../contract/operations.ts'
import type { FileUpdate } from '../../contract/resources.ts'

/**
 * Who may do what with a file. Reference sections 3 and 5. Nothing else decides: handlers ask.
 *
 * What somebody is to a file; they may be several things at once.
 */
export type Role =
  | 'owner'
  /** Collaborator of the file or of a folder above it, who may change it. */
  | 'writer'
  /** The same, who may only read it. */
  | 'reader'
  /** Collaborator of the folder it is in, or of one above, who may change that. */
  | 'folder_writer'
  /** Came with the file's share key. */
  | 'key_holder'
  /** Anyone, where the file is world readable. */
  | 'anyone'

export type State = 'active' | 'trashed'

const everybody: readonly Role[] = ['owner', 'writer', 'reader', 'key_holder', 'anyone']
const collaborators: readonly Role[] = ['owner', 'writer', 'reader']

/** In the trash a file is there for its owner and collaborators only, and only its owner changes it. */
export const policy: Record<FileAccess, Record<State, readonly Role[]>> = {
  read: { active: everybody, trashed: collaborators },
  collaborate: { active: collaborators, trashed: collaborators },
  write: { active: ['owner', 'writer'], trashed: ['owner'] },
  trash: { active: ['owner', 'folder_writer'], trashed: ['owner', 'folder_writer'] },
  own: { active: ['owner'], trashed: ['owner'] },
}

/** What a change of each field asks for, beyond `write` on the file. Reference 2.1: admin fields are the owner's. */
export const fieldAccess: Record<keyof FileUpdate, FileAccess> = {
  filename: 'write',
  parent: 'own',
  parent_path: 'own',
  world_readable: 'own',
  metadata: 'write',
  is_theme: 'write',
  is_template: 'write',
  share_key_enabled: 'own',
}

export function isAllowed(access: FileAccess, state: State, roles: ReadonlySet<Role>): boolean {
  return policy[access][state].some((role) => roles.has(role))
}
