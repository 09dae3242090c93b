// Folders, and lists of files.
import { describe, expect, it } from 'vitest'
import { type Answer, onBothStores } from '../../support/service.ts'

onBothStores('folders', (test) => {
  const ask = (user: string | undefined, method: string, path: string, json?: unknown) =>
    test().ask(user, method, path, { json })

  describe('create', () => {
    it('creating a folder adds missing parents and answers 201 {file}; an existing one "already exists"', async () => {
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

    it('creating a folder accepts form-encoded bodies', async () => {
      const { status, json } = await test().ask('alice', 'POST', '/v2/folders', {
        body: 'path=%2Fformed%2Fhere',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
      expect([status, json.file.filename]).toEqual([201, 'here'])
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

  describe('lists', () => {
    it('folder detail, home and all list children in pages', async () => {
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

    it('count of a list includes all pages; next and previous work', async () => {
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
      // The earlier page is gone: previous leads to the beginning.
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
  })

  it('a search finds names of files and columns, and titles of charts, also after a change and in copies', async () => {
    const { fid } = await test().grid('alice', 'seekable 50%', { needle: [1] })
    const figure = (text: string) => ({
      data: [{ type: 'bar', ysrc: null }],
      layout: { title: { text } },
    })
    const { file } = await test().plot('alice', figure('Rain in <b>Bergen</b>'), { filename: 'a chart' })
    const find = async (q: string): Promise<string[]> =>
      (await ask('alice', 'GET', `/v2/folders/search?q=${encodeURIComponent(q)}`)).json.children.results.map(
        (found: { fid: string }) => found.fid,
      )
    expect(await find('50%')).toEqual([fid])
    expect(await find('NEEDLE')).toEqual([fid])
    expect(await find('in bergen')).toEqual([file.fid])
    const { new_fid } = (await ask('alice', 'POST', `/v2/files/${file.fid}/copy`, {})).json
    expect((await find('in bergen')).sort()).toEqual([file.fid, new_fid].sort())
    await ask('alice', 'PATCH', `/v2/plots/${file.fid}`, { figure: figure('Snow in Tromsø') })
    expect(await find('in bergen')).toEqual([new_fid])
    expect(await find('tromsø')).toEqual([file.fid])
    await ask('alice', 'POST', `/v2/files/${file.fid}/revert`, { version: '1' })
    expect((await find('in bergen')).length).toBe(2)
    expect(await find('<b>')).toEqual([])
  })

  describe('the home folder', () => {
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
  })
})
