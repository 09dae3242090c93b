// Verifies folder trees, and the copies of their state in files, counts and grants.
import { sql } from 'kysely'
import { formatFid, ROOT } from '../../../contract/fid.ts'
import { selectTrashedFolders } from '../aggregates/file-counts.ts'
import type { Db } from '../schema/schema.ts'
import type { Store } from '../store.ts'

/** Reports damage of a file, or of an owner if `fid` is null. */
export type ReportDamage = (fid: string | null, what: string) => void

/** Maximum number of reports per kind of damage and owner. */
const MAX_LISTED = 100

/**
 * Verifies the folder trees of all users, each on one snapshot: no folder contains itself, every folder
 * exists, and `hidden`, counts and grants match the files.
 */
export async function verifyTrees({ engine }: Store, report: ReportDamage): Promise<void> {
  const owners = await engine.read((db) =>
    db.selectFrom('counters').select('owner').orderBy('owner').execute(),
  )
  for (const { owner } of owners)
    await engine.read(async (db) => {
      await verifyFolders(db, owner, report)
      await verifyTrashState(db, owner, report)
      await verifyCounts(db, owner, report)
      await verifyGrantCopies(db, owner, report)
    })
}

async function verifyFolders(db: Db, owner: string, report: ReportDamage): Promise<void> {
  const folders = await db
    .selectFrom('files')
    .select(['idlocal', 'parent', 'removed_at'])
    .where('owner', '=', owner)
    .where('filetype', '=', 'fold')
    .execute()
  const parents = new Map(folders.map(({ idlocal, parent }) => [idlocal, parent]))
  const rooted = new Set<number>()
  for (const { idlocal } of folders) {
    const path = new Set<number>()
    let at = idlocal
    while (at !== ROOT && parents.has(at) && !rooted.has(at) && !path.has(at)) {
      path.add(at)
      at = parents.get(at)!
    }
    if (path.has(at)) report(formatFid({ owner, idlocal }), 'the folder contains itself')
    for (const folder of path) rooted.add(folder)
  }
  const orphaned = await sql<{
    idlocal: number
  }>`select idlocal from files f where owner = ${owner} and parent <> ${sql.lit(ROOT)}
    and filetype <> 'extra' and removed_at is null and not exists (
      select 1 from files p where p.owner = ${owner} and p.idlocal = f.parent and p.filetype = 'fold')
    limit ${sql.lit(MAX_LISTED)}`.execute(db)
  for (const { idlocal } of orphaned.rows) report(formatFid({ owner, idlocal }), 'its folder is missing')
}

/** Verifies `hidden`. Skips owners with dirty folders, where it may be outdated. */
async function verifyTrashState(db: Db, owner: string, report: ReportDamage): Promise<void> {
  const marks = await db.selectFrom('marks').select('folder').where('owner', '=', owner).limit(1).execute()
  if (marks.length > 0) return
  for (const [hidden, where, text] of [
    [0, 'in', 'it is in a trashed folder, but lists show it'],
    [1, 'not in', 'it is in no trashed folder, but lists do not show it'],
  ] as const) {
    const { rows } = await sql<{
      idlocal: number
    }>`with ${selectTrashedFolders(owner)} select idlocal from files
      where owner = ${owner} and hidden = ${sql.lit(hidden)} and trashed_at is null
      and parent ${sql.raw(where)} (select idlocal from hiding) limit ${sql.lit(MAX_LISTED)}`.execute(db)
    for (const { idlocal } of rows) report(formatFid({ owner, idlocal }), text)
  }
}

async function verifyCounts(db: Db, owner: string, report: ReportDamage): Promise<void> {
  const { rows } = await sql<{ place: number; filetype: string; counted: number; files: number }>`
    select place, filetype, sum(counted) as counted, sum(files) as files from (
      select place, filetype, files as counted, 0 as files from file_counts where owner = ${owner}
      union all select parent, filetype, 0, count(*) from files
        where owner = ${owner} and trashed_at is null group by parent, filetype
      union all select case when hidden = 0 then -2 else -3 end, filetype, 0, count(*) from files
        where owner = ${owner} and trashed_at is null group by case when hidden = 0 then -2 else -3 end, filetype
      union all select -4, filetype, 0, count(*) from files
        where owner = ${owner} and trashed_at is not null and removed_at is null group by filetype
    ) as all_counts group by place, filetype having sum(counted) <> sum(files) limit ${sql.lit(MAX_LISTED)}`.execute(
    db,
  )
  for (const { place, filetype, counted, files } of rows)
    report(
      place >= 0 ? formatFid({ owner, idlocal: place }) : null,
      `${owner}: ${counted} files of type ${filetype} are counted in place ${place}, expected ${files}`,
    )
}

/** Verifies the copies of file columns in grants, which lists of shared files read. */
async function verifyGrantCopies(db: Db, owner: string, report: ReportDamage): Promise<void> {
  const { rows } = await sql<{ idlocal: number }>`select c.idlocal from collaborators c join files f
      on f.owner = c.owner and f.idlocal = c.idlocal
    where c.owner = ${owner} and (c.parent <> f.parent or c.filetype <> f.filetype or f.shared = 0
      or c.world_readable <> f.world_readable
      or coalesce(c.filename, '') <> case when f.trashed_at is null then f.filename else '' end
      or (f.trashed_at is null and c.hidden <> f.hidden))
    limit ${sql.lit(MAX_LISTED)}`.execute(db)
  for (const { idlocal } of rows)
    report(formatFid({ owner, idlocal }), 'its grants are outdated, and lists of shared files with them')
}
