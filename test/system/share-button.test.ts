// The share button of real plotly.js charts on another site.
import { createRequire } from 'node:module'
import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { inBrowser, nothing, type Visit } from '../support/browser.ts'
import { itLong } from '../support/property-runs.ts'

const resolve = createRequire(import.meta.url).resolve
const scripts = {
  '/plotly-4.js': resolve('plotly.js/dist/plotly-strict.min.js'),
  '/plotly-3.js': resolve('plotly.js-3/plotly.min.js'),
}

describe('the share button', () => {
  const site = inBrowser()

  /** Creates a page of another site with a chart. `call` is the JavaScript that draws it. */
  const host = async (version: keyof typeof scripts, call: string, charset = 'utf-8'): Promise<Visit> => {
    const { elsewhere } = site()
    for (const [path, file] of Object.entries(scripts)) elsewhere.scripts.set(path, file)
    elsewhere.pages.set(
      '/chart',
      `<!doctype html><meta charset="${charset}"><title>host</title><div id="g" style="width:700px;height:400px"></div><script charset="utf-8" src="${version}"></script><script>${call}</script>`,
    )
    const visit = await site().visit(`${elsewhere.url}/chart`)
    await visit.page.waitForSelector('.modebar-btn')
    return visit
  }

  /** Clicks the button of the chart, and the one that confirms; returns the page that opens. */
  const share = async ({ page }: Visit, version: keyof typeof scripts): Promise<Page> => {
    const opened = new Promise<Page>((done) => page.once('popup', (popup) => popup && done(popup)))
    await page.$$eval('.modebar-btn', (buttons) =>
      (
        buttons.find((one) => /share|edit|cloud/i.test(one.getAttribute('data-title') ?? '')) as HTMLElement
      ).click(),
    )
    if (version === '/plotly-4.js') {
      await page.waitForSelector('.plotly-cloud-dialog-btn--confirm')
      await page.$eval('.plotly-cloud-dialog-btn--confirm', (button) => (button as HTMLElement).click())
    }
    return opened
  }

  const signIn = async (tab: Page, user: string): Promise<void> => {
    await tab.waitForSelector('#signin:not([hidden])')
    await tab.type('#username', user)
    await tab.type('#api_key', site().test.keys.get(user)!)
    await tab.click('#signin button')
  }
  const save = async (tab: Page): Promise<string> => {
    await tab.click('#saving')
    await tab.waitForSelector('#saved:not([hidden])')
    return tab.$eval('#link', (link) => (link as HTMLAnchorElement).href)
  }
  const textOf = (tab: Page, id: string): Promise<string> =>
    tab.$eval(`#${id}`, (element) => (element as HTMLInputElement).value ?? element.textContent)
  const plots = async (): Promise<number> =>
    (await site().test.ask('alice', 'GET', '/v2/folders/all?filetype=plot')).json.children.count
  const figureOf = async (link: string) =>
    (await site().test.ask('alice', 'GET', `${new URL(link).pathname.slice(0, -1)}.json`)).json

  it('the share button of plotly.js 4 shows the chart after signing in, and saves it on confirmation', async () => {
    const { url, elsewhere } = site()
    const visit = await host(
      '/plotly-4.js',
      `Plotly.newPlot('g', [{ x: [1, 2, 3], y: new Float64Array([3, 1, 2]), type: 'bar', name: 'ünï €' }], { title: { text: 'Shared <b>chart</b>' } }, { plotlyServerURL: '${url}/newchart' })`,
    )
    const before = await plots()
    const tab = await share(visit, '/plotly-4.js')
    await signIn(tab, 'alice')
    await tab.waitForSelector('#save:not([hidden])')
    expect(await textOf(tab, 'origin')).toBe(elsewhere.url)
    expect(await textOf(tab, 'name')).toBe('Shared chart')
    const preview = await tab.waitForFrame((frame) => frame.url().endsWith('/newchart/preview'))
    await preview.waitForSelector('#chart[data-drawn="true"]')
    expect(await preview.evaluate(() => window.origin)).toBe('null')
    expect(await plots()).toBe(before)
    const link = await save(tab)
    expect(await plots()).toBe(before + 1)
    const { data, layout } = await figureOf(link)
    expect(data[0]).toMatchObject({ x: [1, 2, 3], y: [3, 1, 2], type: 'bar', name: 'ünï €' })
    expect(layout.title.text).toBe('Shared <b>chart</b>')
    expect(await site().test.status(undefined, 'GET', new URL(link).pathname)).toBe(404)
    expect({ ...visit.seen, foreign: [] }).toEqual(nothing)
    await visit.close()
  })

  itLong.each(['utf-8', 'windows-1252'])(
    'the share button of plotly.js 3 does the same with its form, from a page in %s',
    async (charset) => {
      const { url } = site()
      const visit = await host(
        '/plotly-3.js',
        `window.PLOTLYENV = { BASE_URL: '${url}' }; Plotly.newPlot('g', [{ y: [1, 2], name: '</scr' + 'ipt><i>\\u00fc+& =%' }], { title: { text: 'Old ${charset}' } }, { showSendToCloud: true })`,
        charset,
      )
      const before = await plots()
      const tab = await share(visit, '/plotly-3.js')
      await signIn(tab, 'alice')
      await tab.waitForSelector('#save:not([hidden])')
      expect(await textOf(tab, 'name')).toBe(`Old ${charset}`)
      expect(await plots()).toBe(before)
      const { data } = await figureOf(await save(tab))
      expect(data[0]).toMatchObject({ y: [1, 2], name: '</script><i>ü+& =%' })
      await visit.close()
    },
  )

  it('the share page accepts charts only from its opener and the named origin', async () => {
    const { url, elsewhere } = site()
    elsewhere.pages.set(
      '/attacker',
      `<!doctype html><title>attacker</title><script>said = []; onmessage = ({ data }) => said.push(data)</script>`,
    )
    const visit = await site().visit(`${elsewhere.url}/attacker`)
    const opened = new Promise<Page>((done) => visit.page.once('popup', (popup) => popup && done(popup)))
    // The page names another origin than its own.
    await visit.page.evaluate((target) => {
      const tab = window.open(`${target}/newchart?origin=https://charts.example`)
      setInterval(() => tab!.postMessage({ type: 'chart', chart: { data: [{ y: [1] }] } }, '*'), 20)
    }, url)
    const tab = await opened
    await signIn(tab, 'alice')
    await tab.waitForFunction(() => /Receiving/.test(document.getElementById('message')!.textContent!))
    // Earlier messages have arrived when the page answers this one.
    await tab.evaluate(
      () =>
        new Promise((done) => {
          let count = 0
          addEventListener('message', () => ++count === 3 && done(undefined))
        }),
    )
    expect(await tab.$eval('#save', (form) => (form as HTMLElement).hidden)).toBe(true)
    expect(await visit.page.evaluate(() => (window as unknown as { said: unknown[] }).said)).toEqual([])
    await visit.close()
  })
})
