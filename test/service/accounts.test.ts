// Operator commands for users and keys.
import { expect, it, vi } from 'vitest'
import {
  createKey,
  createUser,
  deleteUser,
  listKeys,
  listUsers,
  renameUser,
  revokeKeys,
  setDisabled,
  verifyStore,
} from '../../src/service/admin.ts'
import { createService } from '../../src/service/index.ts'
import { onBothStores, URL_OF_TESTS } from '../support/service.ts'

onBothStores('operating users', (test) => {
  const store = () => test().service.store
  const made = async (name: string): Promise<void> => {
    await test().user(name)
  }
  /** Returns the status without the cache of credentials, which any change of keys clears. */
  const statusOf = async (name: string): Promise<number> => {
    await test().ask('alice', 'DELETE', '/v2/sessions')
    return test().status(name, 'GET', '/v2/users/current')
  }

  /** Finds a name in all columns of all tables, also in fids and keys of teams. */
  const usernames = () =>
    store().engine.read(async (db) => {
      const names = new Set<unknown>()
      for (const { name, columns } of await db.introspection.getTables()) {
        if (name === 'former_names') continue
        const rows = await db
          .selectFrom(name as 'users')
          .selectAll()
          .execute()
        // The location of stored objects does not change, nor does the text of a title.
        for (const { name: column } of columns)
          if (column !== 'home' && column !== 'title')
            for (const row of rows) names.add(String(row[column as 'owner']).split(/[:/]/)[0])
      }
      return [...names]
    })

  it('users are listed with their files and keys', async () => {
    await made('carl')
    await test().grid('carl', 'one', { a: [1] })
    const carl = (await listUsers(store())).find(({ username }) => username === 'carl')
    expect(carl).toMatchObject({ files: 1, keys: 1, is_admin: false, disabled_at: null })
  })

  it('disabled users cannot use keys and sessions; their files and links stay', async () => {
    await made('dora')
    const { fid } = await test().grid('dora', 'open', { a: [1] }, { world_readable: true })
    const { json } = await test().ask('dora', 'POST', '/v2/sessions', { json: { path: '/' } })
    const opened = await test().ask(undefined, 'GET', json.path)
    const cookie = { cookie: opened.headers.get('set-cookie')!.split(';')[0] }
    const first = await setDisabled(store(), 'Dora', true)
    expect(await statusOf('dora')).toBe(401)
    expect(await test().status(undefined, 'GET', '/v2/users/current', { headers: cookie })).toBe(401)
    expect(await test().status(undefined, 'GET', `/v2/grids/${fid}`)).toBe(200)
    expect((await setDisabled(store(), 'dora', true)).disabled_at).toBe(first.disabled_at)
    await setDisabled(store(), 'dora', false)
    expect(await statusOf('dora')).toBe(200)
    // Sessions ended; the key works again.
    expect(await test().status(undefined, 'GET', '/v2/users/current', { headers: cookie })).toBe(401)
  })

  it('renamed users keep files, keys, shares and teams; the former name leads to them', async () => {
    await made('gina')
    await made('hugo')
    const { fid } = await test().grid('gina', 'data', { a: [1, 2] }, { world_readable: true })
    const uid = (await test().ask('gina', 'GET', `/v2/grids/${fid}`)).json.cols[0].uid
    await test().ask('gina', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[3], [4]] } })
    const figure = { data: [{ type: 'bar', ysrc: `${fid}:${uid}` }], layout: { title: { text: `${fid}:` } } }
    const plot = async (user: string, name: string) =>
      (
        await test().ask(user, 'POST', '/v2/plots', {
          json: { figure, filename: name, world_readable: true },
        })
      ).json.file.fid
    const [own, other] = [await plot('gina', 'own'), await plot('hugo', 'other')]
    await test().ask('gina', 'POST', '/v2/teams', { json: { name: 'crew', members: ['hugo'] } })
    const theirs = await test().grid('hugo', 'theirs', { a: [1] })
    await test().ask('hugo', 'POST', `/v2/files/${theirs.fid}/collaborators`, {
      json: { users: ['gina'], teams: ['crew'] },
    })
    await test().ask('gina', 'POST', `/v2/files/${theirs.fid}/star`)
    const { json: session } = await test().ask('gina', 'POST', '/v2/sessions', { json: { path: '/' } })
    const opened = await test().ask(undefined, 'GET', session.path)
    const cookie = { cookie: opened.headers.get('set-cookie')!.split(';')[0] }

    expect(await renameUser(store(), 'Gina', 'Georgina')).toMatchObject({
      username: 'Georgina',
      files: 2,
      keys: 1,
    })
    expect(await usernames()).not.toContain('gina')
    // A new server reads the names at once; running ones after two seconds.
    const again = await createService({
      database: test().database,
      url: URL_OF_TESTS,
      ...test().place,
    })
    const ask = async (
      name: string | undefined,
      method: string,
      path: string,
      json?: unknown,
      headers = {},
    ) => {
      const key = Buffer.from(`${name}:${test().keys.get('gina')}`).toString('base64')
      const response = await again.fetch(
        new Request(`${URL_OF_TESTS}${path}`, {
          method,
          redirect: 'manual',
          headers: {
            ...(name && { authorization: `Basic ${key}` }),
            'content-type': 'application/json',
            ...headers,
          },
          body: json === undefined ? undefined : JSON.stringify(json),
        }),
      )
      const text = await response.text()
      return {
        status: response.status,
        location: response.headers.get('location'),
        json: /^[[{]/.test(text) ? JSON.parse(text) : text,
      }
    }
    // Text after the name is kept, and never becomes part of a header.
    for (const [path, location] of [
      ['/~gina/%E2%80%99', '/~Georgina/%E2%80%99'],
      ['/~gina/1%0d%0aX-Evil:1', '/~Georgina/1%0D%0AX-Evil%3A1'],
      ['/~gina/1%3Fshare_key=z', '/~Georgina/1%3Fshare_key%3Dz'],
    ])
      expect((await ask(undefined, 'GET', path)).location).toBe(URL_OF_TESTS + location)
    const moved = fid.replace('gina', 'Georgina')
    // Checksums of rows in the tail include the name of their owner.
    expect((await ask('Georgina', 'GET', `/v2/grids/${moved}/content`)).json.cols.a.data).toEqual([
      1, 2, 3, 4,
    ])
    expect((await verifyStore(store())).damage).toEqual([])
    for (const name of ['gina', 'Georgina']) {
      expect((await ask(name, 'GET', '/v2/users/current')).json.username).toBe('Georgina')
      expect((await ask(name, 'GET', `/v2/grids/${name}:${fid.split(':')[1]}`)).json.fid).toBe(moved)
      expect((await ask(undefined, 'GET', `/v2/users/${name}`)).json.username).toBe('Georgina')
      expect((await ask(name, 'GET', `/v2/folders/home?user=${name}`)).json.children.count).toBe(2)
      expect((await ask(name, 'GET', `/v2/grids/lookup?path=data&user=${name}`)).json.fid).toBe(moved)
      expect((await ask(name, 'GET', `/v2/files/${theirs.fid}`)).json.current_user_permission).toBe('write')
    }
    expect((await ask(undefined, 'GET', '/v2/users/current', undefined, cookie)).json.username).toBe(
      'Georgina',
    )
    expect(await ask(undefined, 'GET', `/~gina/${fid.split(':')[1]}/?a=b`)).toMatchObject({
      status: 301,
      location: `${URL_OF_TESTS}/~Georgina/${fid.split(':')[1]}?a=b`,
    })
    for (const one of [own.replace('gina', 'Georgina'), other]) {
      const { json } = await ask(undefined, 'GET', `/v2/plots/${one}/content?inline_data=true`)
      expect(json).toMatchObject({
        data: [{ y: [1, 2, 3, 4], ysrc: `${moved}:${uid}` }],
        layout: { title: { text: `${fid}:` } },
      })
    }
    // Old scripts send the former name.
    const sent = await ask('gina', 'POST', '/v2/plots', { figure, filename: 'from a script' })
    expect(
      (await ask('gina', 'GET', `/v2/plots/${sent.json.file.fid}/content?inline_data=true`)).json.data[0],
    ).toMatchObject({ y: [1, 2, 3, 4], ysrc: `${moved}:${uid}` })
    const compared = await ask('gina', 'GET', `/v2/grids/${theirs.fid}/diff?base=${fid}`)
    expect([compared.status, compared.json.rows_removed]).toEqual([200, 3])
    for (const name of [`"${fid}"`, 'gina.data'])
      expect(
        await ask('gina', 'POST', '/v2/query', { sql: `select sum(a) as s from ${name}` }),
      ).toMatchObject({
        status: 200,
        json: { cols: { s: { data: [10] } } },
      })
    expect((await ask('gina', 'GET', '/v2/teams/Georgina:crew')).json.owner).toBe('Georgina')
    expect((await ask('gina', 'GET', '/v2/teams/gina:crew')).json.owner).toBe('Georgina')
    // A retry across the rename is applied once.
    const again1 = { 'idempotency-key': 'k1' }
    const copied = async (): Promise<string> =>
      (await ask('gina', 'POST', `/v2/files/${fid}/copy`, {}, again1)).json.new_fid
    expect(await copied()).toBe(await copied())
    expect((await createKey(store(), 'gina')).username).toBe('Georgina')
    // Access granted or revoked by the former name applies to the user.
    const removal = { users: ['gina'] }
    const removed = await test().ask('hugo', 'DELETE', `/v2/files/${theirs.fid}/collaborators`, {
      json: removal,
    })
    expect([removed.status, removed.json.warnings]).toEqual([200, []])
    await again.close()

    await expect(createUser(store(), 'GINA')).rejects.toThrow(/GINA is a former name of Georgina/)
    await expect(renameUser(store(), 'hugo', 'gina')).rejects.toThrow(/former name of Georgina/)
    await expect(renameUser(store(), 'hugo', 'georgina')).rejects.toThrow(/already exists/)
    await expect(renameUser(store(), 'hugo', 'a b')).rejects.toThrow(/invalid username/)
    await made('ida')
    await deleteUser(store(), 'ida')
    await expect(renameUser(store(), 'hugo', 'ida')).rejects.toThrow(/a user who was deleted/)
    // After renaming back, the other name leads to the first one.
    expect((await renameUser(store(), 'georgina', 'gina')).username).toBe('gina')
    expect(await usernames()).not.toContain('Georgina')
    // A running server knows former names for two seconds.
    const asked = async () => (await test().ask('gina', 'GET', `/v2/grids/${fid}`)).status
    await vi.waitFor(async () => expect(await asked()).toBe(200), { timeout: 60_000 })
    // A former name stays reserved when the user is deleted.
    await deleteUser(store(), 'gina')
    await expect(createUser(store(), 'Georgina')).rejects.toThrow(/former name of a user who was deleted/)
  })

  it('keys work right after each rename, under both names', async () => {
    await made('june')
    const key = test().keys.get('june')!
    test().keys.set('juno', key)
    for (const [from, to] of [
      ['june', 'juno'],
      ['juno', 'june'],
      ['june', 'juno'],
    ]) {
      expect([await statusOf('june'), await statusOf('juno')]).toContain(200)
      await renameUser(store(), from, to)
      expect(await statusOf(to)).toBe(200)
      expect(await statusOf(from)).toBe(200)
    }
  })

  it('deleted users leave nothing behind, and their ids are never reused', async () => {
    await made('emil')
    const { fid } = await test().grid('emil', 'gone', { a: [1] }, { world_readable: true })
    await test().ask('emil', 'POST', '/v2/teams', { json: { name: 'crew' } })
    const grid = await test().grid('alice', 'shared', { a: [1] })
    await test().ask('alice', 'POST', `/v2/files/${grid.fid}/collaborators`, { json: { users: ['emil'] } })
    await deleteUser(store(), 'emil')
    expect(await statusOf('emil')).toBe(401)
    expect(await test().status(undefined, 'GET', `/v2/grids/${fid}`)).toBe(404)
    expect((await test().ask('alice', 'GET', `/v2/files/${grid.fid}/collaborators`)).json).toEqual([])
    // A server with a stale cache creates no key or session, which the next user of the name would own.
    await made('nina')
    expect(await test().status('nina', 'GET', '/v2/users/current')).toBe(200)
    await store().write(['nina'], ({ accounts }) => accounts.removeUser('nina'))
    for (const [method, path, json] of [
      ['POST', '/v2/keys', { name: 'late' }],
      ['POST', '/v2/sessions', { path: '/' }],
      ['POST', '/v2/teams', { name: 'late' }],
    ] as const)
      expect([path, await test().status('nina', method, path, { json })]).toEqual([path, 401])
    expect(await store().read(({ credentials }) => credentials.listApiKeys('nina'))).toEqual([])
    // A running request creates nothing.
    await expect(
      store().write([], ({ files }) =>
        files.add({ owner: 'emil', filetype: 'grid', filename: 'late', parent: -1 }),
      ),
    ).rejects.toThrow(/no user named emil/)
    test().keys.set('emil', (await createUser(store(), 'emil')).api_key)
    const again = await test().grid('emil', 'new', { a: [2] })
    expect(Number(again.fid.split(':')[1])).toBeGreaterThan(Number(fid.split(':')[1]))
    expect(await test().status('emil', 'GET', `/v2/grids/${grid.fid}`)).toBe(404)
  })

  it('the only administrator cannot be deleted', async () => {
    await createUser(store(), 'boss', { admin: true })
    await expect(deleteUser(store(), 'boss')).rejects.toThrow(/only administrator/)
  })

  it('a request that arrives while its key is revoked, or its user disabled, changes nothing', async () => {
    await made('slow')
    let late = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => Date.now() + late)
    const send = async (
      path: string,
      type: string,
      parts: [string, string],
      between: () => Promise<unknown>,
    ) => {
      const key = await test().key('slow', {})
      const pulls = [
        async () => parts[0],
        async () => {
          await between()
          late += 5000
          return parts[1]
        },
      ]
      const pull = async (controller: ReadableStreamDefaultController): Promise<void> => {
        const next = pulls.shift()
        if (next) controller.enqueue(Buffer.from(await next()))
        else controller.close()
      }
      const answer = await test().ask('slow', 'POST', path, {
        body: new ReadableStream({ pull }, { highWaterMark: 0 }),
        headers: { authorization: `Bearer ${key}`, 'content-type': type, 'x-file-name': 'late.csv' },
      })
      return `${path} ${answer.status}`
    }
    const requests: [string, string, [string, string]][] = [
      ['/v2/keys', 'application/json', [' '.repeat(70_000), '{"name":"persists"}']],
      ['/v2/sessions', 'application/json', [' '.repeat(70_000), '{}']],
      ['/v2/grids/upload', 'text/csv', [`a,b\n${'1,2\n'.repeat(20_000)}`, '3,4\n']],
    ]
    for (const [path, type, parts] of requests) {
      expect(await send(path, type, parts, async () => {})).toBe(`${path} 201`)
      expect(await send(path, type, parts, () => revokeKeys(store(), 'slow', 'all'))).toBe(`${path} 401`)
      expect(await send(path, type, parts, () => setDisabled(store(), 'slow', true))).toBe(`${path} 401`)
      await setDisabled(store(), 'slow', false)
    }
    clock.mockRestore()
    expect((await listUsers(store())).find(({ username }) => username === 'slow')).toMatchObject({ files: 1 })
    expect((await listKeys(store(), 'slow')).filter(({ name }) => name === 'persists')).toEqual([])
  })

  it('revoking all keys of a user ends their sessions', async () => {
    await made('fred')
    const [key] = await listKeys(store(), 'fred')
    await expect(revokeKeys(store(), 'fred', ['000000000000'])).rejects.toThrow(/has no API key/)
    expect((await revokeKeys(store(), 'FRED', [key.id])).map(({ id }) => id)).toEqual([key.id])
    expect(await statusOf('fred')).toBe(401)
    expect(await listKeys(store(), 'fred')).toEqual([])
  })
})
