// The form of error responses.
import { expect, it } from 'vitest'
import { onSqliteFirst } from '../../support/service.ts'

onSqliteFirst('errors', (test) => {
  it('every error has detail and errors, as JSON', async () => {
    for (const [method, path, status] of [
      ['GET', '/v2/nothing', 404],
      ['GET', '/v2/grids/alice:999', 404],
      ['GET', '/v2/grids/notafid', 404],
      ['DELETE', '/v2/users/current', 405],
      ['PUT', '/v2/grids', 405],
      ['GET', '/v2/folders/home?page_size=x', 400],
    ] as const) {
      const answer = await test().ask('alice', method, path)
      expect(answer.status, path).toBe(status)
      expect(answer.headers.get('content-type')).toBe('application/json')
      expect(answer.json).toMatchObject({
        detail: expect.any(String),
        errors: [{ code: expect.any(String), message: answer.json.detail }],
      })
      expect(answer.headers.get('x-request-id')).toMatch(/./)
    }
  })

  it('the page of an unknown path has the name of who is signed in, and others are asked to sign in', async () => {
    const open = async (user?: string) =>
      (await test().ask(user, 'GET', '/nothing', { headers: { accept: 'text/html' } })).text
    expect(await open('alice')).toContain('<a href="/~alice/">all your files</a>')
    expect(await open('alice')).not.toContain('/signin')
    expect(await open()).toContain('<a href="/signin?next=%2Fnothing">')
  })
})
