import type { Generated, Kysely } from 'kysely'

/** What the values of a column are, nulls aside; `json` where they differ. */
export type ColumnType = 'empty' | 'number' | 'text' | 'boolean' | 'json'

/**
 * The tables. `owner` (a username, which never changes) leads every key, so that a distributed engine
 * can keep a person's rows together. Times are milliseconds since 1970 by the service's clock; flags
 * are 0 or 1; nothing here needs more of an engine than tables and indexes.
 */
export interface Schema {
  users: {
    owner: string
    /** The name in lower case: no two users differ only in case. */
    name_key: string
    email: string | null
    is_admin: number
    date_joined: number
  }
  api_keys: {
    owner: string
    /** SHA-256 of the key, hex; the key itself is shown once and not kept. */
    hash: string
    name: string
    /** Parted by commas: read, write, admin. */
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
    /** The filename while the file is active, null in the trash: unique in its folder. */
    live_name: string | null
    parent: number
    trashed_at: number | null
    /** The folder that took it into the trash; null if it was trashed by itself. */
    trashed_with: number | null
    world_readable: number
    share_key: string | null
    /** A JSON object. */
    metadata: string
    creation_time: number
    date_modified: number
    /** Counts changes, meta and content; the ETag. */
    version: number
    views: Generated<number>
    source_fid: string | null
    source_url: string | null
    source_referer: string | null
    is_theme: number | null
    is_template: number | null
  }
  /** What is in a file that is no grid: a figure, an extra. */
  contents: { owner: string; idlocal: number; hash: string; bytes: number; media_type: string }
  plots: {
    owner: string
    idlocal: number
    quality: number
    picked_at: number | null
    /** The grid that was made for the data of the figure. */
    data_grid: number | null
  }
  /** What files are made of: a plot of grids, any file of its extras. */
  references: {
    owner: string
    idlocal: number
    kind: 'grid' | 'extra'
    to_owner: string
    to_idlocal: number
  }
  collaborators: {
    owner: string
    idlocal: number
    kind: 'user' | 'team' | 'email'
    /** A username, the key of a team, an address in lower case. */
    name: string
    may_write: number
    added_at: number
  }
  stars: { owner: string; idlocal: number; username: string; starred_at: number }
  teams: {
    /** Owner and name, in lower case; the name alone for teams of the first versions. */
    name_key: string
    name: string
    owner: string
    created_at: number
  }
  team_members: { team: string; username: string }
  /** What the service signs with. */
  secrets: { name: string; value: string }
  grids: {
    owner: string
    idlocal: number
    /** Rows of the longest column, the tail's included. */
    row_count: number
    /** 1 if columns differ in length. */
    ragged: number
    /** Changes with the columns and the slices, but not with an append to the tail. */
    layout: number
    tail_rows: number
    tail_bytes: number
    tail_seq: number
    /** Types of the columns, the tail included: `column-types.ts`. */
    types: string
  }
  columns: {
    owner: string
    idlocal: number
    uid: string
    position: number
    name: string
    /** Of the values in slices; those of the tail come on top. */
    type: ColumnType
    /** Rows in slices; those of the tail come on top. */
    rows: number
  }
  slices: {
    owner: string
    idlocal: number
    uid: string
    seq: number
    rows: number
    /** Bytes of JSON text before compression. */
    bytes: number
    hash: string
  }
  /** Appended rows that are in no slice yet: JSON arrays, one for each row, comma-separated; `sum` is their checksum. */
  tail: { owner: string; idlocal: number; seq: number; rows: number; body: Uint8Array; sum: number }
  /** How much of a daily quota a user has used; `day` counts days since 1970. */
  quotas: { owner: string; what: string; day: number; used: number }
  /** Content-addressed bytes. A blob is written before the row that names it; `stored_at` is when it was last wanted or let go. */
  blobs: { hash: string; stored_at: number }
  blob_pieces: { hash: string; piece: number; body: Uint8Array }
  /** When work that is due now and then was last done. */
  chores: { name: string; done_at: number }
  idempotency: {
    owner: string
    caller: string
    key: string
    operation: string
    fingerprint: string
    /** What the write came to, as JSON. */
    result: string
    created_at: number
  }
}

export type Db = Kysely<Schema>
