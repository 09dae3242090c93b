// Figures for plotly.js 1 and 2 show the same texts as in these versions.
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { upgradeFigure } from '../../src/browser/upgrade-figure.ts'
import { defaultLimits } from '../../src/contract/limits.ts'
import { Drawer } from '../../src/draw/index.ts'
import { launched, openPage } from '../support/browser.ts'
import { isLong, runs } from '../support/property-runs.ts'

/** A folder of figures: the sample in test/data, or a larger one that GRIDLINE_FIGURES names. */
const folder = process.env.GRIDLINE_FIGURES ?? fileURLToPath(new URL('../data/figures', import.meta.url))
// biome-ignore lint/suspicious/noExplicitAny: a figure can have any attribute
type Attributes = Record<string, any>

/** Converts titles to their old form: `title`, `titlefont`, `titleside`. */
function older(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(older)
  if (typeof value !== 'object' || value === null) return value
  const written: Attributes = {}
  for (const [key, inner] of Object.entries(value)) {
    if (key !== 'title' || typeof inner?.text !== 'string') written[key] = older(inner)
    else {
      written.title = inner.text
      if (inner.font) written.titlefont = inner.font
      if (inner.side) written.titleside = inner.side
    }
  }
  return written
}

/** Returns the titles of a figure, at any depth. */
function titlesOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'title' && typeof inner === 'string' ? [inner] : titlesOf(inner),
  )
}

const plain = (text: string): string =>
  text
    .replace(/<[a-z/][^>]*>/gi, '')
    .replaceAll('&gt;', '>')
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, '')
const textsOf = (svg: string): string =>
  plain([...svg.matchAll(/<text[^>]*>([\s\S]*?)<\/text>/g)].map(([, text]) => text).join(' '))

const figures = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => ({
    name,
    figure: older(JSON.parse(readFileSync(join(folder, name), 'utf8'))) as Attributes,
  }))
  .filter(({ figure }) => titlesOf(figure).length > 0)

let drawer: Drawer
let browser: Browser
beforeAll(async () => {
  drawer = new Drawer({ maxMemoryBytes: defaultLimits.image_memory_bytes, timeoutSeconds: 30 })
  browser = await launched()
})
afterAll(async () => {
  await browser.close()
  await drawer.close()
})

describe.runIf(isLong).each([
  ['1', 'plotly.js-1/plotly.min.js'],
  ['2', 'plotly.js-2/plotly.min.js'],
])('of plotly.js %s', (_, file) => {
  let page: Page
  beforeAll(async () => {
    page = await openPage(browser)
    await page.setContent('<div id="chart"></div>')
    await page.evaluate(readFileSync(createRequire(import.meta.url).resolve(file), 'utf8'))
  })
  afterAll(() => page.close())

  it.each(figures.slice(0, runs(3, figures.length)))('the titles of $name are drawn', async ({ figure }) => {
    const svg = await page.evaluate(async (given: Attributes) => {
      // biome-ignore lint/suspicious/noExplicitAny: a global of the page
      const { Plotly } = window as any
      const { data, layout } = given
      return Plotly.toImage(
        { data, layout },
        { format: 'svg', width: 700, height: 500, imageDataOnly: true },
      ).catch(() => '')
    }, figure)
    const theirs = textsOf(svg)
    const titles = titlesOf(figure)
      .map(plain)
      .filter((title) => title !== '' && theirs.includes(title))
    const image = await drawer.draw(Buffer.from(JSON.stringify(figure)), {
      format: 'svg',
      width: 700,
      height: 500,
      scale: 1,
    })
    const ours = textsOf(Buffer.from(image).toString('utf8'))
    expect(titles.filter((title) => !ours.includes(title))).toEqual([])
  })

  it('bars with a direction have the same orientation and values', async () => {
    const trace = { type: 'bar', bardir: 'h', x: ['a', 'b'], y: [1, 2], error_y: { array: [1, 1] } }
    const { data } = upgradeFigure({ data: [trace], layout: {} })
    const theirs = await page.evaluate(async (given: Attributes) => {
      // biome-ignore lint/suspicious/noExplicitAny: internals of plotly.js
      const [chart, { Plotly }] = [document.getElementById('chart') as any, window as any]
      await Plotly.newPlot(chart, [given])
      const { orientation, x, y, error_x } = chart._fullData[0]
      return { orientation, x, y, error: error_x.array }
    }, trace)
    const { orientation, x, y, error_x } = data[0] as Attributes
    expect({ orientation, x, y, error: error_x.array }).toEqual(theirs)
  })

  it('a camera position becomes the same eye, center and direction', async () => {
    const scene = { cameraposition: [[0.3, -0.2, 0.1, 0.9], [1, 2, 3], 2.5] }
    const { layout } = upgradeFigure({ data: [], layout: { scene } })
    const theirs = await page.evaluate(async (given: Attributes) => {
      // biome-ignore lint/suspicious/noExplicitAny: internals of plotly.js
      const [chart, { Plotly }] = [document.getElementById('chart') as any, window as any]
      await Plotly.newPlot(chart, [], { scene: given })
      return chart.layout.scene.camera
    }, scene)
    const { camera } = (layout as Attributes).scene
    for (const part of ['eye', 'center', 'up'])
      for (const axis of ['x', 'y', 'z']) expect(camera[part][axis]).toBeCloseTo(theirs[part][axis], 10)
  })
})
