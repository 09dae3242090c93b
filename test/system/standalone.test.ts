// Charts as single HTML files: opened from disk, without network, without JavaScript, printed, changed.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyPage } from '../../src/contract/standalone.ts'
import { writeStandalonePage } from '../../src/service/images/standalone-page.ts'
import { inBrowser, nothing, openPage } from '../support/browser.ts'
import { gridline } from '../support/cli.ts'
import { itLong } from '../support/property-runs.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(folder.remove)

describe('self-contained pages', () => {
  const site = inBrowser()
  let fid: string
  beforeAll(async () => {
    const figure = { data: [{ type: 'bar', x: ['a', 'b'], y: [1, 3] }], layout: { title: { text: 'Sales' } } }
    const json = { figure, filename: 'sales chart', world_readable: true, raw_data: 'grid' }
    fid = (await site().test.ask('alice', 'POST', '/v2/plots', { json })).json.file.fid
  })
  const get = (user?: string, query = '') =>
    site().test.ask(user, 'GET', `/~alice/${fid.split(':')[1]}.html${query}`)

  /** Opens a page from disk, without network. Returns the page, and everything that it asked for or complained about. */
  const openFile = async (html: string, hasScripts = true): Promise<{ page: Page; seen: string[] }> => {
    const file = join(folder.path, `chart${Math.random()}.html`)
    writeFileSync(file, html)
    const page = await openPage(site().browser)
    await page.setJavaScriptEnabled(hasScripts)
    const seen: string[] = []
    page.on('request', (request) => {
      if (!/^(file|data|blob):/.test(request.url())) seen.push(request.url())
    })
    page.on('console', (message) => {
      if (message.type() === 'error') seen.push(message.text())
    })
    page.on('pageerror', (error) => seen.push(String(error)))
    await page.goto(`file://${file}`)
    return { page, seen }
  }
  const isShown = (page: Page, selector: string): Promise<boolean> =>
    page.$eval(selector, (element) => getComputedStyle(element).display !== 'none')

  itLong('the address of a plot with .html is a page that draws the chart and loads nothing', async () => {
    const { status, headers, text } = await get()
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(headers.get('content-security-policy')).toMatch(/^sandbox allow-scripts(?!.*allow-same-origin)/)
    expect(text.length).toBeLessThan(1.4e6)
    expect(text).toContain(`href="${site().url}/~alice/${fid.split(':')[1]}/"`)
    expect(text).toMatch(/data as of <time datetime="\d{4}-\d\d-\d\dT/)
    // The same chart is the same page.
    expect((await get()).text).toBe(text)
    const { page, seen } = await openFile(text)
    await page.waitForSelector('#chart[data-drawn="true"]')
    expect(await page.$eval('.barlayer', (layer) => layer.querySelectorAll('.point').length)).toBe(2)
    expect(await isShown(page, '#picture')).toBe(false)
    await page.emulateMediaType('print')
    expect([await isShown(page, '#picture'), await isShown(page, '#chart')]).toEqual([true, false])
    expect(seen).toEqual([])
    await page.close()
    // Also on the server, in an opaque origin.
    const visit = await site().visit(`/~alice/${fid.split(':')[1]}.html`)
    await visit.page.waitForSelector('#chart[data-drawn="true"]')
    expect(visit.seen).toEqual(nothing)
    await visit.close()
  })

  it('without JavaScript, the picture is seen', async () => {
    const { page } = await openFile((await get()).text, false)
    expect(await isShown(page, '#picture')).toBe(true)
    const { width, height } = (await (await page.$('#picture'))!.boundingBox())!
    expect([width > 300, height > 200]).toEqual([true, true])
    await page.close()
  })

  it('readers without access get 404', async () => {
    const { test } = site()
    await test.ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: false } })
    for (const user of [undefined, 'bob']) expect((await get(user)).status).toBe(404)
    await test.ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: true } })
  })

  it('the address of a grid with .html is a table that its reader can sort', async () => {
    const { test } = site()
    const evil = '<script>window.__hit=1</script>'
    const { fid: grid } = await test.grid('alice', `"<img src=x onerror="window.__hit=1">`, {
      [`name ${evil}`]: ['b', evil, null, 'a'],
      amount: [10, 9, 100, null],
      day: ['2024-01-02', '2023-12-31', null, '2024-01-01'],
    })
    const path = `/~alice/${grid.split(':')[1]}.html`
    expect((await test.ask('bob', 'GET', path)).status).toBe(404)
    const { text, headers } = await test.ask('alice', 'GET', path)
    expect(headers.get('content-security-policy')).toMatch(/^sandbox allow-scripts(?!.*allow-same-origin)/)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(verifyPage(Buffer.from(text))).toBe(true)
    expect(text.length).toBeLessThan(100_000)
    const content = await test.ask(
      'alice',
      'GET',
      `/v2/grids/${grid}/content?format=html&where=amount%20%3E%209`,
    )
    expect(content.headers.get('content-security-policy')).toMatch(/^sandbox /)
    expect(content.text.match(/<tr>/g)).toHaveLength(3)
    const { page, seen } = await openFile(text)
    const columnOf = (k: number): Promise<string[]> =>
      page.$$eval('tbody tr', (rows, at) => rows.map((row) => row.cells[at].textContent!), k)
    expect(await columnOf(0)).toEqual(['b', evil, '', 'a'])
    const press = (k: number) => page.click(`th:nth-child(${k + 1}) button`)
    await press(1)
    expect(await columnOf(1)).toEqual(['9', '10', '100', ''])
    await press(1)
    expect(await columnOf(1)).toEqual(['100', '10', '9', ''])
    await press(2)
    expect(await columnOf(0)).toEqual([evil, 'a', 'b', ''])
    expect(await page.$$eval('[aria-sort]', (heads) => heads.map((head) => head.textContent))).toEqual([
      'day',
    ])
    expect([await page.evaluate(() => '__hit' in window), seen]).toEqual([false, []])
    await page.close()
    const { fid: large } = await test.grid('alice', 'large', { a: Array(500_001).fill(1) })
    const refused = await test.ask('alice', 'GET', `/v2/grids/${large}/content?format=html`)
    expect([refused.status, refused.text]).toEqual([
      413,
      expect.stringContaining('a page holds 500000 cells'),
    ])
    expect(await test.status('alice', 'GET', `/v2/grids/${large}/content?format=html&head=10`)).toBe(200)
  })

  it('figures of strangers stay harmless', async () => {
    const hit = 'parent.__hit=1;window.__hit=1'
    const figure = {
      data: [
        {
          type: 'bar',
          x: ['</script><script>window.__hit=1</script>', '<img src=x onerror="window.__hit=1">'],
          y: [1, 2],
          text: [`<a href="javascript:${hit}">x</a>`, '<!--<script>'],
        },
      ],
      layout: {
        title: { text: '<b>x</b></title><script>window.__hit=1</script>' },
        images: [{ source: 'https://example.com/x.png', xref: 'paper', yref: 'paper', sizex: 1, sizey: 1 }],
      },
    }
    const html = writeStandalonePage(Buffer.from(JSON.stringify(figure)), undefined, {
      title: '"><script>window.__hit=1</script>',
      source: {
        url: 'https://charts.example.com/~a/1/"><script>window.__hit=1</script>',
        changed: new Date(0),
      },
    }).toString()
    const { page, seen } = await openFile(html)
    await page.waitForSelector('#chart[data-drawn]')
    expect(await page.evaluate(() => '__hit' in window)).toBe(false)
    expect(seen.filter((text) => !text.includes('example.com/x.png'))).toEqual([])
    await page.close()
  })

  const types = createRequire(import.meta.url)('../../dist/assets/plotly-bundles.json') as [
    string,
    string[],
  ][]
  itLong(
    'each smaller build of plotly.js draws what it is chosen for, and maps have their outlines',
    async () => {
      expect(types.map(([name]) => name)).toEqual(['basic', 'finance', 'geo', 'cartesian'])
      for (const trace of [
        { type: 'pie', labels: ['a'], values: [1] },
        { type: 'candlestick', x: [1], open: [1], close: [2], low: [0], high: [3] },
        { type: 'choropleth', locations: ['DEU'], z: [1] },
        { type: 'heatmap', z: [[1, 2]] },
        { type: 'sankey', node: { label: ['a', 'b'] }, link: { source: [0], target: [1], value: [1] } },
      ]) {
        const html = writeStandalonePage(
          Buffer.from(JSON.stringify({ data: [trace], layout: {} })),
          undefined,
          {},
        )
        const { page, seen } = await openFile(html.toString())
        await page.waitForSelector('#chart[data-drawn]')
        expect([
          trace.type,
          await page.$eval('#chart', (chart) => chart.getAttribute('data-drawn')),
          seen,
        ]).toEqual([trace.type, 'true', []])
        await page.close()
      }
    },
  )

  itLong('gridline verify finds any change', async () => {
    const home = folder.path
    const file = join(folder.path, 'kept.html')
    const figure = join(folder.path, 'figure.json')
    writeFileSync(figure, '{"data":[{"y":[1,2]}],"layout":{}}')
    expect((await gridline(['image', figure, '-o', file], { home })).code).toBe(0)
    const ok = await gridline(['verify', file], { home })
    expect([ok.code, ok.stdout]).toEqual([0, `${file}\tunchanged\n`])
    const page = readFileSync(file)
    for (const at of [0, 400, page.indexOf('"y":[1'), page.length - 1]) {
      const changed = Buffer.from(page)
      changed[at] ^= 1
      expect(verifyPage(changed)).not.toBe(true)
    }
    writeFileSync(file, page.toString().replace('[1,2]', '[1,3]'))
    const changed = await gridline(['verify', file, figure], { home })
    expect(changed.code).toBe(7)
    expect(changed.stderr).toMatch(/kept\.html: changed since it was written/)
    expect(changed.stderr).toMatch(/figure\.json: not a self-contained page/)
  })
})
