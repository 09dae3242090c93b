// Dry runs on the server agree with the writes.
import { expect, it } from 'vitest'
import { withoutCommit } from '../../../src/service/store/dry-store.ts'
import type { Writers } from '../../../src/service/store/store.ts'
import { itLong, runs } from '../../support/property-runs.ts'
import { onSqliteFirst } from '../../support/service.ts'

onSqliteFirst('a write that is tried', (test) => {
  it('a copy of a plot of another user can be tried', async () => {
    const figure = { data: [], layout: {} }
    const { file } = await test().plot('bob', figure, { world_readable: true })
    const copy = (headers: Record<string, string>) =>
      test().ask('alice', 'POST', `/v2/files/${file.fid}/copy`, { json: {}, headers })
    const tried = await copy({ 'gridline-dry-run': 'true' })
    expect([tried.status, tried.json.files?.[0].filename]).toEqual([200, 'plot'])
    expect((await copy({})).json.new_fid).toBe(tried.json.new_fid)
  })

  it('a dry run never shows the file of somebody else that got its number meanwhile', async () => {
    const dry = withoutCommit(test().service.store)
    const make = (filename: string) => (writers: Writers) =>
      writers.files.add({ owner: 'alice', filetype: 'fold', filename, parent: -1 })
    const { idlocal } = await dry.write(['alice'], make('tried'))
    const read = () => dry.read(({ files }) => files.get('alice', idlocal))
    expect((await read())?.filename).toBe('tried')
    await test().service.store.write(['alice'], make('made meanwhile'))
    await expect(read()).rejects.toMatchObject({ code: 'overloaded' })
    // A request with a long body takes numbers that nobody else can take.
    const long = withoutCommit(test().service.store, true)
    const tried = await long.write(['alice'], make('tried'))
    await test().service.store.write(['alice'], make('made then'))
    const found = await long.read(({ files }) => files.get('alice', tried.idlocal))
    expect(found?.filename).toBe('tried')
  })

  itLong(
    'trying a write returns the result or error of the write, and changes nothing',
    async () => {
      const ask = (...given: Parameters<ReturnType<typeof test>['ask']>) => test().ask(...given)
      const { engine } = test().service.store
      let seed = 3
      const below = (most: number): number => {
        seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
        return Math.floor((seed / 2 ** 32) * most)
      }
      const one = <T>(all: readonly T[]): T => all[below(all.length)]
      const rarely = (headers: Record<string, string>): Record<string, string> => (below(5) ? {} : headers)
      /** Returns everything that a write changes, except flushes and unreferenced blobs. */
      const state = () =>
        engine.read(async (db) => [
          await db.selectFrom('files').selectAll().orderBy('idlocal').execute(),
          await db
            .selectFrom('grids')
            .select(['idlocal', 'row_count', 'types', 'epoch', 'primary_key'])
            .orderBy('idlocal')
            .execute(),
          await db.selectFrom('versions').selectAll().orderBy('idlocal').orderBy('version').execute(),
          await db.selectFrom('drafts').selectAll().execute(),
          await db.selectFrom('idempotency').select('key').orderBy('key').execute(),
          await db.selectFrom('audit').select('id').orderBy('id').execute(),
        ])
      const grids = async (): Promise<{ fid: string }[]> =>
        (await ask('alice', 'GET', '/v2/folders/home?page_size=100')).json.children.results.filter(
          ({ filetype }: { filetype: string }) => filetype === 'grid',
        )
      const cell = (name: string): string =>
        name === 'id' ? `${below(6)}` : one(['1', '3.5', 'x', '2024-05-01', '2024-05-01T10:00', 'true', ''])
      const seen = new Set<string>()
      for (let k = 0; k < runs(120, 1500); k++) {
        const names = one([['id', 'a'], ['id', 'a', 'b'], ['a', 'id'], ['id'], ['nr', 'a']])
        const lines = Array.from({ length: below(5) }, () => names.map(cell).join(','))
        const headers: Record<string, string> = {
          'content-type': 'text/csv',
          'x-file-name': `g${below(12)}.csv`,
          ...rarely({ 'gridline-key': one(['id', 'a', ',']) }),
          ...rarely({ 'gridline-delete-missing': 'true' }),
          ...rarely({ 'gridline-strict': 'true' }),
          ...rarely({ 'gridline-allow-type-change': 'true' }),
        }
        const there = await grids()
        let path = '/v2/grids/upload'
        if (below(2) || there.length === 0)
          Object.assign(headers, {
            'gridline-on-conflict': one(['fail', 'rename', 'replace', 'append', 'append']),
            ...rarely({ 'gridline-parent-path': 'sub/x' }),
            ...rarely({ 'gridline-max-shrink': '10', 'gridline-allow-column-loss': 'false' }),
            ...rarely({ 'gridline-draft': 'd1', 'gridline-on-conflict': 'replace' }),
            ...rarely({ 'gridline-checks': encodeURIComponent('{"columns":{"a":{"required":true}}}') }),
          })
        else {
          const { fid } = one(there)
          path = `/v2/grids/${fid}/row`
          // Columns of another length, and checks.
          const cols = JSON.stringify([{ name: `m${k}`, data: Array(below(4)).fill(7) }])
          if (!below(6)) await ask('alice', 'POST', `/v2/grids/${fid}/col`, { json: { cols } })
          const checks = { columns: { a: { minimum: 0 } } }
          if (!below(8)) await ask('alice', 'PUT', `/v2/grids/${fid}/checks`, { json: { checks } })
        }
        const width = below(4)
        const isJson = path.endsWith('row') && below(3) === 0
        if (isJson) headers['content-type'] = 'application/json'
        const rows = [Array.from({ length: width }, () => one([1, 2, 'x', null]))]
        const body = isJson ? JSON.stringify({ rows }) : `${names.join(',')}\n${lines.join('\n')}\n`
        const before = await state()
        const tried = await ask('alice', 'POST', path, {
          body,
          headers: { ...headers, 'gridline-dry-run': 'true' },
        })
        expect(await state(), `${k}: ${path}`).toEqual(before)
        const done = await ask('alice', 'POST', path, {
          body,
          headers: { ...headers, 'idempotency-key': `k${k}` },
        })
        const told = ({ status, json }: typeof done) =>
          status >= 400
            ? [status, json.errors]
            : [json.action, json.warnings, json.rows_added, json.rows_updated, json.row_count, json.checks]
        expect(told(tried), `${k}: ${path} ${JSON.stringify(headers)} ${body}`).toEqual(told(done))
        seen.add(done.status >= 400 ? done.json.errors[0].code : (done.json.action ?? 'rows'))
      }
      expect([...seen]).toEqual(
        expect.arrayContaining(['created', 'appended', 'replaced', 'rows', 'bad_data', 'unknown_column']),
      )
    },
    120_000,
  )
})
