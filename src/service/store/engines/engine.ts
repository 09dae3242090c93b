// Interface of the database engines, SQLite and PostgreSQL.
import type { Kysely, RawBuilder } from 'kysely'
import type { Db } from '../schema/schema.ts'

export interface WriteOptions {
  /** `work` detects that it was already committed, so it may be repeated if a commit is lost. */
  repeatable?: boolean
  /** `work` frees space: on a full disk, it may use the reserved space. */
  freesSpace?: boolean
}

/** Transactions on a database. See docs/adr/0028. */
export interface Transactions {
  /** Runs `work` on one consistent snapshot of the database. */
  read<T>(work: (db: Db) => Promise<T>): Promise<T>
  /**
   * Runs `work` in one transaction, which is durable when the promise resolves. `owners`: users whose rows
   * `work` changes, or reads to decide on a change; their other writes wait. Single statements that are
   * correct under concurrency need none. `work` may run again after a conflict, so it must have no side
   * effects. Concurrent writes may share a commit.
   */
  write<T>(owners: readonly string[], work: (db: Db) => Promise<T>, options?: WriteOptions): Promise<T>
  /** Like `write`, but durable only after the next `write`. For blobs without references. */
  writeDeferred<T>(work: (db: Db) => Promise<T>): Promise<T>
}

/** Counters of an engine since it was opened, and its connections. */
export class EngineStats {
  /** Statements, without those that begin and end transactions. */
  statements = 0
  /** Called with each statement of SQLite, for tests of query plans. */
  onStatement?: (text: string) => void
  reads = 0
  writes = 0
  /** Rolled-back transactions, including those that were repeated. */
  rollbacks = 0
  /** Transactions repeated after a conflict; and on a new connection. */
  conflicts = 0
  reconnects = 0
  /** Seconds that writes waited for owner locks. */
  lockSeconds = 0
  /** Returns the open and idle connections, and the requests waiting for one. */
  connections = (): { open: number; idle: number; waiting: number } => ({ open: 0, idle: 0, waiting: 0 })
}

/** A database engine. The code above it does not depend on which one is used. */
export interface Engine extends Transactions {
  readonly name: 'sqlite' | 'postgres'
  readonly stats: EngineStats
  /** True if opening created the database as a copy of an empty one. */
  readonly isCopiedTemplate?: boolean
  /** SQL column types, as named in migrations. */
  readonly types: Types
  /** Returns transactions for requests on one owner's files, limited to part of the connections. */
  forOwner(owner: string): Transactions
  /** Runs a schema change without timeouts. Repeats it after a conflict with another migrating process. */
  migrate<T>(work: (db: Db) => Promise<T>): Promise<T>
  /**
   * Returns a number that changes with each commit of any process; undefined if it cannot be read now. Engines
   * without such a number do not have this.
   */
  readState?(): number | undefined
  /** Updates the statistics of the query planner. */
  updateStatistics(): Promise<void>
  /** Runs the engine's own integrity check. Returns the errors. */
  checkIntegrity(): Promise<string[]>
  /** Frees the space of deleted data. */
  compact(): Promise<void>
  /** Whether writes of different owners may share a commit. */
  readonly groupsWritesAcrossOwners: boolean
  close(): Promise<void>
}

export interface Types {
  text: RawBuilder<unknown>
  int: RawBuilder<unknown>
  bytes: RawBuilder<unknown>
}

export interface Migration {
  name: string
  /**
   * Oldest migration that a server must know to work with a database that has this one. Default: this one, so
   * that older servers refuse to start. A migration that only adds names the last one of the previous
   * version.
   */
  worksWith?: string
  up(db: Kysely<unknown>, types: Types): Promise<void>
}
