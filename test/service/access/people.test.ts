// Sign-in with an identity provider (OpenID Connect).
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { OidcSignIn } from '../../../src/service/accounts/oidc-users.ts'
import { createUser, deleteUser, renameUser, setDisabled, unlinkUser } from '../../../src/service/admin.ts'
import { createService } from '../../../src/service/index.ts'
import { startIssuer } from '../../support/fake-oidc-issuer.ts'
import { newDatabase } from '../../support/postgres.ts'
import { TestService, temporaryFolder, URL_OF_TESTS } from '../../support/service.ts'

describe.each(['sqlite', 'postgres'])('people sign in with an identity provider [%s]', (engine) => {
  const folder = temporaryFolder()
  let issuer: Awaited<ReturnType<typeof startIssuer>>
  let test: TestService
  beforeAll(async () => {
    issuer = await startIssuer()
    const service = await createService({
      database: engine === 'sqlite' ? `sqlite:${folder.path}/test.db` : await newDatabase(inject('postgres')),
      url: URL_OF_TESTS,
      environment: {},
      provider: {
        issuer: issuer.url,
        clientId: 'gridline',
        clientSecret: 'the secret',
        domains: ['example.com'],
        teams: [
          { group: 'eng', owner: 'alice', team: 'engineers' },
          { group: 'ops', owner: 'alice', team: 'operators' },
          { group: 'leads', owner: 'Lead', team: 'leads' },
        ],
      },
    })
    test = new TestService(service)
    await test.user('alice')
  })
  afterAll(async () => {
    await test.service.close()
    await issuer.stop()
    folder.remove()
  })

  const cookieIn = (headers: Headers, name: string): string | undefined =>
    headers
      .getSetCookie()
      .map((cookie) => cookie.split(';')[0])
      .find((cookie) => cookie.startsWith(`${name}=`))
  const leave = async (next = '/~alice') => {
    const { status, headers } = await test.ask(
      undefined,
      'GET',
      `/signin/oidc?next=${encodeURIComponent(next)}`,
    )
    expect(status).toBe(303)
    return { to: headers.get('location')!, cookie: cookieIn(headers, 'gridline_leaving')! }
  }
  /** Signs an identity in; returns the final URL of the browser and its session. */
  const signIn = async (claims: object, cookie?: string) => {
    const left = await leave()
    const back = new URL(issuer.approve(left.to, claims as never))
    const { status, headers, text } = await test.ask(undefined, 'GET', back.pathname + back.search, {
      headers: { cookie: cookie ?? left.cookie },
    })
    return {
      status,
      text,
      location: headers.get('location'),
      session: cookieIn(headers, 'gridline_session'),
      cookies: headers.getSetCookie(),
      back,
      left: left.cookie,
    }
  }
  const me = async (session: string | undefined) =>
    (await test.ask(undefined, 'GET', '/v2/users/current', { headers: { cookie: session! } })).json
  const person = (sub: string, more: object = {}) => ({
    sub,
    email: `${sub}@example.com`,
    email_verified: true,
    ...more,
  })
  const teams = async () =>
    Object.fromEntries(
      (await test.ask('alice', 'GET', '/v2/teams')).json.teams.map(
        ({ name, members }: { name: string; members: string[] }) => [name, members],
      ),
    )

  it('the sign-in page leads to the provider, with PKCE, a state and a nonce', async () => {
    const { text } = await test.ask(undefined, 'GET', '/signin?next=/~alice')
    expect(text).toContain(`Sign in with ${new URL(issuer.url).host}`)
    const asked = new URL((await leave()).to)
    expect(asked.origin + asked.pathname).toBe(`${issuer.url}/authorize`)
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      client_id: 'gridline',
      response_type: 'code',
      redirect_uri: `${URL_OF_TESTS}/signin/oidc/return`,
      code_challenge_method: 'S256',
      state: expect.stringMatching(/.{20}/),
      nonce: expect.stringMatching(/.{20}/),
    })
  })

  it('the first sign-in creates a user, and later sign-ins use it', async () => {
    const first = await signIn(person('carol', { preferred_username: 'Carol C.' }))
    expect([first.status, first.location]).toEqual([303, '/~alice'])
    expect(await me(first.session)).toMatchObject({
      username: 'CarolC',
      email: 'carol@example.com',
      is_admin: false,
    })
    const again = await signIn(person('carol', { preferred_username: 'renamed' }))
    expect((await me(again.session)).username).toBe('CarolC')
  })

  it('nobody who signs in gets the name of the owner of a team', async () => {
    const { session } = await signIn(person('somebody', { preferred_username: 'lead', groups: ['leads'] }))
    expect((await me(session)).username).toBe('lead-2')
  })

  it('each identity has one user, however names and addresses are spelled', async () => {
    const kate = await signIn(person('kate'))
    // U+212A, which becomes k in lower case.
    const other = await signIn(person('kelvin', { email: '\u212Aate@example.com' }))
    const users = [await me(kate.session), await me(other.session)].map(({ username }) => username)
    expect(new Set(users).size).toBe(2)
    // The other one first: an address that is shared with, and signs in later, is not theirs.
    const file = await test.grid('alice', 'shared with ken', { a: [1] })
    const share = { users: ['ken@example.com'], readonly: true, send_email: false }
    expect(await test.status('alice', 'POST', `/v2/files/${file.fid}/collaborators`, { json: share })).toBe(
      200,
    )
    const early = await signIn(person('early', { email: '\u212Aen@example.com' }))
    const ken = await signIn(person('ken'))
    const read = ({ session }: { session?: string }) =>
      test.status(undefined, 'GET', `/v2/grids/${file.fid}/content`, { headers: { cookie: session! } })
    expect([await read(early), await read(ken)]).toEqual([404, 200])
    expect((await me(ken.session)).username).not.toBe((await me(early.session)).username)
    for (const sub of ['a\0b', 'a\nb', 'x'.repeat(300)])
      expect((await signIn(person(sub, { email: 'odd@example.com' }))).status).toBe(401)
    // An invalid address has no domain, whatever it ends with.
    for (const email of [
      'example.com',
      'a@evil.org@example.com',
      'a\0@example.com',
      'a@example.com.evil.org',
    ])
      expect((await signIn(person('odd', { email }))).status).toBe(403)
  })

  it('the return URL may have any characters', async () => {
    const key = test.keys.get('alice')!
    const form = new URLSearchParams({ username: 'alice', api_key: key, next: '/?q=日本' })
    const { status, headers } = await test.ask(undefined, 'POST', '/signin', {
      body: String(form),
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: URL_OF_TESTS },
    })
    expect([status, headers.get('location')]).toEqual([303, '/?q=%E6%97%A5%E6%9C%AC'])
  })

  it('sign-in never assigns the former name of a deleted user', async () => {
    const { store } = test.service
    await createUser(store, 'dd')
    await renameUser(store, 'dd', 'dd2')
    await deleteUser(store, 'dd2')
    const { session } = await signIn(person('newcomer', { preferred_username: 'dd' }))
    expect((await me(session)).username).toBe('dd-2')
  })

  it('an e-mail address is verified only by the response that contains it', async () => {
    await createUser(test.service.store, 'victim', { email: 'victim@example.com' })
    issuer.setUserinfo({ email: 'mallory@example.com', email_verified: true })
    const claims = { sub: 'mallory', email: 'victim@example.com', groups: undefined }
    expect((await signIn(claims)).status).toBe(403)
    issuer.setUserinfo(undefined)
  })

  it('tokens signed by another key, or from the future, are refused', async () => {
    issuer.setSigning({ key: issuer.otherKey })
    expect((await signIn(person('forged'))).status).toBe(401)
    issuer.setSigning({ issued: 3600 })
    expect((await signIn(person('early'))).status).toBe(401)
    issuer.setSigning({})
    const { status, cookies } = await signIn(person('fine'))
    expect(status).toBe(303)
    expect(cookies.find((cookie) => cookie.startsWith('gridline_leaving='))).toContain('Max-Age=0')
  })

  it('sign-in never assigns a taken name', async () => {
    const { session } = await signIn(person('other', { preferred_username: 'alice' }))
    expect((await me(session)).username).toBe('alice-2')
  })

  it('sign-in uses the existing user only if the e-mail address is verified', async () => {
    await createUser(test.service.store, 'dave', { email: 'dave@example.com' })
    const { session } = await signIn(person('d', { email: 'dave@example.com' }))
    expect((await me(session)).username).toBe('dave')
    const unproven = await signIn(person('d2', { email: 'alice@example.com', email_verified: false }))
    expect([unproven.status, unproven.session]).toEqual([403, undefined])
  })

  it('an address that is given to another person lets them in as nobody else', async () => {
    const first = await signIn(person('s1', { email: 'reused@example.com' }))
    const { username } = await me(first.session)
    const other = await signIn(person('s2', { email: 'reused@example.com' }))
    expect([other.status, other.session]).toEqual([403, undefined])
    expect(other.text).toContain(`belongs to ${username}`)
    // The first one's new address: then the former one is free.
    const renamed = await signIn(person('s1', { email: 'reused2@example.com' }))
    expect(await me(renamed.session)).toMatchObject({ username, email: 'reused2@example.com' })
    const newcomer = await me((await signIn(person('s2', { email: 'reused@example.com' }))).session)
    expect(newcomer).toMatchObject({ username: 'reused-2', email: 'reused@example.com' })
    // Two who swap their addresses have them after another sign-in of the first.
    await signIn(person('s1', { email: 'reused@example.com' }))
    expect((await me(renamed.session)).email).toBeNull()
    const swapped = await signIn(person('s2', { email: 'reused2@example.com' }))
    await signIn(person('s1', { email: 'reused@example.com' }))
    expect([(await me(renamed.session)).email, (await me(swapped.session)).email]).toEqual([
      'reused@example.com',
      'reused2@example.com',
    ])
    // The provider gives a new subject to the same person.
    await unlinkUser(test.service.store, username)
    const again = await signIn(person('s3', { email: 'reused@example.com' }))
    expect((await me(again.session)).username).toBe(username)
  })

  it('a person who is given the address of somebody who has left is a new user', async () => {
    const { username } = await me((await signIn(person('old', { email: 'left@example.com' }))).session)
    await setDisabled(test.service.store, username, true)
    const newcomer = await signIn(person('new', { email: 'left@example.com' }))
    expect(await me(newcomer.session)).toMatchObject({ username: `${username}-2`, email: 'left@example.com' })
    expect((await signIn(person('old', { email: 'left@example.com' }))).status).toBe(403)
    const [, leaver] = await test.service.store.read(async ({ accounts }) => [
      await accounts.getUser(`${username}-2`),
      await accounts.getUser(username),
    ])
    expect(leaver!.email).toBeNull()
  })

  it('identities of other domains are refused, and get no user', async () => {
    const { status, text } = await signIn(person('eve', { email: 'eve@elsewhere.com' }))
    expect(status).toBe(403)
    expect(text).toContain('eve@elsewhere.com is not an address of')
    expect(await test.status('alice', 'GET', '/v2/users/eve')).toBe(404)
  })

  it('team membership follows the groups of each sign-in', async () => {
    const { session } = await signIn(person('grace', { groups: ['eng', 'ops', 'other'] }))
    const { username } = await me(session)
    expect(await teams()).toEqual({ engineers: [username], operators: [username] })
    await signIn(person('grace', { groups: ['ops'] }))
    expect(await teams()).toEqual({ engineers: [], operators: [username] })
    // Renames the owner of the teams, but not in the server's setting.
    await renameUser(test.service.store, 'alice', 'alicia')
    await signIn(person('grace', { groups: ['eng'] }))
    await renameUser(test.service.store, 'alicia', 'alice')
    expect(await teams()).toEqual({ engineers: [username], operators: [] })
    await signIn(person('grace', { groups: ['ops'] }))
  })

  it('a sign-in callback works once, in the browser that started it', async () => {
    const used = await signIn(person('heidi'))
    expect(used.status).toBe(303)
    const path = used.back.pathname + used.back.search
    expect(await test.status(undefined, 'GET', path)).toBe(401)
    const repeated = await test.ask(undefined, 'GET', path, { headers: { cookie: used.left } })
    expect([repeated.status, repeated.text]).toEqual([401, expect.stringContaining('was used before')])
    const left = await leave()
    expect(await test.status(undefined, 'GET', path, { headers: { cookie: left.cookie } })).toBe(401)
    expect((await signIn(person('mallory'), (await leave()).cookie)).status).toBe(401)
  })

  it('a disabled user is refused', async () => {
    const { session } = await signIn(person('ivan'))
    const { username } = await me(session)
    await setDisabled(test.service.store, username, true)
    expect((await signIn(person('ivan'))).status).toBe(403)
  })

  it('two servers create one user at the concurrent first sign-in of an identity', async () => {
    const results = await Promise.all(Array.from({ length: 4 }, () => signIn(person('judy'))))
    const names = await Promise.all(results.map(async ({ session }) => (await me(session)).username))
    expect(new Set(names)).toEqual(new Set(['judy']))
  })

  it.each(['cut', 'html'] as const)(
    'an identity provider whose response is broken is 503: %s',
    async (how) => {
      issuer.setBroken({ path: '/token', how })
      const { status, text } = await signIn(person('late'))
      issuer.setBroken(undefined)
      expect([status, text]).toEqual([503, expect.stringContaining('does not answer')])
      expect((await signIn(person('late'))).status).toBe(303)
    },
  )

  it('an identity provider that does not answer is 503', async () => {
    const people = new OidcSignIn({ issuer: 'http://127.0.0.1:9', clientId: 'x' }, URL_OF_TESTS)
    await expect(people.begin('/')).rejects.toMatchObject({ code: 'overloaded' })
  })
})
