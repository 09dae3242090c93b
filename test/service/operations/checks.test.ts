// Checks of grids: rules, enforcement, privacy.
import { describe, expect, it } from 'vitest'
import { runs } from '../../support/property-runs.ts'
import { onSqliteFirst } from '../../support/service.ts'

interface Result {
  column: string | null
  rule: string
  passed: boolean
  count: number | null
  message: string | null
  rows: { row: number; line: number | null; value: unknown }[]
}

onSqliteFirst('checks', (test) => {
  const ask = (...given: Parameters<ReturnType<typeof test>['ask']>) => test().ask(...given)
  const upload = (name: string, csv: string, headers: Record<string, string> = {}, user = 'alice') =>
    ask(user, 'POST', '/v2/grids/upload', {
      body: csv,
      headers: {
        'content-type': 'text/csv',
        'x-file-name': `${name}.csv`,
        'gridline-on-conflict': 'replace',
        ...headers,
      },
    })
  const sent = (checks: object) => ({ 'gridline-checks': encodeURIComponent(JSON.stringify(checks)) })
  const check = async (csv: string, checks: object): Promise<Result[]> => {
    const { json } = await upload('checked', csv, sent(checks))
    return (json.checks ?? json.errors[0].checks).results
  }
  const failed = async (csv: string, checks: object) =>
    (await check(csv, checks))
      .filter(({ passed }) => !passed)
      .map(({ column, rule, count, rows }) => [column ?? 'table', rule, count, rows.map(({ line }) => line)])
  const column = (rules: object) => ({ columns: { n: rules } })
  const csvOf = (...values: string[]) => `k,n\n${values.map((value, k) => `${k},${value}\n`).join('')}`

  it.each<[string, object, string[], number | null, number[]]>([
    ['type', { type: 'integer' }, ['1', '1.0', '1.5', '', '-7'], 1, [4]],
    // In a column of texts, too.
    ['type', { type: 'integer' }, ['1', '1.0', '1e0', '1.5', 'x', '1e20', '1e400'], 3, [5, 6, 8]],
    // A long text is tested in linear time.
    ['type', { type: 'integer' }, ['1', `${'0'.repeat(100_000)}x`], 1, [3]],
    ['type', { type: 'number' }, ['1', 'x', '2.5'], 1, [3]],
    ['type', { type: 'date' }, ['2024-01-31', '2024-02-30', 'x'], 2, [3, 4]],
    ['type', { type: 'boolean' }, ['true', 'false', 'yes'], 1, [4]],
    ['type', { type: 'time' }, ['09:30', '24:00'], 1, [3]],
    ['required', { required: true }, ['1', '', '3', ''], 2, [3, 5]],
    ['unique', { unique: true }, ['1.5', '2', '1.50', '', ''], 1, [4]],
    ['enum', { enum: ['a', 'b'] }, ['a', 'c', 'b', ''], 1, [3]],
    ['enum', { enum: [1, 2] }, ['1', '2.0', '3'], 1, [4]],
    ['enum', { enum: ['2024-01-31T09:30'] }, ['2024-01-31 09:30:00', '2024-01-31 09:31'], 1, [3]],
    ['enum', { enum: ['2024-01-31T09:30'] }, ['2024-01-31 09:30:00', 'x'], 2, [2, 3]],
    ['pattern', { pattern: '[a-c]+' }, ['abc', 'xabc', ''], 1, [3]],
    ['minimum', { minimum: 2 }, ['1', '2', 'x'], 2, [2, 4]],
    ['maximum', { exclusive_maximum: 2 }, ['1', '2', '3'], 2, [3, 4]],
    ['minimum', { minimum: '2024-01-02' }, ['2024-01-01', '2024-01-02'], 1, [2]],
    ['length', { length: '2..3' }, ['ab', 'a', 'äöü', '𝒳𝒳𝒳', 'abcd'], 2, [3, 6]],
    ['nulls', { nulls: '25%' }, ['1', '', ''], 2, []],
  ])('rule %s %j of %j fails for the right rows', async (rule, rules, values, count, lines) => {
    expect(await failed(csvOf(...values), column(rules))).toEqual([['n', rule, count, lines]])
  })

  it.each<[object, string, string]>([
    [{ key: 'k' }, 'k,n\n1,a\n1,b\n,c\n', 'key'],
    [{ rows: '3..' }, 'k,n\n1,a\n', 'rows'],
    [{ rows: 0 }, 'k,n\n1,a\n', 'rows'],
    [{ extra_columns: false }, 'k,n,m\n1,a,2\n', 'extra_columns'],
    [{ where: 'k <= n' }, 'k,n\n1,2\n3,2\n', 'where'],
    [{ where: ['k = 1 or n is not null'] }, 'k,n\n1,\n2,\n', 'where'],
  ])('table rule %j fails for the right rows', async (table, csv, rule) => {
    const checks = { columns: { k: {}, n: {} }, table }
    expect((await failed(csv, checks)).map(([of, name]) => [of, name])).toEqual([['table', rule]])
  })

  it('a table condition fails for false rows, and passes for unknown ones', async () => {
    const table = { where: "start <= stop and (state <> 'closed' or stop is not null)" }
    const csv = 'start,stop,state\n1,2,open\n3,2,open\n4,,open\n5,,closed\n'
    const [result] = await check(csv, { table })
    expect(result).toMatchObject({ rule: 'where', count: 2, message: '2 of 4 rows do not match' })
    expect(result.rows.map(({ line, value }) => [line, value])).toEqual([
      [3, 'start 3, stop 2, state open'],
      [5, 'start 5, stop null, state closed'],
    ])
    for (const [where, why] of [
      ['start <', 'cannot run'],
      ['begin < 3', 'cannot run'],
      ["start < 'x'", 'cannot run'],
    ])
      expect((await check(csv, { table: { where } }))[0].message).toContain(why)
    const reversed = await upload('reversed', 'n\n1\n', sent({ columns: { n: { minimum: 2, maximum: 1 } } }))
    expect(reversed.json.errors[0]).toMatchObject({
      code: 'bad_checks',
      message: 'checks, column n: the minimum 2 is above the maximum 1',
    })
  })

  it('an append pads short columns alike, with and without checks', async () => {
    const contents: string[] = []
    for (const isChecked of [false, true]) {
      const { fid } = await test().grid('alice', `short ${isChecked}`, { a: [1, 2, 3], b: ['x'], c: [7, 8] })
      const checks = { columns: { a: { minimum: 0 } } }
      if (isChecked) await ask('alice', 'PUT', `/v2/grids/${fid}/checks`, { json: { checks } })
      await ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[4, 'y', 9]] } })
      const { cols } = (await ask('alice', 'GET', `/v2/grids/${fid}`)).json
      contents.push(
        (await ask('alice', 'GET', `/v2/grids/${fid}/content?format=ndjson`)).text +
          cols.map(({ type }: { type: string }) => type),
      )
    }
    expect(contents[1]).toBe(contents[0])
  })

  it('a rule that cannot run fails, such as on a missing column that is not optional', async () => {
    const csv = 'n\n1\n'
    expect(await failed(csv, { columns: { m: { type: 'text' } } })).toHaveLength(2)
    expect(await failed(csv, { columns: { m: { type: 'text', optional: true }, n: {} } })).toEqual([])
    expect(await failed(csv, { table: { key: 'm' } })).toHaveLength(1)
  })

  it('failures are counted across slices, and 20 rows are listed', async () => {
    const rows = Array.from({ length: 150_000 }, (_, k) => `${k},${k % 1000 === 7 ? -k : k}`)
    const [, minimum] = await check(`k,n\n${rows.join('\n')}\n`, column({ minimum: 0 }))
    expect([minimum.count, minimum.rows.length, minimum.rows[1]]).toEqual([
      150,
      20,
      { row: 1008, line: 1009, value: -1007 },
    ])
  })

  it('duplicates are found within and across slices, ascending or not', async () => {
    const unique = async (values: number[]) => {
      const [, result] = await check(
        `k,n\n${values.map((value, k) => `${k},${value}`).join('\n')}\n`,
        column({ unique: true }),
      )
      return [result.count, result.rows[0]?.row]
    }
    const ascending = Array.from({ length: 140_000 }, (_, k) => k * 2)
    expect(await unique(ascending)).toEqual([0, undefined])
    expect(await unique(ascending.with(139_999, 10))).toEqual([1, 140_000])
    expect(await unique(ascending.with(70_001, 140_000))).toEqual([1, 70_002])
    expect(await unique([...ascending].reverse())).toEqual([0, undefined])
  })

  it('data that fails checks is not stored; with severity warn it is stored with a warning', async () => {
    const csv = 'n\n-1\n2\n'
    const refused = await upload('stored', csv, sent(column({ minimum: 0 })))
    expect([refused.status, refused.json.errors[0]]).toMatchObject([
      422,
      { code: 'checks_failed', line: 2, column: 'n', checks: { passed: false, errors: 1, row_count: 2 } },
    ])
    expect((await ask('alice', 'GET', '/v2/grids/lookup?path=stored')).status).toBe(404)
    const warned = await upload('stored', csv, sent(column({ minimum: 0, severity: 'warn' })))
    expect(warned.json).toMatchObject({
      warnings: ['check: column n, at least 0: 1 of 2 values is too low, first in line 2'],
      checks: { passed: true, warnings: 1 },
    })
    const strict = { ...sent(column({ minimum: 0, severity: 'warn' })), 'gridline-strict': 'true' }
    expect((await upload('stored', csv, strict)).status).toBe(400)
  })

  it('the rules of a grid apply to every write: uploads, rows, columns, reverts', async () => {
    const { fid, cols } = (await upload('ruled', 'id,n\n1,-1\n')).json.file
    await upload('ruled', 'id,n\n1,1\n')
    const set = (checks: object | null) =>
      ask('alice', 'PUT', `/v2/grids/${fid}/checks`, { json: { checks } })
    const rules = { columns: { id: { unique: true }, n: { minimum: 0 } }, table: { rows: '1..3' } }
    expect((await set(column({ minimum: 5 }))).status).toBe(422)
    expect((await set(rules)).status).toBe(200)
    expect((await ask('alice', 'GET', `/v2/grids/${fid}/checks`)).json).toEqual({ checks: rules })
    const rows = (json: unknown) => ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: json } })
    const csv = (body: string) =>
      ask('alice', 'POST', `/v2/grids/${fid}/row`, { body, headers: { 'content-type': 'text/csv' } })
    const uid = cols[1].uid
    const statuses = [
      await upload('ruled', 'id,n\n1,-1\n'),
      await rows([[2, -2]]),
      await rows([[1, 2]]),
      await csv('id,n\n2,-1\n'),
      await rows([
        [2, 2],
        [3, 3],
        [4, 4],
      ]),
      await ask('alice', 'PUT', `/v2/grids/${fid}/col?uid=${uid}`, { json: { cols: [{ data: [-1] }] } }),
      await ask('alice', 'PUT', `/v2/grids/${fid}/col?uid=${uid}`, { json: { cols: [{ name: 'm' }] } }),
      await ask('alice', 'DELETE', `/v2/grids/${fid}/col?uid=${uid}`),
      await ask('alice', 'POST', `/v2/grids/${fid}/revert`, { json: { version: '1' } }),
    ].map(({ status, json }) => [status, json.errors[0].code])
    expect(statuses).toEqual(statuses.map(() => [422, 'checks_failed']))
    expect((await ask('alice', 'GET', `/v2/grids/${fid}`)).json).toMatchObject({ version: 2, row_count: 1 })
    expect((await rows([[2, 2]])).json).toMatchObject({ rows_added: 1, row_count: 2, version: 3 })
    expect((await csv('id,n\n3,3\n')).json).toMatchObject({ rows_added: 1, row_count: 3, version: 3 })
    const copy = await ask('alice', 'POST', `/v2/files/${fid}/copy`, { json: {} })
    expect((await ask('alice', 'GET', `/v2/grids/${copy.json.new_fid}/checks`)).json).toEqual({
      checks: rules,
    })
    expect((await set(null)).status).toBe(200)
    expect((await rows([[3, -9]])).status).toBe(201)
  })

  it('rows appended to a checked grid form one version, and failures name their lines', async () => {
    const { fid } = (await upload('lines', 'n\n1\n2\n')).json.file
    await ask('alice', 'PUT', `/v2/grids/${fid}/checks`, { json: { checks: column({ minimum: 0 }) } })
    const append = (body: string) =>
      ask('alice', 'POST', `/v2/grids/${fid}/row`, { body, headers: { 'content-type': 'text/csv' } })
    const [error] = (await append('n\n3\n\n-4\n')).json.errors
    expect([error.line, error.checks.results[1].rows]).toEqual([4, [{ row: 5, line: 4, value: -4 }]])
    expect((await append('n\n3\n')).json.version).toBe(2)
    expect((await append('n\n4\n')).json.version).toBe(2)
  })

  it('changes are compared with the last version, removed rows by the key', async () => {
    const { fid } = (await upload('changes', 'id,n\n1,a\n2,b\n3,c\n4,d\n', { 'gridline-key': 'id' })).json
      .file
    const checks = { table: { change: { rows: '-30%..+100%', removed: '30%' } } }
    await ask('alice', 'PUT', `/v2/grids/${fid}/checks`, { json: { checks } })
    const replace = async (csv: string) => (await upload('changes', csv)).status
    expect(await replace('id,n\n1,a\n2,b\n')).toBe(422)
    expect(await replace('id,n\n5,a\n6,b\n7,c\n8,d\n')).toBe(422)
    expect(await replace('id,n\n4,x\n3,y\n2,z\n9,z\n')).toBe(200 + 1)
  })

  it('columns used by plots are protected', async () => {
    const { fid, cols } = (await upload('plotted', 'x,y,z\n1,2,3\n')).json.file
    const figure = { data: [{ xsrc: `${fid}:${cols[0].uid}`, ysrc: `${fid}:${cols[1].uid}` }], layout: {} }
    await ask('alice', 'POST', '/v2/plots', { json: { figure, filename: 'of-plotted' } })
    const checks = { table: { plot_columns: true } }
    await ask('alice', 'PUT', `/v2/grids/${fid}/checks`, { json: { checks } })
    const { status, json } = await upload('plotted', 'x,z\n1,3\n')
    expect([status, json.detail]).toEqual([
      422,
      expect.stringContaining('plots use columns that are missing: y'),
    ])
    expect((await upload('plotted', 'x,y\n1,2\n')).status).toBe(201)
  })

  it('limits and ages of dates are those of their times, in every form and zone', async () => {
    const low = column({ minimum: '2024-01-31T00:00:00Z' })
    const zoned = 'n\n2024-01-31T01:00:00+02:00\n2024-01-31T00:30:00Z\n2024-01-30T23:30:00-02:00\n'
    expect(await failed(zoned, low)).toEqual([['n', 'minimum', 1, [2]]])
    expect(await failed(zoned, column({ maximum: '2024-01-31T00:45:00Z' }))).toEqual([
      ['n', 'maximum', 1, [4]],
    ])
    const local = 'n\n2024-01-31T08:30:00\n2024-01-31 09:45\n'
    expect(await failed(local, column({ maximum: '2024-01-31 09:30' }))).toEqual([['n', 'maximum', 1, [3]]])
    // Bounds of slices, which are texts, decide nothing that they do not know.
    const rows = (odd: string) => `n\n${'2024-01-05 10:00:00\n'.repeat(40)}${odd}\n`
    const high = column({ maximum: '2030-01-01' })
    for (const odd of ['some long text', '9999-12-31 00:00:00'])
      expect(await failed(rows(odd), high)).toEqual([['n', 'maximum', 1, [42]]])
    // A long text takes no long time.
    expect(await failed(rows(`.0001${'0'.repeat(300_000)}1`), high)).toEqual([])
    const at = (ms: number, hours: number) =>
      new Date(Date.now() - ms + hours * 3600_000).toISOString().replace('Z', hours < 0 ? '-05:00' : '+00:00')
    const old = `n\n${at(2.4 * 3600_000, 0)}\n`
    expect(await failed(old, column({ max_age: '1h' }))).toHaveLength(1)
    expect(await failed(`${old}${at(60_000, -5)}\n`, column({ max_age: '1h' }))).toEqual([])
  })

  it('a growth of exactly the allowed percentage passes', async () => {
    const rows = (count: number) => `n\n${Array.from({ length: count }, (_, k) => `${k}\n`).join('')}`
    const checks = { columns: { n: {} }, table: { change: { rows: '..+7%' } } }
    for (const count of [100, 107])
      expect((await upload('growing', rows(count), sent(checks))).status).toBe(201)
    expect((await upload('growing', rows(116), sent(checks))).status).toBe(422)
  })

  it('the age of the newest date counts from midnight', async () => {
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
    const csv = (ago: number) => `n\n2001-01-01\n${day(ago)}\n`
    expect(await failed(csv(1), column({ max_age: '2d' }))).toEqual([])
    // Other texts, before and after it, hide no date.
    expect(await failed(`n\nincomplete\n${day(1)}\n`, column({ max_age: '2d' }))).toEqual([])
    expect(await failed(`n\n${day(1)}\nincomplete\n`, column({ max_age: '2d' }))).toEqual([])
    expect(await failed(csv(3), column({ max_age: '2d' }))).toHaveLength(1)
    expect(await failed('n\n\n', column({ max_age: '2d' }))).toHaveLength(1)
  })

  it('a Frictionless Table Schema is accepted unchanged', async () => {
    const schema = {
      fields: [
        { name: 'id', type: 'integer', constraints: { required: true, minimum: 1 } },
        { name: 'mail', type: 'string', format: 'email', constraints: { maxLength: 10 } },
        { name: 'ok', type: 'boolean', title: 'Any' },
        { name: 'year', type: 'year' },
      ],
      missingValues: ['', '-'],
      primaryKey: 'id',
      foreignKeys: [],
    }
    const csv = 'id,mail,ok,year\n1,a@b.c,true,2024\n0,-,0,24\n1,nobody,x,2024\n'
    expect(await failed(csv, schema)).toEqual([
      ['table', 'key', 1, [4]],
      ['id', 'minimum', 1, [3]],
      ['mail', 'pattern', 1, [4]],
      ['ok', 'type', 1, [4]],
      ['year', 'pattern', 1, [3]],
    ])
    expect(await failed('mail,id,ok,year\na@b.c,1,true,2024\n', schema)).toEqual([
      ['table', 'column_order', null, []],
    ])
    const unknown = { ...schema, foreignKeys: [{ fields: 'id' }] }
    expect(await failed('id,mail,ok,year\n1,a@b.c,1,2024\n', unknown)).toEqual([
      ['table', 'foreignKeys', null, []],
    ])
  })

  it.each<[object, RegExp]>([
    [{ columns: { n: { requierd: true } } }, /column n: unknown rule "requierd".*/],
    [{ columns: { n: { minimum: [] } } }, /column n: minimum: \[\] is not a number or a date/],
    [{ columns: { n: { pattern: '(' } } }, /pattern "\(" cannot be used/],
    [{ columns: { n: { pattern: '(a)\\1' } } }, /cannot be used/],
    [{ columns: { n: { pattern: '((a{100}){100}){100}' } } }, /cannot be used/],
    [{ columns: { n: { nulls: '200%' } } }, /nulls/],
    [{ table: { change: { rows: '10' } } }, /change.rows/],
    [{ table: { rows: '5..1' } }, /rows/],
    [{ severity: 'bad', table: { rows: 1 } }, /neither error nor warn/],
    [{}, /no rules/],
  ])('invalid checks are refused with the place: %j', async (checks, said) => {
    const { status, json } = await upload('senseless', 'n\n1\n', sent(checks))
    expect([status, json.errors[0].code, json.detail]).toEqual([
      400,
      'bad_checks',
      expect.stringMatching(said),
    ])
  })

  it('a pattern that backtracks elsewhere is matched in linear time', async () => {
    const rows = Array.from({ length: 200 }, () => `${'a'.repeat(2000)}!`)
    expect((await failed(`n\n${rows.join('\n')}\n`, column({ pattern: '(a+)+b' })))[0][2]).toBe(200)
  })

  it('checks run on 10,000 columns without rows', async () => {
    const names = Array.from({ length: 10_000 }, (_, k) => `c${k}`)
    const { status, json } = await upload('wide', `${names.join(',')}\n`)
    expect(status).toBe(201)
    const checks = { columns: Object.fromEntries(names.map((name) => [name, { required: true }])) }
    const report = await ask('alice', 'POST', `/v2/grids/${json.file.fid}/check`, { json: { checks } })
    expect(report.json).toMatchObject({ passed: true, row_count: 0 })
    expect(report.json.results).toHaveLength(20_000)
  })

  describe('who may not read the values', () => {
    it('users without access learn nothing from checks', async () => {
      const { fid } = (await upload('secret', 'n\n1\n2\n')).json.file
      const rules = column({ unique: true })
      await ask('alice', 'PUT', `/v2/grids/${fid}/checks`, { json: { checks: rules } })
      const big = Array.from({ length: 60_000 }, () => [1])
      for (const [method, path, json] of [
        ['POST', 'check', { checks: rules }],
        ['GET', 'checks', undefined],
        ['PUT', 'checks', { checks: column({ minimum: 5 }) }],
        ['POST', 'row', { rows: [[1]] }],
        ['POST', 'row', { rows: big }],
      ] as const) {
        const { status, text } = await ask('bob', method, `/v2/grids/${fid}/${path}`, json ? { json } : {})
        expect([path, status, text.includes('duplicate')]).toEqual([path, 404, false])
      }
    })
  })

  it('checks with too many columns, keys or pattern states are refused', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, k) => `c${k}`)
    const columns = Object.fromEntries(many(10_000).map((name) => [name, {}]))
    for (const checks of [
      { columns, table: many(101).map(() => ({ extra_columns: false })) },
      { columns: Object.fromEntries(many(20_001).map((name) => [name, {}])) },
      { table: { key: ['n', 'n'] } },
      { table: { key: many(101) } },
      { columns: { n: { pattern: '(a?b?){0,500}' } } },
      { columns: { n: { pattern: '.*a.{900}b' } } },
    ]) {
      const { fid } = (await upload('bounded', 'n\nx\n')).json.file
      const { status, json } = await ask('alice', 'POST', `/v2/grids/${fid}/check`, { json: { checks } })
      expect([status, json.errors[0].code]).toEqual([400, 'bad_checks'])
    }
  })

  it('a report cuts long values, and lists few rows', async () => {
    const csv = `n\n${Array.from({ length: 30 }, (_, k) => `${'x'.repeat(20_000)}${k}\n`).join('')}`
    const { fid } = (await upload('long', csv)).json.file
    const rules = Array.from({ length: 300 }, () => ({ name: 'n', enum: ['a'] }))
    const { text, json } = await ask('alice', 'POST', `/v2/grids/${fid}/check`, {
      json: { checks: { columns: rules } },
    })
    expect(json.results[1]).toMatchObject({ count: 30, rows: expect.objectContaining({ length: 20 }) })
    expect(json.results.at(-1)).toMatchObject({ count: 30, rows: [] })
    expect(text.length).toBeLessThan(1_000_000)
  })

  it('a key without the read scope learns nothing, and one without the write scope may check', async () => {
    const { fid } = (await upload('scoped', 'secret\nalpha\n')).json.file
    const checks = { columns: { secret: { enum: ['zzz'] } } }
    const as = async (scopes: string) => {
      const key = await test().key('alice', { scopes })
      const headers = { authorization: `Basic ${Buffer.from(`alice:${key}`).toString('base64')}` }
      return ask('alice', 'POST', `/v2/grids/${fid}/check`, { json: { checks }, headers })
    }
    expect((await as('write')).status).toBe(403)
    expect((await as('write')).text).not.toContain('alpha')
    expect((await as('read')).json).toMatchObject({ passed: false, errors: 1 })
  })

  it('the newest date is found in the values, also after an upsert', async () => {
    const today = new Date().toISOString().slice(0, 10)
    const { fid } = (await upload('aged', `id,day\n1,2020-01-03\n2,${today}\n`, { 'gridline-key': 'id' }))
      .json.file
    await ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[2, '2020-01-01']] } })
    const checks = { columns: { day: { max_age: '2d' } } }
    const { json } = await ask('alice', 'POST', `/v2/grids/${fid}/check`, { json: { checks } })
    expect(json.results[1]).toMatchObject({ passed: false, message: 'the newest value is 2020-01-03' })
  })

  it('storing a plot never replaces the data of a grid with rules', async () => {
    const made = await test().plot('alice', { data: [{ type: 'scatter', x: [1, 2], y: [3, 4] }], layout: {} })
    const grid = await ask('alice', 'GET', `/v2/grids/${made.grid_fid}`)
    const name = grid.json.cols[0].name
    const checks = { columns: { [name]: { maximum: 10 } } }
    await ask('alice', 'PUT', `/v2/grids/${made.grid_fid}/checks`, { json: { checks } })
    const figure = { data: [{ type: 'scatter', x: [5, 99], y: [98, 99] }], layout: {} }
    const changed = await ask('alice', 'PATCH', `/v2/plots/${made.file.fid}`, {
      json: { figure, raw_data: 'grid' },
    })
    expect(changed.status).toBe(200)
    expect((await ask('alice', 'POST', `/v2/grids/${made.grid_fid}/check`, { json: {} })).json.passed).toBe(
      true,
    )
  })

  it('failure counts agree with a naive check, for any values', async () => {
    let seed = 42
    const random = (n: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff
      return seed % n
    }
    const words = ['', 'a', 'bb', 'ccc', '1', '2.0', '-3', 'é', '"q"', '2024-01-01', 'x\ty']
    for (let round = 0; round < runs(10, 200); round++) {
      const values = Array.from({ length: random(40) + 1 }, () => words[random(words.length)])
      const csv = `k,n\n${values.map((value, k) => `${k},"${value.replaceAll('"', '""')}"\n`).join('')}`
      const rules = { required: true, enum: ['a', '1', 'é'], pattern: '[a-z]*', length: '1..2', unique: true }
      const counts = (await check(csv, column(rules))).filter(({ column: of }) => of === 'n')
      const there = values.filter((value) => value !== '')
      // In a column of numbers, values are compared as numbers.
      const isNumeric = there.every((value) => /^-?\d+(\.\d+)?$/.test(value))
      const shown = there.map((value) => (isNumeric ? String(Number(value)) : value))
      const expected: Record<string, number> = {
        required: values.length - there.length,
        unique: shown.length - new Set(shown).size,
        enum: shown.filter((value) => !['a', '1', 'é'].includes(value)).length,
        pattern: shown.filter((value) => !/^[a-z]*$/.test(value)).length,
        // As written, also of numbers.
        length: there.filter((value) => [...value].length > 2).length,
      }
      expect(Object.fromEntries(counts.map(({ rule, count }) => [rule, count]))).toEqual(expected)
    }
  })
})
