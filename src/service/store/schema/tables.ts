// The rules of each table: what it is copied, distributed, deleted and renamed by.
import type { Schema } from './schema.ts'

export type Table = keyof Schema

/** Columns of a table. */
type ColumnOf<T extends Table> = keyof Schema[T] & string

interface TableRules<T extends Table> {
  /** The primary key. */
  key: readonly ColumnOf<T>[]
  /** The node of its rows on Citus: of their owner, of their `home`, or every node. See docs/adr/0032. */
  node: 'owner' | 'home' | 'everywhere'
  /** The object whose deletion deletes its rows: the file (and its owner), the owner, or nothing. null: they have no owner who is renamed. */
  goesWith: 'file' | 'user' | 'nothing' | null
  /** Columns with usernames, except `owner`. They are renamed with the user. */
  usernames: readonly ColumnOf<T>[]
  /** The one of `usernames` that is part of the key: rows left of an earlier user of the name are removed. */
  unique?: ColumnOf<T>
}

/** Whether `hash` names a blob of the owner, which stays stored as long as a row has it. */
type BlobRules<T extends Table> = 'hash' extends ColumnOf<T> ? { hasBlobs: boolean } : object

/** In the order in which tables are copied. `users` is last: nobody can sign in before a copy is complete. */
const rules = {
  files: { key: ['owner', 'idlocal'], node: 'owner', goesWith: 'file', usernames: [] },
  file_counts: { key: ['owner', 'place', 'filetype'], node: 'owner', goesWith: 'user', usernames: [] },
  file_words: { key: ['owner', 'idlocal', 'word'], node: 'owner', goesWith: 'file', usernames: [] },
  contents: { key: ['owner', 'idlocal'], node: 'owner', goesWith: 'file', usernames: [], hasBlobs: true },
  plots: { key: ['owner', 'idlocal'], node: 'owner', goesWith: 'file', usernames: [] },
  references: {
    key: ['owner', 'idlocal', 'to_owner', 'to_idlocal'],
    node: 'owner',
    goesWith: 'user',
    usernames: ['to_owner'],
  },
  referencers: {
    key: ['owner', 'idlocal', 'by_owner', 'by_idlocal'],
    node: 'owner',
    goesWith: 'user',
    usernames: ['by_owner'],
  },
  collaborators: {
    key: ['owner', 'idlocal', 'kind', 'name'],
    node: 'owner',
    goesWith: 'file',
    usernames: [],
  },
  stars: {
    key: ['owner', 'idlocal', 'username'],
    node: 'owner',
    goesWith: 'file',
    usernames: ['username'],
    unique: 'username',
  },
  grids: { key: ['owner', 'idlocal'], node: 'owner', goesWith: 'file', usernames: ['appended_by'] },
  columns: { key: ['owner', 'idlocal', 'uid'], node: 'owner', goesWith: 'file', usernames: [] },
  lost_columns: { key: ['owner', 'idlocal', 'uid'], node: 'owner', goesWith: 'file', usernames: [] },
  slices: {
    key: ['owner', 'idlocal', 'uid', 'seq'],
    node: 'owner',
    goesWith: 'file',
    usernames: [],
    hasBlobs: true,
  },
  past_slices: {
    key: ['owner', 'idlocal', 'uid', 'seq', 'since'],
    node: 'owner',
    goesWith: 'file',
    usernames: [],
    hasBlobs: true,
  },
  past_columns: { key: ['owner', 'idlocal', 'uid', 'since'], node: 'owner', goesWith: 'file', usernames: [] },
  derivations: { key: ['owner', 'idlocal'], node: 'owner', goesWith: 'file', usernames: [] },
  derivation_inputs: {
    key: ['owner', 'idlocal', 'name'],
    node: 'owner',
    goesWith: 'file',
    usernames: ['to_owner'],
  },
  url_refreshes: { key: ['owner', 'idlocal'], node: 'owner', goesWith: 'file', usernames: [] },
  alerts: { key: ['owner', 'idlocal', 'id'], node: 'owner', goesWith: 'file', usernames: [] },
  alert_messages: {
    key: ['owner', 'idlocal', 'alert', 'seq'],
    node: 'owner',
    goesWith: 'file',
    usernames: [],
  },
  mailings: { key: ['owner', 'id'], node: 'owner', goesWith: 'user', usernames: ['to_owner'] },
  drafts: { key: ['owner', 'idlocal', 'name'], node: 'owner', goesWith: 'file', usernames: ['made_by'] },
  versions: {
    key: ['owner', 'idlocal', 'version'],
    node: 'owner',
    goesWith: 'file',
    usernames: ['made_by'],
    hasBlobs: true,
  },
  tail: { key: ['owner', 'idlocal', 'seq'], node: 'owner', goesWith: 'file', usernames: [] },
  quotas: { key: ['owner', 'what', 'day'], node: 'owner', goesWith: 'user', usernames: [] },
  objects: { key: ['owner', 'key'], node: 'owner', goesWith: 'nothing', usernames: [], hasBlobs: false },
  blob_pieces: { key: ['key', 'piece'], node: 'home', goesWith: null, usernames: [] },
  audit: { key: ['owner', 'at', 'id'], node: 'owner', goesWith: 'nothing', usernames: ['actor'] },
  marks: { key: ['owner', 'folder'], node: 'owner', goesWith: 'user', usernames: [] },
  jobs: { key: ['owner', 'kind', 'key'], node: 'owner', goesWith: 'user', usernames: [] },
  idempotency: {
    key: ['owner', 'key', 'caller'],
    node: 'owner',
    goesWith: 'user',
    usernames: ['caller'],
    unique: 'caller',
  },
  sessions: { key: ['owner', 'hash'], node: 'everywhere', goesWith: 'user', usernames: [], hasBlobs: false },
  identities: { key: ['issuer', 'subject'], node: 'everywhere', goesWith: 'user', usernames: [] },
  user_quotas: { key: ['owner'], node: 'everywhere', goesWith: 'user', usernames: [] },
  teams: { key: ['name_key'], node: 'everywhere', goesWith: 'user', usernames: [] },
  team_members: {
    key: ['team', 'username'],
    node: 'everywhere',
    goesWith: null,
    usernames: ['username'],
    unique: 'username',
  },
  oidc_trust: { key: ['id'], node: 'everywhere', goesWith: null, usernames: ['username'] },
  secrets: { key: ['name'], node: 'everywhere', goesWith: null, usernames: [] },
  blob_stores: { key: ['id'], node: 'everywhere', goesWith: null, usernames: [] },
  place_sizes: { key: ['place'], node: 'everywhere', goesWith: null, usernames: [] },
  former_names: { key: ['name'], node: 'everywhere', goesWith: null, usernames: [] },
  counters: { key: ['owner'], node: 'owner', goesWith: 'nothing', usernames: [] },
  api_keys: { key: ['owner', 'hash'], node: 'everywhere', goesWith: 'user', usernames: [], hasBlobs: false },
  users: { key: ['owner'], node: 'everywhere', goesWith: 'user', usernames: [] },
} as const satisfies { readonly [T in Table]: TableRules<T> & BlobRules<T> }

type Rules = typeof rules

/** Tables whose rules have a value. */
type TablesWith<K extends string, V> = { [T in Table]: Rules[T] extends Record<K, V> ? T : never }[Table]

export const tables = Object.keys(rules) as readonly Table[]

/** The rules by name of the table, for loops over all tables. */
const byName: Readonly<Record<Table, AnyRules>> = rules

interface AnyRules {
  key: readonly string[]
  node: 'owner' | 'home' | 'everywhere'
  goesWith: 'file' | 'user' | 'nothing' | null
  usernames: readonly string[]
  unique?: string
  hasBlobs?: boolean
}

function tablesWhere<T extends Table>(isMeant: (rule: AnyRules) => boolean): readonly T[] {
  return tables.filter((table) => isMeant(byName[table])) as T[]
}

/** Tables whose rows are deleted with their file. */
export const fileTables = tablesWhere<TablesWith<'goesWith', 'file'>>(({ goesWith }) => goesWith === 'file')

/** Tables whose rows are deleted with their owner. */
export const userTables = tablesWhere<TablesWith<'goesWith', 'file' | 'user'>>(
  ({ goesWith }) => goesWith === 'file' || goesWith === 'user',
)

/** Tables whose rows get the new name of their owner. */
export const ownedTables = tablesWhere<TablesWith<'goesWith', 'file' | 'user' | 'nothing'>>(
  ({ goesWith }) => goesWith !== null,
)

/** Tables whose rows keep blobs of their owner stored. */
export const blobTables = tablesWhere<TablesWith<'hasBlobs', true>>(({ hasBlobs }) => hasBlobs === true)

/** Returns the columns of a table with usernames, except `owner`. */
export function usernameColumns(table: Table): readonly string[] {
  return byName[table].usernames
}

/** Returns the column with a username in the key of a table, if there is one besides `owner`. */
export function uniqueUsernameColumn(table: Table): string | undefined {
  return byName[table].unique
}

/** Returns the columns of the primary key of a table. */
export function keyColumns(table: Table): readonly string[] {
  return byName[table].key
}

/** Returns the node that holds the rows of a table on Citus. */
export function nodeOf(table: Table): AnyRules['node'] {
  return byName[table].node
}
