// A database that Citus distributes over two workers. Runs where a PostgreSQL with Citus is installed.
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defaultLimits } from '../../src/contract/limits.ts'
import { verifyStore } from '../../src/service/admin.ts'
import { createService } from '../../src/service/index.ts'
import { distribute } from '../../src/service/store/engines/distribution.ts'
import { createPostgresEngine } from '../../src/service/store/engines/postgres.ts'
import { migrate } from '../../src/service/store/migrate.ts'
import { migrations } from '../../src/service/store/migrations/index.ts'
import { type Citus, citusPrograms, startCitus } from '../support/citus.ts'
import { TestService, URL_OF_TESTS } from '../support/service.ts'
import { ShardWatch } from '../support/shards.ts'

describe.skipIf(citusPrograms() === undefined)('a database on Citus', () => {
  let cluster: Citus
  beforeAll(async () => {
    cluster = await startCitus()
  })
  afterAll(() => cluster?.stop())

  const engineOn = (url: string) => createPostgresEngine(url, defaultLimits)
  const serviceOn = async (database: string): Promise<TestService> =>
    new TestService(await createService({ database, url: URL_OF_TESTS, environment: {} }), database)

  it('a Citus database is distributed once, including tables of later versions', async () => {
    const engine = await engineOn(await cluster.database('once'))
    try {
      await migrate(engine, { all: migrations.filter(({ name }) => name < '0019') })
      const before = await distribute(engine, defaultLimits)
      expect(before.nodes).toBe(2)
      expect(before.tables).not.toContain('referencers')
      expect((await distribute(engine, defaultLimits)).tables).toEqual([])
      expect(await migrate(engine)).toContain('0019-referencers')
      const { rows } = await engine.read((db) =>
        sql<{ method: string }>`select partmethod as method from pg_dist_partition
          where logicalrelid = 'referencers'::regclass`.execute(db),
      )
      expect(rows).toEqual([{ method: 'h' }])
      expect((await distribute(engine, defaultLimits)).tables).toEqual([])
    } finally {
      await engine.close()
    }
  })

  it('distribute completes a partly distributed database', async () => {
    const engine = await engineOn(await cluster.database('half'))
    try {
      await migrate(engine)
      await engine.write([], (db) => sql`select create_distributed_table('counters', 'owner')`.execute(db))
      expect((await distribute(engine, defaultLimits, true)).tables).toContain('files')
      expect((await distribute(engine, defaultLimits)).tables).toContain('files')
      expect((await distribute(engine, defaultLimits)).tables).toEqual([])
    } finally {
      await engine.close()
    }
  })

  it('while a Citus worker restarts, requests get 503, never 500, and nothing is lost or doubled', async () => {
    const database = await cluster.database('load')
    const first = await serviceOn(database)
    await distribute(first.service.store.engine, defaultLimits)
    const shards = new ShardWatch()
    const second = await serviceOn(database)
    try {
      const owners = Array.from({ length: 6 }, (_, k) => `owner${k}`)
      const grids = new Map<string, { fid: string; rows: number }>()
      for (const owner of owners) {
        await first.user(owner)
        second.keys.set(owner, first.keys.get(owner)!)
        grids.set(owner, { fid: (await first.grid(owner, 'g', { a: [0] })).fid, rows: 1 })
      }
      const refused = new Set<number>()
      let isOver = false
      const writing = owners.map(async (owner, k) => {
        const test = k % 2 === 0 ? first : second
        const grid = grids.get(owner)!
        while (!isOver) {
          const key = { 'idempotency-key': randomUUID() }
          for (;;) {
            const { status, text } = await test.ask(owner, 'POST', `/v2/grids/${grid.fid}/row`, {
              json: { rows: [[grid.rows]] },
              headers: key,
            })
            if (status < 300) break
            refused.add(status)
            if (status !== 503) throw new Error(`${status} ${text}`)
          }
          grid.rows++
          // A plot concerns two owners: its references are rows of both.
          const other = grids.get(owners[(k + 1) % owners.length])!
          if (grid.rows % 10 === 0) await test.ask(owner, 'GET', `/v2/grids/${other.fid}`)
        }
      })
      await cluster.crash(1)
      await cluster.crash(2)
      isOver = true
      await Promise.all(writing)
      for (const owner of owners) {
        const { fid, rows } = grids.get(owner)!
        expect(
          (await second.ask(owner, 'GET', `/v2/grids/${fid}/content?format=json`)).json.cols.a.data,
        ).toEqual(Array.from({ length: rows }, (_, n) => n))
      }
      expect([...refused].filter((status) => status !== 503)).toEqual([])
      expect((await verifyStore(first.service.store)).damage).toEqual([])
      expect(shards.unexpected()).toEqual([])
    } finally {
      shards.stop()
      await first.service.close()
      await second.service.close()
    }
  })
})
