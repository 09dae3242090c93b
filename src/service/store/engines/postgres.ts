// The PostgreSQL engine: owner locks, retries and timeouts.
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
import { Problem } from '../../../contract/errors.ts'
import type { Limits } from '../../../contract/limits.ts'
import { runInSpan } from '../../tracing/tracing.ts'
import type { Db, Schema } from '../schema/schema.ts'
import { type Engine, EngineStats, type WriteOptions } from './engine.ts'
import { OwnerLimiter } from './owner-limiter.ts'

/** Maximum attempts for a transaction that conflicts with others. */
const MAX_CONFLICT_ATTEMPTS = 30
/** Waits before a transaction is repeated on a new connection, in ms. */
const RECONNECT_DELAYS_MS = [50, 100, 200, 300, 300, 300]
const CONNECT_TIMEOUT_MS = 5_000
/** Lock timeout of one attempt of a migration, in ms. */
const MIGRATION_LOCK_TIMEOUT_MS = 2_000
/** Maximum share of the pool that one owner may use. */
const MAX_OWNER_POOL_SHARE = 0.5

/**
 * Opens PostgreSQL. A write locks its owners' rows first; then each statement sees what is committed (READ
 * COMMITTED). A read has one snapshot (REPEATABLE READ). A transaction is repeated after a conflict, and on a
 * new connection after a lost one; after a loss during the commit, only if it is `repeatable`.
 */
export async function openPostgres(url: string, limits: Limits): Promise<Engine> {
  if (!URL.canParse(url))
    throw new Problem('usage', '--database: not a PostgreSQL URL', {
      hint: 'Give postgres://user:password@host:5432/name. Write special characters in the password as %XX.',
    })
  const { default: pg } = await import('pg')
  // pg returns int8 as text. Counts, ids and milliseconds fit in a number.
  const types = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === 20 ? Number : pg.types.getTypeParser(oid, format as 'text'),
  }
  const pool = new pg.Pool({
    connectionString: url,
    max: limits.database_connections,
    types: types as never,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'gridline',
  })
  const stats = new EngineStats()
  stats.connections = () => ({
    open: pool.totalCount,
    idle: pool.idleCount,
    waiting: pool.waitingCount,
  })
  // A lost idle connection is replaced on next use.
  pool.on('error', () => {})
  // A lost connection in use fails its query. Without a listener, the event would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  const databases = new WeakMap<PoolClient, Db>()
  // Citus changes several shards one after the other, so that any other statement may follow. PostgreSQL
  // without Citus ignores the setting.
  const citus = 'set local citus.multi_shard_modify_mode = sequential;'
  const timeouts =
    citus +
    `set local lock_timeout = ${limits.lock_seconds * 1000};` +
    `set local statement_timeout = ${limits.statement_seconds * 1000};` +
    `set local idle_in_transaction_session_timeout = ${limits.statement_seconds * 1000}`
  const begin = {
    read: `begin isolation level repeatable read read only;${timeouts}`,
    write: `begin isolation level read committed read write;${timeouts}`,
    // A waiting schema lock blocks all later ones, so it times out soon, and the migration is retried.
    migrate: `begin isolation level read committed read write;${citus}set local lock_timeout = ${MIGRATION_LOCK_TIMEOUT_MS}`,
  }

  // Do not wait forever for a host that vanished without closing the connection.
  const query_timeout = (limits.statement_seconds + 10) * 1000
  // Sent with BEGIN. Sorted by name, so that transactions cannot deadlock. One statement per owner, since a
  // distributed engine locks rows of one shard at a time.
  const lock = (owners: readonly string[]): string =>
    [...new Set(owners)]
      .sort()
      .map((owner) => `;select owner from counters where owner = ${pg.escapeLiteral(owner)} for update`)
      .join('')
  const attempt = async <T>(
    work: (db: Db) => Promise<T>,
    mode: keyof typeof begin,
    owners: readonly string[],
  ): Promise<T> => {
    const client = await pool.connect()
    let db = mode === 'migrate' ? createKysely(client, undefined, stats) : databases.get(client)
    if (!db) {
      db = createKysely(client, query_timeout, stats)
      databases.set(client, db)
    }
    let broken: Error | undefined
    let committing = false
    try {
      const start = performance.now()
      await client.query({ text: begin[mode] + lock(owners), query_timeout } as QueryConfig)
      if (owners.length > 0) stats.lockSeconds += (performance.now() - start) / 1000
      stats.statements += owners.length
      const result = await work(db)
      committing = mode !== 'read'
      await client.query({ text: 'commit', query_timeout } as QueryConfig)
      return result
    } catch (error) {
      if (isConnectionLost(error)) {
        broken = error as Error
        throw committing ? new LostCommit(broken) : error
      }
      stats.rollbacks++
      if (committing && isCommitUnknownOnNode(error)) throw new LostCommit(error)
      await client.query('rollback').catch((failed: Error) => {
        broken = failed
      })
      throw error
    } finally {
      client.release(broken)
    }
  }

  const run = <T>(
    work: (db: Db) => Promise<T>,
    mode: keyof typeof begin,
    owners: readonly string[],
    repeatable: boolean,
  ): Promise<T> =>
    runInSpan(
      { name: `database ${mode}`, kind: 'client', attributes: { 'db.system.name': 'postgresql' } },
      () => repeated(work, mode, owners, repeatable),
    )
  const repeated = async <T>(
    work: (db: Db) => Promise<T>,
    mode: keyof typeof begin,
    owners: readonly string[],
    repeatable: boolean,
  ): Promise<T> => {
    if (mode === 'read') stats.reads++
    else stats.writes++
    let reconnects = 0
    for (let conflicts = 0; ; ) {
      try {
        return await attempt(work, mode, owners)
      } catch (error) {
        if (isConnectionLost(error) || (error instanceof LostCommit && repeatable)) {
          if (reconnects >= RECONNECT_DELAYS_MS.length) throw toProblem(error)
          stats.reconnects++
          await sleep(RECONNECT_DELAYS_MS[reconnects++])
        } else if (isConflict(error, mode)) {
          if (++conflicts >= MAX_CONFLICT_ATTEMPTS && mode === 'migrate')
            throw new Problem('overloaded', `the tables could not be updated: ${(error as Error).message}`, {
              hint: 'Another transaction has them locked. Look for it in pg_stat_activity, then start again: nothing was changed.',
            })
          if (conflicts >= MAX_CONFLICT_ATTEMPTS)
            throw new Problem('overloaded', 'too many writes to the same file at once')
          stats.conflicts++
          await sleep(Math.random() * 2 ** Math.min(conflicts, 9))
        } else throw toProblem(error)
      }
    }
  }

  const operations = {
    read: <T>(work: (db: Db) => Promise<T>) => run(work, 'read', [], true),
    write: <T>(owners: readonly string[], work: (db: Db) => Promise<T>, options: WriteOptions = {}) =>
      run(work, 'write', owners, options.repeatable === true),
    // Blobs are content-addressed: storing one twice changes nothing.
    writeDeferred: <T>(work: (db: Db) => Promise<T>) => run(work, 'write', [], true),
  }
  const lanes = new OwnerLimiter(Math.max(1, Math.floor(limits.database_connections * MAX_OWNER_POOL_SHARE)))
  // Without this limit, a second write of an owner holds a connection while it waits for the lock.
  const writing = new OwnerLimiter(1)
  return {
    name: 'postgres',
    stats,
    types: { text: sql`text collate "C"`, int: sql`bigint`, bytes: sql`bytea` },
    groupsWritesAcrossOwners: false,
    ...operations,
    migrate: (work) => run(work, 'migrate', [], true),
    forOwner: (owner) => ({
      read: (work) => lanes.run(owner, () => operations.read(work)),
      write: (owners, work, options) => writing.run(owner, () => operations.write(owners, work, options)),
      writeDeferred: (work) => lanes.run(owner, () => operations.writeDeferred(work)),
    }),
    // PostgreSQL maintains its own statistics, and verifies pages if data checksums are enabled.
    updateStatistics: async () => {},
    checkIntegrity: async () => [],
    compact: async () => {
      await pool.query('vacuum analyze')
    },
    close: () => pool.end(),
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Creates a Kysely instance on one connection. The engine begins and ends transactions. */
function createKysely(client: PoolClient, query_timeout: number | undefined, stats: EngineStats): Db {
  const connection: DatabaseConnection = {
    async executeQuery<R>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      stats.statements++
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

/** The connection was lost during a commit, here or between database nodes: the outcome is unknown. */
class LostCommit extends Error {
  constructor(override readonly cause: Error) {
    super(cause.message)
  }
}

/**
 * Returns whether a retry may succeed: serialization failure, deadlock, duplicate key; in migrations also
 * duplicate object or lock timeout.
 */
function isConflict(error: unknown, mode: string): boolean {
  const { code = '' } = error as { code?: string }
  if (code === '40001' || code === '40P01' || code === '23505') return true
  return mode === 'migrate' && /^(42P07|42701|42710|55P03)$/.test(code)
}

/**
 * Returns whether a new connection may succeed: the server is gone, stopping, starting, or a standby. Class
 * 08: connection failures; 57P0x: shutdowns; 25006: write on a standby; 25P03: idle transaction.
 */
function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof LostCommit || error instanceof Problem) return false
  const { code = '' } = error as { code?: string }
  return (
    /^(08...|57P0[123]|25006|25P03)$/.test(code) ||
    /^(ECONN\w+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/.test(code) ||
    /connection terminated|not queryable|connection ended|query read timeout/i.test(error.message)
  )
}

/** Returns whether the coordinator of a distributed database does not know if a node has committed. */
function isCommitUnknownOnNode(error: unknown): error is Error {
  return error instanceof Error && /could not commit transaction/i.test(error.message)
}

/** Converts errors of PostgreSQL to Problems. Returns anything else unchanged. */
function toProblem(error: unknown): unknown {
  if (error instanceof Problem || !(error instanceof Error)) return error
  if (error instanceof LostCommit)
    return new Problem(
      'overloaded',
      'the connection to the database was lost during the commit, so it is unknown whether the change was made',
      { hint: 'Repeat the request with the same Idempotency-Key; it is applied only once.' },
    )
  const { code = '' } = error as { code?: string }
  if (code === '3D000' || code === '28P01' || code === '28000')
    return new Problem('overloaded', `the database refuses the connection: ${error.message} (--database)`, {
      hint: 'Create the database and the user, or correct --database.',
    })
  if (code === '53100') return new Problem('disk_full', 'the database cannot grow: its disk is full')
  if (code === '55P03')
    return new Problem('overloaded', 'another change to the same rows takes too long (limit lock_seconds)')
  if (code === '57014')
    return new Problem('overloaded', 'the database took too long (limit statement_seconds)')
  if (isConnectionLost(error) || /^53/.test(code) || /timeout exceeded/i.test(error.message))
    return new Problem('overloaded', `the database does not answer: ${error.message}`)
  return error
}
