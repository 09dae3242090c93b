import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createService, createUser } from '../../src/service/index.ts'
import { onBothStores, TestService, temporaryFolder, URL_OF_TESTS } from '../support/service.ts'

onBothStores('API rules', (test) => {
  const ask: TestService['ask'] = (...given) => test().ask(...given)
  const folder = async (path: string) =>
    (await ask('alice', 'POST', '/v2/folders', { json: { path } })).json.file
  const idlocal = (fid: string) => Number(fid.split(':')[1])
  const status = async (user: string | undefined, method: string, path: string, more = {}) =>
    (await ask(user, method, path, more)).status
  const plot = async (user: string, figure: object, more: object = {}) => {
    const answer = await ask(user, 'POST', '/v2/plots', { json: { figure, raw_data: 'grid', ...more } })
    if (answer.status !== 200) throw new Error(answer.text)
    return answer.json as {
      file: { fid: string; filename: string; figure: unknown }
      grid_fid: string
      warnings: string[]
    }
  }
  const scatter = (y: unknown[]) => ({ data: [{ type: 'scatter', y }], layout: {} })

  describe('file states', () => {
    it('trash and restore are idempotent', async () => {
      const { fid } = await test().grid('alice', 'state', { a: [1] })
      for (const [action, deleted] of [
        ['restore', false],
        ['trash', true],
        ['trash', true],
        ['restore', false],
        ['restore', false],
      ] as const) {
        const { status: code, json } = await ask('alice', 'POST', `/v2/grids/${fid}/${action}`)
        expect([action, code, json.deleted]).toEqual([action, 200, deleted])
      }
    })

    it('trashing and restoring a folder includes its contents, except files trashed before', async () => {
      const top = await folder('tree/deep')
      const tree = (await ask('alice', 'GET', '/v2/folders/lookup?path=tree')).json
      const kept = await test().grid('alice', 'kept', { a: [1] }, { parent: idlocal(top.fid) })
      const before = await test().grid('alice', 'before', { a: [1] }, { parent: idlocal(top.fid) })
      await ask('alice', 'POST', `/v2/files/${before.fid}/trash`)
      await ask('alice', 'POST', `/v2/folders/${tree.fid}/trash`)
      for (const fid of [top.fid, kept.fid])
        expect((await ask('alice', 'GET', `/v2/files/${fid}`)).json.deleted).toBe(true)
      await ask('alice', 'POST', `/v2/folders/${tree.fid}/restore`)
      expect((await ask('alice', 'GET', `/v2/files/${kept.fid}`)).json.deleted).toBe(false)
      expect((await ask('alice', 'GET', `/v2/files/${before.fid}`)).json.deleted).toBe(true)
    })

    it('restoring a subfolder of a trashed folder restores its contents', async () => {
      const deep = await folder('outer/inner')
      const outer = (await ask('alice', 'GET', '/v2/folders/lookup?path=outer')).json
      const inside = await test().grid('alice', 'inside', { a: [1] }, { parent: idlocal(deep.fid) })
      await ask('alice', 'POST', `/v2/files/${outer.fid}/trash`)
      const { json } = await ask('alice', 'POST', `/v2/files/${deep.fid}/restore`)
      expect([json.parent, json.warnings]).toEqual([-1, [expect.stringContaining('home folder')]])
      expect((await ask('alice', 'GET', `/v2/files/${inside.fid}`)).json.deleted).toBe(false)
    })

    it('trashing frees the name; restoring to a taken name is 409 and names both files', async () => {
      const first = await test().grid('alice', 'twice', { a: [1] })
      await ask('alice', 'POST', `/v2/grids/${first.fid}/trash`)
      const second = await test().grid('alice', 'twice', { a: [1] })
      const refused = await ask('alice', 'POST', `/v2/grids/${first.fid}/restore`)
      expect(refused.status).toBe(409)
      for (const part of ["'twice'", first.fid, second.fid, 'already exists'])
        expect(refused.json.detail).toContain(part)
      expect((await ask('alice', 'GET', `/v2/grids/${first.fid}`)).json.deleted).toBe(true)
      await ask('alice', 'PATCH', `/v2/grids/${first.fid}`, { json: { filename: 'once' } })
      expect(await status('alice', 'POST', `/v2/grids/${first.fid}/restore`)).toBe(200)
    })

    it('restoring a folder whose files would have duplicate names is 409', async () => {
      const dir = await folder('collide')
      const one = await test().grid('alice', 'one', { a: [1] }, { parent: idlocal(dir.fid) })
      await test().grid('alice', 'two', { a: [1] }, { parent: idlocal(dir.fid) })
      await ask('alice', 'POST', `/v2/files/${dir.fid}/trash`)
      await ask('alice', 'PATCH', `/v2/files/${one.fid}`, { json: { filename: 'two' } })
      const { status: code, json } = await ask('alice', 'POST', `/v2/files/${dir.fid}/restore`)
      expect([code, json.detail]).toEqual([409, expect.stringContaining("'two'")])
    })

    it('permanent delete requires the trashed state and includes the contents of folders', async () => {
      const dir = await folder('gone')
      const inside = await test().grid('alice', 'inside', { a: [1] }, { parent: idlocal(dir.fid) })
      expect(await status('alice', 'DELETE', `/v2/files/${dir.fid}/permanent_delete`)).toBe(409)
      await ask('alice', 'POST', `/v2/files/${dir.fid}/trash`)
      expect(await status('alice', 'DELETE', `/v2/files/${dir.fid}/permanent_delete`)).toBe(204)
      for (const fid of [dir.fid, inside.fid])
        expect(await status('alice', 'GET', `/v2/files/${fid}`)).toBe(404)
    })

    it('DELETE frees the name at once; for a fid of another filetype it is 404', async () => {
      const { fid } = await test().grid('alice', 'overwritten', { a: [1] })
      expect(await status('alice', 'DELETE', `/v2/plots/${fid}`)).toBe(404)
      expect(await status('alice', 'DELETE', `/v2/grids/${fid}`)).toBe(204)
      expect((await test().grid('alice', 'overwritten', { a: [2] })).filename).toBe('overwritten')
    })
  })

  describe('file updates', () => {
    it('PUT and PATCH keep other fields; warnings name unknown and read-only fields', async () => {
      const { fid } = await test().grid('alice', 'put', { a: [1] }, { world_readable: true })
      const whole = (await ask('alice', 'GET', `/v2/files/${fid}`)).json
      const { json } = await ask('alice', 'PUT', `/v2/files/${fid}`, {
        json: { ...whole, filename: 'put 2', nonsense: 1 },
      })
      expect(json).toMatchObject({ filename: 'put 2', world_readable: true, fid })
      expect(json.warnings).toContain('views cannot be changed here and was ignored')
      expect(json.warnings).toContain('nonsense is not a known field here and was ignored')
      const wrong = await ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: 'maybe' } })
      expect([wrong.status, wrong.json.errors[0].field]).toEqual([400, 'world_readable'])
    })

    it('accept metadata as an object or as text, and form-encoded bodies with True and False', async () => {
      const { fid } = await test().grid('alice', 'forms', { a: [1] })
      for (const metadata of [{ k: 1 }, '{"k": 1}'])
        expect((await ask('alice', 'PUT', `/v2/grids/${fid}`, { json: { metadata } })).json.metadata).toEqual(
          { k: 1 },
        )
      const { json } = await ask('alice', 'PATCH', `/v2/files/${fid}`, {
        body: 'world_readable=True&share_key_enabled=True&filename=formed',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
      expect(json).toMatchObject({ world_readable: true, share_key_enabled: true, filename: 'formed' })
    })

    it('refuse moving a folder into itself, and names that are invalid in a path', async () => {
      const deep = await folder('self/below')
      const self = (await ask('alice', 'GET', '/v2/folders/lookup?path=self')).json
      for (const parent of [idlocal(self.fid), idlocal(deep.fid)])
        expect(await status('alice', 'PATCH', `/v2/files/${self.fid}`, { json: { parent } })).toBe(400)
      for (const filename of ['a/b', 'a\u0007b', 'x'.repeat(256), '', '..'])
        expect(await status('alice', 'PATCH', `/v2/files/${self.fid}`, { json: { filename } })).toBe(400)
    })

    it('a share key opens one file for reading, until disabled; enabling again makes a new one', async () => {
      const { fid } = await test().grid('alice', 'keyed', { a: [1] }, { share_key_enabled: true })
      const key = async () => (await ask('alice', 'GET', `/v2/files/${fid}`)).json.share_key as string
      const first = await key()
      expect(await status(undefined, 'GET', `/v2/grids/${fid}/content?share_key=${first}`)).toBe(200)
      await ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { share_key_enabled: false } })
      expect(await status(undefined, 'GET', `/v2/grids/${fid}/content?share_key=${first}`)).toBe(404)
      await ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { share_key_enabled: true } })
      expect(await key()).not.toBe(first)
      expect(await status(undefined, 'GET', `/v2/grids/${fid}?share_key=${first}`)).toBe(404)
    })
  })

  describe('plots', () => {
    it('figure is required; raw arrays are 400 with the path of the first', async () => {
      const missing = await ask('alice', 'POST', '/v2/plots', { json: { filename: 'x' } })
      expect([missing.status, missing.json.errors[0].field]).toEqual([400, 'figure'])
      const raw = await ask('alice', 'POST', '/v2/plots', {
        json: { figure: { data: [{ type: 'scatter', marker: { color: 'red', size: [1, 2] }, y: [1] }] } },
      })
      expect([raw.status, raw.json.errors[0].path]).toEqual([400, 'figure.data.0.marker.size'])
    })

    it('arrays that are not data stay inline', async () => {
      const figure = {
        data: [
          { type: 'parcoords', dimensions: [{ values: [1, 2] }] },
          {
            type: 'heatmap',
            colorscale: [
              [0, 'red'],
              [1, 'blue'],
            ],
            domain: { x: [0, 1] },
          },
        ],
        layout: { xaxis: { range: [0, 1], tickvals: [1] }, template: { data: { scatter: [{ y: [1] }] } } },
      }
      const { status: code, json } = await ask('alice', 'POST', '/v2/plots', { json: { figure } })
      expect([code, json.file.figure]).toEqual([200, figure])
    })

    it('references are checked for grid, column and read access', async () => {
      const { fid, cols } = await test().grid('bob', 'private of bob', { a: [1] })
      for (const ysrc of [`${fid}:${cols[0].uid}`, 'alice:99999:abcdef', 'nobody:0:abcdef']) {
        const { status: code, json } = await ask('alice', 'POST', '/v2/plots', {
          json: { figure: { data: [{ ysrc }] } },
        })
        expect([code, json.errors[0].path, json.detail]).toEqual([
          400,
          'figure.data.0.ysrc',
          expect.stringContaining('or you may not see it'),
        ])
      }
      const own = await test().grid('alice', 'own', { a: [1] })
      const { json } = await ask('alice', 'POST', '/v2/plots', {
        json: { figure: { data: [{ ysrc: `${own.fid}:000000` }] } },
      })
      expect(json.detail).toContain('no column')
    })

    it('several columns are rows of a matrix for z, and a list of columns elsewhere', async () => {
      const { fid, cols } = await test().grid('alice', 'matrix', { a: [1, 2, 3], b: [4, 5, 6] })
      const src = `${fid}:${cols[0].uid},${cols[1].uid}*`
      const figure = {
        data: [
          { type: 'surface', zsrc: src },
          { type: 'table', cells: { valuessrc: src } },
        ],
      }
      const { json } = await ask('alice', 'POST', '/v2/plots', { json: { figure } })
      const inlined = (await ask('alice', 'GET', `/v2/plots/${json.file.fid}/content?inline_data=true`)).json
      expect(inlined.data[0].z).toEqual([
        [1, 4],
        [2, 5],
        [3, 6],
      ])
      expect(inlined.data[1].cells.values).toEqual([
        [1, 2, 3],
        [4, 5, 6],
      ])
    })

    it('typed arrays are always moved into a grid', async () => {
      const bdata = Buffer.from(new Float64Array([1.5, Number.NaN, 3, 4]).buffer).toString('base64')
      const figure = { data: [{ type: 'heatmap', z: { dtype: 'f8', bdata, shape: '2, 2' } }] }
      const { status: code, json } = await ask('alice', 'POST', '/v2/plots', {
        json: { figure, filename: 'typed' },
      })
      expect([code, json.grid_fid]).toEqual([200, expect.any(String)])
      const inlined = (await ask('alice', 'GET', `/v2/plots/${json.file.fid}/content?inline_data=true`)).json
      expect(inlined.data[0].z).toEqual([
        [1.5, null],
        [3, 4],
      ])
    })

    it('PUT and PATCH replace the figure and keep fid and link, also for collaborators', async () => {
      const { file } = await plot('alice', scatter([1]))
      await ask('alice', 'POST', `/v2/plots/${file.fid}/collaborators`, { json: { users: ['bob'] } })
      for (const [user, method] of [
        ['alice', 'PUT'],
        ['alice', 'PATCH'],
        ['bob', 'PATCH'],
      ] as const) {
        const { status: code, json } = await ask(user, method, `/v2/plots/${file.fid}`, {
          json: {
            figure: { ...scatter([2]), layout: { title: { text: `${user} ${method}` } } },
            raw_data: 'grid',
          },
        })
        expect([code, json.fid, json.figure.layout.title.text]).toEqual([200, file.fid, `${user} ${method}`])
      }
    })

    it('accepts unusual figures: null layout, thousands of traces, hostile names', async () => {
      const odd = await ask('alice', 'POST', '/v2/plots', {
        json: { figure: { data: [], layout: null }, world_readable: true },
      })
      expect(odd.status).toBe(200)
      const many = {
        data: Array.from({ length: 6000 }, (_, k) => ({
          type: 'scatter',
          name: `t${k}`,
          mode: 'lines',
          x0: 1,
          dx: 1,
          opacity: 1,
        })),
      }
      expect(await status('alice', 'POST', '/v2/plots', { json: { figure: many } })).toBe(200)
      const text =
        '{"figure": {"data": [{"type": "scatter", "__proto__": {"y": [1]}, "y": [1.10]}]}, "raw_data": "grid"}'
      const { json } = await ask('alice', 'POST', '/v2/plots', {
        body: text,
        headers: { 'content-type': 'application/json' },
      })
      const { text: inlined } = await ask(
        'alice',
        'GET',
        `/v2/plots/${json.file.fid}/content?inline_data=true`,
      )
      expect(inlined).toContain('"__proto__": {"y": [1]}')
      expect(inlined).toContain('[1.10]')
    })

    it('lists public plots only, by views and quality; cursors stay valid while plots change', async () => {
      const made: string[] = []
      for (let k = 0; k < 7; k++)
        made.unshift((await plot('bob', scatter([k]), { world_readable: true })).file.fid)
      await plot('bob', scatter([1]))
      const seen: string[] = []
      let path = '/v2/plots/?page_size=3'
      for (let page = 0; path && page < 20; page++) {
        const { json } = await ask(undefined, 'GET', path)
        seen.push(...json.results.map(({ fid }: { fid: string }) => fid))
        if (page === 0) await plot('bob', scatter([9]), { world_readable: true })
        if (page === 0) await ask('bob', 'POST', `/v2/plots/${made[2]}/trash`)
        path = json.next?.slice(URL_OF_TESTS.length)
      }
      expect(seen.filter((fid) => made.includes(fid))).toEqual(made)
      expect(await status(undefined, 'GET', '/v2/plots?cursor=AAAA')).toBe(400)
      expect(await status(undefined, 'GET', '/v2/plots?order_by=color')).toBe(400)
      const { json } = await ask(undefined, 'GET', '/v2/plots?order_by=-views&min_quality=5')
      expect(json.results).toEqual([])
      const options = await ask(undefined, 'OPTIONS', '/v2/plots')
      expect([options.status, options.headers.get('allow')]).toEqual([
        204,
        expect.stringMatching(/GET.*HEAD.*POST.*OPTIONS/),
      ])
    })

    it('reading a plot includes exactly the data it shows (map_data)', async () => {
      const { file, grid_fid } = await plot('alice', scatter([1, 2]))
      await ask('alice', 'PATCH', `/v2/plots/${file.fid}`, { json: { world_readable: true } })
      expect(await status(undefined, 'GET', `/v2/grids/${grid_fid}`)).toBe(404)
      const { json } = await ask(undefined, 'GET', `/v2/plots/${file.fid}/content?inline_data=true`)
      expect(json.data[0].y).toEqual([1, 2])
      const mapped = (await ask(undefined, 'GET', `/v2/plots/${file.fid}/content?map_data=unreadable`)).json
      expect(mapped.map_data).toEqual({ [mapped.data[0].ysrc]: [1, 2] })
      expect(
        (await ask('alice', 'GET', `/v2/plots/${file.fid}/content?map_data=unreadable`)).json.map_data,
      ).toEqual({})
    })
  })

  describe('copies', () => {
    it('a copied plot refers to the same grids, or to copies of them', async () => {
      const { file, grid_fid } = await plot('alice', scatter([1]), { filename: 'original' })
      const linked = (await ask('alice', 'POST', `/v2/files/${file.fid}/copy`)).json
      expect(linked.files.map(({ filename }: { filename: string }) => filename)).toEqual(['original (1)'])
      expect(linked.files[0].references).toEqual([grid_fid])
      const deep = (await ask('alice', 'POST', `/v2/files/${file.fid}/copy`, { json: { deep_copy: true } }))
        .json
      expect(deep.files).toHaveLength(2)
      expect(deep.files[0].references).toEqual([deep.files[1].fid])
      await ask('alice', 'POST', `/v2/grids/${grid_fid}/row`, { json: { rows: [[7]] } })
      const y = async (fid: string) =>
        (await ask('alice', 'GET', `/v2/plots/${fid}/content?inline_data=true`)).json.data[0].y
      expect([await y(linked.new_fid), await y(deep.new_fid)]).toEqual([[1, 7], [1]])
    })

    it('the shown columns of an unreadable grid are copied, with a warning', async () => {
      const grid = await test().grid('alice', 'secret name', { shown: [1, 2], hidden: ['x', 'y', 'z'] })
      const figure = { data: [{ type: 'scatter', ysrc: `${grid.fid}:${grid.cols[0].uid}` }] }
      const { file } = await plot('alice', figure, { filename: 'open', world_readable: true })
      const { json, text } = await ask('bob', 'POST', `/v2/files/${file.fid}/copy`)
      expect(json.warnings).toEqual([expect.stringContaining('cannot read')])
      expect(text).not.toContain('secret name')
      const copied = (await ask('bob', 'GET', `/v2/grids/${json.files[1].fid}`)).json
      expect(copied).toMatchObject({ row_count: 2, source_fid: null })
      expect(copied.cols.map(({ name }: { name: string }) => name)).toEqual(['shown'])
    })

    it('deep_copy has no effect on grids; make_public makes the copy public', async () => {
      const { fid } = await test().grid('alice', 'to copy', { a: [1.5, null] })
      await ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [['tail']] } })
      const { json } = await ask('alice', 'POST', `/v2/grids/${fid}/copy`, {
        json: { deep_copy: true, make_public: true },
      })
      expect([json.files.length, json.files[0].world_readable, json.files[0].source_fid]).toEqual([
        1,
        true,
        fid,
      ])
      const content = (await ask(undefined, 'GET', `/v2/grids/${json.new_fid}/content`)).json
      expect(content.cols.a.data).toEqual([1.5, null, 'tail'])
    })
  })

  describe('sources', () => {
    const relationsOf = async (user: string | undefined, path: string) => {
      const { graph } = (await ask(user, 'GET', path)).json
      return graph.edges.map(
        ({ relation, target }: { relation: string; target: string }) => `${relation} ${target}`,
      )
    }

    it('lists parent, child, created plots and source grids, but no unreadable files', async () => {
      const { file, grid_fid } = await plot('alice', scatter([1]), { world_readable: true })
      const copy = (await ask('alice', 'POST', `/v2/files/${grid_fid}/copy`)).json.new_fid
      expect(await relationsOf('alice', `/v2/files/${grid_fid}/sources`)).toEqual([
        `child ${copy}`,
        `created plots ${file.fid}`,
      ])
      expect(await relationsOf('alice', `/v2/files/${copy}/sources`)).toEqual([`parent ${grid_fid}`])
      expect(await relationsOf('alice', `/v2/plots/${file.fid}/sources`)).toEqual([
        `source grids ${grid_fid}`,
      ])
      await ask('alice', 'PATCH', `/v2/files/${grid_fid}`, { json: { world_readable: false } })
      expect(await relationsOf(undefined, `/v2/plots/${file.fid}/sources`)).toEqual([])
      expect(await relationsOf('bob', `/v2/plots/${file.fid}/sources`)).toEqual([])
    })

    it('shows five files per relation, with pages linked by next and prev', async () => {
      const { fid } = await test().grid('alice', 'many copies', { a: [1] })
      const copies: string[] = []
      for (let k = 0; k < 12; k++)
        copies.push((await ask('alice', 'POST', `/v2/files/${fid}/copy`)).json.new_fid)
      const pages: string[][] = []
      let path: string | undefined = `/v2/files/${fid}/sources`
      let back: string | undefined
      while (path) {
        const {
          graph,
        }: { graph: { edges: { target: string }[]; nodes: Record<string, { metadata: { url: string } }> } } =
          (await ask('alice', 'GET', path)).json
        pages.push(graph.edges.map(({ target }) => target).filter((target) => copies.includes(target)))
        back = graph.nodes['prev:child']?.metadata.url
        path = graph.nodes['next:child']?.metadata.url.slice(URL_OF_TESTS.length)
      }
      expect(pages).toEqual([copies.slice(0, 5), copies.slice(5, 10), copies.slice(10)])
      const { graph } = (await ask('alice', 'GET', back!.slice(URL_OF_TESTS.length))).json
      expect(
        graph.edges
          .map(({ target }: { target: string }) => target)
          .filter((target: string) => copies.includes(target)),
      ).toEqual(copies.slice(5, 10))
    })
  })

  describe('path, image, extras, stars and shared files', () => {
    it('path starts with a slash and is 400 for an extra; image sizes; the feed', async () => {
      const dir = await folder('way/down')
      const grid = await test().grid(
        'alice',
        'there',
        { a: [1] },
        { parent: idlocal(dir.fid), world_readable: true },
      )
      expect((await ask('alice', 'GET', `/v2/files/${grid.fid}/path`)).json).toEqual({
        path: '/way/down/there',
      })
      expect((await ask('bob', 'GET', `/v2/files/${grid.fid}/path`)).json).toEqual({ path: '/there' })
      expect((await ask('bob', 'GET', `/v2/files/${grid.fid}`)).json.parent).toBe(-1)
      const extra = (
        await ask('alice', 'POST', '/v2/extras', {
          json: { filename: 'notes', content: 'text', referencers: [grid.fid] },
        })
      ).json.file
      expect(await status('alice', 'GET', `/v2/files/${extra.fid}/path`)).toBe(400)
      const { file } = await plot('alice', scatter([1]))
      expect(await status('alice', 'GET', `/v2/files/${file.fid}/image?image_name=huge`)).toBe(400)
      expect(await status('alice', 'GET', `/v2/files/${file.fid}/image?image_name=list-thumb`)).toBe(501)
    })

    it('references to an extra can be dropped, and disappear with the extra', async () => {
      const grid = await test().grid('alice', 'with extra', { a: [1] })
      const make = async () =>
        (
          await ask('alice', 'POST', '/v2/extras', {
            json: { filename: 'e', content: { k: 1 }, referencers: [grid.fid] },
          })
        ).json.file
      const [one, two] = [await make(), await make()]
      expect(one.referencers).toEqual([grid.fid])
      expect((await ask('alice', 'GET', `/v2/extras/${one.fid}/content`)).json).toEqual({ k: 1 })
      const dropped = await ask('alice', 'POST', `/v2/grids/${grid.fid}/drop_reference`, {
        json: { fid: one.fid },
      })
      expect([dropped.status, dropped.json.references]).toEqual([200, [two.fid]])
      expect(await status('alice', 'GET', `/v2/extras/${one.fid}`)).toBe(200)
      await ask('alice', 'POST', `/v2/extras/${two.fid}/trash`)
      await ask('alice', 'DELETE', `/v2/extras/${two.fid}/permanent_delete`)
      expect((await ask('alice', 'GET', `/v2/grids/${grid.fid}`)).json.references).toEqual([])
    })

    it('removing a star is idempotent; starred and shared lists omit unreadable files', async () => {
      const grid = await test().grid('alice', 'starry', { a: [1] })
      await ask('alice', 'POST', `/v2/files/${grid.fid}/collaborators`, {
        json: { users: ['bob'], readonly: true },
      })
      const names = async (list: string) =>
        (await ask('bob', 'GET', `/v2/folders/${list}`)).json.children.results.map(
          ({ fid }: { fid: string }) => fid,
        )
      expect((await ask('bob', 'POST', `/v2/files/${grid.fid}/star`)).json.stars).toEqual({
        results: [{ username: 'bob' }],
        count: 1,
      })
      expect(await names('starred')).toContain(grid.fid)
      expect(await names('shared')).toContain(grid.fid)
      await ask('alice', 'DELETE', `/v2/files/${grid.fid}/collaborators`, { json: { users: ['bob'] } })
      expect(await names('starred')).not.toContain(grid.fid)
      expect(await names('shared')).not.toContain(grid.fid)
      expect(await status('bob', 'DELETE', `/v2/files/${grid.fid}/star`)).toBe(204)
      expect(await status('alice', 'DELETE', `/v2/files/${grid.fid}/star`)).toBe(204)
    })

    it('format=api returns an HTML page without scripts', async () => {
      const { fid } = await test().grid('alice', '<script>alert(1)', { a: [1] })
      const { text, headers } = await ask('alice', 'GET', `/v2/files/${fid}?format=api`)
      expect(headers.get('content-type')).toContain('text/html')
      expect(text).not.toContain('<script>')
      expect(text).toContain('&lt;script&gt;')
    })
  })

  it('a write with an idempotency key is applied once', async () => {
    const headers = { 'idempotency-key': 'once' }
    const json = { figure: scatter([1]), raw_data: 'grid', filename: 'made once' }
    const first = await ask('alice', 'POST', '/v2/plots', { json, headers })
    const again = await ask('alice', 'POST', '/v2/plots', { json, headers })
    expect([again.status, again.json.file.fid]).toEqual([200, first.json.file.fid])
    expect(
      (await ask('alice', 'POST', '/v2/plots', { json: { ...json, filename: 'other' }, headers })).status,
    ).toBe(422)
  })
})

describe('invitations over SMTP', () => {
  const letters: string[] = []
  const folder = temporaryFolder()
  let smtp: SMTPServer
  let test: TestService
  beforeAll(async () => {
    smtp = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onData(stream, _session, done) {
        let text = ''
        stream.on('data', (part) => {
          text += part
        })
        stream.on('end', () => {
          letters.push(text)
          done()
        })
      },
    })
    await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
    const { port } = smtp.server.address() as AddressInfo
    test = new TestService(
      await createService({
        database: `sqlite:${folder.path}/mail.db`,
        url: URL_OF_TESTS,
        environment: {},
        smtp: `smtp://127.0.0.1:${port}`,
      }),
    )
    await test.user('alice')
    await createUser(test.service.store, 'bob', { email: 'bob@example.org' })
  })
  afterAll(async () => {
    await test.service.close()
    await new Promise<void>((resolve) => smtp.close(resolve))
    folder.remove()
  })

  it('are sent only with send_email and once per idempotency key; user text is quoted', async () => {
    const { fid } = await test.grid('alice', 'Numbers\u2028Bcc: evil@example.org', { a: [1] })
    const add = (json: object, key: string) =>
      test.ask('alice', 'POST', `/v2/files/${fid}/collaborators`, {
        json,
        headers: { 'idempotency-key': key },
      })
    expect((await add({ users: ['bob'] }, '1')).json.emails_sent).toBe(0)
    expect(letters).toHaveLength(0)
    const json = {
      users: ['bob', 'new@example.org'],
      send_email: true,
      email_text: 'Look\n.\nSubject: not mine',
    }
    expect((await add(json, '2')).json).toMatchObject({ emails_sent: 2, warnings: [] })
    await add(json, '2')
    expect(letters).toHaveLength(2)
    expect(letters[0]).toMatch(/^To: bob@example\.org$/im)
    expect(letters[0]).toContain('> Look\r\n> .\r\n> Subject: not mine')
    expect(letters[0].split('\r\n\r\n')[0]).not.toMatch(/^Bcc:/im)
    expect(letters[0]).toContain(`/~alice/${fid.split(':')[1]}/`)
  })
})
