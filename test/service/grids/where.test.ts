// Filtering and sorting of grids, against a model.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '../../support/property-runs.ts'
import { onSqliteFirst } from '../../support/service.ts'

onSqliteFirst('where and sort of a grid', (test) => {
  let made = 0
  const create = async (cols: Record<string, unknown[]>): Promise<string> =>
    (await test().grid('alice', `where ${made++}`, cols)).fid
  const get = (fid: string, query: Record<string, string | number>, what = 'content') => {
    const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
    return test().ask('alice', 'GET', `/v2/grids/${fid}/${what}?${text}`)
  }

  it('filtered and sorted rows, and every range of them, agree with a model', async () => {
    const value = fc.option(fc.integer({ min: -3, max: 3 }))
    const word = fc.option(fc.constantFrom('', 'a', 'b', 'ä"', 'line\nbreak', 'x,y'))
    const rows = fc.array(fc.tuple(value, word, value), { minLength: 1, maxLength: 40 })
    const part = fc.record({ head: fc.nat(8), offset: fc.nat(5), tail: fc.nat(8) }, { requiredKeys: [] })
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.option(fc.integer({ min: -3, max: 3 }), { nil: undefined }),
        fc.constantFrom(undefined, 'n', '-n', 't,-m', '-m,t'),
        part,
        fc.nat(3),
        async (given, least, sort, { head, offset, tail }, appended) => {
          const cut = Math.max(1, given.length - appended)
          const fid = await create({
            n: given.slice(0, cut).map(([n]) => n),
            t: given.slice(0, cut).map(([, t]) => t),
            m: given.slice(0, cut).map(([, , m]) => m),
          })
          // The last rows are in the tail.
          if (cut < given.length)
            await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: given.slice(cut) } })
          const query: Record<string, string | number> = { format: 'ndjson' }
          if (least !== undefined) query.where = `n >= ${least} and t is not null`
          if (sort !== undefined) query.sort = sort
          if (tail !== undefined) query.tail = tail
          else {
            if (head !== undefined) query.head = head
            if (offset !== undefined) query.offset = offset
          }
          let expected = given.filter(
            ([n, t]) => least === undefined || (n !== null && n >= least && t !== null),
          )
          const place = { n: 0, t: 1, m: 2 } as Record<string, number>
          for (const key of (sort ?? '').split(',').filter(Boolean).reverse()) {
            const sign = key.startsWith('-') ? -1 : 1
            const k = place[key.replace('-', '')]
            expected = [...expected].sort((one, other) => {
              const [a, b] = [one[k], other[k]]
              if (a === null || b === null) return Number(a === null) - Number(b === null)
              return sign * (a < b ? -1 : a > b ? 1 : 0)
            })
          }
          if (tail !== undefined) expected = expected.slice(Math.max(0, expected.length - tail))
          else expected = expected.slice(offset ?? 0).slice(0, head)
          const lines = (await get(fid, query)).text.split('\n').filter(Boolean)
          expect(lines.map((line) => Object.values(JSON.parse(line)))).toEqual(expected)
          const { cols } = (await get(fid, { ...query, format: 'json' })).json
          for (const name of ['n', 't', 'm'])
            expect(cols[name].data).toEqual(expected.map((row) => row[place[name]]))
        },
      ),
      { numRuns: runs(25, 500) },
    )
  })

  it('a condition can use unprinted columns, and shorter columns are null at their end', async () => {
    const fid = await create({ a: [1, 2, 3, 4], b: ['w', 'x'] })
    expect((await get(fid, { format: 'csv', columns: 'b', where: 'a > 1', sort: '-a' })).text).toBe(
      'b\n""\n""\nx\n',
    )
    expect((await get(fid, { format: 'csv', where: 'b is null' })).text).toBe('a,b\n3,\n4,\n')
  })

  it('texts that were just appended to numbers are found, and sorted after them', async () => {
    const fid = await create({ n: [3, 1] })
    await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [['x'], [2]] } })
    expect((await get(fid, { format: 'csv', sort: 'n' })).text).toBe('n\n1\n2\n3\nx\n')
    expect((await get(fid, { format: 'csv', where: "n = 'x'" })).text).toBe('n\nx\n')
  })

  it('whole numbers of any size are sorted exactly', async () => {
    const ids = ['9007199254740993', '9007199254740992', '9007199254740995', '9007199254740994']
    const { json } = await test().ask('alice', 'POST', '/v2/grids', {
      body: `{"filename": "ids ${made++}", "data": {"cols": {"n": {"data": [${ids}], "order": 0}}}}`,
      headers: { 'content-type': 'application/json' },
    })
    const { text } = await get(json.file.fid, { format: 'csv', sort: 'n' })
    expect(text).toBe(`n\n${ids.toSorted().join('\n')}\n`)
  })

  it('statistics are of the selected rows', async () => {
    const fid = await create({ city: ['Oslo', 'Rome', 'Oslo'], t: [1, 20, 4] })
    const { row_count, columns } = (await get(fid, { where: "city = 'Oslo'" }, 'describe')).json
    expect([row_count, columns[1].min, columns[1].max, columns[1].mean]).toEqual([2, 1, 4, 2.5])
  })

  it('dates are compared and sorted as times, whatever their zone', async () => {
    const at = ['2024-01-01T10:00:00+02:00', '2024-01-01T09:00:00Z', null, '2024-01-01T06:30:00-01:00']
    const fid = await create({ at, n: [1, 2, 3, 4] })
    expect((await get(fid, { format: 'csv', columns: 'n', sort: 'at' })).text).toBe('n\n4\n1\n2\n3\n')
    expect((await get(fid, { format: 'csv', columns: 'n', where: "at < '2024-01-01 08:00'" })).text).toBe(
      'n\n4\n',
    )
  })

  it.each([
    ['where', 'n >', 'invalid_query'],
    ['where', 'x > 1', 'unknown_column'],
    ['where', "n = 'a'", 'invalid_query'],
    ['sort', 'x', 'unknown_column'],
    ['sort', 'n,n', 'invalid_query'],
  ])('the parameter %s=%s is refused before anything is read', async (name, text, code) => {
    const fid = await create({ n: [1] })
    const { status, json } = await get(fid, { [name]: text })
    expect([status, json.errors[0].code]).toEqual([400, code])
  })

  it('a user without access to a grid gets 404 for any condition', async () => {
    const fid = await create({ n: [1] })
    const { status } = await test().ask('bob', 'GET', `/v2/grids/${fid}/content?where=x`)
    const missing = await test().ask('bob', 'GET', '/v2/grids/alice:99999/content?where=x')
    expect([status, missing.status]).toEqual([404, 404])
  })
})
