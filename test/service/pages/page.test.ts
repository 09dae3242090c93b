// Pages of files.
import { expect, it } from 'vitest'
import { onSqliteFirst } from '../../support/service.ts'

onSqliteFirst('pages of files', (test) => {
  const ask = (user: string | undefined, method: string, path: string, json?: unknown) =>
    test().ask(user, method, path, { json })
  const plotOf = (user: string, figure: unknown) => ask(user, 'POST', '/v2/plots', { figure })

  it('the page of a grid shows the first rows as text to users who may read the grid', async () => {
    const { fid, web_url } = await test().grid(
      'alice',
      '<b>paged',
      { 'a<script>': ['<img src=x onerror=alert(1)>', null], n: [1.1, 2] },
      { world_readable: true },
    )
    const { status, text, headers } = await test().ask(undefined, 'GET', new URL(web_url).pathname)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(text).toContain('<h1>&lt;b&gt;paged</h1>')
    expect(text).toContain('<td>&lt;img src=x onerror=alert(1)&gt;</td>')
    expect(text.replace(/<script src="\/assets\/[^"]*"><\/script>/g, '')).not.toMatch(/<script|<img|<b>/)
    expect(text).toContain(`http://gridline.test/v2/grids/${fid}/content?format=csv`)
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  })

  it('pages of private and missing files are equal 404s, without a prompt for Basic credentials', async () => {
    const { web_url } = await test().grid('alice', 'not paged', { a: [1] })
    const path = new URL(web_url).pathname
    const [hidden, absent] = [
      await test().ask(undefined, 'GET', path),
      await test().ask(undefined, 'GET', '/~alice/99999/'),
    ]
    expect([hidden.status, hidden.text]).toEqual([404, absent.text])
    const browser = { accept: 'text/html', 'user-agent': 'Mozilla/5.0', 'sec-fetch-mode': 'navigate' }
    const page = await test().ask(undefined, 'GET', path, { headers: browser })
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(page.headers.get('www-authenticate')).toBeNull()
    const api = await test().ask(undefined, 'GET', '/v2/users/current', { headers: browser })
    expect([api.status, api.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="gridline"'])
    expect((await test().ask('bob', 'GET', path)).status).toBe(404)
    expect((await test().ask('alice', 'GET', path)).status).toBe(200)
  })

  it('a search finds own files, and those that others share, also by the names of their columns', async () => {
    const own = await test().grid('bob', 'zebra counts', { a: [1] })
    const shared = await test().grid('alice', 'animals', { 'Zebra_stripes 100%': [1] })
    const hidden = await test().grid('alice', 'zebra secrets', { a: [1] })
    const search = async (text: string) =>
      (await test().ask('bob', 'GET', `/?q=${encodeURIComponent(text)}`)).text
    const share = { users: ['bob'], readonly: true }
    await ask('alice', 'POST', `/v2/files/${shared.fid}/collaborators`, share)
    const html = await search('zebra')
    expect([own, shared, hidden].map(({ web_url }) => html.includes(web_url))).toEqual([true, true, false])
    expect(html.indexOf('Shared with you')).toBeGreaterThan(html.indexOf('zebra counts'))
    expect(await search('stripes 100%')).toContain(shared.web_url)
    expect(await search('stripes%100')).toContain('No file has this in its name')
    await ask('alice', 'POST', `/v2/files/${shared.fid}/trash`)
    expect(await search('zebra')).not.toContain(shared.web_url)
  })

  it('pages of plots and folders link to their content and pass the share key on', async () => {
    const folder = (await ask('alice', 'POST', '/v2/folders', { path: 'shown', world_readable: true })).json
      .file
    const parent = Number(folder.fid.split(':')[1])
    const seen = await test().grid('alice', '<seen>', { a: [1] }, { parent, world_readable: true })
    await test().grid('alice', 'hidden one', { a: [1] }, { parent })
    const page = async (user: string | undefined, fid: string, query = '') =>
      (await test().ask(user, 'GET', `/~${fid.replace(':', '/')}/${query}`)).text
    const html = await page(undefined, folder.fid)
    const list = await page(undefined, folder.fid, '?view=list')
    expect(list).toContain(`<a href="${seen.web_url}">&lt;seen&gt;</a></td><td>grid</td><td>public`)
    expect(html).toContain('<b>&lt;seen&gt;</b>')
    expect(html).not.toContain('hidden one')
    expect(html).toContain('The file in it is public: everybody can see it.')
    const own = await page('alice', folder.fid)
    expect(own).toContain('hidden one')
    expect(own).toContain('1 of the 2 files in it is public')
    const plot = (await plotOf('alice', { data: [] })).json.file
    await ask('alice', 'PATCH', `/v2/files/${plot.fid}`, { share_key_enabled: true })
    const { share_key } = (await ask('alice', 'GET', `/v2/files/${plot.fid}`)).json
    // Who signs in comes back to the page, with the share key.
    expect(await page(undefined, plot.fid, `?share_key=${share_key}`)).toContain(
      `<a href="/signin?next=${encodeURIComponent(`/~${plot.fid.replace(':', '/')}/?share_key=${share_key}`)}">`,
    )
    const [, link] = /href="([^"]*inline_data[^"]*)"/.exec(
      await page(undefined, plot.fid, `?share_key=${share_key}`),
    )!
    const path = link.replaceAll('&amp;', '&').replace(/^https?:\/\/[^/]+/, '')
    expect((await test().ask(undefined, 'GET', path)).json).toEqual({ data: [] })
  })
})
