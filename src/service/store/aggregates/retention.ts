// Deletes expired drafts and versions.
import { defaultLimits, type Limits } from '../../../contract/limits.ts'
import type { Engine } from '../engines/engine.ts'
import type { FileKey } from '../schema/file-key.ts'
import type { Db } from '../schema/schema.ts'
import { Journal } from './audit.ts'
import { DraftReader, DraftWriter, removeDraft } from './drafts.ts'
import { FileWriter } from './file-writer.ts'
import { JobWriter } from './jobs.ts'
import { Quotas, UsageWriter } from './usage.ts'
import { VersionReader, type VersionRow, VersionWriter } from './versions.ts'

const DAY_MS = 24 * 3600 * 1000
/** Drafts and versions read in one transaction. */
const BATCH_DRAFTS = 100
const BATCH_VERSIONS = 2000
/** Maximum number of versions of one file examined per sweep. */
const MAX_EXAMINED_VERSIONS = 100_000

type VersionAge = Pick<VersionRow, 'version' | 'made_at' | 'kept_at'>
type RetentionLimits = Pick<Limits, 'version_days' | 'versions' | 'daily_version_days'>

/**
 * Returns the expired versions of a file. Recent versions are kept up to a maximum number; older ones only if
 * they are the last of their day (UTC). The current version and kept ones never expire. `rows`: newest first.
 */
export function selectExpiredVersions(
  rows: readonly VersionAge[],
  current: number,
  now: number,
  limits: RetentionLimits,
): number[] {
  const expired: number[] = []
  let recent = 0
  let day = Number.NaN
  for (const { version, made_at, kept_at } of rows) {
    const date = Math.floor(made_at / DAY_MS)
    const isLastOfDay = date !== day
    day = date
    if (version === current) recent++
    if (version === current || kept_at !== null) continue
    if (made_at >= now - limits.version_days * DAY_MS && recent < limits.versions) {
      recent++
      continue
    }
    if (isLastOfDay && made_at >= now - limits.daily_version_days * DAY_MS) continue
    expired.push(version)
  }
  return expired
}

/** Returns a usage writer without quotas, for deletions. */
function createUnlimitedUsage(engine: Engine, db: Db): UsageWriter {
  return new UsageWriter(db, new Quotas(engine, defaultLimits))
}

/** Deletes drafts older than `draft_days`. Returns how many. */
export async function expireDrafts(
  engine: Engine,
  { draft_days }: Pick<Limits, 'draft_days'>,
  now = Date.now(),
): Promise<number> {
  let removed = 0
  for (;;) {
    const drafts = await engine.read((db) =>
      new DraftReader(db).listOlderThan(now - draft_days * DAY_MS, BATCH_DRAFTS),
    )
    for (const draft of drafts)
      await engine.write([draft.owner], async (db) => {
        const usage = createUnlimitedUsage(engine, db)
        const writers = {
          drafts: new DraftWriter(db),
          versions: new VersionWriter(db, usage),
          files: new FileWriter(db, new Journal(), usage, new JobWriter(db)),
        }
        // It may have been replaced in the meantime.
        const { owner, idlocal, name, made_at } = draft
        const current = await writers.drafts.get(owner, idlocal, name)
        if (current?.made_at === made_at) await removeDraft(writers, current)
      })
    removed += drafts.length
    if (drafts.length < BATCH_DRAFTS) return removed
  }
}

/** Deletes expired versions, file by file. Returns how many. */
export async function expireVersions(
  engine: Engine,
  limits: RetentionLimits,
  now = Date.now(),
): Promise<number> {
  let removed = 0
  for (let after: FileKey | undefined = { owner: '', idlocal: -1 }; after; ) {
    const from: FileKey = after
    const { files, last } = await engine.read((db) =>
      new VersionReader(db).findFilesWithHistory(from, BATCH_VERSIONS),
    )
    after = last
    for (const { owner, idlocal } of files) {
      const expired = await engine.read(async (db) => {
        const file = await db
          .selectFrom('files')
          .select('content_version')
          .where(({ and }) => and({ owner, idlocal }))
          .executeTakeFirst()
        if (!file) return []
        const rows = await new VersionReader(db).list(owner, idlocal, undefined, MAX_EXAMINED_VERSIONS)
        return selectExpiredVersions(rows, file.content_version, now, limits)
      })
      if (expired.length > 0)
        removed += await engine.write([owner], (db) =>
          new VersionWriter(db, createUnlimitedUsage(engine, db)).remove(owner, idlocal, expired, true),
        )
    }
  }
  return removed
}
