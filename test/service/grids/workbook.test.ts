// Grids as XLSX, Parquet, Markdown and pages. An XLSX or Parquet file that is uploaded again is the same grid.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { runs } from '../../support/property-runs.ts'
import { onSqliteFirst, temporaryFolder, URL_OF_TESTS } from '../../support/service.ts'

const folder = temporaryFolder()
afterAll(folder.remove)

onSqliteFirst('grids as files', (test) => {
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
  const upload = async (bytes: Buffer, extension = 'xlsx'): Promise<string> => {
    const headers = {
      'x-file-name': `${Math.random()}.${extension}`,
      'content-type': 'application/octet-stream',
    }
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

  it('XLSX: out and in again is the same grid', async () => {
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
      { numRuns: runs(10, 300) },
    )
  })

  it('Parquet: out and in again is the same grid, with its types', async () => {
    const iso = day.map((at) => at.toISOString())
    const mixed = fc.oneof(fc.integer(), text, fc.boolean(), fc.constantFrom([1, 'a'], { a: [null] }))
    const kinds: fc.Arbitrary<unknown>[] = [
      text,
      mixed,
      fc.boolean(),
      fc.integer(),
      fc.maxSafeInteger(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (n === 0 ? 0 : n)),
      iso.map((at) => at.slice(0, 10)),
      iso.map((at) => at.slice(0, 19)),
      iso.map((at) => at.slice(0, 19).replace('T', ' ')),
      iso.map((at) => `${at.slice(0, 19)}Z`),
      iso.map((at) => at.replace(/\.?0*Z$/, '').replace('T', ' ')),
      iso.map((at) => at.slice(0, 16)),
      iso,
      iso.map((at) => `${at.slice(8, 10)}/${at.slice(5, 7)}/${at.slice(0, 4)}`),
      fc.constant(null),
    ]
    const column = fc.constantFrom(...kinds).chain((kind) =>
      fc.array(fc.oneof({ weight: 9, arbitrary: kind }, { weight: 1, arbitrary: fc.constant(null) }), {
        minLength: 3,
        maxLength: 20,
      }),
    )
    const name = fc.constantFrom('a.b', 'x', 'y z', 'schema', '0', '"', 'a.c', 'é')
    const grid = fc.uniqueArray(fc.tuple(name, column), {
      selector: ([one]) => one,
      minLength: 1,
      maxLength: 5,
    })
    const typesOf = async (fid: string) =>
      (await test().ask('alice', 'GET', `/v2/grids/${fid}`)).json.cols.map(
        (one: { type: string }) => one.type,
      )
    await fc.assert(
      fc.asyncProperty(grid, async (entries) => {
        const rows = Math.max(...entries.map(([, values]) => values.length))
        const pad = (values: unknown[]) => [...values, ...Array(rows - values.length).fill(null)]
        const cols = Object.fromEntries(entries.map(([title, values]) => [title, pad(values)]))
        const { fid } = await test().grid('alice', `g${Math.random()}`, cols)
        const bytes = await download(`/v2/grids/${fid}/content?format=parquet`)
        expect(bytes).toEqual(await download(`/v2/grids/${fid}/content?format=parquet`))
        const again = await upload(bytes, 'parquet')
        expect(await content(again)).toEqual(cols)
        // A column of a file without values is text.
        const types = (await typesOf(fid)).map((type: string) => (type === 'empty' ? 'text' : type))
        expect(await typesOf(again)).toEqual(types)
      }),
      { numRuns: runs(10, 1000) },
    )
  })

  it('other programs read the Parquet file: names, types and many row groups', async () => {
    const count = 150_000
    const numbers = Array.from({ length: count }, (_, k) => k)
    const { fid } = await test().grid('alice', 'many rows', {
      n: numbers,
      'half.s': numbers.map((k) => k / 2),
      day: numbers.map((k) => new Date(k * 1e6).toISOString().slice(0, 10)),
      at: numbers.map((k) => `${new Date(k * 1e6).toISOString().slice(0, 19)}Z`),
      text: numbers.map((k) => (k % 3 === 0 ? null : `é ${k % 50}`)),
    })
    const file = join(folder.path, 'many.parquet')
    writeFileSync(file, await download(`/v2/grids/${fid}/content?format=parquet`))
    const duckdb = await (await DuckDBInstance.create(':memory:')).connect()
    const rowsOf = async (query: string) => (await duckdb.runAndReadAll(query)).getRowsJson()
    expect((await rowsOf(`describe from '${file}'`)).map(([name, type]) => [name, type])).toEqual([
      ['n', 'BIGINT'],
      ['half.s', 'DOUBLE'],
      ['day', 'DATE'],
      ['at', 'TIMESTAMP WITH TIME ZONE'],
      ['text', 'VARCHAR'],
    ])
    expect(
      await rowsOf(`select count(*), sum(n), sum("half.s"), max(day), count(text) from '${file}'`),
    ).toEqual([['150000', '11249925000', 5_624_962_500, '1974-10-03', '100000']])
    expect(
      (await rowsOf(`select count(distinct row_group_id) > 1 from parquet_metadata('${file}')`))[0][0],
    ).toBe(true)
    duckdb.closeSync()
  })

  it('rows can be chosen and sorted; pages offer the workbook of grids and plots', async () => {
    const { fid } = await test().grid('alice', 'chosen', { a: [3, 1, 2], b: ['x', 'y', null] })
    const query = 'format=xlsx&sort=a&where=a%20%3E%201&columns=b&columns=a'
    for (const format of ['xlsx', 'parquet'])
      expect(
        await content(
          await upload(await download(`/v2/grids/${fid}/content?${query.replace('xlsx', format)}`), format),
        ),
      ).toEqual({ b: [null, 'x'], a: [2, 3] })
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

  it('the address of all rows refuses a selection, and names where it is possible', async () => {
    const { fid } = await test().grid('alice', 'all rows', { n: [1, 2, 3] })
    const path = `/~${fid.replace(':', '/')}.csv`
    expect((await test().ask('alice', 'GET', path)).text).toBe('n\n1\n2\n3\n')
    const { status, json, text } = await test().ask('alice', 'GET', `${path}?where=n%20%3E%202`)
    const [address] = /\/v2\/grids\/[^\s"<]+/.exec(json?.errors?.[0].hint ?? text)!
    expect([status, (await test().ask('alice', 'GET', address.replaceAll('&amp;', '&'))).text]).toEqual([
      400,
      'n\n3\n',
    ])
  })

  it('Markdown is a table without markup in its cells', async () => {
    const { fid } = await test().grid('alice', 'marked', {
      'a|b': [1.5, null],
      text: ['<b>x</b> | *y*', 'A & B &amp;\n&#60;'],
    })
    const { text: table, headers } = await test().ask('alice', 'GET', `/v2/grids/${fid}/content?format=md`)
    expect(headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    expect(table).toBe(
      '| a\\|b | text |\n| ---: | --- |\n| 1.5 | \\<b\\>x\\</b\\> \\| \\*y\\* |\n|  | A & B \\&amp;<br>\\&#60; |\n',
    )
  })
})
