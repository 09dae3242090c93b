// Transforms agree with plotly.js 2.35, the last version with transforms.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import fc from 'fast-check'
import type { Browser, Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { evaluateTransforms } from '../../src/charts/evaluate/index.ts'
import { launched, openPage } from '../support/browser.ts'
import { runs } from '../support/property-runs.ts'

const plotly = createRequire(import.meta.url).resolve('plotly.js-2/plotly.min.js')
let browser: Browser
let page: Page
beforeAll(async () => {
  browser = await launched()
  page = await openPage(browser)
  await page.setContent('<div id="chart"></div>')
  await page.evaluate(readFileSync(plotly, 'utf8'))
})
afterAll(() => browser.close())

interface Drawn {
  name?: string
  x: unknown[]
  y: unknown[]
  text?: unknown[]
  color?: unknown[]
}
type Figure = { data: Record<string, unknown>[]; layout: object }

const keys = (trace: Record<string, unknown>): Drawn => {
  const { name, x, y, text, marker } = trace
  const { color } = (marker ?? {}) as { color?: unknown[] }
  return JSON.parse(JSON.stringify({ name, x, y, text, color: Array.isArray(color) ? color : undefined }))
}

/** Returns the traces that plotly.js 2.35 draws, for many figures at once. */
async function expected(figures: readonly Figure[]): Promise<Drawn[][]> {
  return page.evaluate(async (list: Figure[]) => {
    // biome-ignore lint/suspicious/noExplicitAny: a global of the page
    const { Plotly } = window as any
    const all = []
    for (const figure of list) {
      const chart = document.getElementById('chart')!
      await Plotly.newPlot(chart, figure)
      // biome-ignore lint/suspicious/noExplicitAny: internals of plotly.js
      const traces = (chart as any)._fullData.map((trace: any) => ({
        name: trace.name,
        x: Array.from(trace.x ?? []),
        y: Array.from(trace.y ?? []),
        text: Array.isArray(trace.text) ? trace.text : undefined,
        color: Array.isArray(trace.marker?.color) ? trace.marker.color : undefined,
      }))
      all.push(JSON.parse(JSON.stringify(traces)))
    }
    return all
  }, figures as Figure[])
}

const operations = [
  '=',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  '[]',
  '()',
  '[)',
  '(]',
  '][',
  ')(',
  '](',
  ')[',
  '{}',
  '}{',
]
const functions = 'count sum avg median mode rms stddev min max first last change range'.split(' ')
const dates = ['2024-01-31', '2024-02-01', '2023-12-24 18:30', '2024-01-31 06:00:01', '2022-07-01']
const cities = ['Oslo', 'Rome', 'Paris']

/** Generates a trace of `count` points with transforms. */
const trace = fc.integer({ min: 1, max: 12 }).chain((count) => {
  const array = <T>(value: fc.Arbitrary<T>) => fc.array(value, { minLength: count, maxLength: count })
  const number = fc.integer({ min: -5, max: 9 })
  const place = fc.constantFrom(
    fc.integer({ min: 0, max: 5 }) as fc.Arbitrary<unknown>,
    fc.constantFrom(...cities),
    fc.constantFrom(...dates),
  )
  const bound = fc.oneof(number, fc.constantFrom(...dates, ...cities))
  const target = fc.constantFrom('x', 'y', 'marker.color')
  const transform = fc.oneof(
    fc.record({
      type: fc.constant('filter'),
      target: fc.oneof(target, array(number)),
      operation: fc.constantFrom(...operations),
      value: fc.oneof(bound, fc.tuple(bound, bound)),
      preservegaps: fc.boolean(),
    }),
    fc.record({ type: fc.constant('sort'), target, order: fc.constantFrom('ascending', 'descending') }),
    fc.record({
      type: fc.constant('groupby'),
      groups: array(fc.constantFrom(...cities, '', '7')),
      styles: fc.constantFrom([], [{ target: 'Oslo', value: { name: 'OSLO', marker: { symbol: 'x' } } }]),
    }),
    fc.record({
      type: fc.constant('aggregate'),
      groups: fc.oneof(fc.constant('x'), array(fc.constantFrom(...cities))),
      aggregations: fc.array(
        fc.record({
          target: fc.constantFrom('y', 'marker.color'),
          func: fc.constantFrom(...functions),
          funcmode: fc.constantFrom('sample', 'population'),
          enabled: fc.boolean(),
        }),
        { maxLength: 3 },
      ),
    }),
  )
  return place.chain((x) =>
    fc.record({
      type: fc.constantFrom('scatter', 'bar'),
      x: array(x),
      y: array(fc.option(number, { freq: 6 })),
      text: array(fc.constantFrom('a', 'b', 'c')),
      marker: fc.record({ color: array(number) }),
      transforms: fc.array(transform, { minLength: 1, maxLength: 3 }),
    }),
  )
})

describe('transforms', () => {
  it('transforms of random traces give the traces of plotly.js 2.35: names, values and order', async () => {
    const figures = fc
      .sample(fc.array(trace, { minLength: 1, maxLength: 2 }), {
        numRuns: runs(30, 1000),
        seed: runs(1, Date.now()),
      })
      .map((data): Figure => ({ data: data.map((one, k) => ({ ...one, name: `t${k}` })), layout: {} }))
    const drawn = await expected(figures)
    for (const [k, figure] of figures.entries()) {
      const ours = ((await evaluateTransforms(structuredClone(figure))) as Figure).data.map(keys)
      expect(ours, JSON.stringify(figure)).toEqual(drawn[k])
    }
  })

  it('transforms of the plotly.js 2 test figure give the same traces with all attributes', async () => {
    const figure = JSON.parse(readFileSync(new URL('../data/transforms.json', import.meta.url), 'utf8'))
    const ours = (await evaluateTransforms(structuredClone(figure))) as Figure
    expect(ours.data.some((trace) => 'transforms' in trace)).toBe(false)
    const traces = await page.evaluate(
      async (list: Figure[]) => {
        // biome-ignore lint/suspicious/noExplicitAny: internals of plotly.js
        const [chart, { Plotly }] = [document.getElementById('chart') as any, window as any]
        const all = []
        for (const one of list) {
          await Plotly.newPlot(chart, one)
          all.push(
            chart._fullData.map((trace: Record<string, unknown>) =>
              JSON.stringify(
                Object.fromEntries(
                  Object.entries(trace)
                    .filter(([key]) => !/^_|^(uid|index|transforms)$/.test(key))
                    .sort(),
                ),
                (key, value) => (key.startsWith('_') ? undefined : value),
              ),
            ),
          )
        }
        return all
      },
      [figure, ours],
    )
    expect(traces[1]).toEqual(traces[0])
  })
})
