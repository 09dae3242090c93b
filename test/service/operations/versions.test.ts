// Versions of grids and plots.
import { describe, expect, it } from 'vitest'
import { onBothStores, scatter } from '../../support/service.ts'

onBothStores('versions', (test) => {
  const ask = (...given: Parameters<ReturnType<typeof test>['ask']>) => test().ask(...given)
  const upload = (name: string, csv: string) =>
    ask('alice', 'POST', '/v2/grids/upload', {
      body: csv,
      headers: {
        'content-type': 'text/csv',
        'x-file-name': `${name}.csv`,
        'gridline-on-conflict': 'replace',
      },
    })
  const csv = async (fid: string, version?: string, user: string | null = 'alice', more = '') => {
    const query = version === undefined ? '' : `&version=${encodeURIComponent(version)}`
    const { status, text, json } = await ask(
      user ?? undefined,
      'GET',
      `/v2/grids/${fid}/content?format=csv${query}${more}`,
    )
    return status === 200 ? text : [status, json.errors[0].message]
  }

  describe('of a grid', () => {
    it('each change of a grid creates a version, equal content none, and appends of one user one', async () => {
      const first = await upload('steps', 'a,b\n1,x\n')
      const { fid } = first.json.file
      expect(first.json.file.version).toBe(1)
      expect((await upload('steps', 'a,b\n1,x\n')).json.file.version).toBe(1)
      expect((await upload('steps', 'a,b\n2,y\n')).json.file.version).toBe(2)
      const append = (rows: unknown[][]) => ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows } })
      expect((await append([[3, 'z']])).json.version).toBe(3)
      expect((await append([[4, 'w']])).json.version).toBe(3)
      const { json } = await ask('alice', 'GET', `/v2/grids/${fid}/versions`)
      expect(
        json.versions.map(
          ({ version, operation, row_count, rows_added, made_by }: Record<string, unknown>) => [
            version,
            operation,
            row_count,
            rows_added,
            made_by,
          ],
        ),
      ).toEqual([
        [3, 'append', 3, 2, 'alice'],
        [2, 'replace', 1, 0, 'alice'],
        [1, 'create', 1, 1, 'alice'],
      ])
      expect(await csv(fid, '1')).toBe('a,b\n1,x\n')
      expect(await csv(fid, '2')).toBe('a,b\n2,y\n')
      expect(await csv(fid, '-1')).toBe('a,b\n2,y\n')
      expect(await csv(fid, '3')).toBe('a,b\n2,y\n3,z\n4,w\n')
      const described = await ask('alice', 'GET', `/v2/grids/${fid}/describe?version=1`)
      expect(described.json.columns[0]).toMatchObject({ name: 'a', max: 1 })
      const meta = await ask('alice', 'GET', `/v2/grids/${fid}?version=2`)
      expect(meta.json).toMatchObject({ version: 2, row_count: 1, preview: '{"a":[2],"b":["y"]}' })
    })

    it('equal content creates no version, also after appends, with blanks and with escapes', async () => {
      const lines = Array.from({ length: 30 }, (_, k) => `${k},é${k}\n`).join('')
      const { fid, cols } = (await upload('again', `a,b\n${lines}`)).json.file
      await ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[30, 'y']] } })
      const whole = `a,b\n${lines}30,y\n`
      expect((await upload('again', whole)).json).toMatchObject({ action: 'unchanged', file: { version: 2 } })
      const texts = [...Array.from({ length: 30 }, (_, k) => `"\\u00e9${k}"`), '"y"'].join(', ')
      const put = () =>
        ask('alice', 'PUT', `/v2/grids/${fid}/col?uid=${cols[1].uid}`, {
          body: `{"cols": [{"data": [${texts}]}]}`,
          headers: { 'content-type': 'application/json' },
        })
      expect((await put()).json.version).toBe(2)
      for (const other of [whole.replace('29,', '28,'), whole.replace('y', 'z'), `${whole}31,w\n`])
        expect((await upload('again', other)).json.action).toBe('replaced')
      expect((await put()).status).toBe(200)
      expect(
        (await ask('alice', 'POST', `/v2/grids/${fid}/revert`, { json: { version: '2' } })).json.action,
      ).toBe('reverted')
      expect((await upload('again', whole)).json).toMatchObject({ action: 'unchanged' })
    })

    it('appends with a message create a separate version with that message', async () => {
      const says = (text: string) => ({ 'gridline-message': encodeURIComponent(text) })
      const { fid, cols } = (await upload('why', 'a\n1\n')).json.file
      const append = (n: number, headers = {}) =>
        ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[n]] }, headers })
      await append(2)
      await append(3, says('Straße, é 100%'))
      await append(4)
      await append(5)
      await ask('alice', 'PUT', `/v2/grids/${fid}/col?uid=${cols[0].uid}`, {
        json: { cols: [{ name: 'b' }] },
        headers: says('a better name'),
      })
      await ask('alice', 'POST', `/v2/files/${fid}/revert`, { json: {}, headers: says('worse') })
      const { json } = await ask('alice', 'GET', `/v2/files/${fid}/versions`)
      expect(json.versions.map((one: Record<string, unknown>) => [one.operation, one.message])).toEqual([
        ['revert', 'worse'],
        ['columns', 'a better name'],
        ['append', null],
        ['append', 'Straße, é 100%'],
        ['append', null],
        ['create', null],
      ])
      expect((await append(6, says('x'.repeat(501)))).status).toBe(400)
    })

    it('rows appended after a version was kept are in the next version', async () => {
      const { fid } = (await upload('goes-on', 'a\n1\n')).json.file
      const append = (n: number) => ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[n]] } })
      await append(2)
      await ask('alice', 'POST', `/v2/files/${fid}/keep`, { json: { name: 'final' } })
      expect((await append(3)).json.version).toBe(3)
      expect(await csv(fid, 'final')).toBe('a\n1\n2\n')
    })

    it('a revert restores ids and uids, and is unchanged if there is nothing to do', async () => {
      const { fid, cols } = (await upload('back', 'a,b\n1,x\n')).json.file
      await upload('back', 'a,c\n9,9\n8,8\n')
      const revert = (json: object) => ask('alice', 'POST', `/v2/grids/${fid}/revert`, { json })
      expect((await revert({})).json).toEqual({
        fid,
        version: 3,
        of_version: 1,
        action: 'reverted',
        warnings: [],
      })
      expect(await csv(fid)).toBe('a,b\n1,x\n')
      expect((await ask('alice', 'GET', `/v2/grids/${fid}`)).json.cols).toEqual(cols)
      expect((await revert({ version: '1' })).json).toMatchObject({ version: 3, action: 'unchanged' })
      expect(await csv(fid, '2')).toBe('a,c\n9,9\n8,8\n')
    })

    it('a missing version is reported with the existing ones; the current version is unchanged', async () => {
      const { fid } = (await upload('gone', 'a\n1\n')).json.file
      for (const k of [2, 3, 4]) await upload('gone', `a\n${k}\n`)
      expect((await ask('alice', 'DELETE', `/v2/grids/${fid}/versions?version=2`)).status).toBe(200)
      const missing = await ask('alice', 'GET', `/v2/grids/${fid}/content?version=2`)
      expect([missing.status, missing.text]).toEqual([404, expect.stringContaining('versions 1, 3 to 4')])
      expect((await ask('alice', 'GET', `/v2/grids/${fid}/content?version=9`)).status).toBe(404)
      expect((await ask('alice', 'GET', `/v2/grids/${fid}/content?version=%00`)).status).toBe(400)
      expect((await ask('alice', 'DELETE', `/v2/grids/${fid}/versions?version=4`)).status).toBe(409)
      expect(
        (await ask('alice', 'POST', `/v2/grids/${fid}/row?version=1`, { json: { rows: [[1]] } })).status,
      ).toBe(400)
    })

    it('those who write see where a version comes from', async () => {
      const headers = {
        ...{ 'x-file-name': 'tagged.csv', 'content-type': 'text/csv', 'gridline-world-readable': 'true' },
        'gridline-source-tag': 'TAG',
      }
      const { json } = await test().ask('alice', 'POST', '/v2/grids/upload', { body: 'a\n1\n', headers })
      const sourceFor = async (user: string | undefined) =>
        (await ask(user, 'GET', `/v2/files/${json.file.fid}/versions`)).json.versions[0].source
      expect([await sourceFor('alice'), await sourceFor(undefined)]).toEqual(['TAG', null])
    })

    it('earlier versions require write access, unless they are kept', async () => {
      const { fid } = (await upload('secret', 'a\nremoved\n')).json.file
      await upload('secret', 'a\nstays\n')
      await ask('alice', 'PATCH', `/v2/grids/${fid}`, {
        json: { share_key_enabled: true, world_readable: true },
      })
      const { share_key } = (await ask('alice', 'GET', `/v2/grids/${fid}`)).json
      for (const [user, more] of [
        ['bob', ''],
        [null, ''],
        [null, `&share_key=${share_key}`],
      ] as const) {
        for (const version of ['1', '-1', '7', '2020-01-01', 'nothing'])
          expect(await csv(fid, version, user, more)).toEqual([
            403,
            expect.stringContaining('only with write access'),
          ])
        expect(await csv(fid, '2', user, more)).toBe('a\nstays\n')
        const { json } = await ask(user ?? undefined, 'GET', `/v2/grids/${fid}/versions?${more}`)
        expect(json.versions.map(({ version }: { version: number }) => version)).toEqual([2])
      }
      for (const path of ['describe', 'col', ''])
        expect((await ask('bob', 'GET', `/v2/grids/${fid}/${path}?version=1`)).status).toBe(403)
      for (const page of ['/', '.csv', '.json'])
        expect(
          (await ask(undefined, 'GET', `/~alice/${fid.split(':')[1]}${page}?version=1`)).text,
        ).not.toContain('removed')
      const kept = await ask('alice', 'POST', `/v2/grids/${fid}/keep`, {
        json: { version: '1', name: 'final' },
      })
      expect(kept.json).toMatchObject({ version: 1, kept: true, name: 'final' })
      expect(await csv(fid, 'final', null)).toBe('a\nremoved\n')
      expect(
        (await ask(undefined, 'GET', kept.json.web_url.replace('http://gridline.test', ''))).text,
      ).toContain('removed')
      await ask('alice', 'POST', `/v2/grids/${fid}/keep`, { json: { version: 'final', kept: false } })
      expect(await csv(fid, '1', null)).toEqual([403, expect.anything()])
    })
  })

  describe('of a plot', () => {
    const shown = async (fid: string, version: string | undefined, user: string | null = 'alice') => {
      const query = version === undefined ? '' : `&version=${version}`
      const { status, json } = await ask(
        user ?? undefined,
        'GET',
        `/v2/plots/${fid}/content?inline_data=true${query}`,
      )
      return status === 200 ? json.data[0].y : status
    }

    it('an old version of a plot shows old data; a revert restores both', async () => {
      const { file, grid_fid } = await test().plot('alice', scatter([1, 2]), { filename: 'line' })
      const { fid } = file
      const figure = { ...scatter([7, 8, 9]), layout: { title: { text: 'two' } } }
      await ask('alice', 'PATCH', `/v2/plots/${fid}`, { json: { figure, raw_data: 'grid' } })
      expect(await shown(fid, undefined)).toEqual([7, 8, 9])
      expect(await shown(fid, '1')).toEqual([1, 2])
      expect((await ask('alice', 'POST', `/v2/plots/${fid}/revert`, { json: {} })).json).toMatchObject({
        version: 3,
        of_version: 1,
        action: 'reverted',
      })
      expect(await shown(fid, undefined)).toEqual([1, 2])
      expect(await shown(fid, '2')).toEqual([7, 8, 9])
      expect((await ask('alice', 'GET', `/v2/grids/${grid_fid}/versions`)).json.versions).toHaveLength(3)
    })

    it('a kept version of a plot keeps its data, also if the grid is deleted', async () => {
      const { file, grid_fid } = await test().plot('alice', scatter([1, 2]), {
        filename: 'kept',
        world_readable: true,
      })
      const { fid } = file
      const kept = await ask('alice', 'POST', `/v2/plots/${fid}/keep`, { json: { name: 'report' } })
      expect(kept.json).toMatchObject({ version: 1, kept: true })
      const { cols } = (await ask('alice', 'GET', `/v2/grids/${grid_fid}`)).json
      const data = JSON.stringify([{ data: [5, 6, 7] }])
      await ask('alice', 'PUT', `/v2/grids/${grid_fid}/col?uid=${cols[0].uid}`, { json: { cols: data } })
      expect(await shown(fid, undefined)).toEqual([5, 6, 7])
      expect(await shown(fid, 'report', null)).toEqual([1, 2])
      // Keeping again creates another version; the kept one is unchanged.
      expect((await ask('alice', 'POST', `/v2/plots/${fid}/keep`, { json: {} })).json.version).toBe(2)
      await ask('alice', 'POST', `/v2/grids/${grid_fid}/trash`)
      await ask('alice', 'DELETE', `/v2/grids/${grid_fid}/permanent_delete`)
      await test().service.store.sweep(0)
      expect(await shown(fid, 'report', null)).toEqual([1, 2])
      expect(await shown(fid, '2', null)).toEqual([5, 6, 7])
    })

    it('a reader who requests a time within the life of a kept version gets that version', async () => {
      const { fid: grid } = (await upload('secrets', 'n\nkept\n')).json.file
      const { cols } = (await ask('alice', 'GET', `/v2/grids/${grid}`)).json
      const figure = { data: [{ type: 'bar', xsrc: `${grid}:${cols[0].uid}` }], layout: {} }
      const made = await ask('alice', 'POST', '/v2/plots', {
        json: { figure, filename: 'leak', world_readable: true },
      })
      const { fid } = made.json.file
      await upload('secrets', 'n\nSECRET\n')
      const leakedAt = new Date().toISOString()
      await new Promise((next) => setTimeout(next, 5))
      await upload('secrets', 'n\nclean\n')
      await ask('alice', 'POST', `/v2/plots/${fid}/keep`, { json: { name: 'final' } })
      await ask('alice', 'PATCH', `/v2/plots/${fid}`, {
        json: { figure: { ...figure, layout: { title: 'x' } } },
      })
      const read = async (path: string, user: string | undefined) => (await ask(user, 'GET', path)).text
      const [owner, id] = fid.split(':')
      for (const version of [leakedAt, 'final', '1', '-1'])
        for (const path of [
          `/v2/plots/${fid}/content?inline_data=true&version=${version}`,
          ...['json', 'csv', 'live'].map((type) => `/~${owner}/${id}.${type}?version=${version}`),
          `/~${owner}/${id}/?version=${version}`,
        ]) {
          const seen = await read(path, undefined)
          expect(seen, path).not.toContain('SECRET')
          expect(await read(path, 'bob'), path).not.toContain('SECRET')
        }
      const data = `/v2/plots/${fid}/content?inline_data=true&version=${leakedAt}`
      expect(await read(data, undefined)).toContain('clean')
      expect(await read(data, 'alice')).toContain('SECRET')
    })
  })
})
