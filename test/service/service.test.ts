import { describe, expect, it } from 'vitest'
import { operations } from '../../src/contract/operations/index.ts'
import { type Answer, onBothStores } from '../support/service.ts'

onBothStores('the service', (test) => {
  describe('credentials', () => {
    const current = (headers: Record<string, string>) =>
      test().ask(undefined, 'GET', '/v2/users/current', { headers })
    const basic = (user: string, key: string) => `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`

    it('accepts Basic username:key and Bearer key; Plotly-Authorization takes precedence', async () => {
      const key = test().keys.get('alice')!
      expect((await current({ authorization: basic('alice', key) })).json).toMatchObject({
        username: 'alice',
        is_admin: false,
      })
      expect((await current({ authorization: `Bearer ${key}` })).json.username).toBe('alice')
      expect(
        (
          await current({
            authorization: basic('proxy', 'password'),
            'plotly-authorization': basic('alice', key),
          })
        ).json.username,
      ).toBe('alice')
    })

    it('wrong credentials are always 401, even where none are required', async () => {
      for (const authorization of [
        basic('alice', 'wrong'),
        basic('bob', test().keys.get('alice')!),
        'Bearer nothing',
        'Digest x',
        basic('nobody', 'x'),
      ]) {
        const { status, json, headers } = await current({ authorization })
        expect([status, json.errors[0].code]).toEqual([401, 'unauthenticated'])
        expect(headers.get('www-authenticate')).toContain('Basic')
      }
      expect(
        (
          await test().ask(undefined, 'GET', '/v2/folders/home?user=alice', {
            headers: { authorization: 'Bearer x' },
          })
        ).status,
      ).toBe(401)
      expect((await current({})).status).toBe(401)
    })

    it('keys have scopes and an expiry', async () => {
      const reader = await test().key('alice', { scopes: 'read' })
      expect((await current({ authorization: `Bearer ${reader}` })).status).toBe(200)
      const { status, json } = await test().ask(undefined, 'POST', '/v2/folders', {
        json: { path: 'x' },
        headers: { authorization: `Bearer ${reader}` },
      })
      expect([status, json.errors[0].code]).toEqual([403, 'forbidden'])
      await expect(test().key('alice', { scopes: 'everything' })).rejects.toThrow('unknown scope')
      await expect(test().key('alice', { expires: 'soon' })).rejects.toThrow('invalid duration')
    })
  })

  describe('folders', () => {
    it('create adds missing parents, answers 201 {file}; an existing one "already exists"', async () => {
      const { status, json } = await test().ask('alice', 'POST', '/v2/folders', {
        json: { path: '/one/two/three' },
      })
      expect([status, json.file.filename, json.file.filetype]).toEqual([201, 'three', 'fold'])
      const again = await test().ask('alice', 'POST', '/v2/folders', { json: { path: 'one/two' } })
      expect([again.status, again.json.detail]).toEqual([409, expect.stringContaining('already exists')])
      const one = (await test().ask('alice', 'GET', '/v2/folders/lookup?path=one')).json
      expect(one.filetype).toBe('fold')
      const below = await test().ask('alice', 'POST', '/v2/folders', {
        json: { path: 'more', parent: Number(one.fid.split(':')[1]) },
      })
      expect(below.json.file.parent).toBe(Number(one.fid.split(':')[1]))
    })

    it('accepts form-encoded bodies', async () => {
      const { status, json } = await test().ask('alice', 'POST', '/v2/folders', {
        body: 'path=%2Fformed%2Fhere',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
      expect([status, json.file.filename]).toEqual([201, 'here'])
    })

    it('detail, home and all list children in pages', async () => {
      await test().user('lister')
      await test().ask('lister', 'POST', '/v2/folders', { json: { path: 'many' } })
      const { fid } = (await test().ask('lister', 'GET', '/v2/folders/lookup?path=many')).json
      for (let k = 0; k < 7; k++) await test().grid('lister', `g${k}`, { a: [k] }, { parent_path: 'many' })
      const names: string[] = []
      let path: string | null = `/v2/folders/${fid}?page_size=3&order_by=-filename`
      let pages = 0
      while (path) {
        const { json }: Answer = await test().ask('lister', 'GET', path)
        const { children } = json
        names.push(...children.results.map(({ filename }: { filename: string }) => filename))
        path = children.next && new URL(children.next).pathname + new URL(children.next).search
        pages++
      }
      expect([names, pages]).toEqual([['g6', 'g5', 'g4', 'g3', 'g2', 'g1', 'g0'], 3])
      const home = (await test().ask('lister', 'GET', '/v2/folders/home')).json
      expect([home.fid, home.children.results.map(({ filename }: { filename: string }) => filename)]).toEqual(
        ['lister:-1', ['many']],
      )
      const all = (await test().ask('lister', 'GET', '/v2/folders/all?filetype=grid&page_size=500')).json
      expect(all.children.results).toHaveLength(7)
      const second = (await test().ask('lister', 'GET', '/v2/folders/all?page=2&page_size=5')).json.children
      expect([second.results.length, second.next, second.previous !== null]).toEqual([3, null, true])
      expect((await test().ask('lister', 'GET', '/v2/folders/all?page=3&page_size=5')).status).toBe(404)
      expect((await test().ask('lister', 'GET', '/v2/folders/all?cursor=rubbish')).status).toBe(400)
    })

    it('lists of other users contain only public files; an unknown user is 404', async () => {
      await test().grid('alice', 'shown', { a: [1] }, { world_readable: true })
      await test().grid('alice', 'hidden', { a: [1] })
      const names = (
        await test().ask('bob', 'GET', '/v2/folders/home?user=alice&page_size=500')
      ).json.children.results.map(({ filename }: { filename: string }) => filename)
      expect(names).toContain('shown')
      expect(names).not.toContain('hidden')
      expect((await test().ask('bob', 'GET', '/v2/folders/home?user=zed')).status).toBe(404)
      expect((await test().ask(undefined, 'GET', '/v2/folders/home')).status).toBe(401)
    })
  })

  describe('lookup', () => {
    it('by path, parent, user; exists; an empty path is 400, other filetypes are 404', async () => {
      const { fid } = await test().grid(
        'alice',
        'sought',
        { a: [1] },
        { parent_path: 'deep/down', world_readable: true },
      )
      expect((await test().ask('alice', 'GET', '/v2/files/lookup?path=/deep//down/sought')).json.fid).toBe(
        fid,
      )
      expect(
        (await test().ask('bob', 'GET', '/v2/files/lookup?path=deep%2Fdown%2Fsought&user=alice')).json.fid,
      ).toBe(fid)
      const down = (await test().ask('alice', 'GET', '/v2/folders/lookup?path=deep/down')).json
      expect(
        (await test().ask('alice', 'GET', `/v2/grids/lookup?path=sought&parent=${down.fid.split(':')[1]}`))
          .json.fid,
      ).toBe(fid)
      expect(
        (await test().ask('alice', 'GET', '/v2/files/lookup?path=deep/down/sought&exists=true')).json,
      ).toEqual({ exists: true })
      expect((await test().ask('alice', 'GET', '/v2/files/lookup?path=')).status).toBe(400)
      expect((await test().ask('alice', 'GET', '/v2/files/lookup')).status).toBe(400)
      expect((await test().ask('alice', 'GET', '/v2/grids/lookup?path=deep')).status).toBe(404)
      expect((await test().ask('alice', 'GET', `/v2/folders/${fid}`)).status).toBe(404)
    })
  })

  describe('errors, limits and URLs', () => {
    it('every error has detail and errors, as JSON', async () => {
      for (const [method, path, status] of [
        ['GET', '/v2/nothing', 404],
        ['GET', '/v2/grids/alice:999', 404],
        ['GET', '/v2/grids/notafid', 404],
        ['DELETE', '/v2/users/current', 405],
        ['PUT', '/v2/grids', 405],
        ['GET', '/v2/folders/home?page_size=x', 400],
      ] as const) {
        const answer = await test().ask('alice', method, path)
        expect(answer.status, path).toBe(status)
        expect(answer.headers.get('content-type')).toBe('application/json')
        expect(answer.json).toMatchObject({
          detail: expect.any(String),
          errors: [{ code: expect.any(String), message: answer.json.detail }],
        })
        expect(answer.headers.get('x-request-id')).toMatch(/./)
      }
    })

    it('// is the same as /, a trailing slash is ignored, OPTIONS lists the allowed methods', async () => {
      expect((await test().ask('alice', 'GET', '/v2//')).status).toBe(200)
      expect((await test().ask('alice', 'GET', '/v2//users/current/')).json.username).toBe('alice')
      const options = await test().ask(undefined, 'OPTIONS', '/v2/grids/alice:1/col')
      expect([options.status, options.headers.get('allow')]).toEqual([
        204,
        'GET, HEAD, POST, PUT, DELETE, OPTIONS',
      ])
    })

    it('an empty body counts as no body; media types other than JSON are 415', async () => {
      expect(
        (
          await test().ask('alice', 'POST', '/v2/folders', {
            body: '',
            headers: { 'content-type': 'application/json' },
          })
        ).json.detail,
      ).toBe('path: is missing')
      expect(
        (
          await test().ask('alice', 'POST', '/v2/folders', {
            body: 'x',
            headers: { 'content-type': 'image/png' },
          })
        ).status,
      ).toBe(415)
    })

    it('a body over the limit is 413, naming the limit and the size', async () => {
      const answer = await test().ask('alice', 'POST', '/v2/grids', {
        body: '{}',
        headers: { 'content-length': String(65 * 1024 * 1024) },
      })
      expect([answer.status, answer.json.detail]).toEqual([
        413,
        'the body has 65 MiB or more; the limit is 64 MiB (json_body_bytes)',
      ])
    })

    it('NUL characters in text are 400 on both stores', async () => {
      expect((await test().ask('alice', 'GET', '/v2/files/lookup?path=a%00b')).status).toBe(400)
      expect((await test().ask('alice', 'POST', '/v2/folders', { json: { path: 'a\0b' } })).status).toBe(400)
      const cols = { 'a\0b': { data: [1] } }
      expect((await test().ask('alice', 'POST', '/v2/grids', { json: { data: { cols } } })).status).toBe(400)
    })

    it('nesting of JSON is limited', async () => {
      const deep = `{"data":{"cols":{"a":{"data":[${'['.repeat(300)}${']'.repeat(300)}]}}}}`
      const answer = await test().ask('alice', 'POST', '/v2/grids', {
        body: deep,
        headers: { 'content-type': 'application/json' },
      })
      expect([answer.status, answer.json.detail]).toEqual([
        400,
        expect.stringContaining('deeper than 256 levels'),
      ])
    })
  })

  describe('damaged data is reported, never served', () => {
    it('a blob that changed on disk is 500 damaged', async () => {
      const { fid } = await test().grid('alice', 'damaged', { a: ['a value that is only here'] })
      await test().service.store.engine.write((db) =>
        db
          .updateTable('blob_pieces')
          .set({ body: Buffer.from('0"a value that was not"') })
          .where('body', '=', Buffer.from('0"a value that is only here"'))
          .execute(),
      )
      const { status, json } = await test().ask('alice', 'GET', `/v2/grids/${fid}/content`)
      expect([status, json.errors[0].code]).toEqual([500, 'damaged'])
    })
  })

  describe('the HTML page of a file', () => {
    it('shows the first rows as text to users who may read the grid', async () => {
      const { fid, web_url } = await test().grid(
        'alice',
        '<b>paged',
        { 'a<script>': ['<img src=x onerror=alert(1)>', null], n: [1.1, 2] },
        { world_readable: true },
      )
      const { status, text, headers } = await test().ask(undefined, 'GET', new URL(web_url).pathname)
      expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      expect(text).toContain('<h1>&lt;b&gt;paged</h1>')
      expect(text).toContain('<td>&lt;img src=x onerror=alert(1)&gt;</td>')
      expect(text).not.toMatch(/<script|<img|<b>/)
      expect(text).toContain(`http://gridline.test/v2/grids/${fid}/content?format=csv`)
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    })

    it('private and missing files are 404 alike; browsers are not asked for Basic credentials', async () => {
      const { web_url } = await test().grid('alice', 'not paged', { a: [1] })
      const path = new URL(web_url).pathname
      const [hidden, absent] = [
        await test().ask(undefined, 'GET', path),
        await test().ask(undefined, 'GET', '/~alice/99999/'),
      ]
      expect([hidden.status, hidden.text]).toEqual([404, absent.text])
      const browser = { accept: 'text/html', 'user-agent': 'Mozilla/5.0', 'sec-fetch-mode': 'navigate' }
      const page = await test().ask(undefined, 'GET', path, { headers: browser })
      expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
      expect(page.headers.get('www-authenticate')).toBeNull()
      const api = await test().ask(undefined, 'GET', '/v2/users/current', { headers: browser })
      expect([api.status, api.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="gridline"'])
      expect((await test().ask('bob', 'GET', path)).status).toBe(404)
      expect((await test().ask('alice', 'GET', path)).status).toBe(200)
    })
  })

  it('serves healthz, readyz and an OpenAPI document with every operation', async () => {
    expect((await test().ask(undefined, 'GET', '/healthz')).json).toEqual({ status: 'ok' })
    expect((await test().ask(undefined, 'GET', '/readyz')).json).toEqual({ status: 'ok' })
    const { json } = await test().ask(undefined, 'GET', '/v2/openapi.json')
    expect(json.openapi).toBe('3.1.0')
    expect(json.paths['/v2/grids/{fid}/row'].post.operationId).toBe('rows.append')
    expect(json.paths['/v2/plots'].post.requestBody.content['application/json'].schema.required).toEqual([
      'figure',
    ])
    const described = Object.values(json.paths).flatMap((path) => Object.values(path as object))
    const ids = described.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const name of Object.keys(operations)) expect(ids).toContain(name)
    for (const { responses } of described) expect(Object.keys(responses)).toHaveLength(2)
  })

  it('a sweep deletes expired idempotency keys and unreferenced blobs', async () => {
    const { store } = test().service
    const hash = await store.blobs.put(Buffer.from('named by nothing'))
    await store.sweep()
    expect(await store.blobs.get(hash)).toEqual(Buffer.from('named by nothing'))
    await store.engine.write((db) =>
      db
        .updateTable('blobs')
        .set({ stored_at: Date.now() - 25 * 3600 * 1000 })
        .execute(),
    )
    await store.sweep()
    await expect(store.blobs.get(hash)).rejects.toThrow(/damaged/)
    const { fid } = await test().grid('alice', 'still named', { a: ['x'] })
    await store.sweep()
    expect((await test().ask('alice', 'GET', `/v2/grids/${fid}/content`)).json.cols.a.data).toEqual(['x'])
  })
})
