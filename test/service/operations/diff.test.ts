// The operation grids.diff.
import { expect, it } from 'vitest'
import { onSqliteFirst } from '../../support/service.ts'

onSqliteFirst('grids.diff', (test) => {
  const ask = (...given: Parameters<ReturnType<typeof test>['ask']>) => test().ask(...given)
  const upload = async (name: string, csv: string): Promise<string> => {
    const headers = {
      'content-type': 'text/csv',
      'x-file-name': `${name}.csv`,
      'gridline-on-conflict': 'replace',
    }
    return (await ask('alice', 'POST', '/v2/grids/upload', { body: csv, headers })).json.file.fid
  }
  const diff = (fid: string, query = '', user = 'alice') => ask(user, 'GET', `/v2/grids/${fid}/diff?${query}`)

  it.each([
    ['temp,city\n3.5,Oslo\n4.5,Rome\n', 'city'],
    ['city,station_id\nOslo,7\nRome,8\n', 'station_id'],
    ['temp,paid\n3.5,1\n4.5,1\n', undefined],
    ['city,temp\nOslo,1\nOslo,1\n', undefined],
  ])('without a key, it names the most likely one of %j: %s', async (csv, unique) => {
    const fid = await upload('likely', csv)
    await upload('likely', csv.replace('Oslo', 'Bergen').replace('3.5', '3.7'))
    expect((await diff(fid, 'context=true')).json.unique).toBe(unique)
  })

  it('diff compares the current version with the previous one, or any two', async () => {
    const fid = await upload('steps', 'id,n\n1,a\n2,b\n')
    await upload('steps', 'id,n\n1,a\n2,c\n')
    await ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[3, 'd']] } })
    const { json } = await diff(fid)
    expect(json).toMatchObject({
      before: { version: 2, row_count: 2 },
      after: { version: 3, row_count: 3 },
      rows_added: 1,
      rows_removed: 0,
      rows_changed: 0,
      is_complete: true,
    })
    const all = (await diff(fid, 'base_version=1&key=id')).json
    expect(all).toMatchObject({ key: ['id'], rows_added: 1, rows_changed: 1, cells_changed: 1 })
    expect(all.rows[0]).toEqual({
      change: 'changed',
      row_before: 2,
      row_after: 2,
      before: { id: 2, n: 'b' },
      after: { id: 2, n: 'c' },
    })
    expect((await diff(fid, 'base_version=2&version=2')).json.is_same).toBe(true)
    expect((await diff(fid, 'base_version=3&version=1')).json).toMatchObject({ rows_removed: 1 })
    expect((await diff(fid, 'base_version=1&limit=1')).json).toMatchObject({ is_complete: false })
  })

  it('diff matches renamed columns, and reports changed types', async () => {
    const fid = await upload('names', 'a,b\n1,2\n3,4\n')
    const { json } = await ask('alice', 'GET', `/v2/grids/${fid}`)
    const [{ uid }] = json.cols
    await ask('alice', 'PUT', `/v2/grids/${fid}/col?uid=${uid}`, { json: { cols: [{ name: 'first' }] } })
    const renamed = (await diff(fid)).json
    expect(renamed.columns).toMatchObject([{ change: 'renamed', name_before: 'a', name_after: 'first' }])
    expect(renamed).toMatchObject({ is_same: false, rows_changed: 0 })
    await upload('names', 'first,b\nx,2\n3,4\n')
    const retyped = (await diff(fid)).json
    expect(retyped.columns).toMatchObject([
      { change: 'retyped', type_before: 'number', type_after: 'text', cells_changed: 1 },
    ])
  })

  it('diff and history find rows by a renamed key column, by either name', async () => {
    const headers = {
      'content-type': 'text/csv',
      'x-file-name': 'key.csv',
      'gridline-on-conflict': 'replace',
    }
    const put = (body: string) =>
      ask('alice', 'POST', '/v2/grids/upload', { body, headers: { ...headers, 'gridline-key': 'id' } })
    const { fid, cols } = (await put('id,n\n1,a\n2,b\n3,c\n')).json.file
    await put('id,n\n3,c\n2,x\n1,a\n')
    await ask('alice', 'PUT', `/v2/grids/${fid}/col?uid=${cols[0].uid}`, { json: { cols: [{ name: 'nr' }] } })
    for (const query of ['', '&key=nr', '&key=id'])
      expect((await diff(fid, `base_version=1${query}`)).json).toMatchObject({
        key: ['nr'],
        rows_added: 0,
        rows_changed: 1,
        columns: [{ change: 'renamed' }, { change: 'values' }],
        rows: [{ before: { nr: 2, n: 'b' }, after: { nr: 2, n: 'x' } }],
      })
    await ask('alice', 'POST', `/v2/grids/${fid}/col`, {
      json: { cols: JSON.stringify([{ name: 'id', data: [7, 8, 9] }]) },
    })
    // The column with this name is now another one.
    expect((await diff(fid, 'base_version=1&key=id')).json.errors[0].message).toBe(
      `version 1 of 'key' has no column "id", which is the key`,
    )
    const { json } = await ask('alice', 'GET', `/v2/files/${fid}/versions`)
    expect(json.versions.at(-2)).toMatchObject({
      version: 2,
      rows_added: 0,
      rows_removed: 0,
      rows_changed: 1,
    })
  })

  it('diff requires read access to both sides', async () => {
    const [own, secret] = [await upload('own', 'a\n1\n'), await upload('secret', 'a\n42\n')]
    await upload('own', 'a\n2\n')
    await ask('alice', 'PATCH', `/v2/files/${own}`, { json: { world_readable: true } })
    expect((await diff(own, `base=${secret}`, 'bob')).status).toBe(404)
    expect((await diff(secret, `base=${own}`, 'bob')).status).toBe(404)
    expect((await diff(own, '', 'bob')).status).toBe(403)
    expect((await diff(own, 'base_version=1', 'bob')).status).toBe(403)
    expect((await diff(own, 'version=1&base_version=2', 'bob')).status).toBe(403)
    const figure = await ask('alice', 'POST', '/v2/plots', { json: { figure: { data: [], layout: {} } } })
    expect((await diff(own, `base=${figure.json.file.fid}`)).status).toBe(404)
    expect((await diff(own, 'base=nonsense')).status).toBe(400)
  })

  it('a wrong key, column or version is named in the error of diff', async () => {
    const fid = await upload('wrong', 'id,n\n1,a\n1,b\n')
    expect((await diff(fid)).json.errors[0]).toMatchObject({ code: 'not_found' })
    await upload('wrong', 'id,n\n1,a\n1,c\n')
    const error = async (query: string) => (await diff(fid, query)).json.errors[0]
    expect(await error('key=id')).toMatchObject({
      code: 'bad_data',
      message: "version 1 of 'wrong': rows 1 and 2 have the same key: id 1",
    })
    expect(await error('key=no')).toMatchObject({ code: 'unknown_column' })
    expect(await error('ignore=no')).toMatchObject({ code: 'unknown_column' })
    expect(await error('base_version=9')).toMatchObject({ code: 'not_found' })
  })

  it('diff finds changed, moved, added and removed rows among many', async () => {
    const rows = Array.from({ length: 60_000 }, (_, k) => `${k},name ${k % 97},${k / 8}`)
    const text = (list: string[]) => `id,name,x\n${list.join('\n')}\n`
    const fid = await upload('many', text(rows))
    const changed = rows.map((row, k) => (k % 1000 === 500 ? row.replace(/name/, 'other') : row))
    await upload('many', text(changed))
    for (const key of ['', 'key=id'])
      expect((await diff(fid, key)).json).toMatchObject({
        rows_added: 0,
        rows_removed: 0,
        rows_changed: 60,
        cells_changed: 60,
      })
    const moved = [...changed.slice(1, 30_000), 'new,row,1', ...changed.slice(30_000, 59_990)]
    await upload('many', text(moved))
    for (const key of ['', 'key=id'])
      expect((await diff(fid, key)).json).toMatchObject({ rows_added: 1, rows_removed: 11, rows_changed: 0 })
  })
})
