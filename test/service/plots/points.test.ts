// Downsampling of large lines and scatters.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { downsampleFigure } from '../../../src/service/plots/downsampling/inline-data.ts'
import { PointSelector, TraceExtent } from '../../../src/service/plots/downsampling/select-points.ts'
import { runs } from '../../support/property-runs.ts'
import { onSqliteFirst } from '../../support/service.ts'

it('downsampling keeps the first, last, lowest and highest point per axis interval, and gaps', () => {
  const y = fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: -50, max: 50 }) },
    { weight: 1, arbitrary: fc.constant(Number.NaN) },
  )
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), y), { minLength: 1, maxLength: 300 }),
      fc.integer({ min: 1, max: 20 }),
      (steps, buckets) => {
        let at = 0
        const points = steps.map(([step, value]) => [(at += step), value] as const)
        const extent = new TraceExtent(undefined)
        for (const [a, b] of points) extent.add(a, b)
        const choice = new PointSelector(extent, { buckets, isCloud: false })
        for (const [a, b] of points) choice.add(a, b)
        const rows = choice.selectedRows()
        const [from, to] = [points[0][0], at]
        const bucketOf = (x: number) =>
          to > from ? Math.min(buckets - 1, Math.floor(((x - from) / (to - from)) * buckets)) : 0
        const groups = Array.from({ length: buckets }, (_, bucket) =>
          points.flatMap((point, k) => (bucketOf(point[0]) === bucket ? [{ point, k }] : [])),
        )
        for (const group of groups) {
          const valued = group.filter(({ point }) => !Number.isNaN(point[1]))
          const kept = valued.filter(({ k }) => rows.has(k)).map(({ point }) => point[1])
          if (valued.length > 0) {
            const values = valued.map(({ point }) => point[1])
            expect(Math.min(...kept)).toBe(Math.min(...values))
            expect(Math.max(...kept)).toBe(Math.max(...values))
            expect([rows.has(valued[0].k), rows.has(valued.at(-1)!.k)]).toEqual([true, true])
          }
          if (valued.length < group.length)
            expect(group.some(({ point, k }) => Number.isNaN(point[1]) && rows.has(k))).toBe(true)
        }
        expect(rows.size).toBeLessThanOrEqual(5 * buckets)
      },
    ),
    { numRuns: runs(200, 5000) },
  )
})

const ROWS_OF_FIGURE = 20_000
const numbers = Array.from({ length: ROWS_OF_FIGURE }, (_, k) => k)
const reduced = (trace: object, layout: object = {}, ranges?: Map<string, [string, string]>) => {
  const figure = {
    data: [{ type: 'scatter', mode: 'lines', x: numbers, y: numbers.map(Math.sin), ...trace }],
    layout,
  }
  return downsampleFigure(figure, ranges).figure.data[0]
}
const timeOf = (k: number): string => `${new Date(k * 60_000).toISOString().slice(0, 19)}+10:00`
const between = (values: number[], from: number, to: number) =>
  values.filter((x) => x >= from && x < to).length

describe('the points of a figure with its data', () => {
  it('points are chosen within the visible range, also if x descends', () => {
    const shown = { xaxis: { range: [1000, 1500] } }
    const down = numbers.toReversed()
    const back = numbers.map((k) => (k * 7919) % ROWS_OF_FIGURE)
    const asked = new Map([['xaxis', ['1000', '1500'] as [string, string]]])
    expect([
      between(reduced({}, shown).x, 1000, 1500),
      between(reduced({ x: down }, shown).x, 1000, 1500),
      between(reduced({ x: back }, {}, asked).x, 1000, 1500),
      between(reduced({}, { xaxis: { ...shown.xaxis, autorange: true } }).x, 1000, 1500) < 200,
    ]).toEqual([500, 500, 500, true])
  })

  it('points are spread over a logarithmic axis', () => {
    const x = numbers.map((k) => 10 ** ((6 * k) / ROWS_OF_FIGURE))
    const found = reduced({ x }, { xaxis: { type: 'log' } }).x
    for (let decade = 0; decade < 6; decade++)
      expect(between(found, 10 ** decade, 10 ** (decade + 1))).toBeGreaterThan(500)
  })

  it('a missing x or y is a gap, and an infinite value is missing', () => {
    const without = (values: (number | null)[]) => values.map((value, k) => (k === 10_000 ? null : value))
    expect(reduced({ x: without(numbers) }).x).toContain(null)
    expect(reduced({ y: without(numbers) }).y).toContain(null)
  })

  it.each([
    ['labels on y', { y: numbers.map((k) => `cat ${k % 5}`) }],
    ['labels on x', { x: numbers.map((k) => `cat ${k % 5}`) }],
    ['numbers written as text', { y: numbers.map(String) }],
    ['points that are selected by number', { selectedpoints: [7001] }],
    ['times that are drawn without their zones', { x: numbers.map(timeOf) }],
    ['texts beside the points', { mode: 'lines+text' }],
  ])('all points of %s are drawn', (_, trace) => {
    expect(reduced(trace).y.length).toBe(ROWS_OF_FIGURE)
  })

  it('all points on a category axis, and of a figure with frames, are drawn', () => {
    expect(reduced({}, { xaxis: { type: 'category' } }).y.length).toBe(ROWS_OF_FIGURE)
    const figure = { data: [{ x: numbers, y: numbers }], frames: [{ data: [] }] }
    expect(downsampleFigure(figure).figure.data[0].y.length).toBe(ROWS_OF_FIGURE)
  })

  it('attributes without a value per point are unchanged', () => {
    const marker = { colorbar: { tickvals: [0, 10_000, 20_000], ticktext: ['low', 'mid', 'high'] } }
    const found = reduced({ mode: 'markers', marker, meta: ['m'], text: numbers.map((k) => `t${k}`) })
    expect([found.marker, found.meta]).toEqual([marker, ['m']])
    expect(found.text).toEqual(found.x.map((k: number) => `t${k}`))
  })
})

onSqliteFirst('large charts', (test) => {
  let made = 0
  const ROWS = 30_000
  const PEAK = 17_001
  const plotOf = async (trace: object = { type: 'scatter', mode: 'lines' }) => {
    const numbers = Array.from({ length: ROWS }, (_, k) => k)
    const grid = await test().grid('alice', `large ${made++}`, {
      x: numbers,
      y: numbers.map((k) => (k === PEAK ? 99 : k > 20_000 && k < 21_000 ? null : Math.sin(k / 10))),
      label: numbers.map((k) => `row ${k}`),
    })
    const { cols } = (await test().ask('alice', 'GET', `/v2/grids/${grid.fid}`)).json
    const [xsrc, ysrc, textsrc] = cols.map(({ uid }: { uid: string }) => `${grid.fid}:${uid}`)
    const { json } = await test().ask('alice', 'POST', '/v2/plots', {
      json: { figure: { data: [{ xsrc, ...trace, ysrc, textsrc }], layout: {} }, filename: `p ${grid.fid}` },
    })
    const { fid, web_url } = json.file
    const own = new URL(web_url).pathname.slice(0, -1)
    const live = async (query = '') => (await test().ask('alice', 'GET', `${own}.live${query}`)).json
    return { fid, live }
  }

  it('a large plot is drawn with few points, including peak and gap, and says so; its data is complete', async () => {
    const { fid, live } = await plotOf()
    const { data, layout } = await live()
    const [{ x, y, text }] = data
    expect(x.length).toBeLessThan(5001)
    expect(y[x.indexOf(PEAK)]).toBe(99)
    expect(y.some((value: unknown, k: number) => value === null && x[k] > 20_000 && x[k] < 21_000)).toBe(true)
    expect(text).toEqual(x.map((k: number) => `row ${k}`))
    expect(layout.annotations).toEqual([
      expect.objectContaining({ text: `shows ${x.length.toLocaleString('en')} of 30,000 points` }),
    ])
    const whole = (await test().ask('alice', 'GET', `/v2/plots/${fid}/content?inline_data=true`)).json
    expect([whole.data[0].x.length, whole.layout]).toEqual([ROWS, {}])
  })

  it('points are those of the traces, not the rows of a longer trace in the same grid', async () => {
    const figure = {
      data: [
        { x: numbers, y: numbers },
        { x: [1], y: [2] },
      ],
      layout: {},
    }
    const { json } = await test().ask('alice', 'POST', '/v2/plots', {
      json: { figure, filename: 'two', raw_data: 'grid' },
    })
    const own = new URL(json.file.web_url).pathname.slice(0, -1)
    const { layout } = (await test().ask('alice', 'GET', `${own}.live`)).json
    expect(layout.annotations[0].text).toMatch(/of 20,001 points$/)
  })

  it('times are drawn without their zones, so all points, in figures that were made elsewhere only', async () => {
    const grid = await test().grid('alice', 'zones', { x: numbers.map(timeOf), y: numbers })
    const { cols } = (await test().ask('alice', 'GET', `/v2/grids/${grid.fid}`)).json
    const [xsrc, ysrc] = cols.map(({ uid }: { uid: string }) => `${grid.fid}:${uid}`)
    const counts: boolean[] = []
    for (const layout of [{}, { meta: { theme: 'gridline' } }]) {
      const { json } = await test().ask('alice', 'POST', '/v2/plots', {
        json: { figure: { data: [{ xsrc, ysrc }], layout }, filename: `zones ${counts.length}` },
      })
      const own = new URL(json.file.web_url).pathname.slice(0, -1)
      const { data } = (await test().ask('alice', 'GET', `${own}.live`)).json
      counts.push(data[0].x.length === ROWS_OF_FIGURE)
    }
    expect(counts).toEqual([true, false])
  })

  it('a small enough axis range is drawn with all points', async () => {
    const { live } = await plotOf()
    const [{ x }] = (await live('?range=xaxis,1000.5,1500')).data
    expect(x.filter((k: number) => k > 1000 && k <= 1500).length).toBe(500)
  })

  it('traces without x use row numbers', async () => {
    const { live } = await plotOf({ type: 'scatter', mode: 'lines', xsrc: undefined })
    const [{ x, y, text }] = (await live()).data
    expect([x.length, y[x.indexOf(PEAK)]]).toEqual([y.length, 99])
    expect(text).toEqual(x.map((k: number) => `row ${k}`))
    const [part] = (await live('?range=xaxis,17000,17010')).data
    expect(part.x.filter((k: number) => k >= 17_000 && k < 17_010).length).toBe(10)
  })

  it('inline_data has all points, also after the chart was drawn and with transforms', async () => {
    const transforms = [{ type: 'sort', target: 'x' }]
    const { fid, live } = await plotOf({ type: 'scatter', mode: 'lines', transforms })
    expect((await live()).data[0].x.length).toBeLessThan(5001)
    const whole = (await test().ask('alice', 'GET', `/v2/plots/${fid}/content?inline_data=true`)).json
    expect([whole.data[0].x.length, whole.layout]).toEqual([ROWS, {}])
    const [{ x }] = (await live('?range=xaxis,1000.5,1500')).data
    expect(between(x, 1000.5, 1500.5)).toBe(500)
  })

  it('labels, stacked areas and small traces are not downsampled', async () => {
    const { live } = await plotOf({ type: 'scatter', stackgroup: 'one' })
    expect((await live()).data[0].x.length).toBe(ROWS)
  })
})
