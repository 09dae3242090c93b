// Login of the command line through the browser.
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { onSqliteFirst } from '../../support/service.ts'

const verifier = 'v'.repeat(43)
const challenge = createHash('sha256').update(verifier).digest('base64url')
const asked = { port: '4242', challenge, state: 's'.repeat(22), name: 'laptop <b>' }

onSqliteFirst('login in the browser', (test) => {
  const allow = async (fields: Record<string, string> = asked, headers: Record<string, string> = {}) =>
    test().ask('alice', 'POST', '/authorize', {
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    })
  const codeOf = (refresh: string | null): string =>
    new URL(refresh!.split('url=')[1]).searchParams.get('code')!
  const redeem = (code: string, secret = verifier) =>
    test().ask(undefined, 'POST', '/v2/logins', { json: { code, verifier: secret, name: 'laptop' } })

  it('authorization requires signing in; the page shows the machine name as text', async () => {
    const query = new URLSearchParams(asked).toString()
    const anonymous = await test().ask(undefined, 'GET', `/authorize?${query}`)
    expect([anonymous.status, anonymous.headers.get('location')]).toEqual([
      303,
      `/signin?next=${encodeURIComponent(`/authorize?${query}`)}`,
    ])
    const { status, text, headers } = await test().ask('alice', 'GET', `/authorize?${query}`)
    expect([status, text.includes('laptop &lt;b&gt;'), text.includes('laptop <b>')]).toEqual([
      200,
      true,
      false,
    ])
    expect(headers.get('content-security-policy')).toMatch(/frame-ancestors 'none'/)
  })

  it('an authorization code works once, only with its secret, and gives a key of the user', async () => {
    const allowed = await allow()
    const code = codeOf(allowed.headers.get('refresh'))
    expect((await redeem(code, 'w'.repeat(43))).status).toBe(401)
    const { status, json } = await redeem(code)
    expect([status, json.username, json.scopes]).toEqual([201, 'alice', ['read', 'write']])
    const headers = { authorization: `Bearer ${json.api_key}` }
    expect((await test().ask(undefined, 'GET', '/v2/users/current', { headers })).json.username).toBe('alice')
    expect((await redeem(code)).status).toBe(401)
  })

  it('two concurrent uses of a code give one key', async () => {
    const code = codeOf((await allow()).headers.get('refresh'))
    const results = await Promise.all(Array.from({ length: 5 }, () => redeem(code)))
    expect(results.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401, 401])
  })

  it('a code makes a key: it requires write scope, and gives no more than the caller has', async () => {
    const bearer = async (scopes: string) => ({
      authorization: `Bearer ${await test().key('alice', { scopes })}`,
    })
    const { headers } = await allow(asked, await bearer('write'))
    expect((await redeem(codeOf(headers.get('refresh')))).json.scopes).toEqual(['write'])
    const reader = await bearer('read')
    expect((await allow(asked, reader)).status).toBe(403)
    const query = new URLSearchParams(asked).toString()
    expect((await test().ask(undefined, 'GET', `/authorize?${query}`, { headers: reader })).status).toBe(403)
  })

  it.each([
    ['another port', { port: '80' }],
    ['a port that is a host', { port: '4242@evil.test' }],
    ['no challenge', { challenge: '' }],
    ['a state with other characters', { state: 'x&y=z'.repeat(5) }],
  ])('authorization with %s is refused', async (_, wrong) => {
    expect((await allow({ ...asked, ...wrong })).status).toBe(400)
  })

  it('only the own page of a signed-in user can authorize', async () => {
    expect((await allow(asked, { origin: 'https://evil.test' })).status).toBe(403)
    const body = new URLSearchParams(asked).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect(await test().status(undefined, 'POST', '/authorize', { body, headers })).toBe(401)
  })

  it('an authorization code cannot sign a browser in, and a sign-in code gives no key', async () => {
    const code = codeOf((await allow()).headers.get('refresh'))
    expect(await test().status(undefined, 'GET', `/signin?code=${encodeURIComponent(code)}`)).toBe(403)
    const { json } = await test().ask('alice', 'POST', '/v2/sessions', { json: { path: '/' } })
    const other = new URL(json.path, 'http://x').searchParams.get('code')!
    expect((await redeem(other)).status).toBe(401)
  })
})
