// Two versions on one database: expansion and contraction.
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { defaultLimits } from '../../../src/contract/limits.ts'
import { createService } from '../../../src/service/index.ts'
import type { Migration } from '../../../src/service/store/engines/engine.ts'
import { createPostgresEngine } from '../../../src/service/store/engines/postgres.ts'
import { openSqlite } from '../../../src/service/store/engines/sqlite.ts'
import { migrate } from '../../../src/service/store/migrate.ts'
import { migrations } from '../../../src/service/store/migrations/index.ts'
import { openStore } from '../../../src/service/store/store.ts'
import { newDatabase } from '../../support/postgres.ts'
import { TestService, temporaryFolder, URL_OF_TESTS } from '../../support/service.ts'

const last = migrations.at(-1)!.name
/** An expansion of the next version: a column with a default, and an index. */
const expansion: Migration = {
  name: '9998-expands',
  worksWith: last,
  up: async (db, { int }) => {
    await db.schema
      .alterTable('files')
      .addColumn('weight', int, (c) => c.notNull().defaultTo(1))
      .execute()
    await sql`create index files_weight on files (owner, weight)`.execute(db)
  },
}
/** A contraction of the version after it: removes what servers without the expansion need. */
const contraction: Migration = {
  name: '9999-contracts',
  worksWith: expansion.name,
  up: (db: Kysely<unknown>) => db.schema.dropTable('former_names').execute(),
}

describe.each(['sqlite', 'postgres'] as const)('a database of a newer version [%s]', (engine) => {
  it('a database of the next version works with servers of this version until a migration removes what they need', async () => {
    const folder = temporaryFolder()
    const file = join(folder.path, 'test.db')
    const database = engine === 'sqlite' ? `sqlite:${file}` : await newDatabase(inject('postgres'))
    const open = (): ReturnType<typeof createService> =>
      createService({ database, url: URL_OF_TESTS, environment: {} })
    const newer = async (all: Migration[]): Promise<string[]> => {
      const newerEngine =
        engine === 'sqlite' ? openSqlite(file) : await createPostgresEngine(database, defaultLimits)
      try {
        return await migrate(newerEngine, { all: [...migrations, ...all] })
      } finally {
        await newerEngine.close()
      }
    }
    const running = new TestService(await open(), database)
    try {
      await running.user('alice')
      const { fid } = await running.grid('alice', 'before', { a: [1] })
      expect(await newer([expansion])).toEqual([expansion.name])
      const started = new TestService(await open(), database)
      started.keys.set('alice', running.keys.get('alice')!)
      for (const test of [running, started]) {
        const made = await test.grid('alice', `by ${test === running}`, { a: [1] })
        expect(
          await test.status('alice', 'POST', `/v2/grids/${made.fid}/row`, { json: { rows: [[2]] } }),
        ).toBeLessThan(300)
        expect(await test.status('alice', 'POST', `/v2/files/${fid}/copy`, { json: {} })).toBeLessThan(300)
      }
      await started.service.close()
    } finally {
      await running.service.close()
    }
    expect(await newer([expansion, contraction])).toEqual([contraction.name])
    await expect(openStore({ database })).rejects.toMatchObject({
      code: 'conflict',
      message:
        'the database was updated by a newer version of Gridline, which this one cannot work with (9999-contracts)',
    })
    folder.remove()
  })
})
