// Access policy: what each role may do.
import type { FileAccess } from '../../contract/operations/index.ts'
import type { FileUpdate } from '../../contract/resources/index.ts'

/** Role of a caller on a file. A caller may have several roles. See docs/api.md#conventions. */
export type Role =
  | 'owner'
  /** Collaborator with write access to the file or to a folder above it. */
  | 'writer'
  /** Collaborator with read access only. */
  | 'reader'
  /** Collaborator with write access to a folder above the file. */
  | 'folder_writer'
  /** Anyone with the file's share key, or to whom a board shows it. */
  | 'key_holder'
  /** Anyone, if the file is world-readable. */
  | 'anyone'

export type State = 'active' | 'trashed'

/** Kind of each role; a missing role is a compile error. `folder_writer` always comes with `writer`. */
const ROLE_KINDS: Record<Role, 'collaborator' | 'guest' | 'above'> = {
  owner: 'collaborator',
  writer: 'collaborator',
  reader: 'collaborator',
  folder_writer: 'above',
  key_holder: 'guest',
  anyone: 'guest',
}
const rolesOfKinds = (...roleKinds: string[]): Role[] =>
  (Object.keys(ROLE_KINDS) as Role[]).filter((role) => roleKinds.includes(ROLE_KINDS[role]))
const EVERYONE: readonly Role[] = rolesOfKinds('collaborator', 'guest')
const COLLABORATORS: readonly Role[] = rolesOfKinds('collaborator')

/** Access → file state → roles that have it. Key holders and the public cannot see trashed files. */
export const ROLES_BY_ACCESS: Record<FileAccess, Record<State, readonly Role[]>> = {
  read: { active: EVERYONE, trashed: COLLABORATORS },
  collaborate: { active: COLLABORATORS, trashed: COLLABORATORS },
  write: { active: ['owner', 'writer'], trashed: ['owner'] },
  trash: { active: ['owner', 'folder_writer'], trashed: ['owner', 'folder_writer'] },
  own: { active: ['owner'], trashed: ['owner'] },
}

/** Access required to change each field, in addition to `write` on the file. */
export const FIELD_ACCESS: Record<keyof FileUpdate, FileAccess> = {
  filename: 'write',
  parent: 'own',
  parent_path: 'own',
  world_readable: 'own',
  metadata: 'write',
  is_theme: 'write',
  is_template: 'write',
  share_items: 'own',
  share_key_enabled: 'own',
}

/** Returns whether one of the roles has the access to a file in this state. */
export function isAllowed(access: FileAccess, state: State, roles: ReadonlySet<Role>): boolean {
  return ROLES_BY_ACCESS[access][state].some((role) => roles.has(role))
}
