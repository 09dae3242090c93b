import { defaultLimits, type Limits } from '../../../contract/limits.ts'
import type { Engine } from '../engines/engine.ts'
import type { Key } from '../schema/keys.ts'
import type { Db } from '../schema/schema.ts'
import { Journal } from './audit.ts'
import { DraftReader, DraftWriter, removeDraft } from './drafts.ts'
import { FileWriter } from './files.ts'
import { Quotas, UsageWriter } from './usage.ts'
import { VersionReader, type VersionRow, VersionWriter } from './versions.ts'

const DAY = 24 * 3600 * 1000
/** Drafts looked at in one transaction, and versions. */
const FILES = 100
const LOOKED_AT = 2000
/** Versions of a file that are looked at. More are looked at by the next sweep. */
const MAX_VERSIONS = 100_000

type Kept = Pick<VersionRow, 'version' | 'made_at' | 'kept_at'>
type Rules = Pick<Limits, 'version_days' | 'versions' | 'daily_version_days'>

/**
 * The versions of a file that have expired: all of the last days stay, up to a number; before that, the last one of each
 * day (UTC), for a time. The present one and those that were kept never expire. `rows`: the newest first.
 */
export function expiredVersions(rows: readonly Kept[], current: number, now: number, rules: Rules): number[] {
  const expired: number[] = []
  let recent = 0
  let day = Number.NaN
  for (const { version, made_at, kept_at } of rows) {
    const date = Math.floor(made_at / DAY)
    const isLastOfDay = date !== day
    day = date
    if (version === current) recent++
    if (version === current || kept_at !== null) continue
    if (made_at >= now - rules.version_days * DAY && recent < rules.versions) {
      recent++
      continue
    }
    if (isLastOfDay && made_at >= now - rules.daily_version_days * DAY) continue
    expired.push(version)
  }
  return expired
}

/** Of what is removed, nothing is checked. */
function unlimited(engine: Engine, db: Db): UsageWriter {
  return new UsageWriter(db, new Quotas(engine, defaultLimits))
}

/** Removes the drafts that are older than some days. */
export async function expireDrafts(
  engine: Engine,
  { draft_days }: Pick<Limits, 'draft_days'>,
  now = Date.now(),
): Promise<number> {
  let removed = 0
  for (;;) {
    const drafts = await engine.read((db) => new DraftReader(db).olderThan(now - draft_days * DAY, FILES))
    for (const draft of drafts)
      await engine.write([draft.owner], async (db) => {
        const usage = unlimited(engine, db)
        const writers = {
          drafts: new DraftWriter(db),
          versions: new VersionWriter(db, usage),
          files: new FileWriter(db, new Journal(), usage),
        }
        // It may have been made again meanwhile.
        const { owner, idlocal, name, made_at } = draft
        const current = await writers.drafts.get(owner, idlocal, name)
        if (current?.made_at === made_at) await removeDraft(writers, current)
      })
    removed += drafts.length
    if (drafts.length < FILES) return removed
  }
}

/** Removes the versions that have expired, file by file. */
export async function expireVersions(engine: Engine, rules: Rules, now = Date.now()): Promise<number> {
  let removed = 0
  for (let after: Key | undefined = { owner: '', idlocal: -1 }; after; ) {
    const from: Key = after
    const { files, last } = await engine.read((db) => new VersionReader(db).filesWithHistory(from, LOOKED_AT))
    after = last
    for (const { owner, idlocal } of files) {
      const expired = await engine.read(async (db) => {
        const file = await db
          .selectFrom('files')
          .select('content_version')
          .where('owner', '=', owner)
          .where('idlocal', '=', idlocal)
          .executeTakeFirst()
        if (!file) return []
        const rows = await new VersionReader(db).list(owner, idlocal, undefined, MAX_VERSIONS)
        return expiredVersions(rows, file.content_version, now, rules)
      })
      if (expired.length > 0)
        removed += await engine.write([owner], (db) =>
          new VersionWriter(db, unlimited(engine, db)).remove(owner, idlocal, expired, true),
        )
    }
  }
  return removed
}
