// Cross-site requests, existence of files, scopes of keys, e-mail limits.
import { join } from 'node:path'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createService } from '../../../src/service/index.ts'
import { onBothStores, TestService, temporaryFolder, URL_OF_TESTS } from '../../support/service.ts'

onBothStores('privacy', (test) => {
  const ask = (user: string | undefined, method: string, path: string, json?: unknown) =>
    test().ask(user, method, path, { json })
  const withKey = (key: string, method: string, path: string, json?: unknown) =>
    test().ask(undefined, method, path, { json, headers: { authorization: `Bearer ${key}` } })

  describe('cross-site requests', () => {
    it('changes sent by a browser from another site are refused', async () => {
      const { fid } = await test().grid('alice', 'target', { a: [1] })
      const attempts: Record<string, string>[] = [
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { origin: 'https://evil.example' },
        { origin: 'null' },
      ]
      for (const headers of attempts) {
        const { status } = await test().ask('alice', 'POST', `/v2/files/${fid}/trash`, { headers })
        expect(status, JSON.stringify(headers)).toBe(403)
        const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' }
        const made = await test().ask('alice', 'POST', '/v2/folders', { body: 'path=evil', headers: form })
        expect(made.status).toBe(403)
      }
      for (const headers of [{ 'sec-fetch-site': 'same-origin' }, { origin: URL_OF_TESTS }, {}] as Record<
        string,
        string
      >[])
        expect((await test().ask('alice', 'POST', `/v2/files/${fid}/star`, { headers })).status).toBe(200)
    })

    it('JSON bodies require a JSON media type, which cross-site forms cannot send', async () => {
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
      ]) {
        const { status } = await test().ask('alice', 'POST', '/v2/grids', {
          body: '{"data":{"cols":{}}}',
          headers: { 'content-type': type },
        })
        expect(status, type).toBe(415)
      }
    })

    it('every response has nosniff; pages and docs allow no scripts and no frames', async () => {
      for (const path of ['/v2', '/v2/docs', '/healthz', '/metrics', '/nowhere', '/v2/openapi.json'])
        expect((await ask(undefined, 'GET', path)).headers.get('x-content-type-options'), path).toBe(
          'nosniff',
        )
      const policy = (await ask(undefined, 'GET', '/v2/docs')).headers.get('content-security-policy')
      expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
    })
  })

  describe('existence', () => {
    it('counts of folders include only those visible to the caller', async () => {
      await ask('alice', 'POST', '/v2/folders', { path: 'outer/open', world_readable: true })
      await ask('alice', 'POST', '/v2/folders', { path: 'outer/hidden' })
      const outer = (await ask('alice', 'GET', '/v2/folders/lookup?path=outer')).json
      await ask('alice', 'PATCH', `/v2/files/${outer.fid}`, { world_readable: true })
      const count = async (user: string | undefined) =>
        (await ask(user, 'GET', `/v2/files/${outer.fid}`)).json.subfolder_count
      expect([await count('alice'), await count('bob'), await count(undefined)]).toEqual([2, 1, 1])
    })

    it('sharing with an e-mail address does not reveal its user, or whether it has an account', async () => {
      const { createUser } = await import('../../../src/service/admin.ts')
      const { api_key } = await createUser(test().service.store, 'ines', { email: 'Ines@example.org' })
      const { fid } = await test().grid('alice', 'for an address', { a: [1] })
      const share = async (address: string) =>
        (await ask('alice', 'POST', `/v2/files/${fid}/collaborators`, { users: [address], readonly: true }))
          .json
      const known = JSON.stringify(await share('ines@example.org'))
      expect(known).not.toContain('"ines"')
      const both = (await share('nobody@example.org')).collaborators
      expect(both).toEqual([
        { type: 'email', email: 'ines@example.org', readonly: true },
        { type: 'email', email: 'nobody@example.org', readonly: true },
      ])
      expect((await withKey(api_key, 'GET', `/v2/files/${fid}`)).json.current_user_permission).toBe('read')
      const shared = (await withKey(api_key, 'GET', '/v2/folders/shared')).json.children.results
      expect(shared.map((file: { fid: string }) => file.fid)).toEqual([fid])
      await ask('alice', 'DELETE', `/v2/files/${fid}/collaborators`, { users: ['INES@example.org'] })
      expect((await withKey(api_key, 'GET', `/v2/files/${fid}`)).status).toBe(404)
    })

    it('a replayed write is answered only if the caller may still read the file', async () => {
      const { fid } = await test().grid('alice', 'revoked', { n: [] })
      await ask('alice', 'POST', `/v2/files/${fid}/collaborators`, { users: ['bob'], readonly: false })
      const append = () =>
        test().ask('bob', 'POST', `/v2/grids/${fid}/row`, {
          json: { rows: [[1]] },
          headers: { 'idempotency-key': 'once' },
        })
      const rename = () =>
        test().ask('bob', 'PATCH', `/v2/files/${fid}`, {
          json: { filename: 'renamed by bob' },
          headers: { 'idempotency-key': 'twice' },
        })
      expect([(await append()).status, (await rename()).status]).toEqual([201, 200])
      expect([(await append()).status, (await rename()).status]).toEqual([201, 200])
      await ask('alice', 'DELETE', `/v2/files/${fid}/collaborators`, { users: ['bob'] })
      expect([(await append()).status, (await rename()).status]).toEqual([404, 404])
    })
  })

  describe('permissions of keys and collaborators', () => {
    it('only the owner can make a file public', async () => {
      const { fid } = await test().grid('alice', 'to stay private', { a: [1] })
      await ask('alice', 'POST', `/v2/files/${fid}/collaborators`, { users: ['bob'], readonly: false })
      const { status, json } = await ask('bob', 'PATCH', `/v2/files/${fid}`, { world_readable: true })
      expect([status, json.errors[0].field]).toEqual([403, 'world_readable'])
      expect((await ask('bob', 'PATCH', `/v2/files/${fid}`, { world_readable: false })).status).toBe(200)
    })

    it('a write-only key cannot read content through responses to its changes', async () => {
      const key = await test().key('alice', { scopes: 'write' })
      const { fid } = await test().grid('alice', 'a secret name', { a: [1] })
      await ask('alice', 'PATCH', `/v2/files/${fid}`, { share_key_enabled: true, metadata: { secret: 1 } })
      const empty = await withKey(key, 'PATCH', `/v2/files/${fid}`, {})
      expect([empty.status, Object.keys(empty.json).sort()]).toEqual([
        200,
        ['embed_url', 'fid', 'filetype', 'owner', 'web_url'],
      ])
      for (const [method, path, json] of [
        ['POST', `/v2/files/${fid}/star`, undefined],
        ['POST', `/v2/grids/${fid}/row`, { rows: [[2]] }],
        ['POST', `/v2/files/${fid}/collaborators`, { users: ['bob'] }],
        ['DELETE', `/v2/files/${fid}/collaborators`, { users: ['nobody'] }],
      ] as const)
        expect((await withKey(key, method, path, json)).text, path).not.toMatch(
          /secret|share_key|bob|row_count/,
        )
      expect((await withKey(key, 'POST', `/v2/files/${fid}/copy`, {})).status).toBe(403)
      expect((await withKey(key, 'POST', '/v2/images', { figure: { data: [] }, format: 'png' })).status).toBe(
        403,
      )
      expect((await withKey(key, 'GET', `/v2/files/${fid}`)).status).toBe(403)
    })

    it('a chart of some rows, or of sums, tells strangers no other rows and columns', async () => {
      const { fid, cols } = await test().grid('alice', 'pay', {
        ...{ city: ['Oslo', 'Oslo', 'Rome'], pay: [3, 5, 9999], hid: ['pub', 'pub', 'SECRET'] },
      })
      const src = (name: string) =>
        `${fid}:${(Object.values(cols) as { name: string; uid: string }[]).find((one) => one.name === name)!.uid}`
      const bars = { type: 'bar', xsrc: src('city'), ysrc: src('pay') }
      const filter = { type: 'filter', target: [], targetsrc: src('hid'), operation: '=', value: 'pub' }
      const mean = { type: 'aggregate', groups: 'x', aggregations: [{ target: 'y', func: 'avg' }] }
      const spec = { type: 'bar', options: { where: "hid = 'pub'" } }
      const layout = { meta: { spec, theme: 'gridline' }, title: { text: 'pay' } }
      const figure = { data: [{ ...bars, transforms: [filter, mean] }], layout }
      const made = await ask('alice', 'POST', '/v2/plots', { figure, world_readable: true })
      const plot = made.json.file.fid
      const path = plot.replace(':', '/')
      const told = async (user: string | undefined) => [
        (await ask(user, 'GET', `/~${path}.csv`)).text,
        (await ask(user, 'GET', `/~${path}.md`)).text,
        (await ask(user, 'GET', `/~${path}/`)).text,
        (await ask(user, 'GET', `/~${path}.json`)).text,
        (await ask(user, 'GET', `/v2/plots/${plot}/content?map_data=unreadable&inline_data=true`)).text,
      ]
      const [rows, ...others] = await told(undefined)
      expect(rows).toBe('trace 0 x,trace 0 y\nOslo,4\n')
      for (const text of [rows, ...others]) expect(text).not.toMatch(/SECRET|9999/)
      expect((await told('alice'))[0]).toContain('SECRET')
      const copied = await ask('bob', 'POST', `/v2/files/${plot}/copy`, {})
      expect([copied.status, copied.json.files.length]).toEqual([200, 2])
      const copy = copied.json.new_fid.replace(':', '/')
      expect((await ask('bob', 'GET', `/~${copy}.csv`)).text).toBe('trace 0 x,trace 0 y\nOslo,4\n')
      const { data: copiedData, layout: copiedLayout } = (await ask('bob', 'GET', `/~${copy}.json`)).json
      expect(copiedLayout).toMatchObject({ meta: { theme: 'gridline' }, title: { text: 'pay' } })
      expect(copiedLayout.meta.spec).toBeUndefined()
      expect(copiedData).toMatchObject([{ type: 'bar', x: ['Oslo'], y: [4] }])
      const rule = { type: 'rows', where: "hid = 'pub'", names: ['hid'], types: ['text'] }
      const lines = {
        ...{ type: 'parcoords', dimensions: [{ valuessrc: src('pay') }] },
        transforms: [{ ...rule, valuessrc: src('hid'), values: [] }],
      }
      await ask('alice', 'PUT', `/v2/plots/${plot}`, { figure: { data: [lines], layout: {} } })
      const second = await ask('bob', 'POST', `/v2/files/${plot}/copy`, {})
      const data = (await ask('bob', 'GET', `/~${second.json.new_fid.replace(':', '/')}.json`)).json.data
      expect(data).toEqual([{ type: 'parcoords', dimensions: [{ values: [3, 5] }] }])
      // All columns of a chart without transforms are shown.
      await ask('alice', 'PUT', `/v2/plots/${plot}`, { figure: { data: [bars], layout: {} } })
      expect((await told(undefined))[0]).toBe('city,pay\nOslo,3\nOslo,5\nRome,9999\n')
    })

    it('a write-only key cannot let others read content', async () => {
      const key = await test().key('alice', { scopes: 'write' })
      const { fid, cols } = await test().grid('alice', 'kept secret', { a: [1] })
      await ask('alice', 'POST', '/v2/teams', { name: 'readers' })
      const folder = (await ask('alice', 'POST', '/v2/folders', { path: 'for others' })).json.file.fid
      const figure = { data: [{ type: 'bar', ysrc: `${fid}:${cols[0].uid}` }], layout: {} }
      const chart = { data: [{ type: 'bar', y: [3] }], layout: {} }
      const own = await withKey(key, 'POST', '/v2/plots', {
        figure: chart,
        raw_data: 'grid',
        filename: 'own',
      })
      expect(own.status).toBe(200)
      for (const [method, path, json] of [
        ['PATCH', `/v2/files/${fid}`, { world_readable: true }],
        ['PATCH', `/v2/files/${fid}`, { share_key_enabled: true }],
        ['PATCH', `/v2/files/${fid}`, { parent: Number(folder.split(':')[1]) }],
        ['POST', `/v2/files/${fid}/keep`, { version: '1' }],
        ['POST', `/v2/files/${fid}/restore`, {}],
        [
          'POST',
          '/v2/plots',
          {
            figure: chart,
            raw_data: 'grid',
            filename: 'own',
            on_conflict: 'replace',
            world_readable: true,
          },
        ],
        ['POST', `/v2/files/${fid}/collaborators`, { users: ['bob'] }],
        ['POST', '/v2/teams/alice:readers/members', { users: ['bob'] }],
        ['POST', '/v2/plots', { figure, world_readable: true }],
        ['PATCH', `/v2/plots/${own.json.file.fid}`, { figure }],
        ['PATCH', `/v2/plots/${own.json.file.fid}`, { world_readable: true }],
        ['POST', '/v2/dashboards', { content: '{}' }],
      ] as const) {
        const { status, json: answer } = await withKey(key, method, path, json)
        expect([path, status, answer?.errors?.[0].message]).toEqual([
          path,
          403,
          'this API key has no read scope',
        ])
      }
      const publish = {
        ...{
          'x-file-name': 'kept secret.csv',
          'content-type': 'text/csv',
          'gridline-world-readable': 'true',
        },
        ...{ 'gridline-on-conflict': 'replace', authorization: `Bearer ${key}` },
      }
      const replaced = await test().ask(undefined, 'POST', '/v2/grids/upload', {
        body: 'a\n1\n',
        headers: publish,
      })
      expect(replaced.status).toBe(403)
      expect((await withKey(key, 'PATCH', `/v2/files/${fid}`, { filename: 'renamed' })).status).toBe(200)
    })
  })
})

describe('e-mail', () => {
  const folder = temporaryFolder()
  const sent: string[] = []
  let mail: SMTPServer
  let test: TestService
  beforeAll(async () => {
    mail = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onData(stream, { envelope }, done) {
        sent.push(...envelope.rcptTo.map(({ address }) => address))
        stream.resume()
        stream.on('end', () => done())
      },
    })
    const port = await new Promise<number>((resolve) => {
      const server = mail.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
    })
    test = new TestService(
      await createService({
        database: `sqlite:${join(folder.path, 'mail.db')}`,
        url: URL_OF_TESTS,
        smtp: `smtp://127.0.0.1:${port}`,
        environment: { GRIDLINE_LIMIT_EMAILS_PER_DAY: '5' },
      }),
    )
    await test.user('alice')
    await test.user('bob')
  })
  afterAll(async () => {
    await test.service.close()
    await new Promise<void>((resolve) => mail.close(resolve))
    folder.remove()
  })

  it('e-mails per user and day are limited across requests', async () => {
    const { fid } = await test.grid('alice', 'shared widely', { a: [1] })
    const share = (from: number, count: number) =>
      test.ask('alice', 'POST', `/v2/files/${fid}/collaborators`, {
        json: {
          users: Array.from({ length: count }, (_, k) => `p${from + k}@example.org`),
          send_email: true,
          email_text: 'buy this',
        },
      })
    const first = (await share(0, 3)).json
    expect([first.emails_sent, first.warnings]).toEqual([3, []])
    const second = (await share(10, 900)).json
    expect([second.emails_sent, second.warnings]).toEqual([
      2,
      ['898 e-mails were not sent: the limit is 5 per user and day (emails_per_day)'],
    ])
    expect((await share(1000, 1)).json.emails_sent).toBe(0)
    expect(sent).toHaveLength(5)
  })
})
