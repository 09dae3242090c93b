// Open charts that follow their data.
import { expect, it, vi } from 'vitest'
import { onSqliteFirst, scatter, URL_OF_TESTS } from '../../support/service.ts'

onSqliteFirst('live charts', (test) => {
  const live = async (more: object = {}) => {
    const grid = await test().grid('alice', `live ${Math.random()}`, { y: [1, 2] })
    const figure = { data: [{ ysrc: `${grid.fid}:${grid.cols[0].uid}` }] }
    const { file } = (await test().ask('alice', 'POST', '/v2/plots', { json: { figure, ...more } })).json
    const path = new URL(file.web_url).pathname.slice(0, -1)
    const append = (value: number) =>
      test().ask('alice', 'POST', `/v2/grids/${grid.fid}/row`, { json: { rows: [[value]] } })
    return { path, append, fid: file.fid as string, grid: grid.fid as string }
  }
  /** Returns the token in the embedded chart of `user`. */
  const tokenOf = async (user: string | undefined, path: string): Promise<string> => {
    const { text } = await test().ask(user, 'GET', `${path}.embed`)
    return /data-watch="([\w-]+)"/.exec(text)![1]
  }
  const stateOf = async (path: string): Promise<string> =>
    (await test().ask(undefined, 'GET', path)).json.state
  /** Waits until the fingerprint, which is cached for a second, has been read again. */
  const changed = (path: string, before: string) =>
    vi.waitUntil(async () => (await stateOf(path)) !== before, { timeout: 60_000, interval: 50 })

  it('the fingerprint of a plot changes with its data, and the figure has the new data', async () => {
    const { path, append } = await live()
    const watch = `watch=${await tokenOf('alice', path)}`
    const before = await stateOf(`${path}.state?${watch}`)
    await append(9)
    await changed(`${path}.state?${watch}`, before)
    const { json, headers } = await test().ask(undefined, 'GET', `${path}.live?${watch}`)
    expect(json.data[0].y).toEqual([1, 2, 9])
    expect(headers.get('access-control-allow-origin')).toBe('*')
  })

  it('the event stream sends each change, and ends when the reader loses access', async () => {
    const { path, append, fid } = await live({ world_readable: true })
    const response = await test().service.fetch(new Request(`${URL_OF_TESTS}${path}.events`))
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const chunks = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    const first = (await chunks.read()).value
    expect(first).toMatch(/^event: state\ndata: [0-9a-f]{32}\n\n$/)
    await append(3)
    const second = (await chunks.read()).value
    expect(second).toMatch(/^event: state/)
    expect(second).not.toBe(first)
    await test().ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: false } })
    expect((await chunks.read()).done).toBe(true)
  })

  it('an open chart ends with the key or session of its reader', async () => {
    const { path } = await live()
    const api_key = await test().key('alice', { expires: '1h' })
    const bearer = { authorization: `Bearer ${api_key}` }
    const open = (headers: Record<string, string>) =>
      test().ask(undefined, 'GET', `${path}.embed`, { headers })
    const tokenIn = (text: string): string => /data-watch="([\w-]+)"/.exec(text)![1]
    const status = (token: string) => test().status(undefined, 'GET', `${path}.live?watch=${token}`)
    const withKey = tokenIn((await open(bearer)).text)
    const { json } = await test().ask('alice', 'POST', '/v2/sessions', { json: { path: '/' } })
    const { headers } = await test().ask(undefined, 'GET', json.path)
    const cookie = { cookie: headers.get('set-cookie')!.split(';')[0] }
    const withSession = tokenIn((await open(cookie)).text)
    expect([await status(withKey), await status(withSession)]).toEqual([200, 200])
    const stream = await test().service.fetch(
      new Request(`${URL_OF_TESTS}${path}.events?watch=${withSession}`),
    )
    const events = stream.body!.getReader()
    expect((await events.read()).done).toBe(false)
    await test().ask(undefined, 'POST', '/signout', { headers: cookie })
    expect((await events.read()).done).toBe(true)
    expect(await status(withSession)).toBe(401)
    const { keys } = (await test().ask('alice', 'GET', '/v2/keys')).json
    await test().ask('alice', 'DELETE', `/v2/keys/${keys.at(-1).id}`)
    expect(await status(withKey)).toBe(401)
  })

  it('one reader can open at most half of the streams', async () => {
    const { path } = await live({ world_readable: true })
    const open = (address: string) =>
      test().service.handle({
        method: 'GET',
        url: `${URL_OF_TESTS}${path}.events`,
        headers: new Headers(),
        body: null,
        address,
      } as never)
    const opened: { status: number; body: unknown }[] = []
    for (let k = 0; k < 501; k++) opened.push(await open('192.0.2.1'))
    expect(opened.map(({ status }) => status)).toEqual([...Array.from({ length: 500 }, () => 200), 503])
    const other = await open('192.0.2.2')
    expect(other.status).toBe(200)
    for (const { status, body } of [...opened, other])
      if (status === 200) await (body as AsyncIterable<unknown>)[Symbol.asyncIterator]().return?.()
    const again = await open('192.0.2.1')
    expect(again.status).toBe(200)
    await (again.body as AsyncIterable<unknown>)[Symbol.asyncIterator]().return?.()
  })

  it('a live token gives access to one plot while its reader has access', async () => {
    const one = await live()
    const other = await live()
    await test().ask('alice', 'POST', `/v2/files/${one.fid}/collaborators`, {
      json: { users: [{ username: 'bob', can_write: false }] },
    })
    const token = await tokenOf('alice', one.path)
    const status = (path: string) => test().status(undefined, 'GET', path)
    expect(await status(`${one.path}.live?watch=${token}`)).toBe(200)
    expect(await status(`${other.path}.live?watch=${token}`)).toBe(404)
    expect(await status(`${one.path}.live?watch=${token.slice(0, -2)}xx`)).toBe(404)
    expect(await status(`${one.path}.live`)).toBe(404)
    await test().ask('alice', 'POST', `/v2/files/${one.fid}/trash`)
    await test().ask('alice', 'DELETE', `/v2/files/${one.fid}/permanent_delete`)
    expect(await status(`${one.path}.live?watch=${token}`)).toBe(404)
    // Its page, of another origin, sees that, and stops following.
    const gone = await test().ask(undefined, 'GET', `${one.path}.state?watch=${token}`)
    expect([gone.status, gone.headers.get('access-control-allow-origin')]).toEqual([404, '*'])
  })

  it('without a token, no page of another site may read the data', async () => {
    const { path } = await live({ world_readable: true })
    for (const what of ['state', 'live', 'json', 'embed', 'csv']) {
      const { status, headers } = await test().ask(undefined, 'GET', `${path}.${what}`)
      expect([what, status, headers.get('access-control-allow-origin')]).toEqual([what, 200, null])
    }
  })

  it('a hundred open pages cost one read of the data for each change', async () => {
    const { path, append } = await live()
    const watch = `watch=${await tokenOf('alice', path)}`
    const before = await stateOf(`${path}.state?${watch}`)
    await append(5)
    await changed(`${path}.state?${watch}`, before)
    const { blobs } = test().service.store
    const load = blobs.get.bind(blobs)
    let reads = 0
    blobs.get = (...given) => {
      reads++
      return load(...given)
    }
    try {
      const all = await Promise.all(
        Array.from({ length: 100 }, () => test().ask(undefined, 'GET', `${path}.live?${watch}`)),
      )
      expect(new Set(all.map(({ text }) => text)).size).toBe(1)
      // The figure, and its one slice.
      expect(reads).toBeLessThanOrEqual(2)
    } finally {
      blobs.get = load
    }
  })

  it('an embedded chart may connect to its own data only, and holds no tag in its data', async () => {
    const { file } = await test().plot('alice', {
      ...scatter([1]),
      layout: { title: { text: '</script><b>' } },
    })
    const path = new URL((file as { web_url?: string }).web_url!).pathname.slice(0, -1)
    const { headers, text } = await test().ask('alice', 'GET', `${path}.embed`)
    const policy = headers.get('content-security-policy')!
    expect(policy).toContain(`connect-src http://gridline.test${path}.events`)
    expect(policy).toMatch(/^sandbox allow-scripts /)
    expect(policy).not.toMatch(/unsafe-eval|script-src[^;]*unsafe-inline|allow-same-origin/)
    expect(text).toContain('\\u003c/script>\\u003cb>')
  })
})
