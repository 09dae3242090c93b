// Every URL of contract/web/index.ts: security headers, access, methods.
import { beforeAll, expect, it } from 'vitest'
import { type WebRoute, type WebRouteName, webRoutes } from '../../../src/contract/web/index.ts'
import { assetPathOf } from '../../../src/service/pages/assets.ts'
import { onSqliteFirst } from '../../support/service.ts'

const routes = Object.entries(webRoutes) as [WebRouteName, WebRoute][]

/** URLs that need Chromium, another server, or never end are tested elsewhere. */
const ELSEWHERE: ReadonlySet<WebRouteName> = new Set(['image', 'events'])

onSqliteFirst('addresses outside of the API', (test) => {
  let open: string
  let hidden: string
  beforeAll(async () => {
    const make = async (name: string, world_readable: boolean): Promise<string> => {
      const figure = { data: [{ type: 'bar', y: [1, 2] }] }
      const json = { figure, filename: name, world_readable, raw_data: 'grid' }
      return (await test().ask('alice', 'POST', '/v2/plots', { json })).json.file.fid
    }
    open = await make('open', true)
    hidden = await make('hidden', false)
  })
  const pathOf = (path: string, fid: string): string =>
    path
      .replace(':user', 'alice')
      .replace(':id', fid.split(':')[1])
      .replace('/assets/:hash/:name', assetPathOf('page.js'))
      .replace(/^\/oembed$/, `/oembed?url=http://gridline.test/~alice/${fid.split(':')[1]}/`)
  const ask = (user: string | undefined, { method, path }: WebRoute, fid: string) =>
    test().ask(user, method, pathOf(path, fid), {
      headers: {
        accept: 'text/html',
        ...(method === 'POST' && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      body: method === 'POST' ? 'data={}' : undefined,
    })

  it.each(routes.filter(([name]) => !ELSEWHERE.has(name)))(
    'page %s has the security headers of its kind',
    async (_, route) => {
      const { status, headers } = await ask('alice', route, open)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy).toMatch(/default-src 'none'/)
      expect(policy).not.toMatch(/unsafe-eval|script-src[^;]*(unsafe-inline|\*|https?:)/)
      // A redirect of a form has no body.
      if (status === 303) return
      const isPage = headers.get('content-type')?.startsWith('text/html') === true
      expect(isPage).toBe(route.headersFor === 'page' || route.headersFor === 'frame')
      if (route.headersFor === 'page') {
        expect(policy).toMatch(/frame-ancestors 'none'/)
        expect(headers.get('referrer-policy')).toBe('same-origin')
        expect(headers.get('cache-control')).toMatch(/^(private, no-cache|no-store|private, no-store)$/)
      }
      if (route.headersFor === 'frame')
        expect(policy).toMatch(/^sandbox allow-scripts(?!.*allow-same-origin)/)
      if (route.headersFor === 'data') {
        expect(policy).toMatch(/; sandbox$/)
        expect(headers.get('cache-control')).toMatch(/no-cache|no-store/)
      }
      if (route.headersFor === 'asset') expect(headers.get('cache-control')).toMatch(/^public, max-age=/)
    },
  )

  it.each(routes.filter(([, { access }]) => access === 'reader'))(
    'page %s is 404 without read access',
    async (_, route) => {
      for (const user of [undefined, 'bob']) expect((await ask(user, route, hidden)).status).toBe(404)
    },
  )

  it.each(routes.filter(([, { access }]) => access === 'caller'))(
    'page %s requires an account',
    async (_, route) => {
      expect((await ask(undefined, route, open)).status).toBe(401)
    },
  )

  it.each(routes.filter(([, { method }]) => method === 'POST'))(
    'page %s refuses other methods',
    async (_, { path }) => {
      const { status, headers } = await test().ask(undefined, 'DELETE', path)
      expect([status, headers.get('allow')]).toEqual([405, expect.stringMatching(/POST/)])
    },
  )

  it.each(routes.filter(([name, { method }]) => method === 'POST' && name !== 'external'))(
    'page %s refuses requests from other sites',
    async (_, { path }) => {
      const headers = { 'sec-fetch-site': 'cross-site', 'content-type': 'application/x-www-form-urlencoded' }
      expect(await test().status('alice', 'POST', path, { headers, body: 'a=b' })).toBe(403)
    },
  )
})
