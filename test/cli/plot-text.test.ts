// Charts drawn with characters.
import { describe, expect, it } from 'vitest'
import type { TextTrace } from '../../src/cli/output/plot-marks.ts'
import { drawPlot, formatLegend } from '../../src/cli/output/plot-text.ts'
import { itLong } from '../support/property-runs.ts'

const plain = (text: string): string => text.replaceAll('\u001b', '?')
const draw = (traces: TextTrace[], layout: Record<string, unknown> = {}, color = false) =>
  drawPlot(traces, layout, { columns: 60, lines: 12, color, plain })

/** Returns the columns with dots in one row of a chart, right of its axis. */
function dotted(row: string): number[] {
  const right = row.replace(/^.*?[│┤]/, '')
  return [...right].flatMap((character, k) => (character > '\u2800' ? [k] : []))
}

describe('charts as characters', () => {
  it('a line in the terminal follows its values, with gaps where they are missing', () => {
    const rows = draw([{ x: [0, 1, 2, 3, 4, 5], y: [0, 1, null, 3, 4, 5] }])!
    const first = rows.slice(0, -2).map((row) => Math.min(...dotted(row)))
    const filled = first.filter(Number.isFinite)
    expect(filled).toEqual([...filled].sort((a, b) => b - a))
    // The gap from 1 to 3 of 5 has no dots.
    const columns = new Set(rows.slice(0, -2).flatMap(dotted))
    const width = Math.max(...columns)
    expect([...columns].filter((k) => k > width * 0.25 && k < width * 0.55)).toEqual([])
  })

  it('a point between gaps is drawn', () => {
    const one = draw([{ mode: 'lines', x: [1, 2, 3, 4], y: [1, null, 3, null] }])!
    expect(one.flatMap(dotted).length).toBeGreaterThanOrEqual(2)
  })

  it('bars in the terminal begin at zero, in proportion to their values', () => {
    const rows = draw([{ type: 'bar', x: ['a', 'b', 'c'], y: [10, 5, 0] }])!.slice(0, -2)
    const count = (from: number, to: number) =>
      rows.filter((row) => dotted(row).some((k) => k >= from && k < to)).length
    const third = 19
    expect(count(0, third) / count(third, 2 * third)).toBeCloseTo(2, 0)
    expect(count(2 * third + 1, 3 * third)).toBeLessThanOrEqual(1)
    expect(rows.join('\n')).toMatch(/ 0 ┤/)
  })

  it('bars of one width are drawn, as those of histograms; others need an image', () => {
    const bars = { type: 'bar', x: [3, 5, 7], y: [2, 1, 3] }
    expect(draw([{ ...bars, width: 1.94 }])).toEqual(draw([bars]))
    const both = [bars, { ...bars, y: [1, 1, 1] }]
    expect(draw(both.map((one) => ({ ...one, width: 2 })))).toEqual(draw(both))
    expect(draw(both.map((one, k) => ({ ...one, width: k + 1 })))).toBeUndefined()
    expect(draw([{ ...bars, width: [1, 2, 1] }])).toBeUndefined()
  })

  it('labels are in axis order, and numbers have their unit', () => {
    const bars: TextTrace[] = [{ type: 'bar', x: ['a', 'b', 'c'], y: [1, 3, 2] }]
    const under = (xaxis: object) => draw(bars, { xaxis: { type: 'category', ...xaxis } })!.at(-1)
    expect(under({ categoryorder: 'total descending' })).toMatch(/b.*c.*a/)
    expect(under({ categoryorder: 'array', categoryarray: ['c', 'a', 'b'] })).toMatch(/c.*a.*b/)
    expect(under({ categoryorder: 'category descending' })).toMatch(/c.*b.*a/)
    const line = (yaxis: object, x = [2020, 2024]) =>
      draw([{ x, y: [1e6, 3e6] }], { yaxis, xaxis: { tickformat: 'd' } })!
    expect(line({ ticksuffix: ' kr' }).join('\n')).toMatch(/3M kr ┤.* 2M ┤/s)
    expect(line({ tickprefix: '$' }).join('\n')).toMatch(/\$3M ┤.*\$2M ┤/s)
    expect(line({}).at(-1)).toMatch(/2020.*2022/)
    const sides = draw(bars, { yaxis: { tickvals: [-2, 0, 2], ticktext: ['2', '0', '2'] } })!
    expect(sides.join('\n')).toMatch(/2 ┤.*0 ┤/s)
  })

  it.each([
    ['numbers', [0, 50_000, 100_000], '50,000'],
    ['dates', ['2024-01-01', '2024-06-01', '2024-12-31'], '2024-07'],
    ['times', ['2024-01-01T00:00', '2024-01-01T12:00', '2024-01-02T00:00'], '12:00'],
    [
      'times in UTC',
      ['2024-01-01T00:00:00.000Z', '2024-01-01T12:00:00.000Z', '2024-01-02T00:00:00.000Z'],
      '12:00',
    ],
    ['categories in their order', ['z', 'a', 'm'], /z.*a.*m/],
  ])('an axis has ticks for %s', (_, x, tick) => {
    const rows = draw([{ x, y: [1, 2, 3] }])!
    expect(rows.at(-1)).toMatch(tick)
    for (const row of rows) expect([...row].length).toBeLessThanOrEqual(60)
  })

  it('a logarithmic axis and a set range are kept', () => {
    const log = draw([{ x: [1, 2, 3], y: [1, 1000, 1_000_000] }], { yaxis: { type: 'log' } })!
    expect(log.join('\n')).toMatch(/1000000 ┤.*1000 ┤/s)
    expect(draw([{ x: [1, 2], y: [1, 2] }], { yaxis: { range: [0, 100] } })!.join('\n')).toMatch(/100 ┤/)
  })

  it.each([
    ['bars on a logarithmic axis', [{ type: 'bar', x: [1, 2], y: [1, 2] }], { yaxis: { type: 'log' } }],
    ['numbers as texts', [{ x: [1, 2], y: ['1', '10'] }], {}],
    ['bars of numbers as texts', [{ type: 'bar', x: ['a', 'b'], y: ['3', '5'] }], {}],
    ['a reversed range', [{ x: [1, 2], y: [1, 2] }], { yaxis: { range: [25, 0] } }],
    ['x by first value and step', [{ x0: 1000, dx: 100, y: [1, 2] }], {}],
    ['shares', [{ type: 'bar', x: ['a'], y: [1] }], { barnorm: 'percent' }],
    ['a heatmap', [{ type: 'heatmap', z: [[1]] }], {}],
    ['a filled area', [{ x: [1], y: [1], fill: 'tozeroy' }], {}],
    ['two axes', [{ x: [1], y: [1], yaxis: 'y2' }], {}],
    ['a reversed axis', [{ x: [1, 2], y: [1, 2] }], { xaxis: { autorange: 'reversed' } }],
    ['dates in a form that is not read', [{ x: ['2024-01-01T00:00:00+02:00'], y: [1] }], {}],
    ['two levels of names', [{ type: 'bar', x: [['a'], ['b']], y: [1] }], {}],
    ['nothing', [], {}],
    ['no values', [{ x: [], y: [] }], {}],
  ] as [string, TextTrace[], Record<string, unknown>][])(
    '%s is not drawn with characters',
    (_, traces, layout) => {
      expect(draw(traces, layout)).toBeUndefined()
    },
  )

  it('a legend names the traces, in their colors', () => {
    const traces = [
      { name: 'one', line: { color: '#0f0' } },
      { name: 'two', marker: { color: 'rgb(1, 2, 3)' } },
    ]
    expect(formatLegend(traces, false, plain)).toEqual(['  ■ one   ■ two'])
    expect(formatLegend(traces, true, plain)[0]).toContain('\u001b[38;2;0;255;0m■\u001b[39m one')
    expect(formatLegend(traces, true, plain)[0]).toContain('\u001b[38;2;1;2;3m■\u001b[39m two')
  })

  it('names of categories cannot write to the terminal', () => {
    const rows = draw([{ type: 'bar', x: ['a\u001b[2J', 'b'], y: [1, 2] }])!
    expect(rows.join('')).not.toContain('\u001b')
  })

  it.each([
    ['huge numbers', [1e308, -1e308]],
    ['numbers that hardly differ', [1e15, 1e15 + 0.125]],
    ['numbers beyond exact counting', [1e300, 1e300]],
    ['tiny numbers', [1e-300, 2e-300]],
    ['one value', [5]],
    ['zeros', [0, 0]],
  ])('%s never fail: they give a chart or an image', (_, y) => {
    for (const mode of ['lines', 'markers']) draw([{ mode, y }])
    draw([{ type: 'bar', x: y.map((__, k) => `n${k}`), y }])
    draw([{ x: y, y }], { xaxis: { type: 'log' } })
  })

  itLong('many categories are drawn in little time', () => {
    const y = Array.from({ length: 200_000 }, (_, k) => `name ${k}`)
    expect(draw([{ type: 'bar', orientation: 'h', x: y.map((_, k) => k), y }])).toBeDefined()
    expect(draw([{ type: 'bar', x: y, y: y.map((_, k) => k) }])).toBeDefined()
  })

  it('dates of all centuries have ticks', () => {
    const rows = draw([{ x: ['0001-01-01', '9999-12-31'], y: [1, 2] }])!
    expect(rows.at(-1)).toMatch(/\d{4}.*\d{4}/)
  })

  it('many points outside of the range are drawn in little time', () => {
    const y = Array.from({ length: 200_000 }, (_, k) => (k % 2 ? 1e300 : -1e300))
    const rows = draw([{ y }], { yaxis: { range: [0, 1] } })
    expect(rows!.flatMap(dotted).length).toBeGreaterThan(50)
  })

  it('hidden traces take no color and no entry in the legend', () => {
    const traces = [
      { name: 'A', visible: false, y: [1, 2] },
      { name: 'B', y: [1, 2] },
      { name: 'C', y: [2, 1] },
    ]
    const orange = '\u001b[38;2;255;127;14m'
    expect(formatLegend(traces, true, plain).join()).toContain(`${orange}■\u001b[39m B`)
    expect(formatLegend(traces, false, plain).join()).not.toContain('A')
    expect(draw(traces, {}, true)!.join()).toContain(orange)
  })

  it('ranges and traces that cannot be drawn do not hang', () => {
    const far = { xaxis: { type: 'log', range: [1e17, 1e17 + 16] } }
    draw([{ x: [1, 2, 3], y: [1, 2, 3] }], far)
    expect(draw([null as never, { y: [1, 2] }])).toBeDefined()
  })
})
