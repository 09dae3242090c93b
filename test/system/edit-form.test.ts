// The form beside a chart, which works like `gridline plot set`.
import type { Frame, Page } from 'puppeteer-core'
import { beforeAll, expect, it } from 'vitest'
import { compileChart } from '../../src/charts/compile/compile.ts'
import type { ChartOptions } from '../../src/charts/spec/options.ts'
import type { ChartType } from '../../src/charts/spec/types.ts'
import { connectRemote } from '../../src/cli/connect/connect.ts'
import { inBrowser } from '../support/browser.ts'
import { itLong, runs } from '../support/property-runs.ts'

const site = inBrowser()
let path: string
let fid: string
const figure = async () => (await site().test.ask('alice', 'GET', `/v2/plots/${fid}/content`)).json

beforeAll(async () => {
  const { test, url } = site()
  const columns = { day: ['2024-01-01', '2024-01-02', '2024-01-03'], price: [1, 5, 3], cost: [2, 2, 1] }
  const grid = await test.grid('alice', 'sales', columns, { world_readable: true })
  const { client, close } = await connectRemote(url, { user: 'alice', apiKey: test.keys.get('alice') })
  const whole = await client.call('grids.get', { fid: grid.fid })
  const made = await compileChart(client, whole, 'line', { x: 'day', y: 'price,cost' })
  const { file } = await test.plot('alice', JSON.parse(JSON.stringify(made)), { world_readable: true })
  await close()
  fid = file.fid
  path = `${url}/~${fid.replace(':', '/')}/`
})

async function signedIn(user: string): Promise<Page> {
  const page = await site().signIn(user)
  await page.goto(path)
  return page
}

/** Fills a field as a person does: with an event. */
const fill = (page: Page, selector: string, value: string) =>
  page.$eval(
    selector,
    (field, text) => {
      ;(field as HTMLInputElement).value = text
      field.dispatchEvent(new Event('input', { bubbles: true }))
    },
    value,
  )

/** The frame of the chart, once a text is drawn in it. */
async function drawnText(page: Page, text: string): Promise<Frame> {
  const frame = page.frames().find((one) => one.url().includes('.embed'))!
  await frame.waitForFunction(
    (wanted) => document.getElementById('chart')!.textContent!.includes(wanted),
    {},
    text,
  )
  return frame
}

const said = (page: Page, text: string) =>
  page.waitForFunction(
    (wanted) => document.querySelector('#edit [role=status]')!.textContent!.includes(wanted),
    {},
    text,
  )

it('the keyboard goes from the button into the form, and back when it is closed', async () => {
  const page = await signedIn('alice')
  await page.focus('[data-action=edit]')
  await page.keyboard.press('Enter')
  await page.waitForSelector('#edit :is(select, input):focus')
  for (let tabs = 0; tabs < 100; tabs++) {
    await page.keyboard.press('Tab')
    if (await page.evaluate(() => document.activeElement?.textContent === 'Close')) break
  }
  await page.keyboard.press('Enter')
  await page.waitForSelector('[data-action=edit]:focus')
  await page.close()
})

it('the form saves only its changes', async () => {
  const page = await signedIn('alice')
  const before = await figure()
  await page.click('[data-action=edit]')
  await page.waitForFunction(() => document.querySelector<HTMLSelectElement>('[name=x]')?.value === 'day')
  expect(await page.$eval('[name=y]', (input) => (input as HTMLInputElement).value)).toBe('price,cost')
  await fill(page, '[name=title]', 'Sales & costs')
  await fill(page, '[name=theme]', 'newsroom')
  await page.waitForSelector('#edit-colors input')
  await fill(page, '#edit-colors input', '#112233')
  // Nothing is stored before it is saved.
  expect(await figure()).toEqual(before)
  expect(await page.$eval('#edit-command', (pre) => pre.textContent)).toBe(
    `gridline plot set ${fid} --title 'Sales & costs' --theme newsroom --color-of 'price=#112233'`,
  )
  await page.focus('[name=title]')
  await page.keyboard.press('Enter')
  await said(page, 'Saved.')
  const after = await figure()
  expect(after.layout).toMatchObject({ title: { text: 'Sales & costs' }, meta: { theme: 'newsroom' } })
  expect(after.data).toEqual([{ ...before.data[0], line: { color: '#112233' } }, before.data[1]])
  await fill(page, '[name=type]', 'bar')
  await page.click('#edit button.primary')
  await said(page, 'Saved.')
  await page.waitForFunction(() => document.querySelector<HTMLSelectElement>('[name=type]')?.value === 'bar')
  const bars = await figure()
  expect(bars.data.map(({ type }: { type: string }) => type)).toEqual(['bar', 'bar'])
  expect(bars.layout.title.text).toBe('Sales & costs')
  await page.browserContext().close()
}, 25_000)

itLong(
  'the form never overwrites a concurrent change, and reports mistakes',
  async () => {
    const page = await signedIn('alice')
    await page.click('[data-action=edit]')
    await page.waitForFunction(() => document.querySelector<HTMLSelectElement>('[name=x]')?.value === 'day')
    await fill(page, '[name=y]', 'prise')
    await said(page, 'Did you mean price?')
    await page.click('#edit button.primary')
    await said(page, 'Not saved')
    const { test } = site()
    const now = await figure()
    await test.ask('alice', 'PATCH', `/v2/plots/${fid}`, {
      json: { figure: { ...now, layout: { ...now.layout, height: 400 } } },
    })
    await fill(page, '[name=y]', 'price')
    await page.click('#edit button.primary')
    await said(page, 'somebody else')
    expect((await figure()).layout.height).toBe(400)
    // The changes are made to theirs, and saved when asked.
    await page.click('#edit [role=status] button')
    await said(page, 'their chart with your changes')
    await page.click('#edit button.primary')
    await said(page, 'Saved.')
    const both = await figure()
    expect([both.layout.height, both.data.length]).toEqual([400, 1])
    await page.browserContext().close()
  },
  25_000,
)

itLong(
  'one button creates a chart of the filtered rows, and opens its form',
  async () => {
    const page = await signedIn('alice')
    const { test, url } = site()
    const columns = { city: ['Oslo', 'Rome', 'Oslo'], price: [1, 5, 3] }
    const grid = await test.grid('alice', 'prices', columns)
    await page.goto(`${url}/~${grid.fid.replace(':', '/')}/?where=${encodeURIComponent('price > 1')}`)
    await page.click('[data-action=make]')
    await page.waitForSelector('dialog button.primary')
    await Promise.all([page.waitForNavigation(), page.click('dialog button.primary')])
    await page.waitForFunction(
      () => (document.querySelector<HTMLInputElement>('[name=where]')?.value ?? '') !== '',
    )
    const values = await page.$$eval('#edit [name=type], #edit [name=x], #edit [name=where]', (fields) =>
      fields.map((field) => (field as HTMLInputElement).value),
    )
    expect(values).toEqual(['bar', 'city', 'price > 1'])
    expect(await page.$eval('h1', (h1) => h1.textContent)).toBe('Price by city')
    await fill(page, '#edit [name=height]', '640')
    expect(await page.$eval('#edit-command', (pre) => pre.textContent)).toMatch(/ --height 640$/)
    await page.click('#edit button.primary')
    await said(page, 'Saved.')
    expect(await page.$eval('iframe.chart', (frame) => frame.getBoundingClientRect().height)).toBe(640)
    await page.browserContext().close()
  },
  25_000,
)

let made = 0

/** Makes a chart of a new grid; returns its fid. */
async function madeChart(
  type: ChartType,
  options: ChartOptions,
  columns: Record<string, unknown[]>,
): Promise<string> {
  const { test, url } = site()
  const grid = await test.grid('alice', `data ${++made}`, columns)
  const { client, close } = await connectRemote(url, { user: 'alice', apiKey: test.keys.get('alice') })
  try {
    const whole = await client.call('grids.get', { fid: grid.fid })
    const figure = JSON.parse(JSON.stringify(await compileChart(client, whole, type, options)))
    return (await test.plot('alice', figure)).file.fid
  } finally {
    await close()
  }
}

itLong(
  'the form sets colors of series of a column, and other series keep theirs',
  async () => {
    const { test, url } = site()
    const columns = { day: ['2024-01-01', '2024-01-01'], city: ['Oslo', 'Rome'], price: [1, 5] }
    const grid = await test.grid('alice', 'cities', columns)
    const { client, close } = await connectRemote(url, { user: 'alice', apiKey: test.keys.get('alice') })
    const whole = await client.call('grids.get', { fid: grid.fid })
    const made = JSON.parse(
      JSON.stringify(await compileChart(client, whole, 'line', { x: 'day', y: 'price', by: 'city' })),
    )
    const rome = { target: 'Rome', value: { line: { color: '#445566' }, marker: { color: '#445566' } } }
    made.data[0].transforms[0].styles = [rome]
    const { file } = await test.plot('alice', made)
    await close()
    const page = await signedIn('alice')
    await page.goto(`${url}/~${file.fid.replace(':', '/')}/`)
    await page.click('[data-action=edit]')
    await page.waitForSelector('#edit-colors input')
    const shown = await page.$$eval('#edit-colors input', (inputs) =>
      inputs.map(({ name, value }) => [name, value]),
    )
    expect(shown.map(([name]) => name)).toEqual(['color Oslo', 'color Rome'])
    expect(shown[1][1]).toBe('#445566')
    await fill(page, '#edit-colors input', '#112233')
    await page.click('#edit button.primary')
    await said(page, 'Saved.')
    const { json } = await test.ask('alice', 'GET', `/v2/plots/${file.fid}/content`)
    const oslo = { target: 'Oslo', value: { line: { color: '#112233' }, marker: { color: '#112233' } } }
    expect(json.data[0].transforms[0].styles).toEqual([rome, oslo])
    await page.browserContext().close()
  },
  25_000,
)

it('the chart follows the form, undo and redo, and is compared with the published one', async () => {
  const { test, url } = site()
  const made = await madeChart(
    'line',
    { x: 'day', y: 'price' },
    { day: ['2024-01-01', '2024-01-02'], price: [1, 5] },
  )
  const stored = async () => (await test.ask('alice', 'GET', `/v2/plots/${made}/content`)).json
  const before = await stored()
  const page = await signedIn('alice')
  await page.goto(`${url}/~${made.replace(':', '/')}/`)
  await page.click('[data-action=edit]')
  await page.waitForFunction(() => document.querySelector<HTMLSelectElement>('[name=x]')?.value === 'day')
  await fill(page, '[name=source]', 'Norway')
  const frame = await drawnText(page, 'Norway')
  await fill(page, '[name=note]', '2024-01-02,5:Peak')
  await drawnText(page, 'Peak')
  await page.click('[aria-label=Undo]')
  await frame.waitForFunction(() => !document.getElementById('chart')!.textContent!.includes('Peak'))
  expect(await page.$eval('[name=note]', (field) => (field as HTMLInputElement).value)).toBe('')
  await page.focus('[name=title]')
  await page.keyboard.down('Control')
  await page.keyboard.press('y')
  await page.keyboard.up('Control')
  await drawnText(page, 'Peak')
  await page.click('#edit [aria-pressed]')
  await frame.waitForFunction(() => !document.getElementById('chart')!.textContent!.includes('Norway'))
  await page.click('#edit [aria-pressed]')
  await drawnText(page, 'Peak')
  // A part of the chart leads to its field, by mouse and by keyboard; arrow keys move a note.
  await frame.click('.xaxislayer-above')
  await page.waitForFunction(() => (document.activeElement as HTMLInputElement).name === 'x')
  await frame.$eval('.annotation[aria-label^="Change the note"]', (note) => (note as SVGElement).focus())
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => (document.activeElement as HTMLInputElement).name === 'note')
  await frame.$eval('.annotation[aria-label^="Change the note"]', (note) => (note as SVGElement).focus())
  await page.keyboard.press('ArrowUp')
  await page.waitForFunction(() => !document.querySelector<HTMLButtonElement>('[aria-label=Undo]')!.disabled)
  expect(await stored()).toEqual(before)
  await page.click('#edit button.primary')
  await said(page, 'Saved.')
  const { layout } = await stored()
  expect(layout.annotations.find(({ text }: { text: string }) => text === 'Peak')).toMatchObject({
    ax: 0,
    ay: -44,
  })
  await page.browserContext().close()
}, 25_000)

itLong(
  'a preview without changes is the published chart, whatever its type',
  async () => {
    const columns = {
      day: Array.from({ length: 40 }, (_, k) => `2024-01-${String((k % 20) + 1).padStart(2, '0')}`),
      city: Array.from({ length: 40 }, (_, k) => (k < 20 ? 'Oslo' : 'Rome')),
      price: Array.from({ length: 40 }, (_, k) => ((k * 7919) % 101) / 3),
      cost: Array.from({ length: 40 }, (_, k) => (k % 9 === 0 ? null : (k * 104_729) % 53)),
    }
    const charts: [ChartType, ChartOptions][] = [
      ['line', { x: 'day', y: 'price', by: 'city', trend: 'linear' }],
      ['line', { x: 'day', y: 'price', facet: 'city' }],
      ['bar', { x: 'city', y: 'price', aggregate: 'mean', sort: '-price' }],
      ['bar', { x: 'day', y: 'price', aggregate: 'sum', per: 'week', where: "city = 'Oslo' and cost > 3" }],
      ['scatter', { x: 'price', y: 'cost', color: 'cost', by: 'city' }],
      ['histogram', { y: 'price', by: 'city' }],
      ['box', { x: 'city', y: 'cost' }],
      ['heatmap', { x: 'day', y: 'city', color: 'price' }],
      ['pie', { x: 'city', y: 'price', aggregate: 'sum' }],
      ['area', { x: 'day', y: 'price', by: 'city' }],
      ['scatter', { x: 'price', y: 'cost', animate: 'city' }],
    ]
    const page = await signedIn('alice')
    // All types with `npm run test:long`.
    for (const [type, options] of charts.filter((_, k) => k % runs(3, 1) === 0)) {
      const made = await madeChart(type, options, columns)
      await page.goto(`${site().url}/~${made.replace(':', '/')}/`)
      const frame = await page.waitForFrame((one) => one.url().includes('.embed'))
      await frame.waitForSelector('#chart[data-drawn]')
      const drawing = () =>
        frame.evaluate(() => {
          const { data, layout } = document.getElementById('chart') as unknown as {
            data: object
            layout: { meta?: unknown; annotations?: { name?: string }[] }
          }
          // The part of the legend that edits, and the spec, which is not drawn.
          // The title, which the page shows otherwise, the title of the axis below it, and what is measured.
          const measured = new Set(['xshift', 'yshift', 'b', 't', 'range'])
          const annotations = (layout.annotations ?? []).filter(({ name }) => name !== 'gridline-y-title')
          const rest = { ...layout, annotations, meta: 0, legend: 0, title: 0 }
          return JSON.parse(JSON.stringify([data, rest], (key, value) => (measured.has(key) ? 0 : value)))
        })
      const published = await drawing()
      await page.click('[data-action=edit]')
      await frame.waitForSelector('#chart[data-shows=preview]')
      const preview = await drawing()
      expect(preview, type).toEqual(published)
    }
    await page.browserContext().close()
  },
  60_000,
)

itLong(
  'users without write access have no form',
  async () => {
    const page = await signedIn('bob')
    expect(await page.$('#edit')).toBe(null)
    await page.browserContext().close()
  },
  25_000,
)

it('texts and names of columns with line ends stay as they are in filters and in the form', async () => {
  const { test, url } = site()
  const grid = await test.grid('alice', 'lines', {
    note: ['one\ntwo', 'onetwo', 'one\r\ntwo'],
    'unit\nprice': [10, 20, 30],
    unitprice: [100, 200, 300],
  })
  const page = await site().signIn('alice')
  const address = `${url}/~${grid.fid.replace(':', '/')}/`
  const shownPrices = () =>
    page.$$eval('main tbody td:nth-child(3)', (cells) => cells.map(({ textContent }) => textContent))
  for (const [row, price] of [
    [1, '10'],
    [3, '30'],
  ]) {
    await page.goto(address)
    await page.click(`main tbody tr:nth-child(${row}) td:nth-child(2)`)
    await Promise.all([page.waitForNavigation(), page.click('form.filter > button:last-child')])
    expect(await shownPrices()).toEqual([price])
    // The same condition again.
    await Promise.all([page.waitForNavigation(), page.click('form.filter button[type=submit]')])
    expect(await shownPrices()).toEqual([price])
  }
  const { client, close } = await connectRemote(url, { user: 'alice', apiKey: test.keys.get('alice') })
  const whole = await client.call('grids.get', { fid: grid.fid })
  const made = await compileChart(client, whole, 'bar', { x: 'note', y: 'unit\nprice' })
  await close()
  const { file } = await test.plot('alice', JSON.parse(JSON.stringify(made)))
  const stored = async () => (await test.ask('alice', 'GET', `/v2/plots/${file.fid}/content`)).json
  const { data } = await stored()
  await page.goto(`${url}/~${file.fid.replace(':', '/')}/`)
  await page.click('[data-action=edit]')
  await page.waitForFunction(() => document.querySelector<HTMLSelectElement>('[name=x]')?.value === 'note')
  await fill(page, '[name=title]', 'Prices')
  await page.click('#edit button.primary')
  await said(page, 'Saved.')
  const changed = await stored()
  expect([changed.layout.title.text, changed.data]).toEqual(['Prices', data])
  expect(await page.$eval('[name=y]', (input) => (input as HTMLInputElement).value)).toBe('unit⏎price')
  await fill(page, '[name=y]', 'unit⏎price,unitprice')
  await page.click('#edit button.primary')
  await said(page, 'Saved.')
  expect((await stored()).data.map(({ name }: { name: string }) => name)).toEqual([
    'unit\nprice',
    'unitprice',
  ])
  await page.browserContext().close()
})
