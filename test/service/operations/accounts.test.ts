// Teams, API keys, monitoring endpoints.
import { describe, expect, it } from 'vitest'
import type { LogLine } from '../../../src/service/http/http-context.ts'
import { createService } from '../../../src/service/index.ts'
import { onBothStores, TestService, temporaryFolder, URL_OF_TESTS } from '../../support/service.ts'

onBothStores('accounts', (test) => {
  const ask = (user: string | undefined, method: string, path: string, json?: unknown) =>
    test().ask(user, method, path, { json })
  const withKey = (name: string, key: string, method: string, path: string, json?: unknown) =>
    test().ask(undefined, method, path, {
      json,
      headers: { authorization: `Basic ${Buffer.from(`${name}:${key}`).toString('base64')}` },
    })

  describe('teams', () => {
    it('only the owner can change a team; members see it and may leave; others see nothing', async () => {
      await test().user('carol')
      expect((await ask('alice', 'POST', '/v2/teams', { name: 'Crew', members: ['bob'] })).json).toEqual({
        name: 'Crew',
        owner: 'alice',
        members: ['bob'],
      })
      expect((await ask('alice', 'POST', '/v2/teams', { name: 'crew' })).status).toBe(409)
      const asked = async (user: string | undefined) => [
        (await ask(user, 'GET', '/v2/teams/Crew')).status,
        (await ask(user, 'POST', '/v2/teams/Crew/members', { users: ['carol'] })).status,
        (await ask(user, 'DELETE', '/v2/teams/Crew')).status,
      ]
      expect(await asked(undefined)).toEqual([401, 401, 401])
      expect(await asked('carol')).toEqual([404, 404, 404])
      expect(await asked('bob')).toEqual([200, 403, 403])
      expect((await ask('carol', 'DELETE', '/v2/teams/Crew/members', { users: ['bob'] })).status).toBe(404)
      expect((await ask('bob', 'DELETE', '/v2/teams/Crew/members', { users: ['alice'] })).status).toBe(403)
    })

    it('members have access to files shared with the team while they are members', async () => {
      const { fid } = await test().grid('alice', 'for the crew', { a: [1] })
      await ask('alice', 'POST', `/v2/files/${fid}/collaborators`, { teams: ['CREW'], readonly: false })
      const seen = async () => (await ask('bob', 'GET', `/v2/files/${fid}`)).json.current_user_permission
      expect(await seen()).toBe('write')
      const listed = (await ask('bob', 'GET', '/v2/folders/shared')).json.children.results
      expect(listed.map((file: { fid: string }) => file.fid)).toContain(fid)
      expect((await ask('bob', 'DELETE', '/v2/teams/Crew/members', { users: ['bob'] })).status).toBe(200)
      expect((await ask('bob', 'GET', `/v2/files/${fid}`)).status).toBe(404)
      await ask('alice', 'POST', '/v2/teams/Crew/members', { users: ['BOB'] })
      expect(await seen()).toBe('write')
      expect((await ask('alice', 'DELETE', '/v2/teams/Crew')).status).toBe(204)
      expect((await ask('bob', 'GET', `/v2/files/${fid}`)).status).toBe(404)
      expect((await ask('alice', 'GET', `/v2/files/${fid}/collaborators`)).json).toEqual([])
    })

    it('names are unique per owner, so that teams of others are not revealed', async () => {
      await ask('alice', 'POST', '/v2/teams', { name: 'Twice', members: ['bob'] })
      const own = await ask('bob', 'POST', '/v2/teams', { name: 'twice', members: ['carol'] })
      expect([own.status, own.json.owner]).toEqual([201, 'bob'])
      // A bare name means the caller's own team; others need owner:name.
      expect((await ask('bob', 'GET', '/v2/teams/twice')).json.owner).toBe('bob')
      expect((await ask('bob', 'GET', '/v2/teams/alice:twice')).json.owner).toBe('alice')
      await ask('alice', 'POST', '/v2/teams/Twice/members', { users: ['carol'] })
      const both = await ask('carol', 'GET', '/v2/teams/twice')
      expect([both.status, both.json.errors[0].hint]).toEqual([409, expect.stringContaining('alice:Twice')])
    })

    it('of two teams with one name, that of an owner is removed', async () => {
      const { fid } = await test().grid('carol', 'for both teams', { a: [1] })
      const path = `/v2/files/${fid}/collaborators`
      for (const owner of ['alice', 'bob']) {
        await ask(owner, 'POST', '/v2/teams', { name: 'Pair', members: ['carol', 'alice'] })
        expect((await ask('carol', 'POST', path, { teams: [`${owner}:pair`] })).status).toBe(200)
      }
      const ownersFor = async (user: string) =>
        (await ask(user, 'GET', path)).json.map(({ owner }: { owner?: string }) => owner).sort()
      expect([await ownersFor('carol'), await ownersFor('alice')]).toEqual([
        ['alice', 'bob'],
        [undefined, undefined],
      ])
      await ask('carol', 'DELETE', path, { teams: ['Bob:pair'] })
      expect(await ownersFor('carol')).toEqual(['alice'])
    })

    it('sharing with a team of strangers is answered like sharing with a missing team', async () => {
      await ask('carol', 'POST', '/v2/teams', { name: 'secret-club' })
      const { fid } = await test().grid('alice', 'no club', { a: [1] })
      const share = (team: string) =>
        ask('alice', 'POST', `/v2/files/${fid}/collaborators`, { teams: [team] })
      const [there, nowhere] = [await share('secret-club'), await share('no-such-club')]
      expect([there.status, nowhere.status]).toEqual([400, 400])
      expect(there.text.replaceAll('secret-club', '')).toBe(nowhere.text.replaceAll('no-such-club', ''))
    })
  })

  describe('API keys', () => {
    it('API keys are restricted to their scopes, and cannot create keys with more scopes', async () => {
      const make = async (scopes: string[]) =>
        (await ask('alice', 'POST', '/v2/keys', { scopes })).json.api_key as string
      const [reads, writes] = [await make(['read']), await make(['write'])]
      const { fid } = await test().grid('alice', 'scoped', { a: [1] })
      const can = async (key: string) => [
        (await withKey('alice', key, 'GET', `/v2/files/${fid}`)).status,
        (await withKey('alice', key, 'PATCH', `/v2/files/${fid}`, { filename: 'scoped' })).status,
      ]
      expect([await can(reads), await can(writes)]).toEqual([
        [200, 403],
        [403, 200],
      ])
      expect((await withKey('alice', writes, 'POST', '/v2/keys', { scopes: ['read'] })).status).toBe(403)
      const { json } = await withKey('alice', writes, 'POST', '/v2/keys', {})
      expect(json.scopes).toEqual(['write'])
      expect((await ask('alice', 'POST', '/v2/keys', { scopes: ['fly'] })).json.errors[0]).toMatchObject({
        field: 'scopes',
        message: 'scopes: must be an array of read, write, admin',
      })
    })

    it('API keys expire, and cannot create keys that expire later', async () => {
      const short = await test().key('alice', { scopes: 'read,write', expires: '30m' })
      const make = (expires?: string) => withKey('alice', short, 'POST', '/v2/keys', { expires })
      expect([(await make()).status, (await make('1h')).status, (await make('10m')).status]).toEqual([
        403, 403, 201,
      ])
    })

    it('API keys are invisible to other users, and invalid once revoked', async () => {
      const made = (await ask('alice', 'POST', '/v2/keys', { name: 'ci' })).json
      expect((await withKey('alice', made.api_key, 'GET', '/v2/users/current')).json.username).toBe('alice')
      expect((await withKey('bob', made.api_key, 'GET', '/v2/users/current')).status).toBe(401)
      expect((await ask('bob', 'DELETE', `/v2/keys/${made.id}`)).status).toBe(404)
      expect((await ask('alice', 'DELETE', `/v2/keys/${made.id}`)).status).toBe(204)
      expect((await withKey('alice', made.api_key, 'GET', '/v2/users/current')).status).toBe(401)
      expect((await ask('alice', 'GET', '/v2/keys')).text).not.toContain(made.api_key)
    })
  })

  it('the summary of a user has no private fields for others', async () => {
    const { json } = await ask('bob', 'GET', '/v2/users/alice')
    expect(json).toMatchObject({ username: 'alice', email: null, is_active: null, csrf_token: null })
    expect(json.date_joined).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    expect((await ask('bob', 'GET', '/v2/users/nobody-here')).status).toBe(404)
  })
})

describe('monitoring', () => {
  const started = async (environment: Record<string, string>) => {
    const folder = temporaryFolder()
    const lines: LogLine[] = []
    const running = new TestService(
      await createService({
        database: `sqlite:${folder.path}/test.db`,
        url: URL_OF_TESTS,
        environment,
        log: (line) => lines.push(line),
      }),
    )
    await running.user('alice')
    const stop = async (): Promise<void> => {
      await running.service.close()
      folder.remove()
    }
    return { running, lines, stop }
  }

  it('requests are rate-limited by user and by IP address, except health checks', async () => {
    const { running, stop } = await started({ GRIDLINE_LIMIT_REQUESTS_PER_MINUTE: '5' })
    const times = async (user: string | undefined, path: string, headers?: Record<string, string>) => {
      const answers = []
      for (let k = 0; k < 7; k++) answers.push(await running.ask(user, 'GET', path, { headers }))
      return answers
    }
    const own = await times('alice', '/v2/users/current')
    expect(own.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429])
    expect(Number(own[6].headers.get('retry-after'))).toBeGreaterThan(0)
    expect(own[6].json.errors[0].code).toBe('rate_limited')
    const wrong = await times(undefined, '/v2/users/current', { authorization: 'Basic YWxpY2U6bm8=' })
    expect(wrong.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429, 429])
    expect((await times(undefined, '/healthz')).every(({ status }) => status === 200)).toBe(true)
    await stop()
  })

  it('every response and its log line have the same request id; the log contains no secrets', async () => {
    const { running, lines, stop } = await started({})
    const { fid } = await running.grid(
      'alice',
      'logged',
      { a: ['cell-content'] },
      { share_key_enabled: true },
    )
    const { share_key } = (await running.ask('alice', 'GET', `/v2/files/${fid}`)).json
    const seen = await running.ask(undefined, 'GET', `/v2/files/${fid}?share_key=${share_key}`, {
      headers: { 'x-request-id': 'mine-1' },
    })
    expect([seen.status, seen.headers.get('x-request-id')]).toEqual([200, 'mine-1'])
    expect(lines.at(-1)).toMatchObject({ request_id: 'mine-1', operation: 'files.get', status: 200 })
    const odd = await running.ask(undefined, 'GET', '/v2/nowhere', { headers: { 'x-request-id': 'a b\tc' } })
    expect(odd.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    const made = (await running.ask('alice', 'POST', '/v2/keys', { json: {} })).json
    const text = JSON.stringify(lines)
    for (const secret of [share_key, running.keys.get('alice')!, made.api_key, 'cell-content'])
      expect(text).not.toContain(secret)
    await stop()
  })

  it('/metrics counts operations and statuses without user data', async () => {
    const { running, stop } = await started({})
    await running.grid('alice', 'counted', { a: [1] })
    await running.ask('alice', 'GET', '/v2/files/alice:999')
    const { status, text, headers } = await running.ask(undefined, 'GET', '/metrics')
    expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining('text/plain')])
    expect(text).toMatch(/operation="grids\.create",status="201"\} 1\n/)
    expect(text).toMatch(/operation="files\.get",status="404"\} 1\n/)
    expect(text).not.toMatch(/alice|counted/)
    const proxied = { headers: { 'x-forwarded-for': '192.0.2.1' } }
    expect((await running.ask(undefined, 'GET', '/metrics', proxied)).status).toBe(401)
    expect((await running.ask('alice', 'GET', '/metrics', proxied)).status).toBe(403)
    for (const name of ['x-real-ip', 'via', 'x-forwarded-host', 'cf-connecting-ip', 'true-client-ip'])
      expect((await running.ask(undefined, 'GET', '/metrics', { headers: { [name]: '1' } })).status).toBe(401)
    await stop()
  })
})
