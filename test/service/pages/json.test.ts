// JSON responses as HTML pages.
import { expect, it } from 'vitest'
import { onSqliteFirst } from '../../support/service.ts'

onSqliteFirst('JSON as a page', (test) => {
  it('format=api returns an HTML page without scripts', async () => {
    const { fid } = await test().grid('alice', '<script>alert(1)', { a: [1] })
    const { text, headers } = await test().ask('alice', 'GET', `/v2/files/${fid}?format=api`)
    expect(headers.get('content-type')).toContain('text/html')
    expect(text).not.toContain('<script>')
    expect(text).toContain('&lt;script&gt;')
  })
})
