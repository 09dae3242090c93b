import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  sql,
} from 'kysely'
import type { PoolClient, QueryConfig } from 'pg'
import { Problem } from '../../contract/errors.ts'
import type { Limits } from '../../contract/limits.ts'
import type { Engine, WriteOptions } from './engine.ts'
import { Lanes } from './lanes.ts'
import type { Db, Schema } from './schema.ts'

/** Attempts at a transaction that conflicts with others. */
const CONFLICT_TRIES = 30
/** Waits before a transaction is repeated on a new connection, in ms. */
const RECONNECT_WAITS = [50, 100, 200, 300, 300, 300]
const CONNECT_TIMEOUT = 5_000
/** The share of the pool that one owner may hold. */
const OWNER_SHARE = 0.5

/**
 * PostgreSQL at SERIALIZABLE. A transaction is repeated after a conflict, and on a new connection after
 * its connection was lost, unless the connection was lost while it committed: then only a transaction
 * that says it is repeatable is.
 */
export async function postgresEngine(url: string, limits: Limits): Promise<Engine> {
  const { default: pg } = await import('pg')
  // int8 comes as text by default; ours are counts, ids and milliseconds.
  const types = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === 20 ? Number : pg.types.getTypeParser(oid, format as 'text'),
  }
  const pool = new pg.Pool({
    connectionString: url,
    max: limits.database_connections,
    types: types as never,
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    keepAlive: true,
    application_name: 'gridline',
  })
  // An idle connection that is lost is replaced at the next use.
  pool.on('error', () => {})
  // A connection in use that is lost fails its query; the event itself must not end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  const databases = new WeakMap<PoolClient, Db>()
  const timeouts =
    `set local lock_timeout = ${limits.lock_seconds * 1000};` +
    `set local statement_timeout = ${limits.statement_seconds * 1000};` +
    `set local idle_in_transaction_session_timeout = ${limits.statement_seconds * 1000}`
  const begin = {
    read: `begin isolation level serializable read only;${timeouts}`,
    write: `begin isolation level serializable read write;${timeouts}`,
    migrate: 'begin isolation level read committed read write',
  }

  // A host that vanished without closing the connection must not hold a request for ever.
  const query_timeout = (limits.statement_seconds + 10) * 1000
  const attempt = async <T>(work: (db: Db) => Promise<T>, mode: keyof typeof begin): Promise<T> => {
    const client = await pool.connect()
    let db = mode === 'migrate' ? kyselyOn(client, undefined) : databases.get(client)
    if (!db) {
      db = kyselyOn(client, query_timeout)
      databases.set(client, db)
    }
    let broken: Error | undefined
    let committing = false
    try {
      await client.query({ text: begin[mode], query_timeout } as QueryConfig)
      const result = await work(db)
      committing = mode !== 'read'
      await client.query({ text: 'commit', query_timeout } as QueryConfig)
      return result
    } catch (error) {
      if (isLost(error)) {
        broken = error as Error
        throw committing ? new LostCommit(broken) : error
      }
      await client.query('rollback').catch((failed: Error) => {
        broken = failed
      })
      throw error
    } finally {
      client.release(broken)
    }
  }

  const run = async <T>(
    work: (db: Db) => Promise<T>,
    mode: keyof typeof begin,
    repeatable: boolean,
  ): Promise<T> => {
    let lost = 0
    for (let conflicts = 0; ; ) {
      try {
        return await attempt(work, mode)
      } catch (error) {
        if (isLost(error) || (error instanceof LostCommit && repeatable)) {
          if (lost >= RECONNECT_WAITS.length) throw asProblem(error)
          await wait(RECONNECT_WAITS[lost++])
        } else if (isConflict(error, mode)) {
          if (++conflicts >= CONFLICT_TRIES)
            throw new Problem('overloaded', 'too many writes to the same file at once')
          await wait(Math.random() * 2 ** Math.min(conflicts, 9))
        } else throw asProblem(error)
      }
    }
  }

  const operations = {
    read: <T>(work: (db: Db) => Promise<T>) => run(work, 'read', true),
    write: <T>(work: (db: Db) => Promise<T>, options: WriteOptions = {}) =>
      run(work, 'write', options.repeatable === true),
    // Content-addressed bytes: storing them twice changes nothing.
    writeDeferred: <T>(work: (db: Db) => Promise<T>) => run(work, 'write', true),
  }
  const lanes = new Lanes(Math.max(1, Math.floor(limits.database_connections * OWNER_SHARE)))
  return {
    name: 'postgres',
    types: { text: sql`text collate "C"`, int: sql`bigint`, bytes: sql`bytea` },
    groupsWritesAcrossOwners: false,
    ...operations,
    migrate: (work) => run(work, 'migrate', true),
    lane: (owner) => ({
      read: (work) => lanes.run(owner, () => operations.read(work)),
      write: (work, options) => lanes.run(owner, () => operations.write(work, options)),
      writeDeferred: (work) => lanes.run(owner, () => operations.writeDeferred(work)),
    }),
    // PostgreSQL keeps its own statistics, and checks its pages where data checksums are on.
    maintain: async () => {},
    check: async () => [],
    compact: async () => {
      await pool.query('vacuum analyze')
    },
    close: () => pool.end(),
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Kysely on one connection, whose transactions are begun and ended by the engine. */
function kyselyOn(client: PoolClient, query_timeout: number | undefined): Db {
  const connection: DatabaseConnection = {
    async executeQuery<R>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      const { rows, rowCount } = await client.query({
        text,
        values: [...parameters],
        query_timeout,
      } as QueryConfig)
      return { rows, numAffectedRows: BigInt(rowCount ?? 0) }
    },
    // biome-ignore lint/correctness/useYield: part of the interface; nothing here streams rows
    async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
      throw new Error('rows are not streamed')
    },
  }
  const none = async (): Promise<void> => {}
  const driver: Driver = {
    init: none,
    acquireConnection: async () => connection,
    releaseConnection: none,
    beginTransaction: none,
    commitTransaction: none,
    rollbackTransaction: none,
    destroy: none,
  }
  return new Kysely<Schema>({
    dialect: {
      createDriver: () => driver,
      createAdapter: () => new PostgresAdapter(),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createIntrospector: (db) => new PostgresIntrospector(db),
    },
  })
}

/** The connection was lost while a transaction committed: whether it did is not known. */
class LostCommit extends Error {
  constructor(override readonly cause: Error) {
    super(cause.message)
  }
}

/** Serialization failure, deadlock, two transactions that inserted the same key; of migrations, the same object. */
function isConflict(error: unknown, mode: string): boolean {
  const { code = '' } = error as { code?: string }
  if (code === '40001' || code === '40P01' || code === '23505') return true
  return mode === 'migrate' && /^(42P07|42701|42710|55P03)$/.test(code)
}

/**
 * The server is gone, is stopping or starting, or has become a standby: a new connection may succeed.
 * Class 08 is connection failures, 57P0x shutdowns, 25006 a write on a standby, 25P03 an idle transaction.
 */
function isLost(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof LostCommit || error instanceof Problem) return false
  const { code = '' } = error as { code?: string }
  return (
    /^(08...|57P0[123]|25006|25P03)$/.test(code) ||
    /^(ECONN\w+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/.test(code) ||
    /connection terminated|not queryable|connection ended|query read timeout/i.test(error.message)
  )
}

function asProblem(error: unknown): unknown {
  if (error instanceof Problem || !(error instanceof Error)) return error
  if (error instanceof LostCommit)
    return new Problem(
      'overloaded',
      'the connection to the database was lost during the commit, so it is not known whether the change was made',
      { hint: 'Repeat the request with the same Idempotency-Key: it applies once.' },
    )
  const { code = '' } = error as { code?: string }
  if (code === '53100') return new Problem('disk_full', 'the database cannot grow: its disk is full')
  if (code === '55P03')
    return new Problem('overloaded', 'another change of the same rows takes too long (limit lock_seconds)')
  if (code === '57014')
    return new Problem('overloaded', 'the database took too long (limit statement_seconds)')
  if (isLost(error) || /^53/.test(code) || /timeout exceeded/i.test(error.message))
    return new Problem('overloaded', `the database does not answer: ${error.message}`)
  return error
}
