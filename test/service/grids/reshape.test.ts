// Other tables of the rows of a grid: joins, groups, pivots, columns as rows.
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { runs } from '../../support/property-runs.ts'
import { onSqliteFirst } from '../../support/service.ts'

onSqliteFirst('reshape', (test) => {
  let fid: string
  const put = async (name: string, csv: string): Promise<string> =>
    (
      await test().ask('alice', 'POST', '/v2/grids/upload', {
        headers: { 'x-file-name': name, 'gridline-on-conflict': 'replace' },
        body: csv,
      })
    ).json.file.fid
  const read = async (query: string, user = 'alice', of = fid) => {
    // Lists are repeated parameters.
    const repeated = query.replace(/(\w+)=([^&]*,[^&]*)/g, (_, name, list) =>
      list
        .split(',')
        .map((one: string) => `${name}=${one}`)
        .join('&'),
    )
    const { status, text } = await test().ask(user, 'GET', `/v2/grids/${of}/content?format=csv&${repeated}`)
    return status === 200 ? text : `${status} ${JSON.parse(text).errors[0].message}`
  }

  beforeAll(async () => {
    fid = (
      await test().grid('alice', 'sales', {
        city: ['Oslo', 'Rome', 'Oslo', null],
        day: ['2024-01-05', '2024-01-09', '2024-02-01', '2024-02-02'],
        price: [1.5, 2, 3, null],
        y1: [1, 2, 3, 4],
        y2: ['a', null, 'c', 'd'],
      })
    ).fid
    await test().grid('alice', 'cities', {
      city: ['Oslo', 'Oslo', 'Bern'],
      land: ['NO', 'N', 'CH'],
      price: [9, 8, 7],
    })
  })

  it('rows are grouped, also by periods, with every function', async () => {
    expect(await read('group=city&aggregate=sum:price&aggregate=count')).toBe(
      'city,sum_price,count\nOslo,4.5,2\nRome,2,1\n,,1\n',
    )
    expect(await read('group=city&per=month&aggregate=mean:price')).toBe(
      'day,city,mean_price\n2024-01-01,Oslo,1.5\n2024-01-01,Rome,2\n2024-02-01,Oslo,3\n2024-02-01,,\n',
    )
    const functions = ['min:day', 'max:day', 'first:y2', 'last:y2', 'median:y1', 'count:y2']
    expect(await read(`per=year&aggregate=${functions.join('&aggregate=')}`)).toBe(
      'day,min_day,max_day,first_y2,last_y2,median_y1,count_y2\n2024-01-01,2024-01-05,2024-02-02,a,d,2.5,3\n',
    )
    expect(await read('group=city&where=price%20>%201.6&sort=-count&columns=count,city')).toBe(
      'count,city\n1,Rome\n1,Oslo\n',
    )
    // Of all rows.
    expect(await read('aggregate=sum:price&aggregate=count')).toBe('sum_price,count\n6.5,4\n')
    // Columns of the result.
    expect(await read('group=city&aggregate=sum:price&where=sum_price%20>%203')).toBe(
      'city,sum_price\nOslo,4.5\n',
    )
    const joined = 'join=cities&on=city&columns=city,land'
    expect(await read(`${joined}&where=land%20=%20'NO'`)).toBe('city,land\nOslo,NO\nOslo,NO\n')
    expect(await read('group=city&where=price%20>%201%20and%20nope=1')).toBe(
      '400 the grid has no column "nope"',
    )
    expect(await read('group=city&where=nothing%20=%201')).toBe('400 the grid has no column "nothing"')
  })

  it('values become columns, and columns rows', async () => {
    expect(await read('group=day&per=month&pivot=city&aggregate=sum:price')).toBe(
      'day,Oslo,Rome,missing\n2024-01-01,1.5,2,\n2024-02-01,3,,\n',
    )
    expect(await read('unpivot=y1,y2&into=which,value&columns=city,which,value&head=3')).toBe(
      'city,which,value\nOslo,y1,1\nOslo,y2,a\nRome,y1,2\n',
    )
    expect(await read('unpivot=y1&into=which,city')).toBe('400 into: the table has a column "city"')
    expect(await read('unpivot=y1')).toMatch(/^400 .*belong together/)
    expect(await read('pivot=city&aggregate=sum:price,mean:price')).toMatch(/^400 /)
    expect(await read('group=city&aggregate=sum')).toMatch(/^400 aggregate: /)
    expect(await read('group=city&aggregate=sum:day')).toBe('400 sum: day has dates, not numbers')
    expect(await read('group=nope')).toMatch(/^400 group: the table has no column "nope"/)
  })

  it('another grid is joined, if the caller may read it', async () => {
    expect(await read('join=cities&on=city&columns=city,land,price_2')).toBe(
      'city,land,price_2\nOslo,NO,9\nOslo,N,8\nRome,,\nOslo,NO,9\nOslo,N,8\n,,\n',
    )
    expect(await read('join=cities&on=city&group=land&aggregate=sum:price')).toBe(
      'land,sum_price\nNO,4.5\nN,4.5\n,2\n',
    )
    const secret = await test().grid('bob', 'secret', { city: ['Oslo'], x: [1] })
    expect(await read(`join=${secret.fid}&on=city`)).toMatch(/^400 no grid is named/)
    expect(await read('join=cities')).toMatch(/^400 .*belong together/)
    expect(await read('join=cities&on=y1%3Dprice&columns=city')).toBe('city\nOslo\nRome\nOslo\n""\n')
  })

  it('rows with many matches in a large table are repeated, in its order', async () => {
    const rows = Array.from({ length: 3000 }, (_, k) => [`k${(k * k) % 1201}`, `v${k}`])
    const csv = (lines: unknown[][]) => lines.map((line) => `${line.join(',')}\n`).join('')
    await put('many', csv([['key', 'value'], ...rows]))
    const few = await put('few', csv([['key'], ...rows.slice(0, 40).map(([key]) => [key])]))
    const expected = rows
      .slice(0, 40)
      .flatMap(([key]) => rows.filter(([other]) => other === key))
      .map(([key, value]) => [key, value])
    expect(await read('join=many&on=key', 'alice', few)).toBe(csv([['key', 'value'], ...expected]))
  })

  it('values are equal however they are written: numbers, texts, dates', async () => {
    // A text with escapes, in JSON as Python writes it.
    const escaped = await put('left.json', '[{"k":"M\\u00fcnchen","v":1},{"k":"a\\/b","v":2}]')
    await put('right.csv', 'k,w\nMünchen,10\na/b,20\n')
    expect(await read('join=right&on=k', 'alice', escaped)).toBe('k,v,w\nMünchen,1,10\na/b,2,20\n')
    // Numbers beside texts, and numbers that no double tells apart.
    const left = await put('numbers.csv', 'k,v\n1,a\n2.50,b\n')
    await put('right.csv', 'k,w\n1,10\n2.5,20\nn/a,30\n')
    expect(await read('join=right&on=k&columns=v,w', 'alice', left)).toBe('v,w\na,10\nb,20\n')
    const long = await put('long.csv', 'k,v\n1234567890123456.789,a\n')
    await put('right.csv', 'k,w\n1234567890123456.788,10\n1234567890123456.7890,20\n')
    expect(await read('join=right&on=k&columns=v,w', 'alice', long)).toBe('v,w\na,20\n')
    // Dates and times, also of other zones.
    const days = await put('days.csv', 'k,v\n2024-01-31,a\n2024-02-01,b\n')
    await put('right.csv', 'k,w\n2024-01-31T00:00:00,10\n2024-02-01 00:00,20\n2024-02-01T10:00:00,30\n')
    expect(await read('join=right&on=k&columns=v,w', 'alice', days)).toBe('v,w\na,10\nb,20\n')
    const zoned = 'k,v\n2024-01-31T01:00:00+02:00,1\n2024-01-30T23:00:00Z,2\n2024-01-30T23:00:00.0001Z,4\n'
    const instants = await put('instants.csv', zoned)
    expect(await read('group=k&aggregate=sum:v', 'alice', instants)).toBe(
      'k,sum_v\n2024-01-31T01:00:00+02:00,3\n2024-01-30T23:00:00.0001Z,4\n',
    )
    const prices = await put('prices.csv', 'p,q,s\n1.5,10,x\n1.50,20,x\n2,1,x\n2.0,1,y\n-0,5,y\n0,6,y\n')
    expect(await read('group=p&aggregate=sum:q', 'alice', prices)).toBe('p,sum_q\n1.5,30\n2,2\n-0,11\n')
    expect(await read('group=s&pivot=p&aggregate=count', 'alice', prices)).toBe('s,0,1.5,2\nx,,2,1\ny,2,,1\n')
    // A column whose name has an equals sign.
    const odd = await put('odd.csv', 'k=l,v\n1,a\n')
    await put('right.csv', 'k=l,w\n1,10\n')
    expect(await read('join=right&on=k%3Dl', 'alice', odd)).toBe('k=l,v,w\n1,a,10\n')
    await put('right.csv', 'm,w\n1,10\n')
    expect(await read('join=right&on=k%3Dl%3Dm', 'alice', odd)).toBe('k=l,v,w\n1,a,10\n')
  })

  it('columns of a result have different names, and those of a pivot all digits of a number', async () => {
    const names = await put('names.csv', 'sum_x,x,count\n10,1,7\n20,2,8\n')
    expect(await read('group=count', 'alice', names)).toBe('count,count_2\n7,1\n8,1\n')
    expect(await read('group=sum_x&aggregate=sum:x&sort=-sum_x_2&columns=sum_x_2', 'alice', names)).toBe(
      'sum_x_2\n2\n1\n',
    )
    expect(await read('group=x&group=x&aggregate=sum:count&aggregate=sum:count', 'alice', names)).toBe(
      'x,sum_count,sum_count_2\n1,7,7\n2,8,8\n',
    )
    const big = await put('big.csv', 'k,v\n9007199254740993,1\n9007199254740992,2\n1.5,1.7e308\n')
    expect(await read('aggregate=sum:v&pivot=k', 'alice', big)).toMatch(/9007199254740992,9007199254740993/)
    expect(await read('aggregate=median:v&where=v%20%3E%201e308', 'alice', big)).toBe('median_v\n1.7e+308\n')
  })

  it('the lowest and highest values are those of sorting, of every type', async () => {
    const values = {
      text: ['a', 'a b', 'a!', '😀', '\uffff', 'Z'],
      zone: ['2024-03-31T01:30:00+02:00', '2024-03-31T00:00:00Z', '2024-03-30T23:50:00-01:00', null],
      time: ['2024-01-31 09:30', '2024-01-31T08:30:00', '2024-01-31T09:30:00.5', '2024-01-31'],
      number: [10, 9, -2, 1e3],
      mixed: [1, 'x', true, 20],
    }
    const rows = Math.max(...Object.values(values).map(({ length }) => length))
    const lines = Array.from({ length: rows }, (_, k) =>
      JSON.stringify(
        Object.fromEntries(Object.entries(values).map(([name, list]) => [name, list[k] ?? null])),
      ),
    )
    const { json } = await test().ask('alice', 'POST', '/v2/grids/upload', {
      headers: { 'x-file-name': 'extremes.ndjson' },
      body: lines.join('\n'),
    })
    for (const name of Object.keys(values)) {
      const path = `/v2/grids/${json.file.fid}/content?format=ndjson`
      const ask = async (query: string) => JSON.parse((await test().ask('alice', 'GET', path + query)).text)
      const found = await ask(`&aggregate=min:${name}&aggregate=max:${name}`)
      const where = `&where=${name}%20is%20not%20null&columns=${name}`
      const sorted = (await test().ask('alice', 'GET', `${path}${where}&sort=${name}`)).text
        .trim()
        .split('\n')
      expect([name, found[`min_${name}`], found[`max_${name}`]]).toEqual([
        name,
        JSON.parse(sorted[0])[name],
        JSON.parse(sorted.at(-1)!)[name],
      ])
    }
  })

  it('an upload can turn columns into rows', async () => {
    const body = 'k,2019,2020,t\na,1,,x\nb,3,4,y\n'
    const headers = {
      'x-file-name': 'wide.csv',
      'gridline-unpivot': '2019-2020',
      'gridline-into': 'year,value',
    }
    const { status, json } = await test().ask('alice', 'POST', '/v2/grids/upload', { headers, body })
    expect([
      status,
      json.file.cols.map(({ name, type }: { name: string; type: string }) => `${name}:${type}`),
    ]).toEqual([201, ['k:text', 't:text', 'year:number', 'value:number']])
    expect(await read('', 'alice', json.file.fid)).toBe(
      'k,t,year,value\na,x,2019,1\na,x,2020,\nb,y,2019,3\nb,y,2020,4\n',
    )
    // A column of JSON without values has no other type than the others.
    const nulls = await test().ask('alice', 'POST', '/v2/grids/upload', {
      headers: { ...headers, 'x-file-name': 'nulls.json' },
      body: '[{"k":"a","2019":null,"2020":5}]',
    })
    expect(await read('aggregate=sum:value', 'alice', nulls.json.file.fid)).toBe('sum_value\n5\n')
    const large = `k,a,b\n${Array.from({ length: 60_000 }, (_, k) => `${k},${'x'.repeat(50)},${k}\n`).join('')}`
    const big = await test().ask('alice', 'POST', '/v2/grids/upload', {
      headers: { 'x-file-name': 'large.csv', 'gridline-unpivot': 'a,b', 'gridline-into': 'n,v' },
      body: large,
    })
    expect([big.json.file.row_count, big.json.file.cols.at(-1).type]).toEqual([120_000, 'text'])
    expect(await read('tail=2', 'alice', big.json.file.fid)).toBe(
      `k,n,v\n59999,a,${'x'.repeat(50)}\n59999,b,59999\n`,
    )
    for (const wrong of [{ 'gridline-into': '' }, { 'gridline-unpivot': 'nope' }, { 'gridline-into': 'k,v' }])
      expect(
        await test().status('alice', 'POST', '/v2/grids/upload', { headers: { ...headers, ...wrong }, body }),
      ).toBe(400)
  })

  it('sums have no digits of rounding errors', async () => {
    const columns = {
      k: ['a', 'a', 'a', 'b', 'b', 'b', 'c'],
      n: [0.1, 0.2, 66.55, 1e16, 1, -1e16, 2 ** 53 - 1],
    }
    const { fid: grid } = await test().grid('alice', 'decimals', columns)
    const path = `/v2/grids/${grid}/content?format=csv&group=k&aggregate=sum:n`
    expect((await test().ask('alice', 'GET', path)).text).toBe('k,sum_n\na,66.85\nb,1\nc,9007199254740991\n')
  })

  it('groups are those of SQL, for random tables', async () => {
    const duck = await (await DuckDBInstance.create()).connect()
    const row = fc.tuple(
      fc.option(fc.constantFrom('a', 'b', 'é', '')),
      fc.option(fc.integer({ min: -5, max: 5 })),
      fc.option(fc.integer({ min: -1000, max: 1000 })),
    )
    let n = 0
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 40 }), async (rows) => {
        const { fid: grid } = await test().grid('alice', `random${n++}`, {
          k: rows.map(([k]) => k),
          g: rows.map(([, g]) => g),
          v: rows.map(([, , v]) => v),
        })
        const functions = ['sum', 'min', 'max', 'median', 'mean', 'count'].map(
          (name) => `aggregate=${name}:v`,
        )
        const { text } = await test().ask(
          'alice',
          'GET',
          `/v2/grids/${grid}/content?format=ndjson&group=k&group=g&${functions.join('&')}`,
        )
        const mine = text
          .trim()
          .split('\n')
          .map((line) => Object.values(JSON.parse(line)))
        const literal = (value: unknown): string =>
          value === null ? 'NULL' : typeof value === 'number' ? String(value) : `'${value}'`
        const values = rows.map((one) => `(${one.map(literal).join(',')})`).join(',')
        const theirs = await (
          await duck.run(`select k::varchar, g::double, sum(v)::double, min(v)::double, max(v)::double, median(v), avg(v), count(v)::double
            from (values ${values}) t(k, g, v) group by all`)
        ).getRows()
        const sorted = (list: unknown[][]) => list.map((one) => JSON.stringify(one)).sort()
        expect(sorted(mine)).toEqual(sorted(theirs as unknown[][]))
      }),
      { numRuns: runs(10, 200), seed: runs(1, Date.now()) },
    )
  }, 200_000)
})
