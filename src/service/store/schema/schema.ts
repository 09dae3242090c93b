import type { Generated, Kysely } from 'kysely'

/**
 * The type of a column's values, ignoring nulls; `json` if they differ. What follows a hyphen is known beside the type
 * of the contract: the order of day and month in which dates were written, that times have a zone, or that texts are
 * dates whose order is not known.
 */
export type ColumnType =
  | 'empty'
  | 'number'
  | 'text'
  | 'text-undecided'
  | 'boolean'
  | 'date'
  | 'date-dmy'
  | 'date-mdy'
  | 'datetime'
  | 'datetime-dmy'
  | 'datetime-mdy'
  | 'datetime-zone'
  | 'json'

/** Access of a collaborator: 0 read, 1 read and write. */
export type MayWrite = 0 | 1

/**
 * The database tables. Keys start with `owner` (a username), so that a distributed engine can store a user's rows
 * together. Only `renameUser` changes it, in all tables at once. Times are milliseconds since 1970 by the service's clock. Flags
 * are 0 or 1. Only tables and indexes are used.
 */
export interface Schema {
  users: {
    owner: string
    /** The username in lower case: unique, so that no two users differ only in case. */
    name_key: string
    email: string | null
    is_admin: number
    date_joined: number
    /** When an operator disabled the user; null while they may sign in. */
    disabled_at: number | null
  }
  /** Names that users had before. They stay reserved: links and scripts with them lead to the user. */
  former_names: { name: string; name_key: string; owner: string; renamed_at: number }
  api_keys: {
    owner: string
    /** SHA-256 of the key, in hex. The key itself is not stored. */
    hash: string
    name: string
    /** Comma-separated: read, write, admin. */
    scopes: string
    created_at: number
    expires_at: number | null
    revoked_at: number | null
  }
  counters: { owner: string; next_idlocal: number }
  files: {
    owner: string
    idlocal: number
    filetype: 'grid' | 'plot' | 'fold' | 'extra'
    filename: string
    /** The filename, null while the file itself is in the trash. Unique per folder. Always null for extras. */
    live_name: string | null
    parent: number
    /** When the file itself was trashed. What is in a folder of the trash is in the trash with it. */
    trashed_at: number | null
    /**
     * 1 if a folder above is in the trash: what the folders say, for lists that do not read them. Behind them while
     * the owner has marks; meaningless in a file that is in the trash itself.
     */
    hidden: Generated<number>
    /** When the folder was deleted permanently: it is gone with all that is in it, which a job removes. */
    removed_at: number | null
    world_readable: number
    share_key: string | null
    /** A JSON object. */
    metadata: string
    creation_time: number
    date_modified: number
    /** When rows were last appended, while `appending`: later than `date_modified`, and in no index. */
    appended_at: number | null
    /** 1 if rows were appended lately: lists by date look at these files one by one. */
    appending: Generated<number>
    /** 0 if it has no stars, and is shared with nobody: then nobody looks for them. */
    starred: Generated<number>
    shared: Generated<number>
    /** Of a plot, 0 to 5. */
    quality: number | null
    /** Incremented with every change of metadata or content. Used as ETag. */
    version: number
    views: Generated<number>
    source_fid: string | null
    source_url: string | null
    source_referer: string | null
    /** What a client says the file was made from; it holds for the version in `source_version`. */
    source_tag: string | null
    source_version: number | null
    is_theme: number | null
    is_template: number | null
    /** The version of the content, from 1, as people count it. */
    content_version: Generated<number>
  }
  /** How many files an owner has, per folder and type. Places below -1 are in `counts.ts`. */
  file_counts: { owner: string; place: number; filetype: string; files: number; public_files: number }
  /** Content of files other than grids: figures and extras. */
  contents: { owner: string; idlocal: number; hash: string; bytes: number; media_type: string }
  plots: {
    owner: string
    idlocal: number
    quality: number
    picked_at: number | null
    /** The grid that was created for the data of the figure. */
    data_grid: number | null
  }
  /** References between files: from plots to grids, and from any file to extras. */
  references: {
    owner: string
    idlocal: number
    kind: 'grid' | 'extra'
    to_owner: string
    to_idlocal: number
  }
  /** The same by the file that is referred to: rows of its owner. */
  referencers: {
    owner: string
    idlocal: number
    kind: 'grid' | 'extra'
    by_owner: string
    by_idlocal: number
  }
  collaborators: {
    owner: string
    idlocal: number
    kind: 'user' | 'team' | 'email'
    /** A username, the key of a team, or an e-mail address in lower case. */
    name: string
    may_write: MayWrite
    added_at: number
    /** As in the file, for lists of what is shared; null while the file itself is in the trash. */
    filename: string | null
    filetype: string | null
    parent: number | null
    hidden: Generated<number>
    world_readable: Generated<number>
  }
  stars: { owner: string; idlocal: number; username: string; starred_at: number }
  teams: {
    /** Random, never used again. `owner/name` or the name for teams created by the first versions. */
    name_key: string
    name: string
    owner: string
    created_at: number
  }
  team_members: { team: string; username: string }
  /** Identity tokens that are accepted in exchange for an API key. `subject` may have `*`. */
  oidc_trust: {
    id: string
    issuer: string
    subject: string
    username: string
    scopes: string
    created_at: number
  }
  /** Secrets for signing cursors. */
  secrets: { name: string; value: string }
  grids: {
    owner: string
    idlocal: number
    /** Length of the longest column, including the tail. */
    row_count: number
    /** 1 if columns differ in length. */
    ragged: number
    /** Incremented when columns or slices change, but not by appends to the tail. */
    layout: number
    tail_rows: number
    tail_bytes: number
    tail_seq: number
    /** Types of the columns including the tail, encoded as in `column-types.ts`. */
    types: string
    /** Incremented with each change but appends: within an epoch, each version begins with the rows of those before. */
    epoch: Generated<number>
    /** The uids of the columns whose values tell rows apart, as a JSON array; null without a key. */
    primary_key: Generated<string | null>
    /** What every write is checked for, as JSON: a checks file; null without. */
    checks: Generated<string | null>
    /** A change of columns or slices that appends and folds of other servers wait for, until a time. */
    held_by: string | null
    held_until: Generated<number>
    /** Who appended the last rows, and when the version with them began; null if something else was changed last. */
    appended_by: string | null
    appended_since: number | null
  }
  columns: {
    owner: string
    idlocal: number
    uid: string
    position: number
    name: string
    /** Type of the values in slices, without the tail. */
    type: ColumnType
    /** Number of rows in slices, without the tail. */
    rows: number
    /** The epoch from which on it has this name and position. */
    since: Generated<number>
  }
  /** Columns that are gone from a grid that plots refer to, with the names that they had. */
  lost_columns: { owner: string; idlocal: number; uid: string; name: string }
  slices: {
    owner: string
    idlocal: number
    uid: string
    seq: number
    rows: number
    /** Bytes of JSON text before compression. */
    bytes: number
    hash: string
    /** JSON texts of its lowest and highest value, if they are numbers or short texts. */
    low: string | null
    high: string | null
    /** null in slices from before these were stored. */
    nulls: number | null
    /** 1 if slices of the same rows end where it does. */
    ended: Generated<number>
    /** The epoch that it was added in. */
    since: Generated<number>
  }
  /** Slices of earlier epochs: from `since` up to, but not including, `until`. Of a kept plot: those that it shows. */
  past_slices: {
    owner: string
    idlocal: number
    uid: string
    seq: number
    since: number
    until: number
    rows: number
    bytes: number
    hash: string
    low: string | null
    high: string | null
    nulls: number | null
    ended: number
  }
  /** Columns of earlier epochs, with the names and positions that they had. */
  past_columns: {
    owner: string
    idlocal: number
    uid: string
    since: number
    until: number
    position: number
    name: string
  }
  /** Drafts of grids, by name. */
  drafts: {
    owner: string
    idlocal: number
    name: string
    /** The version that is its content, with a negative number; null: the grid is a draft itself. */
    version: number | null
    made_at: number
    made_by: string | null
  }
  /** Versions of the content of grids and plots. What the present one holds is in the tables of grids and plots. */
  versions: {
    owner: string
    idlocal: number
    version: number
    /** Of a grid: the epoch whose slices have its rows. */
    epoch: number
    made_at: number
    /** The user; null if it is not known. */
    made_by: string | null
    operation: string
    /** What it was made from: a URL, or the tag of a client. */
    source: string | null
    /** Why it was made, in the words of who made it. */
    message: string | null
    /** The version that a revert went back to. */
    of_version: number | null
    /** The grid at the end of the version; null while it is the present one. */
    row_count: number | null
    ragged: number | null
    types: string | null
    /** What it changed; null where it has not been counted. */
    rows_added: number | null
    rows_removed: number | null
    rows_changed: number | null
    columns_added: number | null
    columns_removed: number | null
    columns_changed: number | null
    /** The figure of a plot. */
    hash: string | null
    bytes: number | null
    /** Versions of the grids of a plot when it was replaced: a JSON object by fid. */
    grids: string | null
    /** When it was kept: it does not expire. */
    kept_at: number | null
    kept_name: string | null
  }
  /** Appended rows that are not in a slice yet: comma-separated JSON arrays with the checksum `sum`. */
  tail: { owner: string; idlocal: number; seq: number; rows: number; body: Uint8Array; sum: number }
  /** Browsers that are signed in (`session`), and codes that sign one in once (`code`). */
  sessions: {
    owner: string
    /** SHA-256 of the token, in hex. The token itself is not stored. */
    hash: string
    kind: 'session' | 'code' | 'login'
    /** The API key that was used to sign in: the session ends with it. */
    key_hash: string | null
    scopes: string
    created_at: number
    expires_at: number
  }
  /** How much of a daily quota a user has used; `day` counts days since 1970. */
  quotas: { owner: string; what: string; day: number; used: number }
  /** Bytes of owners, by SHA-256; of one hash at most one is live. See `blobs.ts`. */
  objects: {
    owner: string
    /** Random, and never used again. */
    key: string
    hash: string
    /** 0 writing, 1 live, 2 ended. */
    state: number
    /** The owner who stored the bytes, by the name of then: copies of other owners share them. */
    home: string
    /** Where the bytes are: empty for `body`, `sql` for pieces, or the id of a store. */
    place: string
    bytes: number
    body: Uint8Array | null
    /** When it was stored, or last lost a reference. */
    changed_at: number
  }
  /** Places for bytes outside of the database; new ones go to the current one, if there is one. */
  blob_stores: { id: string; address: string; is_current: number }
  /** What users may store, of those who have a quota of their own; null for as much as they like. */
  user_quotas: { owner: string; files: number | null; rows: number | null; bytes: number | null }
  /** People of identity providers, by the issuer and subject of their tokens. */
  identities: { owner: string; issuer: string; subject: string; created_at: number }
  /** Who changed who may read or change what, and what is gone. Outlives users. */
  audit: {
    /** Whose files or keys it is about. */
    owner: string
    at: number
    id: string
    event: string
    /** The user who did it; null for an operator, and for the server itself. */
    actor: string | null
    fid: string | null
    /** A JSON object. */
    details: string
    request_id: string | null
    address: string | null
  }
  /** How much was where at the last sweep. `place` as in `objects`. */
  place_sizes: { place: string; objects: number; bytes: number }
  /** Bytes of larger objects. */
  blob_pieces: { home: string; key: string; piece: number; body: Uint8Array }
  /**
   * Folders whose direct contents still have to be told that the folder is in the trash, is back or is removed; `done`:
   * the last name of those that have been told.
   */
  marks: { owner: string; folder: number; done: string }
  /** Work in the background. See docs/adr/0029. */
  jobs: {
    /** Whose files it changes; empty for work on all. */
    owner: string
    kind: 'tree' | 'dates' | 'fold' | 'sweep'
    /** What it is about, for kinds of which an owner may have several. */
    key: string
    due: number
    /** The server that does it, until a time: then another one may. */
    holder: string | null
    held_until: number
    /** Incremented by each holder: one that has lost the job writes nothing. */
    fence: number
  }
  idempotency: {
    owner: string
    caller: string
    key: string
    operation: string
    fingerprint: string
    /** The result of the write, as JSON. */
    result: string
    created_at: number
  }
}

export type Db = Kysely<Schema>
