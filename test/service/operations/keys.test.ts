// Upserts by primary key.
import { describe, expect, it, vi } from 'vitest'
import { runs } from '../../support/property-runs.ts'
import { onSqliteFirst } from '../../support/service.ts'

onSqliteFirst('keys', (test) => {
  const ask = (...given: Parameters<ReturnType<typeof test>['ask']>) => test().ask(...given)
  const upload = (name: string, csv: string, headers: Record<string, string> = {}) =>
    ask('alice', 'POST', '/v2/grids/upload', {
      body: csv,
      headers: {
        'content-type': 'text/csv',
        'x-file-name': `${name}.csv`,
        'gridline-on-conflict': 'append',
        ...headers,
      },
    })
  const byId = { 'gridline-key': 'id' }
  const append = (fid: string, body: string, headers: Record<string, string> = {}, type = 'text/csv') =>
    ask('alice', 'POST', `/v2/grids/${fid}/row`, { body, headers: { 'content-type': type, ...headers } })
  const csv = async (fid: string, more = '') =>
    (await ask('alice', 'GET', `/v2/grids/${fid}/content?format=csv${more}`)).text

  it('rows with the same key are updated in place, others appended, in one version', async () => {
    const first = await upload('prices', 'id,city,n\n1,Oslo,1\n2,Rome,2\n3,Bern,3\n', byId)
    const { fid } = first.json.file
    expect(first.json.file.primary_key).toEqual(['id'])
    const second = await upload('prices', 'id,n\n4,40\n2,20\n3,3.0\n', byId)
    expect(second.json).toMatchObject({
      action: 'updated',
      rows_added: 1,
      rows_updated: 1,
      rows_unchanged: 1,
      rows_removed: 0,
      file: { fid, version: 2, row_count: 4 },
    })
    expect(await csv(fid)).toBe('id,city,n\n1,Oslo,1\n2,Rome,20\n3,Bern,3\n4,,40\n')
    expect((await upload('prices', 'id,n\n2,20\n')).json).toMatchObject({
      action: 'unchanged',
      file: { version: 2 },
    })
    const { json } = await ask('alice', 'GET', `/v2/grids/${fid}/versions`)
    expect(json.versions[0]).toMatchObject({
      operation: 'update',
      rows_added: 1,
      rows_changed: 1,
      rows_removed: 0,
    })
  })

  it('upserts by one user form one version for ten minutes, and earlier versions are unchanged', async () => {
    let now = Date.UTC(2026, 0, 1)
    vi.useFakeTimers({ toFake: ['Date'], now })
    try {
      const { fid } = (await upload('sensor', 'id,n\n1,0\n2,0\n', byId)).json.file
      await ask('alice', 'POST', `/v2/files/${fid}/collaborators`, {
        json: { users: ['bob'], permission: 'write' },
      })
      const send = async (rows: unknown[][], user = 'alice') =>
        (await ask(user, 'POST', `/v2/grids/${fid}/row`, { json: { rows } })).json.version
      const wait = (ms: number): void => void vi.setSystemTime((now += ms))
      const content = async (version: number) => csv(fid, `&version=${version}`)
      const history = async () =>
        (await ask('alice', 'GET', `/v2/files/${fid}/versions`)).json.versions.map(
          (one: Record<string, unknown>) =>
            `${one.version} ${one.operation} +${one.rows_added} -${one.rows_removed} ~${one.rows_changed}`,
        )
      expect([await send([[3, 0]]), await send([[4, 0]])]).toEqual([2, 2])
      expect([await send([[4, 1]]), await send([[4, 2]]), await send([[5, 0]])]).toEqual([3, 3, 3])
      expect(await history()).toEqual(['3 update +1 -0 ~1', '2 append +2 -0 ~0', '1 create +2 -0 ~0'])
      expect([await send([[1, 1]]), await send([[6, 0]], 'bob'), await send([[6, 1]])]).toEqual([3, 4, 5])
      wait(10 * 60_000)
      expect([await send([[6, 2]]), await send([[6, 3]])]).toEqual([6, 6])
      await ask('alice', 'POST', `/v2/files/${fid}/keep`, { json: { name: 'kept' } })
      expect([await send([[6, 4]]), await send([[7, 0]])]).toEqual([7, 7])
      expect(await history()).toEqual([
        '7 update +1 -0 ~1',
        '6 update +0 -0 ~1',
        '5 update +0 -0 ~1',
        '4 append +1 -0 ~0',
        '3 update +1 -0 ~2',
        '2 append +2 -0 ~0',
        '1 create +2 -0 ~0',
      ])
      const lines = (text: string): string => `id,n\n${text.replaceAll(' ', '\n')}\n`
      expect(await content(1)).toBe(lines('1,0 2,0'))
      expect(await content(2)).toBe(lines('1,0 2,0 3,0 4,0'))
      expect(await content(3)).toBe(lines('1,1 2,0 3,0 4,2 5,0'))
      expect(await content(4)).toBe(lines('1,1 2,0 3,0 4,2 5,0 6,0'))
      expect(await content(5)).toBe(lines('1,1 2,0 3,0 4,2 5,0 6,1'))
      expect(await content(6)).toBe(lines('1,1 2,0 3,0 4,2 5,0 6,3'))
      expect(await csv(fid)).toBe(lines('1,1 2,0 3,0 4,2 5,0 6,4 7,0'))
    } finally {
      vi.useRealTimers()
    }
  })

  it('a column longer than the key column is refused', async () => {
    const { fid } = (await upload('longer', 'id,n\n1,1\n2,2\n', byId)).json.file
    const cols = JSON.stringify([{ name: 'm', data: [1, 2, 3] }])
    const { status, json } = await ask('alice', 'POST', `/v2/grids/${fid}/col`, { json: { cols } })
    expect([status, json.errors[0].code]).toEqual([400, 'bad_keys'])
  })

  it('the grid stores its key, and every kind of append uses it', async () => {
    const { fid } = (await upload('kinds', 'id,n\n1,a\n2,b\n', byId)).json.file
    expect((await append(fid, 'id,n\n2,c\n3,d\n')).json).toMatchObject({
      rows_added: 1,
      rows_updated: 1,
      version: 2,
    })
    const json = await ask('alice', 'POST', `/v2/grids/${fid}/row`, {
      json: {
        rows: [
          [3, 'e'],
          [4, 'f'],
        ],
      },
    })
    expect(json.json).toMatchObject({ rows_added: 1, rows_updated: 1, row_count: 4 })
    const lines = await append(fid, '{"id":4}\n{"id":1,"n":"x"}\n', {}, 'application/x-ndjson')
    expect(lines.json).toMatchObject({ rows_added: 0, rows_updated: 2 })
    expect(await append(fid, '{"id":1}\n', {}, 'application/x-ndjson')).toMatchObject({
      json: { rows_unchanged: 1, rows_updated: 0 },
    })
    expect(await csv(fid)).toBe('id,n\n1,x\n2,c\n3,e\n4,\n')
  })

  it('dates are the same key, cell and allowed value in every form, and keep the stored one', async () => {
    const byTime = { 'gridline-key': 't' }
    const stored = '2024-01-01T09:30:00,1,keep\n2024-01-02T00:00:00,2,too\n2024-01-03T09:30:00.5,3,three\n'
    const { fid } = (await upload('times', `t,v,note\n${stored}`, byTime)).json.file
    const other = await append(fid, 't,v\n2024-01-01 09:30,10\n2024-01-02,2\n2024-01-03 09:30:00.500,3\n', {
      'gridline-delete-missing': 'true',
    })
    expect(other.json).toMatchObject({
      rows_added: 0,
      rows_updated: 1,
      rows_unchanged: 2,
      rows_removed: 0,
    })
    expect(await csv(fid)).toBe(`t,v,note\n${stored.replace(',1,', ',10,')}`)
    const twice = await append(fid, 't,v\n2024-05-01 09:30,1\n2024-05-01T09:30:00,2\n')
    expect([twice.status, twice.json.detail]).toEqual([400, expect.stringMatching(/same key/)])

    const zoned = (await upload('zoned', 't,v\n2024-01-01T09:30:00Z,1\n2024-01-02T09:30:00Z,2\n', byTime))
      .json
    const moved = await append(
      zoned.file.fid,
      't,v\n2024-01-01T10:30:00+01:00,7\n2024-01-02T09:30:00+00:00,2\n',
    )
    expect(moved.json).toMatchObject({ rows_added: 0, rows_updated: 1, rows_unchanged: 1 })

    const checked = async (rules: object, values: string) => {
      const { status, json } = await upload('checked', `t\n${values}`, {
        'gridline-on-conflict': 'rename',
        'gridline-checks': encodeURIComponent(JSON.stringify(rules)),
      })
      return status === 201 ? [] : json.errors.map(({ code }: { code: string }) => code)
    }
    const twoForms = '2024-01-01T09:30:00Z\n2024-01-01T10:30:00+01:00\n'
    expect(await checked({ columns: { t: { unique: true } } }, twoForms)).toEqual(['checks_failed'])
    expect(await checked({ table: { key: ['t'] } }, twoForms)).toEqual(['checks_failed'])
    expect(await checked({ columns: { t: { enum: ['2024-01-01T09:30Z'] } } }, twoForms)).toEqual([])
    expect(await checked({ columns: { t: { enum: ['2024-01-01T09:31Z'] } } }, twoForms)).toEqual([
      'checks_failed',
    ])

    const again = (await upload('again', 't,v\n2024-01-01 09:30,1\n2024-01-02 09:30,2\n')).json.file
    const before = (await upload('before', 't,v\n2024-01-01T09:30:00,1\n2024-01-02T09:30:00,5\n')).json.file
    for (const key of ['', '&key=t']) {
      const { json } = await ask('alice', 'GET', `/v2/grids/${again.fid}/diff?base=${before.fid}${key}`)
      expect(json).toMatchObject({ rows_added: 0, rows_removed: 0, rows_changed: 1 })
    }
  })

  it('a null, duplicate or missing key is refused, and nothing changes', async () => {
    const { fid } = (await upload('bad', 'id,n\n1,a\n2,b\n', byId)).json.file
    const error = async (body: string, headers = {}) => (await append(fid, body, headers)).json.errors[0]
    expect(await error('id,n\n5,x\n\n6,"two\nlines"\n5,y\n')).toMatchObject({
      code: 'bad_data',
      message: 'the upload: lines 2 and 6 have the same key: id 5',
      line: 2,
      column: 'id',
    })
    expect(await error('id,n\n,x\n')).toMatchObject({
      code: 'bad_data',
      message: 'the upload: line 2 has no key: id null',
    })
    expect(await error('n\nx\n')).toMatchObject({ code: 'unknown_column' })
    expect(await error('id,n\n1,x\n', { 'gridline-key': 'no' })).toMatchObject({ code: 'unknown_column' })
    expect((await upload('bad', 'id,n\n1,x\n1,y\n', { 'gridline-on-conflict': 'replace' })).status).toBe(400)
    expect((await upload('fresh', 'id,n\n1,x\n1,y\n', byId)).json.errors[0].message).toBe(
      'fresh.csv: lines 2 and 3 have the same key: id 1',
    )
    expect(await csv(fid)).toBe('id,n\n1,a\n2,b\n')
    const plain = (await upload('plain', 'id,n\n1,a\n2,b\n1,c\n')).json.file.fid
    expect((await append(plain, 'id,n\n1,x\n', byId)).json.errors[0].message).toBe(
      'the grid: rows 1 and 3 have the same key: id 1',
    )
  })

  it('a key follows renames of its columns, protects them, and can be removed', async () => {
    const made = (await upload('guard', 'id,n\n1,a\n2,b\n', byId)).json.file
    const { fid, cols } = made
    const put = (json: object) => ask('alice', 'PUT', `/v2/grids/${fid}/col?uid=${cols[0].uid}`, { json })
    await put({ cols: [{ name: 'number' }] })
    expect((await ask('alice', 'GET', `/v2/grids/${fid}`)).json.primary_key).toEqual(['number'])
    expect((await put({ cols: [{ data: [7, 7] }] })).json.errors[0].code).toBe('bad_keys')
    expect((await put({ cols: [{ data: [7, 8] }] })).status).toBe(200)
    expect((await ask('alice', 'DELETE', `/v2/grids/${fid}/col?uid=${cols[0].uid}`)).status).toBe(409)
    const { new_fid } = (await ask('alice', 'POST', `/v2/files/${fid}/copy`, { json: {} })).json
    expect((await ask('alice', 'GET', `/v2/grids/${new_fid}`)).json.primary_key).toEqual(['number'])
    expect((await append(fid, '', { 'gridline-key': ',' }, 'application/x-ndjson')).status).toBe(201)
    expect((await ask('alice', 'GET', `/v2/grids/${fid}`)).json.primary_key).toBe(null)
    await append(fid, 'number,n\n7,z\n')
    expect(
      (await append(fid, '', { 'gridline-key': 'number' }, 'application/x-ndjson')).json.errors[0].message,
    ).toContain('rows 1 and 3')
  })

  it('a revert to rows with duplicate keys is refused', async () => {
    const { fid } = (await upload('back', 'id,n\n1,a\n1,b\n')).json.file
    await upload('back', 'id,n\n1,a\n2,b\n', { ...byId, 'gridline-on-conflict': 'replace' })
    const revert = await ask('alice', 'POST', `/v2/grids/${fid}/revert`, { json: { version: '1' } })
    expect(revert.json.errors[0]).toMatchObject({ code: 'bad_keys' })
    expect((await ask('alice', 'GET', `/v2/grids/${fid}/diff?base_version=2&version=2`)).json.key).toEqual([
      'id',
    ])
  })

  it('rows that the file lacks are removed on request, up to a share', async () => {
    const rows = Array.from({ length: 40 }, (_, k) => `${k},v${k}`)
    const { fid } = (await upload('gone', `id,n\n${rows.join('\n')}\n`, byId)).json.file
    const without = (count: number) => `id,n\n${rows.slice(count).join('\n')}\n`
    const missing = { 'gridline-delete-missing': 'true' }
    expect((await upload('gone', without(5), missing)).json.errors[0]).toMatchObject({ code: 'row_loss' })
    expect((await upload('gone', without(2), missing)).json).toMatchObject({
      rows_removed: 2,
      rows_unchanged: 38,
    })
    expect(await csv(fid)).toBe(without(2))
    const most = { ...missing, 'gridline-max-shrink': '100' }
    expect((await upload('gone', 'id,n\n9,v9\n', most)).json).toMatchObject({ rows_removed: 37 })
    expect((await upload('gone', 'id,n\n', most)).json).toMatchObject({ rows_removed: 1 })
    expect(await csv(fid)).toBe('id,n\n')
    expect(await csv(fid, '&version=1')).toBe(`id,n\n${rows.join('\n')}\n`)
  })

  it('a repeated upsert is applied once', async () => {
    const { fid } = (await upload('once', 'id,n\n1,a\n', byId)).json.file
    const key = { 'idempotency-key': 'k1' }
    const first = await append(fid, 'id,n\n1,b\n2,c\n', key)
    await append(fid, 'id,n\n1,z\n')
    const again = await append(fid, 'id,n\n1,b\n2,c\n', key)
    expect(again.json).toEqual(first.json)
    expect(await csv(fid)).toBe('id,n\n1,z\n2,c\n')
  })

  it('an upsert stores only changed slices again, and all rows are right', async () => {
    const model = new Map(Array.from({ length: 60_000 }, (_, k) => [k, [`name ${k % 97}`, String(k / 8)]]))
    const text = (keys: Iterable<number>) =>
      `id,name,x\n${[...keys].map((k) => `${k},${model.get(k)!.join(',')}`).join('\n')}\n`
    const { fid } = (await upload('large', text(model.keys()), byId)).json.file
    let state = 7
    const pick = (below: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((state / 2 ** 32) * below)
    }
    for (let round = 0; round < runs(2, 6); round++) {
      const keys = new Set(Array.from({ length: 300 }, () => pick(61_000)))
      for (const k of keys) model.set(k, pick(4) === 0 ? ['', ''] : [`new ${pick(50)}`, String(pick(9) / 4)])
      const { json } = await upload('large', text(keys))
      expect(json.rows_added + json.rows_updated + json.rows_unchanged).toBe(keys.size)
      if (round % 2 === 1) {
        const gone = new Set(Array.from({ length: 200 }, () => pick(60_000)))
        for (const k of gone) model.delete(k)
        await upload('large', text(model.keys()), { 'gridline-delete-missing': 'true' })
      }
      expect((await csv(fid)) === text(model.keys())).toBe(true)
    }
  })

  describe('random writes', () => {
    it('random upserts agree with a map by key', async () => {
      for (let seed = 1; seed <= runs(10, 64); seed++) {
        let state = seed
        const pick = (below: number) => {
          state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
          return Math.floor((state / 2 ** 32) * below)
        }
        const model = new Map<number, string[]>()
        const cell = () => ['', '"a,""b"', 'x', '1', '2.50', '"line\nend"'][pick(6)]
        let fid = ''
        for (let step = 0; step < 6; step++) {
          const keys = [...new Set(Array.from({ length: 1 + pick(8) }, () => pick(12)))]
          const rows = keys.map((k) => [String(k), cell(), cell()])
          const isPart = step > 0 && pick(3) === 0
          const lines = rows.map((row) => (isPart ? row.slice(0, 2) : row).join(','))
          const body = `${isPart ? 'id,a' : 'id,a,b'}\n${lines.join('\n')}\n`
          const types = encodeURIComponent(JSON.stringify({ a: 'text', ...(!isPart && { b: 'text' }) }))
          const made = await upload(`random ${seed}`, body, { ...byId, 'gridline-columns': types })
          expect([seed, step, made.status]).toEqual([seed, step, 201])
          fid = made.json.file.fid
          for (const [k, a, b] of rows)
            model.set(Number(k), [a, isPart ? (model.get(Number(k))?.[1] ?? '') : b])
        }
        const expected = [...model].map(([k, [a, b]]) => `${k},${a},${b}`)
        expect([seed, (await csv(fid)).trim()]).toEqual([seed, `id,a,b\n${expected.join('\n')}`])
      }
    })
  })
})
