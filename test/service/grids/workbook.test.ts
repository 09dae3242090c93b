// Grids as XLSX and Markdown. An XLSX that is uploaded again is the same grid.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '../../support/property-runs.ts'
import { onSqliteFirst, URL_OF_TESTS } from '../../support/service.ts'

onSqliteFirst('grids as workbooks', (test) => {
  const download = async (path: string): Promise<Buffer> => {
    const authorization = `Basic ${Buffer.from(`alice:${test().keys.get('alice')}`).toString('base64')}`
    const response = await test().service.fetch(
      new Request(URL_OF_TESTS + path, { headers: { authorization } }),
    )
    return Buffer.from(await response.arrayBuffer())
  }
  const content = async (fid: string): Promise<Record<string, unknown[]>> => {
    const { json } = await test().ask('alice', 'GET', `/v2/grids/${fid}/content`)
    return Object.fromEntries(Object.entries(json.cols as object).map(([name, { data }]) => [name, data]))
  }
  const upload = async (bytes: Buffer): Promise<string> => {
    const headers = { 'x-file-name': `${Math.random()}.xlsx`, 'content-type': 'application/octet-stream' }
    const { json } = await test().ask('alice', 'POST', '/v2/grids/upload', {
      body: new Uint8Array(bytes),
      headers,
    })
    return json.file.fid
  }

  const text = fc.constantFrom(
    ...[
      'word',
      'a, "b"',
      'two\nlines',
      'tab\there',
      '<b>&amp;</b>',
      '_x0041_ and _x',
      'é 日本 😀',
      '\u0001',
      'cr\rlf',
    ],
    ...['=1+1', "'quoted", ' spaces ', ']]>', '-', 'x'.repeat(40_000)],
  )
  const day = fc.date({ min: new Date('1900-03-01'), max: new Date('2400-01-01'), noInvalidDate: true })
  const columns: Record<string, fc.Arbitrary<unknown>> = {
    name: text,
    amount: fc
      .oneof(fc.double({ noNaN: true, min: -1e15, max: 1e15 }), fc.integer())
      .map((n) => (n === 0 ? 0 : n)),
    isOpen: fc.boolean(),
    day: day.map((at) => at.toISOString().slice(0, 10)),
    at: day.map((at) => at.toISOString().slice(0, 19)),
  }

  it('out and in again is the same grid', async () => {
    const row = fc.record(
      Object.fromEntries(
        Object.entries(columns).map(([name, value]) => [
          name,
          fc.oneof({ weight: 9, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) }),
        ]),
      ),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 2, maxLength: 30 }), async (rows) => {
        // Each column has a value of its type, so that a reader knows it.
        const first = {
          name: 'word',
          amount: 1.5,
          isOpen: true,
          day: '2024-02-29',
          at: '2024-01-02T00:00:00',
        }
        const all = [first, ...rows] as Record<string, unknown>[]
        const cols = Object.fromEntries(
          Object.keys(columns).map((name) => [name, all.map((one) => one[name])]),
        )
        const { fid } = await test().grid('alice', `g${Math.random()}`, cols)
        const bytes = await download(`/v2/grids/${fid}/content?format=xlsx`)
        expect(bytes).toEqual(await download(`/v2/grids/${fid}/content?format=xlsx`))
        expect(await content(await upload(bytes))).toEqual(cols)
      }),
      { numRuns: runs(25, 300) },
    )
  }, 120_000)

  it('rows can be chosen and sorted; pages offer the workbook of grids and plots', async () => {
    const { fid } = await test().grid('alice', 'chosen', { a: [3, 1, 2], b: ['x', 'y', null] })
    const query = 'format=xlsx&sort=a&where=a%20%3E%201&columns=b&columns=a'
    expect(await content(await upload(await download(`/v2/grids/${fid}/content?${query}`)))).toEqual({
      b: [null, 'x'],
      a: [2, 3],
    })
    const page = `/~alice/${fid.split(':')[1]}.xlsx`
    expect(await content(await upload(await download(page)))).toEqual({ a: [3, 1, 2], b: ['x', 'y', null] })
    const { headers } = await test().ask('alice', 'GET', page)
    expect(headers.get('content-disposition')).toContain('filename="chosen.xlsx"')
    const { file } = await test().plot('alice', { data: [{ x: [1, 2], y: [3, 4] }] })
    const plot = await download(`/~alice/${file.fid.split(':')[1]}.xlsx`)
    expect(Object.values(await content(await upload(plot)))).toEqual([
      [1, 2],
      [3, 4],
    ])
    expect(await test().status('bob', 'GET', page)).toBe(404)
  })

  it('Markdown is a table without markup in its cells', async () => {
    const { fid } = await test().grid('alice', 'marked', {
      'a|b': [1.5, null],
      text: ['<b>x</b> | *y*', 'two\nlines'],
    })
    const { text: table, headers } = await test().ask('alice', 'GET', `/v2/grids/${fid}/content?format=md`)
    expect(headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    expect(table).toBe(
      '| a\\|b | text |\n| ---: | --- |\n| 1.5 | \\<b\\>x\\</b\\> \\| \\*y\\* |\n|  | two<br>lines |\n',
    )
  })
})
