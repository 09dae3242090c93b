// The SQLite engine: one writer with group commit, several readers.
import {
  type CompiledQuery,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import { Problem } from '../../../contract/errors.ts'
import { yieldToEventLoop } from '../../../json/index.ts'
import type { Db } from '../schema/schema.ts'
import { type Engine, EngineStats } from './engine.ts'
import { EngineConnection } from './kysely.ts'
import {
  BUSY_TIMEOUT_MS,
  copyTemplate,
  type Database,
  logBytesOf,
  makeDatabasePrivate,
  openDatabase,
  type Statement,
} from './sqlite-database.ts'
import { releaseSpace, reserveSpace } from './sqlite-reserve.ts'
import { namesOf, PreparedStatement } from './sqlite-statement.ts'

const MAX_READERS = 4
const MAX_GROUP_WRITES = 256
const MAX_CACHED_STATEMENTS = 300
/**
 * Size of a log above which opening a database empties it, in bytes. A command leaves its log, since emptying it means to
 * sync twice; if no other process has the database open, the next command reads the whole log.
 */
const MAX_LEFT_LOG_BYTES = 1024 * 1024

interface SqliteOptions {
  maxPages?: number
  /** True if nothing is to be changed: a missing database is not made. */
  isDry?: boolean
}

/** Opens SQLite in WAL mode, in this process: one writer with group commit, and a few readers. */
export function openSqlite(file: string, options: SqliteOptions = {}): Engine {
  try {
    return createEngine(file, options)
  } catch (error) {
    throw toProblem(error)
  }
}

function createEngine(file: string, options: SqliteOptions): Engine {
  const isCopiedTemplate = options.isDry !== true && copyTemplate(file)
  makeDatabasePrivate(file)
  const stats = new EngineStats()
  const open = (): Connection => new Connection(openDatabase(file), stats)
  const writer = open()
  writer.database.exec('PRAGMA page_size = 4096')
  writer.database.exec('PRAGMA journal_mode = WAL')
  writer.database.exec('PRAGMA synchronous = FULL')
  // 2000 pages (8 MB): a checkpoint blocks the event loop, and smaller ones cost no more in total.
  writer.database.exec('PRAGMA wal_autocheckpoint = 2000')
  if (logBytesOf(file) > MAX_LEFT_LOG_BYTES) truncateLogIfUnused(writer.database)
  if (options.maxPages) writer.database.exec(`PRAGMA max_page_count = ${options.maxPages}`)
  const writes = new WriteQueue(writer, stats, file)
  const readers = new ReaderPool(open)
  let watcher: { connection: Connection; dataVersion: Statement } | undefined
  /** Returns the version of the data, as seen by a connection that never writes. */
  const readState = (): number | undefined => {
    try {
      if (!watcher) {
        const connection = open()
        watcher = { connection, dataVersion: connection.database.prepare('PRAGMA data_version') }
      }
      return watcher.dataVersion.all<{ data_version: number }>()[0].data_version
    } catch {
      // Locked or damaged: the read itself fails with the reason.
      return undefined
    }
  }
  stats.connections = () => readers.connections
  const engine: Engine = {
    name: 'sqlite',
    stats,
    isCopiedTemplate,
    types: { text: sql`text`, int: sql`integer`, bytes: sql`blob` },
    groupsWritesAcrossOwners: true,
    read: (work) => {
      stats.reads++
      return readers.run(work)
    },
    // There is only one writer, so owners need no locks.
    write: (_, work, options) => (options?.freesSpace ? writes.runFreeing(work) : writes.enqueue(work, true)),
    writeDeferred: (work) => writes.enqueue(work, false),
    // No connections to share out between owners.
    forOwner: () => engine,
    migrate: (work) => writes.enqueue(work, true),
    // Each connection to a database in memory has its own database.
    readState: file === ':memory:' ? undefined : readState,
    updateStatistics: () =>
      writes.runExclusive((database) => {
        database.exec('PRAGMA analysis_limit = 1000')
        database.exec('PRAGMA optimize = 0x10002')
      }),
    checkIntegrity: () =>
      writes.runExclusive((database) =>
        database
          .prepare('PRAGMA integrity_check(100)')
          .all<{ integrity_check: string }>()
          .map(({ integrity_check }) => integrity_check)
          .filter((text) => text !== 'ok')
          .map((text) => `the database file: ${text}`),
      ),
    compact: () =>
      writes.runExclusive((database) => {
        try {
          database.exec('VACUUM')
        } finally {
          // Also after a failure: otherwise the log keeps the removed data and the partial copy.
          database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all()
        }
      }),
    async close() {
      await writes.waitUntilIdle()
      readers.close()
      watcher?.connection.database.close()
      writer.database.close()
    },
  }
  return engine
}

/** A connection to a SQLite database, which keeps its prepared statements. */
class Connection extends EngineConnection {
  private readonly statements = new Map<string, PreparedStatement>()

  constructor(
    readonly database: Database,
    private readonly stats: EngineStats,
  ) {
    super({
      createAdapter: () => new SqliteAdapter(),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createIntrospector: (db) => new SqliteIntrospector(db),
    })
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.stats.statements++
    this.stats.onStatement?.(query.sql)
    let statement = this.statements.get(query.sql)
    if (!statement) {
      statement = new PreparedStatement(this.database.prepare(query.sql), namesOf(query.query))
      if (this.statements.size >= MAX_CACHED_STATEMENTS) this.statements.clear()
      this.statements.set(query.sql, statement)
    }
    const { parameters } = query
    const { kind } = query.query
    const returns = kind === 'SelectQueryNode' || kind === 'RawNode' || 'returning' in query.query
    if (returns) return { rows: statement.all<R>(parameters) }
    const { changes } = statement.run(parameters)
    return { rows: [], numAffectedRows: BigInt(changes) }
  }
}

interface WriteJob {
  /** Runs the transaction. Returns the function to call after the commit. */
  work: (db: Db) => Promise<() => void>
  durable: boolean
  reject: (error: unknown) => void
  outcome?: { resolve: () => void } | { error: unknown }
  /** It ran before, when the disk was full. */
  isRepeated?: boolean
}

/** Runs transactions one after the other. Commits waiting ones together. */
class WriteQueue {
  private waiting: WriteJob[] = []
  private running: Promise<void> | undefined
  private isDurable = true

  constructor(
    private readonly connection: Connection,
    private readonly stats: EngineStats,
    private readonly file: string,
  ) {}

  /**
   * Runs a transaction that frees space. On a full disk, releases the reserved space for its log, then
   * reserves it again.
   */
  async runFreeing<T>(work: (db: Db) => Promise<T>): Promise<T> {
    try {
      return await this.enqueue(work, true)
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'disk_full')) throw error
    }
    const wasReserved = await this.runExclusive((database) => {
      const existed = releaseSpace(this.file)
      truncateLog(database)
      return existed
    })
    try {
      return await this.enqueue(work, true)
    } finally {
      await this.runExclusive((database) => {
        truncateLog(database)
        if (wasReserved) reserveSpace(this.file)
      })
    }
  }

  /** Queues a transaction. It is committed together with others that wait. */
  enqueue<T>(work: (db: Db) => Promise<T>, durable: boolean): Promise<T> {
    this.stats.writes++
    return new Promise<T>((resolve, reject) => {
      const perform = async (db: Db): Promise<() => void> => {
        const value = await work(db)
        return () => resolve(value)
      }
      this.waiting.push({ work: perform, durable, reject })
      this.running ??= this.commitWaiting()
    })
  }

  /** Runs `work` on the connection, between two transactions. */
  async runExclusive<T>(work: (database: Database) => T): Promise<T> {
    await this.waitUntilIdle()
    try {
      return work(this.connection.database)
    } catch (error) {
      throw toProblem(error)
    }
  }

  /** Waits until no transaction is queued or running. */
  async waitUntilIdle(): Promise<void> {
    while (this.running) await this.running
  }

  private async commitWaiting(): Promise<void> {
    // Wait for one iteration of the event loop, so that concurrent requests join the first group.
    await new Promise(setImmediate)
    while (this.waiting.length > 0) await this.commitGroup(this.waiting.splice(0, MAX_GROUP_WRITES))
    this.running = undefined
  }

  /** Commits transactions together. Each has a savepoint, so that a failed one does not affect the others. */
  private async commitGroup(group: WriteJob[]): Promise<void> {
    const { database, db } = this.connection
    try {
      this.setDurable(group.some((job) => job.durable))
      database.exec('BEGIN IMMEDIATE')
      for (const job of group) {
        await yieldToEventLoop()
        if (group.length > 1) database.exec('SAVEPOINT job')
        try {
          job.outcome = { resolve: await job.work(db) }
          if (group.length > 1) database.exec('RELEASE job')
        } catch (error) {
          job.outcome = { error }
          this.stats.rollbacks++
          if (group.length === 1) throw error
          try {
            database.exec('ROLLBACK TO job')
            database.exec('RELEASE job')
          } catch {
            // SQLite has rolled back the whole transaction: all jobs of the group fail with this error.
            throw error
          }
        }
      }
      database.exec('COMMIT')
    } catch (error) {
      try {
        database.exec('ROLLBACK')
      } catch {
        // No transaction was open.
      }
      if (isDiskFullError(error) && group.some(({ isRepeated }) => !isRepeated)) {
        // The database file has free pages inside: emptying the log may make room on the disk.
        truncateLog(database)
        this.waiting.unshift(...group.map((job) => ({ ...job, outcome: undefined, isRepeated: true })))
        return
      }
      for (const { outcome, reject } of group) {
        // A job that failed with a Problem gets that; the others get the error of the commit.
        const isOwnError = outcome && 'error' in outcome && outcome.error instanceof Problem
        reject(toProblem(isOwnError ? outcome.error : error))
      }
      return
    }
    for (const { outcome, reject } of group) {
      if (outcome && 'resolve' in outcome) outcome.resolve()
      else reject(toProblem(outcome?.error))
    }
  }

  private setDurable(full: boolean): void {
    if (full === this.isDurable) return
    this.connection.database.exec(`PRAGMA synchronous = ${full ? 'FULL' : 'NORMAL'}`)
    this.isDurable = full
  }
}

function isDiskFullError(error: unknown): boolean {
  const problem = toProblem(error)
  return problem instanceof Problem && problem.code === 'disk_full'
}

/** Checkpoints the log as far as there is room, and truncates it. */
function truncateLog(database: Database): void {
  try {
    database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all()
  } catch {
    // No room: the log stays.
  }
}

/** Like `truncateLog`, but not while another process reads the log. */
function truncateLogIfUnused(database: Database): void {
  database.exec('PRAGMA busy_timeout = 0')
  truncateLog(database)
  database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
}

/** A pool of connections for reading, each used for one snapshot at a time. */
class ReaderPool {
  private readonly idle: Connection[] = []
  private readonly all: Connection[] = []
  private readonly waiting: ((connection: Connection) => void)[] = []

  constructor(private readonly open: () => Connection) {}

  async run<T>(work: (db: Db) => Promise<T>): Promise<T> {
    const connection = await this.acquire()
    try {
      await yieldToEventLoop()
      connection.database.exec('BEGIN')
      try {
        return await work(connection.db)
      } finally {
        connection.database.exec('COMMIT')
      }
    } catch (error) {
      throw toProblem(error)
    } finally {
      const next = this.waiting.shift()
      if (next) next(connection)
      else this.idle.push(connection)
    }
  }

  close(): void {
    for (const { database } of this.all) database.close()
  }

  get connections(): { open: number; idle: number; waiting: number } {
    return { open: this.all.length + 1, idle: this.idle.length, waiting: this.waiting.length }
  }

  private async acquire(): Promise<Connection> {
    const idle = this.idle.pop()
    if (idle) return idle
    if (this.all.length < MAX_READERS) {
      const connection = this.open()
      this.all.push(connection)
      return connection
    }
    return new Promise((resolve) => this.waiting.push(resolve))
  }
}

/** Converts SQLite errors to Problems. Returns anything else unchanged. */
function toProblem(error: unknown): unknown {
  if (error instanceof Problem || !(error instanceof Error)) return error
  const code = 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined
  if (code === 13 || /database or disk is full/i.test(error.message)) {
    return new Problem('disk_full', 'the database cannot grow: the disk is full')
  }
  if (code === 5 || /database is locked/i.test(error.message)) {
    return new Problem('overloaded', 'another process has kept the database busy for 10 s')
  }
  if (code === 8)
    return new Problem('disk_full', 'the database cannot be written to: it is read-only', {
      hint: 'Check the permissions of its folder.',
    })
  if (code === 11 || code === 26) {
    return new Problem('damaged', 'the database file is damaged', { hint: 'Restore it from a backup.' })
  }
  return error
}
