// Options stored in charts, and changes of them.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyOptions } from '../../src/charts/change/apply-options.ts'
import { readSpec } from '../../src/charts/change/read-spec.ts'
import { compileChart, compileSpec } from '../../src/charts/compile/compile.ts'
import type { Figure } from '../../src/charts/figure/figure.ts'
import type { ChartGrid, ChartOptions } from '../../src/charts/spec/options.ts'
import {
  acceptsOption,
  CHART_TYPES,
  type ChartType,
  TYPE_SPECIFIC_OPTIONS,
} from '../../src/charts/spec/types.ts'
import { Problem } from '../../src/contract/errors.ts'
import { runs } from '../support/property-runs.ts'

const cols = [
  { uid: 'd1', name: 'day', type: 'datetime' },
  { uid: 'e1', name: 'end', type: 'datetime' },
  { uid: 'c1', name: 'city, old', type: 'text' },
  { uid: 'p1', name: 'price', type: 'number' },
  { uid: 'q1', name: 'cost', type: 'number' },
  { uid: 'r1', name: 'tax', type: 'number' },
  { uid: 's1', name: 'share', type: 'number' },
] as unknown as ChartGrid['cols']
const grid: ChartGrid = { fid: 'me:1', filename: 'g', cols }

const number = fc.constantFrom('price', 'cost', 'tax')
/** Values of each option, some with column names. */
const values: { [K in keyof ChartOptions]-?: fc.Arbitrary<ChartOptions[K]> } = {
  x: fc.constantFrom('day', 'city, old', 'price', 'columns'),
  y: fc.constantFrom('price', 'price,cost', 'cost', 'price,cost,tax,share'),
  z: number,
  lat: number,
  lon: number,
  parent: fc.constant('city, old'),
  id: fc.constant('day'),
  error: number,
  y2: fc.constantFrom('tax', 'tax,share'),
  stack: fc.constantFrom('none', 'normal', 'percent', 'center'),
  horizontal: fc.constant(true),
  trend: fc.constantFrom('linear', 'mean:3'),
  mark: fc.constantFrom(['y=3:Goal'], ['y=3', 'y=4:More']),
  band: fc.constant(['y=1,2:Usual']),
  labels: fc.constant(true),
  color: number,
  size: number,
  scale: fc.constantFrom('diverging', 'log', 'steps', 'linear'),
  to: fc.constant('city, old'),
  geojson: fc.constant('regions.json'),
  bandOf: fc.constant('cost,tax'),
  symbol: fc.constant('city, old'),
  dash: fc.constant('city, old'),
  note: fc.constantFrom(['3,4:Here']),
  highlight: fc.constantFrom(['price'], ['cost']),
  order: fc.constantFrom('b,a', 'price'),
  angle: number,
  text: fc.constantFrom('city, old', 'day'),
  by: fc.constant('city, old'),
  facet: fc.constant('city, old'),
  animate: fc.constant('city, old'),
  aggregate: fc.constantFrom('sum', 'mean', 'count', 'max'),
  zone: fc.constant('Europe/Oslo'),
  per: fc.constantFrom('month', 'year'),
  top: fc.constantFrom(3, 7),
  logX: fc.constant(true),
  logY: fc.constant(true),
  rangeX: fc.constant('1,10'),
  rangeY: fc.constantFrom('1,10', '2,5'),
  formatY: fc.constantFrom('.1%', ',.2f'),
  unit: fc.constantFrom('€', 'kg', '$'),
  where: fc.constantFrom('price > 1', '"city, old" = \'cost\' and cost > 2'),
  sort: fc.constantFrom('price', '-price', '"city, old"'),
  title: fc.constantFrom('A title', 'none'),
  subtitle: fc.constant('below'),
  source: fc.constant('a source'),
  locale: fc.constantFrom('de', 'fr'),
  theme: fc.constant(undefined),
}

const plain = (figure: Figure): Figure => JSON.parse(JSON.stringify(figure))
const made = (type: ChartType, options: ChartOptions) =>
  compileChart(undefined, grid, type, options).then(plain)
const set = async (figure: Figure, type: ChartType | undefined, options: ChartOptions, of = grid) =>
  plain(await applyOptions(undefined as never, of, figure, { type, options }, () => {}))

/** Returns the figure of options; undefined if they are refused. */
async function attempt(work: () => Promise<Figure>): Promise<Figure | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

const all = Object.keys(values) as (keyof ChartOptions)[]
const someOptions = (type: ChartType): fc.Arbitrary<ChartOptions> => {
  const usual = all.filter((name) => !TYPE_SPECIFIC_OPTIONS.includes(name) || acceptsOption(type, name))
  return fc
    .subarray(usual, { maxLength: 5 })
    .chain((names) =>
      fc.record(Object.fromEntries(names.map((name) => [name, values[name]]))),
    ) as fc.Arbitrary<ChartOptions>
}

/** Options that cannot be removed by `none`. */
const KEPT = new Set<string>(['title', 'stack', 'top', 'theme'])
const REMOVED: Partial<Record<keyof ChartOptions, unknown>> = {
  ...{ labels: false, horizontal: false, logX: false, logY: false },
  ...{ mark: ['none'], band: ['none'], note: ['none'], highlight: ['none'] },
}

const needed: Partial<Record<ChartType, ChartOptions>> = {
  candlestick: { y: 'price,cost,tax,share' },
  ohlc: { y: 'price,cost,tax,share' },
  parallel: { x: undefined, y: 'price,cost' },
  splom: { x: undefined, y: 'price,cost' },
  range: { y: 'price,cost' },
  dumbbell: { y: 'price,cost' },
  pyramid: { y: 'price,cost' },
  timeline: { x: 'city, old', y: 'day,end' },
  ecdf: { y: undefined, x: 'price' },
  heatmap: { x: 'city, old', y: 'day', color: 'price' },
  contour: { x: 'city, old', y: 'day', color: 'price' },
  scatter3d: { z: 'tax' },
  surface: { z: 'tax' },
  map: { x: undefined, y: undefined, lat: 'price', lon: 'cost' },
  calendar: { x: 'day', y: 'price' },
  bump: { by: 'city, old' },
  sankey: { x: 'city, old', to: 'city, old', y: 'price' },
  density: { y: undefined, x: 'price' },
  treemap: { x: 'city, old' },
  sunburst: { x: 'city, old' },
  indicator: { x: undefined },
  table: { x: undefined, y: 'price,cost' },
  histogram: { y: undefined, x: 'price' },
}
const least = (type: ChartType): ChartOptions => ({ x: 'day', y: 'price', ...needed[type] })

describe.each(CHART_TYPES)('%s', (type) => {
  it('a changed chart equals one created with all options; removed options leave nothing behind', async () => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(someOptions(type), someOptions(type), async (first, second) => {
        const one = await attempt(() => made(type, { ...least(type), ...first }))
        const both = await attempt(() => made(type, { ...least(type), ...first, ...second }))
        if (!one || !both) return
        compared++
        expect(await set(one, undefined, second)).toEqual(both)
        const without = Object.keys(second).filter(
          (name) => !(name in first) && !(name in least(type)) && !KEPT.has(name),
        )
        const removed = Object.fromEntries(
          without.map((name) => [name, REMOVED[name as keyof ChartOptions] ?? 'none']),
        )
        const others = Object.fromEntries(Object.entries(second).filter(([name]) => !without.includes(name)))
        const left = await attempt(() => made(type, { ...least(type), ...first, ...others }))
        if (left) expect(await set(both, undefined, removed)).toEqual(left)
        const { spec, options } = readSpec(both, grid)
        expect(plain(await compileSpec(grid.fid, { ...spec, options }))).toEqual(both)
      }),
      { numRuns: runs(30, 1000) },
    )
    expect(compared).toBeGreaterThan(0)
  })

  it('changes made by hand survive later changes of options', async () => {
    await fc.assert(
      fc.asyncProperty(someOptions(type), fc.constantFrom(...CHART_TYPES), async (options, other) => {
        const figure = await made(type, least(type))
        const byHand = plain(figure)
        Object.assign(byHand.layout, { paper_bgcolor: '#eee', height: 700, margin: { l: 9 } })
        byHand.layout.title = { ...byHand.layout.title, font: { size: 30 } }
        byHand.layout.annotations = [{ text: 'mine', x: 1, y: 1 }]
        byHand.data[0] = { ...byHand.data[0], legendrank: 7, hoverlabel: { namelength: 9 } }
        byHand.data.push({ type: 'scatter', y: [1, 2], name: 'mine' })
        for (const next of [undefined, other]) {
          const changed = await attempt(() =>
            set(byHand, next, { ...(next ? least(next) : {}), ...(next ? {} : options) }),
          )
          if (!changed) continue
          expect(changed.layout).toMatchObject({ paper_bgcolor: '#eee', height: 700, margin: { l: 9 } })
          expect(changed.layout.title.font).toEqual({ size: 30 })
          expect(changed.layout.annotations).toContainEqual({ text: 'mine', x: 1, y: 1 })
          expect(changed.data).toContainEqual({ type: 'scatter', y: [1, 2], name: 'mine' })
          // Their columns may not suit other types.
          if (type === 'dumbbell' || type === 'pyramid') continue
          expect(changed.data).toContainEqual(
            expect.objectContaining({ legendrank: 7, hoverlabel: { namelength: 9 } }),
          )
        }
      }),
      { numRuns: runs(10, 300) },
    )
  })
})

it('renamed columns are found in every option', async () => {
  const options: ChartOptions = {
    ...{ x: 'city, old', y: 'price,cost', aggregate: 'sum' as const, sort: '-"city, old"' },
    where: '"city, old" = \'price\' and price > 1 or not cost in (1, 2)',
  }
  const figure = await made('bar', options)
  const names: Record<string, string> = { 'city, old': 'town', price: 'net "price"', cost: 'a,b' }
  const renamed = {
    ...grid,
    cols: cols.map((column) => ({ ...column, name: names[column.name] ?? column.name })),
  }
  expect(readSpec(figure, renamed).options).toEqual({
    ...options,
    x: 'town',
    y: '"net ""price""","a,b"',
    sort: '-town',
    where: 'town = \'price\' and "net ""price""" > 1 or not "a,b" in (1, 2)',
  })
  const next = await set(figure, undefined, { subtitle: 's' }, renamed)
  expect(next.data.map(({ name }) => name)).toEqual(['net "price"', 'a,b'])
})

it('a foreign spec is ignored and does no harm', async () => {
  const figure = await made('line', { x: 'day', y: 'price' })
  for (const spec of [
    null,
    7,
    [],
    { type: 'line' },
    { type: 'nothing', options: {}, columns: [] },
    { type: 'line', options: { x: 7, y: ['price'], __proto__: { where: 'x' } }, columns: [{ name: 'day' }] },
    { type: 'line', options: null, columns: [{ name: 1, uid: 2, type: 3 }] },
  ]) {
    const given = { ...figure, layout: { ...figure.layout, meta: { theme: 'gridline', spec } } }
    expect(readSpec(given, grid).options).toMatchObject({ x: 'day', y: 'price' })
    expect((await set(given, undefined, { unit: '€' })).layout.yaxis.ticksuffix).toBe(' €')
  }
  for (const spec of [
    {
      type: 'line',
      options: { x: 'day', y: '*******!' },
      columns: [{ name: 'a'.repeat(60), uid: 'd1', type: 'number' }],
    },
    {
      type: 'choropleth',
      options: { x: 'day' },
      columns: [{ name: 'day', uid: 'd1', type: 'text', seen: 5 }],
    },
    {
      type: 'line',
      options: { where: 'price >', y: ',,,' },
      columns: [{ name: 'old', uid: 'p1', type: 'number' }],
    },
    { type: 'line', options: {}, columns: [], facts: { sizeRef: {}, places: [] }, more: 'x'.repeat(10) },
  ]) {
    const given = { ...figure, layout: { ...figure.layout, meta: { theme: 'gridline', spec } } }
    expect(await attempt(() => set(given, 'line', { x: 'day', y: 'cost', where: 'none' }))).toBeDefined()
  }
  // Columns and options of our form that make no chart: what is there is what they made.
  const wrong = { type: 'line', options: { y: 'gone', x: 7 }, columns: [], facts: { sizeRef: 'x' } }
  const given = { ...figure, layout: { ...figure.layout, meta: { spec: wrong } } }
  const next = await set(given, undefined, { x: 'day', y: 'cost' })
  expect(next.data).toMatchObject([{ type: 'scatter', ysrc: 'me:1:q1' }])
})

it('the same options make the same figure, in whatever order they are given', async () => {
  const options: ChartOptions = { x: 'day', y: 'price', aggregate: 'sum', title: 'A title' }
  const reversed = Object.fromEntries(Object.entries(options).reverse())
  const [one, other] = [await made('bar', options), await made('bar', reversed)]
  expect(JSON.stringify(other)).toBe(JSON.stringify(one))
})
