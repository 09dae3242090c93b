// The form beside a chart, which works like `gridline plot set`.
import type { Page } from 'puppeteer-core'
import { beforeAll, expect, it } from 'vitest'
import { compileChart } from '../../src/charts/compile/compile.ts'
import { connectRemote } from '../../src/cli/connect/connect.ts'
import { inBrowser } from '../support/browser.ts'

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
  const { test, url, browser } = site()
  const context = await browser.createBrowserContext()
  const page = await context.newPage()
  page.setDefaultTimeout(8000)
  await page.goto(`${url}/signin`)
  await page.type('input[name=username]', user)
  await page.type('input[name=api_key]', test.keys.get(user)!)
  await Promise.all([page.waitForNavigation(), page.click('button.primary')])
  await page.goto(path)
  return page
}

const said = (page: Page, text: string) =>
  page.waitForFunction(
    (wanted) => document.querySelector('#edit [role=status]')!.textContent!.includes(wanted),
    {},
    text,
  )

it('the form saves only its changes', async () => {
  const page = await signedIn('alice')
  const before = await figure()
  await page.click('#edit summary')
  await page.waitForFunction(() => document.querySelector<HTMLSelectElement>('[name=x]')?.value === 'day')
  expect(await page.$eval('[name=y]', (input) => (input as HTMLInputElement).value)).toBe('price,cost')
  await page.$eval('[name=title]', (input) => {
    ;(input as HTMLInputElement).value = ''
  })
  await page.type('[name=title]', 'Sales & costs')
  await page.select('[name=theme]', 'newsroom')
  await page.$eval('#edit-colors input', (input) => {
    ;(input as HTMLInputElement).value = '#112233'
    input.dispatchEvent(new Event('input', { bubbles: true }))
  })
  expect(await page.$eval('#edit-command', (pre) => pre.textContent)).toBe(
    `gridline plot set ${fid} --title 'Sales & costs' --theme newsroom --color-of 'price=#112233'`,
  )
  await page.focus('[name=title]')
  await page.keyboard.press('Enter')
  await said(page, 'Saved.')
  const after = await figure()
  expect(after.layout).toMatchObject({ title: { text: 'Sales & costs' }, meta: { theme: 'newsroom' } })
  expect(after.data).toEqual([{ ...before.data[0], line: { color: '#112233' } }, before.data[1]])
  await page.select('[name=type]', 'bar')
  await page.click('#edit button.primary')
  await said(page, 'Saved.')
  await page.waitForFunction(() => document.querySelector<HTMLSelectElement>('[name=type]')?.value === 'bar')
  const bars = await figure()
  expect(bars.data.map(({ type }: { type: string }) => type)).toEqual(['bar', 'bar'])
  expect(bars.layout.title.text).toBe('Sales & costs')
  await page.browserContext().close()
}, 25_000)

it('the form never overwrites a concurrent change, and reports mistakes', async () => {
  const page = await signedIn('alice')
  await page.click('#edit summary')
  await page.waitForFunction(() => document.querySelector<HTMLSelectElement>('[name=x]')?.value === 'day')
  await page.$eval('[name=y]', (input) => {
    ;(input as HTMLInputElement).value = 'prise'
  })
  await page.click('#edit button.primary')
  await said(page, 'Did you mean price?')
  const { test } = site()
  const now = await figure()
  await test.ask('alice', 'PATCH', `/v2/plots/${fid}`, {
    json: { figure: { ...now, layout: { ...now.layout, height: 400 } } },
  })
  await page.$eval('[name=y]', (input) => {
    ;(input as HTMLInputElement).value = 'price'
  })
  await page.click('#edit button.primary')
  await said(page, 'Not saved')
  expect((await figure()).layout.height).toBe(400)
  await page.browserContext().close()
}, 25_000)

it('one button creates a chart of the filtered rows, and opens its form', async () => {
  const page = await signedIn('alice')
  const { test, url } = site()
  const columns = { city: ['Oslo', 'Rome', 'Oslo'], price: [1, 5, 3] }
  const grid = await test.grid('alice', 'prices', columns)
  await page.goto(`${url}/~${grid.fid.replace(':', '/')}/?where=${encodeURIComponent('price > 1')}`)
  await Promise.all([page.waitForNavigation(), page.click('#make')])
  expect(new URL(page.url()).hash).toBe('#edit')
  await page.waitForFunction(
    () => (document.querySelector<HTMLInputElement>('[name=where]')?.value ?? '') !== '',
  )
  const values = await page.$$eval('#edit [name=type], #edit [name=x], #edit [name=where]', (fields) =>
    fields.map((field) => (field as HTMLInputElement).value),
  )
  expect(values).toEqual(['bar', 'city', 'price > 1'])
  expect(await page.$eval('h1', (h1) => h1.textContent)).toBe('Price by city')
  await page.type('#edit [name=height]', '640')
  expect(await page.$eval('#edit-command', (pre) => pre.textContent)).toMatch(/ --height 640$/)
  await page.click('#edit button.primary')
  await said(page, 'Saved.')
  expect(await page.$eval('iframe.chart', (frame) => frame.getBoundingClientRect().height)).toBe(640)
  await page.browserContext().close()
}, 25_000)

it('the form sets colors of series of a column, and other series keep theirs', async () => {
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
  await page.click('#edit summary')
  await page.waitForSelector('#edit-colors input')
  const shown = await page.$$eval('#edit-colors input', (inputs) =>
    inputs.map(({ name, value }) => [name, value]),
  )
  expect(shown.map(([name]) => name)).toEqual(['color Oslo', 'color Rome'])
  expect(shown[1][1]).toBe('#445566')
  await page.$eval('#edit-colors input', (input) => {
    ;(input as HTMLInputElement).value = '#112233'
    input.dispatchEvent(new Event('input', { bubbles: true }))
  })
  await page.click('#edit button.primary')
  await said(page, 'Saved.')
  const { json } = await test.ask('alice', 'GET', `/v2/plots/${file.fid}/content`)
  const oslo = { target: 'Oslo', value: { line: { color: '#112233' }, marker: { color: '#112233' } } }
  expect(json.data[0].transforms[0].styles).toEqual([rome, oslo])
  await page.browserContext().close()
}, 25_000)

it('users without write access have no form', async () => {
  const page = await signedIn('bob')
  expect(await page.$('#edit')).toBe(null)
  await page.browserContext().close()
}, 25_000)
