// Opens the store: the layer that holds all SQL, and no business rules.
import { Problem } from '../../contract/errors.ts'
import { defaultLimits, type Limits } from '../../contract/limits.ts'
import { AccountReader, AccountWriter } from './aggregates/accounts.ts'
import { AlertReader, AlertWriter } from './aggregates/alerts.ts'
import {
  type Actor,
  AuditReader,
  type AuditRow,
  AuditWriter,
  expireAudit,
  Journal,
} from './aggregates/audit.ts'
import { CredentialReader, CredentialWriter } from './aggregates/credentials.ts'
import { DerivationReader, DerivationWriter } from './aggregates/derivations.ts'
import { DraftReader, DraftWriter } from './aggregates/drafts.ts'
import { FileWriter } from './aggregates/file-writer.ts'
import { FileReader } from './aggregates/files.ts'
import { FolderReader, FolderWriter } from './aggregates/folders.ts'
import { GridWriter } from './aggregates/grid-writer.ts'
import { GridReader } from './aggregates/grids.ts'
import {
  deleteExpiredIdempotencyKeys,
  IdempotencyReader,
  IdempotencyWriter,
  type OnceOptions,
  type WriteKey,
} from './aggregates/idempotency.ts'
import { JobReader, JobWriter, SWEEP_INTERVAL_MS } from './aggregates/jobs.ts'
import { ListReader } from './aggregates/lists.ts'
import { MailingReader, MailingWriter } from './aggregates/mailings.ts'
import { PlotReader, PlotWriter } from './aggregates/plots.ts'
import { RelationReader } from './aggregates/relations.ts'
import { expireDrafts, expireVersions } from './aggregates/retention.ts'
import { SharingReader, SharingWriter } from './aggregates/sharing.ts'
import { UrlRefreshReader, UrlRefreshWriter } from './aggregates/url-refreshes.ts'
import { Quotas, UsageReader, UsageWriter } from './aggregates/usage.ts'
import { VersionReader, VersionWriter } from './aggregates/versions.ts'
import type { Engine, Transactions, WriteOptions } from './engines/engine.ts'
import { resolveDatabaseFile } from './engines/sqlite-database.ts'
import { migrate } from './migrate.ts'
import type { Blobs, Claim } from './objects/blobs.ts'
import { Locations } from './objects/locations.ts'
import { StoredBlobs } from './objects/stored-blobs.ts'
import type { Db } from './schema/schema.ts'

/** Readers of the store, by subject. */
export type Readers = ReturnType<typeof createReaders>
/** Readers and writers of the store, by subject. */
export type Writers = ReturnType<typeof createWriters>['writers']

/** Runs a transaction. */
export type Write = <T>(work: (writers: Writers) => Promise<T>) => Promise<T>

function createReaders(db: Db, quotas: Quotas) {
  const folders = new FolderReader(db)
  return {
    accounts: new AccountReader(db),
    credentials: new CredentialReader(db),
    files: new FileReader(db),
    folders,
    lists: new ListReader(db, folders),
    grids: new GridReader(db),
    plots: new PlotReader(db),
    relations: new RelationReader(db),
    sharing: new SharingReader(db),
    versions: new VersionReader(db),
    derivations: new DerivationReader(db),
    urlRefreshes: new UrlRefreshReader(db),
    alerts: new AlertReader(db),
    mailings: new MailingReader(db),
    drafts: new DraftReader(db),
    idempotency: new IdempotencyReader(db),
    jobs: new JobReader(db),
    usage: new UsageReader(db, quotas),
    audit: new AuditReader(db),
  }
}

function createWriters(db: Db, { quotas, immediateFiles: toldAtOnce }: StoreContext, { message }: Actor) {
  const journal = new Journal()
  const usage = new UsageWriter(db, quotas)
  const jobs = new JobWriter(db)
  const files = new FileWriter(db, journal, usage, jobs)
  const folders = new FolderWriter(db, files, jobs, toldAtOnce)
  const writers = {
    accounts: new AccountWriter(db, journal),
    credentials: new CredentialWriter(db, journal),
    files,
    folders,
    lists: new ListReader(db, folders),
    grids: new GridWriter(db, usage),
    plots: new PlotWriter(db, usage),
    relations: new RelationReader(db),
    sharing: new SharingWriter(db, journal),
    versions: new VersionWriter(db, usage, message),
    derivations: new DerivationWriter(db),
    urlRefreshes: new UrlRefreshWriter(db),
    alerts: new AlertWriter(db),
    mailings: new MailingWriter(db),
    drafts: new DraftWriter(db),
    idempotency: new IdempotencyWriter(db),
    jobs,
    usage,
    audit: new AuditWriter(db),
  }
  return { writers, journal }
}

/** Transactions on the database, and the blobs that its rows refer to. */
export interface Store {
  readonly engine: Engine
  readonly blobs: Blobs
  readonly locations: Locations
  /** Runs reads on one consistent snapshot. */
  read<T>(work: (readers: Readers) => Promise<T>): Promise<T>
  /**
   * Runs one durable transaction. `owners`: users whose rows `work` changes, or reads to decide on a change.
   * `work` may run again after a conflict, so it must have no side effects outside the store.
   */
  write<T>(
    owners: readonly string[],
    work: (writers: Writers) => Promise<T>,
    options?: WriteOptions,
  ): Promise<T>
  /** Returns the stored result of a write that was already applied; undefined for a new write. */
  findResultOf<T>(key: WriteKey): Promise<T | undefined>
  /** Runs a write once per idempotency key. The result of `work` must be JSON. */
  writeOnce<T>(key: WriteKey, work: (writers: Writers) => Promise<T>, options?: OnceOptions<T>): Promise<T>
  /** The store whose writes are committed: this one, unless it comes from `withoutCommit`. */
  readonly durableStore: Store
  /** True if its writes are rolled back. */
  readonly isDry: boolean
  /** Returns a store for requests on one owner's files, limited to part of the connections. */
  forOwner(owner: string): Store
  /** Returns a store that records `actor` in the audit log. Fields missing in `actor` keep their values. */
  withActor(actor: Actor): Store
  /** Calls `listener` with each event of the audit log, after it is committed. */
  onAudit(listener: (row: AuditRow) => void): void
  readonly quotas: Quotas
  /** Calls `listener` after a transaction that added a job which is due now. */
  onJob(listener: () => void): void
  /**
   * Deletes expired versions, drafts, audit events and idempotency keys, and blobs unreferenced for `grace`
   * ms (default: a day). Several servers may sweep at once. Calls `throwIfStopped` between two steps, and between parts of long ones.
   */
  sweep(grace?: number, throwIfStopped?: () => Promise<void>): Promise<void>
  close(): Promise<void>
}

export interface StoreOptions {
  /** `sqlite:FILE` or `postgres://…`. */
  database: string
  limits?: Limits
  /** Maximum number of pages of a SQLite database, for tests of a full disk. */
  maxPages?: number
  /** Where new blobs are stored: `sql`, `file:DIR` or `s3://…`. Default: the current location. */
  blobs?: string
  /** Environment variables with the credentials of S3. Default: those of the process. */
  environment?: Record<string, string | undefined>
  /** Maximum size of an object stored in its row, in bytes. For tests that store all of them outside. */
  maxInlineBytes?: number
  /** Maximum number of files updated in the request that trashes their folder. For tests of the later job. */
  maxImmediateFiles?: number
  /** Changes nothing: throws `conflict` for a database that needs migrations. */
  isDry?: boolean
}

/** Opens a database, applies missing migrations, and checks where blobs are stored. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const engine = await openEngine(options)
  const locations = new Locations(engine, options.environment ?? process.env)
  try {
    const isDry = options.isDry === true && options.database !== 'sqlite::memory:'
    const missing = await migrate(engine, { isDry })
    if (isDry && missing.length > 0)
      throw new Problem('conflict', `the database must be updated first (${missing.join(', ')})`, {
        hint: 'Run gridline admin migrate, or a command without --dry-run.',
      })
    if (options.blobs !== undefined) await locations.adoptOrAssert(options.blobs)
  } catch (error) {
    await engine.close()
    throw error
  }
  const { limits = defaultLimits } = options
  return new EngineStore(engine, engine, {
    limits,
    claims: new Set(),
    locations,
    inlineBytes: options.maxInlineBytes,
    onJobAdded: () => {},
    onAudited: () => {},
    quotas: new Quotas(engine, limits),
    immediateFiles: options.maxImmediateFiles,
  })
}

/** Applies the missing migrations, or with `isDry` only finds them. Returns their names. */
export async function migrateDatabase(options: StoreOptions): Promise<string[]> {
  const engine = await openEngine(options)
  try {
    return await migrate(engine, { isDry: options.isDry })
  } finally {
    await engine.close()
  }
}

/** State shared by all stores of one engine. */
interface StoreContext {
  limits: Limits
  /** Uploads in progress. */
  claims: Set<Claim>
  locations: Locations
  inlineBytes?: number
  onJobAdded: () => void
  onAudited: (row: AuditRow) => void
  quotas: Quotas
  immediateFiles?: number
}

/** A store on all transactions of the engine, or on those limited for one owner. A class: each write makes one. */
class EngineStore implements Store {
  readonly blobs: Blobs
  readonly locations: Locations
  readonly quotas: Quotas
  readonly isDry: boolean = false
  readonly durableStore: Store = this

  constructor(
    readonly engine: Engine,
    private readonly transactions: Transactions,
    private readonly shared: StoreContext,
    private readonly actor: Actor = { user: null },
  ) {
    this.blobs = new StoredBlobs(transactions, shared.locations, shared.claims, shared.inlineBytes)
    this.locations = shared.locations
    this.quotas = shared.quotas
  }

  read<T>(work: (readers: Readers) => Promise<T>): Promise<T> {
    return this.transactions.read((db) => work(createReaders(db, this.quotas)))
  }

  async write<T>(
    owners: readonly string[],
    work: (writers: Writers) => Promise<T>,
    options?: WriteOptions,
  ): Promise<T> {
    const { shared, actor } = this
    await shared.quotas.refresh()
    let hasJobs = false
    let auditRows: AuditRow[] = []
    const result = await this.transactions.write(
      owners,
      async (db) => {
        const { writers, journal } = createWriters(db, shared, actor)
        const value = await work(writers)
        hasJobs = writers.jobs.hasAddedDueJob
        auditRows = journal.events.length === 0 ? [] : await writers.audit.record(journal.events, actor)
        return value
      },
      options,
    )
    if (hasJobs) shared.onJobAdded()
    for (const row of auditRows) shared.onAudited(row)
    return result
  }

  async findResultOf<T>(key: WriteKey): Promise<T | undefined> {
    if (key.key === undefined) return undefined
    return (await this.read(({ idempotency }) => idempotency.findResult<T>(key)))?.result
  }

  writeOnce<T>(key: WriteKey, work: (writers: Writers) => Promise<T>, options?: OnceOptions<T>): Promise<T> {
    return this.write(
      [key.owner, ...(options?.owners ?? [])],
      (writers) => writers.idempotency.runOnce(key, () => work(writers), options),
      { repeatable: key.key !== undefined },
    )
  }

  forOwner(owner: string): Store {
    const lane = this.engine.forOwner(owner)
    return lane === this.transactions ? this : new EngineStore(this.engine, lane, this.shared, this.actor)
  }

  withActor(actor: Actor): Store {
    return new EngineStore(this.engine, this.transactions, this.shared, { ...this.actor, ...actor })
  }

  onAudit(listener: (row: AuditRow) => void): void {
    this.shared.onAudited = listener
  }

  onJob(listener: () => void): void {
    this.shared.onJobAdded = listener
  }

  sweep(grace?: number, throwIfStopped?: () => Promise<void>): Promise<void> {
    return sweep(this, this.shared.limits, grace, throwIfStopped)
  }

  close(): Promise<void> {
    return this.engine.close()
  }
}

/** Deletes what has expired, step by step. Schedules the next sweep. */
async function sweep(
  store: Store,
  limits: Limits,
  grace?: number,
  throwIfStopped = async (): Promise<void> => {},
): Promise<void> {
  const { engine, blobs, locations } = store
  for (const step of [
    () => deleteExpiredIdempotencyKeys(engine),
    () => expireVersions(engine, limits),
    () => expireDrafts(engine, limits),
    () => expireAudit(engine, limits),
    () => blobs.collectUnreferenced(grace, Date.now(), throwIfStopped),
    () => locations.measureSizes(throwIfStopped),
    () => engine.updateStatistics(),
  ]) {
    await throwIfStopped()
    await step()
  }
  await store.write([], ({ jobs }) => jobs.setDue('', 'sweep', '', Date.now() + SWEEP_INTERVAL_MS))
}

/** Returns the file of a SQLite address, also behind a link. */
export function databaseFileOf(database: string): string {
  return resolveDatabaseFile(database.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, ''))
}

/** Returns the path of a folder next to a SQLite file; undefined in memory and for PostgreSQL. */
export function resolveBesideDatabase(database: string, suffix: string): string | undefined {
  if (!database.startsWith('sqlite:') || databaseFileOf(database) === ':memory:') return undefined
  return `${databaseFileOf(database)}-${suffix}`
}

/** Opens the engine of a database address. Throws `usage` for an invalid one. */
async function openEngine({
  database,
  maxPages,
  limits = defaultLimits,
  isDry,
}: StoreOptions): Promise<Engine> {
  if (database.startsWith('sqlite:')) {
    const { openSqlite } = await import('./engines/sqlite.ts')
    return openSqlite(databaseFileOf(database), { maxPages, isDry })
  }
  if (/^postgres(ql)?:\/\//.test(database)) {
    const { createPostgresEngine } = await import('./engines/postgres.ts')
    return createPostgresEngine(database, limits)
  }
  // `database` may hold a password read from a file: show only its scheme.
  const [scheme] = /^[a-z][a-z0-9+]{0,19}:(?=\/\/)/i.exec(database) ?? []
  throw new Problem('usage', `--database: not a database${scheme ? `: ${scheme}…` : ''}`, {
    hint: 'Give sqlite:FILE or postgres://user:password@host/name',
  })
}
