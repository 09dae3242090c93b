// The PostgreSQL engine: owner locks, retries and timeouts.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CompiledQuery,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  sql,
} from 'kysely'
import type Pg from 'pg'
import type { Pool, PoolClient, QueryConfig } from 'pg'
import { errorCodeOf, errorMessageOf, Problem } from '../../../contract/errors.ts'
import type { Limits } from '../../../contract/limits.ts'
import { runInSpan } from '../../tracing/tracing.ts'
import type { Db } from '../schema/schema.ts'
import { type Engine, EngineStats, type Transactions, type WriteOptions } from './engine.ts'
import { EngineConnection } from './kysely.ts'
import { OwnerLimiter } from './owner-limiter.ts'

/** Maximum attempts for a transaction that conflicts with others. */
const MAX_CONFLICT_ATTEMPTS = 30
/** Waits before a transaction is repeated on a new connection, in ms. */
const RECONNECT_DELAYS_MS = [50, 100, 200, 300, 300, 300]
/** Time after a loss in which the transaction may begin again, in ms: each attempt can wait for a host that vanished. */
const RECONNECT_MS = 3_000
const CONNECT_TIMEOUT_MS = 5_000
/** Maximum wait for the begin of a transaction besides that for its locks, in waits for a lock: poolers may queue it. */
const BEGIN_LOCK_WAITS = 3
/** Lock timeout of one attempt of a migration, in ms. */
const MIGRATION_LOCK_TIMEOUT_MS = 2_000
/** Maximum share of the pool that one owner may use. */
const MAX_OWNER_POOL_SHARE = 0.5

type Work<T> = (db: Db) => Promise<T>
type Mode = 'read' | 'write' | 'migrate'

/** A transaction: its mode, the users whose rows it locks, and whether it may run again if its commit is lost. */
interface TransactionPlan {
  mode: Mode
  owners: readonly string[]
  repeatable: boolean
}

const READ: TransactionPlan = { mode: 'read', owners: [], repeatable: true }
const MIGRATE: TransactionPlan = { mode: 'migrate', owners: [], repeatable: true }
// Blobs are content-addressed: storing one twice changes nothing.
const WRITE_DEFERRED: TransactionPlan = { mode: 'write', owners: [], repeatable: true }

/** Creates the engine for PostgreSQL. Connects at the first query. Throws `usage` for an invalid URL. */
export async function createPostgresEngine(url: string, limits: Limits): Promise<Engine> {
  if (!URL.canParse(url))
    throw new Problem('usage', '--database: not a PostgreSQL URL', {
      hint: 'Give postgres://user:password@host:5432/name. Write special characters in the password as %XX.',
    })
  const { pg } = await import('../../../vendor/pg.ts')
  return new PostgresEngine(createPool(pg, url, limits), pg.escapeLiteral, limits)
}

/** Creates a pool of connections that survives the loss of any of them. */
function createPool(pg: typeof Pg, url: string, limits: Limits): Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: limits.database_connections,
    // pg returns int8 as text. Counts, ids and milliseconds fit in a number.
    types: {
      getTypeParser: (oid, format) => (oid === 20 ? Number : pg.types.getTypeParser(oid, format)),
    },
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'gridline',
  })
  // A lost idle connection is replaced on next use.
  pool.on('error', () => {})
  // A lost connection in use fails its query. Without a listener, the event would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** Returns the statements that begin a transaction of each mode, with its timeouts. */
function formatBeginStatements({ lock_seconds, statement_seconds }: Limits): Record<Mode, string> {
  // Citus changes several shards one after the other, so that any other statement may follow. PostgreSQL
  // without Citus ignores the setting.
  const citus = 'set local citus.multi_shard_modify_mode = sequential;'
  const timeouts =
    citus +
    `set local lock_timeout = ${lock_seconds * 1000};` +
    `set local statement_timeout = ${statement_seconds * 1000};` +
    `set local idle_in_transaction_session_timeout = ${statement_seconds * 1000}`
  return {
    read: `begin isolation level repeatable read read only;${timeouts}`,
    write: `begin isolation level read committed read write;${timeouts}`,
    // A waiting schema lock blocks all later ones, so it times out soon, and the migration is retried.
    migrate: `begin isolation level read committed read write;${citus}set local lock_timeout = ${MIGRATION_LOCK_TIMEOUT_MS}`,
  }
}

/**
 * PostgreSQL. A write locks its owners' rows first; then each statement sees what is committed (READ
 * COMMITTED). A read has one snapshot (REPEATABLE READ). A transaction is repeated after a conflict, and on a
 * new connection after a lost one; after a loss during the commit, only if it is `repeatable`.
 */
class PostgresEngine implements Engine {
  readonly name = 'postgres'
  readonly stats = new EngineStats()
  readonly types = { text: sql`text collate "C"`, int: sql`bigint`, bytes: sql`bytea` }
  readonly groupsWritesAcrossOwners = false
  private readonly databases = new WeakMap<PoolClient, Db>()
  private readonly begin: Record<Mode, string>
  /** Do not wait forever for a host that vanished without closing the connection. */
  private readonly query_timeout: number
  /** Maximum wait for the lock of an owner, in ms. */
  private readonly lockMs: number
  private readonly lanes: OwnerLimiter
  /** Without this limit, a second write of an owner holds a connection while it waits for the lock. */
  private readonly writing = new OwnerLimiter(1)

  constructor(
    private readonly pool: Pool,
    private readonly escapeLiteral: (text: string) => string,
    limits: Limits,
  ) {
    const { stats } = this
    stats.connections = () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount })
    this.begin = formatBeginStatements(limits)
    this.query_timeout = (limits.statement_seconds + 10) * 1000
    this.lockMs = limits.lock_seconds * 1000
    this.lanes = new OwnerLimiter(Math.max(1, Math.floor(limits.database_connections * MAX_OWNER_POOL_SHARE)))
  }

  read<T>(work: Work<T>): Promise<T> {
    return this.run(READ, work)
  }

  migrate<T>(work: Work<T>): Promise<T> {
    return this.run(MIGRATE, work)
  }

  write<T>(owners: readonly string[], work: Work<T>, options: WriteOptions = {}): Promise<T> {
    return this.run({ mode: 'write', owners, repeatable: options.repeatable === true }, work)
  }

  writeDeferred<T>(work: Work<T>): Promise<T> {
    return this.run(WRITE_DEFERRED, work)
  }

  forOwner(owner: string): Transactions {
    return {
      read: (work) => this.lanes.run(owner, () => this.read(work)),
      write: (owners, work, options) => this.writing.run(owner, () => this.write(owners, work, options)),
      writeDeferred: (work) => this.lanes.run(owner, () => this.writeDeferred(work)),
    }
  }

  /** Does nothing: PostgreSQL maintains its own statistics. */
  async updateStatistics(): Promise<void> {}

  /** Finds nothing: PostgreSQL verifies pages if data checksums are enabled. */
  async checkIntegrity(): Promise<string[]> {
    return []
  }

  async compact(): Promise<void> {
    await this.pool.query('vacuum analyze')
  }

  close(): Promise<void> {
    return this.pool.end()
  }

  /** Runs a transaction in a span, and counts it. */
  private run<T>(plan: TransactionPlan, work: Work<T>): Promise<T> {
    return runInSpan(
      { name: `database ${plan.mode}`, kind: 'client', attributes: { 'db.system.name': 'postgresql' } },
      () => {
        if (plan.mode === 'read') this.stats.reads++
        else this.stats.writes++
        return this.runUntilCommitted(plan, work)
      },
    )
  }

  /** Repeats a transaction after conflicts and lost connections. */
  private async runUntilCommitted<T>(plan: TransactionPlan, work: Work<T>): Promise<T> {
    let reconnects = 0
    let lostAt: number | undefined
    for (let conflicts = 0; ; ) {
      try {
        return await this.attempt(plan, work)
      } catch (error) {
        const isLost = isConnectionLost(error) && !isReadTimeout(error)
        if (isLost || (error instanceof LostCommit && plan.repeatable)) {
          lostAt ??= performance.now()
          const isOver = performance.now() - lostAt > RECONNECT_MS
          if (isOver || reconnects >= RECONNECT_DELAYS_MS.length) throw toProblem(error)
          this.stats.reconnects++
          await sleep(RECONNECT_DELAYS_MS[reconnects++])
        } else if (isConflict(error, plan.mode)) {
          if (++conflicts >= MAX_CONFLICT_ATTEMPTS) throw tooManyConflictsError(error, plan.mode)
          this.stats.conflicts++
          await sleep(Math.random() * 2 ** Math.min(conflicts, 9))
        } else throw toProblem(error)
      }
    }
  }

  /** Runs a transaction once. Throws `LostCommit` if it is unknown whether it was committed. */
  private async attempt<T>({ mode, owners }: TransactionPlan, work: Work<T>): Promise<T> {
    const client = await this.pool.connect()
    const db = this.databaseOn(client, mode)
    let isBroken = false
    let committing = false
    try {
      const start = performance.now()
      const query_timeout = (BEGIN_LOCK_WAITS + owners.length) * this.lockMs
      const begin: TimedQuery = { text: this.begin[mode] + this.lock(owners), query_timeout }
      await client.query(begin)
      if (owners.length > 0) this.stats.lockSeconds += (performance.now() - start) / 1000
      this.stats.statements += owners.length
      const result = await work(db)
      committing = mode !== 'read'
      const commit: TimedQuery = { text: 'commit', query_timeout: this.query_timeout }
      await client.query(commit)
      return result
    } catch (error) {
      if (isConnectionLost(error)) {
        isBroken = true
        throw committing ? new LostCommit(error) : error
      }
      this.stats.rollbacks++
      if (committing && isCommitUnknownOnNode(error)) throw new LostCommit(error)
      await client.query('rollback').catch(() => {
        isBroken = true
      })
      throw error
    } finally {
      client.release(isBroken)
    }
  }

  /** Returns the Kysely instance of a connection; for migrations a new one without timeout. */
  private databaseOn(client: PoolClient, mode: Mode): Db {
    if (mode === 'migrate') return new PostgresConnection(client, undefined, this.stats).db
    const known = this.databases.get(client)
    if (known) return known
    const { db } = new PostgresConnection(client, this.query_timeout, this.stats)
    this.databases.set(client, db)
    return db
  }

  /**
   * Returns the statements that lock owners, which are sent with BEGIN. Sorted by name, so that transactions cannot
   * deadlock. One statement per owner, since a distributed engine locks rows of one shard at a time.
   */
  private lock(owners: readonly string[]): string {
    return [...new Set(owners)]
      .sort()
      .map((owner) => `;select owner from counters where owner = ${this.escapeLiteral(owner)} for update`)
      .join('')
  }
}

/** Returns the error of a transaction that has conflicted too often. */
function tooManyConflictsError(error: unknown, mode: Mode): Problem {
  if (mode !== 'migrate') return new Problem('overloaded', 'too many writes to the same file at once')
  return new Problem('overloaded', `the tables could not be updated: ${errorMessageOf(error)}`, {
    hint: 'Another transaction has them locked. Look for it in pg_stat_activity, then start again: nothing was changed.',
  })
}

/** A query with its own timeout in ms, which the types of pg lack. */
interface TimedQuery extends QueryConfig<unknown[]> {
  query_timeout: number | undefined
}

/** One connection of the pool. `query_timeout`: maximum time of a query, in ms; undefined for no limit. */
class PostgresConnection extends EngineConnection {
  constructor(
    private readonly client: PoolClient,
    private readonly query_timeout: number | undefined,
    private readonly stats: EngineStats,
  ) {
    super({
      createAdapter: () => new PostgresAdapter(),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createIntrospector: (db) => new PostgresIntrospector(db),
    })
  }

  async executeQuery<R>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    this.stats.statements++
    const query: TimedQuery = { text, values: [...parameters], query_timeout: this.query_timeout }
    const { rows, rowCount } = await this.client.query(query)
    return { rows, numAffectedRows: BigInt(rowCount ?? 0) }
  }
}

/** The connection was lost during a commit, here or between database nodes: the outcome is unknown. */
class LostCommit extends Error {
  constructor(override readonly cause: unknown) {
    super(errorMessageOf(cause))
  }
}

/**
 * Returns whether a retry may succeed: serialization failure, deadlock, duplicate key; in migrations also
 * duplicate object or lock timeout.
 */
function isConflict(error: unknown, mode: Mode): boolean {
  const code = errorCodeOf(error)
  if (code === '40001' || code === '40P01' || code === '23505') return true
  return mode === 'migrate' && /^(42P07|42701|42710|55P03)$/.test(code)
}

/**
 * Returns whether a new connection may succeed: the server is gone, stopping, starting, or a standby. Class
 * 08: connection failures; 57P0x: shutdowns; 25006: write on a standby; 25P03: idle transaction.
 */
function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof LostCommit || error instanceof Problem) return false
  const code = errorCodeOf(error)
  return (
    /^(08...|57P0[123]|25006|25P03)$/.test(code) ||
    /^(ECONN\w+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/.test(code) ||
    /connection terminated|not queryable|connection ended|query read timeout/i.test(error.message)
  )
}

/**
 * Returns whether a query took too long. It is not repeated: a database, or its pooler, that is slow would have more to
 * do.
 */
function isReadTimeout(error: unknown): boolean {
  return error instanceof Error && /query read timeout/i.test(error.message)
}

/** Returns whether the coordinator of a distributed database does not know if a node has committed. */
function isCommitUnknownOnNode(error: unknown): boolean {
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
  const code = errorCodeOf(error)
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
