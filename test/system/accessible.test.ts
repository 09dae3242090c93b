// Accessibility (axe-core), weight and phone layout of pages, in light and dark.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'puppeteer-core'
import { beforeAll, expect, it } from 'vitest'
import { inBrowser, openPage } from '../support/browser.ts'
import { itLong, runs } from '../support/property-runs.ts'

const site = inBrowser()
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const pictures = process.env.GRIDLINE_SCREENSHOTS
/** Maximum bytes that are sent for a page, without the chart library and pictures. */
const MAX_BYTES = 36 * 1024

const paths: Record<string, string> = {
  'start, signed out': '/',
  connect: '/connect',
  'sign in': '/signin',
  'save a chart': '/newchart',
}
const signedIn: Record<string, string> = {
  start: '/',
  search: '/?q=price',
  'own files': '/~alice/',
  list: '/~alice/?view=list',
  trash: '/~alice/?show=trash',
  account: '/account',
}

beforeAll(async () => {
  const { test } = site()
  const columns = { day: ['2024-01-01', '2024-01-02'], price: [12345678, 2.5], city: ['Oslo', 'Rome'] }
  const grid = await test.grid('alice', 'prices', columns, { world_readable: true })
  const figure = {
    data: [{ type: 'scatter', mode: 'lines', x: ['2024-01-01', '2024-01-02'], y: [1, 35.6] }],
    layout: {
      title: { text: 'Prices of a day', subtitle: { text: 'In euro' } },
      meta: { theme: 'gridline' },
    },
  }
  const { file } = await test.plot('alice', figure, { world_readable: true, filename: 'prices line' })
  const folder = await test.ask('alice', 'POST', '/v2/folders', { json: { path: 'Reports/2024' } })
  const path = ({ fid }: { fid: string }) => `/~${fid.replace(':', '/')}/`
  paths.grid = path(grid)
  paths.plot = path(file)
  paths.user = '/~alice/'
  paths['not found'] = '/~alice/999999/'
  signedIn['grid, filtered'] = `${path(grid)}?where=price%20%3E%203`
  signedIn.folder = path(folder.json.file)
})

/** Returns violations found by axe-core, by rule. */
async function violations(page: Page): Promise<Record<string, string[]>> {
  await page.evaluate(axe)
  return page.evaluate(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: the script has no types here
    const { violations } = await (globalThis as any).axe.run(document, { iframes: false })
    return Object.fromEntries(
      // biome-ignore lint/suspicious/noExplicitAny: as above
      violations.map(({ id, nodes }: any) => [
        id,
        nodes.map(({ html }: { html: string }) => html.slice(0, 120)),
      ]),
    )
  })
}

/** Maximum number of times that Tab is pressed on a page. */
const MAX_TABS = 250

/** Presses Tab until all visible controls have had the focus. Returns those that have not, or do not show it. */
async function findUnreached(page: Page): Promise<string[]> {
  const step = () =>
    page.evaluate(() => {
      const at = document.activeElement
      if (at && at !== document.body) {
        const { outlineStyle, boxShadow } = getComputedStyle(at)
        at.toggleAttribute('data-reached', true)
        if (outlineStyle === 'none' && boxShadow === 'none') at.toggleAttribute('data-unseen', true)
      }
      const within = document.querySelector('dialog[open]') ?? document
      const controls = within.querySelectorAll<HTMLElement>(
        ':is(a[href], button, input, select, textarea, summary, [tabindex="0"]):not([tabindex="-1"], :disabled, [type=hidden])',
      )
      return [...controls]
        .filter(
          (control) =>
            control.checkVisibility({ visibilityProperty: true }) &&
            (!control.hasAttribute('data-reached') || control.hasAttribute('data-unseen')),
        )
        .map(({ outerHTML }) => outerHTML.slice(0, 100))
    })
  let left = await step()
  for (let tabs = 0; left.length > 0 && tabs < MAX_TABS; tabs++) {
    await page.keyboard.press('Tab')
    left = await step()
  }
  return left
}

let turn = 0

/** Alternates light on a screen and dark on a phone; both for each page with `npm run test:long`. */
async function look(page: Page, name: string, path: string): Promise<object> {
  const found: Record<string, unknown> = {}
  const both = [
    ['light', 1280],
    ['dark', 390],
  ] as const
  const which = turn++ % 2
  for (const [scheme, width] of runs(1, 2) === 2 || pictures ? both : both.slice(which, which + 1)) {
    let weight = 0
    const urls = new Map<string, string>()
    const network = await page.createCDPSession()
    await network.send('Network.enable')
    await network.send('Network.setCacheDisabled', { cacheDisabled: true })
    network.on('Network.requestWillBeSent', ({ requestId, request }) => urls.set(requestId, request.url))
    network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const url = urls.get(requestId)
      // Without a URL, the page before asked for it, such as a picture of the start page after signing in.
      if (url && !/plotly|bundle-|\.png|favicon/.test(url)) weight += encodedDataLength
    })
    await page.setViewport({ width, height: 844 })
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
    await page.goto(site().url + path, { waitUntil: 'load' })
    await network.detach()
    if (pictures)
      await page.screenshot({ path: `${pictures}/page-${name.replace(/\W+/g, '-')}-${width}.png` })
    const wrong = await violations(page)
    if (Object.keys(wrong).length > 0) found[`${name}, ${scheme}`] = wrong
    if (weight > MAX_BYTES) found[`${name}, bytes`] = weight
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    if (wide > 0) found[`${name}, ${width} px`] = `scrolls ${wide} px sideways`
    const unreached = await findUnreached(page)
    if (unreached.length > 0) found[`${name}, keyboard`] = unreached
  }
  return found
}

it('long names without spaces fit on a phone, on pages and in dialogs', async () => {
  const { test, url } = site()
  const name = 'regional_sales_2024_q3_export_final_reviewed_by_finance_v2_wind'
  const { fid: grid } = await test.grid('alice', `${name}_grid`, { [name]: [1] })
  const { file } = await test.plot('alice', { data: [], layout: {} }, { filename: name })
  const text = `|a|b|\n|-|-|\n|${'many words '.repeat(20)}|${name}|`
  const rows = [
    { items: [{ plot: file.fid }, { number: grid, value: 'count' }] },
    { items: [{ table: grid }, { text }] },
  ]
  const json = { content: { settings: { board: { rows } } }, filename: `${name}_board` }
  const { fid: board } = (await test.ask('alice', 'POST', '/v2/dashboards', { json })).json.file
  const page = await site().signIn('alice')
  await page.setViewport({ width: 360, height: 800 })
  const wide: string[] = []
  for (const fid of [grid, file.fid, board]) {
    const open = () => page.goto(`${url}/~${fid.replace(':', '/')}/`, { waitUntil: 'load' })
    await open()
    const measure = async (what: string): Promise<void> => {
      const isWide = await page.evaluate(() =>
        [document.documentElement, document.querySelector('dialog[open]')].some(
          (one) => one !== null && one.scrollWidth > one.clientWidth,
        ),
      )
      if (isWide) wide.push(`${fid}: ${what}`)
    }
    await measure('page')
    for (const action of ['trash', 'share', 'rename']) {
      await open()
      await page.click(`[data-action=${action}]`)
      await page.waitForSelector('dialog .actions, dialog h3')
      await measure(action)
    }
  }
  expect(wide).toEqual([])
  await page.close()
})

it('a key that is held down confirms nothing in the dialog that it opens', async () => {
  const { test, url } = site()
  const { fid } = await test.grid('alice', 'held', { a: [1] })
  const page = await site().signIn('alice')
  await page.goto(`${url}/~${fid.replace(':', '/')}/`)
  for (const [action, confirmed] of [
    ['trash', 'button'],
    ['move', 'input'],
  ]) {
    await page.focus(`[data-action=${action}]`)
    await page.keyboard.down('Enter')
    await page.waitForSelector(`dialog ${confirmed}:focus`)
    for (let k = 0; k < 5; k++) await page.keyboard.down('Enter')
    await page.keyboard.up('Enter')
    expect(await page.$eval('dialog [role=status]', ({ textContent }) => textContent)).toBe('')
    await page.keyboard.press('Escape')
    await page.waitForFunction(() => document.querySelector('dialog') === null)
  }
  // Enter that ends a word of Chinese or Japanese is no confirmation.
  await page.click('[data-action=rename]')
  await page.waitForSelector('dialog input:focus')
  await page.$eval('dialog input', (field) => {
    ;(field as HTMLInputElement).value = 'half'
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true }))
  })
  const { json } = await test.ask('alice', 'GET', `/v2/files/${fid}`)
  expect([json.filename, json.deleted]).toEqual(['held', false])
  await page.close()
})

it('public pages are accessible', async () => {
  const page = await openPage(site().browser)
  const found: object[] = []
  for (const [name, path] of Object.entries(paths)) found.push(await look(page, name, path))
  expect(Object.assign({}, ...found)).toEqual({})
})

it('pages of signed-in users are accessible', async () => {
  const { url } = site()
  const page = await site().signIn('alice')
  const found: object[] = []
  for (const [name, path] of Object.entries(signedIn)) found.push(await look(page, name, path))
  expect(Object.assign({}, ...found)).toEqual({})
  await page.goto(`${url}/?q=price`)
  expect(await page.$$eval('table.files tbody tr', ({ length }) => length)).toBe(3)
  await page.goto(`${url}/?q=${'x'.repeat(10_000)}`)
  expect(await page.$eval('.note', (note) => note.textContent)).toContain('first 200 characters')
  await page.goto(`${url}/?q=%25_%5C'`)
  expect(await page.$eval('main', (main) => main.textContent)).toContain('No file has this in its name')
  await page.browserContext().close()
})

itLong(
  'the form and all dialogs are accessible, and fit on a phone',
  async () => {
    const { url } = site()
    const page = await site().signIn('alice')
    const found: Record<string, unknown> = {}
    const opened = [
      ...['edit', 'share', 'rename', 'move', 'copy', 'trash', 'history', 'add'].map((action) => [
        'plot',
        action,
      ]),
      ...['make', 'add-to', 'rows', 'summary', 'query', 'history'].map((action) => ['grid', action]),
    ]
    for (const [k, [where, action]] of opened.entries()) {
      await page.setViewport({ width: k % 2 === 0 ? 360 : 1280, height: 800 })
      await page.goto(url + paths[where])
      // By keyboard alone.
      await page.focus(`[data-action=${action}]`)
      await page.keyboard.press('Enter')
      const ready = { edit: '#edit [name=title]', rows: 'thead button' }[action] ?? 'dialog[open]'
      await page.waitForSelector(ready)
      // Nothing is being read any more.
      await page.waitForFunction(
        () => ![...document.querySelectorAll('[role=status]')].some((one) => one.textContent!.endsWith('…')),
      )
      const wrong = await violations(page)
      if (Object.keys(wrong).length > 0) found[`${where} ${action}`] = wrong
      const wide = await page.evaluate(() =>
        Math.max(
          document.documentElement.scrollWidth - innerWidth,
          ...[...document.querySelectorAll('dialog')].map(
            (dialog) => dialog.scrollWidth - dialog.clientWidth,
          ),
        ),
      )
      if (wide > 0) found[`${where} ${action}, width`] = wide
      // Controls are large enough for a finger.
      const small = await page.$$eval(':is(dialog, #edit) :is(button, select, input, summary)', (controls) =>
        controls
          .map((control) => ({
            html: control.outerHTML.slice(0, 80),
            box: control.closest('label')?.getBoundingClientRect() ?? control.getBoundingClientRect(),
          }))
          .filter(({ box }) => box.width > 0 && (box.width < 24 || box.height < 24))
          .map(({ html }) => html),
      )
      if (small.length > 0) found[`${where} ${action}, size`] = small
      const unreached = await findUnreached(page)
      if (unreached.length > 0) found[`${where} ${action}, keyboard`] = unreached
      if (await page.$('dialog[open]')) {
        await page.keyboard.press('Escape')
        const isOpen = await page.evaluate(() => document.querySelector('dialog[open]') !== null)
        if (isOpen) found[`${where} ${action}, Escape`] = 'does not close it'
      }
    }
    expect(found).toEqual({})
    await page.browserContext().close()
  },
  120_000,
)

it('the alt text of a chart describes its data', async () => {
  const { browser, url } = site()
  const page = await openPage(browser)
  await page.goto(`${url}${paths.plot.slice(0, -1)}.embed`)
  await page.waitForSelector('#chart[data-drawn=true]')
  expect(await page.$eval('#chart', (chart) => chart.ariaLabel)).toBe(
    'Prices of a day. Line chart of 2 points, from 2024-01-01 to 2024-01-02, lowest 1, highest 35.6.',
  )
  // It fills its frame from the first drawing.
  const heights = await page.$eval('#chart .main-svg', (svg) => [
    svg.getBoundingClientRect().height,
    innerHeight,
  ])
  expect(heights[0]).toBe(heights[1])
})

it('the copied iframe has the chosen size and colors', async () => {
  const { browser, url } = site()
  const page = await openPage(browser)
  await page.goto(url + paths.plot)
  await page.$eval('#embed', (pre) => pre.closest('details')!.setAttribute('open', ''))
  const set = (name: string, value: string) =>
    page.$eval(
      `#embed-form [name=${name}]`,
      (input, wanted) => {
        ;(input as HTMLInputElement).value = wanted
        input.dispatchEvent(new Event('input', { bubbles: true }))
      },
      value,
    )
  await set('width', '640')
  await set('height', '360')
  await set('theme', 'auto')
  const frame = await page.$eval('#embed', (pre) => pre.textContent)
  expect(frame).toContain('.embed?theme=auto"')
  expect(frame).toContain('width="640" height="360"')
  await set('width', '"><script>')
  expect(await page.$eval('#embed', (pre) => pre.textContent)).toContain('width="100%"')
  expect(await page.$eval('#link', (link) => link.textContent)).toBe(url + paths.plot)
})
