import type { Kysely, RawBuilder } from 'kysely'
import type { Db } from './schema.ts'

export interface WriteOptions {
  /** `work` finds out by itself that it was committed before: it may run again after a lost commit. */
  repeatable?: boolean
}

/** Transactions on a database. */
export interface Transactions {
  /** All reads of `work` see one state of the database. */
  read<T>(work: (db: Db) => Promise<T>): Promise<T>
  /**
   * One transaction, on stable storage when the promise resolves. `work` may be run again after a
   * conflict, so it only queries. Concurrent writes may share a commit.
   */
  write<T>(work: (db: Db) => Promise<T>, options?: WriteOptions): Promise<T>
  /** As `write`, but durable only with the next `write`: for bytes that nothing names yet. */
  writeDeferred<T>(work: (db: Db) => Promise<T>): Promise<T>
}

/** What one database engine does; everything above is the same on all of them. */
export interface Engine extends Transactions {
  readonly name: 'sqlite' | 'postgres'
  /** Column types by the names the migrations use. */
  readonly types: Types
  /** The same for requests on one owner's files, which may use only part of the connections. */
  lane(owner: string): Transactions
  /** A transaction that changes the schema: as long as it takes, repeated if another process does the same. */
  migrate<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** Updates the statistics that the engine plans queries by. */
  maintain(): Promise<void>
  /** The engine's own check of its files: what is wrong with them. */
  check(): Promise<string[]>
  /** Gives back the space of what was deleted. */
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
  up(db: Kysely<unknown>, types: Types): Promise<void>
}
