// Rows as SQLite returns them.
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { afterAll, expect, it } from 'vitest'
import { openSqlite } from '../../../src/service/store/engines/sqlite.ts'
import { temporaryFolder } from '../../support/service.ts'

interface Tables {
  things: { name: string; size: number | null; bytes: Uint8Array; more?: string }
}

const folder = temporaryFolder()
afterAll(folder.remove)

it('rows have the columns of their statement, also after another process has added some', async () => {
  const file = join(folder.path, 'things.db')
  const engine = openSqlite(file)
  const run = <T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T> =>
    engine.read((db) => work(db as unknown as Kysely<Tables>))
  await engine.migrate(async (db) => {
    await sql`create table things (name text, size integer, bytes blob)`.execute(db)
    await sql`insert into things values ('a', 1, x'00ff'), ('b', null, x'')`.execute(db)
  })
  const readAll = () => run((db) => db.selectFrom('things').selectAll().orderBy('name').execute())
  const readSome = () =>
    run((db) => db.selectFrom('things').select(['size as n', 'things.name']).orderBy('name').execute())
  const readNone = () => run((db) => db.selectFrom('things').selectAll().where('name', '=', 'c').execute())
  const readCount = () =>
    run((db) =>
      db
        .selectFrom('things')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .execute(),
    )
  const all = [
    { name: 'a', size: 1, bytes: new Uint8Array([0, 255]) },
    { name: 'b', size: null, bytes: new Uint8Array() },
  ]
  const some = [
    { n: 1, name: 'a' },
    { n: null, name: 'b' },
  ]
  // The first time, names of columns are not known.
  for (let time = 0; time < 3; time++) {
    expect(await readAll()).toEqual(all)
    expect(await readSome()).toEqual(some)
    expect(await readNone()).toEqual([])
    expect(await readCount()).toEqual([{ count: 2 }])
  }
  const other = openSqlite(file)
  await other.migrate((db) => sql`alter table things add column more text default 'x'`.execute(db))
  await other.close()
  expect(await readAll()).toEqual(all.map((row) => ({ ...row, more: 'x' })))
  expect(await readSome()).toEqual(some)
  await engine.close()
})
