// Height of charts, cutting of labels, and names of series.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { measureText, shortenDistinct } from '../../src/browser/theme/arrangement.ts'
import { applyTheme } from '../../src/browser/theme/index.ts'
import type { Attributes } from '../../src/charts/figure/figure.ts'
import { runs } from '../support/property-runs.ts'

const bars = (count: number, type = 'bar') => ({
  data: [{ type, x: Array.from({ length: count }, (_, k) => `a long label ${k}`), y: Array(count).fill(1) }],
  layout: { meta: { theme: 'gridline' }, xaxis: { type: 'category' } } as Record<string, unknown>,
})

it('different labels stay different when they are cut', () => {
  const label = fc
    .tuple(
      fc.constantFrom('', 'Unknown bird - ', 'European starling '),
      fc.string({ maxLength: 30 }),
      fc.nat(99),
    )
    .map(([first, middle, last]) => `${first}${middle}${last}`)
  fc.assert(
    fc.property(
      fc.uniqueArray(label, { maxLength: 30 }),
      fc.integer({ min: 60, max: 200 }),
      (labels, most) => {
        const short = shortenDistinct(labels, most)
        expect(new Set(short).size).toBe(labels.length)
        for (const text of short) expect(measureText(text)).toBeLessThanOrEqual(most + 1)
      },
    ),
    { numRuns: runs(300, 20_000) },
  )
})

it('a chart grows with its rows unless its height is set', () => {
  for (const width of [360, 1000]) {
    const view = { scheme: 'light', width, height: 400 } as const
    expect(applyTheme(bars(60), view).layout.height).toBeUndefined()
    expect(applyTheme(bars(3), { ...view, maxHeight: 10_000 }).layout.height).toBeUndefined()
    expect(applyTheme(bars(60), { ...view, maxHeight: 10_000 }).layout.height).toBeGreaterThan(60 * 18)
    expect(applyTheme(bars(900), { ...view, maxHeight: 4000 }).layout.height).toBe(4000)
  }
})

it('series names that do not fit above the plot on a phone are below it', () => {
  const data = Array.from({ length: 9 }, (_, k) => ({ name: `a long name of a series ${k}`, y: [1, 2] }))
  const layout = { meta: { theme: 'gridline' }, showlegend: true } as Record<string, unknown>
  for (const most of [undefined, 10_000]) {
    const shown = applyTheme(
      { data, layout },
      { scheme: 'light', width: 360, height: 420, maxHeight: most },
    ).layout
    expect(shown).toMatchObject({ showlegend: true, legend: { yref: 'container', yanchor: 'bottom' } })
    expect((shown.margin as { b: number }).b).toBeGreaterThan(9 * 20)
  }
})

it('a narrow x axis of large numbers has room for its labels, and no margins that its ticks change', () => {
  const data = [{ type: 'scatter', mode: 'markers', x: [2e7, 4e8], y: [1, 2] }]
  const layoutOf = (width: number, xaxis: object = {}) =>
    applyTheme(
      { data, layout: { xaxis, meta: { theme: 'gridline' } } },
      { scheme: 'light', width, height: 300 },
    ).layout as Attributes
  // With automatic ones at the sides, plotly.js drew some widths without end.
  for (const width of [230, 320]) {
    const { xaxis, margin } = layoutOf(width)
    expect([xaxis.automargin, xaxis.nticks, margin.r >= 40]).toEqual(['height', 4, true])
  }
  expect(layoutOf(800).xaxis.automargin).toBeUndefined()
  expect(layoutOf(320, { nticks: 2, automargin: true }).xaxis).toMatchObject({ nticks: 2, automargin: true })
})
