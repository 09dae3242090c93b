// Files with requested numbers, for imports that keep the addresses of a former server.
import { expect, it } from 'vitest'
import { onSqliteFirst, scatter } from '../../support/service.ts'

onSqliteFirst('requested numbers', (test) => {
  const data = { cols: { a: { data: [1], order: 0 } } }
  const grid = (json: object) => test().ask('alice', 'POST', '/v2/grids', { json: { data, ...json } })
  const plot = (json: object) =>
    test().ask('alice', 'POST', '/v2/plots', { json: { figure: scatter([1]), raw_data: 'grid', ...json } })

  it('a file gets its number once, and later files get numbers above it', async () => {
    expect((await grid({ idlocal: 700 })).json.file.fid).toBe('alice:700')
    const next = (await grid({})).json.file.fid.split(':')[1]
    expect(Number(next)).toBe(701)
    const made = await plot({ idlocal: 9000 })
    expect(made.json.file.fid).toBe('alice:9000')
    expect(made.json.grid_fid).toBe('alice:702')
  })

  it('a number that was used, or skipped, is a conflict; nothing is made', async () => {
    const { fid } = (await grid({ idlocal: 20_000, filename: 'first' })).json.file
    for (const make of [grid, plot]) {
      const { status, json } = await make({ idlocal: 20_000, filename: 'second' })
      expect([status, json.errors[0].code, json.errors[0].field]).toEqual([409, 'conflict', 'idlocal'])
    }
    expect((await grid({ idlocal: 19_000 })).status).toBe(409)
    // Numbers of deleted files are not used again: old links must not show other content.
    await test().ask('alice', 'POST', `/v2/files/${fid}/trash`)
    await test().ask('alice', 'DELETE', `/v2/files/${fid}/permanent_delete`)
    expect(await test().status('alice', 'GET', `/v2/files/${fid}`)).toBe(404)
    expect((await grid({ idlocal: 20_000 })).status).toBe(409)
    expect(await test().status('alice', 'GET', '/v2/files/lookup?path=second')).toBe(404)
    // Another user has numbers of their own.
    const other = await test().ask('bob', 'POST', '/v2/grids', { json: { data, idlocal: 20_000 } })
    expect(other.json.file.fid).toBe('bob:20000')
  })

  it('requests at the same time get one file of a number', async () => {
    const made = await Promise.all(Array.from({ length: 6 }, () => grid({ idlocal: 30_000 })))
    expect(made.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409])
    // Beside files that get the next numbers.
    const both = await Promise.all(
      Array.from({ length: 12 }, (_, k) => (k % 3 === 0 ? grid({ idlocal: 30_001 + k }) : plot({}))),
    )
    expect(both.map(({ status }) => status).filter((status) => ![200, 201, 409].includes(status))).toEqual([])
  })

  it('numbers out of range are refused', async () => {
    for (const idlocal of [-1, 1_000_000_000, 1.5, 'x'])
      expect([idlocal, (await grid({ idlocal })).status]).toEqual([idlocal, 400])
    expect((await grid({ idlocal: null })).status).toBe(201)
  })
})
