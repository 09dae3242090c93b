// Counts of omitted data, and texts of the data.
import { describe, expect, it } from 'vitest'
import { applyTheme } from '../../src/browser/theme/index.ts'
import { evaluateTransforms } from '../../src/charts/evaluate/index.ts'
import type { Attributes } from '../../src/charts/figure/figure.ts'
import { describeMissingRows, describeOmitted } from '../../src/charts/omitted.ts'

const DATES = { xaxis: { type: 'date' } }
const day = (k: number): string => `2024-01-0${k}`
const spec = (options: object) => ({ theme: 'gridline', spec: { options } })

describe('rows without a place', () => {
  it.each<[string, Attributes, object, string[]]>([
    ['a line', { x: [day(1), null, day(3)], y: [1, 5, 3], mode: 'lines' }, DATES, ['1 row without x']],
    ['a bar of labels', { type: 'bar', x: ['a', null], y: [1, 5] }, { xaxis: { type: 'category' } }, []],
    [
      'points',
      { x: [1, 2, null, 3], y: [2, null, 5, 3], mode: 'markers', name: 'y' },
      {},
      ['1 row without x', '1 row without y'],
    ],
    ['a row without anything', { x: [1, null], y: [2, null], mode: 'markers' }, {}, []],
    [
      'a span',
      { type: 'bar', x: ['a', 'b'], base: [1, 2], y: [3, null] },
      { xaxis: { type: 'category' } },
      ['1 row without both ends'],
    ],
    [
      'prices',
      { type: 'ohlc', x: [day(1), day(2)], open: [1, 1], high: [3, null], low: [1, 1], close: [2, 2] },
      DATES,
      ['1 row without all prices'],
    ],
    ['a map', { type: 'scattergeo', lat: [59.9, null], lon: [10.7, 3] }, {}, ['1 row without a place']],
    [
      'a map of other places than on Earth',
      { type: 'scattergeo', lat: [59.9, 120, -91, 0], lon: [10.7, 3, 3, 400] },
      {},
      ['2 rows without a place'],
    ],
    [
      'a chart with a second axis',
      { type: 'bar', x: ['a', 'b'], y: [1, null], yaxis: 'y2' },
      {
        xaxis: { type: 'category' },
        meta: { spec: { options: { y: 'sold', y2: 'returned', aggregate: 'sum' } } },
      },
      ['1 row without returned'],
    ],
    [
      'regions',
      { type: 'choropleth', locations: ['TX', 'CA'], z: [2, null], name: 'rate' },
      {},
      ['1 row without rate'],
    ],
    ['a histogram', { type: 'histogram', x: [1, null, null, 3], name: 'v' }, {}, ['2 rows without v']],
    [
      'parts',
      { type: 'treemap', labels: ['x', 'B', 'C'], parents: ['', 'x', 'x'], values: [null, 3, null] },
      {},
      ['1 row without a value'],
    ],
  ])('rows without a place in %s are counted', (_, trace, layout, said) => {
    expect(describeMissingRows({ data: [trace], layout })).toEqual(said)
  })

  it('texts in columns that had numbers or dates are counted, before aggregation', async () => {
    const columns = [
      { name: 'the day', uid: 'aaaaaa', type: 'date' },
      { name: 'price', uid: 'bbbbbb', type: 'number' },
      { name: 'city', uid: 'cccccc', type: 'text' },
    ]
    const transforms = [{ type: 'aggregate', groups: 'x', aggregations: [{ target: 'y', func: 'sum' }] }]
    const trace = {
      ...{ x: [day(1), 'soon', day(1), day(2)], xsrc: 'ann:1:aaaaaa' },
      ...{ y: ['1', ' 2.5e3 ', '€ 3', 'n/a'], ysrc: 'ann:1:bbbbbb' },
      ...{ text: ['a', 'b', 'c', 'd'], textsrc: 'ann:1:cccccc' },
    }
    const layout = { ...DATES, meta: { theme: 'gridline', spec: { options: { y: 'price' }, columns } } }
    const expected = ['1 row whose the day is not a date', '2 rows whose price is not a number']
    expect(describeMissingRows({ data: [trace], layout })).toEqual(expected)
    const evaluated = await evaluateTransforms({ data: [{ type: 'bar', ...trace, transforms }], layout })
    expect((evaluated.layout as Attributes).meta.notShown).toEqual(expected)
    // Labels are texts.
    const labels = { ...layout, xaxis: { type: 'category' } }
    expect(describeMissingRows({ data: [trace], layout: labels })).toEqual(expected.slice(1))
  })

  it.each([
    ['box', ['y'], []],
    ['histogram', ['x'], []],
    ['line', ['y'], [{ type: 'sort', target: 'x' }]],
    ['bar', ['y'], [{ type: 'groupby', groups: ['p', 'p', 'q', 'q'] }]],
    ['scatter', ['x'], []],
  ] as const)('a %s draws no text of a column that had numbers', async (type, [attribute], transforms) => {
    const trace = {
      ...{ type: type === 'line' ? 'scatter' : type, x: [1, 2, 3, 4], y: [1, 2, 3, 4], transforms },
      ...{ [attribute]: ['€1', '2', null, 'n/a'], [`${attribute}src`]: 'ann:1:bbbbbb' },
      marker: { color: ['x', '5', 6, 'y'], colorsrc: 'ann:1:bbbbbb' },
    }
    const columns = [{ name: 'price', uid: 'bbbbbb', type: 'number' }]
    const layout = { meta: { theme: 'gridline', spec: { options: {}, columns } } }
    const evaluated = (await evaluateTransforms({ data: [trace], layout })) as {
      data: Attributes[]
      layout: Attributes
    }
    const drawn = applyTheme(evaluated, { scheme: 'light', width: 640, height: 400 })
    const values = drawn.data.flatMap((one) => [...(one[attribute] ?? []), ...(one.marker?.color ?? [])])
    expect(values.filter((value) => typeof value === 'string' && !/^\d$|^#/.test(value))).toEqual([])
    expect(values.map(String)).toContain('2')
    const note = drawn.layout.annotations.map(({ text }: Attributes) => text).join(' ')
    expect(note).toContain('2 rows whose price is not a number')
  })

  it('texts that plotly.js reads as numbers stay, and so do labels and what is counted', async () => {
    const columns = [{ name: 'price', uid: 'bbbbbb', type: 'number' }]
    const layout = { meta: { theme: 'gridline', spec: { options: {}, columns } } }
    const drawn = async (trace: Attributes) => {
      const { data } = (await evaluateTransforms({ data: [trace], layout })) as { data: Attributes[] }
      return applyTheme({ data, layout }, { scheme: 'light', width: 640, height: 400 }).data[0]
    }
    const source = { xsrc: 'ann:1:bbbbbb' }
    const numbers = ['1,234', '1,00,000', '$1,200.50', '$5', '45%', ' -2.5e3 ', '', '.5', '5.']
    expect((await drawn({ type: 'histogram', x: numbers, ...source })).x).toEqual(numbers)
    expect((await drawn({ type: 'box', x: ['1', 'A'], y: [1, 2], ...source })).x).toEqual(['1', 'A'])
    const aggregations = [{ target: 'y', func: 'count' }]
    const transforms = [{ type: 'aggregate', groups: 'x', aggregations }]
    const counted = { type: 'bar', x: ['a', 'a'], y: ['A1', 'A2'], ysrc: 'ann:1:bbbbbb', transforms }
    expect((await drawn(counted)).y).toEqual([2])
    // plotly.js would draw 105, 1.2345 and 1234.
    const commas = ['10,5', '1.234,50', '1,234', '7', '', 'x,y']
    const dropped = [null, null, null, '7', '', null]
    expect((await drawn({ type: 'histogram', x: commas, ...source })).x).toEqual(dropped)
    expect(describeOmitted({ data: [{ x: [1], y: ['10,5'], ysrc: source.xsrc }], layout }).unseen).toEqual([
      '1 row whose price is not a number',
    ])
    // A long text takes no longer than its length.
    const long = [`${'1'.repeat(300_000)}x`, `${' '.repeat(300_000)}x`, `${'%'.repeat(300_000)}x`]
    expect((await drawn({ type: 'histogram', x: long, ...source })).x).toEqual([null, null, null])
    // Points without a color are grey, not missing.
    const figure = {
      data: [
        {
          x: [1, 2, 3, null],
          y: [1, 2, null, 4],
          mode: 'markers',
          // Rows without a place have no point.
          marker: { color: [1, 'big', null, null], colorsrc: 'ann:1:bbbbbb', showscale: true },
        },
      ],
      layout,
    }
    const { unseen, remarks } = describeOmitted(figure)
    expect([unseen, remarks]).toEqual([
      ['1 row without x', '1 row without a value'],
      ['1 row without a color is grey'],
    ])
  })

  it('rows without a place are counted once, before aggregation', async () => {
    const transforms = [
      { type: 'aggregate', groups: 'x', aggregations: [{ target: 'y', func: 'sum', empty: 'none' }] },
    ]
    const figure = {
      data: [{ type: 'bar', x: [day(1), null, null], y: [1, 2, 3], transforms }],
      layout: { ...DATES, meta: spec({ x: 'the_day', y: 'n' }) },
    }
    const drawn = (await evaluateTransforms(figure)) as { data: Attributes[]; layout: Attributes }
    expect(describeOmitted(drawn).unseen).toEqual(['2 rows without the day'])
    const { layout } = applyTheme(drawn, { scheme: 'light', width: 640, height: 400 })
    expect(layout.annotations.at(-1).text).toContain('Not shown: 2 rows without the day')
  })
})

it('values outside a requested range and gaps in areas are reported', () => {
  const layout = { yaxis: { range: [0, 50] }, meta: spec({ rangeY: '0,50' }) }
  expect(describeOmitted({ data: [{ type: 'bar', x: ['a', 'b'], y: [9.5, 60] }], layout }).unseen).toEqual([
    '1 value above 50',
  ])
  const area = { stackgroup: 'one', mode: 'lines' }
  const data = [
    { ...area, x: [1, 3], y: [10, 30] },
    { ...area, x: [1, 2, 3], y: [1, null, 3] },
  ]
  expect(describeOmitted({ data, layout: {} }).remarks).toEqual(['2 missing values are drawn as zero'])
  // With values below zero, areas become lines.
  const below = [...data, { ...area, x: [1, 2, 3], y: [1, -1, 1] }]
  expect(describeOmitted({ data: below, layout: {} }).remarks).toEqual([])
  const filled = [{ fill: 'tozeroy', x: [1, 2, 3, 4], y: [null, 1, null, 2] }]
  expect(describeOmitted({ data: filled, layout: {} }).remarks).toEqual(['1 missing value is filled over'])
})

describe('texts of the data', () => {
  const view = { scheme: 'light', width: 640, height: 400 } as const
  const shown = (data: Attributes[], layout: Attributes = {}) =>
    applyTheme({ data, layout: { ...layout, meta: { theme: 'gridline' } } as Attributes }, view)

  it('texts of the data never act as object keys, markup or templates', () => {
    const { data } = shown(
      [{ type: 'bar', x: ['constructor', '<b>x</b>', '%{x}'], y: [1, 2, 3], name: '__proto__' }],
      {
        xaxis: { type: 'category' },
      },
    )
    const labels = data[0].orientation === 'h' ? data[0].y : data[0].x
    expect(labels).toEqual(['constructor\u200b', '&lt;b&gt;x&lt;/b&gt;', '%\u200b{x}'])
    expect(data[0].name).toBe('__proto__\u200b')
  })

  it('labels of parts and radars are unchanged, and missing ones are (none)', () => {
    const [tree] = shown([
      { type: 'treemap', labels: ['<i>', '', 'b'], parents: ['', '<i>', '<i>'], values: [3, 1, 2] },
    ]).data
    expect([tree.labels, tree.parents]).toEqual([
      ['&lt;i&gt;', '(none)', 'b'],
      ['', '&lt;i&gt;', '&lt;i&gt;'],
    ])
    expect(shown([{ type: 'scatterpolar', theta: [null, 'a<br>b'], r: [1, 2] }]).data[0].theta).toEqual([
      '(none)',
      'a&lt;br&gt;b',
    ])
  })
})

it('an axis never has more ticks than fit', () => {
  const data = [{ type: 'bar', x: ['O', 'U'], y: [1, 2] }]
  for (const layout of [
    { yaxis: { range: [0, 20000] } },
    { shapes: [{ yref: 'y', y0: 1e6, y1: 1e6 }] },
    { barnorm: 'percent' },
  ]) {
    const { layout: next } = applyTheme(
      { data, layout: { ...layout, meta: { theme: 'gridline' } } as Attributes },
      { scheme: 'light', width: 640, height: 400 },
    )
    expect([next.yaxis.dtick, next.xaxis?.dtick ?? 1]).toEqual([undefined, 1])
  }
})

it('missing groups are (none), distinct from the text null', async () => {
  const trace = {
    x: [1, 2, 1, 2],
    y: [10, 20, 1, 2],
    transforms: [{ type: 'groupby', groups: ['null', 'null', null, ''], top: 12 }],
  }
  const { data } = (await evaluateTransforms({ data: [trace], layout: {} })) as { data: Attributes[] }
  expect(data.map(({ name, y }) => [name, y])).toEqual([
    ['null', [10, 20]],
    ['(none)', [1, 2]],
  ])
  const sums = {
    x: ['null', null],
    y: [10, 1],
    transforms: [
      { type: 'aggregate', groups: 'x', aggregations: [{ target: 'y', func: 'sum', empty: 'none' }] },
    ],
  }
  expect(
    ((await evaluateTransforms({ data: [sums], layout: {} })) as { data: Attributes[] }).data[0].y,
  ).toEqual([10, 1])
  const missing = { ...sums, x: [null, '', 'null', 'a', null], y: [1, 2, 4, 8, 16] }
  expect(
    ((await evaluateTransforms({ data: [missing], layout: {} })) as { data: Attributes[] }).data[0].y,
  ).toEqual([19, 4, 8])
  const cells = {
    type: 'heatmap',
    x: ['', null, '', 'x'],
    y: ['a', 'a', 'b', 'b'],
    z: [1, 10, 3, 5],
    transforms: [{ type: 'cells', func: 'sum' }],
  }
  expect(
    ((await evaluateTransforms({ data: [cells], layout: {} })) as { data: Attributes[] }).data[0].z,
  ).toEqual([11, 3, 5])
})

it('every frame contains all series, with their labels and trends', async () => {
  const transforms = [
    { type: 'groupby', groups: ['p', 'p', 'q', 'q'], animate: true },
    { type: 'trend', method: 'linear' },
  ]
  const trace = (name: string) => ({
    type: 'bar',
    name,
    x: ['O', 'U', 'O', 'Z'],
    y: [38, 55, 500, 5],
    transforms,
  })
  const figure = (await evaluateTransforms({
    data: [trace('a'), trace('b')],
    layout: { xaxis: { type: 'category' } },
  })) as Attributes
  expect(
    figure.frames.map((frame: Attributes) => [frame.name, frame.data.map(({ name }: Attributes) => name)]),
  ).toEqual([
    ['p', ['a', 'a (trend)', 'b', 'b (trend)']],
    ['q', ['a', 'a (trend)', 'b', 'b (trend)']],
  ])
  expect(figure.layout.xaxis).toMatchObject({ categoryarray: ['O', 'U', 'Z'], range: [-0.5, 2.5] })
  expect(figure.data).toHaveLength(4)
})
