// Sign-in in browsers: sessions, links, cookies.
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { onSqliteFirst } from '../../support/service.ts'

onSqliteFirst('signing in with a browser', (test) => {
  const form = (fields: Record<string, string>, headers: Record<string, string> = {}) => ({
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  })
  const key = (user: string): string => test().keys.get(user)!
  /** Returns the cookie of a response as a browser sends it back. */
  const cookieOf = (headers: Headers): { cookie: string } => ({
    cookie: (headers.get('set-cookie') ?? '').split(';')[0],
  })
  const signIn = async (user: string): Promise<{ cookie: string }> => {
    const { headers } = await test().ask(
      undefined,
      'POST',
      '/signin',
      form({ username: user, api_key: key(user) }),
    )
    return cookieOf(headers)
  }
  const status = (cookie: { cookie: string }, path: string): Promise<number> =>
    test().status(undefined, 'GET', path, { headers: cookie })
  const pageOf = async (user: string): Promise<string> => {
    const { web_url } = await test().grid(user, `page ${Math.random()}`, { a: [1] })
    return new URL(web_url).pathname
  }

  it('username and API key open a session in a cookie that scripts and other sites cannot use', async () => {
    const path = await pageOf('alice')
    const { status: found, headers } = await test().ask(
      undefined,
      'POST',
      '/signin',
      form({ username: 'alice', api_key: key('alice'), next: path }),
    )
    expect([found, headers.get('location')]).toEqual([303, path])
    expect(headers.get('set-cookie')).toMatch(
      /^gridline_session=alice\.[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/,
    )
    const cookie = cookieOf(headers)
    expect(await status(cookie, path)).toBe(200)
    expect(await status({ cookie: '' }, path)).toBe(404)
    const me = await test().ask(undefined, 'GET', '/v2/users/current', { headers: cookie })
    expect(me.json.username).toBe('alice')
    expect(await status(await signIn('bob'), path)).toBe(404)
  })

  it('wrong credentials are 401 with the form again; another site cannot sign anybody in', async () => {
    const wrong = await test().ask(undefined, 'POST', '/signin', form({ username: 'alice', api_key: 'no' }))
    expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([401, null])
    expect(wrong.text).toContain('Wrong username or API key')
    const right = { username: 'alice', api_key: key('alice') }
    const foreign = form(right, { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' })
    expect(await test().status(undefined, 'POST', '/signin', foreign)).toBe(403)
  })

  it('after signing in, the browser stays on this server', async () => {
    for (const next of [
      'https://evil.example/',
      '//evil.example',
      '/\\evil.example',
      'javascript:alert(1)',
      '/a\r\nx: y',
    ]) {
      const given = form({ username: 'alice', api_key: key('alice'), next })
      const { headers } = await test().ask(undefined, 'POST', '/signin', given)
      expect([next, headers.get('location')]).toEqual([next, '/'])
    }
    // Half a surrogate pair, which no URL can have.
    const half = { username: 'alice', api_key: key('alice'), next: '/\ud800' }
    const { status, headers } = await test().ask(undefined, 'POST', '/signin', { json: half })
    expect([status, headers.get('location')]).toEqual([303, '/'])
  })

  it('a change by a signed-in browser is refused if another site sends it', async () => {
    const cookie = await signIn('alice')
    const ask = (headers: Record<string, string>) =>
      test().status(undefined, 'POST', '/v2/folders', {
        json: { path: `f${Math.random()}` },
        headers: { ...cookie, ...headers },
      })
    expect(await ask({ 'sec-fetch-site': 'same-origin' })).toBe(201)
    expect(await ask({ 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await ask({ origin: 'null' })).toBe(403)
  })

  it('a session ends by signing out, with its API key, and for all browsers at once', async () => {
    const path = await pageOf('alice')
    const first = await signIn('alice')
    expect(await status(first, path)).toBe(200)
    await test().ask(undefined, 'POST', '/signout', { headers: first })
    expect(await status(first, path)).toBe(404)

    const api_key = await test().key('alice', {})
    const { headers } = await test().ask(undefined, 'POST', '/signin', form({ username: 'alice', api_key }))
    const { keys } = (await test().ask('alice', 'GET', '/v2/keys')).json
    const { id } = keys.at(-1)
    expect(await status(cookieOf(headers), path)).toBe(200)
    expect(await test().status('alice', 'DELETE', `/v2/keys/${id}`)).toBe(204)
    expect(await status(cookieOf(headers), path)).toBe(404)

    const second = await signIn('alice')
    expect(await test().status('alice', 'DELETE', '/v2/sessions')).toBe(204)
    expect(await status(second, path)).toBe(404)
  })

  it('a link signs a browser in once, with the rights of the key that created it', async () => {
    const path = await pageOf('alice')
    const made = await test().ask('alice', 'POST', '/v2/sessions', { json: { path } })
    expect(made.status).toBe(201)
    const opened = await test().ask(undefined, 'GET', made.json.path)
    expect([opened.status, opened.headers.get('location')]).toEqual([303, path])
    expect(await status(cookieOf(opened.headers), path)).toBe(200)
    const again = await test().ask(undefined, 'GET', made.json.path)
    expect([again.status, again.headers.get('set-cookie')]).toEqual([403, null])
    // A code does not work as a session, or a session as a code.
    const { json } = await test().ask('alice', 'POST', '/v2/sessions', { json: {} })
    const code = new URL(json.url).searchParams.get('code')!
    expect(await status({ cookie: `gridline_session=${code}` }, path)).toBe(404)
    const token = cookieOf(opened.headers).cookie.split('=')[1]
    expect(await test().status(undefined, 'GET', `/signin?code=${token}`)).toBe(403)
    expect(await test().status(undefined, 'POST', '/v2/sessions', { json: {} })).toBe(401)
  })

  it('a sign-in link on another site asks for confirmation', async () => {
    const { json } = await test().ask('bob', 'POST', '/v2/sessions', { json: { path: '/~bob/' } })
    for (const site of ['cross-site', 'same-site']) {
      const led = await test().ask(undefined, 'GET', json.path, { headers: { 'sec-fetch-site': site } })
      expect([led.status, led.headers.get('set-cookie')]).toEqual([200, null])
      expect(led.text).toContain('Continue as bob')
    }
    // Another user is signed in.
    const other = await test().ask(undefined, 'GET', json.path, { headers: await signIn('alice') })
    expect(other.headers.get('set-cookie')).toBe(null)
    const code = new URL(json.url).searchParams.get('code')!
    const pressed = await test().ask(undefined, 'POST', '/signin', form({ code, next: '/~bob/' }))
    expect([pressed.status, pressed.headers.get('location')]).toEqual([303, '/~bob/'])
    expect(await test().status(undefined, 'POST', '/signin', form({ code, next: '/' }))).toBe(403)
  })

  it('revoking a key ends its sessions, and keys created in them', async () => {
    const api_key = await test().key('alice', { expires: '1h' })
    const end = Date.now() + 3600_000
    const opened = await test().ask(undefined, 'POST', '/signin', form({ username: 'alice', api_key }))
    expect(Number(/Max-Age=(\d+)/.exec(opened.headers.get('set-cookie')!)![1])).toBeLessThanOrEqual(3600)
    const headers = { ...cookieOf(opened.headers), 'sec-fetch-site': 'same-origin' }
    const later = await test().ask(undefined, 'POST', '/v2/keys', { json: { expires: '29d' }, headers })
    expect(later.status).toBe(403)
    const verifier = 'v'.repeat(43)
    const login = async () => {
      const asked = {
        port: '4242',
        challenge: createHash('sha256').update(verifier).digest('base64url'),
        state: 's'.repeat(22),
        name: 'laptop',
      }
      const allowed = await test().ask(undefined, 'POST', '/authorize', form(asked, headers))
      return new URL(allowed.headers.get('refresh')!.split('url=')[1]).searchParams.get('code')!
    }
    const redeem = async (code: string) =>
      test().ask(undefined, 'POST', '/v2/logins', { json: { code, verifier, name: 'x' } })
    const made = await redeem(await login())
    expect(made.status).toBe(201)
    expect(Math.abs(Date.parse(made.json.expires_at) - end)).toBeLessThan(60_000)
    // Revoking a key invalidates its unused codes.
    const code = await login()
    const { keys } = (await test().ask('alice', 'GET', '/v2/keys')).json
    const opener = keys.find(
      (one: { name: string; expires_at: string | null }) => one.expires_at !== null && one.name === 'key',
    )
    expect(await test().status('alice', 'DELETE', `/v2/keys/${opener.id}`)).toBe(204)
    expect((await redeem(code)).status).toBe(401)
  })

  it('damaged cookies are ignored', async () => {
    for (const value of ['', 'x', 'alice.', '.x', 'alice.x.y', `${'a'.repeat(300)}.x`, 'alice.\u0000'])
      expect([
        value,
        await status({ cookie: `gridline_session=${encodeURI(value)}` }, '/v2/users/current'),
      ]).toEqual([value, 401])
  })

  it('pages of users list only visible files; the connect page shows the setup of clients', async () => {
    await test().grid('alice', 'shown to all', { a: [1] }, { world_readable: true })
    await test().grid('alice', 'mine only', { a: [1] })
    const html = async (path: string, headers = {}) =>
      (await test().ask(undefined, 'GET', path, { headers })).text
    expect(await html('/~alice/')).toContain('shown to all')
    expect(await html('/~alice/')).not.toContain('mine only')
    expect(await html('/~alice/', await signIn('alice'))).toContain('mine only')
    expect(await test().status(undefined, 'GET', '/~nobody/')).toBe(404)
    expect(await html('/')).not.toContain('mine only')
    expect(await html('/', await signIn('alice'))).toContain('mine only')
    expect(await html('/?q=ONLY', await signIn('alice'))).toContain('mine only')
    expect(await html('/?q=only&theme=dark', await signIn('alice'))).toContain('data-scheme="dark"')
    expect(await html('/?q=only')).not.toContain('mine only')
    expect(await html('/connect')).toContain(
      'plotly_api_domain=&quot;http://gridline.test&quot;'.replaceAll('&quot;', '"'),
    )
  })

  it('an error page for a browser offers to sign in and comes back to the page', async () => {
    const path = await pageOf('alice')
    const { status: found, text } = await test().ask(undefined, 'GET', `${path}?a=1`, {
      headers: { accept: 'text/html' },
    })
    expect([found, text]).toEqual([
      404,
      expect.stringContaining(`/signin?next=${encodeURIComponent(`${path.slice(0, -1)}?a=1`)}`),
    ])
    const none = await test().ask(undefined, 'GET', '/no/such', { headers: { accept: 'text/html' } })
    expect([none.status, none.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect((await test().ask(undefined, 'GET', '/no/such')).json.errors[0].code).toBe('not_found')
  })
})
