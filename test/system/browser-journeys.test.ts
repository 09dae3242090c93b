// What a person with only a browser does: every button of the pages, pressed in a real browser.
import type { Page } from 'puppeteer-core'
import { expect, it, vi } from 'vitest'
import { inBrowser } from '../support/browser.ts'
import { itLong } from '../support/property-runs.ts'

const site = inBrowser()

/** A page of a signed-in user, and what went wrong on it. */
async function signedIn(user: string): Promise<{ page: Page; errors: string[] }> {
  const page = await site().signIn(user)
  await page.setViewport({ width: 1280, height: 900 })
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('dialog', (dialog) => dialog.accept())
  return { page, errors }
}

const pathOf = (fid: string): string => `${site().url}/~${fid.replace(':', '/')}/`

/** Drops a file on the page. */
const drop = (page: Page, name: string, text: string) =>
  page.evaluate(
    (fileName, content) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([content], fileName))
      dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }))
    },
    name,
    text,
  )

/** Presses the button of a dialog, or of the page, whose text begins like this, once it is there. */
const press = (page: Page, label: string, within = 'dialog') =>
  vi.waitFor(
    async () => {
      const isPressed = await page.evaluate(
        (where, text) => {
          const buttons = [...document.querySelectorAll<HTMLElement>(`${where} :is(button, a)`)]
          const button = buttons.find(
            (one) => !one.hidden && one.textContent!.startsWith(text) && !(one as HTMLButtonElement).disabled,
          )
          // After the answer, since the page may be left.
          if (button) setTimeout(() => button.click(), 20)
          return button !== undefined
        },
        within,
        label,
      )
      if (!isPressed) throw new Error(`there is no button ${label}`)
    },
    { timeout: 60_000, interval: 30 },
  )

async function pressAndGo(page: Page, label: string, within?: string): Promise<void> {
  // An address that only gets another hash is no other page.
  await page.evaluate(() => document.documentElement.setAttribute('data-left', ''))
  await press(page, label, within)
  await page.waitForFunction(
    () => !document.documentElement.hasAttribute('data-left') && document.readyState === 'complete',
  )
}

const fill = (page: Page, selector: string, value: string) =>
  page.$eval(
    selector,
    (field, text) => {
      ;(field as HTMLInputElement).value = text
      for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, { bubbles: true }))
    },
    value,
  )

const said = (page: Page, text: string, selector = 'dialog [role=status]') =>
  page.waitForFunction(
    (where, wanted) => document.querySelector(where)?.textContent?.includes(wanted),
    {},
    selector,
    text,
  )

const ask = async (path: string, user = 'alice') => (await site().test.ask(user, 'GET', path)).json

it('a messy file becomes a shared chart: drop, follow the hints, store, choose a chart, share', async () => {
  const { page, errors } = await signedIn('alice')
  await page.goto(`${site().url}/~alice/`)
  await drop(
    page,
    'umsatz.csv',
    'Region;Umsatz;Datum\nNord;1.234,50;03/04/2024\nSüd;2.100,00;15/04/2024\nWest;980,25;28/04/2024\nSumme;4.314,75;\n',
  )
  await page.waitForSelector('dialog tbody tr')
  for (const hint of ['Decimal separator: comma', 'Lines to skip at the end: 1']) {
    await press(page, hint)
    await page.waitForFunction(
      (text) =>
        ![...document.querySelectorAll('dialog .note button')].some((one) =>
          one.textContent!.startsWith(text),
        ),
      {},
      hint,
    )
  }
  // The types are as they will be stored, and can be changed.
  expect(
    await page.$$eval('dialog thead select', (fields) =>
      fields.map(({ selectedOptions }) => selectedOptions[0].text),
    ),
  ).toEqual(['text', 'number', 'date'])
  await pressAndGo(page, 'Store')
  const [fid] = /alice\/\d+/.exec(page.url())!
  const grid = await ask(`/v2/grids/${fid.replace('/', ':')}`)
  expect([grid.filename, grid.row_count, grid.cols.map(({ type }: { type: string }) => type)]).toEqual([
    'umsatz',
    3,
    ['text', 'number', 'date'],
  ])
  // The chart is offered at once, with a reason.
  await page.waitForSelector('dialog iframe')
  expect(await page.$eval('dialog p', (text) => text.textContent)).toMatch(/: .+/)
  await pressAndGo(page, 'Make this chart')
  await page.waitForSelector('#edit [name=title]')
  await press(page, 'Close', '#edit')
  await press(page, 'Share', 'main')
  await page.waitForSelector('dialog select[aria-label=Access]')
  await fill(page, 'dialog input[list=known-people]', 'bob')
  await press(page, 'Add')
  await said(page, 'bob can see it now.')
  await press(page, 'Create a link')
  await page.waitForSelector('dialog input[aria-label="Secret link"]')
  const link = await page.$eval(
    'dialog input[aria-label="Secret link"]',
    (field) => (field as HTMLInputElement).value,
  )
  expect((await fetch(link)).status).toBe(200)
  await press(page, 'Renew')
  await said(page, 'The former one has ended.')
  expect((await fetch(link)).status).toBe(404)
  await fill(page, 'dialog select[aria-label=Access]', 'true')
  await said(page, 'Anyone can see it now.')
  expect((await fetch(page.url())).status).toBe(200)
  await press(page, 'Remove')
  await said(page, 'bob is no longer a collaborator.')
  expect(errors).toEqual([])
  await page.browserContext().close()
})

itLong(
  'new data for a grid is compared before it is stored; cells are corrected without a change of others',
  async () => {
    const { test } = site()
    const { fid } = await test.grid('alice', 'my stock é.2024', { id: [1, 2, 3], price: [10, 20, 30] })
    const exact = '{"cols":[{"data":[10.10,9007199254740993,30]}]}'
    const { cols } = await ask(`/v2/grids/${fid}`)
    await test.ask('alice', 'PUT', `/v2/grids/${fid}/col?uid=${cols[1].uid}`, {
      body: exact,
      headers: { 'content-type': 'application/json' },
    })
    const content = async () => (await test.ask('alice', 'GET', `/v2/grids/${fid}/content?format=csv`)).text
    const { page, errors } = await signedIn('alice')
    await page.goto(pathOf(fid))
    // A value is a filter.
    await page.click('main tbody tr td.n')
    await Promise.all([page.waitForNavigation(), page.click('form.filter > button:last-child')])
    expect(await page.$$eval('main tbody tr', ({ length }) => length)).toBe(1)
    await page.goto(pathOf(fid))
    await press(page, 'Correct cells', 'main')
    await page.waitForSelector('thead button')
    await page.click('main tbody tr:nth-child(3) td:last-child')
    await page.waitForSelector('dialog textarea')
    await fill(page, 'dialog .fields textarea', '31.50')
    await fill(page, 'dialog input[placeholder^=why]', 'a wrong price')
    await pressAndGo(page, 'Save')
    expect(await content()).toBe('id,price\n1,10.10\n2,9007199254740993\n3,31.50\n')
    const { versions } = await ask(`/v2/files/${fid}/versions`)
    expect(versions[0].message).toBe('a wrong price')
    // The next cell can be corrected at once, also with the keyboard.
    await page.waitForSelector('thead button')
    const focused = () => page.evaluate(() => document.activeElement?.textContent)
    expect(await focused()).toBe('31.50')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    expect(await focused()).toBe('2')
    await page.keyboard.press('Enter')
    await page.waitForSelector('dialog textarea')
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog', { hidden: true })
    expect(await focused()).toBe('2')
    await press(page, 'Add a row', 'main')
    await page.waitForSelector('dialog input')
    await fill(page, 'dialog .fields label:nth-child(1) input', '4')
    await fill(page, 'dialog .fields label:nth-child(2) input', '40')
    await pressAndGo(page, 'Save')
    expect(await content()).toContain('\n4,40\n')
    await drop(page, 'new.csv', 'id,price\n4,41\n5,50\n')
    await page.waitForSelector('dialog tbody tr')
    await fill(page, 'dialog select:has(option[value=key])', 'key')
    await fill(page, 'dialog input[placeholder^=columns]', 'id')
    await press(page, 'Compare with the grid')
    await page.waitForSelector('dialog .lead')
    expect(await page.$eval('dialog .lead', (text) => text.textContent)).toBe(
      'rows added: 1, updated: 1, unchanged: 0, rows then: 5',
    )
    expect(await content()).toContain('\n4,40\n')
    await pressAndGo(page, 'Store this')
    expect(await content()).toMatch(/\n4,41\n5,50\n$/)
    await drop(page, 'all.csv', 'id,price\n1,10.10\n2,9007199254740993\n')
    await page.waitForSelector('dialog tbody tr')
    await press(page, 'Compare with the grid')
    await page.waitForSelector('dialog del')
    expect(await page.$eval('dialog .lead', (text) => text.textContent)).toBe(
      'rows added: 0, removed: 3, changed: 0, cells changed: 0',
    )
    await press(page, 'Drop it')
    await page.waitForFunction(() => !document.querySelector('dialog'))
    await vi.waitFor(async () => expect((await ask('/v2/drafts')).drafts).toEqual([]), { timeout: 60_000 })
    // The history says what changed, and restores a version.
    await press(page, 'History', 'main')
    await page.waitForSelector('.history li')
    expect(await page.$eval('.history li .lead', (text) => text.textContent)).toContain('rows added: 1')
    await press(page, 'Show the difference')
    await page.waitForSelector('.history ins')
    await page.evaluate(() => {
      const items = [
        ...document.querySelectorAll<HTMLButtonElement>(
          '.history button[aria-label="Restore this version: version 2"]',
        ),
      ]
      items[0].click()
    })
    await page.waitForNavigation()
    expect(await content()).toBe('id,price\n1,10.10\n2,9007199254740993\n3,30\n')
    expect(errors).toEqual([])
    await page.browserContext().close()
  },
  40_000,
)

it('the history of a cell finds its row without a key, also with missing and repeated values', async () => {
  const { test } = site()
  const { fid, cols } = await test.grid('alice', 'no key', {
    city: ['Oslo', null, 'Oslo', 'Rome', 'Rome'],
    day: [1, 2, 3, 4, 4],
    v: [1, 2, 3, 4, 4],
  })
  const { uid } = Object.values(cols as Record<string, { uid: string; order: number }>).find(
    ({ order }) => order === 2,
  )!
  const json = { cols: JSON.stringify([{ data: [11, 12, 13, 14, 14] }]) }
  expect(await test.status('alice', 'PUT', `/v2/grids/${fid}/col?uid=${uid}`, { json })).toBe(200)
  const { page, errors } = await signedIn('alice')
  await page.goto(pathOf(fid))
  await press(page, 'Correct cells', 'main')
  await page.waitForSelector('thead button')
  const historyOf = async (row: number): Promise<string> => {
    // A double click, as in a spreadsheet, opens one dialog.
    await page.$eval(`main tbody tr:nth-child(${row}) td:last-child`, (cell) => {
      for (let click = 0; click < 2; click++) (cell as HTMLElement).click()
    })
    await page.waitForSelector('dialog details')
    await page.click('dialog summary')
    await page.waitForFunction(
      () => !/^$|Loading/.test(document.querySelector('dialog details div')!.textContent!),
    )
    const text = await page.$eval('dialog details div', (list) => list.textContent!)
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog', { hidden: true })
    return text
  }
  expect(await historyOf(1)).toMatch(/^1 → 11, version 2,.* is found by city, day:/)
  expect(await historyOf(2)).toMatch(/^2 → 12, version 2,.* is found by day:/)
  expect(await historyOf(4)).toBe('Other rows are like this one: without a key, its history is not known')
  expect(errors.filter((error) => !error.includes('400'))).toEqual([])
  await page.browserContext().close()
})

it('a cell below the end of a column is corrected; a difference is that to the version that is left before', async () => {
  const { test } = site()
  const { fid } = await test.grid('alice', 'uneven', { a: [1, 2, 3], b: ['x'] })
  const { page, errors } = await signedIn('alice')
  await page.goto(pathOf(fid))
  await press(page, 'Correct cells', 'main')
  await page.waitForSelector('thead button')
  await page.click('main tbody tr:nth-child(3) td:last-child')
  await page.waitForSelector('dialog textarea')
  await fill(page, 'dialog .fields textarea', 'new')
  await pressAndGo(page, 'Save')
  const content = async () => (await test.ask('alice', 'GET', `/v2/grids/${fid}/content?format=csv`)).text
  expect(await content()).toBe('a,b\n1,x\n2,\n3,new\n')
  for (const row of [4, 5]) {
    const headers = { 'gridline-message': `row ${row}` }
    expect(
      await test.status('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[row, 'y']] }, headers }),
    ).toBe(201)
  }
  expect(await test.status('alice', 'DELETE', `/v2/files/${fid}/versions?version=3`)).toBe(200)
  await page.goto(pathOf(fid))
  // Two quick clicks open one dialog.
  await page.$eval('button[data-action=history]', (button) => {
    for (const _ of [1, 2]) (button as HTMLButtonElement).click()
  })
  await page.waitForSelector('.history li')
  expect(await page.$$eval('dialog', ({ length }) => length)).toBe(1)
  await press(page, 'Show the difference')
  await page.waitForSelector('.history ins')
  expect(await page.$eval('.history', ({ textContent }) => textContent)).toContain('Changes since version 2')
  expect(errors).toEqual([])
  await page.browserContext().close()
})

it('a key that is made on the account page ends with a session that ends soon', async () => {
  const { test } = site()
  const key = test.keys.get('bob')!
  test.keys.set('bob', await test.key('bob', { expires: '12h' }))
  const { page, errors } = await signedIn('bob')
  test.keys.set('bob', key)
  await page.goto(`${site().url}/account`)
  await page.waitForSelector('#keys select')
  await fill(page, '#keys input', 'short')
  await press(page, 'Create a key', '#keys')
  await page.waitForSelector('#new-key')
  const { keys } = await ask('/v2/keys', 'bob')
  const { expires_at } = keys.find(({ name }: { name: string }) => name === 'short')
  expect(Date.parse(expires_at)).toBeGreaterThan(Date.now() + 11 * 3600_000)
  expect(errors).toEqual([])
  await page.browserContext().close()
})

it('files are renamed, moved, copied, starred, trashed, restored and deleted, alone and several at once', async () => {
  const { test } = site()
  const { fid } = await test.grid('alice', '<b>odd name', { a: [1] })
  const other = await test.grid('alice', 'second', { a: [2] })
  const plot = {
    data: [{ type: 'bar', ysrc: `${fid}:${(await ask(`/v2/grids/${fid}`)).cols[0].uid}` }],
    layout: {},
  }
  await test.plot('alice', plot, { filename: 'its chart' })
  const { page, errors } = await signedIn('alice')
  await page.goto(pathOf(fid))
  await press(page, 'Rename', 'main')
  await page.waitForSelector('dialog input')
  await fill(page, 'dialog input', 'renamed')
  await page.waitForSelector('dialog button.primary')
  await pressAndGo(page, 'Rename', 'dialog .actions')
  expect(await page.$eval('h1', (text) => text.textContent)).toBe('renamed')
  await press(page, 'Star', 'main')
  await page.waitForSelector('[data-action=star][aria-pressed=true]')
  await press(page, 'Move', 'main')
  await page.waitForSelector('dialog input')
  await fill(page, 'dialog input', 'Reports/2026')
  await pressAndGo(page, 'Move', 'dialog .actions')
  expect((await ask(`/v2/files/${fid}/path`)).path).toBe('/Reports/2026/renamed')
  await press(page, 'Copy', 'main')
  await page.waitForSelector('dialog p')
  await pressAndGo(page, 'Copy', 'dialog .actions')
  expect(page.url()).not.toBe(pathOf(fid))
  await page.goto(pathOf(fid))
  await press(page, 'Move to trash', 'main')
  await page.waitForSelector('dialog .note')
  expect(await page.$eval('dialog .note', (note) => note.textContent)).toContain('its chart')
  await pressAndGo(page, 'Move to trash', 'dialog .actions')
  // Several at once, in the list and in the trash.
  await page.goto(`${site().url}/~alice/`)
  await press(page, 'Select', 'main')
  const pick = (name: string) =>
    page.$eval(`input[aria-label="Select ${name}"]`, (box) => (box as HTMLElement).click())
  await page.waitForSelector('.mark')
  await pick('second')
  await press(page, 'Move to trash', 'main')
  await page.waitForSelector('dialog button.primary')
  await pressAndGo(page, 'Move to trash', 'dialog .actions')
  await page.goto(`${site().url}/~alice/?show=trash&view=list`)
  await press(page, 'Select', 'main')
  await page.waitForSelector('.mark')
  await pick('renamed')
  await press(page, 'Restore', 'main')
  await page.waitForSelector('dialog button.primary')
  await pressAndGo(page, 'Restore', 'dialog .actions')
  expect((await ask(`/v2/files/${fid}`)).deleted).toBe(false)
  await press(page, 'Select', 'main')
  await page.waitForSelector('.mark')
  await pick('second')
  await press(page, 'Delete for good', 'main')
  await page.waitForSelector('dialog input[type=checkbox]')
  await press(page, 'Delete for good', 'dialog .actions')
  await said(page, 'Confirm it first.')
  // Not at its place, which the message has just moved.
  await page.$eval('dialog input[type=checkbox]', (box) => (box as HTMLElement).click())
  await pressAndGo(page, 'Delete for good', 'dialog .actions')
  expect(await test.status('alice', 'GET', `/v2/files/${other.fid}`)).toBe(404)
  await page.goto(`${site().url}/~alice/?show=starred`)
  expect(await page.$$eval('.cards b', (names) => names.map((name) => name.textContent))).toEqual(['renamed'])
  await page.goto(`${site().url}/~alice/`)
  await press(page, 'New folder', 'main')
  await page.waitForSelector('dialog input')
  await fill(page, 'dialog input', 'Plans')
  await pressAndGo(page, 'Create')
  expect(await page.$eval('h1', (text) => text.textContent)).toBe('Plans')
  expect(errors).toEqual([])
  await page.browserContext().close()
})

it('several files are stored at once; a refused one says why; pasted cells become a grid', async () => {
  const { page, errors } = await signedIn('bob')
  await page.evaluate(() => {
    const transfer = new DataTransfer()
    for (const [name, text] of [
      ['my sales é 100%.csv', 'a,b\n1,2\n'],
      ['rev.2024.csv', 'a,b\n3,4\n'],
      ['broken.xlsx', 'PK\u0003\u0004 and nothing else'],
    ])
      transfer.items.add(new File([text], name))
    dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }))
  })
  await page.waitForFunction(() => document.querySelectorAll('dialog td:last-child').length === 3)
  await press(page, 'Store all')
  await page.waitForFunction(() =>
    [...document.querySelectorAll('dialog button')].some((one) => one.textContent === 'Done'),
  )
  await said(page, '2 of 3 stored')
  await page.waitForSelector('dialog td a')
  expect(
    await page.$$eval('dialog td:last-child', (cells) => cells.map((cell) => cell.textContent!.slice(0, 10))),
  ).toEqual(['stored', 'stored', 'not stored'])
  for (const name of ['my sales é 100%', 'rev.2024'])
    expect((await ask(`/v2/grids/lookup?path=${encodeURIComponent(name)}`, 'bob')).row_count).toBe(1)
  await page.goto(`${site().url}/~bob/`)
  await page.evaluate(() => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', 'city\ttemp\nOslo\t-3\nRome\t12\n')
    // Firefox drops the data of a ClipboardEvent that a script makes.
    const paste = new Event('paste', { bubbles: true, cancelable: true })
    document.body.dispatchEvent(Object.assign(paste, { clipboardData }))
  })
  await page.waitForSelector('dialog tbody tr')
  await fill(page, 'dialog .fields input', 'cities')
  await pressAndGo(page, 'Store')
  const { fid } = await ask('/v2/grids/lookup?path=cities', 'bob')
  expect((await site().test.ask('bob', 'GET', `/v2/grids/${fid}/content?format=csv`)).text).toBe(
    'city,temp\nOslo,-3\nRome,12\n',
  )
  expect(errors).toEqual([])
  await page.browserContext().close()
})

it('a large file is sent in parts, and goes on after a lost connection', async () => {
  const { page, errors } = await signedIn('bob')
  await page.setRequestInterception(true)
  let parts = 0
  page.on('request', (request) => {
    // The second part is lost once.
    if (request.method() === 'PUT' && request.url().includes('/v2/uploads/') && ++parts === 2) request.abort()
    else request.continue()
  })
  await page.evaluate(() => {
    const line = `${'x'.repeat(90)},1\n`
    const transfer = new DataTransfer()
    transfer.items.add(new File(['name,n\n', line.repeat(200_000)], 'large.csv'))
    dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }))
  })
  await page.waitForSelector('dialog tbody tr')
  expect(await page.$eval('dialog p', (text) => text.textContent)).toContain('The beginning')
  await pressAndGo(page, 'Store')
  const grid = await ask('/v2/grids/lookup?path=large', 'bob')
  expect(grid.row_count).toBe(200_000)
  expect(parts).toBeGreaterThan(2)
  expect(errors).toEqual([])
  await page.browserContext().close()
})

itLong(
  'the account page creates and revokes keys, and keeps teams',
  async () => {
    const { page, errors } = await signedIn('bob')
    await page.goto(`${site().url}/account`)
    await page.waitForSelector('#keys input')
    await fill(page, '#keys input', 'laptop')
    await press(page, 'Create a key', '#keys')
    const key = await (await page.waitForSelector('#new-key'))!.evaluate((code) => code.textContent!)
    const authorization = `Bearer ${key}`
    expect((await fetch(`${site().url}/v2/users/current`, { headers: { authorization } })).status).toBe(200)
    await page.click('#keys button[aria-label="Revoke the key laptop"]')
    await page.waitForFunction(
      () => !document.querySelector('#keys button[aria-label="Revoke the key laptop"]'),
    )
    await fill(page, '#teams > .filter input', 'crew')
    await press(page, 'Create a team', '#teams')
    await page.waitForSelector('#teams h3')
    await fill(page, '#teams input[placeholder=username]', 'alice')
    await press(page, 'Add', '#teams div:first-child .filter')
    await page.waitForSelector('#teams li')
    expect((await ask('/v2/teams/bob:crew', 'bob')).members).toEqual(['alice'])
    await press(page, 'Sign out everywhere', '#sessions')
    await page.waitForSelector('a[href="/signin"]')
    expect(errors).toEqual([])
    await page.browserContext().close()
  },
  30_000,
)

it('while files of a folder are selected, no button concerns the folder', async () => {
  const { test } = site()
  const folder = (await test.ask('alice', 'POST', '/v2/folders', { json: { path: 'stays' } })).json.file
  const { fid } = await test.grid('alice', 'goes', { a: [1] }, { parent: Number(folder.fid.split(':')[1]) })
  const { page, errors } = await signedIn('alice')
  await page.goto(pathOf(folder.fid))
  await press(page, 'Select', 'main')
  await page.waitForSelector('.mark input')
  await page.$eval('.mark input', (box) => (box as HTMLElement).click())
  await press(page, 'Move to trash', 'main')
  await page.waitForSelector('dialog button.primary')
  await pressAndGo(page, 'Move to trash', 'dialog .actions')
  const deleted = async (one: string) => (await ask(`/v2/files/${one}`)).deleted
  expect([await deleted(fid), await deleted(folder.fid)]).toEqual([true, false])
  expect(errors).toEqual([])
  await page.browserContext().close()
})

it('a session that ends, a change by others, and a file in the trash are said in words, and nothing is lost', async () => {
  const { test } = site()
  const { fid } = await test.grid('alice', 'shared rows', { city: ['Oslo', 'Rome'] })
  const { page, errors } = await signedIn('alice')
  await page.goto(pathOf(fid))
  // Others put a row in front: the row on the page is another one now.
  const { cols } = await ask(`/v2/grids/${fid}`)
  await test.ask('alice', 'PUT', `/v2/grids/${fid}/col?uid=${cols[0].uid}`, {
    json: { cols: [{ data: ['Bern', 'Oslo', 'Rome'] }] },
  })
  await press(page, 'Correct cells', 'main')
  await page.waitForSelector('thead button')
  await page.click('main tbody tr:nth-child(1) td')
  await page.waitForSelector('dialog textarea')
  await fill(page, 'dialog textarea', 'Bergen')
  await page.keyboard.press('Enter')
  await said(page, 'Somebody else has changed this grid meanwhile.')
  expect((await test.ask('alice', 'GET', `/v2/grids/${fid}/content?format=csv`)).text).toBe(
    'city\nBern\nOslo\nRome\n',
  )
  await page.goto(pathOf(fid))
  const cookies = await page.browserContext().cookies()
  await page.browserContext().deleteCookie(...cookies)
  await press(page, 'Rename', 'main')
  await said(page, 'you are signed out. Sign in in another tab')
  await page.browserContext().setCookie(...cookies)
  await test.ask('alice', 'POST', `/v2/files/${fid}/trash`)
  await page.goto(pathOf(fid))
  expect(await page.$eval('main', (main) => main.textContent)).toContain('This file is in the trash.')
  // Its name is taken meanwhile.
  const { filename } = await ask(`/v2/files/${fid}`)
  await test.grid('alice', filename, { a: [1] })
  await press(page, 'Restore', 'main')
  await press(page, 'Restore', 'dialog .actions')
  await said(page, 'Rename one of the two first.')
  await page.goto(pathOf(fid))
  await press(page, 'Rename', 'main')
  await page.waitForSelector('dialog input')
  await fill(page, 'dialog input', 'another name')
  await pressAndGo(page, 'Rename', 'dialog .actions')
  await press(page, 'Restore', 'main')
  await pressAndGo(page, 'Restore', 'dialog .actions')
  expect((await ask(`/v2/files/${fid}`)).deleted).toBe(false)
  expect(errors).toEqual([])
  await page.browserContext().close()
})

it('a collaborator sees only what they may do', async () => {
  const { test } = site()
  const { fid } = await test.grid('alice', 'for bob', { a: [1] })
  await test.ask('alice', 'POST', `/v2/files/${fid}/collaborators`, {
    json: { users: ['bob'], readonly: true },
  })
  const { page, errors } = await signedIn('bob')
  const listButtons = async (): Promise<string[]> => {
    await page.goto(pathOf(fid))
    return page.$$eval('main .actions button', (buttons) =>
      buttons.filter((one) => !one.hidden).map((one) => one.textContent!),
    )
  }
  expect(await listButtons()).toEqual(['Make a chart', 'Summary', 'Query', 'Copy', 'Star'])
  await test.ask('alice', 'POST', `/v2/files/${fid}/collaborators`, {
    json: { users: ['bob'], readonly: false },
  })
  expect(await listButtons()).toEqual([
    'Make a chart',
    'Correct cells',
    'Summary',
    'Query',
    'Rename',
    'Copy',
    'Star',
    'History',
  ])
  expect(errors).toEqual([])
  await page.browserContext().close()
})

itLong(
  'columns that are years become rows, and the box for queries answers',
  async () => {
    const { page, errors } = await signedIn('alice')
    await page.goto(`${site().url}/~alice/`)
    await drop(page, 'people.csv', 'land,2019,2020,2021\nNO,1,2,3\nSE,4,,6\n')
    await press(page, 'Columns that become rows: 2019-2021')
    await page.waitForFunction(() => document.querySelectorAll('dialog tbody tr').length === 6)
    await pressAndGo(page, 'Store')
    const [, id] = /alice\/(\d+)/.exec(page.url())!
    const grid = await ask(`/v2/grids/alice:${id}`)
    expect(grid.cols.map(({ name }: { name: string }) => name)).toEqual(['land', 'year', 'value'])
    await page.goto(pathOf(`alice:${id}`))
    await press(page, 'Query', 'main')
    await page.waitForSelector('dialog textarea')
    await fill(
      page,
      'dialog textarea',
      `select land, sum(value) as n from "alice:${id}" group by land order by n`,
    )
    await press(page, 'Run')
    await said(page, '2 rows in')
    expect(await page.$$eval('dialog tbody td', (cells) => cells.map((cell) => cell.textContent))).toEqual([
      'NO',
      '6',
      'SE',
      '10',
    ])
    await fill(page, 'dialog textarea', 'select nope')
    await press(page, 'Run')
    await said(page, 'nope')
    expect(errors).toEqual([])
    await page.browserContext().close()
  },
  40_000,
)
