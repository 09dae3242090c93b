// Queries of grids in SQL.
import { copyFileSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createService } from '../../../src/service/index.ts'
import { itLong, runs } from '../../support/property-runs.ts'
import { onSqliteFirst, TestService, temporaryFolder } from '../../support/service.ts'

type Rows = unknown[][]

/** Number of rows of a grid whose copy is read with the rows after it. */
const PARTED_ROWS = 130_000

/** Runs a query. Returns status, error code, and rows of the result by column order. */
async function query(
  test: TestService,
  sql: string,
  more: object = {},
  user: string | undefined = 'alice',
): Promise<{ status: number; code?: string; message?: string; names?: string[]; rows?: Rows }> {
  const { status, json } = await test.ask(user, 'POST', '/v2/query', { json: { sql, ...more } })
  if (status !== 200) return { status, code: json.errors[0].code, message: json.errors[0].message }
  const columns = Object.entries(json.cols as Record<string, { data: unknown[] }>)
  const count = columns[0]?.[1].data.length ?? 0
  return {
    status,
    names: columns.map(([name]) => name),
    rows: Array.from({ length: count }, (_, row) => columns.map(([, { data }]) => data[row])),
  }
}

onSqliteFirst('queries', (test) => {
  let fid: string
  beforeAll(async () => {
    const columns = { id: [1, 2, 3], city: ['Oslo', 'Rome', null], temp: [1.5, -2, 30] }
    fid = (await test().grid('alice', 'weather', columns)).fid
    await test().grid('alice', 'cities', { city: ['Oslo', 'Rome'], land: ['NO', 'IT'] })
  })

  it('grids are tables: by path, id, version, user and alias, in all formats', async () => {
    const sum = async (table: string, more?: object, user?: string) =>
      (await query(test(), `select sum(temp) from ${table}`, more, user)).rows
    await test().ask('alice', 'POST', '/v2/folders', { json: { path: 'Reports/2024' } })
    await test().grid('alice', 'a b', { temp: [5] }, { parent_path: 'Reports/2024' })
    expect(await sum('weather')).toEqual([[29.5]])
    expect(await sum('Weather')).toBeUndefined()
    expect(await sum(`"${fid}"`)).toEqual([[29.5]])
    expect(await sum('"weather@1"')).toEqual([[29.5]])
    expect(await sum('"Reports/2024/a b"')).toEqual([[5]])
    expect(await sum('alice.weather')).toEqual([[29.5]])
    expect(await sum('w', { tables: { w: fid } })).toEqual([[29.5]])
    expect(await query(test(), 'select land, temp from weather join cities using (city) order by 1')).toEqual(
      {
        status: 200,
        names: ['land', 'temp'],
        rows: [
          ['IT', -2],
          ['NO', 1.5],
        ],
      },
    )
    const { text } = await test().ask('alice', 'POST', '/v2/query', {
      json: { sql: 'from weather', format: 'csv' },
    })
    expect(text).toBe('id,city,temp\n1,Oslo,1.5\n2,Rome,-2\n3,,30\n')
    // A version has its own content.
    await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[4, 'Bern', 100]] } })
    expect([await sum('weather'), await sum('"weather@1"')]).toEqual([[[129.5]], [[29.5]]])
  })

  it('a query reads only what its user may read', async () => {
    const { fid: secret } = await test().grid('bob', 'secret', { n: [7] })
    const read = (user: string | undefined, table = `"${secret}"`) => query(test(), `from ${table}`, {}, user)
    expect(await read('alice')).toMatchObject({ status: 400, code: 'unknown_table' })
    expect(await read('alice', 'bob.secret')).toMatchObject({ code: 'unknown_table' })
    // The same answer as for a grid that does not exist.
    const other = await query(test(), 'from "bob:999"')
    expect((await read('alice')).message).toBe(other.message!.replace('bob:999', secret))
    expect((await read('bob')).rows).toEqual([[7]])
    await test().ask('bob', 'POST', `/v2/grids/${secret}/collaborators`, {
      json: { collaborators: [{ username: 'alice', permission: 'view' }] },
    })
    expect(
      (await test().ask('bob', 'PATCH', `/v2/grids/${secret}`, { json: { world_readable: true } })).status,
    ).toBe(200)
    expect((await read('alice')).rows).toEqual([[7]])
    expect((await test().ask(undefined, 'POST', '/v2/query', { json: { sql: 'select 1' } })).status).toBe(401)
    await test().ask('bob', 'POST', `/v2/grids/${secret}/trash`)
    expect(await read('alice')).toMatchObject({ code: 'unknown_table' })
  })

  it('a grid can have a name that is used while tables are loaded', async () => {
    for (const [name, values] of Object.entries({ loaded: [1, 2], ':0': [3], ':1': [4], grid: [5] })) {
      const { fid } = await test().grid('alice', name, { n: values })
      // Rows after those of the copy.
      await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[10]] } })
    }
    const sql =
      'select sum(l.n), max(a.n), max(b.n), max(g.n) from loaded l, ":0" a, ":1" b, grid g where a.n < 10 and b.n < 10 and g.n < 10'
    expect((await query(test(), sql)).rows).toEqual([[13, 3, 4, 5]])
  })

  it('versions of a large grid, and grids of the same beginning, are queried together', async () => {
    const ones = { n: new Array(PARTED_ROWS).fill(1) }
    const { fid } = await test().grid('alice', 'steps', ones)
    const { fid: other } = await test().grid('alice', 'other steps', ones)
    const add = (grid: string, n: number) =>
      test().ask('alice', 'POST', `/v2/grids/${grid}/row`, { json: { rows: [[n]] } })
    await add(fid, 10)
    // Appends after it are a version of their own.
    const kept = await test().ask('alice', 'POST', `/v2/files/${fid}/keep`, {
      json: { version: '2', name: 'kept' },
    })
    expect(kept.status).toBe(200)
    await add(fid, 100)
    await add(other, 1000)
    const tables = ['steps', '"steps@1"', '"steps@2"', 'alice.steps', '"other steps"']
    const sql = `select ${tables.map((table) => `(select sum(n) from ${table})`).join(', ')}`
    const sums = [110, 0, 10, 110, 1000].map((more) => PARTED_ROWS + more)
    // The second time, the copy exists.
    for (let k = 0; k < 2; k++) expect((await query(test(), sql)).rows).toEqual([sums])
    for (let k = 0; k < 2; k++)
      expect(
        (await query(test(), 'select count(*), first(n), last(n) from (from steps where n > 1)')).rows,
      ).toEqual([[2, 10, 100]])
  })

  it('an error in a query of several lines says in which one it is', async () => {
    const errorOf = async (sql: string) => (await query(test(), sql)).message
    expect(await errorOf("select 'é\n', temp\nfrom weather\nwher temp > 1")).toBe(
      'line 4: syntax error at or near "temp". Did you mean WHERE?',
    )
    expect(await errorOf('select city,\n  tmp from weather')).toMatch(
      /^line 2: no column is named "tmp". Did you mean temp\?$/,
    )
    expect(await errorOf('select city,\n  temp + city from weather')).toBe(
      'line 2: + does not take (number, text); a text is made a date by ::DATE, a number by ::DOUBLE',
    )
    expect(await errorOf('select tmp from weather\n')).toMatch(/^no column is named "tmp"/)
    expect(await errorOf('select temp\nfrom weather join wether using (city)')).toMatch(
      /^line 2: no grid is named wether$/,
    )
  })

  it.each([
    [
      'select temp from weather where city = Oslo',
      /^no column is named "Oslo"; a text is in single quotes: 'Oslo'\. Columns: /,
    ],
    ['select temp * amount from weather', /^no column is named "amount"\. Columns: .*temp/],
    ['select 1 from weather where shop id = 2', /a name with a space is in double quotes: "shop id"$/],
    ['select w.tmp from weather w', /^"w" has no column "tmp"/],
    [
      "select 'a text without an end that is long from weather",
      /at or near "'a text without an end that i…"$/,
    ],
    ['', /^the query is empty$/],
    ['select 1; select 2', /^a query is one statement, not 2$/],
    ['show tables', /gridline ls$/],
    ['select temp from weather where temp > 1 and current_date > 2026-01-01', /a date is in single quotes/],
  ])('%s is refused with words that help', async (sql, message) => {
    expect((await query(test(), sql)).message).toMatch(message)
  })

  it('an unknown table names a grid in a folder', async () => {
    await test().grid('alice', 'shipped orders', { n: [1] }, { parent_path: 'shop' })
    for (const name of ['shipped orders', 'shop/shipped order', 'Shipped Orders']) {
      const { json } = await test().ask('alice', 'POST', '/v2/query', { json: { sql: `from "${name}"` } })
      expect(json.errors[0].hint).toMatch(/^Did you mean "shop\/shipped orders"\?/)
    }
    const { json } = await test().ask('bob', 'POST', '/v2/query', { json: { sql: 'from "shipped orders"' } })
    expect(json.errors[0].hint).not.toContain('shop')
  })

  it('parameters are values, never SQL', async () => {
    const run = (params: object) =>
      query(test(), 'select $a as a, city from weather where city = $city', { params })
    expect((await run({ a: 1, city: "Oslo' or true --" })).rows).toEqual([])
    expect((await run({ a: null, city: 'Oslo' })).rows).toEqual([[null, 'Oslo']])
    expect(await run({ a: 1 })).toMatchObject({ status: 400, message: 'parameter $city has no value' })
    expect(await run({ a: 1, city: 'x', b: 2 })).toMatchObject({
      message: 'the query has no parameter $b; it has $a, $city',
    })
    await test().grid('alice', 'days', { day: ['2024-01-01', '2024-06-01'] })
    const days = (day: string) => query(test(), 'from days where day >= $day', { params: { day } })
    expect((await days('2024-03-01')).rows).toEqual([['2024-06-01']])
    expect(await days('March')).toMatchObject({ status: 400 })
  })

  it('U+FEFF at the begin of a text is part of it', async () => {
    const texts = ['\ufeffa', 'a', '\ufeff']
    const { rows } = await query(
      test(),
      "select * from (values (chr(65279) || 'a'), ('a'), (chr(65279))) t(text)",
    )
    expect(rows).toEqual(texts.map((text) => [text]))
  })

  it('values keep their types', async () => {
    await test().ask('alice', 'POST', '/v2/grids/upload', {
      headers: { 'x-file-name': 'types.csv' },
      body: 'n,whole,zone,local,day,flag,text\n1.5,1,2024-01-01T10:00:00+02:00,2024-01-01 10:00,2024-02-29,true,\n,2,2024-01-02T00:00:00Z,2024-01-02 10:00:05.25,,false,""\n,3,,,,,x\n',
    })
    const described = await query(test(), 'describe from types')
    expect(described.rows!.map(([name, type]) => `${name} ${type}`)).toEqual([
      'n DOUBLE',
      'whole BIGINT',
      'zone TIMESTAMP WITH TIME ZONE',
      'local TIMESTAMP',
      'day DATE',
      'flag BOOLEAN',
      'text VARCHAR',
    ])
    expect((await query(test(), 'from types')).rows).toEqual([
      [1.5, 1, '2024-01-01T08:00:00Z', '2024-01-01 10:00:00', '2024-02-29', true, null],
      [null, 2, '2024-01-02T00:00:00Z', '2024-01-02 10:00:05.25', null, false, ''],
      [null, 3, null, null, null, null, 'x'],
    ])
    const sql = `select 12345678901234567890123::hugeint h, 1.10::decimal(5,2) d, 0.1::float f, 'nan'::double x,
      [1, null] l, {'a': 'b"'} s, date '12000-01-01' far, interval 1 day i`
    const { text } = await test().ask('alice', 'POST', '/v2/query', { json: { sql, format: 'ndjson' } })
    expect(text).toBe(
      `{"h":12345678901234567890123,"d":1.10,"f":0.1,"x":null,"l":"[1,null]","s":${JSON.stringify('{"a":"b\\""}')},"far":"12000-01-01","i":"1 day"}\n`,
    )
    // Names that differ only in case, and a column of missing and empty texts alone.
    await test().grid('alice', 'names', { a: [1], A: [2] })
    expect((await query(test(), 'from names')).names).toEqual(['a', 'A_2'])
    await test().grid('alice', 'single', { t: [null, '', 'x', null] })
    expect((await query(test(), 'from single')).rows).toEqual([[null], [''], ['x'], [null]])
  })

  itLong('numbers in lists, duplicate names and large values', async () => {
    const sql = `select [1, 20000000000000000000::hugeint] l, {'x': 1.10::decimal(5,2)} s, map {'k': 2} m, 1 a, 2 a, 3 "a_2"`
    expect((await query(test(), sql)).names).toEqual(['l', 's', 'm', 'a', 'a_2', 'a_2_2'])
    expect((await query(test(), sql)).rows).toEqual([
      ['[1,20000000000000000000]', '{"x":1.10}', '{"k":2}', 1, 2, 3],
    ])
    for (const format of ['csv', 'md']) {
      const json = { sql: "select repeat('|', 5000000)", format }
      const { status, json: answer } = await test().ask('alice', 'POST', '/v2/query', { json })
      expect([status, answer.errors[0].message]).toEqual([400, expect.stringContaining('longer than')])
    }
    await test().grid('alice', 'moments', {
      t: ['2024-01-01', '2024-01-01 12:00'],
      n: ['2024-01-01T00:00:00.123456789', null],
    })
    expect((await query(test(), 'from moments')).rows).toEqual([
      ['2024-01-01 00:00:00', '2024-01-01T00:00:00.123456789'],
      ['2024-01-01 12:00:00', null],
    ])
  })

  itLong('names: case, tables of the query itself, reserved words, and those that are hidden', async () => {
    await test().grid('alice', 'Cities', { city: ['CAPITAL'] })
    expect(await query(test(), 'select city from cities union all select city from "Cities"')).toMatchObject({
      code: 'invalid_query',
      message: expect.stringContaining('differ only in case'),
    })
    expect((await query(test(), 'select city from "Cities"')).rows).toEqual([['CAPITAL']])
    expect(
      (
        await query(test(), 'with cities as (select * from cities where city = $c) select land from cities', {
          params: { C: 'Oslo' },
        })
      ).rows,
    ).toEqual([['NO']])
    expect((await query(test(), 'with t as (select 1 as n) select n from t')).rows).toEqual([[1]])
    expect(await query(test(), 'from main.cities')).toMatchObject({ code: 'invalid_query' })
    const empty = await test().ask('alice', 'POST', '/v2/grids', {
      json: { data: { cols: {} }, filename: 'none' },
    })
    if (empty.status === 201) expect((await query(test(), 'from none')).message).toBe('none has no columns')
    const { fid: hidden } = await test().grid('bob', 'hidden', { n: [1] })
    const messages = new Set<string | undefined>()
    for (const name of ['hidden', 'hidden@1', 'hidden@draft', 'nope@1'])
      messages.add((await query(test(), `from bob."${name}"`)).message!.replace(`bob.${name}`, 'X'))
    expect([...messages]).toEqual(['no grid is named X'])
    expect((await query(test(), `from "${hidden}@1"`)).code).toBe('unknown_table')
    // Several names of one grid share a copy.
    expect(
      (await query(test(), 'select count(*) from weather a, alice.weather b, "weather@2" c')).rows,
    ).toEqual([[64]])
  })

  const HOSTILE = [
    "select * from read_text('/etc/passwd')",
    "select * from read_csv('/etc/passwd')",
    "from '/etc/passwd'",
    "select * from glob('/**')",
    "select * from read_blob('/proc/self/environ')",
    "select content from read_text(getvariable('x'))",
    "from query('select * from read_text(''/etc/passwd'')')",
    "copy (select 1) to '/tmp/gridline-hostile'",
    "copy weather from '/etc/passwd'",
    "attach '/tmp/gridline-hostile.db'",
    "export database '/tmp/gridline-hostile'",
    'install httpfs',
    'load json',
    'set enable_external_access = true',
    'reset enable_external_access',
    'pragma enable_profiling',
    'create table t as select 1',
    'insert into weather values (1)',
    'drop view weather',
    'select 1; select 2',
    'select 1; drop view weather',
    'pivot weather on city using sum(temp)',
    'call pragma_version()',
    'explain analyze select 1',
    'prepare q as select 1',
    'begin',
    'checkpoint',
    'vacuum',
    "select getenv('HOME')",
    "from sqlite_scan('/etc/passwd', 'x')",
    "from postgres_scan('host=127.0.0.1', 'public', 't')",
    "from 'http://127.0.0.1:1/x.csv'",
    'select',
    '',
    '\0',
    'from weather order by nope',
    'from information_schema.nope',
  ]
  // All of them with `npm run test:long`.
  it.each(HOSTILE.filter((_, k) => k % runs(12, 1) === 0))('a hostile query is refused: %j', async (sql) => {
    const { status, code } = await query(test(), sql)
    expect([status, code]).toEqual([
      400,
      expect.stringMatching(/^(invalid_query|invalid_request|unknown_table|unknown_column)$/),
    ])
    expect(readdirSync('/tmp').filter((name) => name.startsWith('gridline-hostile'))).toEqual([])
  })
})

describe('limits of queries', () => {
  const folder = temporaryFolder()
  let test: TestService
  beforeAll(async () => {
    const environment = {
      // Long enough for a query of nothing on a busy machine.
      GRIDLINE_LIMIT_QUERY_SECONDS: '2',
      GRIDLINE_LIMIT_QUERY_MEMORY_BYTES: String(300 * 1024 * 1024),
    }
    const database = `sqlite:${join(folder.path, 'test.db')}`
    test = new TestService(await createService({ database, url: 'http://gridline.test', environment }))
    await test.user('alice')
    await test.user('bob')
  })
  afterAll(async () => {
    await test.service.close()
    folder.remove()
  })

  it.each([
    ['with recursive t(n) as (select 1 union all select n + 1 from t) select count(*) from t', 'query_'],
    ["select length(repeat('x', 2000000000))", 'query_'],
    ['select count(*) from range(1e9::bigint) a, range(1e9::bigint) b', 'query_seconds'],
    ['select list(i) from range(100000000) t(i)', 'query_'],
  ])('a query beyond its limits ends soon: %s', async (sql, limit) => {
    const { status, code, message } = await query(test, sql)
    expect([status, code]).toEqual([413, 'too_large'])
    expect(message).toContain(limit)
    // Nothing of it stays.
    const queries = `${join(folder.path, 'test.db')}-queries`
    expect(
      existsSync(queries) ? readdirSync(queries).filter((name) => name.startsWith('work-')) : [],
    ).toEqual([])
  })

  it('a result beyond its limit is refused', async () => {
    const database = `sqlite:${join(folder.path, 'small.db')}`
    const environment = { GRIDLINE_LIMIT_QUERY_RESULT_BYTES: '100000', GRIDLINE_LIMIT_QUERY_SECONDS: '60' }
    const small = new TestService(await createService({ database, url: 'http://gridline.test', environment }))
    await small.user('alice')
    const { status, code, message } = await query(small, 'from range(100000)')
    await small.service.close()
    expect([status, code, message]).toEqual([413, 'too_large', expect.stringContaining('query_result_bytes')])
  })

  it('more queries than allowed wait shortly, and are then refused with 503', async () => {
    const slow = 'select count(*) from range(1e9::bigint) a, range(1e9::bigint) b'
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, k) => query(test, slow, {}, k % 2 === 0 ? 'alice' : 'bob')),
    )
    expect(answers.map(({ status }) => status).filter((status) => status === 503).length).toBeGreaterThan(0)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([413, 503]))
  })

  it('a server without queries says so', async () => {
    const database = `sqlite:${join(folder.path, 'none.db')}`
    const none = new TestService(
      await createService({ database, url: 'http://gridline.test', environment: {}, sql: false }),
    )
    await none.user('alice')
    expect(await query(none, 'select 1')).toMatchObject({ status: 403, code: 'forbidden' })
    await none.service.close()
  })
})

/** Queries of a table `t` with the columns a, b, c, d, "E e", f, g: some read columns that they do not name. */
const SHAPES = [
  'select a from t order by 1',
  'select count(*) from t',
  'select sum(T.A * b) from t',
  'select t from t order by a',
  'select typeof(t), a from t order by a',
  'select typeof(alice.t), typeof(a) from alice.t limit 1',
  'select typeof(main.t), a from t order by a',
  'select #2, a from t order by a',
  'select y.a, y.z from t as y(a, z) order by 1',
  'select x.a from t x natural join t y order by 1',
  'with w(a, b) as (select c, d from t) select a, b from w order by all',
  'select try(a / 0), try(to_json(t)) from t order by a',
  "select column_name, data_type from duckdb_columns() where table_name = 't' order by 1",
  'select nothing from t',
  "select error('gridline: this column is not in the file') from t",
  'select t.a, "e E" from (select b as "e E", a from t) t order by 1',
  'select "e E", max("E E") from (select 1 "e E", * from t) group by 1',
  'select * from t order by a',
  'from t select a, b order by 1',
  'table t order by all',
  'select x from t x order by x.a',
  'select count(t) from t',
  'select y.x from t as y(x) order by 1',
  'select x.a from t x join t y using (a, b) order by 1',
  'select x.a from t x positional join t y order by 1',
  'with w as (select * from t) select c from w order by 1',
  'with t as (from t) select g from t order by 1',
  "select columns('^[ab]$') from t order by all",
  "select columns(lambda n: n > 'e') from t order by all",
  'select * exclude (a) from t order by all',
  'describe t',
  'summarize t',
  'from (unpivot t on a, b) order by all',
  'select * from (pivot t on g in (1, 2) using sum(a)) order by all',
  'select a, (select max(b) from t y where y.c < x.c) from t x order by a',
  'select (select count(distinct d) from t)',
  'select a, l from t, lateral (select a + b as l) order by 1',
  'select a, unnest([b, c]) u from t order by all',
  'select a from t union all by name select f as a from t order by 1',
  'select a from t intersect select b from t order by 1',
  'select a, row_number() over (partition by g order by f desc) n from t order by a',
  'select g, sum(a) from t group by grouping sets ((g), ()) order by all',
  "select name, type from pragma_table_info('t') order by 1",
  'select arg_max(x, a) from t x',
  'select distinct on (g) g, a from t order by g, a',
  'select a from t where "E e" is not null and f not in (select c from t) order by 1',
  'select i, a from range(3) r(i), t order by all',
  'select list_transform([a], n -> n + b) from t order by all',
  'with recursive r as (select min(a) n from t union all select n + 1 from r where n < 3) from r order by 1',
]

describe('copies with the columns that a query names', () => {
  const folder = temporaryFolder()
  const copies = join(folder.path, 'test.db-queries')
  let test: TestService
  beforeAll(async () => {
    const database = `sqlite:${join(folder.path, 'test.db')}`
    test = new TestService(await createService({ database, url: 'http://gridline.test', environment: {} }))
    await test.user('alice')
  })
  afterAll(async () => {
    await test.service.close()
    folder.remove()
  })

  it('a query has the same result as on a copy of the whole', async () => {
    const columns = Object.fromEntries(
      ['a', 'b', 'c', 'd', 'E e', 'f', 'g'].map((name, k) => [
        name,
        Array.from({ length: 5 }, (_, row) => (k === 6 ? row % 3 : (row * (k + 1) * 7) % 11)),
      ]),
    )
    await test.grid('alice', 't', columns)
    await query(test, 'from t')
    const [whole] = readdirSync(copies)
    const path = join(folder.path, whole)
    renameSync(join(copies, whole), path)
    for (const sql of SHAPES.slice(0, runs(6, SHAPES.length))) {
      const fresh = await query(test, sql)
      for (const name of readdirSync(copies)) rmSync(join(copies, name))
      copyFileSync(path, join(copies, whole))
      expect([sql, fresh]).toEqual([sql, await query(test, sql)])
      rmSync(join(copies, whole))
    }
  })

  it('has the columns of earlier queries, too, until a copy of the whole is better', async () => {
    const names = Array.from({ length: 10 }, (_, k) => `c${k}`)
    await test.grid('alice', 'ten', Object.fromEntries(names.map((name, k) => [name, [k * 1000 + 7]])))
    const parts = async (sql: string): Promise<string[]> => {
      const before = new Set(readdirSync(copies))
      expect((await query(test, sql)).status).toBe(200)
      return readdirSync(copies)
        .filter((name) => !before.has(name))
        .map((name) => name.replace(/^\w{40}|\.parquet$/g, ''))
    }
    expect(await parts('select c3, c1 from ten')).toEqual(['-1_3'])
    expect(await parts('select c3 from ten')).toEqual([])
    expect(await parts('select count(*) from ten where c9 > 0')).toEqual(['-1_3_9'])
    expect(await parts('select c1, c3 from ten where c9 > 0')).toEqual([])
    expect(await parts('select c4, c5, c6 from ten')).toEqual([''])
    expect(await parts('select c8 from ten')).toEqual([])
  })
})

onSqliteFirst('random tables', (test) => {
  const value = fc.oneof(
    fc.constant(null),
    fc.integer({ min: -1000, max: 1000 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom('', 'x', 'Oslo', 'a,b', 'q"q', ' space ', 'line\nend', "it's", 'é', '007'),
    fc.boolean(),
    fc.constantFrom('2024-01-31', '1999-12-01'),
  )
  /** Columns of one kind, or of mixed values. */
  const column = fc.oneof(
    fc.array(fc.oneof(fc.constant(null), fc.integer({ min: -1e9, max: 1e9 })), {
      minLength: 1,
      maxLength: 30,
    }),
    fc.array(fc.oneof(fc.constant(null), fc.double({ noNaN: true, noDefaultInfinity: true })), {
      minLength: 1,
      maxLength: 30,
    }),
    fc.array(value, { minLength: 1, maxLength: 30 }),
  )
  it('a table has in a query the values that it has in Gridline', async () => {
    const duck = await (await DuckDBInstance.create()).connect()
    let n = 0
    await fc.assert(
      fc.asyncProperty(fc.array(column, { minLength: 1, maxLength: 4 }), async (columns) => {
        const rows = Math.max(...columns.map(({ length }) => length))
        const even = columns.map((values) => [...values, ...new Array(rows - values.length).fill(null)])
        const name = `random${n++}`
        await test().grid('alice', name, Object.fromEntries(even.map((values, k) => [`c${k}`, values])))
        const stored = (await test().ask('alice', 'GET', `/v2/grids/lookup?path=${name}`)).json
        const { rows: read } = await query(test(), `from ${name}`)
        const types: string[] = stored.cols.map(({ type }: { type: string }) => type)
        for (const [k, values] of even.entries()) {
          const expected = values.map((one) => {
            if (one === null) return null
            // -0 is 0 in JSON.
            if (types[k] === 'number') return Number(one) + 0
            return types[k] === 'boolean' ? one : String(one)
          })
          expect([types[k], read!.map((row) => row[k])]).toEqual([types[k], expected])
        }
        // Sums and groups are those of DuckDB on the same values.
        const k = types.indexOf('number')
        if (k >= 0) {
          const list = even[k].map((one) => (one === null ? 'NULL' : `${one}::DOUBLE`)).join(', ')
          const [[count, low, high]] = await (
            await duck.run(`select count(c), min(c), max(c) from (select unnest([${list}]) c)`)
          ).getRows()
          const { rows: mine } = await query(
            test(),
            `select count(c${k}), min(c${k}), max(c${k}) from ${name}`,
          )
          expect(mine![0].map(Number)).toEqual([count, low, high].map(Number))
        }
      }),
      { numRuns: runs(2, 200), seed: runs(1, Date.now()) },
    )
  }, 400_000)

  it('types are those of all values, also if the first ones are of a narrower type', async () => {
    const columns: [values: string, last: string, type: string, read: string][] = [
      ['1', '0.5', 'DOUBLE', '0.5'],
      ['null', '2.5', 'DOUBLE', '2.5'],
      ['12345678901234567890123', '0.5', 'DOUBLE', '0.5'],
      ['7', '12345678901234567890123', 'HUGEINT', '12345678901234567890123'],
      ['7', '-0', 'BIGINT', '0'],
      ['9007199254740993', '2020.0', 'BIGINT', '2020'],
      ['7', '12345678901234567890123.0', 'HUGEINT', '12345678901234567890123'],
      ['7', '2e3', 'BIGINT', '2000'],
      ['7', '9007199254740993', 'BIGINT', '9007199254740993'],
      ['null', '"2024-02-29"', 'DATE', '2024-02-29'],
      ['"2024-01-01"', '"2024-01-01T10:00"', 'TIMESTAMP', '2024-01-01 10:00:00'],
      ['"2024-01-01T10:00"', '"2024-01-01T10:00:00.123456789"', 'VARCHAR', '2024-01-01T10:00:00.123456789'],
      [
        '"2024-01-01T11:30:00+02:00"',
        '"2024-01-01T10:00:00.1234567Z"',
        'TIMESTAMP WITH TIME ZONE',
        '2024-01-01 10:00:00.123456+00',
      ],
    ]
    const cols = columns.map(
      ([values, last], k) => `"c${k}": {"data": [${`${values},`.repeat(PARTED_ROWS)}${last}]}`,
    )
    const { status } = await test().ask('alice', 'POST', '/v2/grids', {
      headers: { 'content-type': 'application/json' },
      body: `{"filename": "late", "data": {"cols": {${cols.join(', ')}}}}`,
    })
    expect(status).toBe(201)
    const types = columns.map((_, k) => `typeof(c${k})`)
    const values = columns.map((_, k) => `c${k}::varchar`)
    const { rows } = await query(
      test(),
      `select ${[...types, ...values].join(', ')} from late offset ${PARTED_ROWS}`,
    )
    expect(rows).toEqual([[...columns.map(([, , type]) => type), ...columns.map(([, , , read]) => read)]])
  })

  /** Values by kind: those of a column before and after an append may be of two. */
  const KINDS: readonly (readonly unknown[])[] = [
    [1, -2, 3_000_000],
    [0.5, 2.25],
    [9_007_199_254_740_993n, 5],
    [12_345_678_901_234_567_890_123n],
    ['2024-01-01T10:00', '2024-06-30 23:59:59.5'],
    ['2024-01-01T10:00:00Z', '2024-01-01T10:00:00+02:00'],
    ['2024-01-01T00:00:00.123456789'],
    ['2024-02-29'],
    ['12000-01-01'],
    [true, false],
    ['', 'x', ' y'],
    [null],
  ]
  const kind = fc.integer({ min: 0, max: KINDS.length - 1 })
  /** Kinds of a column before and after. Most stay. */
  const kinds = fc.oneof(
    kind.map((one) => [one, one]),
    fc.tuple(kind, kind),
  )

  it('rows that were appended have the types and values of a table that was stored at once', async () => {
    let n = 0
    await fc.assert(
      fc.asyncProperty(fc.array(kinds, { minLength: 1, maxLength: 4 }), fc.nat(), async (columns, salt) => {
        const rowsOf = (part: 0 | 1, count: number) =>
          Array.from({ length: count }, (_, row) =>
            columns.map((pair, k) => KINDS[pair[part]][(salt + row + k) % KINDS[pair[part]].length]),
          )
        const stored = rowsOf(0, PARTED_ROWS)
        const added = rowsOf(1, 6)
        const create = async (rows: unknown[][]) => {
          const path = `parts${n++}`
          const cols = columns.map((_, k) => `"c${k}": {"data": ${write(rows.map((row) => row[k]))}}`)
          const body = `{"filename": "${path}", "data": {"cols": {${cols.join(', ')}}}}`
          const headers = { 'content-type': 'application/json' }
          return (await test().ask('alice', 'POST', '/v2/grids', { headers, body })).json.file
        }
        const { fid, filename } = await create(stored)
        await query(test(), `from ${filename}`)
        const { status } = await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
          headers: { 'content-type': 'application/json' },
          body: `{"rows": ${write(added)}}`,
        })
        expect(status).toBe(201)
        const whole = await create([...stored, ...added])
        const types = columns.map((_, k) => `typeof(c${k})`)
        const read = (table: string) =>
          query(test(), `select *, ${types.join(', ')} from ${table} offset ${PARTED_ROWS - 6}`)
        expect(await read(filename)).toEqual(await read(whole.filename))
      }),
      // Large integers before smaller ones.
      { numRuns: runs(1, 60), seed: runs(1, Date.now()), examples: [[[[3, 0]], 0]] },
    )
  }, 800_000)
})

/** Writes JSON with integers of any size. */
function write(values: unknown[]): string {
  return `[${values.map((one) => (Array.isArray(one) ? write(one) : typeof one === 'bigint' ? String(one) : JSON.stringify(one))).join(', ')}]`
}
