// Number of statements for grids of thousands of columns.
import { DefaultQueryExecutor } from 'kysely'
import { expect, it, vi } from 'vitest'
import { runs } from '../../support/property-runs.ts'
import { onSqliteFirst } from '../../support/service.ts'

onSqliteFirst('a grid of thousands of columns', (test, engine) => {
  const width = engine === 'sqlite' ? 10_000 : runs(3000, 10_000)

  /** Counts the statements of some work, without BEGIN and COMMIT. */
  const statements = async (work: () => Promise<unknown>): Promise<number> => {
    const statement = vi.spyOn(DefaultQueryExecutor.prototype, 'executeQuery')
    try {
      await work()
      return statement.mock.calls.length
    } finally {
      statement.mockRestore()
    }
  }
  const names = Array.from({ length: width }, (_, k) => `column ${k}`)

  it('a wide grid is created with at most 100 statements, from JSON and from CSV', async () => {
    const columns = Object.fromEntries(names.map((name, k) => [name, [k, k + 1]]))
    expect(await statements(() => test().grid('alice', 'json', columns))).toBeLessThanOrEqual(100)
    const csv = `${names.join(',')}\n${names.map((_, k) => k).join(',')}\n${names.map((_, k) => k * 2).join(',')}\n`
    let fid = ''
    const upload = async () => {
      const headers = { 'x-file-name': 'csv.csv', 'content-type': 'text/csv' }
      const { status, json } = await test().ask('alice', 'POST', '/v2/grids/upload', { body: csv, headers })
      expect(status).toBe(201)
      fid = json.file.fid
    }
    expect(await statements(upload)).toBeLessThanOrEqual(100)
    const { json } = await test().ask('alice', 'GET', `/v2/grids/${fid}/content`)
    expect(json.cols[`column ${width - 1}`].data).toEqual([width - 1, 2 * (width - 1)])
  })

  it('a wide grid takes single rows with few statements each', async () => {
    const columns = Object.fromEntries(names.slice(0, width / 2).map((name, k) => [name, [k]]))
    const { fid } = await test().grid('alice', 'rows', columns)
    const row = JSON.stringify({ rows: [names.slice(0, width / 2).map((_, k) => k)] })
    const append = async () => {
      for (let k = 0; k < 12; k++)
        expect(
          await test().status('alice', 'POST', `/v2/grids/${fid}/row`, {
            body: row,
            headers: { 'content-type': 'application/json' },
          }),
        ).toBe(201)
      await test().service.idle()
    }
    expect(await statements(append)).toBeLessThanOrEqual(12 * 50)
  })
})
