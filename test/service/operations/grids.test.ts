// Grids: creation, rows, columns, upload, retries, content.
import { describe, expect, it } from 'vitest'
import { onBothStores } from '../../support/service.ts'

onBothStores('grids', (test) => {
  const content = async (fid: string, user = 'alice') =>
    (await test().ask(user, 'GET', `/v2/grids/${fid}/content`)).json.cols

  describe('create', () => {
    it('creating a grid answers 201 with file and warnings, cols in column order, private by default', async () => {
      const { status, json, headers } = await test().ask('alice', 'POST', '/v2/grids', {
        json: {
          data: { cols: { b: { data: [1, 2], order: 1 }, a: { data: ['x', null], order: 0 } } },
          filename: 'first',
        },
      })
      expect(status).toBe(201)
      expect(headers.get('content-type')).toBe('application/json')
      expect(json.warnings).toEqual([])
      expect(json.file).toMatchObject({
        filename: 'first',
        filetype: 'grid',
        owner: 'alice',
        parent: -1,
        world_readable: false,
        row_count: 2,
      })
      expect(
        json.file.cols.map(({ name, order, type }: { name: string; order: number; type: string }) => [
          name,
          order,
          type,
        ]),
      ).toEqual([
        ['a', 0, 'text'],
        ['b', 1, 'number'],
      ])
      expect(json.file.cols.every(({ uid }: { uid: string }) => /^[0-9a-f]{6}$/.test(uid))).toBe(true)
      expect(json.file.fid).toMatch(/^alice:\d+$/)
      expect(json.file.web_url).toBe(`http://gridline.test/~alice/${json.file.fid.split(':')[1]}/`)
      expect(json.file.embed_url).toBe(`http://gridline.test/~alice/${json.file.fid.split(':')[1]}.embed`)
    })

    it('creating a grid accepts data as a JSON-encoded string', async () => {
      const { status, json } = await test().ask('alice', 'POST', '/v2/grids', {
        json: { data: JSON.stringify({ cols: { a: { data: [1], order: 0 } } }), filename: 'as string' },
      })
      expect(status).toBe(201)
      expect((await content(json.file.fid)).a.data).toEqual([1])
    })

    it('one owner can create forty grids concurrently', async () => {
      const made = await Promise.all(
        Array.from({ length: 40 }, (_, k) =>
          test().ask('bob', 'POST', '/v2/grids', {
            json: { data: { cols: { a: { data: [k] } } }, filename: `at once ${k}` },
          }),
        ),
      )
      expect(made.map(({ status }) => status)).toEqual(Array(40).fill(201))
      expect(new Set(made.map(({ json }) => json.file.fid)).size).toBe(40)
    })

    it('files of a user are numbered from 0 in one sequence', async () => {
      await test().user('carol')
      const first = await test().grid('carol', 'one', { a: [1] })
      const folder = (await test().ask('carol', 'POST', '/v2/folders', { json: { path: 'f' } })).json.file
      const second = await test().grid('carol', 'two', { a: [1] })
      expect([first.fid, folder.fid, second.fid]).toEqual(['carol:0', 'carol:1', 'carol:2'])
    })

    it('creating a grid returns all metadata fields, the admin ones only to the owner', async () => {
      const { fid } = await test().grid('alice', 'all fields', { a: [1] }, { world_readable: true })
      const common = [
        'api_urls',
        'creation_time',
        'comments',
        'date_modified',
        'embed_url',
        'fid',
        'filetype',
        'img_url',
        'image_urls',
        'owner',
        'parented',
        'preview',
        'references',
        'referencers',
        'stars',
        'collaborators',
        'subfolder_count',
        'title',
        'views',
        'web_url',
        'current_user_permission',
        'filename',
        'parent',
        'world_readable',
        'is_theme',
        'is_template',
      ]
      const admin = ['deleted', 'share_key', 'share_key_enabled']
      const own = (await test().ask('alice', 'GET', `/v2/files/${fid}`)).json
      const others = (await test().ask('bob', 'GET', `/v2/files/${fid}`)).json
      expect(Object.keys(own)).toEqual(expect.arrayContaining([...common, ...admin]))
      expect(Object.keys(others)).toEqual(expect.arrayContaining(common))
      expect(Object.keys(others)).not.toEqual(expect.arrayContaining(['share_key']))
      expect([own.current_user_permission, others.current_user_permission]).toEqual(['admin', 'read'])
      expect(own.api_urls.parent).toBe('http://gridline.test/v2/folders/home?user=alice')
      expect(own.creation_time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    })

    it('any JSON values, any column names, and numbers as written are preserved', async () => {
      const cols =
        '{"__proto__":{"data":[1.10,12345678901234567890,[[1,2],[3]],{"a":null},true,"\\u00e9\\ud83d\\ude00",null],"order":1},"constructor":{"data":[1E5],"order":0},"a.b":{"data":[ 1 , 2 ],"order":2}}'
      const { status, text, json } = await test().ask('alice', 'POST', '/v2/grids', {
        body: `{"data":{"cols":${cols}},"filename":"raw"}`,
        headers: { 'content-type': 'application/json' },
      })
      expect(status, text).toBe(201)
      const answer = (await test().ask('alice', 'GET', `/v2/grids/${json.file.fid}/content`)).text
      expect(answer).toContain(
        '"data":[1.10,12345678901234567890,[[1,2],[3]],{"a":null},true,"\\u00e9\\ud83d\\ude00",null]',
      )
      expect(answer).toContain('"data":[1E5]')
      expect(Object.keys(JSON.parse(answer).cols)).toEqual(['constructor', '__proto__', 'a.b'])
    })

    it('a taken name is answered with "already exists" and 409, or 400 for the R client', async () => {
      await test().grid('alice', 'taken', { a: [1] })
      const again = { json: { data: { cols: {} }, filename: 'taken' } }
      const { status, json } = await test().ask('alice', 'POST', '/v2/grids', again)
      expect(status).toBe(409)
      expect(json.detail).toContain('already exists')
      expect(json.errors).toEqual([expect.objectContaining({ code: 'already_exists', field: 'filename' })])
      expect(
        (
          await test().ask('alice', 'POST', '/v2/grids', {
            ...again,
            headers: { 'plotly-client-platform': 'R 4.10.1' },
          })
        ).status,
      ).toBe(400)
    })

    it('parent_path creates missing folders, and refuses a parent that is not a folder', async () => {
      const made = await test().grid('alice', 'deep', { a: [1] }, { parent_path: '/x/y' })
      expect((await test().ask('alice', 'GET', '/v2/grids/lookup?path=x/y/deep')).json.fid).toBe(made.fid)
      const bad = await test().ask('alice', 'POST', '/v2/grids', {
        json: { data: { cols: {} }, filename: 'q', parent: Number(made.fid.split(':')[1]) },
      })
      expect([bad.status, bad.json.errors[0].field]).toEqual([400, 'parent'])
    })

    const wrong: [string, unknown, string][] = [
      ['no data', { filename: 'w' }, 'data: is missing'],
      ['data of the wrong type', { data: 3 }, 'data: must be an object'],
      ['no cols', { data: {} }, 'data.cols: must be an object'],
      ['a column without data', { data: { cols: { a: {} } } }, 'data.cols.a.data: is missing'],
      [
        'data that is no array',
        { data: { cols: { a: { data: 'x' } } } },
        'data.cols.a.data: must be an array',
      ],
      ['a filename of the wrong type', { data: { cols: {} }, filename: 5 }, 'filename: must be a string'],
      ['a filename with a slash', { data: { cols: {} }, filename: 'a/b' }, "filename: must not contain '/'"],
      [
        'a filename that shows in another order',
        { data: { cols: {} }, filename: 'a\u202etxt.exe' },
        'U+202E',
      ],
      ['a filename with control characters', { data: { cols: {} }, filename: 'a\nb' }, 'control characters'],
      [
        'a long filename',
        { data: { cols: {} }, filename: 'x'.repeat(256) },
        '256 characters; the limit is 255',
      ],
      [
        'world_readable of the wrong type',
        { data: { cols: {} }, world_readable: 'yes' },
        'world_readable: must be a boolean',
      ],
      ['metadata that is no object', { data: { cols: {} }, metadata: '[1]' }, 'metadata: must be an object'],
    ]
    for (const [name, json, message] of wrong) {
      it(`creating a grid refuses ${name}`, async () => {
        const answer = await test().ask('alice', 'POST', '/v2/grids', { json })
        expect([answer.status, answer.json.detail]).toEqual([400, expect.stringContaining(message)])
      })
    }

    it('invalid JSON is refused with the position of the error', async () => {
      const answer = await test().ask('alice', 'POST', '/v2/grids', {
        body: '{"data": {',
        headers: { 'content-type': 'application/json' },
      })
      expect([answer.status, answer.json.detail]).toEqual([400, 'the body is not JSON: it ends too early'])
      const nan = await test().ask('alice', 'POST', '/v2/grids', {
        body: '{"data": NaN}',
        headers: { 'content-type': 'application/json' },
      })
      expect([nan.status, nan.json.detail]).toEqual([400, 'the body is not JSON: unexpected NaN} at byte 9'])
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
        const { status, json } = await test().ask('alice', 'POST', '/v2/grids', {
          json: { data: { cols: { a: { data: [1] } } }, source_url: url },
        })
        expect([status, json.errors[0].field]).toEqual([400, 'source_url'])
      },
    )
  })

  describe('row', () => {
    it('rows are appended in order with 201, and readable at once', async () => {
      const { fid } = await test().grid('alice', 'rows', { a: [1], b: ['x'] })
      const { status, json } = await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
        json: {
          rows: [
            [2, 'y'],
            [3, null],
          ],
        },
      })
      expect([status, json]).toEqual([201, { fid, rows_added: 2, row_count: 3, version: 2, warnings: [] }])
      const cols = await content(fid)
      expect([cols.a.data, cols.b.data]).toEqual([
        [1, 2, 3],
        ['x', 'y', null],
      ])
    })

    it('all rows are refused if one has the wrong length', async () => {
      const { fid } = await test().grid('alice', 'lengths', { a: [1], b: [2] })
      for (const rows of [[[1]], [[1, 2, 3]], [[1, 2], [1]], [1], 'x']) {
        expect((await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows } })).status).toBe(
          400,
        )
      }
      expect((await content(fid)).a.data).toEqual([1])
    })

    it('an append first pads shorter columns with "", as clients expect', async () => {
      const { fid } = await test().grid('alice', 'ragged', { a: [1, 2, 3], b: ['x'] })
      expect(
        (await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[4, 'y']] } })).status,
      ).toBe(201)
      expect((await content(fid)).b.data).toEqual(['x', '', '', 'y'])
    })

    it('an append by a reader pads nothing', async () => {
      const { fid } = await test().grid('alice', 'ragged for readers', { a: [1, 2, 3], b: ['x'] })
      await test().ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: true } })
      const before = await content(fid)
      for (const count of [1, 40_000]) {
        const rows = Array.from({ length: count }, (_, k) => [k, 'some text'])
        const { status } = await test().ask('bob', 'POST', `/v2/grids/${fid}/row`, {
          json: { rows },
          headers: { 'idempotency-key': `pad-${count}` },
        })
        expect([count, status]).toEqual([count, 403])
      }
      expect(await content(fid)).toEqual(before)
    })

    it('rows stay correct through flushes, compared with an array', async () => {
      const { fid } = await test().grid('alice', 'folds', { n: [], s: [] })
      const model: [number, string][] = []
      for (let round = 0; round < 12; round++) {
        const rows = Array.from({ length: 900 }, (_, k): [number, string] => [round * 900 + k, `v${k}`])
        model.push(...rows)
        await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows } })
        const cols = await content(fid)
        expect(cols.n.data).toEqual(model.map(([n]) => n))
        expect(cols.s.data).toEqual(model.map(([, s]) => s))
      }
      await test().service.idle()
      const cols = await content(fid)
      expect(cols.s.data).toEqual(model.map(([, s]) => s))
    })

    it('with concurrent writers, each acknowledged row exists once, in order per writer', async () => {
      const { fid } = await test().grid('alice', 'many writers', { who: [], n: [] })
      await Promise.all(
        Array.from({ length: 8 }, async (_, who) => {
          for (let n = 0; n < 20; n++) {
            const { status } = await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
              json: { rows: [[who, n]] },
            })
            expect(status).toBe(201)
          }
        }),
      )
      const cols = await content(fid)
      for (let who = 0; who < 8; who++) {
        expect(cols.n.data.filter((_: number, k: number) => cols.who.data[k] === who)).toEqual(
          Array.from({ length: 20 }, (_, n) => n),
        )
      }
    })

    it('rows as CSV and NDJSON are matched by column name', async () => {
      const { fid } = await test().grid('alice', 'by name', { a: [1], b: ['x'] })
      const csv = await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
        body: 'b,a\ny,2\n007,3\n',
        headers: { 'content-type': 'text/csv' },
      })
      expect([csv.status, csv.json.row_count]).toEqual([201, 3])
      const lines = await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
        body: '{"b":"z","a":1.10}\n[5,"w"]\n',
        headers: { 'content-type': 'application/x-ndjson' },
      })
      expect([lines.status, lines.json.row_count]).toEqual([201, 5])
      const bare = await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
        body: '6,q\n',
        headers: { 'content-type': 'text/csv', 'gridline-header': 'false' },
      })
      expect(bare.status).toBe(201)
      const cols = await content(fid)
      expect(cols.a.data).toEqual([1, 2, 3, 1.1, 5, 6])
      expect(cols.b.data).toEqual(['x', 'y', '007', 'z', 'w', 'q'])
      const unknown = await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
        body: 'a,zz\n1,2\n',
        headers: { 'content-type': 'text/csv' },
      })
      expect([unknown.status, unknown.json.errors[0].code]).toEqual([400, 'unknown_column'])
      expect(unknown.json.detail).toContain('"zz"')
    })

    it('appends keep text columns text, and refuse text in number columns, or warn if allowed', async () => {
      const { fid } = await test().grid('alice', 'types kept', { zip: ['01'], n: [1] })
      await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
        body: 'zip,n\n12,2\n',
        headers: { 'content-type': 'text/csv' },
      })
      const refused = await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
        body: 'zip,n\n13,3\n14,n/a\n',
        headers: { 'content-type': 'text/csv', 'x-file-name': 'more.csv' },
      })
      expect([refused.status, refused.json.errors[0].code, refused.json.detail]).toEqual([
        400,
        'type_change',
        'more.csv, line 3, column n: n/a would change the type of the column, which holds numbers',
      ])
      const { json } = await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
        body: 'zip,n\n13,n/a\n',
        headers: { 'content-type': 'text/csv', 'gridline-allow-type-change': 'true' },
      })
      expect(json.warnings.join()).toContain('column n held numbers and now holds text as well')
      const cols = await content(fid)
      expect([cols.zip.data, cols.n.data]).toEqual([
        ['01', '12', '13'],
        [1, 2, 'n/a'],
      ])
    })

    it('an NDJSON line with an array of records is several rows; an array of objects as values is one', async () => {
      const { fid } = await test().grid('alice', 'records', { a: [1], b: [2] })
      const send = (body: string) =>
        test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
          body,
          headers: { 'content-type': 'application/x-ndjson', 'gridline-allow-type-change': 'true' },
        })
      expect((await send('[{"a": 3}, {"b": 4}]\n')).json.rows_added).toBe(2)
      expect((await send('[{"x": 3}, {"b": 4}]\n')).json.rows_added).toBe(1)
      const { json } = await test().ask('alice', 'GET', `/v2/grids/${fid}/content`)
      expect([json.cols.a.data, json.cols.b.data]).toEqual([
        [1, 3, null, { x: 3 }],
        [2, null, 4, { b: 4 }],
      ])
      expect((await send('[\n{"a": 1}\n]\n')).json.errors[0].hint).toContain("jq -c '.[]'")
    })
  })

  describe('col', () => {
    it('GET col returns columns in query order, all without uid, and 400 for an unknown uid', async () => {
      const { fid, cols } = await test().grid('alice', 'col get', { a: [1], b: ['x'] })
      const [a, b] = cols.map(({ uid }: { uid: string }) => uid)
      const two = await test().ask('alice', 'GET', `/v2/grids/${fid}/col?uid=${b}%2C${a}`)
      expect(two.json.cols).toEqual([
        { name: 'b', uid: b, order: 1, data: ['x'] },
        { name: 'a', uid: a, order: 0, data: [1] },
      ])
      expect((await test().ask('alice', 'GET', `/v2/grids/${fid}/col`)).json.cols).toHaveLength(2)
      expect((await test().ask('alice', 'GET', `/v2/grids/${fid}/col?uid=${a},ffffff`)).status).toBe(400)
    })

    it('POST col accepts a JSON-encoded string and refuses a raw array', async () => {
      const { fid } = await test().grid('alice', 'col post', { a: [1, 2] })
      const { status, json } = await test().ask('alice', 'POST', `/v2/grids/${fid}/col`, {
        json: {
          cols: JSON.stringify([
            { name: 'b', data: [3, 4] },
            { name: 'c', data: [] },
          ]),
        },
      })
      expect([status, json.cols.map(({ name }: { name: string }) => name)]).toEqual([201, ['b', 'c']])
      expect(
        (
          await test().ask('alice', 'POST', `/v2/grids/${fid}/col`, {
            json: { cols: [{ name: 'd', data: [1] }] },
          })
        ).status,
      ).toBe(400)
      const twice = await test().ask('alice', 'POST', `/v2/grids/${fid}/col`, {
        json: { cols: JSON.stringify([{ name: 'a', data: [3] }]) },
      })
      expect([twice.status, twice.json.detail]).toEqual([400, expect.stringContaining('already exists')])
      expect(Object.keys(await content(fid))).toEqual(['a', 'b', 'c'])
    })

    it('PUT col changes data, name and order; cols may be a string or an array; counts must match', async () => {
      const { fid, cols } = await test().grid('alice', 'col put', { a: [1], b: [2], c: [3] })
      const [a, b, c] = cols.map(({ uid }: { uid: string }) => uid)
      const put = (uid: string, value: unknown) =>
        test().ask('alice', 'PUT', `/v2/grids/${fid}/col?uid=${uid}`, { json: { cols: value } })
      expect((await put(a, JSON.stringify([{ name: 'A', data: [9, 8] }]))).status).toBe(200)
      expect((await put(`${a},${b}`, [{ name: 'b' }, { name: 'A' }])).status).toBe(200)
      expect((await put(c, [{ order: 0 }])).status).toBe(200)
      expect(await content(fid)).toEqual({
        c: { uid: c, order: 0, data: [3] },
        b: { uid: a, order: 1, data: [9, 8] },
        A: { uid: b, order: 2, data: [2] },
      })
      expect((await put(a, JSON.stringify([{}, {}]))).status).toBe(400)
      expect((await put(`${a},eeeeee`, JSON.stringify([{}, {}]))).status).toBe(400)
    })

    it('DELETE col answers 204 and renumbers the remaining columns', async () => {
      const { fid, cols } = await test().grid('alice', 'col delete', { a: [1], b: [2], c: [3] })
      const { status, text } = await test().ask('alice', 'DELETE', `/v2/grids/${fid}/col?uid=${cols[1].uid}`)
      expect([status, text]).toEqual([204, ''])
      const left = await content(fid)
      expect([Object.keys(left), left.c.order]).toEqual([['a', 'c'], 1])
      expect((await test().ask('alice', 'DELETE', `/v2/grids/${fid}/col?uid=${cols[1].uid}`)).status).toBe(
        400,
      )
    })

    it('POST col keeps rows that are still in the tail', async () => {
      const { fid } = await test().grid('alice', 'col and tail', { a: [1] })
      await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[2], [3]] } })
      await test().ask('alice', 'POST', `/v2/grids/${fid}/col`, {
        json: { cols: JSON.stringify([{ name: 'b', data: [7, 8, 9] }]) },
      })
      await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[4, 10]] } })
      const cols = await content(fid)
      expect([cols.a.data, cols.b.data]).toEqual([
        [1, 2, 3, 4],
        [7, 8, 9, 10],
      ])
    })
  })

  describe('upload', () => {
    const upload = (body: string, headers: Record<string, string>) =>
      test().ask('alice', 'POST', '/v2/grids/upload', {
        body,
        headers: { 'content-type': 'text/csv', ...headers },
      })

    it('upload creates a private grid named after the file, and accepts all header prefixes', async () => {
      for (const prefix of ['Gridline', 'Service', 'Plotly']) {
        const { status, json } = await upload('a,b\n1,x\n', {
          'x-file-name': `${prefix}.csv`,
          [`${prefix}-World-Readable`]: 'true',
          [`${prefix}-Parent-Path`]: `up/${prefix}`,
        })
        expect(status).toBe(201)
        expect(json.file).toMatchObject({
          filename: prefix,
          filetype: 'grid',
          world_readable: true,
          row_count: 1,
        })
      }
      expect((await upload('a,b\n1,x\n', { 'x-file-name': 'private.csv' })).json.file.world_readable).toBe(
        false,
      )
    })

    it('upload renames on a conflict by default, and obeys On-Conflict', async () => {
      const rule = (name: string) => ({ 'x-file-name': 'rules.csv', 'gridline-on-conflict': name })
      const first = (await upload('a,b\n1,x\n', { 'x-file-name': 'rules.csv' })).json.file
      const second = (await upload('a,b\n1,x\n', { 'x-file-name': 'rules.csv' })).json
      expect(second.file.filename).toBe('rules (1)')
      const clash = await upload('a,b\n1,x\n', rule('fail'))
      expect([clash.status, clash.json.detail]).toEqual([409, expect.stringContaining('already exists')])
      const appended = (await upload('b,a\ny,2\n', rule('append'))).json
      expect([appended.file.fid, appended.file.row_count]).toEqual([first.fid, 2])
      const replaced = (await upload('c,a\n5,6\n', rule('replace'))).json.file
      expect([replaced.fid, replaced.web_url, replaced.row_count]).toEqual([first.fid, first.web_url, 1])
      expect(replaced.cols.find(({ name }: { name: string }) => name === 'a').uid).toBe(first.cols[0].uid)
      expect(replaced.cols.map(({ name }: { name: string }) => name)).toEqual(['c', 'a'])
    })

    it('upload accepts multipart and raw bodies', async () => {
      const form = new FormData()
      form.append('file', new Blob(['a,b\n1,x\n']), 'formed.csv')
      const request = new Request('http://gridline.test/', { method: 'POST', body: form })
      const { status, json } = await upload(await request.text(), {
        'content-type': request.headers.get('content-type')!,
      })
      expect([status, json.file?.filename, json.file?.row_count]).toEqual([201, 'formed', 1])
    })

    it('upload of bad data leaves nothing behind', async () => {
      const bad = await upload('a,b\n1,x\n2,3,4\n', { 'x-file-name': 'bad.csv' })
      expect([bad.status, bad.json.detail]).toEqual([
        400,
        'bad.csv, line 3: expected 2 cells, found 3: 2,3,4',
      ])
      expect((await test().ask('alice', 'GET', '/v2/files/lookup?path=bad')).status).toBe(404)
    })

    it('upload is applied once per Idempotency-Key', async () => {
      const headers = { 'x-file-name': 'once.csv', 'idempotency-key': 'upload-once' }
      const [one, two] = [await upload('a,b\n1,x\n', headers), await upload('a,b\n1,x\n', headers)]
      expect([two.status, two.json.file.fid]).toEqual([201, one.json.file.fid])
      const { json } = await test().ask('alice', 'GET', '/v2/folders/home?page_size=1000')
      expect(
        json.children.results.filter(({ filename }: { filename: string }) => filename.startsWith('once')),
      ).toHaveLength(1)
    })
  })

  describe('Idempotency-Key', () => {
    it('a different write with the same key is 422; the same write gets the first result', async () => {
      const { fid } = await test().grid('alice', 'keys', { a: [] })
      const row = (value: number, key: string, user = 'alice') =>
        test().ask(user, 'POST', `/v2/grids/${fid}/row`, {
          json: { rows: [[value]] },
          headers: { 'idempotency-key': key },
        })
      const answers = await Promise.all([row(1, 'k'), row(1, 'k'), row(1, 'k')])
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      expect((await row(2, 'k')).status).toBe(422)
      expect((await content(fid)).a.data).toEqual([1])
      expect((await row(2, 'k2')).status).toBe(201)
      expect((await content(fid)).a.data).toEqual([1, 2])
    })
  })

  describe('keys and retries', () => {
    it('among concurrent different requests with one key, one is applied and the others are 422', async () => {
      const { fid } = await test().grid('alice', 'one key', { a: [] })
      const answers = await Promise.all(
        [1, 2, 3].map((n) =>
          test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
            json: { rows: [[n]] },
            headers: { 'idempotency-key': 'same' },
          }),
        ),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422])
      expect((await content(fid)).a.data).toHaveLength(1)
    })

    it('a different file with the same key is 422', async () => {
      const send = (name: string) =>
        test().ask('alice', 'POST', '/v2/grids/upload', {
          body: 'a,b\n1,2\n',
          headers: { 'x-file-name': name, 'idempotency-key': 'build-7' },
        })
      expect([
        (await send('key one.csv')).status,
        (await send('key two.csv')).status,
        (await send('key one.csv')).status,
      ]).toEqual([201, 422, 201])
    })

    it('a retry with its original If-Match gets the first result', async () => {
      const { fid, cols } = await test().grid('alice', 'retried', { a: [1] })
      const { headers } = await test().ask('alice', 'GET', `/v2/grids/${fid}`)
      const put = () =>
        test().ask('alice', 'PUT', `/v2/grids/${fid}/col?uid=${cols[0].uid}`, {
          json: { cols: '[{"data":[2]}]' },
          headers: { 'if-match': headers.get('etag')!, 'idempotency-key': 'put' },
        })
      expect([(await put()).status, (await put()).status]).toEqual([200, 200])
      const csv = () =>
        test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
          body: 'a\n3\n',
          headers: { 'content-type': 'text/csv', 'idempotency-key': 'csv' },
        })
      expect([(await csv()).json.row_count, (await csv()).json.row_count]).toEqual([2, 2])
    })

    it('NDJSON is refused if the columns change while it is read', async () => {
      const { fid, cols } = await test().grid('alice', 'moving', { a: [1], b: ['x'] })
      const body = new ReadableStream({
        async start(controller) {
          controller.enqueue(Buffer.from('{"a":2,"b":"y"}\n'))
          await new Promise(setImmediate)
          const moved = await test().ask('alice', 'PUT', `/v2/grids/${fid}/col?uid=${cols[1].uid}`, {
            json: { cols: '[{"order":0}]' },
          })
          expect(moved.status).toBe(200)
          controller.enqueue(Buffer.from('{"a":3,"b":"z"}\n'))
          controller.close()
        },
      })
      const { status } = await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
        body,
        headers: { 'content-type': 'application/x-ndjson' },
      })
      const after = await content(fid)
      expect([201, 409]).toContain(status)
      expect(after.a.data).toEqual(status === 201 ? [1, 2, 3] : [1])
      expect(after.b.data).toEqual(status === 201 ? ['x', 'y', 'z'] : ['x'])
    })

    it('a running read is not affected by replacing the grid and sweeping', async () => {
      const values = Array.from({ length: 300_000 }, (_, k) => `value ${k}`)
      const { fid } = await test().grid('alice', 'read on', { a: values })
      const { store } = test().service
      await store.engine.write([], (db) =>
        db
          .updateTable('objects')
          .set({ changed_at: Date.now() - 25 * 3600 * 1000 })
          .execute(),
      )
      const reply = await test().service.handle({
        method: 'GET',
        url: `http://x/v2/grids/${fid}/content`,
        headers: {
          get: (name) =>
            name.toLowerCase() === 'authorization' ? `Bearer ${test().keys.get('alice')}` : null,
        },
        body: null,
      })
      const parts: Uint8Array[] = []
      for await (const part of reply.body as AsyncIterable<Uint8Array>) {
        if (parts.length === 0) {
          await test().ask('alice', 'POST', '/v2/grids/upload', {
            body: 'a,b\n1,2\n',
            headers: { 'x-file-name': 'read on.csv', 'gridline-on-conflict': 'replace' },
          })
          await store.sweep()
        }
        parts.push(part)
      }
      expect(JSON.parse(Buffer.concat(parts).toString()).cols.a.data).toEqual(values)
      expect((await content(fid)).a.data).toEqual([1])
    })
  })

  it('a large append of JSON rows is stored as slices, by the same rules as a small one', async () => {
    const { fid } = await test().grid('alice', 'many rows', { n: [0], t: [] })
    const rows = Array.from({ length: 100_000 }, (_, k) => [k, k % 3 === 0 ? null : `r${k}`])
    const append = (values: unknown, headers: Record<string, string> = {}) =>
      test().ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: values }, headers })
    const key = { 'idempotency-key': 'many-rows-1' }
    const first = await append(rows, key)
    expect([first.status, first.json.rows_added, first.json.row_count]).toEqual([201, 100_000, 100_001])
    expect((await append(rows, key)).json).toEqual(first.json)
    expect((await append(rows.slice(1), key)).status).toBe(422)
    await append([[1, 'last']])
    const { n, t } = await content(fid)
    expect(n.data).toEqual([0, ...rows.map(([value]) => value), 1])
    expect(t.data).toEqual(['', ...rows.map(([, value]) => value), 'last'])
    const lines = rows.map(([value]) => `[${value},5]`).join('\n')
    const misfit = await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
      body: lines.replace('[77777,5]', '["x","y"]'),
      headers: { 'content-type': 'application/x-ndjson' },
    })
    expect([misfit.status, misfit.json.errors[0].code]).toEqual([400, 'type_change'])
    const wide = await append(rows.map((row) => [...row, 1]))
    expect([wide.status, wide.json.detail]).toEqual([400, 'a row has 3 values; the grid has 2 columns'])
    expect((await test().ask('bob', 'POST', `/v2/grids/${fid}/row`, { json: { rows } })).status).toBe(404)
  })

  it('truncated, refused or damaged multipart bodies do not affect other requests', async () => {
    await test().grid('alice', 'formed twice', { a: [1] })
    const part =
      '--B\r\nContent-Disposition: form-data; name="f"; filename="formed twice.csv"\r\n\r\na,b\n1,2\n'
    const send = (body: string, more: Record<string, string> = {}) =>
      test().ask('alice', 'POST', '/v2/grids/upload', {
        body,
        headers: { 'content-type': 'multipart/form-data; boundary=B', ...more },
      })
    expect((await send(`${part}\r\n--B--\r\n`, { 'gridline-on-conflict': 'fail' })).status).toBe(409)
    expect((await send(part)).status).toBe(400)
    expect((await send(part, { 'content-type': 'multipart/form-data' })).status).toBe(400)
    expect((await send('--B--\r\n')).status).toBe(400)
  })

  describe('versions', () => {
    it('ETag, If-None-Match and If-Match follow the version of a grid', async () => {
      const { fid } = await test().grid('alice', 'versions', { a: [1] })
      const tag = (await test().ask('alice', 'GET', `/v2/grids/${fid}`)).headers.get('etag')!
      expect(
        (await test().ask('alice', 'GET', `/v2/grids/${fid}/content`, { headers: { 'if-none-match': tag } }))
          .status,
      ).toBe(304)
      const row = (match: string) =>
        test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
          json: { rows: [[2]] },
          headers: { 'if-match': match },
        })
      expect((await row(tag)).status).toBe(201)
      expect((await row(tag)).status).toBe(412)
      expect((await row('*')).status).toBe(201)
      const later = await test().ask('alice', 'GET', `/v2/grids/${fid}`)
      expect(later.headers.get('etag')).not.toBe(tag)
      expect(later.json.row_count).toBe(3)
    })
  })

  describe('content', () => {
    it('content is available as CSV, TSV and NDJSON, also for some columns or the first rows', async () => {
      const { fid } = await test().grid('alice', 'formats', {
        a: [1.5, null, 3],
        'b,c': ['x "y"', '', 'p\nq'],
        d: [[1], { e: 2 }, true],
      })
      const get = async (query: string) =>
        (await test().ask('alice', 'GET', `/v2/grids/${fid}/content?${query}`)).text
      expect(await get('format=csv')).toBe('a,"b,c",d\n1.5,"x ""y""",[1]\n,"","{""e"":2}"\n3,"p\nq",true\n')
      expect(await get('format=tsv&columns=d&columns=a&head=1')).toBe('d\ta\n[1]\t1.5\n')
      expect(await get('format=ndjson&head=2')).toBe(
        '{"a":1.5,"b,c":"x \\"y\\"","d":[1]}\n{"a":null,"b,c":"","d":{"e":2}}\n',
      )
      expect(JSON.parse(await get('columns=a&head=2')).cols.a.data).toEqual([1.5, null])
      expect((await test().ask('alice', 'GET', `/v2/grids/${fid}/content?columns=zz`)).status).toBe(400)
      expect((await test().ask('alice', 'GET', `/v2/grids/${fid}/content?format=pdf`)).status).toBe(400)
    })
  })

  describe('access', () => {
    it('unreadable and missing files get the same response', async () => {
      const { fid } = await test().grid('alice', 'secret', { a: [1] })
      for (const path of ['', '/content', '/col']) {
        const hidden = await test().ask('bob', 'GET', `/v2/grids/${fid}${path}`)
        const absent = await test().ask('bob', 'GET', `/v2/grids/alice:99999${path}`)
        expect([hidden.status, hidden.text]).toEqual([404, absent.text])
        expect((await test().ask(undefined, 'GET', `/v2/grids/${fid}${path}`)).status).toBe(404)
      }
      expect((await test().ask('bob', 'GET', '/v2/grids/lookup?path=secret&user=alice')).status).toBe(404)
      expect(
        (await test().ask('bob', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[1]] } })).status,
      ).toBe(404)
      expect(
        (await test().ask('bob', 'GET', '/v2/folders/home?user=alice&page_size=1000')).text,
      ).not.toContain('secret')
    })

    it('anyone may read public files, but only the owner may change them', async () => {
      const { fid } = await test().grid('alice', 'public', { a: [1] }, { world_readable: true })
      expect((await test().ask(undefined, 'GET', `/v2/grids/${fid}/content`)).status).toBe(200)
      expect(
        (await test().ask('bob', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[1]] } })).status,
      ).toBe(403)
      expect(
        (await test().ask(undefined, 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[1]] } })).status,
      ).toBe(401)
      expect((await test().ask('bob', 'GET', `/v2/grids/alice:-1`)).status).toBe(404)
    })
  })
})
