// Column types in uploads, appends, statistics and sorted pages.
import { expect, it } from 'vitest'
import { onSqliteFirst } from '../../support/service.ts'

onSqliteFirst('types of columns', (test) => {
  let made = 0
  const send = (path: string, body: string, headers: Record<string, string> = {}) =>
    test().ask('alice', 'POST', path, {
      body: Buffer.from(body),
      headers: { 'Content-Type': 'text/csv', ...headers },
    })
  const upload = async (body: string): Promise<string> =>
    (await send(`/v2/grids/upload`, body, { 'Gridline-Filename': `types ${made++}.csv` })).json.file.fid
  const column = async (fid: string, k = 0) => {
    const { json } = await test().ask('alice', 'GET', `/v2/grids/${fid}`)
    const { type, date_order } = json.cols[k]
    return date_order ? [type, date_order] : [type]
  }
  const values = async (fid: string, name = 'd') =>
    (await test().ask('alice', 'GET', `/v2/grids/${fid}/content`)).json.cols[name].data

  it('appended files are parsed like the existing column, and refused if they do not fit', async () => {
    const fid = await upload('d,n\n31.01.2024,1\n01.02.2024,2\n')
    expect(await column(fid)).toEqual(['date', 'dmy'])
    expect((await send(`/v2/grids/${fid}/row`, 'd,n\n05.02.2024,3\n')).status).toBe(201)
    expect((await send(`/v2/grids/${fid}/row`, 'd,n\n2024-02-06,4\n')).status).toBe(201)
    expect(await values(fid)).toEqual(['2024-01-31', '2024-02-01', '2024-02-05', '2024-02-06'])
    for (const cell of ['soon', '2024-02-06 10:00', '7', '06.02.24']) {
      const { status, json } = await send(`/v2/grids/${fid}/row`, `d,n\n${cell},5\n`)
      expect([cell, status, JSON.stringify(json)]).toEqual([
        cell,
        400,
        expect.stringContaining('type_change'),
      ])
    }
    const plain = await upload('d,n\n2024-01-31,1\n')
    const { status, text } = await send(`/v2/grids/${plain}/row`, 'd,n\n05/02/2024,5\n')
    expect([status, text]).toEqual([400, expect.stringContaining('date-mdy')])
    expect(await column(plain)).toEqual(['date'])
  })

  it('a column with the month first does not decide the order of dates with dots', async () => {
    const fid = await upload('d,n\n1/31/2024,1\n2/13/2024,2\n')
    expect((await send(`/v2/grids/${fid}/row`, 'd,n\n03/02/2024,3\n')).status).toBe(201)
    const refused = await send(`/v2/grids/${fid}/row`, 'd,n\n02.03.2024,4\n')
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('date-dmy')])
    const given = { 'Gridline-Columns': '{"d": "date-dmy"}' }
    expect((await send(`/v2/grids/${fid}/row`, 'd,n\n02.03.2024,4\n', given)).status).toBe(201)
    const clear = await send(`/v2/grids/${fid}/row`, 'd,n\n02.03.2024,5\n31.03.2024,6\n')
    expect([clear.status, clear.json.warnings.join()]).toEqual([
      201,
      expect.stringContaining('the day is first'),
    ])
    for (const locale of ['en-US', 'de'])
      await send(`/v2/grids/${fid}/row`, 'd,n\n03.04.2024,7\n', { 'Gridline-Locale': locale })
    expect(await values(fid)).toEqual([
      ...['2024-01-31', '2024-02-13', '2024-03-02'],
      ...['2024-03-02', '2024-03-02', '2024-03-31'],
      ...['2024-03-04', '2024-04-03'],
    ])
  })

  it('amounts are read as numbers again where the grid holds numbers', async () => {
    const name = `types ${made++}.csv`
    const again = (body: string, more: Record<string, string> = {}) =>
      send('/v2/grids/upload', body, {
        ...{ 'Gridline-Filename': name, 'Gridline-On-Conflict': 'replace', ...more },
      })
    const asNumbers = { 'Gridline-Columns': '{"p": "number"}' }
    const { fid } = (await again('d,p\na,€5.50\nb,€7\n', asNumbers)).json.file
    const replaced = await again('d,p\na,"€1,250.50"\nb,n/a\nc,5%\nd,8\n')
    expect([replaced.status, await column(fid, 1), await values(fid, 'p')]).toEqual([
      201,
      ['text'],
      expect.anything(),
    ])
    await again('d,p\na,€5.50\n', asNumbers)
    const money = await again('d,p\na,"€1,250.50"\nb,n/a\nd,8\n')
    expect([money.status, money.json.warnings]).toEqual([
      201,
      ['read as numbers, as in the grid: p; to keep texts: --column NAME:text'],
    ])
    expect(await values(fid, 'p')).toEqual([1250.5, null, 8])
    expect((await again('d,p\nx,€2\n', { 'Gridline-On-Conflict': 'append' })).status).toBe(201)
    expect(await values(fid, 'p')).toEqual([1250.5, null, 8, 2])
    // The same values as appended rows, with and without a header.
    const rows = await send(`/v2/grids/${fid}/row`, 'p,d\n"€1,000",y\n€5,z\n')
    expect([rows.status, rows.json.warnings]).toEqual([201, ['read as numbers, as in the grid: p']])
    const bare = { 'Gridline-Header': 'false' }
    const one = await send(`/v2/grids/${fid}/row`, 'x,€3\n', bare)
    expect([one.status, one.json.warnings]).toEqual([201, ['read as numbers, as in the grid: p']])
    expect((await values(fid, 'p')).slice(4)).toEqual([1000, 5, 3])
    const pointed = await send(`/v2/grids/${fid}/row`, 'd;p\nx;€1.234\ny;€5.678\n')
    expect(pointed.json.warnings).toContain(
      'column p: €1.234 was read as a decimal number; if its point separates thousands: --decimal , --thousands .',
    )
    const price = await send(`/v2/grids/${fid}/row`, 'x,soon\n', bare)
    expect([price.status, price.json.errors[0].code]).toEqual([400, 'type_change'])
    // A text among them later is refused, as in a column that is given as numbers.
    const many = `d,p\n${'a,€1\n'.repeat(5000)}b,soon\n`
    expect((await again(many)).json.errors[0]).toMatchObject({ code: 'bad_data', line: 5002 })
    // Texts are texts where the grid holds texts, or where they are wanted.
    const texts = await again('d,p\na,€3\n', { 'Gridline-Columns': '{"p": "text"}' })
    expect([texts.status, await column(fid, 1)]).toEqual([201, ['text']])
    await again('d,p\na,€4\n')
    expect(await values(fid, 'p')).toEqual(['€4'])
  })

  it('texts stay as written in a text column', async () => {
    const fid = await upload('d,n\nsoon,1\n')
    await send(`/v2/grids/${fid}/row`, 'd,n\n31.01.2024,2\nTRUE,3\n')
    expect(await values(fid)).toEqual(['soon', '31.01.2024', 'TRUE'])
  })

  it('JSON values are unchanged: a column is a date column while all its texts are ISO 8601', async () => {
    const cols = { d: { data: ['2024-01-31', null], order: 0 }, e: { data: ['31.01.2024', 'x'], order: 1 } }
    const { json } = await test().ask('alice', 'POST', '/v2/grids', {
      json: { filename: `json ${made++}`, data: { cols } },
    })
    const { fid } = json.file
    expect([await column(fid, 0), await column(fid, 1)]).toEqual([['date'], ['text']])
    const add = (rows: unknown[]) => test().ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows } })
    await add([['2024-02-01', '']])
    expect(await column(fid)).toEqual(['date'])
    await add([['tomorrow', '']])
    expect([await column(fid), await values(fid)]).toEqual([
      ['text'],
      ['2024-01-31', null, '2024-02-01', 'tomorrow'],
    ])
  })

  it('the earliest and latest time compare instants, whatever the zone', async () => {
    const fid = await upload(
      't,n\n2024-01-01T10:00:00+02:00,1\n2024-01-01T09:00:00Z,2\n2024-01-01T03:30:00-05:00,3\n',
    )
    const { json } = await test().ask('alice', 'GET', `/v2/grids/${fid}/describe`)
    expect([json.columns[0].type, json.columns[0].min, json.columns[0].max]).toEqual([
      'datetime',
      '2024-01-01T10:00:00+02:00',
      '2024-01-01T09:00:00Z',
    ])
  })

  it('dates and booleans of all slices are rewritten in a large file', async () => {
    const rows = Array.from(
      { length: 70_000 },
      (_, k) => `${(k % 28) + 1}/1/2024,${k % 2 === 0 ? 'TRUE' : ''},"x"`,
    )
    const fid = await upload(`d,ok,s\n${rows.join('\n')}\n`)
    const days = await values(fid)
    expect([days.length, days[27], days[69_999]]).toEqual([
      70_000,
      '2024-01-28',
      `2024-01-${String((69_999 % 28) + 1).padStart(2, '0')}`,
    ])
    expect((await values(fid, 'ok')).slice(0, 3)).toEqual([true, null, true])
  })
})
