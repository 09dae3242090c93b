/** Creates users with many files by SQL, and measures requests, for scale.test.ts and the benchmark. */
import { sql } from 'kysely'
import { JobWriter } from '../../src/service/store/aggregates/jobs.ts'
import { NEW_FILES_PER_JOB } from '../../src/service/store/aggregates/words.ts'
import type { Engine } from '../../src/service/store/engines/engine.ts'
import { scatter, type TestService } from './service.ts'

/** Files created by one statement. */
const STEP = 50_000
/** First id of the created files. */
const FROM = 1_000

/**
 * Gives alice a folder `big` with `n` files: a tenth plots, a tenth folders, the others grids; half of them public, one
 * in a hundred shared with bob. And `n` public plots of 100 others, of which one in a thousand is of the best quality.
 */
export async function fill(test: TestService, n: number): Promise<void> {
  const { engine } = test.service.store
  const big = (
    await test.ask('alice', 'POST', '/v2/folders', { json: { path: 'big', world_readable: true } })
  ).json.file.fid
  const folder = Number(big.split(':')[1])
  const path = Array.from({ length: 20 }, (_, k) => `level ${k}`).join('/')
  const deep = (await test.ask('alice', 'POST', '/v2/folders', { json: { path } })).json.file.fid
  await test.grid('alice', 'deep', { n: [1] }, { parent: Number(deep.split(':')[1]) })
  for (let k = 0; k < 3; k++) await test.grid('alice', `home ${k}`, { n: [k] })
  for (let k = 0; k < 10; k++) {
    const { fid } = await test.grid('alice', `gone ${k}`, { n: [k] })
    await test.ask('alice', 'POST', `/v2/files/${fid}/trash`)
    const { file } = await test.plot('alice', scatter([k]))
    await test.ask('alice', 'POST', `/v2/files/${file.fid}/collaborators`, { json: { users: ['carol'] } })
    await test.ask('carol', 'POST', `/v2/files/${file.fid}/star`)
  }
  const { file: plot } = await test.plot('alice', scatter([1, 2, 3]), { world_readable: true })
  const content = await engine.read((db) =>
    db
      .selectFrom('contents')
      .selectAll()
      .where('owner', '=', 'alice')
      .where('idlocal', '=', Number(plot.fid.split(':')[1]))
      .executeTakeFirstOrThrow(),
  )
  for (let from = 0; from < n; from += STEP) {
    const to = Math.min(n, from + STEP)
    await engine.write(['alice'], async (db) => {
      const numbers = sql`with recursive numbers(k) as (select ${sql.lit(from)} union all select k + 1 from numbers where k + 1 < ${sql.lit(to)})`
      const name = sql`'f' || substr('0000000' || k, length('0000000' || k) - 6)`
      const columns = sql`(owner, idlocal, filetype, filename, live_name, parent, world_readable, metadata, shared,
        creation_time, date_modified, version, quality)`
      await sql`insert into files ${columns} ${numbers} select 'alice', k + ${sql.lit(FROM)},
        case k % 10 when 0 then 'plot' when 1 then 'fold' else 'grid' end, ${name}, ${name}, ${sql.lit(folder)},
        (k / 10) % 2, '{}', case when k % 100 = 5 then 1 else 0 end, 1700000000000 + k, 1700000000000 + cast(k as bigint) * 7919 % ${sql.lit(n)}, 1,
        case k % 10 when 0 then k / 10 % 5 end from numbers`.execute(db)
      await sql`insert into collaborators (owner, idlocal, kind, name, may_write, added_at, filename, filetype, parent, world_readable)
        select owner, idlocal, 'user', 'bob', 0, 0, filename, filetype, parent, world_readable from files
        where owner = 'alice' and idlocal >= ${sql.lit(FROM + from)} and idlocal < ${sql.lit(FROM + to)}
        and idlocal % 100 = 5`.execute(db)
      const owner = sql`'other' || (k % 100)`
      await sql`insert into files ${columns} ${numbers} select ${owner}, k, 'plot', ${name}, ${name}, -1, 1, '{}', 0,
        1700000000000 + k, 1700000000000 + k, 1, case when k % 1000 = 7 then 5 else k % 5 end from numbers`.execute(
        db,
      )
      await sql`insert into contents (owner, idlocal, hash, bytes, media_type) ${numbers} select ${owner}, k,
        ${content.hash}, ${sql.lit(content.bytes)}, ${content.media_type} from numbers`.execute(db)
    })
  }
  await engine.write(['alice'], async (db) => {
    for (let k = 0; k < 100; k++)
      await sql`insert into objects (owner, key, hash, state, home, place, bytes, body, changed_at)
        select ${`other${k}`}, key, hash, state, home, place, bytes, body, changed_at from objects
        where owner = 'alice' and hash = ${content.hash}`.execute(db)
    for (let k = 0; k < 100; k++)
      await sql`insert into users (owner, name_key, is_admin, date_joined)
        values (${`other${k}`}, ${`other${k}`}, 0, 0)`.execute(db)
    await sql`update counters set next_idlocal = ${sql.lit(FROM + n + NEW_FILES_PER_JOB)} where owner = 'alice'`.execute(
      db,
    )
    await sql`delete from file_counts`.execute(db)
    await sql`insert into file_counts (owner, place, filetype, files, public_files)
      select owner, parent, filetype, count(*), sum(world_readable) from files where trashed_at is null
        group by owner, parent, filetype
      union all select owner, -2, filetype, count(*), sum(world_readable) from files where trashed_at is null
        group by owner, filetype
      union all select owner, -4, filetype, count(*), sum(world_readable) from files where trashed_at is not null
        group by owner, filetype`.execute(db)
    await sql`analyze`.execute(db)
  })
  await engine.write(['alice'], (db) => new JobWriter(db).schedule('alice', 'words'))
  await test.service.runJobs()
}

/** The folder with most of the files. */
export async function folderOf(test: TestService): Promise<string> {
  return (await test.ask('alice', 'GET', '/v2/folders/lookup?path=big')).json.fid
}

/** Requests whose cost does not grow with the files: user and path. */
export async function reads(test: TestService): Promise<[user: string | undefined, path: string][]> {
  const big = await folderOf(test)
  const deep = (
    await test.ask(
      'alice',
      'GET',
      `/v2/files/lookup?path=${Array.from({ length: 20 }, (_, k) => `level ${k}`).join('/')}/deep`,
    )
  ).json.fid
  const shared = `alice:${FROM + 105}`
  const list = `/v2/folders/${big}`
  const cursor = async (user: string, path: string): Promise<string> => {
    const { json } = await test.ask(user, 'GET', path)
    const next = new URL((json.children ?? json).next)
    return next.pathname + next.search
  }
  const half = `${list}?page_size=400`
  return [
    ['alice', list],
    ['alice', await cursor('alice', half)],
    ['alice', `${list}?page=19`],
    ['alice', `${list}?order_by=-date_modified`],
    ['alice', await cursor('alice', `${list}?order_by=-date_modified`)],
    ['alice', `${list}?filetype=plot`],
    ['alice', `${list}?filetype=fold`],
    ['alice', `${list}?filetype=plot&order_by=date_modified`],
    ['alice', '/v2/folders/home'],
    ['alice', '/v2/folders/all'],
    ['alice', await cursor('alice', '/v2/folders/all?page_size=400')],
    ['alice', '/v2/folders/all?order_by=-date_modified'],
    ['alice', '/v2/folders/all?filetype=fold'],
    ['alice', '/v2/folders/trashed'],
    ['carol', '/v2/folders/shared'],
    ['carol', '/v2/folders/starred'],
    ['bob', '/v2/folders/shared?page_size=10'],
    ['bob', '/v2/folders/home?user=alice'],
    ['bob', '/v2/folders/all?user=alice'],
    ['bob', `${list}`],
    ['carol', '/v2/folders/all?user=alice'],
    ['carol', '/v2/folders/home?user=alice'],
    [undefined, '/v2/folders/all?user=alice'],
    [undefined, '/v2/folders/all?user=alice&order_by=date_modified'],
    [undefined, '/v2/folders/home?user=alice'],
    ['bob', `/v2/files/${shared}/path`],
    ['alice', `/v2/files/${deep}`],
    ['alice', '/v2/files/lookup?path=home 1'],
    [undefined, '/v2/plots?page_size=20'],
    [undefined, '/v2/plots?page_size=20&order_by=-views'],
    [undefined, '/v2/plots?page_size=1&min_quality=5'],
    ['bob', '/v2/plots?page_size=20&min_quality=3&max_quality=4'],
    [undefined, await cursor('alice', '/v2/plots?page_size=100')],
    [undefined, '/v2/plots/feed'],
  ]
}

/** Searches of alice, with one result, with many and without any. Their cost does not grow with the files. */
export const SEARCHES = ['f0000007', 'f00', 'deep', 'no such word', '%'].map(
  (q): [user: string, path: string] => ['alice', `/v2/folders/search?q=${encodeURIComponent(q)}`],
)

/** Counts the PostgreSQL pages that the statements of `work` touch. */
export async function pages(engine: Engine, work: () => Promise<unknown>): Promise<number> {
  const total = async (): Promise<number> => {
    const { rows } = await engine.read((db) =>
      sql<{ pages: number }>`select sum(shared_blks_hit + shared_blks_read + temp_blks_read) as pages
        from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database())
        and query not like '%pg_stat_statements%'`.execute(db),
    )
    return Number(rows[0].pages)
  }
  const before = await total()
  await work()
  return (await total()) - before
}
