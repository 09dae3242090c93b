// Kysely on connections whose transactions the engines begin and end themselves.
import { type CompiledQuery, type DatabaseConnection, type Dialect, Kysely, type QueryResult } from 'kysely'
import type { Db, Schema } from '../schema/schema.ts'

/** A connection without streaming. Has no locks: the caller must serialize its use. */
export abstract class EngineConnection implements DatabaseConnection {
  readonly db: Db

  constructor(dialect: Omit<Dialect, 'createDriver'>) {
    const driver = {
      init: async () => {},
      acquireConnection: async () => this,
      releaseConnection: async () => {},
      beginTransaction: rejectCall,
      commitTransaction: rejectCall,
      rollbackTransaction: rejectCall,
      destroy: async () => {},
    }
    this.db = new Kysely<Schema>({ dialect: { ...dialect, createDriver: () => driver } })
  }

  abstract executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>>

  // biome-ignore lint/correctness/useYield: part of the interface; nothing here streams rows
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('rows are not streamed')
  }
}

async function rejectCall(): Promise<void> {
  throw new Error('transactions are begun by the engine')
}
