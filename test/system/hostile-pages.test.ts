// Hostile texts in every place where pages show them, in a real browser.
import type { Frame, Page } from 'puppeteer-core'
import { describe, expect, it, vi } from 'vitest'
import { ICONS, LOGO } from '../../src/service/pages/icons.ts'
import { inBrowser, type Visit } from '../support/browser.ts'
import { hostileFigures, hostileTexts } from '../support/hostile-texts.ts'
import { runs } from '../support/property-runs.ts'
import { idlocal } from '../support/service.ts'

const TEXTS = hostileTexts()
/** Texts in one figure. */
const BATCH = 40

describe('hostile texts on pages', () => {
  const site = inBrowser()

  const batches = Array.from({ length: Math.ceil(TEXTS.length / BATCH) }, (_, k) =>
    TEXTS.slice(k * BATCH, (k + 1) * BATCH),
  )
  const pathOf = (fid: string, extension = '/'): string => `/~${fid.replace(':', '/')}${extension}`
  /** A name of a file: slashes separate folders. */
  const named = (text: string): string =>
    text
      .replace(/[/\u0000-\u001f\u007f\ud800]/g, '\u2215')
      .slice(0, 200)
      .trim() || 'x'

  /** Asserts that no text was executed, and that the page did not navigate. */
  const expectQuiet = (visit: Visit, what: string): void => {
    const { hits, dialogs } = visit.seen
    expect({ what, hits, dialogs }).toEqual({ what, hits: [], dialogs: [] })
    expect(new URL(visit.page.url()).origin).toBe(site().url)
  }

  /** Hovers over everything interactive, and clicks links and buttons. */
  const useChart = (chart: Frame): Promise<number> =>
    chart.evaluate(async () => {
      const { Plotly } = window as unknown as {
        Plotly: { Fx: { hover: (element: Element, points: object[], subplot?: string) => void } }
      }
      const gd = document.getElementById('chart') as unknown as HTMLElement & { data: object[] }
      const pause = () => new Promise((resolve) => setTimeout(resolve, 0))
      const send = (element: Element, ...types: string[]): void => {
        const { x, y, width, height } = element.getBoundingClientRect()
        for (const type of types)
          element.dispatchEvent(
            new MouseEvent(type, {
              bubbles: true,
              cancelable: true,
              clientX: x + width / 2,
              clientY: y + height / 2,
              view: window,
            }),
          )
      }
      const began = performance.now()
      const points = gd.data.map((_, curveNumber) => ({ curveNumber, pointNumber: 0 }))
      for (let at = 0; at < points.length && performance.now() - began < 400; at += 10) {
        try {
          Plotly.Fx.hover(gd, points.slice(at, at + 10))
        } catch {
          // Some trace types have no point numbers.
        }
      }
      const links = document.querySelectorAll('a')
      for (const [k, link] of [...links].entries()) {
        send(link, 'mouseover')
        // Each opens a window.
        if (k < 8) send(link, 'click')
      }
      let used = links.length
      const reacting =
        '.slice, .sankey-node, .sankey-link, .annotation-text-g, .legendtoggle, .updatemenu-button, .slider-tick-group, .button, .point, .textpoint, .modebar-btn:not([data-title*="ownload"])'
      // The first three of each kind: a click can draw the whole chart again.
      const kinds = new Map<string, Element[]>()
      for (const element of gd.querySelectorAll(reacting)) {
        const kind = element.getAttribute('class') ?? ''
        kinds.set(kind, [...(kinds.get(kind) ?? []), element])
      }
      for (let turn = 0; turn < 3; turn++) {
        for (const elements of kinds.values()) {
          const element = elements[turn]
          if (!element?.isConnected) continue
          send(element, 'mouseover', 'mousemove', 'mousedown', 'mouseup', 'click')
          used++
        }
        await pause()
      }
      // Labels of points have links too.
      for (const link of document.querySelectorAll('.hoverlayer a')) send(link, 'mouseover')
      await pause()
      return used
    })

  const wander = async (page: Page): Promise<void> => {
    for (let k = 0; k <= 6; k++) await page.mouse.move(100 + k * 150, 150 + (k % 3) * 200)
  }

  it('there are at least 200 different hostile texts', () => {
    expect(new Set(TEXTS).size).toBe(TEXTS.length)
    expect(TEXTS.length).toBeGreaterThan(200)
  })

  it('the hostile texts are executed in a page without a policy', async () => {
    const { elsewhere } = site()
    const run = new Set<string>()
    elsewhere.pages.set('/raw', '<!doctype html><title>raw</title>')
    const visits: Visit[] = []
    // On a busy machine, a text that opens another page can keep later ones from running: they run in the next round.
    const runTexts = async (): Promise<void> => {
      const visit = await site().visit(`${elsewhere.url}/raw`)
      visits.push(visit)
      for (const text of TEXTS)
        await visit.page
          .evaluate((html) => {
            const div = document.createElement('div')
            div.append(document.createRange().createContextualFragment(html))
            document.body.append(div)
            for (const link of div.querySelectorAll('a')) link.click()
            div.dispatchEvent(new MouseEvent('mouseover'))
          }, text)
          .catch(() => {})
    }
    await vi.waitFor(
      async () => {
        await runTexts()
        for (const { seen } of visits) for (const hit of [...seen.hits, ...seen.dialogs]) run.add(hit)
        expect(run.size).toBeGreaterThan(100)
      },
      { timeout: 60_000, interval: 500 },
    )
    for (const visit of visits) await visit.close()
  })

  it('no text in a figure is executed in its embedded chart, hovered and clicked', async () => {
    const { test } = site()
    let used = 0
    let drawn = 0
    const tryFigure = async (figure: object, filename: string, what: string): Promise<void> => {
      const { file } = await test.plot('alice', figure, { world_readable: true, filename })
      const visit = await site().visit(pathOf(file.fid, '.embed?link=true'))
      const chart = await visit.chart()
      const status = await chart.$eval('#status', (element) => element.textContent).catch(() => '')
      expect([what, status]).toEqual([what, ''])
      drawn++
      used += await useChart(chart)
      await wander(visit.page)
      expectQuiet(visit, what)
      expect(new URL(visit.page.url()).pathname).toBe(pathOf(file.fid, '.embed'))
      await visit.close()
    }
    // Each text in the attributes of traces, axes and annotations; some of them in every other attribute too.
    const some = TEXTS.filter((_, k) => k % runs(128, 8) === 0)
    const [, ...rest] = hostileFigures(some)
    const tried = batches.filter((_, k) => k % runs(18, 1) === 0)
    const figures = [...tried.map((batch) => hostileFigures(batch)[0]), ...rest]
    const next = figures.entries()
    const work = async (): Promise<void> => {
      for (const [n, figure] of next) await tryFigure(figure, named(`${n} ${some[n]}`), `figure ${n}`)
    }
    await Promise.all([work(), work()])
    expect(drawn).toBe(figures.length)
    expect(used).toBeGreaterThan(5 * figures.length)
  }, 400_000)

  it('no text in names, cells and columns is executed on pages of grids, folders, plots and lists', async () => {
    const { test } = site()
    const names = batches.map((batch) => batch[0])
    const folder = (
      await test.ask('alice', 'POST', '/v2/folders', {
        json: { path: named(`folder ${names[0]}`), world_readable: true },
      })
    ).json.file
    const parent = idlocal(folder.fid)
    for (const [k, text] of TEXTS.slice(0, runs(8, 20)).entries())
      await test.grid('alice', named(`${k} ${text}`), { a: [1] }, { parent, world_readable: true })
    const metadata = Object.fromEntries(TEXTS.map((text, k) => [`${k}`, text.replaceAll('\u0000', '')]))
    const cells = TEXTS.filter((_, k) => k % runs(16, 4) === 0).map((text) =>
      text.replaceAll('\u0000', '').toWellFormed(),
    )
    for (let at = 0; at < cells.length; at += 30) {
      const some = cells.slice(at, at + 30)
      const columns = Object.fromEntries(some.map((text, k) => [text || `${k}`, some]))
      const grid = await test.grid('alice', named(`cells ${cells[at]}`), columns, {
        metadata,
        world_readable: true,
      })
      for (const path of [
        pathOf(grid.fid),
        pathOf(grid.fid, '.json'),
        `/v2/grids/${grid.fid}?format=api`,
        `/v2/grids/${grid.fid}/content`,
      ]) {
        const visit = await site().visit(path)
        expect([path, visit.status]).toEqual([path, 200])
        await wander(visit.page)
        expectQuiet(visit, path)
        await visit.close()
      }
    }
    const { file } = await test.plot(
      'alice',
      { data: [{ y: cells, name: cells[0] }], layout: { title: { text: cells.join(' ') } } },
      { filename: named(`plot ${cells[3]}`), parent, world_readable: true },
    )
    for (const path of [
      pathOf(folder.fid),
      `/v2/folders/${folder.fid}?format=api`,
      pathOf(file.fid),
      pathOf(file.fid, '.json'),
      pathOf(file.fid, '.svg'),
      `/oembed?url=${encodeURIComponent(site().url + pathOf(file.fid))}`,
      `/v2/plots/${file.fid}/content?inline_data=true`,
    ]) {
      const visit = await site().visit(path)
      expect([path, visit.status]).toEqual([path, 200])
      await wander(visit.page)
      expectQuiet(visit, path)
      await visit.close()
    }
  })

  it('no text in an SVG image of a plot is executed on its page address', async () => {
    const { test } = site()
    const title = TEXTS.filter((text) => /<(a|span|b) /.test(text)).join('<br>')
    const sayable = TEXTS.filter((_, k) => k % 4 === 0).map((text) =>
      text.replaceAll('\u0000', '').toWellFormed(),
    )
    const annotations = sayable.map((text, k) => ({ text, x: k % 20, y: k / 20 }))
    const { file } = await test.plot(
      'alice',
      { data: [{ y: [1, 2] }], layout: { title: { text: title }, annotations } },
      { world_readable: true },
    )
    const visit = await site().visit(pathOf(file.fid, '.svg'))
    expect(visit.status).toBe(200)
    await wander(visit.page)
    expectQuiet(visit, 'svg')
    await visit.close()
  })

  it('no text in a query or a path is executed', async () => {
    const { test } = site()
    const { file } = await test.plot('alice', { data: [{ y: [1, 2] }] }, { world_readable: true })
    const paths = TEXTS.filter((_, k) => k % runs(64, 32) === 3).map((text, k) => {
      const said = encodeURIComponent(text.toWellFormed())
      const query = `share_key=${said}&width=${said}&height=${said}&link=${said}&modebar=${said}#${said}`
      return [
        pathOf(file.fid, `.embed?${query}`),
        `${pathOf(file.fid)}?${query}`,
        pathOf(file.fid, `.png?${query}`),
        `/~${said}/1/?${query}`,
        `/~alice/${said}`,
        `/assets/0/${said}`,
        `/oembed?url=${said}&format=${said}`,
        `/v2/files/${said}?format=api`,
        `/v2/folders/all?user=alice&path=${said}&format=api`,
        `/${said}`,
      ][k % 10]
    })
    const marks = /<(script|img|svg|iframe|body|x)[^a-z]/i
    const own = [LOGO, ...Object.values(ICONS)]
    for (const path of paths) {
      const visit = await site().visit(path)
      await wander(visit.page)
      expectQuiet(visit, path)
      expect(visit.status < 500).toBe(true)
      await visit.close()
    }
    // All texts without a browser: echoed text is escaped or not HTML.
    for (const text of TEXTS) {
      const said = encodeURIComponent(text.toWellFormed())
      for (const path of [
        `/~alice/${said}/`,
        `/oembed?url=${said}`,
        pathOf(file.fid, `.png?width=${said}`),
      ]) {
        const reply = await test.ask(undefined, 'GET', path, { headers: { accept: 'text/html' } })
        if (!reply.headers.get('content-type')?.startsWith('text/html')) continue
        const plain = own.reduce((text, icon) => text.replaceAll(icon, ''), reply.text)
        expect(plain.replace(/<(style|link|meta|title|h1|p|html|\/)[^<]*/g, '')).not.toMatch(marks)
      }
    }
  })
})
