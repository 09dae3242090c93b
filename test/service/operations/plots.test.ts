// Plots: creation, update, content.
import { describe, expect, it } from 'vitest'
import { costlyFigures } from '../../support/hostile.ts'
import { onBothStores, scatter, type TestService } from '../../support/service.ts'

onBothStores('plots', (test) => {
  const ask: TestService['ask'] = (...given) => test().ask(...given)
  const status: TestService['status'] = (...given) => test().status(...given)
  const plotOf = (user: string, figure: unknown) => ask(user, 'POST', '/v2/plots', { json: { figure } })

  describe('create', () => {
    it('creating a plot requires a figure; raw arrays are 400 with the path of the first', async () => {
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

    it('several columns in one reference are rows of a matrix for z, and a list of columns elsewhere', async () => {
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

    it('unusual figures are accepted: null layout, thousands of traces, hostile names', async () => {
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

    it.each([
      ['array', [1, 2]],
      ['number', 5],
      ['object', { a: 1 }],
      ['text', 'nonsense'],
    ])('%s where a reference belongs is 400 with its path', async (_, xsrc) => {
      const { status, json } = await plotOf('alice', {
        data: [{ type: 'scatter', marker: { sizesrc: xsrc } }],
      })
      expect([status, json.errors[0].path]).toEqual([400, 'figure.data.0.marker.sizesrc'])
    })

    it('a list of uids may end in a star, with or without a comma', async () => {
      const { fid, cols } = await test().grid('alice', 'starred columns', { a: [1, 2], b: [3, 4] })
      for (const end of ['', '*', ',*']) {
        const zsrc = `${fid}:${cols[0].uid},${cols[1].uid}${end}`
        const made = await plotOf('alice', { data: [{ type: 'heatmap', zsrc }] })
        expect(made.status).toBe(200)
        const { json } = await ask('alice', 'GET', `/v2/plots/${made.json.file.fid}/content?inline_data=true`)
        expect(json.data[0].z).toEqual([
          [1, 3],
          [2, 4],
        ])
      }
    })

    it('a typed array with invalid base64 is 400', async () => {
      const x = { dtype: 'f8', bdata: '!!!' }
      const { status, json } = await plotOf('alice', { data: [{ x }] })
      expect([status, json.errors[0].path]).toEqual([400, 'figure.data.0.x'])
    })

    it('a figure with too many columns or grids is refused, naming the limit', async () => {
      const data = Array.from({ length: 1001 }, (_, k) => ({ xsrc: `alice:${900_000 + k}:abcdef` }))
      const { status, json } = await plotOf('alice', { data })
      expect([status, json.detail]).toEqual([400, expect.stringContaining('figure_grids')])
    })
  })

  describe('large and malformed figures', () => {
    const create = (figure: string) =>
      test().ask('alice', 'POST', '/v2/plots', {
        body: `{"figure":${figure},"raw_data":"grid"}`,
        headers: { 'content-type': 'application/json' },
      })

    it.each(costlyFigures)('%s', async (_, figure, refused) => {
      const { status, json } = await create(figure)
      if (refused) expect([status, json.detail]).toEqual([400, expect.stringMatching(refused)])
      else expect(status).toBe(200)
    })

    it('empty references are replaced by data next to them', async () => {
      const { json } = await create('{"data":[{"x":[1,2],"xsrc":null,"ysrc":"","y":[3]}]}')
      const made = await ask('alice', 'GET', `/v2/plots/${json.file.fid}/content?inline_data=true`)
      expect([made.json.data[0].x, made.json.data[0].y]).toEqual([[1, 2], [3]])
      expect(made.text.match(/xsrc/g)).toHaveLength(1)
    })
  })

  describe('update', () => {
    it('PUT and PATCH of a plot replace the figure and keep fid and link, also for collaborators', async () => {
      const { file } = await test().plot('alice', scatter([1]))
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
  })

  describe('content', () => {
    it('reading a plot includes exactly the data it shows (map_data)', async () => {
      const { file, grid_fid } = await test().plot('alice', scatter([1, 2]))
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

  it('the data of a figure is read with few queries, however many traces it has', async () => {
    const traces = Array.from({ length: 200 }, (_, k) => ({ x: [1, 2, 3], y: [k, k + 0.5, 'text'] }))
    const { file } = await test().plot('alice', { data: traces })
    const { blobs } = test().service.store
    const { get, getAll } = blobs
    let reads = 0
    blobs.get = (hash) => {
      reads++
      return get.call(blobs, hash)
    }
    blobs.getAll = (hashes) => {
      reads++
      return getAll.call(blobs, hashes)
    }
    try {
      const { json } = await test().ask('alice', 'GET', `/v2/plots/${file.fid}/content?inline_data=true`)
      expect(json.data[199]).toMatchObject(traces[199])
      expect(reads).toBeLessThanOrEqual(3)
    } finally {
      Object.assign(blobs, { get, getAll })
    }
  })
})
