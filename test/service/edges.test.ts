import { describe, expect, it } from 'vitest'
import { onBothStores } from '../support/service.ts'

onBothStores('API edge cases', (test) => {
  const ask = (user: string | undefined, method: string, path: string, json?: unknown) =>
    test().ask(user, method, path, { json })
  const plotOf = async (user: string, figure: unknown, more: object = {}) =>
    ask(user, 'POST', '/v2/plots', { figure, ...more })

  describe('Idempotency-Key on streamed bodies', () => {
    const stream = (text: string) =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(Buffer.from(text))
          controller.close()
        },
      })
    it('an upload with the same key and name but different bytes is 422', async () => {
      const send = (body: string, name: string) =>
        test().ask('alice', 'POST', '/v2/grids/upload', {
          body: stream(body),
          headers: { 'x-file-name': name, 'idempotency-key': 'stream' },
        })
      const first = await send('a\n1\n', 'streamed.csv')
      expect(first.status).toBe(201)
      expect((await send('a\n2\n', 'streamed.csv')).status).toBe(422)
      const again = await send('a\n1\n', 'streamed.csv')
      expect([again.status, again.json.file.fid]).toEqual([201, first.json.file.fid])
    })

    it('the same holds for rows as CSV', async () => {
      const { fid } = await test().grid('alice', 'csv rows', { a: [1] })
      const send = (body: string) =>
        test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
          body: stream(body),
          headers: { 'content-type': 'text/csv', 'idempotency-key': 'csv stream' },
        })
      expect([(await send('a\n5\n')).status, (await send('a\n6\n')).status]).toEqual([201, 422])
      const { json } = await ask('alice', 'GET', `/v2/grids/${fid}/content`)
      expect(json.cols.a.data).toEqual([1, 5])
    })

    it('a different multipart boundary is the same upload; a different file is not', async () => {
      const send = (boundary: string, content: string) =>
        test().ask('alice', 'POST', '/v2/grids/upload', {
          body: `--${boundary}\r\ncontent-disposition: form-data; name="f"; filename="form.csv"\r\n\r\n${content}\r\n--${boundary}--\r\n`,
          headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, 'idempotency-key': 'form' },
        })
      const [one, two] = [await send('xx', 'a\n1\n'), await send('yyy', 'a\n1\n')]
      expect([one.status, two.status, two.json.file.fid]).toEqual([201, 201, one.json.file.fid])
      expect((await send('xx', 'a\n2\n')).status).toBe(422)
    })

    it('a retry of NDJSON gets the first result, even if the columns have changed since', async () => {
      const { fid, cols } = await test().grid('alice', 'lines', { a: [1], b: [2] })
      const send = () =>
        test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
          body: '{"a": 3, "b": 4}\n',
          headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': 'lines' },
        })
      const first = await send()
      await ask('alice', 'DELETE', `/v2/grids/${fid}/col?uid=${cols[1].uid}`)
      const again = await send()
      expect([again.status, again.json.rows_added]).toEqual([first.status, 1])
    })

    it('a line with an array of records is several rows; an array of objects as values is one', async () => {
      const { fid } = await test().grid('alice', 'records', { a: [1], b: [2] })
      const send = (body: string) =>
        test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
          body,
          headers: { 'content-type': 'application/x-ndjson', 'gridline-allow-type-change': 'true' },
        })
      expect((await send('[{"a": 3}, {"b": 4}]\n')).json.rows_added).toBe(2)
      expect((await send('[{"x": 3}, {"b": 4}]\n')).json.rows_added).toBe(1)
      const { json } = await ask('alice', 'GET', `/v2/grids/${fid}/content`)
      expect([json.cols.a.data, json.cols.b.data]).toEqual([
        [1, 3, null, { x: 3 }],
        [2, null, 4, { b: 4 }],
      ])
      expect((await send('[\n{"a": 1}\n]\n')).json.errors[0].hint).toContain("jq -c '.[]'")
    })

    it('an API key is created once and shown once', async () => {
      const make = () =>
        test().ask('alice', 'POST', '/v2/keys', { json: {}, headers: { 'idempotency-key': 'one' } })
      const before = (await ask('alice', 'GET', '/v2/keys')).json.keys.length
      const [first, second] = [await make(), await make()]
      expect([first.status, second.status]).toEqual([201, 409])
      expect(second.text).not.toContain(first.json.api_key)
      expect((await ask('alice', 'GET', '/v2/keys')).json.keys).toHaveLength(before + 1)
    })
  })

  describe('folder lists', () => {
    it('count includes all pages; next and previous work', async () => {
      const folder = (await ask('alice', 'POST', '/v2/folders', { path: 'pages' })).json.file
      const parent = Number(folder.fid.split(':')[1])
      for (const name of ['e', 'a', 'd', 'b', 'c']) await test().grid('alice', name, { x: [] }, { parent })
      // biome-ignore lint/suspicious/noExplicitAny: a page of any list
      const page = async (path: string): Promise<any> => {
        const { children } = (await ask('alice', 'GET', path)).json
        return { ...children, names: children.results.map((one: { filename: string }) => one.filename) }
      }
      const follow = (link: string) => page(link.replace(/^https?:\/\/[^/]+/, ''))
      for (const order of ['filename', '-filename', '-date_modified']) {
        const one = await page(`/v2/folders/${folder.fid}?page_size=2&order_by=${order}`)
        const two = await follow(one.next)
        const three = await follow(two.next)
        expect([one.count, two.count, three.count, three.names.length, three.next]).toEqual([
          5,
          5,
          5,
          1,
          null,
        ])
        const back = await follow(three.previous)
        expect(back.names).toEqual(two.names)
        const first = await follow(back.previous)
        expect([first.names, first.previous]).toEqual([one.names, null])
        expect((await follow(first.next)).names).toEqual(two.names)
      }
      // What was before has gone: the way back leads to the beginning.
      const two = await follow((await page(`/v2/folders/${folder.fid}?page_size=2`)).next)
      for (const name of ['a', 'b']) {
        const { fid } = (await ask('alice', 'GET', `/v2/files/lookup?path=pages/${name}`)).json
        await ask('alice', 'POST', `/v2/files/${fid}/trash`)
      }
      const begin = await follow(two.previous)
      expect([begin.names, begin.previous, begin.count]).toEqual([['c', 'd'], null, 3])
      expect((await page('/v2/folders/home?user=alice&page_size=1')).count).toBeGreaterThan(1)
      const others = await ask('bob', 'GET', '/v2/folders/home?user=alice')
      expect(others.json.children.count).toBe(others.json.children.results.length)
    })

    it('the home folder has a path and cannot be changed', async () => {
      expect((await ask('alice', 'GET', '/v2/files/alice:-1/path')).json).toEqual({ path: '/' })
      for (const [method, path] of [
        ['PATCH', ''],
        ['POST', '/trash'],
        ['POST', '/star'],
        ['GET', '/collaborators'],
      ]) {
        const { status, json } = await ask(
          'alice',
          method,
          `/v2/files/alice:-1${path}`,
          method === 'GET' ? undefined : {},
        )
        expect([status, json.detail]).toEqual([400, expect.stringContaining('home folder')])
        expect(
          (await ask('bob', method, `/v2/files/alice:-1${path}`, method === 'GET' ? undefined : {})).status,
        ).toBe(404)
      }
    })

    it('nesting of folders is limited by path_depth', async () => {
      const deep = Array.from({ length: 64 }, (_, k) => `d${k}`)
      const made = await ask('alice', 'POST', '/v2/folders', { path: deep.join('/') })
      expect(made.status).toBe(201)
      const parent = Number(made.json.file.fid.split(':')[1])
      expect((await ask('alice', 'POST', '/v2/folders', { path: 'one more', parent })).status).toBe(400)
      expect((await test().grid('alice', 'in it', { a: [1] }, { parent })).parent).toBe(parent)
      const tree = (await ask('alice', 'POST', '/v2/folders', { path: 'tree/branch' })).json.file
      const above = (await ask('alice', 'GET', `/v2/files/${made.json.file.fid}`)).json.parent
      const moved = await ask('alice', 'PATCH', `/v2/files/alice:${tree.parent}`, { parent: above })
      expect([moved.status, moved.json.errors[0].message]).toEqual([
        400,
        expect.stringContaining('path_depth'),
      ])
    })
  })

  describe('grids', () => {
    it('preview contains the first values by column name, as JSON text', async () => {
      const { fid } = await test().grid('alice', 'previewed', { a: [1, null, 'x'], 'b "c"': [true] })
      const { preview } = (await ask('alice', 'GET', `/v2/grids/${fid}`)).json
      expect(JSON.parse(preview)).toEqual({ a: [1, null, 'x'], 'b "c"': [true] })
      const forR = await test().ask('alice', 'GET', `/v2/grids/${fid}`, {
        headers: { 'plotly-client-platform': 'R 4.10.1' },
      })
      expect(forR.json.preview).toEqual({ a: [1, null, 'x'], 'b "c"': [true] })
      const large = '"'.repeat(20_000)
      const columns = Object.fromEntries(
        Array.from({ length: 30 }, (_, k) => [`column ${k}`, Array(12).fill(k % 2 ? large : [large])]),
      )
      const wide = await test().grid('alice', 'previewed wide', columns)
      const short = (await ask('alice', 'GET', `/v2/grids/${wide.fid}`)).json.preview
      expect(short.length).toBeLessThan(17_000)
      const shown = JSON.parse(short)
      expect(shown['column 0']).toEqual(Array(10).fill(null))
      expect(shown['column 1'][0]).toMatch(/^"{90,100}…$/)
    })

    it('lookup with exists returns only whether the file exists, for all filetypes', async () => {
      await test().grid('alice', 'exists', { a: [1] })
      const lookup = (kind: string, path: string) => ask('alice', 'GET', `/v2/${kind}/lookup?${path}`)
      for (const kind of ['files', 'grids'])
        expect((await lookup(kind, 'path=exists&exists=true')).json).toEqual({ exists: true })
      expect((await lookup('grids', 'path=nowhere&exists=true')).status).toBe(404)
    })

    it.each([
      ['a name twice', '{"a":{"data":[1]},"\\u0061":{"data":[2]}}', 'data.cols.a'],
      ['an order that is no integer', '{"a":{"data":[1],"order":1.5}}', 'order'],
    ])('%s is 400', async (_, cols, field) => {
      const { status, json } = await test().ask('alice', 'POST', '/v2/grids', {
        body: `{"data":{"cols":${cols}}}`,
        headers: { 'content-type': 'application/json' },
      })
      expect([status, json.detail]).toEqual([400, expect.stringContaining(field)])
    })

    it.each(['javascript:alert(1)', 'not a url', 'file:///etc/passwd'])(
      'source_url %s is 400',
      async (url) => {
        const { status, json } = await ask('alice', 'POST', '/v2/grids', {
          data: { cols: { a: { data: [1] } } },
          source_url: url,
        })
        expect([status, json.errors[0].field]).toEqual([400, 'source_url'])
      },
    )

    it('values out of range for integers or text are 400 on both stores', async () => {
      for (const parent of [2 ** 53, 1e300, 0.5]) {
        const { status } = await ask('alice', 'POST', '/v2/folders', { path: 'x', parent })
        expect(status).toBe(400)
      }
      const { fid } = await test().grid('alice', 'zero', { a: [1] })
      const { status } = await ask('alice', 'POST', `/v2/files/${fid}/collaborators`, { teams: ['a\0b'] })
      expect(status).toBe(400)
    })
  })

  describe('figures', () => {
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

  describe('the cost of a figure is bounded', () => {
    const create = (figure: string) =>
      test().ask('alice', 'POST', '/v2/plots', {
        body: `{"figure":${figure},"raw_data":"grid"}`,
        headers: { 'content-type': 'application/json' },
      })
    it.each([
      ['a reference of blanks', `{"data":[{"xsrc":"alice:0:${' '.repeat(500_000)}x"}]}`, /no grid|no column/],
      [
        'long names around many references',
        `{"data":[{"${'n'.repeat(500_000)}":{${Array.from({ length: 2000 }, (_, k) => `"a${k}src":[]`)}}}]}`,
        undefined,
      ],
      ['traces', `{"data":[${'{},'.repeat(100_000)}{}]}`, /figure_traces/],
      [
        'members',
        `{"data":[{"m":{${Array.from({ length: 100_001 }, (_, k) => `"${k}":0`)}}}]}`,
        /json_members/,
      ],
      [
        'dimensions',
        `{"data":[{"x":{"dtype":"i1","bdata":"AAAA","shape":"3,1,1,1"}}]}`,
        /shape does not fit/,
      ],
      ['an array twice', '{"data":[{"x":[1],"x":[2]}]}', /is duplicated/],
    ])('%s', async (_, figure, why) => {
      const before = process.cpuUsage()
      const { status, json } = await create(figure)
      const { user, system } = process.cpuUsage(before)
      expect((user + system) / 1e6).toBeLessThan(2)
      if (why) expect([status, json.detail]).toEqual([400, expect.stringMatching(why)])
      else expect(status).toBe(200)
    })

    it('empty references are replaced by data next to them', async () => {
      const { json } = await create('{"data":[{"x":[1,2],"xsrc":null,"ysrc":"","y":[3]}]}')
      const made = await ask('alice', 'GET', `/v2/plots/${json.file.fid}/content?inline_data=true`)
      expect([made.json.data[0].x, made.json.data[0].y]).toEqual([[1, 2], [3]])
      expect(made.text.match(/xsrc/g)).toHaveLength(1)
    })
  })

  describe('copies', () => {
    it('a copy warns about unavailable data', async () => {
      const grid = await test().grid('alice', 'was public', { a: [1], b: [2] }, { world_readable: true })
      const [a, b] = grid.cols
      const figure = { data: [{ xsrc: `${grid.fid}:${a.uid}`, ysrc: `${grid.fid}:${b.uid}` }] }
      const plot = (await plotOf('alice', figure, { world_readable: true })).json.file
      const copy = (await ask('bob', 'POST', `/v2/files/${plot.fid}/copy`)).json
      expect(copy.warnings).toEqual([])
      await ask('alice', 'DELETE', `/v2/grids/${grid.fid}/col?uid=${b.uid}`)
      const deep = (await ask('alice', 'POST', `/v2/files/${plot.fid}/copy`, { deep_copy: true })).json
      expect(deep.warnings).toEqual([expect.stringContaining('missing')])
      await ask('alice', 'PATCH', `/v2/grids/${grid.fid}`, { world_readable: false })
      const again = (await ask('bob', 'POST', `/v2/files/${copy.new_fid}/copy`)).json
      expect([again.files.length, again.warnings]).toEqual([1, [expect.stringContaining('not readable')]])
    })
  })

  it('pages of plots and folders link to their content and pass the share key on', async () => {
    const folder = (await ask('alice', 'POST', '/v2/folders', { path: 'shown', world_readable: true })).json
      .file
    const parent = Number(folder.fid.split(':')[1])
    const seen = await test().grid('alice', '<seen>', { a: [1] }, { parent, world_readable: true })
    await test().grid('alice', 'hidden one', { a: [1] }, { parent })
    const page = async (user: string | undefined, fid: string, query = '') =>
      (await test().ask(user, 'GET', `/~${fid.replace(':', '/')}/${query}`)).text
    const html = await page(undefined, folder.fid)
    expect(html).toContain(`<a href="${seen.web_url}">&lt;seen&gt;</a> grid`)
    expect(html).not.toContain('hidden one')
    expect(await page('alice', folder.fid)).toContain('hidden one')
    const plot = (await plotOf('alice', { data: [] })).json.file
    await ask('alice', 'PATCH', `/v2/files/${plot.fid}`, { share_key_enabled: true })
    const { share_key } = (await ask('alice', 'GET', `/v2/files/${plot.fid}`)).json
    const [, link] = /href="([^"]*inline_data[^"]*)"/.exec(
      await page(undefined, plot.fid, `?share_key=${share_key}`),
    )!
    const path = link.replaceAll('&amp;', '&').replace(/^https?:\/\/[^/]+/, '')
    expect((await test().ask(undefined, 'GET', path)).json).toEqual({ data: [] })
  })

  it('a share key permits copying the file', async () => {
    const { fid } = await test().grid('alice', 'secret to copy', { a: [7] }, { share_key_enabled: true })
    const { share_key } = (await ask('alice', 'GET', `/v2/files/${fid}`)).json
    const copy = (key: string) => ask('bob', 'POST', `/v2/files/${fid}/copy?share_key=${key}`, {})
    expect((await copy('wrong')).status).toBe(404)
    const made = await copy(share_key)
    expect([made.status, made.json.files[0].owner]).toEqual([200, 'bob'])
    const { status } = await ask('bob', 'PATCH', `/v2/files/${fid}?share_key=${share_key}`, { filename: 'x' })
    expect(status).toBe(404)
  })

  it('stars name up to a hundred users and count all', async () => {
    const { fid } = await test().grid('alice', 'popular', { a: [1] }, { world_readable: true })
    const [owner, idlocal] = fid.split(':')
    await test().service.store.write(async ({ sharing }) => {
      for (let k = 0; k < 120; k++) await sharing.addStar(owner, Number(idlocal), `fan${k}`)
    })
    const { stars } = (await ask(undefined, 'GET', `/v2/files/${fid}`)).json
    expect([stars.count, stars.results.length]).toEqual([120, 100])
  })
})
