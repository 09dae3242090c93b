// Identity tokens of CI systems, exchanged for API keys.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { matchesWildcard } from '../../../src/contract/wildcard.ts'
import { addTrust, removeTrust } from '../../../src/service/admin.ts'
import { startIssuer } from '../../support/fake-oidc-issuer.ts'
import { onSqliteFirst, URL_OF_TESTS } from '../../support/service.ts'

let issuer: Awaited<ReturnType<typeof startIssuer>>
beforeAll(async () => {
  issuer = await startIssuer()
})
afterAll(() => issuer.stop())

const main = { sub: 'repo:o/r:ref:main', aud: URL_OF_TESTS }

it('a subject pattern matches its parts in order, from start to end', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', ':', '.', '(', '\n'), maxLength: 5 })
  fc.assert(
    fc.property(
      fc.array(text, { minLength: 1, maxLength: 4 }),
      fc.array(text, { maxLength: 3 }),
      (parts, between) => {
        const subject = parts.map((part, k) => (k === 0 ? part : (between[k - 1] ?? '') + part)).join('')
        expect(matchesWildcard(parts.join('*'), subject)).toBe(true)
        expect(matchesWildcard(parts.join('*'), `${subject}#`)).toBe(parts.length > 1 && parts.at(-1) === '')
      },
    ),
  )
})

onSqliteFirst('identity tokens', (test) => {
  const trust = (subject: string, username = 'alice', scopes?: string) =>
    addTrust(test().service.store, { issuer: issuer.url, subject, username, scopes })
  const exchange = (token: string) => test().ask(undefined, 'POST', '/v2/oidc/exchange', { json: { token } })

  it('a token of a trusted subject gives a key valid for an hour, with the scopes of the trust', async () => {
    const { id } = await trust('repo:o/r:*', 'alice', 'read')
    const { status, json } = await exchange(await issuer.token(main))
    expect([status, json.username, json.scopes]).toEqual([201, 'alice', ['read']])
    expect(Date.parse(json.expires_at) - Date.now()).toBeLessThan(3_601_000)
    const headers = { authorization: `Bearer ${json.api_key}` }
    expect((await test().ask(undefined, 'GET', '/v2/users/current', { headers })).json.username).toBe('alice')
    expect(await test().status(undefined, 'POST', '/v2/folders', { headers, json: { path: 'x' } })).toBe(403)
    await removeTrust(test().service.store, id)
    expect((await exchange(await issuer.token(main))).status).toBe(401)
  })

  it.each([
    ['another audience', () => issuer.token({ ...main, aud: 'https://other.test' }), /audience/],
    [
      'another subject',
      () => issuer.token({ ...main, sub: 'repo:o/other:ref:main' }),
      /subject .* is not trusted/,
    ],
    ['no subject', () => issuer.token({ aud: URL_OF_TESTS }), /not valid/],
    ['another key', () => issuer.token(main, { key: issuer.otherKey }), /not valid/],
    ['an expired token', () => issuer.token(main, { issued: -3000, lifetime: 60 }), /expired/],
    ['an old token', () => issuer.token(main, { issued: -7200, lifetime: 90_000 }), /expired|not valid/],
    ['another issuer', () => issuer.token({ ...main, iss: 'https://evil.test' }), /issuer .* is not trusted/],
    [
      'no signature',
      async () =>
        `${Buffer.from('{"alg":"none"}').toString('base64url')}.${(await issuer.token(main)).split('.')[1]}.`,
      /not valid/,
    ],
    ['no token', async () => 'x', /not an identity token/],
    ['a huge token', async () => 'x'.repeat(100_000), /not an identity token/],
  ])('a token with %s is refused', async (_, token, why) => {
    const { id } = await trust('repo:o/r:ref:main')
    const { status, json } = await exchange(await token())
    expect([status, json.detail]).toEqual([401, expect.stringMatching(why)])
    await removeTrust(test().service.store, id)
  })

  it('a token gives at most ten keys, and none if its claims are not strings', async () => {
    const { id } = await trust('repo:o/r:*')
    const token = await issuer.token(main)
    for (let k = 0; k < 10; k++) expect((await exchange(token)).status).toBe(201)
    expect((await exchange(token)).json.detail).toMatch(/used 10 times before/)
    for (const claims of [{ sub: 7 }, { sub: ['repo:o/r:x'] }, { iss: { a: 1 } }])
      expect((await exchange(await issuer.token({ ...main, ...claims } as never))).status).toBe(401)
    await removeTrust(test().service.store, id)
  })

  it('an issuer that does not answer is 503, and is not queried again at once', async () => {
    const down = await startIssuer()
    down.setDown(true)
    await addTrust(test().service.store, { issuer: down.url, subject: 'repo:o/*', username: 'alice' })
    const { status } = await exchange(await down.token(main))
    expect(status).toBe(503)
    await down.stop()
  })

  it('an issuer that never stops sending is aborted, also while it sends its keys', async () => {
    for (const path of ['/.well-known/openid-configuration', '/jwks']) {
      const endless = await startIssuer()
      endless.setEndless(path)
      await addTrust(test().service.store, { issuer: endless.url, subject: 'repo:o/*', username: 'alice' })
      const before = process.memoryUsage().rss
      expect((await exchange(await endless.token(main))).status).toBe(503)
      expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024)
      await endless.stop()
    }
  })

  it('another encoding of a token counts as the same token', async () => {
    await trust('repo:o/r:*')
    const token = await issuer.token(main)
    const spellings = [token, ` ${token}`, `${token} `, `${token}\n`]
    const statuses: number[] = []
    for (let k = 0; k < 16; k++) statuses.push((await exchange(spellings[k % 4])).status)
    expect(statuses.filter((status) => status === 201).length).toBeLessThanOrEqual(10)
  })

  it('removing a trust revokes its keys', async () => {
    const { id } = await trust('repo:gone/r:*')
    const { json } = await exchange(await issuer.token({ ...main, sub: 'repo:gone/r:ref:x' }))
    const headers = { authorization: `Bearer ${json.api_key}` }
    expect(await test().status(undefined, 'GET', '/v2/users/current', { headers })).toBe(200)
    await removeTrust(test().service.store, id)
    await test().ask('alice', 'DELETE', '/v2/sessions')
    expect(await test().status(undefined, 'GET', '/v2/users/current', { headers })).toBe(401)
  })

  it('a trust requires an https issuer, a subject, and an existing user and scopes', async () => {
    const store = test().service.store
    const wrong = { issuer: 'https://ci.test', subject: 'repo:o/r', username: 'alice' }
    await expect(addTrust(store, { ...wrong, issuer: 'http://ci.test' })).rejects.toThrow(/not the URL/)
    for (const subject of ['*', 'repo:*', 'repo:o*', '*:ref:refs/heads/main'])
      await expect(addTrust(store, { ...wrong, subject })).rejects.toThrow(/tokens of others/)
    await expect(addTrust(store, { ...wrong, username: 'nobody' })).rejects.toThrow(/no user/)
    await expect(addTrust(store, { ...wrong, scopes: 'root' })).rejects.toThrow(/unknown scope/)
  })
})
