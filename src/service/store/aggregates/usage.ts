// Enforces quotas: limits on the files, rows and bytes of a user.
import { sql } from 'kysely'
import { Problem } from '../../../contract/errors.ts'
import { formatBytes, type Limits } from '../../../contract/limits.ts'
import { formatCount } from '../../../contract/message-texts.ts'
import type { Engine } from '../engines/engine.ts'
import type { Db } from '../schema/schema.ts'
import { COUNT_PLACES } from './file-counts.ts'

/**
 * Storage used by a user. Files include trashed ones. Rows are those of current versions and drafts. Bytes
 * include values and figures before compression, of all versions, and metadata.
 */
export interface Usage {
  files: number
  rows: number
  bytes: number
}

/** Limits for a user; null for no limit. */
export type Quota = { [what in keyof Usage]: number | null }

const QUOTA_UNITS = ['files', 'rows', 'bytes'] as const

/** Metadata of a file without metadata. */
export const NO_METADATA = '{}'

/** How long quotas are cached, in ms. */
const QUOTA_CACHE_MS = 2_000
/** How long the measured usage of a user is cached, in ms. */
const USAGE_CACHE_MS = 1_000
const MAX_CACHED_USERS = 10_000

interface CachedUsage extends Usage {
  until: number
  /** A write was refused: do not measure again before `until`. */
  isRefused?: boolean
}

/** Caches the quotas and recent usage of users in this process. */
export class Quotas {
  private ownQuotas: ReadonlyMap<string, Quota> = new Map()
  private readUntil = 0
  private reload: Promise<void> | undefined
  private readonly usages = new Map<string, CachedUsage>()
  private readonly defaultQuota: Quota | undefined

  constructor(
    private readonly engine: Engine,
    limits: Limits,
  ) {
    const { user_files, user_rows, user_bytes } = limits
    const common = { files: user_files || null, rows: user_rows || null, bytes: user_bytes || null }
    if (QUOTA_UNITS.some((unit) => common[unit] !== null)) this.defaultQuota = common
  }

  /** Reloads the quotas if the cache is older than 2 s. */
  async refresh(): Promise<void> {
    if (performance.now() < this.readUntil) return
    this.reload ??= this.load().finally(() => {
      this.reload = undefined
    })
    await this.reload
  }

  private async load(): Promise<void> {
    const rows = await this.engine
      .read((db) => db.selectFrom('user_quotas').selectAll().execute())
      .catch(() => undefined)
    // Without the database, the write itself fails.
    if (!rows) return
    this.ownQuotas = new Map(rows.map(({ owner, ...quota }) => [owner, quota]))
    this.readUntil = performance.now() + QUOTA_CACHE_MS
  }

  /** Returns the quota of a user; undefined without one. */
  quotaOf(owner: string): Quota | undefined {
    return this.ownQuotas.get(owner) ?? this.defaultQuota
  }

  /** Returns whether a user has their own quota instead of the default. */
  hasOwnQuota(owner: string): boolean {
    return this.ownQuotas.has(owner)
  }

  /** Returns the last measured usage plus later additions; undefined if expired. */
  getCachedUsage(owner: string): CachedUsage | undefined {
    const cached = this.usages.get(owner)
    return cached && cached.until > performance.now() ? cached : undefined
  }

  /** Caches a measured usage. `isRefused`: the write was refused. */
  cacheUsage(owner: string, usage: Usage, isRefused: boolean): void {
    if (this.usages.size >= MAX_CACHED_USERS) this.usages.clear()
    this.usages.set(owner, { ...usage, until: performance.now() + USAGE_CACHE_MS, isRefused })
  }

  /** Forgets the cached usage of a user, after a removal or a change of quota. */
  forgetUsage(owner: string): void {
    this.usages.delete(owner)
  }

  /** Discards all cached quotas and usage. */
  invalidate(): void {
    this.readUntil = 0
    this.usages.clear()
  }
}

/** Measures what users store, and returns their quotas. */
export class UsageReader {
  constructor(
    protected readonly db: Db,
    protected readonly quotas: Quotas,
  ) {}

  /** Returns the quota of a user, with nulls for no limit. */
  getQuota(owner: string): Quota {
    return this.quotas.quotaOf(owner) ?? { files: null, rows: null, bytes: null }
  }

  /** Measures the storage of a user. Reads all files and slices of the user. */
  async measureUsage(owner: string): Promise<Usage> {
    const { rows } = await sql<{ [unit in keyof Usage]: number | null }>`select
      (select sum(files) from file_counts where owner = ${owner}
        and place in (${COUNT_PLACES.active}, ${COUNT_PLACES.hidden}, ${COUNT_PLACES.trashed})) as files,
      coalesce((select sum(row_count) from grids where owner = ${owner}), 0)
        + coalesce((select sum(row_count) from versions where owner = ${owner} and version < 0), 0) as rows,
      coalesce((select sum(bytes) from slices where owner = ${owner}), 0)
        + coalesce((select sum(bytes) from past_slices where owner = ${owner}), 0)
        + coalesce((select sum(tail_bytes) from grids where owner = ${owner}), 0)
        + coalesce((select sum(bytes) from contents where owner = ${owner}), 0)
        + coalesce((select sum(bytes) from versions where owner = ${owner} and hash is not null), 0)
        + coalesce((select sum(octet_length(metadata)) from files
          where owner = ${owner} and metadata <> ${NO_METADATA}), 0) as bytes`.execute(this.db)
    const [{ files, rows: count, bytes }] = rows
    return { files: Number(files ?? 0), rows: Number(count ?? 0), bytes: Number(bytes ?? 0) }
  }

  /** Counts the files of a user, including trashed ones. Reads only the file counts. */
  async countUserFiles(owner: string): Promise<number> {
    const { files } = await this.db
      .selectFrom('file_counts')
      .select(({ fn }) => fn.sum<number | null>('files').as('files'))
      .where('owner', '=', owner)
      .where('place', 'in', [COUNT_PLACES.active, COUNT_PLACES.hidden, COUNT_PLACES.trashed])
      .executeTakeFirstOrThrow()
    return Number(files ?? 0)
  }
}

export class UsageWriter extends UsageReader {
  /** Returns whether the number of rows of a user is limited. */
  hasRowLimit(owner: string): boolean {
    return (this.quotas.quotaOf(owner)?.rows ?? null) !== null
  }

  /**
   * Reserves space before a write. Throws `quota_exceeded` if the quota has no room for `growth`.
   * `unwritten`: reserved in this transaction, but not yet in the tables.
   */
  async reserve(owner: string, growth: Partial<Usage>, unwritten: Partial<Usage> = {}): Promise<void> {
    const quota = this.quotas.quotaOf(owner)
    if (!quota || QUOTA_UNITS.every((unit) => quota[unit] === null || !growth[unit])) return
    const cached = this.quotas.getCachedUsage(owner)
    if (cached) {
      const over = quotaError(quota, growth, cached)
      if (!over) {
        for (const unit of QUOTA_UNITS) cached[unit] += growth[unit] ?? 0
        return
      }
      if (cached.isRefused) throw over
    }
    const usage = await this.measureUsage(owner)
    for (const unit of QUOTA_UNITS) usage[unit] += unwritten[unit] ?? 0
    const over = quotaError(quota, growth, usage)
    if (!over) for (const unit of QUOTA_UNITS) usage[unit] += growth[unit] ?? 0
    this.quotas.cacheUsage(owner, usage, over !== undefined)
    if (over) throw over
  }

  /** Reserves space before metadata of a file are replaced. */
  async reserveMetadata(owner: string, after: string, before = NO_METADATA): Promise<void> {
    const bytesOf = (text: string): number => (text === NO_METADATA ? 0 : Buffer.byteLength(text))
    const bytes = bytesOf(after) - bytesOf(before)
    if (bytes > 0) await this.reserve(owner, { bytes })
    else if (bytes < 0) this.forgetUsageOf(owner)
  }

  /** Forgets the cached usage of a user after a removal. */
  forgetUsageOf(owner: string): void {
    this.quotas.forgetUsage(owner)
  }

  /** Sets the quota of a user; undefined for the default. */
  async setQuota(owner: string, quota: Quota | undefined): Promise<void> {
    await this.db.deleteFrom('user_quotas').where('owner', '=', owner).execute()
    if (quota)
      await this.db
        .insertInto('user_quotas')
        .values({ owner, ...quota })
        .execute()
    this.quotas.invalidate()
  }
}

/** How to make room, by unit. */
const HINTS_BY_UNIT: Readonly<Record<(typeof QUOTA_UNITS)[number], string>> = {
  files: 'Delete files permanently.',
  rows: 'Delete grids permanently, or rows.',
  bytes: 'Delete files permanently, or forget earlier versions.',
}

/** Returns the error for the first exceeded limit; undefined if there is room. */
function quotaError(quota: Quota, growth: Partial<Usage>, usage: Usage): Problem | undefined {
  for (const unit of QUOTA_UNITS) {
    const [max, added] = [quota[unit], growth[unit]]
    if (max === null || !added || usage[unit] + added <= max) continue
    const text = (count: number): string =>
      unit === 'bytes' ? formatBytes(count) : formatCount(count, unit.slice(0, -1))
    return new Problem(
      'quota_exceeded',
      `there is no room for ${text(added)}: the quota is ${text(max)}, and ${text(usage[unit])} are in use`,
      {
        hint: `${HINTS_BY_UNIT[unit]} An administrator can change the quota: gridline admin user quota NAME`,
      },
    )
  }
  return undefined
}
