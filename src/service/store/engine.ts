import type { Kysely, RawBuilder } from 'kysely'
import type { Db } from './schema.ts'

/** What one database engine does; everything above is the same on all of them. */
export interface Engine {
  readonly name: 'sqlite' | 'postgres'
  /** Column types by the names the migrations use. */
  readonly types: Types
  /** All reads of `work` see one state of the database. */
  read<T>(work: (db: Db) => Promise<T>): Promise<T>
  /**
   * One transaction, on stable storage when the promise resolves. `work` may be run again after a
   * conflict, so it only queries. Concurrent writes may share a commit.
   */
  write<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** As `write`, but durable only with the next `write`: for bytes that nothing names yet. */
  stage<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** Whether writes of different owners may share a commit. */
  readonly sharesCommits: boolean
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
