// Grids that are refreshed from a URL.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { UrlImport } from '../../../src/service/import/fetch.ts'
import { createService } from '../../../src/service/index.ts'
import { TestService, temporaryFolder, URL_OF_TESTS } from '../../support/service.ts'

describe('grids refreshed from a URL', () => {
  const folder = temporaryFolder()
  let server: Server
  let url: string
  let answer: (request: IncomingMessage, response: ServerResponse) => void
  let asked: IncomingMessage[] = []
  let test: TestService
  let second: TestService
  let fid: string
  const open = async (): Promise<TestService> => {
    const urlImport = new UrlImport((address) => address === '127.0.0.1')
    const database = `sqlite:${folder.path}/test.db`
    const running = new TestService(
      await createService({ database, url: URL_OF_TESTS, urlImport, environment: {} }),
    )
    running.service.store.onJob(() => {})
    return running
  }
  /** Answers with a file and validators, and with 304 if they match. */
  const serveFile =
    (text: string, etag: string): typeof answer =>
    (request, response) => {
      if (request.headers['if-none-match'] === etag) response.writeHead(304).end()
      else response.writeHead(200, { etag, 'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT' }).end(text)
    }
  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(request)
      answer(request, response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/prices.csv`
    test = await open()
    await test.user('alice')
    await test.user('bob')
    second = await open()
    for (const [user, key] of test.keys) second.keys.set(user, key)
    fid = (await test.grid('alice', 'prices', { a: [1], b: ['x'] })).fid
  })
  afterAll(async () => {
    vi.useRealTimers()
    server.closeAllConnections()
    server.close()
    for (const { service } of [test, second]) await service.close()
    folder.remove()
  })
  const path = (): string => `/v2/grids/${fid}/refresh`
  const rows = async () => (await test.ask('alice', 'GET', `/v2/grids/${fid}/content?format=csv`)).text
  const version = async () => (await test.ask('alice', 'GET', `/v2/grids/${fid}`)).json.version
  /** Lets time pass, and two servers look for due jobs: in turn, since connections of one process to SQLite block each other. */
  const pass = async (minutes: number): Promise<void> => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * 60_000 })
    for (const { service } of [test, second]) await service.runJobs()
  }

  it('a first request fills the grid; later ones are conditional, and only changes are versions', async () => {
    answer = serveFile('a,b\n1,x\n2,y\n', '"one"')
    const set = await test.ask('alice', 'PUT', path(), { json: { url, every: 3600 } })
    expect([set.status, set.json.state, set.json.every]).toEqual([200, 'current', 3600])
    expect(Date.parse(set.json.next_at) - Date.parse(set.json.refreshed_at)).toBe(3600_000)
    expect([await rows(), await version()]).toEqual(['a,b\n1,x\n2,y\n', 2])
    asked = []
    await pass(50)
    expect(asked).toEqual([])
    await pass(20)
    expect(asked.map(({ headers }) => [headers['if-none-match'], headers['if-modified-since']])).toEqual([
      ['"one"', 'Mon, 01 Jan 2024 00:00:00 GMT'],
    ])
    expect(await version()).toBe(2)
    // Other validators, but the same content.
    answer = serveFile('a,b\n1,x\n2,y\n', '"two"')
    await pass(61)
    expect(await version()).toBe(2)
    answer = serveFile('a,b\n1,x\n3,z\n', '"three"')
    await pass(61)
    expect([await rows(), await version(), asked.length]).toEqual(['a,b\n1,x\n3,z\n', 3, 3])
    const [{ source }] = (await test.ask('alice', 'GET', `/v2/grids/${fid}/versions`)).json.versions
    expect(source).toBe(url)
  })

  it('failures keep the data and are said, and the next request makes it current again', async () => {
    for (const [failing, said] of [
      [
        (_: IncomingMessage, response: ServerResponse) => response.writeHead(500).end(),
        'the server answered 500',
      ],
      [(_: IncomingMessage, response: ServerResponse) => response.destroy(), 'could not be fetched'],
      [(_: IncomingMessage, response: ServerResponse) => response.end('<html>login</html>'), ''],
      [
        (_: IncomingMessage, response: ServerResponse) =>
          response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
        'not public',
      ],
      [serveFile('a,b\n', '"none"'), 'rows'],
    ] as const) {
      answer = failing
      await pass(61)
      const { json } = await test.ask('alice', 'GET', path())
      expect([said, json.state, json.error?.detail]).toEqual([said, 'stale', expect.stringContaining(said)])
      expect(await rows()).toBe('a,b\n1,x\n3,z\n')
    }
    const since = (await test.ask('alice', 'GET', path())).json.stale_since
    const listed = async (user: string) => (await test.ask(user, 'GET', '/v2/refreshes')).json.refreshes
    expect(await listed('alice')).toMatchObject([{ filename: 'prices', url, state: 'stale' }])
    expect(await listed('bob')).toEqual([])
    expect(since).not.toBeNull()
    const read = await test.ask('alice', 'GET', `/v2/grids/${fid}/content?format=csv`)
    expect(decodeURIComponent(read.headers.get('gridline-warning')!)).toMatch(
      / is stale since .* UTC: its refreshes fail$/,
    )
    expect((await test.ask('alice', 'GET', `/v2/files/${fid}`)).json.stale_since).toBe(since)
    answer = serveFile('a,b\n5,v\n6,w\n', '"five"')
    const now = await test.ask('alice', 'POST', path())
    expect(now.json).toMatchObject({ state: 'current', error: null, stale_since: null })
    const again = await test.ask('alice', 'GET', `/v2/grids/${fid}/content?format=csv`)
    expect(again.headers.get('gridline-warning')).toBeNull()
    expect(await rows()).toBe('a,b\n5,v\n6,w\n')
  })

  it('nobody writes to it, since the next file would replace the change', async () => {
    const writes = [
      ['POST', `/v2/grids/${fid}/row`, { rows: [[7, 'new']] }],
      ['POST', `/v2/grids/${fid}/col`, { cols: JSON.stringify([{ name: 'more', data: [1] }]) }],
      ['POST', `/v2/grids/${fid}/revert`, { version: '1' }],
    ] as const
    for (const [method, address, json] of writes) {
      const { status, json: problem } = await test.ask('alice', method, address, { json })
      expect([address, status, problem.errors[0].code]).toEqual([address, 409, 'derived_grid'])
      expect(problem.errors[0].hint ?? problem.hint).toContain(`gridline refresh ${fid} --stop`)
    }
    const upload = await test.ask('alice', 'POST', '/v2/grids/upload', {
      body: 'a,b\n7,new\n',
      headers: { 'x-file-name': 'prices.csv', 'gridline-on-conflict': 'replace' },
    })
    expect([upload.status, upload.json.errors[0].code]).toEqual([409, 'derived_grid'])
    expect(await rows()).toBe('a,b\n5,v\n6,w\n')
    const [{ operation }] = (await test.ask('alice', 'GET', `/v2/grids/${fid}/versions`)).json.versions
    expect(operation).toBe('refresh')
    const page = async (user: string) => (await test.ask(user, 'GET', `/~${fid.replace(':', '/')}/`)).text
    expect(await page('alice')).toContain(
      `Refreshed from <a href="${url}" rel="noreferrer">${url}</a> every 1 h, last at`,
    )
    expect(await page('alice')).not.toContain('Edit data')
    await test.ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: true } })
    expect(await page('bob')).toContain('Refreshed from a URL every 1 h, last at')
    expect(await page('bob')).not.toContain(url)
    const history = await test.ask('bob', 'GET', `/v2/files/${fid}/versions`)
    expect([history.json.versions.length > 0, history.text.includes(url)]).toEqual([true, false])
  })

  it('a first request ends the version that its owner was adding rows to', async () => {
    const { fid: fed } = await test.grid('alice', 'fed', { a: [1] })
    const ask = (method: string, rest: string, json?: object) =>
      test.ask('alice', method, `/v2/grids/${fed}/${rest}`, { json })
    expect((await ask('POST', 'row', { rows: [[2]] })).status).toBe(201)
    answer = serveFile('a\n1\n2\n', '"fed"')
    expect((await ask('PUT', 'refresh', { url, every: 3600 })).status).toBe(200)
    expect((await ask('POST', 'row', { rows: [[99]] })).status).toBe(409)
    const same = {
      body: 'a\n1\n2\n',
      headers: { 'x-file-name': 'fed.csv', 'gridline-on-conflict': 'replace' },
    }
    expect((await test.ask('alice', 'POST', '/v2/grids/upload', same)).json.action).toBe('unchanged')
    expect((await ask('DELETE', 'refresh')).status).toBe(204)
  })

  it('a slow response changes nothing once the grid has another source, or none', async () => {
    const { fid: slow } = await test.grid('alice', 'slow', { a: [1] })
    const ask = (method: string, rest: string, json?: object) =>
      test.ask('alice', method, `/v2/grids/${slow}/${rest}`, { json })
    const sourceOf = async () => (await test.ask('alice', 'GET', `/v2/grids/${slow}/refresh`)).json
    const content = async () => (await ask('GET', 'content?format=csv')).text
    let respond: (() => void) | undefined
    const hold = (text: string): Promise<void> =>
      new Promise((resolve) => {
        answer = (request, response) => {
          respond = () => serveFile(text, '"slow"')(request, response)
          resolve()
        }
      })
    answer = serveFile('a\n2\n', '"two"')
    expect((await ask('PUT', 'refresh', { url, every: 3600 })).status).toBe(200)
    // It is stopped meanwhile.
    let asking = hold('a\n3\n')
    let refreshing = ask('POST', 'refresh')
    await asking
    expect((await ask('DELETE', 'refresh')).status).toBe(204)
    expect((await ask('POST', 'row', { rows: [[7]] })).status).toBe(201)
    respond!()
    expect((await refreshing).status).toBe(400)
    expect(await content()).toBe('a\n2\n7\n')
    // It becomes a derived grid meanwhile.
    asking = hold('a\n4\n')
    refreshing = ask('PUT', 'refresh', { url, every: 3600 })
    await asking
    const query = { filename: 'slow', sql: 'select 5 as a', on_conflict: 'replace' }
    expect((await test.ask('alice', 'POST', '/v2/grids/derive', { json: query })).status).toBe(201)
    respond!()
    expect((await refreshing).status).toBe(409)
    expect([await content(), (await sourceOf()).url]).toEqual(['a\n5\n', null])
  })

  it('a host that does not answer delays only the grids of its owner', async () => {
    const start = async (user: string, name: string, ask = url): Promise<string> => {
      const { fid } = await test.grid(user, name, { a: [1] })
      answer = serveFile('a\n1\n', '"one"')
      await test.ask(user, 'PUT', `/v2/grids/${fid}/refresh`, { json: { url: ask, every: 600 } })
      return fid
    }
    const content = async (user: string, grid: string) =>
      (await test.ask(user, 'GET', `/v2/grids/${grid}/content?format=csv`)).text
    const mine = [
      await start('alice', 'hangs', `${url}?hangs`),
      await start('alice', 'waits', `${url}?hangs`),
    ]
    const theirs = await start('bob', 'quick')
    const held: ServerResponse[] = []
    answer = (request, response) =>
      request.url!.endsWith('?hangs') ? held.push(response) : serveFile('a\n2\n', '"two"')(request, response)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 11 * 60_000 })
    const running = test.service.runJobs()
    await vi.waitFor(async () => expect(await content('bob', theirs)).toBe('a\n2\n'))
    expect([held.length, await content('alice', mine[0])]).toEqual([1, 'a\n1\n'])
    answer = serveFile('a\n3\n', '"three"')
    for (const response of held) response.end('a\n3\n')
    await running
    for (const grid of mine) expect(await content('alice', grid)).toBe('a\n3\n')
    for (const grid of mine) await test.ask('alice', 'DELETE', `/v2/grids/${grid}/refresh`)
    await test.ask('bob', 'DELETE', `/v2/grids/${theirs}/refresh`)
  })

  it('a text in a column of numbers keeps the content, unless it is read as empty or allowed', async () => {
    answer = serveFile('a,b\n5,v\nn/a,w\n', '"missing"')
    await pass(61)
    const { json } = await test.ask('alice', 'GET', path())
    expect([json.state, json.error.code, json.error.detail]).toEqual([
      'stale',
      'type_change',
      'line 3, column a: n/a is text, and the column of the grid holds numbers',
    ])
    expect(await rows()).toBe('a,b\n5,v\n6,w\n')
    const set = (headers: Record<string, string>) =>
      test.ask('alice', 'PUT', path(), { json: { url, every: 3600 }, headers })
    expect((await set({ 'gridline-null-text': 'n%2Fa' })).status).toBe(200)
    expect(await rows()).toBe('a,b\n5,v\n,w\n')
    expect((await set({})).json.errors[0].code).toBe('type_change')
    expect((await set({ 'gridline-allow-type-change': 'true' })).status).toBe(200)
    expect(await rows()).toBe('a,b\n5,v\nn/a,w\n')
    answer = serveFile('a,b\n5,v\n6,w\n', '"again"')
    expect((await set({})).status).toBe(200)
  })

  it('a file without a column of the grid keeps the content, unless it is accepted once', async () => {
    answer = serveFile('a\n5\n6\n', '"narrow"')
    await pass(61)
    const { json } = await test.ask('alice', 'GET', path())
    expect([json.state, json.error.code, json.error.hint]).toEqual([
      'stale',
      'column_loss',
      'If that is right, set the URL again with --yes.',
    ])
    expect(await rows()).toBe('a,b\n5,v\n6,w\n')
    const set = (headers: Record<string, string>) =>
      test.ask('alice', 'PUT', path(), { json: { url, every: 3600 }, headers })
    expect((await set({})).json.errors[0].code).toBe('column_loss')
    expect((await set({ 'gridline-allow-column-loss': 'true' })).status).toBe(200)
    expect(await rows()).toBe('a\n5\n6\n')
    answer = serveFile('a,b\n5,v\n6,w\n', '"wide"')
    await pass(61)
    expect(await rows()).toBe('a,b\n5,v\n6,w\n')
    answer = serveFile('a\n5\n6\n', '"narrow again"')
    await pass(61)
    expect((await test.ask('alice', 'GET', path())).json.error.code).toBe('column_loss')
    answer = serveFile('a,b\n5,v\n6,w\n', '"as before"')
    await pass(61)
  })

  it('days that could be months are read in the order of the grid', async () => {
    answer = serveFile('a,b,d\n5,v,13/01/2024\n6,w,14/01/2024\n', '"days"')
    const set = await test.ask('alice', 'PUT', path(), { json: { url, every: 3600 } })
    expect([set.status, set.json.detail]).toEqual([200, undefined])
    answer = serveFile('a,b,d\n5,v,01/02/2024\n6,w,02/02/2024\n', '"first days"')
    expect((await test.ask('alice', 'POST', path())).json).toMatchObject({ state: 'current' })
    expect(await rows()).toBe('a,b,d\n5,v,2024-02-01\n6,w,2024-02-02\n')
    answer = serveFile('a,b\n5,v\n6,w\n', '"without"')
    const headers = { 'gridline-allow-column-loss': 'true' }
    const without = await test.ask('alice', 'PUT', path(), { json: { url, every: 3600 }, headers })
    expect(without.json).toMatchObject({ state: 'current' })
  })

  it('checks of the grid apply', async () => {
    const checks = { columns: { a: { maximum: 10 } } }
    await test.ask('alice', 'PUT', `/v2/grids/${fid}/checks`, { json: { checks } })
    answer = serveFile('a,b\n5,v\n60,w\n', '"sixty"')
    await pass(61)
    expect((await test.ask('alice', 'GET', path())).json.error.code).toBe('checks_failed')
    expect(await rows()).toBe('a,b\n5,v\n6,w\n')
    await test.ask('alice', 'PUT', `/v2/grids/${fid}/checks`, { json: { checks: null } })
  })

  it('only the owner sets and stops it; what cannot be fetched now is not set', async () => {
    await test.ask('alice', 'POST', `/v2/grids/${fid}/collaborators`, {
      json: { users: ['bob'], readonly: false },
    })
    const set = (user: string, json: object) => test.ask(user, 'PUT', path(), { json })
    expect((await set('bob', { url, every: 60 })).status).toBe(403)
    expect(await test.status('bob', 'DELETE', path())).toBe(403)
    for (const [json, said] of [
      [{ url, every: 59 }, 'from 60'],
      [{ url: 'file:///etc/passwd', every: 60 }, 'http'],
      [{ url: 'http://10.0.0.1/x', every: 60 }, 'not public'],
      [{ url: url.replace('//', '//me:secret@'), every: 60 }, 'username or password'],
    ] as const) {
      const { status, json: body } = await set('alice', json)
      expect([json, status, body.detail]).toEqual([json, 400, expect.stringContaining(said)])
    }
    expect((await test.ask('alice', 'GET', path())).json.url).toBe(url)
    expect(await test.status('alice', 'DELETE', path())).toBe(204)
    asked = []
    await pass(3 * 60)
    expect(asked).toEqual([])
    expect(await test.status('alice', 'GET', path())).toBe(400)
    // Who writes may write again.
    const row = await test.ask('bob', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[7, 'new']] } })
    expect([row.status, await rows()]).toEqual([201, 'a,b\n5,v\n6,w\n7,new\n'])
  })

  it('reading options are kept', async () => {
    answer = serveFile('a;b\n1,5;x\n', '"comma"')
    const headers = {
      'gridline-decimal': ',',
      'gridline-max-shrink': '100',
      'gridline-allow-type-change': 'true',
    }
    const set = await test.ask('alice', 'PUT', path(), { json: { url, every: 60 }, headers })
    expect([set.status, set.json.detail]).toEqual([200, undefined])
    answer = serveFile('a;b\n2,5;x\n', '"more"')
    await pass(2)
    expect(await rows()).toBe('a,b\n2.5,x\n')
    // Another interval keeps them, and makes no request.
    asked = []
    const later = await test.ask('alice', 'PUT', path(), { json: { every: 7200 } })
    expect([later.status, later.json.url, later.json.every, asked]).toEqual([200, url, 7200, []])
    answer = serveFile('a;b\n3,5;x\n', '"later"')
    await pass(61)
    expect(asked).toEqual([])
    await pass(61)
    expect(await rows()).toBe('a,b\n3.5,x\n')
    const { fid: other } = await test.grid('alice', 'not refreshed', { a: [1] })
    expect(
      (await test.ask('alice', 'PUT', `/v2/grids/${other}/refresh`, { json: { every: 60 } })).json.detail,
    ).toBe('url: missing: this grid is not refreshed from a URL')
  })
})
