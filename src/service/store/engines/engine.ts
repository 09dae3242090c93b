import type { Kysely, RawBuilder } from 'kysely'
import type { Db } from '../schema/schema.ts'

export interface WriteOptions {
  /** `work` detects by itself that it was already committed, so it may be repeated after a lost commit. */
  repeatable?: boolean
  /** `work` frees space: on a full disk it may use the space that is reserved for this. */
  frees?: boolean
}

/** Transactions on a database. See docs/adr/0028. */
export interface Transactions {
  /** Runs `work` on one consistent snapshot of the database. */
  read<T>(work: (db: Db) => Promise<T>): Promise<T>
  /**
   * Runs `work` in one transaction, which is durable when the promise resolves. `owners`: the users whose rows `work`
   * changes, or reads to decide on a change; other writes of theirs wait. None are needed for single statements that
   * are right whatever runs beside them. `work` may run again after a conflict, so it must have no side effects
   * besides queries. Concurrent writes may share a commit.
   */
  write<T>(owners: readonly string[], work: (db: Db) => Promise<T>, options?: WriteOptions): Promise<T>
  /** Like `write`, but durable only after the next `write`. For blobs that nothing refers to yet. */
  writeDeferred<T>(work: (db: Db) => Promise<T>): Promise<T>
}

/** What an engine has done since it was opened, and its connections. */
export class EngineStats {
  /** Statements besides those that begin and end transactions. */
  statements = 0
  /** Called with each statement of SQLite, for tests of how it is read. */
  onStatement?: (text: string) => void
  reads = 0
  writes = 0
  /** Transactions that were rolled back, also those that were then repeated. */
  rollbacks = 0
  /** Transactions repeated after a conflict, and on a new connection. */
  conflicts = 0
  reconnects = 0
  /** Seconds that writes waited for the locks of their owners. */
  lockSeconds = 0
  /** Connections now: open, idle, and requests that wait for one. */
  connections: () => { open: number; idle: number; waiting: number } = () => ({
    open: 0,
    idle: 0,
    waiting: 0,
  })
}

/** A database engine. All code above it is the same for every engine. */
export interface Engine extends Transactions {
  readonly name: 'sqlite' | 'postgres'
  readonly stats: EngineStats
  /** SQL column types, by the names that migrations use. */
  readonly types: Types
  /** Transactions for requests on one owner's files, which may use only part of the connections. */
  lane(owner: string): Transactions
  /** Runs a schema change without timeouts. Repeats it if another process migrates at the same time. */
  migrate<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** Updates the statistics of the query planner. */
  maintain(): Promise<void>
  /** Runs the engine's own integrity check. Returns the errors found. */
  check(): Promise<string[]>
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
   * The name of the oldest migration that a server must know to work with a database that has this one. Default: this
   * one, so that older servers refuse to start. A migration that only adds says the last one of the version before.
   */
  worksWith?: string
  up(db: Kysely<unknown>, types: Types): Promise<void>
}
