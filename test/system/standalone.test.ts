// Charts as single HTML files: opened from disk, without network, without JavaScript, printed, changed.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyPage } from '../../src/contract/standalone.ts'
import { writeStandalonePage } from '../../src/service/images/standalone-page.ts'
import { inBrowser, nothing } from '../support/browser.ts'
import { gridline } from '../support/cli.ts'
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
    const page = await site().browser.newPage()
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

  it('the address of a plot with .html is a page that draws the chart and loads nothing', async () => {
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

  it('readers without access get 404; .html of a grid is its page', async () => {
    const { test } = site()
    await test.ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: false } })
    for (const user of [undefined, 'bob']) expect((await get(user)).status).toBe(404)
    await test.ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: true } })
    const { grid_fid } = (
      await test.ask('alice', 'POST', '/v2/plots', {
        json: { figure: { data: [{ y: [1] }] }, raw_data: 'grid' },
      })
    ).json
    const page = await test.ask('alice', 'GET', `/~alice/${grid_fid.split(':')[1]}.html`)
    expect([page.status, page.text.includes('<table')]).toEqual([200, true])
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
  it('each smaller build of plotly.js draws what it is chosen for, and maps have their outlines', async () => {
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
  })

  it('gridline verify finds any change', async () => {
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
    expect(changed.stderr).toMatch(/figure\.json: not a page/)
  })
})
