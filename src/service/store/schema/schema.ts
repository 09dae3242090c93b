// The database tables.
import type { Generated, Kysely } from 'kysely'
import type { ColumnType as ApiColumnType } from '../../../contract/column-types.ts'
import type { AccountTables } from './account-tables.ts'

/**
 * Type of a column's values, ignoring nulls; `json` if they differ. The part after a hyphen is a variant that
 * the API does not show: the order of day and month, times with a zone, or texts that are dates of unknown
 * order.
 */
export type ColumnType =
  | ApiColumnType
  | 'text-undecided'
  | 'date-dmy'
  | 'date-mdy'
  | 'datetime-dmy'
  | 'datetime-mdy'
  | 'datetime-zone'

/** Access of a collaborator: 0 read, 1 read and write. */
export type MayWrite = 0 | 1

/**
 * The database tables. Primary keys start with `owner` (a username), so that a distributed engine keeps the
 * rows of a user on one node. Only `renameUser` changes an owner, in all tables at once. Times are ms since
 * 1970 by the service's clock. Flags are 0 or 1. The database has only tables and indexes: no views, triggers
 * or foreign keys.
 */
export interface Schema extends AccountTables {
  files: {
    owner: string
    idlocal: number
    filetype: 'grid' | 'plot' | 'fold' | 'extra' | 'dashboard'
    filename: string
    /** The filename; null while the file itself is trashed, and for extras. Unique per folder. */
    live_name: string | null
    parent: number
    /** When the file itself was trashed. Files in a trashed folder are trashed with it. */
    trashed_at: number | null
    /**
     * 1 if an ancestor is trashed: a copy of the folders' state for lists, which do not read the folders. May
     * be outdated while the owner has rows in `marks`. Meaningless for files that are trashed themselves.
     */
    hidden: Generated<number>
    /** When the folder was permanently deleted. A job then deletes its contents. */
    removed_at: number | null
    world_readable: number
    share_key: string | null
    /** A JSON object. */
    metadata: string
    creation_time: number
    date_modified: number
    /** Time of the last append while `appending` is 1: later than `date_modified`, and not indexed. */
    appended_at: number | null
    /** 1 after recent appends. Lists by date read such files one by one. */
    appending: Generated<number>
    /**
     * 0 if nobody has starred or shared the file, so that stars and grants need not be read. May stay 1 after
     * the last one is removed.
     */
    starred: Generated<number>
    shared: Generated<number>
    /** A grid to which nobody writes, since its content is 1: the result of a query, or 2: the file at a URL. */
    derived: Generated<number>
    /** 1 if derived grids may have it as an input, so that they are refreshed after a change. */
    feeds: Generated<number>
    /** Since when the refreshes of a derived grid, or of one from a URL, fail; null if the last one did not. */
    stale_since: number | null
    /** Quality of a plot, 0 to 5; null for other files. */
    quality: number | null
    /** Incremented with every change of metadata or content. Used as ETag. */
    version: number
    views: Generated<number>
    source_fid: string | null
    source_url: string | null
    source_referer: string | null
    /** The client's tag for the source of the file, valid only for version `source_version`. */
    source_tag: string | null
    source_version: number | null
    is_theme: number | null
    is_template: number | null
    /**
     * When the owner of a board last chose the items that all of its readers see, in ms since 1970. 0: readers see the
     * items that they may read.
     */
    share_items: Generated<number>
    /** Number of the current content version, from 1, as shown to users. */
    content_version: Generated<number>
  }
  /** Number of files per owner, folder and type. Places below -1 are explained in `file-counts.ts`. */
  file_counts: { owner: string; place: number; filetype: string; files: number; public_files: number }
  /** Words of the names of files, under which searches find them. A row with the word `''` marks an indexed file. */
  file_words: { owner: string; idlocal: number; word: string }
  /** Content of files other than grids: figures and extras. */
  contents: { owner: string; idlocal: number; hash: string; bytes: number; media_type: string }
  plots: {
    owner: string
    idlocal: number
    quality: number
    /** Title of the figure, without markup; null without one, or if it is not known yet. */
    title: string | null
    picked_at: number | null
    /** The grid created for the data of the figure. */
    data_grid: number | null
  }
  /**
   * References between files: from plots to grids, from boards to the files of their items, from derived grids to their
   * inputs, from any file to extras.
   */
  references: {
    owner: string
    idlocal: number
    kind: 'grid' | 'item' | 'input' | 'extra'
    to_owner: string
    to_idlocal: number
  }
  /** Copies of the references under the owner of the file that is referred to. */
  referencers: {
    owner: string
    idlocal: number
    kind: 'grid' | 'item' | 'input' | 'extra'
    by_owner: string
    by_idlocal: number
  }
  collaborators: {
    owner: string
    idlocal: number
    kind: 'user' | 'team' | 'email'
    /** A username, a team key, or an e-mail address in lower case. */
    name: string
    may_write: MayWrite
    added_at: number
    /**
     * Copies of the file's columns, for lists of shared files. `filename` is null while the file itself is
     * trashed.
     */
    filename: string | null
    filetype: string | null
    parent: number | null
    hidden: Generated<number>
    world_readable: Generated<number>
  }
  stars: { owner: string; idlocal: number; username: string; starred_at: number }
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
    /**
     * Incremented by every change except appends. Versions of one epoch share their rows: each starts with
     * those of the previous one.
     */
    epoch: Generated<number>
    /** Uids of the primary key columns, as a JSON array; null without a key. */
    primary_key: Generated<string | null>
    /** Checks of every write, as a checks file in JSON; null without checks. */
    checks: Generated<string | null>
    /** 1 if the grid has alerts, which every write judges. */
    has_alerts: Generated<number>
    /**
     * The change that holds the layout lock, and until when. Appends and flushes of other servers wait for
     * it.
     */
    held_by: string | null
    held_until: Generated<number>
    /** The user of the last append, and when its version began; null if another change came last. */
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
    /** First epoch with this name and position. */
    since: Generated<number>
  }
  /** Columns removed from a grid, by their last name. Plots may still refer to them. */
  lost_columns: { owner: string; idlocal: number; uid: string; name: string }
  slices: {
    owner: string
    idlocal: number
    uid: string
    seq: number
    rows: number
    /** Size of the column JSON before compression, in bytes. */
    bytes: number
    hash: string
    /** Offset of the column JSON in a pack, a blob of several slices; null if the blob is this slice. */
    pack_offset: number | null
    /** Lowest and highest value as JSON, if they are numbers or short strings. */
    low: string | null
    high: string | null
    /** Number of nulls; null for slices stored before these were recorded. */
    nulls: number | null
    /** 1 if slices of other columns end at the same row. */
    ended: Generated<number>
    /** The epoch in which the slice was added. */
    since: Generated<number>
  }
  /**
   * Slices of earlier epochs, from `since` up to but not including `until`. For a kept version of a plot: the
   * slices that it shows.
   */
  past_slices: Omit<Schema['slices'], 'ended' | 'since'> & { ended: number; since: number; until: number }
  /** Columns of earlier epochs, with their names and positions then. */
  past_columns: Omit<Schema['columns'], 'type' | 'rows' | 'since'> & { since: number; until: number }
  /** Queries of derived grids. */
  derivations: {
    owner: string
    idlocal: number
    sql: string
    /** Values of parameters, as a JSON object. */
    parameters: string
    /** Random, new with each query and each stored result: those of an earlier revision are not stored. */
    revision: number
    /** When the content was last found to be the result of the query on its inputs. */
    refreshed_at: number
    /** When the query last ended, with or without a result. */
    tried_at: number
    /** Why the last refresh failed, as a JSON problem; null if it did not. */
    error: string | null
    /** Time of the first failure since the last refresh. */
    failed_at: number | null
  }
  /** Tables of the query of a derived grid. */
  derivation_inputs: {
    owner: string
    idlocal: number
    /** The table as the query names it, in lower case. */
    name: string
    to_owner: string
    to_idlocal: number
    /** The version, if the query names one. */
    version: string | null
    /** State of the grid that the content shows. */
    seen: string
  }
  /** URLs from which grids are refreshed. */
  url_refreshes: {
    owner: string
    idlocal: number
    url: string
    /** Time between two requests, in seconds. */
    every: number
    /** Options of reading, as parsed headers in JSON. */
    headers: string
    /** Validators of the last response, for conditional requests. */
    etag: string | null
    last_modified: string | null
    /** Random, new with each URL. */
    revision: number
    /** Time of the last successful request. */
    refreshed_at: number
    /** Why the last request failed, as a JSON problem; null if it did not. */
    error: string | null
    /** Time of the first failure since the last successful request. */
    failed_at: number | null
  }
  /** Alerts on grids. */
  alerts: {
    owner: string
    idlocal: number
    /** Random, unique for the owner. */
    id: string
    /** An `AlertCondition`, in JSON. */
    condition: string
    /** E-mail address or URL. */
    receiver: string
    /** Secret that signs messages to a URL; null for an address. */
    secret: string | null
    created_at: number
    /** Result for the current content; null if it is to be judged. */
    judged: 'ok' | 'firing' | 'unknown' | null
    /** The reason for `judged`, in words. */
    why: string
    /** The measured value as JSON, with which the next one is compared; null without any. */
    value: string | null
    /** Time of the last write of content. */
    changed_at: number
    /** State of which its receiver was told: `judged`, or unknown if the grid cannot be trusted. */
    state: 'ok' | 'firing' | 'unknown'
    reason: string
    /** Since when the alert has the state. */
    since: number
    /** Number of the last message. */
    last_seq: number
    /** The hour of the last message, in hours since 1970, and the number of its messages. */
    hour: number
    hour_messages: number
    /** Number of changes of state since the last message, of which nobody was told because there were too many. */
    unsent: number
    /** Why the last message could not be sent; null if it could. */
    error: string | null
    /** Since when messages cannot be sent. */
    failed_at: number | null
  }
  /** Messages of alerts that are still to be sent, in order. */
  alert_messages: {
    owner: string
    idlocal: number
    alert: string
    seq: number
    at: number
    /** An `AlertChange`, in JSON. */
    body: string
    attempts: number
    /** Not before this time it is tried. */
    next_at: number
  }
  /** Charts and boards that a user sends regularly. */
  mailings: {
    owner: string
    /** Random, unique for the owner. */
    id: string
    /** The chart or board. */
    to_owner: string
    to_idlocal: number
    /** E-mail addresses, as a JSON array. */
    receivers: string
    /** A `Schedule`. */
    every: string
    at: string
    day: number | null
    zone: string
    created_at: number
    /** Receivers that have not got it yet, as a JSON array; null for all. */
    pending: string | null
    /** Filters of the board, as the query of its page; empty without. */
    filters: Generated<string>
    /** Time for which it is due; retries do not change it. */
    next_at: number
    sent_at: number | null
    /** Why it was not sent last time; null if it was. */
    error: string | null
    failed_at: number | null
  }
  /** Drafts of grids, by name. */
  drafts: {
    owner: string
    idlocal: number
    name: string
    /** The version with its content, a negative number; null if the grid itself is the draft. */
    version: number | null
    made_at: number
    made_by: string | null
  }
  /** Versions of grids and plots. The content of the current version is in the tables of grids and plots. */
  versions: {
    owner: string
    idlocal: number
    version: number
    /** For grids: the epoch whose slices hold its rows. */
    epoch: number
    made_at: number
    /** The user; null if unknown. */
    made_by: string | null
    operation: string
    /** Source of the content: a URL, or a tag set by the client. */
    source: string | null
    /** Message of the author. */
    message: string | null
    /** The version restored by a revert. */
    of_version: number | null
    /** Size and types of the grid at the end of the version; null while it is current. */
    row_count: number | null
    ragged: number | null
    types: string | null
    /** Counted changes; null if not counted. */
    rows_added: number | null
    rows_removed: number | null
    rows_changed: number | null
    columns_added: number | null
    columns_removed: number | null
    columns_changed: number | null
    /** The figure of a plot. */
    hash: string | null
    bytes: number | null
    /** Versions of the plot's grids when this version was replaced, as a JSON object by fid. */
    grids: string | null
    /** When the version was kept. Kept versions do not expire. */
    kept_at: number | null
    kept_name: string | null
  }
  /** Appended rows that are not yet flushed to slices: comma-separated JSON arrays, with checksum `sum`. */
  tail: { owner: string; idlocal: number; seq: number; rows: number; body: Uint8Array; sum: number }
  /** Stored copies of blobs, by SHA-256. Per owner and hash, at most one is live. See `stored-blobs.ts`. */
  objects: {
    owner: string
    /** Random, never reused. */
    key: string
    hash: string
    /** 0 writing, 1 live, 2 ended: see `object-states.ts`. */
    state: number
    /**
     * The owner who first stored the bytes, by the name at that time. Objects of other owners may share them.
     */
    home: string
    /** Location of the bytes: '' for `body`, `sql` for `blob_pieces`, else the id of a store. */
    place: string
    bytes: number
    body: Uint8Array | null
    /** When the object was stored, or last lost a reference. */
    changed_at: number
  }
  /** Stores for bytes outside the database. New bytes go to the current one, if there is one. */
  blob_stores: { id: string; address: string; is_current: number }
  /** Audit log: changes of access, and deletions. Kept after users are deleted. */
  audit: {
    /** Owner of the affected files or keys. */
    owner: string
    at: number
    id: string
    event: string
    /** The user who made the change; null for an operator or the server itself. */
    actor: string | null
    fid: string | null
    /** A JSON object. */
    details: string
    request_id: string | null
    address: string | null
  }
  /** Size of each location at the last sweep. `place` as in `objects`. */
  place_sizes: { place: string; objects: number; bytes: number }
  /** Bytes of objects that are too large for their row. */
  blob_pieces: { home: string; key: string; piece: number; body: Uint8Array }
  /**
   * Dirty folders: those whose direct contents do not know yet that the folder was trashed, restored or
   * deleted. `done`: the last name that is updated.
   */
  marks: { owner: string; folder: number; done: string }
  /** Background jobs. See docs/adr/0029. */
  jobs: {
    /** Owner of the files that the job changes; empty for all. */
    owner: string
    kind:
      | 'tree'
      | 'dates'
      | 'words'
      | 'items'
      | 'fold'
      | 'feed'
      | 'refresh'
      | 'download'
      | 'judge'
      | 'deliver'
      | 'mail'
      | 'sweep'
    /** Subject of the job, for kinds of which an owner may have several jobs. */
    key: string
    due: number
    /** The server that leases the job, until `held_until`. Then another one may take it. */
    holder: string | null
    held_until: number
    /** Fencing token, incremented by each holder. A server that has lost the job writes nothing. */
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
