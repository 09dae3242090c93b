// The page that saves charts of other sites.
import { expect, it } from 'vitest'
import { itLong } from '../../support/property-runs.ts'
import { onSqliteFirst } from '../../support/service.ts'

onSqliteFirst('charts from the share button', (test) => {
  const form = (data: string) => ({
    body: new URLSearchParams({ data }).toString(),
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'cross-site',
      origin: 'https://charts.example',
    },
  })
  const figureIn = (html: string): string =>
    /<script type="application\/json" id="figure">([\s\S]*?)<\/script>/.exec(html)![1]

  it('a form from any site gets a page with its chart, and nothing is stored', async () => {
    const count = async () => (await test().ask('alice', 'GET', '/v2/folders/all')).json.children.count
    const before = await count()
    const figure = { data: [{ y: [1], name: '</script><b>ü €+& =%25' }], layout: {} }
    const { status, text, headers } = await test().ask(
      undefined,
      'POST',
      '/external',
      form(JSON.stringify(figure)),
    )
    expect(status).toBe(200)
    expect(JSON.parse(figureIn(text))).toEqual(figure)
    expect(figureIn(text)).not.toContain('<')
    expect(headers.get('content-security-policy')).not.toMatch(/unsafe-eval|script-src[^;]*unsafe-inline/)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(await count()).toBe(before)
  })

  itLong('the chart of a form arrives complete in chunks of any size', async () => {
    const figure = JSON.stringify({ data: [{ y: Array.from({ length: 3000 }, (_, k) => `é<${k}`) }] })
    const bytes = Buffer.from(form(figure).body)
    for (const size of [1, 7, 1000]) {
      const body = new ReadableStream({
        start(controller) {
          for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.subarray(at, at + size))
          controller.close()
        },
      })
      const { text } = await test().ask(undefined, 'POST', '/external', { ...form(''), body })
      expect(JSON.parse(figureIn(text))).toEqual(JSON.parse(figure))
    }
  })

  it('other bodies are refused; a form without a chart gets a page without a chart', async () => {
    expect(await test().status(undefined, 'POST', '/external', { json: {} })).toBe(415)
    const { status, text } = await test().ask(undefined, 'POST', '/external', {
      ...form(''),
      body: 'other=1',
    })
    expect([status, figureIn(text)]).toEqual([200, ''])
  })

  it('the page of the share button draws the chart in an opaque origin and is not framed by other sites', async () => {
    const page = await test().ask(undefined, 'GET', '/newchart?origin=https://charts.example')
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(page.headers.get('cross-origin-opener-policy')).toBeNull()
    const preview = await test().ask(undefined, 'GET', '/newchart/preview')
    expect(preview.headers.get('content-security-policy')).toMatch(
      /^sandbox allow-scripts; .*frame-ancestors 'self'$/,
    )
    expect((await test().ask(undefined, 'GET', '/?origin=https://charts.example')).text).toContain(
      'newchart.js',
    )
  })
})
