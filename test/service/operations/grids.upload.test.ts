// Uploads of workbooks, archives and JSON.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { defaultLimits } from '../../../src/contract/limits.ts'
import { isPublicAddress } from '../../../src/service/import/addresses.ts'
import { UrlImport } from '../../../src/service/index.ts'
import { tar, tarGz, xlsx, zip } from '../../support/archives.ts'
import { bombs } from '../../support/hostile.ts'
import { onSqliteFirst, type TestService } from '../../support/service.ts'

async function upload(
  test: TestService,
  name: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
) {
  return test.ask('alice', 'POST', '/v2/grids/upload', {
    body: typeof body === 'string' ? body : new Uint8Array(body),
    headers: { 'x-file-name': name, 'content-type': 'application/octet-stream', ...headers },
  })
}

async function content(test: TestService, fid: string): Promise<Record<string, unknown[]>> {
  const { json } = await test.ask('alice', 'GET', `/v2/grids/${fid}/content`)
  return Object.fromEntries(
    Object.entries(json.cols as Record<string, { data: unknown[] }>).map(([name, { data }]) => [name, data]),
  )
}

async function childrenOf(
  test: TestService,
  fid: string,
): Promise<{ fid: string; filename: string; filetype: string }[]> {
  return (await test.ask('alice', 'GET', `/v2/folders/${fid}`)).json.children.results
}

onSqliteFirst('upload of other formats', (test) => {
  it('XLSX with one sheet becomes a grid: numbers, text, dates, formula errors', async () => {
    const book = await xlsx({
      Sales: [
        ['city', 'price', 'day', 'open'],
        ['Köln & Bonn', 1.5, { date: 45292 }, true],
        ['<b>', 0.1 + 0.2, { date: 45292.5 }, false],
        [null, -3, null, { error: '#N/A' }],
      ],
    })
    const { status, json } = await upload(test(), 'sales.xlsx', book)
    expect([status, json.file.filetype, json.file.filename]).toEqual([201, 'grid', 'sales'])
    expect(json.warnings).toEqual([expect.stringContaining('formula errors')])
    expect(await content(test(), json.file.fid)).toEqual({
      city: ['Köln & Bonn', '<b>', null],
      price: [1.5, 0.30000000000000004, -3],
      day: ['2024-01-01', '2024-01-01 12:00:00', null],
      open: [true, false, null],
    })
  })

  it('XLSX with several sheets becomes a folder with a grid per non-empty sheet', async () => {
    const book = await xlsx({ One: [['a'], [1]], Empty: [], 'Two/2': [['b'], ['x']] })
    const { status, json } = await upload(test(), 'book.xlsx', book)
    expect([status, json.file.filetype, json.file.filename]).toEqual([201, 'fold', 'book'])
    const children = await childrenOf(test(), json.file.fid)
    expect(children.map(({ filename, filetype }) => [filename, filetype])).toEqual([
      ['One', 'grid'],
      ['Two_2', 'grid'],
    ])
    const again = await upload(test(), 'book.xlsx', book)
    expect([again.json.file.filename, again.json.warnings]).toEqual([
      'book (1)',
      ['sheet Empty was skipped: it is empty', expect.stringContaining('already exists')],
    ])
  })

  for (const [kind, make] of [
    ['ZIP', zip],
    ['TAR', tar],
    ['TAR.GZ', tarGz],
  ] as const) {
    it(`${kind} with data files becomes a folder; other files are skipped`, async () => {
      const bytes = await make({
        'north.csv': 'a,b\n1,2\n',
        'deep/er/south.tsv': 'a\tb\n3\tx\n',
        'deep/records.json': '[{"k": 1}, {"k": [2], "l": null}]',
        'README.md': 'hello',
        '__MACOSX/._north.csv': 'junk',
      })
      const { status, json } = await upload(test(), `data.${kind.toLowerCase()}`, bytes)
      expect([status, json.file.filetype]).toEqual([201, 'fold'])
      expect(json.file.filename).toMatch(/^data( \(\d\))?$/)
      expect(json.warnings).toContainEqual('README.md was skipped: not a data file')
      const top = await childrenOf(test(), json.file.fid)
      expect(top.map(({ filename }) => filename)).toEqual(['deep', 'north'])
      const deep = await childrenOf(test(), top[0].fid)
      expect(deep.map(({ filename }) => filename)).toEqual(['er', 'records'])
      expect(await content(test(), deep[1].fid)).toEqual({ k: [1, [2]], l: [null, null] })
    })
  }

  it('an archive with one data file becomes one grid', async () => {
    const { json } = await upload(test(), 'single.zip', await zip({ 'x/only.csv': 'a\n1\n' }))
    expect([json.file.filetype, json.file.filename]).toEqual(['grid', 'single'])
  })

  it('upload accepts JSON records, columns, rows, grids and lines, and keeps numbers as written', async () => {
    const cases: [string, string, Record<string, unknown[]>][] = [
      [
        'records.json',
        '[{"a": 1.10, "b": "x"}, {"b": true, "c": {"d": 1}}]',
        { a: [1.1, null], b: ['x', true], c: [null, { d: 1 }] },
      ],
      ['columns.json', '{"a": [1, 2], "__proto__": ["x", null]}', { a: [1, 2], ['__proto__']: ['x', null] }],
      ['rows.json', '[["n", "m"], [1, 2], [3, 4]]', { n: [1, 3], m: [2, 4] }],
      ['bare.json', '[[1, 2], [3, 4]]', { column_1: [1, 3], column_2: [2, 4] }],
      ['grid.json', '{"cols": {"z": {"data": [1], "order": 0}}}', { z: [1] }],
      ['wrapped.json', '{"meta": 1, "data": [{"q": 1}]}', { q: [1] }],
      ['lines.ndjson', '{"a": 1}\n{"a": 2, "b": 3}\n', { a: [1, 2], b: [null, 3] }],
      ['lines', '{"a": 1}\n\n{"a": 2}', { a: [1, 2] }],
    ]
    for (const [name, text, expected] of cases) {
      const { status, json } = await upload(test(), name, text)
      expect([name, status]).toEqual([name, 201])
      const cols = await content(test(), json.file.fid)
      expect(Object.entries(cols)).toEqual(Object.entries(expected))
    }
    const raw = await upload(test(), 'exact.json', '[{"a": 1.10, "b": 12345678901234567890}]')
    const { text } = await test().ask('alice', 'GET', `/v2/grids/${raw.json.file.fid}/content`)
    expect(text).toContain('[1.10]')
    expect(text).toContain('[12345678901234567890]')
  })

  it('upload refuses JSON that is not a table, listing the accepted forms', async () => {
    for (const text of ['{"a": 1}', '"text"', '[1, {"a": 2}]', '[{"a": ', '[]', '{"a": [1], "b": 2}']) {
      const { status, json } = await upload(test(), 'wrong.json', text)
      expect([text, status, json.errors[0].code]).toEqual([text, 400, 'bad_data'])
    }
  })

  it('upload accepts all four headers under every prefix', async () => {
    for (const prefix of ['Gridline', 'Service', 'Plotly']) {
      const { json } = await upload(test(), `${prefix}.csv`, 'a\n1\n', {
        [`${prefix}-World-Readable`]: 'true',
        [`${prefix}-Parent-Path`]: `Under ${prefix}`,
      })
      expect(json.file).toMatchObject({ filename: prefix, world_readable: true })
      const folder = (await test().ask('alice', 'GET', `/v2/folders/lookup?path=Under+${prefix}`)).json
      expect(json.file.parent).toBe(Number(folder.fid.split(':')[1]))
      const beside = await upload(test(), 'beside.csv', 'a\n1\n', {
        [`${prefix}-Parent`]: folder.fid.split(':')[1],
      })
      expect([beside.json.file.parent, beside.json.file.world_readable]).toEqual([json.file.parent, false])
    }
  })

  describe('hostile archives are refused', () => {
    const refused = async (name: string, bytes: Buffer, message: RegExp) => {
      const { status, json } = await upload(test(), name, bytes)
      expect([status, json.errors[0].code, json.detail]).toEqual([
        400,
        'bad_data',
        expect.stringMatching(message),
      ])
    }

    it('paths outside of the archive are refused, in ZIP and TAR', async () => {
      const harmless = await zip({ 'aa/evil.csv': 'a\n1\n' })
      const evil = Buffer.from(harmless.toString('latin1').replaceAll('aa/evil.csv', '../evil.csv'), 'latin1')
      await refused('evil.zip', evil, /relative path|leads out/)
      await refused('evil.tar', await tar({ '../../etc/passwd.csv': 'a\n1\n' }), /leads out/)
      await refused('evil.tar', await tar({ '/etc/cron.csv': 'a\n1\n' }), /leads out/)
    })

    it('archive bombs (one file that grows a thousandfold) are refused, in ZIP, TAR.GZ, GZ and XLSX', async () => {
      for (const [name, bytes] of await bombs()) await refused(name, bytes, /grows more than/)
    })

    it('XML entity expansion, encryption, overlapping or uncounted entries and damage are refused', async () => {
      const laughs = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><workbook>&b;</workbook>'
      await refused('laughs.xlsx', await zip({ 'xl/workbook.xml': laughs }), /damaged/)
      const locked = await zip({ 'a.csv': 'a\n1\n' })
      const central = locked.indexOf(Buffer.from('PK\x01\x02', 'latin1'))
      locked[central + 8] |= 1
      await refused('locked.zip', locked, /encrypted/)
      const two = await zip({ 'a.csv': 'a\n1\n', 'b.csv': 'b\n1\n' })
      const second = two.indexOf(
        Buffer.from('PK\x01\x02', 'latin1'),
        two.indexOf(Buffer.from('PK\x01\x02', 'latin1')) + 4,
      )
      two.writeUInt32LE(0, second + 42)
      await refused('overlap.zip', two, /overlap/)
      const uncounted = await zip({ 'a.csv': 'a\n1\n', 'b.csv': 'b\n1\n' })
      const directoryEnd = uncounted.indexOf(Buffer.from('PK\x05\x06', 'latin1'))
      for (const at of [8, 10]) uncounted.writeUInt16LE(1, directoryEnd + at)
      await refused('uncounted.zip', uncounted, /more files than the 1 that it counts/)
      const whole = await zip({ 'a.csv': 'a,b\n1,2\n'.repeat(5000) })
      await refused('cut.zip', whole.subarray(0, whole.length - 30), /damaged/)
      await refused('nothing.zip', await zip({ 'a.png': 'x' }), /no data file/)
    })
  })

  describe('replace and append of several tables', () => {
    const rule = (onConflict: string, more: Record<string, string> = {}) => ({
      'Gridline-On-Conflict': onConflict,
      ...more,
    })
    /** Returns the rows of the grids of a folder, by name. */
    const content = async (folder: string) => {
      const { json } = await test().ask('alice', 'GET', `/v2/folders/${folder}?page_size=100`)
      const grids = json.children.results as { filename: string; fid: string }[]
      const rows: Record<string, { fid: string; csv: string }> = {}
      for (const { filename, fid } of grids)
        rows[filename] = {
          fid,
          csv: (await test().ask('alice', 'GET', `/v2/grids/${fid}/content?format=csv`)).text,
        }
      return rows
    }

    it('replace and append go sheet by sheet, by name; grids keep their ids; others are created or kept', async () => {
      const first = await xlsx({ One: [['a'], [1]], Two: [['b'], ['x']], Old: [['c'], [9]] })
      const made = await upload(test(), 'sheets.xlsx', first, rule('replace'))
      expect([made.status, made.json.action]).toEqual([201, 'created'])
      const folder = made.json.file.fid
      const before = await content(folder)

      const second = await xlsx({ Two: [['b'], ['y'], ['z']], One: [['a'], [2]], New: [['d'], [4]] })
      const replaced = await upload(test(), 'sheets.xlsx', second, rule('replace'))
      expect([replaced.json.action, replaced.json.file.fid]).toEqual(['replaced', folder])
      expect(replaced.json.warnings.join()).toMatch(/were not changed: Old/)
      const after = await content(folder)
      expect(Object.fromEntries(Object.entries(after).map(([name, { csv }]) => [name, csv]))).toEqual({
        One: 'a\n2\n',
        Two: 'b\ny\nz\n',
        Old: 'c\n9\n',
        New: 'd\n4\n',
      })
      for (const name of ['One', 'Two', 'Old']) expect(after[name].fid).toBe(before[name].fid)

      const same = await upload(test(), 'sheets.xlsx', second, rule('replace'))
      expect(same.json.action).toBe('unchanged')
      const appended = await upload(test(), 'sheets.xlsx', second, rule('append'))
      expect(appended.json.action).toBe('appended')
      expect((await content(folder)).Two.csv).toBe('b\ny\nz\ny\nz\n')
    })

    it('replace warns of corrections that were made after the last upload', async () => {
      const replace = (body: string) => upload(test(), 'corrected.csv', body, rule('replace'))
      const { fid, cols } = (await replace('id,n\n1,3\n2,4\n')).json.file
      const correct = (user: string, data: number[]) =>
        test().ask(user, 'PUT', `/v2/grids/${fid}/col?uid=${cols[1].uid}`, {
          json: { cols: [{ data }] },
          headers: { 'Gridline-Message': user === 'bob' ? 'as counted' : '' },
        })
      await test().ask('alice', 'POST', `/v2/files/${fid}/collaborators`, {
        json: { users: ['bob'], readonly: false },
      })
      await correct('alice', [3, 5])
      expect((await replace('id,n\n1,3\n2,4\n')).json.warnings).toEqual([
        'replaces 1 change made after the last upload, the latest by alice; version 2 has it',
      ])
      await correct('alice', [3, 5])
      expect((await correct('bob', [3, 6])).status).toBe(200)
      // The same content replaces nothing.
      expect((await replace('id,n\n1,3\n2,6\n')).json).toMatchObject({ action: 'unchanged', warnings: [] })
      expect((await replace('id,n\n1,3\n2,7\n')).json.warnings).toEqual([
        "replaces 2 changes made after the last upload, the latest by bob: 'as counted'; version 5 has them",
      ])
      await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[3, 1]] } })
      expect((await replace('id,n\n1,3\n')).json.warnings).toEqual([])
      // What was undone is not lost.
      await correct('alice', [4])
      const { version } = (await test().ask('alice', 'GET', `/v2/grids/${fid}`)).json
      const revert = { json: { version: String(version - 1) } }
      expect((await test().ask('alice', 'POST', `/v2/files/${fid}/revert`, revert)).status).toBe(200)
      expect((await replace('id,n\n1,5\n')).json.warnings).toEqual([])
    })

    it('replace with World-Readable publishes the folder with its grids', async () => {
      const file = await zip({ 'a.csv': 'x\n1\n', 'b.csv': 'y\n2\n' })
      const made = await upload(test(), 'published.zip', file, rule('replace'))
      const isPublic = async (path: string): Promise<boolean> =>
        (await test().ask('alice', 'GET', path)).json.world_readable
      const folder = `/v2/folders/${made.json.file.fid}`
      expect(await isPublic(folder)).toBe(false)
      await upload(test(), 'published.zip', file, rule('replace', { 'Gridline-World-Readable': 'true' }))
      const grids = Object.values(await content(made.json.file.fid)).map(({ fid }) => `/v2/grids/${fid}`)
      expect(await Promise.all([folder, ...grids].map(isPublic))).toEqual([true, true, true])
    })

    it('replace and append change nothing if one table does not fit', async () => {
      const first = await zip({ 'a.csv': 'x\n1\n', 'in/b.csv': 'y\n2\n' })
      const made = await upload(test(), 'fits.zip', first, rule('append'))
      const before = await content(made.json.file.fid)
      const second = await zip({ 'a.csv': 'x\n3\n', 'in/b.csv': 'other\n4\n' })
      const { status, json } = await upload(test(), 'fits.zip', second, rule('append'))
      expect([status, json.detail]).toEqual([
        400,
        expect.stringMatching(/fits\.zip, in\/b: .*no column "other"/),
      ])
      expect(await content(made.json.file.fid)).toEqual(before)
    })

    it('replace and append change nothing if one table does not satisfy the checks or the key of its grid', async () => {
      const first = await zip({ 'a.csv': 'id,v\n1,1\n2,2\n', 'b.csv': 'id,v\n1,1\n2,2\n' })
      const made = await upload(test(), 'rules.zip', first, rule('replace'))
      const before = await content(made.json.file.fid)
      const rules = { checks: { columns: { v: { maximum: 10 }, id: { unique: true } } } }
      expect(await test().status('alice', 'PUT', `/v2/grids/${before.b.fid}/checks`, { json: rules })).toBe(
        200,
      )
      const second = await zip({ 'a.csv': 'id,v\n7,7\n', 'b.csv': 'id,v\n5,500\n' })
      for (const onConflict of ['replace', 'append']) {
        expect((await upload(test(), 'rules.zip', second, rule(onConflict))).status).toBe(422)
        expect(await content(made.json.file.fid)).toEqual(before)
      }
      const third = await zip({ 'a.csv': 'id,v\n7,7\n', 'b.csv': 'id,v\n5,6\n' })
      expect((await upload(test(), 'rules.zip', third, rule('append'))).status).toBe(201)
      const after = await content(made.json.file.fid)
      expect([after.a.csv, after.b.csv]).toEqual(['id,v\n1,1\n2,2\n7,7\n', 'id,v\n1,1\n2,2\n5,6\n'])
    })

    it('rows are read like the columns to which they are appended', async () => {
      const csv = async (fid: string) =>
        (await test().ask('alice', 'GET', `/v2/grids/${fid}/content?format=csv`)).text
      const first = 'code,day,on\nx1,2024-05-31,true\n31.01.2024,2024-06-01,false\n'
      const key = { 'Gridline-Key': 'code' }
      const made = await upload(test(), 'like.csv', first, rule('append', key))
      const { fid } = made.json.file
      expect(await csv(fid)).toBe(first)
      const same = await upload(test(), 'like.csv', first, rule('append', key))
      expect(same.json).toMatchObject({ rows_added: 0, rows_updated: 0, rows_unchanged: 2 })
      await upload(test(), 'like.csv', 'code,day,on\n31.01.2024,2024-06-02,1\n', rule('append', key))
      expect(await csv(fid)).toBe(first.replace('2024-06-01,false', '2024-06-02,true'))
      const days = await upload(test(), 'days.csv', 'd\n31/12/2023\n', rule('append'))
      await upload(test(), 'days.csv', 'd\n02/03/2024\n', rule('append'))
      expect(await csv(days.json.file.fid)).toBe('d\n2023-12-31\n2024-03-02\n')
    })

    it('replace and append of several tables are applied once, however often retried with a key', async () => {
      const file = await zip({ 'a.csv': 'x\n1\n', 'b.csv': 'y\n2\n' })
      const made = await upload(test(), 'once.zip', file, rule('append'))
      const headers = rule('append', { 'Idempotency-Key': 'several-tables' })
      const tries = [
        await upload(test(), 'once.zip', file, headers),
        await upload(test(), 'once.zip', file, headers),
      ]
      for (const { json } of tries)
        expect([json.action, json.file.fid]).toEqual(['appended', made.json.file.fid])
      expect((await content(made.json.file.fid)).a.csv).toBe('x\n1\n1\n')
    })

    it('replace and append of several tables are refused if the name is a grid, or two tables share a name', async () => {
      await upload(test(), 'plain.csv', Buffer.from('a\n1\n'))
      const two = await zip({ 'a.csv': 'a\n1\n', 'b.csv': 'b\n1\n' })
      const grid = await upload(test(), 'plain.zip', two, rule('replace'))
      expect([grid.status, grid.json.detail]).toEqual([409, expect.stringContaining("'plain'")])
      expect(grid.json.errors[0].hint).toMatch(/It is a grid. The 2 tables/)
      await upload(test(), 'twins.zip', two)
      const twins = await zip({ 'a.csv': 'a\n1\n', 'a.json': '[{"a":1}]' })
      // The first time as well, when there is no folder yet.
      for (const name of ['twins.zip', 'new twins.zip']) {
        const refused = await upload(test(), name, twins, rule('replace'))
        expect([refused.status, refused.json.detail]).toEqual([
          400,
          expect.stringContaining('two tables are named a'),
        ])
      }
      const beside = await zip({ 'a/b.csv': 'a\n1\n', 'a.csv': 'a\n1\n' })
      const blocked = await upload(test(), 'beside.zip', beside, rule('replace'))
      expect([blocked.status, blocked.json.detail]).toEqual([
        400,
        expect.stringContaining('a table and a folder are named a'),
      ])
    })
  })

  it('URL import is disabled by default', async () => {
    const { status, json } = await test().ask('alice', 'POST', '/v2/grids', {
      json: { source_url: 'http://example.com/x.csv' },
    })
    expect([status, json.errors[0].code]).toEqual([403, 'forbidden'])
  })
})

describe('URL import', () => {
  it('URL import accepts public addresses only', () => {
    for (const address of [
      '127.0.0.1',
      '10.1.2.3',
      '169.254.169.254',
      '192.168.0.1',
      '172.31.0.1',
      '0.0.0.0',
      '::1',
      '::',
      'fe80::1',
      'fc00::1',
      '::ffff:10.0.0.1',
      '64:ff9b::a00:1',
      '2002:a00:1::',
      'not an address',
    ])
      expect([address, isPublicAddress(address)]).toEqual([address, false])
    for (const address of ['1.1.1.1', '93.184.216.34', '2606:4700::1111'])
      expect([address, isPublicAddress(address)]).toEqual([address, true])
  })

  it('URL import refuses other schemes, private addresses in any notation, and names that resolve to them', async () => {
    const fetcher = new UrlImport()
    for (const [url, why] of [
      ['file:///etc/passwd', /http/],
      ['ftp://example.com/x', /http/],
      ['http://127.0.0.1/x', /not public/],
      ['http://0x7f.1/x', /not public/],
      ['http://2130706433/x', /not public/],
      ['http://[::1]/x', /not public/],
      ['http://[::ffff:127.0.0.1]/x', /not public/],
      ['http://localhost/x', /not public/],
      ['http://user:pw@example.com/x', /password/],
      ['nonsense', /not a URL/],
    ] as const)
      await expect(fetcher.open(url, defaultLimits), url).rejects.toThrow(why)
  })

  it('URL import checks redirects in the same way, and reports what went wrong', async () => {
    const server = createServer((request, response) => {
      if (request.url === '/data.csv') response.end('a,b\n1,2\n')
      else if (request.url === '/there') response.writeHead(302, { location: '/data.csv' }).end()
      else if (request.url === '/away') response.writeHead(302, { location: 'http://127.0.0.2/secret' }).end()
      else if (request.url === '/round') response.writeHead(302, { location: '/round' }).end()
      else if (request.url === '/long') response.end(Buffer.alloc(5000))
      else response.writeHead(404).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const fetcher = new UrlImport((address) => address === '127.0.0.1')
    try {
      const { bytes, fileName } = await fetcher.open(`${base}/there`, defaultLimits)
      const parts: Uint8Array[] = []
      for await (const part of bytes) parts.push(part)
      expect([fileName, Buffer.concat(parts).toString()]).toEqual(['data.csv', 'a,b\n1,2\n'])
      await expect(fetcher.open(`${base}/away`, defaultLimits)).rejects.toThrow(/not public/)
      await expect(fetcher.open(`${base}/round`, defaultLimits)).rejects.toThrow(/redirects/)
      await expect(fetcher.open(`${base}/none`, defaultLimits)).rejects.toThrow(/answered 404/)
      await expect(fetcher.open(`${base}/long`, { ...defaultLimits, upload_bytes: 100 })).rejects.toThrow(
        /upload_bytes/,
      )
    } finally {
      server.close()
    }
  })
})
