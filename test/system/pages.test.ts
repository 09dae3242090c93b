// The pages of plots in a real browser, from a real server.
import type { Frame } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { inBrowser, nothing, openPage, type Visit } from '../support/browser.ts'
import { itLong } from '../support/property-runs.ts'
import { scatter } from '../support/service.ts'

const titled = {
  data: [{ type: 'scatter', name: 'measured', x: [1, 2, 3], y: [4, 1, 3] }],
  layout: {
    title: { text: 'Snow in <b>Oslo</b>' },
    xaxis: { title: { text: 'winter' } },
    yaxis: { title: { text: 'depth in cm' } },
  },
}

describe('pages of plots in a browser', () => {
  const site = inBrowser()

  const pathOf = (fid: string, extension = '/'): string => `/~${fid.replace(':', '/')}${extension}`
  const shown = async (figure: object, more: object = { world_readable: true }): Promise<string> =>
    (await site().test.plot('alice', figure, more)).file.fid
  const drawn = (chart: Frame): Promise<string | undefined> =>
    chart.$eval('#chart', (element) => (element as HTMLElement).dataset.drawn)
  /** Draws a figure alone; returns the visit and whether the chart was drawn. */
  const embed = async (figure: object, look = {}, query = ''): Promise<{ visit: Visit; chart: Frame }> => {
    const visit = await site().visit(pathOf(await shown(figure), `.embed${query}`), look)
    return { visit, chart: await visit.chart() }
  }

  it('the page of a plot shows its chart, without errors and without requests to other hosts', async () => {
    const visit = await site().visit(pathOf(await shown(titled)))
    const chart = await visit.chart()
    expect(await drawn(chart)).toBe('true')
    expect(chart.url()).toMatch(/\.embed\?live=events&theme=auto&title=false$/)
    expect(await chart.$$eval('.scatterlayer .trace', ({ length }) => length)).toBe(1)
    await site().screenshot(visit, 'plot-desktop')
    await visit.page.click('summary')
    expect(await visit.page.$$eval('details tbody tr', ({ length }) => length)).toBe(3)
    expect(visit.seen).toEqual(nothing)
    await visit.close()
  })

  it('a page prints the whole chart, as an image in light colors', async () => {
    const visit = await site().visit(pathOf(await shown(titled)), { dark: true })
    await visit.chart()
    await visit.page.waitForFunction(() => document.querySelector('img.printed'))
    await visit.page.emulateMediaType('print')
    const shownOf = (selector: string) =>
      visit.page.$eval(selector, (element) => getComputedStyle(element).display)
    expect([await shownOf('iframe.chart'), await shownOf('img.printed')]).toEqual(['none', 'inline'])
    const svg = decodeURIComponent(
      await visit.page.$eval('img.printed', (image) => (image as HTMLImageElement).src),
    )
    expect(svg).toContain('winter')
    expect(/<rect[^>]*fill: rgb\((\d+)/.exec(svg)?.[1]).toBe('255')
    expect(visit.seen).toEqual(nothing)
    await visit.close()
  })

  it('a chart loads the smallest plotly.js that draws it, and all of it once its type changes', async () => {
    const fid = await shown(scatter([1, 3, 2]))
    const visit = await site().visit(pathOf(fid))
    const chart = await visit.chart()
    const scripts = () => chart.$$eval('script[src]', (all) => all.map((one) => one.src.replace(/.*\//, '')))
    const first = await scripts()
    expect([first.includes('bundle-basic.js'), first.includes('plotly.js')]).toEqual([true, false])
    const figure = { data: [{ type: 'scatterpolar', r: [1, 2, 3], theta: [0, 90, 180] }], layout: {} }
    const json = { figure, raw_data: 'grid' }
    expect(await site().test.status('alice', 'PUT', `/v2/plots/${fid}`, { json })).toBe(200)
    await chart.waitForSelector('.polarlayer .trace')
    expect(await scripts()).toContain('plotly.js')
    expect([
      await drawn(chart),
      await chart.$$eval('.main-svg .cartesianlayer .trace', (all) => all.length),
    ]).toEqual(['true', 0])
    expect(visit.seen).toEqual(nothing)
    await visit.close()
  })

  it('a board follows its items without a reload, its charts stay, and a filter is one choice', async () => {
    const { test } = site()
    const values = { n: [1, 2], city: ['Oslo', 'Rome'] }
    const { fid: grid, cols } = await test.grid('alice', 'followed', values, { world_readable: true })
    const figure = { data: [{ type: 'bar', ysrc: `${grid}:${cols[0].uid}` }], layout: {} }
    const plot = await shown(figure)
    const rows = [{ items: [{ number: grid, value: 'sum:n' }, { table: grid }] }, { items: [{ plot }] }]
    const content = { settings: { board: { filters: [{ column: 'city' }], rows } } }
    const json = { content, filename: 'followed board', world_readable: true }
    const { fid } = (await test.ask('alice', 'POST', '/v2/dashboards', { json })).json.file
    const visit = await site().visit(pathOf(fid))
    const number = () => visit.page.$eval('.board .number', (element) => element.textContent)
    await visit.page.$eval('.board .place', (place) => {
      ;(place as HTMLElement).dataset.kept = 'yes'
    })
    const bars = async () => {
      const sheet = visit.page.frames().find((one) => one.url().endsWith('/board-charts'))
      return sheet?.$$eval('.point', ({ length }) => length).catch(() => 0)
    }
    expect(await number()).toBe('3')
    await expect.poll(bars, { timeout: 60_000 }).toBe(2)
    await test.ask('alice', 'POST', `/v2/grids/${grid}/row`, { json: { rows: [[4, 'Oslo']] } })
    await expect.poll(number, { timeout: 60_000 }).toBe('7')
    // A chart of a board polls once a minute: the page tells it.
    await expect.poll(bars, { timeout: 30_000 }).toBe(3)
    expect(await visit.page.$$eval('.board tbody tr', ({ length }) => length)).toBe(3)
    expect(await visit.page.$eval('.board .place', (place) => (place as HTMLElement).dataset.kept)).toBe(
      'yes',
    )
    await visit.page.select('.board select', 'Oslo')
    await expect.poll(number, { timeout: 60_000 }).toBe('5')
    await expect.poll(bars, { timeout: 60_000 }).toBe(2)
    const chosen = () =>
      visit.page.evaluate(() => [
        document.querySelector<HTMLSelectElement>('.board select')!.value,
        document.querySelector('.board .chosen')!.textContent!.trim(),
        document.querySelector<HTMLAnchorElement>('.downloads a')!.search.includes('filter.city=Oslo'),
      ])
    // The page stays: what is printed and downloaded is filtered, and Back leads to all rows.
    expect(await chosen()).toEqual(['Oslo', 'city: Oslo', true])
    await visit.page.goBack()
    await expect.poll(number, { timeout: 60_000 }).toBe('7')
    expect(await chosen()).toEqual(['', '', false])
    expect(visit.seen).toEqual(nothing)
    await test.ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: false } })
    const shownText = () => visit.page.$eval('.board', (element) => element.textContent)
    await expect.poll(shownText, { timeout: 60_000 }).toMatch(/^This board is not shared with you any more/)
    await visit.close()
  })

  it('a board that is left keeps no connection, and follows again when it is shown again', async () => {
    const { test, browser, url } = site()
    const json = { content: { settings: { board: { rows: [] } } }, filename: 'left', world_readable: true }
    const { fid } = (await test.ask('alice', 'POST', '/v2/dashboards', { json })).json.file
    const page = await openPage(browser)
    await page.evaluateOnNewDocument(() => {
      const streams: EventSource[] = []
      Object.assign(window, {
        streams,
        EventSource: class extends EventSource {
          constructor(address: string) {
            super(address)
            streams.push(this)
          }
        },
      })
    })
    await page.goto(url + pathOf(fid))
    const states = (event?: string) =>
      page.evaluate((name) => {
        if (name) dispatchEvent(new PageTransitionEvent(name, { persisted: true }))
        const { streams } = window as unknown as { streams: EventSource[] }
        return streams.map(({ readyState }) => readyState === EventSource.CLOSED)
      }, event)
    expect(await states()).toEqual([false])
    expect(await states('pagehide')).toEqual([true])
    expect(await states('pageshow')).toEqual([true, false])
    await page.close()
  })

  it('a board that was loaded in the background shows what has changed before it is seen', async () => {
    const { test, browser, url } = site()
    const { fid: grid } = await test.grid('alice', 'behind', { n: [1] }, { world_readable: true })
    const rows = [{ items: [{ number: grid, value: 'sum:n' }] }]
    const json = {
      content: { settings: { board: { rows } } },
      filename: 'behind board',
      world_readable: true,
    }
    const { fid } = (await test.ask('alice', 'POST', '/v2/dashboards', { json })).json.file
    const page = await openPage(browser)
    const setVisible = (state: string): void => {
      Object.defineProperty(document, 'visibilityState', { value: state, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }
    await page.evaluateOnNewDocument(setVisible, 'hidden')
    await page.goto(url + pathOf(fid))
    await test.ask('alice', 'POST', `/v2/grids/${grid}/row`, { json: { rows: [[4]] } })
    const number = () => page.$eval('.board .number', ({ textContent }) => textContent)
    expect(await number()).toBe('1')
    await page.evaluate(setVisible, 'visible')
    await expect.poll(number, { timeout: 60_000 }).toBe('5')
    await page.close()
  })

  it('all rows of a filter with a default can be chosen, and what is typed stays while data change', async () => {
    const { test } = site()
    const numbers = Array.from({ length: 501 }, (_, k) => k)
    const columns = {
      n: numbers.map(() => 1),
      city: numbers.map((k) => (k % 3 === 0 ? 'Rome' : 'Oslo')),
      code: numbers.map((k) => `c${k}`),
    }
    const { fid: grid } = await test.grid('alice', 'coded', columns, { world_readable: true })
    const filters = [{ column: 'city', default: 'Rome' }, { column: 'code' }]
    const content = {
      settings: { board: { filters, rows: [{ items: [{ number: grid, value: 'sum:n' }] }] } },
    }
    const json = { content, filename: 'coded board', world_readable: true }
    const { fid } = (await test.ask('alice', 'POST', '/v2/dashboards', { json })).json.file
    const visit = await site().visit(pathOf(fid))
    const { page } = visit
    const number = () => page.$eval('.board .number', (element) => element.textContent)
    const typed = () =>
      page.$eval('.board input[name="filter.code"]', (field) => (field as HTMLInputElement).value)
    expect(await number()).toBe('167')
    await page.select('.board select', '')
    await expect.poll(number, { timeout: 60_000 }).toBe('501')
    await page.type('.board input[name="filter.code"]', 'c4')
    await test.ask('alice', 'POST', `/v2/grids/${grid}/row`, { json: { rows: [[9, 'Oslo', 'c4']] } })
    await expect.poll(number, { timeout: 60_000 }).toBe('510')
    expect(await typed()).toBe('c4')
    await page.keyboard.press('Enter')
    await expect.poll(number, { timeout: 60_000 }).toBe('10')
    await page.goBack()
    await expect.poll(number, { timeout: 60_000 }).toBe('510')
    expect(await typed()).toBe('')
    expect(visit.seen).toEqual(nothing)
    await visit.close()
  })

  it('the charts of a board are drawn in one document over it, below which links work, and can be printed', async () => {
    const { test } = site()
    const plots = [await shown(titled), await shown(scatter([3, 1, 2]), {}), await shown(scatter([1, 2]))]
    const text = '[a link](https://example.com/)'
    const items = plots.map((plot) => ({ plot }))
    const rows = [{ items: items.slice(0, 2) }, { items: [{ text }] }, { items: items.slice(2) }]
    const content = { settings: { board: { rows } } }
    const json = { content, filename: 'board of three', world_readable: true }
    const { fid } = (await test.ask('alice', 'POST', '/v2/dashboards', { json })).json.file
    const visit = await site().visit(pathOf(fid))
    const sheet = await visit.page.waitForFrame((frame) => frame.url().endsWith('/board-charts'))
    // The second is private, and this reader has not signed in.
    await sheet.waitForFunction(() => document.querySelectorAll('[data-drawn=true]').length === 2)
    expect(await visit.page.$$eval('.board .note', ({ length }) => length)).toBe(1)
    expect(visit.page.frames().filter((frame) => frame.url().includes('.embed'))).toEqual([])
    const loaded = await sheet.$$eval('script', (all) => all.map((one) => one.src.replace(/.*\//, '')))
    expect(loaded.filter((name) => /plotly|bundle/.test(name))).toEqual(['bundle-basic.js'])
    expect(await sheet.evaluate(() => origin)).toBe('null')
    const elementIn = (selector: string) =>
      visit.page.$eval(selector, (element) => {
        element.scrollIntoView()
        const { left, top, width, height } = element.getBoundingClientRect()
        return document.elementFromPoint(left + width / 2, top + height / 2)?.className
      })
    expect(await elementIn('.board .place')).toBe('sheet')
    expect(await elementIn('.board a[href*="example.com"]')).not.toBe('sheet')
    // Each chart lies in its place, also after the width has changed.
    const difference = async (): Promise<number> => {
      const measure = (all: Element[]): DOMRect[] => all.map((one) => one.getBoundingClientRect().toJSON())
      const places = await visit.page.$$eval('.board .place', measure)
      const drawings = await sheet.$$eval('.main-svg:first-child', measure)
      const [outer] = await visit.page.$$eval('.sheet', measure)
      const differences = places.flatMap((place, k) => [
        // A place has a border of 1 pixel.
        place.x + 1 - outer.x - drawings[k].x,
        place.y + 1 - outer.y - drawings[k].y,
        place.width - 2 - drawings[k].width,
        place.height - 2 - drawings[k].height,
      ])
      return Math.max(...differences.map(Math.abs))
    }
    await expect.poll(difference, { timeout: 30_000 }).toBeLessThan(1)
    await visit.page.setViewport({ width: 400, height: 700 })
    await expect.poll(difference, { timeout: 30_000 }).toBeLessThan(1)
    await visit.page.waitForFunction(() => document.querySelectorAll('.place img[src]').length === 2)
    await visit.page.emulateMediaType('print')
    const shownOf = (selector: string) =>
      visit.page.$eval(selector, (element) => {
        const { display, visibility } = getComputedStyle(element)
        return `${display} ${visibility}`
      })
    expect([await shownOf('.sheet'), await shownOf('.place img')]).toEqual(['none visible', 'block visible'])
    expect(visit.seen).toEqual(nothing)
    // Without this document, each chart has a frame.
    await visit.page.emulateMediaType('screen')
    await visit.page.setRequestInterception(true)
    visit.page.on('request', (request) =>
      request.url().endsWith('/board-charts') ? request.abort() : request.continue(),
    )
    await visit.page.reload()
    const frame = await visit.page.waitForFrame((one) => one.url().includes('.embed'))
    await frame.waitForSelector('[data-drawn=true]')
    expect(await elementIn('.board a[href*="example.com"]')).not.toBe('sheet')
    expect(await elementIn('.board iframe:not(.sheet)')).not.toBe('sheet')
    await visit.close()
  })

  itLong(
    'zooming into a large chart loads the points of the visible range, and zooming out fewer',
    async () => {
      const { test } = site()
      const numbers = Array.from({ length: 30_000 }, (_, k) => k)
      const { fid: grid } = await test.grid('alice', 'large', {
        x: numbers,
        y: numbers.map((k) => Math.sin(k)),
      })
      const { cols } = (await test.ask('alice', 'GET', `/v2/grids/${grid}`)).json
      const [xsrc, ysrc] = cols.map(({ uid }: { uid: string }) => `${grid}:${uid}`)
      const fid = await shown({ data: [{ type: 'scatter', mode: 'lines', xsrc, ysrc }], layout: {} })
      const visit = await site().visit(pathOf(fid, '.embed'))
      const chart = await visit.chart()
      const note = () => chart.$eval('.annotation', (element) => element.textContent)
      expect(await note()).toMatch(/^shows [34],\d{3} of 30,000 points$/)
      const zoomTo = (change: string): Promise<unknown> =>
        chart.evaluate(`Plotly.relayout('chart', ${change})`)
      const waitFor = (least: number, most: number): Promise<unknown> =>
        chart.waitForFunction(
          `(() => { const { length } = document.getElementById('chart').data[0].x.filter((k) => k >= 1000 && k < 1500); return length >= ${least} && length <= ${most} })()`,
        )
      await zoomTo("{ 'xaxis.range': [1000, 1500] }")
      await waitFor(500, 500)
      // The reader's zoom is kept.
      expect(
        await chart.evaluate("document.getElementById('chart').layout.xaxis.range.map(Math.round)"),
      ).toEqual([1000, 1500])
      await zoomTo("{ 'xaxis.autorange': true }")
      await waitFor(1, 100)
      expect(visit.seen).toEqual(nothing)
      await visit.close()
    },
  )

  it('the embedded chart fills and follows its frame', async () => {
    const { visit, chart } = await embed({ ...titled, layout: { width: 300, height: 200 } })
    const width = () => chart.$eval('.main-svg', (svg) => svg.getBoundingClientRect().width)
    expect(await width()).toBe(1280)
    await visit.page.setViewport({ width: 600, height: 400 })
    await chart.waitForFunction(
      () => document.querySelector('.main-svg')!.getBoundingClientRect().width === 600,
    )
    expect(visit.seen).toEqual(nothing)
    await visit.close()
  })

  it('a page of another site can embed a public plot; a private one only with its share key', async () => {
    const { test, url, elsewhere } = site()
    const open = await shown(titled)
    const hidden = await shown(titled, {})
    const { share_key } = (
      await test.ask('alice', 'PATCH', `/v2/files/${hidden}`, { json: { share_key_enabled: true } })
    ).json
    const host = async (src: string): Promise<Visit> => {
      elsewhere.pages.set('/host', `<!doctype html><title>host</title><iframe src="${url}${src}"></iframe>`)
      return site().visit(`${elsewhere.url}/host`)
    }
    for (const src of [pathOf(open, '.embed'), pathOf(hidden, `.embed?share_key=${share_key}`)]) {
      const visit = await host(src)
      expect(await drawn(await visit.chart())).toBe('true')
      expect({ ...visit.seen, foreign: [] }).toEqual(nothing)
      await visit.close()
    }
    for (const src of ['.embed', '.embed?share_key=wrong'])
      expect((await site().visit(pathOf(hidden, src))).status).toBe(404)
    // A frame of the page shows the chart alone.
    const alone = await host(pathOf(open))
    expect(alone.page.frames().map((frame) => frame.url())).toContain(url + pathOf(open, '.embed'))
    await alone.close()
    // Pages cannot be framed, which prevents clickjacking.
    const framed = await host('/~alice/')
    expect(framed.page.frames().map((frame) => frame.url())).not.toContain(`${url}/~alice/`)
    expect(framed.seen.errors.join()).toContain('frame-ancestors')
    await framed.close()
  })

  it('an embedded chart sends its height to the parent page, and nothing else', async () => {
    const { url, elsewhere } = site()
    const src = url + pathOf(await shown(titled), '.embed')
    elsewhere.pages.set(
      '/listens',
      `<!doctype html><title>host</title><script>said = []; onmessage = ({ data }) => said.push(data)</script><iframe src="${src}" height="300"></iframe>`,
    )
    const visit = await site().visit(`${elsewhere.url}/listens`)
    await visit.chart()
    const said = await visit.page.waitForFunction(() => {
      const { said } = window as unknown as { said: object[] }
      return said.length > 0 && said
    })
    expect(await said.jsonValue()).toEqual([{ type: 'gridline:drawn', height: 300 }])
    await visit.close()
  })

  it('an embedded chart has an opaque origin: no cookies, no parent access, no requests', async () => {
    const { test, url } = site()
    const hidden = await test.grid('alice', 'hidden', { a: [1] })
    const open = await test.grid('alice', 'open', { a: [1] }, { world_readable: true })
    const visit = await site().visit(pathOf(await shown(titled)))
    const chart = await visit.chart()
    const reach = await chart.evaluate(
      async (urls) => {
        const attempt = async (work: () => unknown): Promise<string> => {
          try {
            return `reached ${await work()}`
          } catch (error) {
            return (error as Error).name
          }
        }
        return {
          origin: window.origin,
          parent: await attempt(() => parent.document.title),
          cookie: await attempt(() => document.cookie),
          storage: await attempt(() => localStorage.length),
          fetched: await Promise.all(urls.map((one) => attempt(async () => (await fetch(one)).status))),
          navigates: await attempt(() => {
            top!.location.href = '/v2'
          }),
        }
      },
      [`${url}/v2/files/${hidden.fid}`, `${url}/v2/files/${open.fid}`, '/v2', 'data:text/plain,x'],
    )
    expect(reach).toEqual({
      origin: 'null',
      parent: 'SecurityError',
      cookie: 'SecurityError',
      storage: 'SecurityError',
      fetched: ['TypeError', 'TypeError', 'TypeError', 'TypeError'],
      navigates: 'SecurityError',
    })
    expect(visit.page.url()).toContain('/~alice/')
    // Opened directly, it has the same restrictions as in a frame.
    const alone = await site().visit(new URL(chart.url()).pathname)
    expect(await alone.page.evaluate(() => window.origin)).toBe('null')
    await visit.close()
    await alone.close()
  })

  itLong('the URL makes a chart light, dark or like the system; its own colors are kept', async () => {
    const paper = (chart: Frame): Promise<string> =>
      chart.$eval('.main-svg', (svg) => getComputedStyle(svg).backgroundColor)
    const colors: string[] = []
    for (const [layout, query, dark] of [
      [{}, '', true],
      [{}, '?theme=auto', true],
      [{ meta: { theme: 'gridline' } }, '?theme=dark', false],
      [{ paper_bgcolor: '#abcdef' }, '?theme=auto', true],
      [{ template: { layout: { paper_bgcolor: '#fedcba' } } }, '?theme=dark', true],
    ] as const) {
      const figure = { ...titled, layout: { ...titled.layout, ...layout } }
      const { visit, chart } = await embed(figure, { dark }, query)
      colors.push(await paper(chart))
      if (dark && Object.keys(layout).length === 0) await site().screenshot(visit, 'embed-dark')
      expect(visit.seen).toEqual(nothing)
      await visit.close()
    }
    expect(colors).toEqual([
      'rgb(255, 255, 255)',
      'rgb(22, 24, 29)',
      'rgb(22, 24, 29)',
      'rgb(171, 205, 239)',
      'rgb(254, 220, 186)',
    ])
    const page = await site().visit(pathOf(await shown(titled)), { dark: true })
    await page.chart()
    await site().screenshot(page, 'plot-dark')
    await page.close()
  })

  it('on a phone, pages do not scroll sideways', async () => {
    const { test } = site()
    const columns = Object.fromEntries(
      Array.from({ length: 30 }, (_, k) => [
        `a rather long column name ${k}`,
        ['some text', 'x'.repeat(200)],
      ]),
    )
    const grid = await test.grid('alice', 'w'.repeat(120), columns, { world_readable: true })
    const folder = (
      await test.ask('alice', 'POST', '/v2/folders', {
        json: { path: 'f'.repeat(120), world_readable: true },
      })
    ).json.file
    const parent = Number(folder.fid.split(':')[1])
    await test.grid(
      'alice',
      'a grid with a long name '.repeat(5),
      { a: [1] },
      { world_readable: true, parent },
    )
    const wide = {
      data: Object.values(columns).map((text, k) => ({ name: `trace ${k}`, y: [1, 2], text })),
      layout: titled.layout,
    }
    const plot = await shown(wide, { world_readable: true, filename: 'a plot with a long name '.repeat(5) })
    for (const [name, path] of Object.entries({
      plot: pathOf(plot),
      grid: pathOf(grid.fid),
      folder: pathOf(folder.fid),
      missing: '/~alice/99999/',
    })) {
      const visit = await site().visit(path, { width: 390, height: 844 })
      if (name === 'plot') {
        await visit.chart()
        await visit.page.click('summary')
      }
      const widths = await visit.page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
      await site().screenshot(visit, `${name}-phone`)
      expect([name, widths]).toEqual([name, [390, 390]])
      await visit.close()
    }
  })

  it('the keyboard reaches the links, the table and the copy button, which copies the block', async () => {
    const { url } = site()
    const fid = await shown(titled)
    const visit = await site().visit(pathOf(fid))
    await visit.chart()
    const reached: string[] = []
    for (let presses = 0; presses < 60 && !reached.includes('Copy'); presses++) {
      await visit.page.keyboard.press('Tab')
      if (reached.at(-1) === 'Data as a table')
        await visit.page.$eval('#embed', (pre) => pre.closest('details')!.setAttribute('open', ''))
      reached.push(await visit.page.evaluate(() => document.activeElement?.textContent?.trim() ?? ''))
    }
    for (const name of ['PNG', 'SVG', 'PDF', 'CSV', 'JSON', 'Data as a table', 'Embed', 'Copy link', 'Copy'])
      expect(reached).toContain(name)
    const outline = await visit.page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle)
    expect(outline).toBe('solid')
    await visit.page.keyboard.press('Enter')
    await visit.page.waitForFunction(() =>
      /Copied|Ctrl/.test(document.querySelector('[data-copy=embed-block]')!.textContent!),
    )
    expect(await visit.page.$eval('#embed-block', (pre) => pre.textContent)).toContain(
      `<script data-plotly="${fid}" src="${url}/embed.js" async></script>`,
    )
    expect(await visit.page.$eval('#embed', (pre) => pre.textContent)).toContain(
      `<iframe src="${url}${pathOf(fid, '.embed')}"`,
    )
    expect(visit.seen).toEqual(nothing)
    await visit.close()
  })

  it('screen readers get the title and the axes of the chart', async () => {
    const visit = await site().visit(pathOf(await shown(titled)))
    const chart = await visit.chart()
    const label = await chart.$eval('#chart', (element) => element.getAttribute('aria-label'))
    expect(label).toBe(
      'Snow in Oslo. Line chart of 3 points, from 1 to 3, lowest 1, highest 4. Axes: x: winter; y: depth in cm.',
    )
    const before = 'Chart (scatter): Snow in Oslo. Axes: x: winter; y: depth in cm.'
    expect(await visit.page.$eval('iframe', (frame) => frame.title)).toBe(before)
    await visit.close()
  })

  const surface = [
    [1, 2, 3],
    [2, 4, 2],
    [1, 2, 1],
  ]
  const kinds: Record<string, { figure: object; mark: string }> = {
    'a map of countries': {
      figure: { data: [{ type: 'choropleth', locations: ['FRA', 'NOR'], z: [1, 2] }] },
      mark: '.choroplethlayer path.choroplethlocation[d]',
    },
    'a 3-D surface': {
      figure: { data: [{ type: 'surface', z: surface }] },
      mark: '.gl-container canvas',
    },
    'a map without tiles': {
      figure: { data: [{ type: 'scattermap', lat: [48, 60], lon: [2, 10] }] },
      mark: '.maplibregl-canvas',
    },
    'points drawn by WebGL': {
      figure: { data: [{ type: 'scattergl', mode: 'markers', x: [1, 2, 3], y: [3, 1, 2] }] },
      mark: '.gl-canvas',
    },
  }
  for (const [name, { figure, mark }] of Object.entries(kinds)) {
    const test = name === 'a map without tiles' ? it : itLong
    test(`the embedded chart draws ${name} without another host`, async () => {
      const { visit, chart } = await embed(figure)
      const status = await chart.$eval('#status', (element) => element.textContent).catch(() => '')
      await site().screenshot(visit, `embed-${name.replaceAll(' ', '-')}`)
      expect([await drawn(chart), status]).toEqual(['true', ''])
      expect(await chart.$$eval(mark, ({ length }) => length)).toBeGreaterThan(0)
      expect(visit.seen).toEqual(nothing)
      await visit.close()
    })
  }

  itLong('the play button plays the frames of an animation', async () => {
    const { visit, chart } = await embed({
      data: [{ x: [1, 2], y: [1, 2] }],
      frames: [
        { name: 'one', data: [{ y: [2, 1] }] },
        { name: 'two', data: [{ y: [9, 7] }] },
      ],
      layout: {
        updatemenus: [
          {
            type: 'buttons',
            buttons: [{ label: 'Play', method: 'animate', args: [null, { frame: { duration: 10 } }] }],
          },
        ],
      },
    })
    await chart.waitForSelector('.updatemenu-button')
    await chart.click('.updatemenu-button')
    await chart.waitForFunction(
      () => (document.getElementById('chart') as unknown as { data: { y: number[] }[] }).data[0].y[0] === 9,
    )
    expect(visit.seen).toEqual(nothing)
    await visit.close()
  })

  it('the chart is not editable and has no links to other hosts', async () => {
    const { visit, chart } = await embed({
      ...titled,
      config: { editable: true, showSendToCloud: true, plotlyServerURL: 'https://example.com', locale: 'de' },
    })
    expect(
      await chart.$$eval('[data-title]', (all) => all.map((one) => one.getAttribute('data-title'))),
    ).toEqual(expect.not.arrayContaining([expect.stringMatching(/edit|cloud|studio/i)]))
    expect(visit.seen).toEqual(nothing)
    await visit.close()
  })

  itLong('a figure that cannot be drawn shows why', async () => {
    const { visit, chart } = await embed({
      data: [{ type: 'choropleth', geojson: 'https://example.com/a.json', locations: ['a'], z: [1] }],
    })
    expect(await drawn(chart)).toBe('failed')
    expect(await chart.$eval('#status', (element) => element.textContent)).toMatch(
      /^This chart cannot be drawn: .*example\.com/,
    )
    await site().screenshot(visit, 'embed-failed')
    expect(visit.seen.foreign).toEqual([])
    await visit.close()
  })

  itLong('an empty figure and a figure without layout are empty charts', async () => {
    for (const figure of [{ data: [] }, { data: [], layout: {} }, scatter([])]) {
      const { visit, chart } = await embed(figure)
      expect(await drawn(chart)).toBe('true')
      expect(visit.seen).toEqual(nothing)
      await visit.close()
    }
  })
})
