// What several servers and many files cost: pages and processor time by the number of files, statements of requests,
// rollbacks at 1 and 3 servers, whole folders. GRIDLINE_SCALE=1000,100000,1000000 sets the numbers.
import { sql } from 'kysely'
import { describe, inject, it } from 'vitest'
import { createService } from '../../src/service/index.ts'
import { newDatabase } from '../support/postgres.ts'
import { fill, folderOf, pages, reads, SEARCHES } from '../support/scale.ts'
import { TestService, temporaryFolder, URL_OF_TESTS } from '../support/service.ts'

const COUNTS = (process.env.GRIDLINE_SCALE ?? '1000,20000').split(',').map(Number)
const SECONDS = Number(process.env.GRIDLINE_SECONDS ?? 5)
const ENGINES = ['sqlite', 'postgres'] as const

const folder = temporaryFolder()
let databases = 0

async function open(engine: (typeof ENGINES)[number], database?: string): Promise<TestService> {
  const address =
    database ??
    (engine === 'sqlite' ? `sqlite:${folder.path}/${databases++}.db` : await newDatabase(inject('postgres')))
  const service = await createService({ database: address, url: URL_OF_TESTS, environment: {} })
  const test = new TestService(service, address)
  if (engine === 'postgres')
    await service.store.engine.write([], async (db) => {
      await sql`create extension if not exists pg_stat_statements`.execute(db)
    })
  return test
}

async function another(first: TestService): Promise<TestService> {
  const test = await open('postgres', first.database)
  for (const [user, key] of first.keys) test.keys.set(user, key)
  return test
}

const round = (n: number, digits = 1): number => Number(n.toFixed(digits))

describe.each(ENGINES)('reads by the number of files [%s]', (engine) => {
  it('cost', async () => {
    const table = new Map<string, Record<string, number>>()
    for (const count of COUNTS) {
      const test = await open(engine)
      for (const user of ['alice', 'bob', 'carol']) await test.user(user)
      await fill(test, count)
      for (const [user, path] of [...(await reads(test)), ...SEARCHES]) {
        const name = `${user ?? 'anonymous'} ${path.replace(/cursor=.*/, 'cursor')}`
        const row = table.get(name) ?? {}
        table.set(name, row)
        const ask = () => test.ask(user, 'GET', path)
        await ask()
        const { stats } = test.service.store.engine
        const before = stats.statements
        if (engine === 'postgres') row[`${count} pages`] = await pages(test.service.store.engine, ask)
        else {
          const times: number[] = []
          for (let k = 0; k < 7; k++) {
            const start = process.cpuUsage()
            await ask()
            const { user: own, system } = process.cpuUsage(start)
            times.push((own + system) / 1000)
          }
          row[`${count} ms`] = round(times.sort((a, b) => a - b)[3])
        }
        if (count === COUNTS[0])
          row.statements =
            engine === 'postgres' ? stats.statements - before - 2 : (stats.statements - before) / 7
      }
      await test.service.close()
    }
    console.table(Object.fromEntries(table))
  })

  it('whole folders', async () => {
    const table: Record<string, Record<string, number>> = {}
    for (const count of COUNTS) {
      const test = await open(engine)
      for (const user of ['alice', 'bob', 'carol']) await test.user(user)
      await fill(test, count)
      const big = await folderOf(test)
      for (const [name, method, path] of [
        ['trash', 'POST', 'trash'],
        ['restore', 'POST', 'restore'],
        ['trash again', 'POST', 'trash'],
        ['delete permanently', 'DELETE', 'permanent_delete'],
      ] as const) {
        let isDone = false
        let own = 0
        let others = 0
        const probe = async (user: string, note: (ms: number) => void): Promise<void> => {
          for (let k = 0; !isDone; k++) {
            const start = performance.now()
            await test.ask(user, 'POST', '/v2/folders', { json: { path: `${name} ${user} ${k}` } })
            note(performance.now() - start)
            await new Promise((resolve) => setTimeout(resolve, 20))
          }
        }
        const probes = [
          probe('alice', (ms) => {
            own = Math.max(own, ms)
          }),
          probe('bob', (ms) => {
            others = Math.max(others, ms)
          }),
        ]
        const start = performance.now()
        await test.ask('alice', method, `/v2/files/${big}/${path}`)
        const answered = performance.now() - start
        await test.service.idle()
        const told = performance.now() - start
        isDone = true
        await Promise.all(probes)
        table[`${name} ${count}`] = {
          'answer ms': Math.round(answered),
          'own wait ms': Math.round(own),
          'others wait ms': Math.round(others),
          'all told s': round(told / 1000),
        }
      }
      await test.service.close()
    }
    console.table(table)
  })
})

describe.each(ENGINES)('a sweep of many objects and keys, half of them old [%s]', (engine) => {
  it('others wait', async () => {
    const table: Record<string, Record<string, number>> = {}
    for (const count of COUNTS) {
      const test = await open(engine)
      for (const user of ['alice', 'bob']) await test.user(user)
      const old = Date.now() - 48 * 3600 * 1000
      await test.service.store.engine.write(['alice'], async (db) => {
        const numbers = sql`with recursive numbers(k) as (select 1 union all select k + 1 from numbers where k < ${sql.lit(count)})`
        const changed = sql`${sql.lit(old)} + (k % 2) * 172800000`
        await sql`insert into objects (owner, key, hash, state, home, place, bytes, changed_at) ${numbers}
          select 'alice', 'key' || k, 'hash' || k, 0, 'alice', '', 10, ${changed} from numbers`.execute(db)
        await sql`insert into idempotency (owner, caller, key, operation, fingerprint, result, created_at) ${numbers}
          select 'alice', 'alice', 'key' || k, 'x', 'x', 'null', ${changed} from numbers`.execute(db)
      })
      // The first requests include compilation.
      for (let k = 0; k < 50; k++)
        await test.ask('bob', 'POST', '/v2/folders', { json: { path: `warm ${k}` } })
      let isDone = false
      const waits: number[] = []
      const probe = (async () => {
        for (let k = 0; !isDone; k++) {
          const start = performance.now()
          await test.ask('bob', 'POST', '/v2/folders', { json: { path: `f${k}` } })
          waits.push(performance.now() - start)
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      })()
      const start = performance.now()
      await test.service.store.sweep()
      const swept = performance.now() - start
      isDone = true
      await probe
      waits.sort((a, b) => a - b)
      table[count] = {
        'sweep s': round(swept / 1000),
        'longest wait ms': Math.round(waits.at(-1)!),
        'p99 ms': Math.round(waits[Math.floor(waits.length * 0.99)]),
      }
      await test.service.close()
    }
    console.table(table)
  })
})

describe('writes of many at once [postgres]', () => {
  it('rollbacks', async () => {
    const table: Record<string, Record<string, number>> = {}
    for (const nodes of [1, 3]) {
      const tests = [await open('postgres')]
      for (let k = 0; k < 24; k++) await tests[0].user(`user${k}`)
      while (tests.length < nodes) tests.push(await another(tests[0]))
      for (const [name, owners, isAppend] of [
        ['create, 24 owners', 24, false],
        ['create, 1 owner × 24', 1, false],
        ['append, 24 owners', 24, true],
        ['append, 1 owner × 24', 1, true],
      ] as const) {
        const grids: string[] = []
        for (let k = 0; k < owners; k++)
          grids.push((await tests[0].grid(`user${k}`, `${name} ${nodes}`, { n: [1] })).fid)
        const before = tests.map(({ service }) => ({ ...service.store.engine.stats }))
        const until = performance.now() + SECONDS * 1000
        let done = 0
        let refused = 0
        const times: number[] = []
        await Promise.all(
          Array.from({ length: 24 }, async (_, k) => {
            const owner = `user${k % owners}`
            const test = tests[k % nodes]
            for (let n = 0; performance.now() < until; n++) {
              const start = performance.now()
              const { status } = isAppend
                ? await test.ask(owner, 'POST', `/v2/grids/${grids[k % owners]}/row`, {
                    json: { rows: [[n]] },
                  })
                : await test.ask(owner, 'POST', '/v2/grids', {
                    json: {
                      data: { cols: { n: { data: [n], order: 0 } } },
                      filename: `${name} ${nodes} ${k} ${n}`,
                    },
                  })
              if (status < 300) done++
              else refused++
              times.push(performance.now() - start)
            }
          }),
        )
        await Promise.all(tests.map(({ service }) => service.idle()))
        const sum = (what: 'rollbacks' | 'lockSeconds'): number =>
          tests.reduce((all, { service }, k) => all + service.store.engine.stats[what] - before[k][what], 0)
        table[`${name}, ${nodes} servers`] = {
          'a second': Math.round(done / SECONDS),
          'rollbacks a success': round(sum('rollbacks') / done, 3),
          refused,
          'p99 ms': Math.round(times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)]),
        }
      }
      const hot = await tests[0].service.store.engine.read(
        async (db) =>
          (
            await sql<{
              relname: string
              n_tup_upd: number
              n_tup_hot_upd: number
            }>`select relname, n_tup_upd, n_tup_hot_upd
          from pg_stat_user_tables where relname in ('files', 'grids', 'counters', 'file_counts')`.execute(db)
          ).rows,
      )
      for (const { relname, n_tup_upd, n_tup_hot_upd } of hot)
        table[`${relname}, ${nodes} servers`] = {
          updates: n_tup_upd,
          'HOT %': round((100 * n_tup_hot_upd) / n_tup_upd),
        }
      for (const { service } of tests) await service.close()
    }
    console.table(table)
  })
})
