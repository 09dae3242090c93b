// Inserts of many rows with few statements.
import { expect, it } from 'vitest'
import { createInserter } from '../../../src/service/store/schema/insert-rows.ts'
import { onBothStores } from '../../support/service.ts'

const insertWords = createInserter('file_words')
const insertResults = createInserter('idempotency', (query) =>
  query.onConflict((conflict) =>
    conflict
      .columns(['owner', 'key', 'caller'])
      .doUpdateSet(({ ref }) => ({ result: ref('excluded.result'), created_at: ref('excluded.created_at') })),
  ),
)

onBothStores('inserting rows', (test) => {
  it('any number of rows is stored, in few statements', async () => {
    const { engine } = test().service.store
    for (const [k, count] of [0, 1, 7, 8, 63, 64, 511, 512, 513, 1001, 2000].entries()) {
      const owner = `inserter${k}`
      const rows = Array.from({ length: count }, (_, n) => ({ owner, idlocal: n, word: `w'${n}"?$1` }))
      const before = engine.stats.statements
      await engine.write([owner], (db) => insertWords(db, rows))
      const statements = engine.stats.statements - before
      const words = await engine.read((db) =>
        db.selectFrom('file_words').selectAll().where('owner', '=', owner).orderBy('idlocal').execute(),
      )
      expect(words.map(({ idlocal, word }) => ({ owner, idlocal: Number(idlocal), word }))).toEqual(rows)
      // A statement of PostgreSQL is a round trip: locks and the commit take some more.
      if (engine.name === 'postgres')
        expect([count, statements]).toEqual([count, expect.toSatisfy((n) => n <= 8)])
    }
  })

  it('columns may be in another order, and conflicts are resolved', async () => {
    const { engine } = test().service.store
    const row = (k: number, result: string) => ({
      owner: 'conflicts',
      caller: 'alice',
      key: `k${k}`,
      operation: 'rows.append',
      fingerprint: 'f',
      result,
      created_at: k,
    })
    const reversed = (one: ReturnType<typeof row>) =>
      Object.fromEntries(Object.entries(one).reverse()) as ReturnType<typeof row>
    const first = Array.from({ length: 20 }, (_, k) => (k % 2 === 0 ? row(k, 'a') : reversed(row(k, 'a'))))
    await engine.write(['conflicts'], (db) => insertResults(db, first))
    await engine.write(['conflicts'], (db) => insertResults(db, [row(3, 'b'), row(20, 'b')]))
    const stored = await engine.read((db) =>
      db.selectFrom('idempotency').selectAll().where('owner', '=', 'conflicts').execute(),
    )
    const results = stored.map(({ key, result, created_at }) => [key, result, Number(created_at)])
    expect(results.sort((a, b) => Number(a[2]) - Number(b[2]))).toEqual(
      Array.from({ length: 21 }, (_, k) => [`k${k}`, k === 3 || k === 20 ? 'b' : 'a', k]),
    )
  })
})
