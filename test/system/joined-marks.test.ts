// Points and bars that look alike, which are drawn as few paths: see docs/adr/0055-joined-marks.md.
import type { Frame } from 'puppeteer-core'
import { expect, it } from 'vitest'
import { inBrowser, nothing } from '../support/browser.ts'
import { runs } from '../support/property-runs.ts'

const site = inBrowser()

const COUNT = 1000
const numbers = Array.from({ length: COUNT }, (_, k) => k)
/** A thousand points, of which several lie one over the other; and one far from others. */
const cloud = (more: object = {}): object => ({
  type: 'scatter',
  mode: 'markers',
  name: 'cloud',
  x: Array.from({ length: COUNT }, (_, k) => (k === 0 ? 100 : k % 50)),
  y: Array.from({ length: COUNT }, (_, k) => (k === 0 ? 100 : (k * k) % 30)),
  ...more,
})

/** Draws traces alone, and looks at the chart. */
async function draw(data: object[], look: (chart: Frame) => Promise<void>, layout = {}): Promise<void> {
  const figure = { data, layout: { showlegend: true, ...layout } }
  const { file } = await site().test.plot('alice', figure, { world_readable: true })
  const visit = await site().visit(`/~${file.fid.replace(':', '/')}.embed`)
  await look(await visit.chart())
  expect(visit.seen).toEqual(nothing)
  await visit.close()
}

const count = (chart: Frame, selector: string): Promise<number> =>
  chart.$$eval(selector, ({ length }) => length)
/** Positions of all points in the paths of clouds, sorted. */
const positions = (chart: Frame): Promise<string[]> =>
  chart.$$eval('path.cloud', (paths) =>
    paths.flatMap((path) => path.getAttribute('d')!.match(/M[^a]+/g) ?? []).sort(),
  )
/** Changes the drawn chart as its buttons and the form do. */
const change = (chart: Frame, name: 'relayout' | 'restyle', changes: object): Promise<void> =>
  chart.evaluate(
    async (method, values) => {
      const plotly = (
        window as unknown as { Plotly: Record<string, (...all: unknown[]) => Promise<unknown>> }
      ).Plotly
      await plotly[method](document.getElementById('chart'), values)
    },
    name,
    changes as Record<string, unknown>,
  )

it('all points of an opaque cloud are in its paths, at the places where plotly.js draws them', async () => {
  const marker = { size: 6, opacity: 1 }
  await draw([cloud({ marker })], async (chart) => {
    expect(await count(chart, '.points path.point')).toBe(0)
    const asCloud = await positions(chart)
    expect(asCloud).toHaveLength(COUNT)
    // Points with other symbols are elements.
    await change(chart, 'restyle', { 'marker.symbol': 'diamond' })
    expect([await count(chart, 'path.cloud'), await count(chart, '.points path.point')]).toEqual([0, COUNT])
    const places = await chart.$$eval('.points path.point', (points) =>
      points.map((point) => /translate\(([^,]+),([^)]+)\)/.exec(point.getAttribute('transform')!)!.slice(1)),
    )
    const round = (pixels: number): number => Math.round(pixels * 10) / 10
    expect(places.map(([x, y]) => `M${round(Number(x) - 3)},${round(Number(y))}`).sort()).toEqual(asCloud)
  })
})

it('points one over the other are in several paths until they are opaque', async () => {
  const same = { x: Array(COUNT).fill(1), y: Array(COUNT).fill(1), marker: { size: 6, opacity: 0.5 } }
  await draw([cloud(same)], async (chart) => {
    // 0.5 to the seventh is less than 0.01.
    expect(await positions(chart)).toHaveLength(7)
    expect(await count(chart, 'path.cloud')).toBe(7)
  })
})

it('all points of a translucent cloud are drawn, those that overlap in different paths', async () => {
  // A sum of cosines is dense in the middle, and the same each time.
  const wave = (k: number, step: number): number => Math.cos(k * step) + Math.cos(k * step * 1.7)
  const x = Array.from({ length: COUNT }, (_, k) => wave(k, 0.137))
  const y = Array.from({ length: COUNT }, (_, k) => wave(k, 0.291))
  await draw([cloud({ x, y, marker: { size: 8, opacity: 0.9 } })], async (chart) => {
    expect(await positions(chart)).toHaveLength(COUNT)
    const overlaps = await chart.$$eval('path.cloud', (paths) =>
      paths.filter((path) => {
        const places = [...path.getAttribute('d')!.matchAll(/M([-\d.]+),([-\d.]+)/g)]
        const points = places.map(([, left, top]) => [Number(left), Number(top)])
        return points.some(([a, b], k) =>
          points.slice(k + 1).some(([c, d]) => Math.hypot(a - c, b - d) < 7.5),
        )
      }),
    )
    expect(overlaps).toEqual([])
    await change(chart, 'restyle', { 'marker.opacity': 1 })
    expect(await count(chart, 'path.cloud')).toBe(1)
    await change(chart, 'restyle', { 'marker.opacity': 0 })
    await change(chart, 'restyle', { 'marker.opacity': 0.9 })
    expect(await count(chart, '.points path.point')).toBe(COUNT)
  })
})

it('a cloud stays above its range slider, and its texts beside its points', async () => {
  const more = {
    mode: 'markers+text',
    text: 'a',
    textposition: 'top center',
    marker: { size: 30, opacity: 1 },
  }
  const layout = { xaxis: { rangeslider: { visible: true } } }
  const places = (chart: Frame): Promise<(string | null)[]> =>
    chart.$$eval('.textpoint', (texts) => texts.slice(0, 9).map((text) => text.getAttribute('transform')))
  await draw(
    [cloud(more)],
    async (chart) => {
      expect(await positions(chart)).toHaveLength(COUNT)
      const beside = await places(chart)
      await change(chart, 'restyle', { 'marker.symbol': 'square' })
      expect([await count(chart, 'path.cloud'), await places(chart)]).toEqual([0, beside])
    },
    layout,
  )
})

it('a cloud follows hover, zoom, legend, colors and selections', async () => {
  await draw([cloud({ marker: { size: 6, opacity: 1 } })], async (chart) => {
    const place = await chart.evaluate(() => {
      const { xaxis, yaxis } = (document.getElementById('chart') as never as { _fullLayout: never })
        ._fullLayout as Record<string, { l2p(value: number): number; _offset: number }>
      return [xaxis._offset + xaxis.l2p(100), yaxis._offset + yaxis.l2p(100)]
    })
    await chart.page().mouse.move(place[0], place[1])
    await chart.waitForSelector('.hoverlayer text')
    expect(await chart.$eval('.hoverlayer', ({ textContent }) => textContent)).toContain('100')
    await change(chart, 'relayout', { 'xaxis.range': [90, 110], 'yaxis.range': [90, 110] })
    expect(await positions(chart)).toHaveLength(1)
    await change(chart, 'relayout', { 'xaxis.autorange': true, 'yaxis.autorange': true })
    expect(await positions(chart)).toHaveLength(COUNT)
    await change(chart, 'restyle', { 'marker.color': '#ff0000' })
    expect(await chart.$eval('path.cloud', (path) => (path as SVGPathElement).style.fill)).toBe(
      'rgb(255, 0, 0)',
    )
    await change(chart, 'restyle', { visible: 'legendonly' })
    expect(await count(chart, 'path.cloud')).toBe(0)
    await change(chart, 'restyle', { visible: true })
    await change(chart, 'restyle', { selectedpoints: [[0]] })
    expect([await count(chart, 'path.cloud'), await count(chart, '.points path.point')]).toEqual([0, COUNT])
  })
})

it('points with sizes, colors or outlines of their own are drawn one by one', async () => {
  const looks = [
    { size: numbers.map((k) => 4 + (k % 5)) },
    { color: numbers },
    { line: { width: 1, color: '#000' } },
  ]
  const data = looks.map((marker, k) => cloud({ marker, name: `${k}` }))
  await draw(data, async (chart) => {
    expect(await count(chart, 'path.cloud')).toBe(0)
    expect(await count(chart, '.points path.point')).toBe(looks.length * COUNT)
  })
})

const dates = numbers.map((k) => new Date(Date.UTC(2000, 0, 1 + k)).toISOString().slice(0, 10))
const heights = numbers.map((k) => (k % 50 === 0 ? null : ((k * 7) % 23) - 5))
/** A thousand bars, up and down, of which some are empty. */
const bars = (more: object = {}): object => ({
  type: 'bar',
  name: 'bars',
  x: numbers,
  y: heights,
  ...more,
})
/** The sides of all bars in pixels, sorted. */
const sides = (chart: Frame): Promise<number[][]> =>
  chart.$$eval('.bars g.point > path', (paths) =>
    paths
      .flatMap((path) => [
        ...path.getAttribute('d')!.matchAll(/M([-\d.e]+),([-\d.e]+)V([-\d.e]+)H([-\d.e]+)/g),
      ])
      .map(([, x0, y0, y1, x1]) => {
        const ends = (a: string, b: string): number[] => [Number(a), Number(b)].sort((m, n) => m - n)
        return [...ends(x0, x1), ...ends(y0, y1)].map((side) => Math.round(side * 10) / 10)
      })
      .filter(([left, right, top, bottom]) => left < right && top < bottom)
      .sort((a, b) => a[0] - b[0] || a[2] - b[2] || a[3] - b[3]),
  )
const countBars = (chart: Frame): Promise<number> => count(chart, '.bars g.point')
/** Names of bars, which keep them apart: each is then an element. */
const apart = { ids: [Array.from({ length: COUNT }, (_, k) => `n${k}`)] }

/** The first four are tried in each run. */
const WAYS: [string, object[], object?][] = [
  ['to the right', [bars({ orientation: 'h', x: heights, y: numbers })]],
  ['on a log axis', [bars()], { yaxis: { type: 'log' } }],
  ['of dates, without gaps', [bars({ x: dates })], { bargap: 0 }],
  ['in stacks', [bars(), bars({ name: 'more' })], { barmode: 'stack' }],
  ['up and down', [bars()]],
  [
    'of few categories, one over the other',
    [bars({ x: Array.from({ length: COUNT }, (_, k) => `c${k % 7}`) })],
  ],
  ['side by side', [bars(), bars({ name: 'more' })]],
  ['in the middle of an axis', [bars()], { xaxis: { range: [400, 500] } }],
]

it.each(WAYS.slice(0, runs(4, WAYS.length)))(
  'joined bars %s are where plotly.js draws each',
  async (_, data, layout) => {
    await draw(
      data,
      async (chart) => {
        expect(await countBars(chart)).toBe(data.length)
        const joined = await sides(chart)
        expect(joined.length).toBeGreaterThan(90)
        await change(chart, 'restyle', apart)
        expect(await countBars(chart)).toBe(data.length * COUNT)
        const inView = new Set(joined.map(String))
        const each = (await sides(chart)).filter((bar) => inView.has(String(bar)))
        expect(each).toEqual(joined)
      },
      layout,
    )
  },
)

it('joined bars follow hover, zoom, colors, selections and histograms beside them', async () => {
  const few = { type: 'histogram', name: 'few', x: [1, 1, 2] }
  await draw([bars(), few], async (chart) => {
    const drawn = await countBars(chart)
    expect(drawn).toBeLessThan(10)
    const place = await chart.evaluate(() => {
      const { xaxis, yaxis } = (document.getElementById('chart') as never as { _fullLayout: never })
        ._fullLayout as Record<string, { l2p(value: number): number; _offset: number }>
      return [xaxis._offset + xaxis.l2p(502), yaxis._offset + yaxis.l2p(0.5)]
    })
    await chart.page().mouse.move(place[0], place[1])
    await chart.waitForSelector('.hoverlayer text')
    expect(await chart.$eval('.hoverlayer', ({ textContent }) => textContent)).toMatch(/50[123]/)
    await change(chart, 'restyle', { 'marker.color': ['#ff0000', '#00ff00'] })
    const fills = (): Promise<string[]> =>
      chart.$$eval('.bars g.point > path', (paths) => [
        ...new Set(paths.map((path) => (path as SVGPathElement).style.fill)),
      ])
    expect(await fills()).toEqual(['rgb(255, 0, 0)', 'rgb(0, 255, 0)'])
    await change(chart, 'restyle', { selectedpoints: [[3], null] })
    expect([await countBars(chart), await fills()]).toEqual([
      COUNT + drawn - 1,
      ['rgb(255, 0, 0)', 'rgb(0, 255, 0)'],
    ])
    await change(chart, 'restyle', { selectedpoints: [null, null] })
    expect(await countBars(chart)).toBe(drawn)
    await change(chart, 'restyle', { 'marker.opacity': [0.5, 1] })
    expect([await countBars(chart), await fills()]).toEqual([
      COUNT + drawn - 1,
      ['rgb(255, 0, 0)', 'rgb(0, 255, 0)'],
    ])
  })
})

it('bars with texts, colors, outlines, patterns, round corners or errors are drawn one by one', async () => {
  const looks = [
    { text: 'a' },
    { marker: { color: numbers } },
    { marker: { line: { width: 1 } } },
    { marker: { pattern: { shape: '/' } } },
    { marker: { cornerradius: 5 } },
    { error_y: { type: 'constant', value: 1 } },
  ]
  const data = looks.map((more, k) => bars({ ...more, name: `${k}` }))
  await draw(data, async (chart) => expect(await countBars(chart)).toBe(looks.length * COUNT))
})
