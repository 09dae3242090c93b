// Request bodies: media types, size, nesting, invalid values.
import { expect, it } from 'vitest'
import { onSqliteFirst } from '../../support/service.ts'

onSqliteFirst('request bodies', (test) => {
  const ask = (user: string | undefined, method: string, path: string, json?: unknown) =>
    test().ask(user, method, path, { json })

  it('an empty body counts as no body; media types other than JSON are 415', async () => {
    expect(
      (
        await test().ask('alice', 'POST', '/v2/folders', {
          body: '',
          headers: { 'content-type': 'application/json' },
        })
      ).json.detail,
    ).toBe('path: is missing')
    expect(
      (
        await test().ask('alice', 'POST', '/v2/folders', {
          body: 'x',
          headers: { 'content-type': 'image/png' },
        })
      ).status,
    ).toBe(415)
  })

  it('a body over the limit is 413, naming the limit and the size', async () => {
    const answer = await test().ask('alice', 'POST', '/v2/grids', {
      body: '{}',
      headers: { 'content-length': String(65 * 1024 * 1024) },
    })
    expect([answer.status, answer.json.detail]).toEqual([
      413,
      'the body has 65 MiB or more; the limit is 64 MiB (json_body_bytes)',
    ])
  })

  it('nesting of JSON is limited', async () => {
    const deep = `{"data":{"cols":{"a":{"data":[${'['.repeat(300)}${']'.repeat(300)}]}}}}`
    const answer = await test().ask('alice', 'POST', '/v2/grids', {
      body: deep,
      headers: { 'content-type': 'application/json' },
    })
    expect([answer.status, answer.json.detail]).toEqual([
      400,
      expect.stringContaining('deeper than 256 levels'),
    ])
  })

  it('NUL characters in text are 400 on both stores', async () => {
    expect((await test().ask('alice', 'GET', '/v2/files/lookup?path=a%00b')).status).toBe(400)
    expect((await test().ask('alice', 'POST', '/v2/folders', { json: { path: 'a\0b' } })).status).toBe(400)
    const cols = { 'a\0b': { data: [1] } }
    expect((await test().ask('alice', 'POST', '/v2/grids', { json: { data: { cols } } })).status).toBe(400)
  })

  it('values out of range for integers or text are 400 on both stores', async () => {
    for (const parent of [2 ** 53, 1e300, 0.5]) {
      const { status } = await ask('alice', 'POST', '/v2/folders', { path: 'x', parent })
      expect(status).toBe(400)
    }
    const { fid } = await test().grid('alice', 'zero', { a: [1] })
    const { status } = await ask('alice', 'POST', `/v2/files/${fid}/collaborators`, { teams: ['a\0b'] })
    expect(status).toBe(400)
  })
})
