// Row ranges, samples and statistics of grids, against a model.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { onSqliteFirst } from '../../support/service.ts'

const cell = fc.oneof(
  fc.constant(null),
  fc.integer({ min: -50, max: 50 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => (Object.is(x, -0) ? 0 : x)),
  fc.string({ maxLength: 8 }),
)
/** Two columns, and the number of initial rows. Others are appended. */
const grid = fc
  .array(fc.tuple(cell, cell), { minLength: 1, maxLength: 25 })
  .chain((rows) => fc.record({ rows: fc.constant(rows), first: fc.nat({ max: rows.length }) }))

onSqliteFirst('parts of grids', (test) => {
  let made = 0

  const gridOf = async ({ rows, first }: { rows: unknown[][]; first: number }): Promise<string> => {
    const cols = Object.fromEntries(
      ['a', 'b'].map((name, k) => [name, { data: rows.slice(0, first).map((row) => row[k]), order: k }]),
    )
    const { json } = await test().ask('alice', 'POST', '/v2/grids', {
      json: { filename: `parts ${made++}`, data: { cols } },
    })
    const { fid } = json.file
    for (const row of rows.slice(first))
      await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [row] } })
    return fid
  }
  const read = async (fid: string, query: string): Promise<unknown[][]> => {
    const { text } = await test().ask('alice', 'GET', `/v2/grids/${fid}/content?format=ndjson&${query}`)
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => Object.values(JSON.parse(line)))
  }

  it('offset, tail and head return the same rows as slices of an array', async () => {
    await fc.assert(
      fc.asyncProperty(grid, fc.nat({ max: 30 }), fc.nat({ max: 30 }), async (given, from, count) => {
        const fid = await gridOf(given)
        expect(await read(fid, `offset=${from}`)).toEqual(given.rows.slice(from))
        expect(await read(fid, `offset=${from}&head=${count}`)).toEqual(given.rows.slice(from, from + count))
        expect(await read(fid, `tail=${count}`)).toEqual(count === 0 ? [] : given.rows.slice(-count))
        const { json } = await test().ask('alice', 'GET', `/v2/grids/${fid}/content?offset=${from}`)
        expect(json.cols.a.data).toEqual(given.rows.slice(from).map(([a]) => a))
      }),
      { numRuns: 12 },
    )
  })

  it('a sample has the requested number of distinct rows, in grid order', async () => {
    const rows = Array.from({ length: 40 }, (_, k) => [k, null])
    const fid = await gridOf({ rows, first: 30 })
    for (const count of [0, 1, 7, 40, 100]) {
      const found = (await read(fid, `sample=${count}`)).map(([a]) => a as number)
      expect(found).toHaveLength(Math.min(count, 40))
      expect(found).toEqual([...new Set(found)].sort((a, b) => a - b))
    }
  })

  it.each(['offset=1&tail=1', 'head=1&tail=1', 'sample=1&head=1&format=csv', 'sample=1', 'offset=-1'])(
    'the parameters %s are refused',
    async (query) => {
      const fid = await gridOf({ rows: [[1, 2]], first: 1 })
      const { status } = await test().ask('alice', 'GET', `/v2/grids/${fid}/content?${query}`)
      expect(status).toBe(400)
    },
  )

  it('statistics agree with the values', async () => {
    await fc.assert(
      fc.asyncProperty(grid, async (given) => {
        const fid = await gridOf(given)
        const { json } = await test().ask('alice', 'GET', `/v2/grids/${fid}/describe`)
        expect(json.row_count).toBe(given.rows.length)
        for (const [k, found] of json.columns.entries()) {
          const values = given.rows.map((row) => row[k]).filter((value) => value !== null)
          const numbers = values.filter((value) => typeof value === 'number').sort((a, b) => a - b)
          const texts = values
            .filter((value) => typeof value === 'string')
            .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
          expect(found).toMatchObject({
            rows: given.rows.length,
            nulls: given.rows.length - values.length,
            distinct: new Set(values).size,
            distinct_is_exact: true,
            min: numbers[0] ?? texts[0] ?? null,
            max: texts.at(-1) ?? numbers.at(-1) ?? null,
          })
          const middle = (numbers.length - 1) / 2
          const median = (numbers[Math.floor(middle)] + numbers[Math.ceil(middle)]) / 2
          if (numbers.length === 0) expect([found.quantiles, found.mean]).toEqual([null, null])
          // Within the precision of doubles of this size.
          const size = Math.max(1, ...numbers.map(Math.abs))
          if (numbers.length > 0 && Number.isFinite(median))
            expect(Math.abs(found.quantiles[1] - median) / size).toBeLessThan(1e-12)
        }
      }),
      { numRuns: 12 },
    )
  })

  it('texts are counted and ordered as in groups and sorting, however they are written', async () => {
    const { json: created } = await test().ask('alice', 'POST', '/v2/grids', {
      body: '{"data":{"cols":{"k":{"order":0,"data":["\\u00e9","é","\\uffee","😀"]}}},"filename":"texts"}',
      headers: { 'content-type': 'application/json' },
    })
    const { json } = await test().ask('alice', 'GET', `/v2/grids/${created.file.fid}/describe`)
    expect(json.columns[0]).toMatchObject({ distinct: 3, min: 'é', max: '😀' })
  })

  it('statistics require read access, and report unknown columns', async () => {
    const fid = await gridOf({ rows: [[1, 'x']], first: 1 })
    expect((await test().ask('bob', 'GET', `/v2/grids/${fid}/describe`)).status).toBe(404)
    expect(
      (await test().ask('alice', 'GET', `/v2/grids/${fid}/describe?columns=zz`)).json.errors[0].code,
    ).toBe('unknown_column')
  })
})
