// Basic and Bearer credentials, scopes and expiry.
import { expect, it } from 'vitest'
import { onSqliteFirst } from '../../support/service.ts'

onSqliteFirst('credentials', (test) => {
  const current = (headers: Record<string, string>) =>
    test().ask(undefined, 'GET', '/v2/users/current', { headers })
  const basic = (user: string, key: string) => `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`

  it('Basic username:key and Bearer key are accepted; Plotly-Authorization takes precedence', async () => {
    const key = test().keys.get('alice')!
    expect((await current({ authorization: basic('alice', key) })).json).toMatchObject({
      username: 'alice',
      is_admin: false,
    })
    expect((await current({ authorization: `Bearer ${key}` })).json.username).toBe('alice')
    expect(
      (
        await current({
          authorization: basic('proxy', 'password'),
          'plotly-authorization': basic('alice', key),
        })
      ).json.username,
    ).toBe('alice')
  })

  it('wrong credentials are always 401, even where none are required', async () => {
    for (const authorization of [
      basic('alice', 'wrong'),
      basic('bob', test().keys.get('alice')!),
      'Bearer nothing',
      'Digest x',
      basic('nobody', 'x'),
    ]) {
      const { status, json, headers } = await current({ authorization })
      expect([status, json.errors[0].code]).toEqual([401, 'unauthenticated'])
      expect(headers.get('www-authenticate')).toContain('Basic')
    }
    expect(
      (
        await test().ask(undefined, 'GET', '/v2/folders/home?user=alice', {
          headers: { authorization: 'Bearer x' },
        })
      ).status,
    ).toBe(401)
    expect((await current({})).status).toBe(401)
  })

  it('keys have scopes and an expiry', async () => {
    const reader = await test().key('alice', { scopes: 'read' })
    expect((await current({ authorization: `Bearer ${reader}` })).status).toBe(200)
    const { status, json } = await test().ask(undefined, 'POST', '/v2/folders', {
      json: { path: 'x' },
      headers: { authorization: `Bearer ${reader}` },
    })
    expect([status, json.errors[0].code]).toEqual([403, 'forbidden'])
    await expect(test().key('alice', { scopes: 'everything' })).rejects.toThrow('unknown scope')
    await expect(test().key('alice', { expires: 'soon' })).rejects.toThrow('invalid duration')
  })
})
