// The cost of lists does not grow with the files: database pages at 1,000 and at 20,000 files.
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject } from 'vitest'
import { createService } from '../../../src/service/index.ts'
import { newDatabase } from '../../support/postgres.ts'
import { itLong } from '../../support/property-runs.ts'
import { fill, pages, reads, SEARCHES } from '../../support/scale.ts'
import { TestService, URL_OF_TESTS } from '../../support/service.ts'

const [FEW, MANY] = [1_000, Number(process.env.GRIDLINE_SCALE ?? 20_000)]

// Citus nodes count their own pages.
describe.skipIf(inject('store') === 'citus')('reads of few and of many files', () => {
  const tests: TestService[] = []
  beforeAll(async () => {
    for (const n of [FEW, MANY]) {
      const database = await newDatabase(inject('postgres'))
      const service = await createService({ database, url: URL_OF_TESTS, environment: {} })
      const test = new TestService(service, database)
      for (const user of ['alice', 'bob', 'carol']) await test.user(user)
      await service.store.engine.write([], async (db) => {
        await sql`create extension if not exists pg_stat_statements`.execute(db)
      })
      await fill(test, n)
      tests.push(test)
    }
  })
  afterAll(async () => {
    for (const { service } of tests) await service.close()
  })

  itLong('reads of many files touch at most twice the database pages of reads of few files', async () => {
    const costs: number[][] = []
    const paths: string[] = []
    for (const test of tests) {
      const own: number[] = []
      for (const [user, path] of [...(await reads(test)), ...SEARCHES]) {
        if (test === tests[0]) paths.push(`${user} ${path}`)
        const ask = async (): Promise<void> => {
          const { status, text } = await test.ask(user, 'GET', path)
          if (status !== 200) throw new Error(`${user} ${path}: ${status} ${text}`)
        }
        await ask()
        own.push(await pages(test.service.store.engine, ask))
      }
      costs.push(own)
    }
    const table = paths.map((path, k) => ({
      path,
      few: costs[0][k],
      many: costs[1][k],
      ratio: costs[1][k] / costs[0][k],
    }))
    if (process.env.GRIDLINE_SCALE) console.table(table)
    expect(table.filter(({ ratio }) => ratio > 2)).toEqual([])
  })
})
