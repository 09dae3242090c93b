// Transforms of Gridline: see docs/api.md#own-transforms.
import { describe, expect, it } from 'vitest'
import { evaluateTransforms } from '../../../src/charts/evaluate/index.ts'

type Trace = Record<string, unknown>
const evaluated = async (trace: Trace): Promise<Trace[]> =>
  ((await evaluateTransforms({ data: [trace], layout: {} })) as { data: Trace[] }).data
const drawn = async (trace: Trace, ...names: string[]): Promise<unknown[]> =>
  (await evaluated(trace)).map((one) => names.map((name) => one[name]))

describe('rows', () => {
  const trace = (transform: object, rest: object = {}) => ({
    x: ['a', 'b', 'c', 'd'],
    y: [1, 2, 3, 4],
    marker: { color: [10, 20, 30, 40] },
    transforms: [{ type: 'rows', ...transform }, ...((rest as { transforms?: object[] }).transforms ?? [])],
  })

  it('rows keeps the points of selected rows, in order, with their attributes', async () => {
    const where = { where: "n > 1 and t <> 'x'", sort: '-n', names: ['n', 't'] }
    const [found] = await evaluated(
      trace({
        ...where,
        values: [
          [2, 1, 5, 3],
          ['y', 'y', 'y', 'x'],
        ],
      }),
    )
    expect(found).toMatchObject({ x: ['c', 'a'], y: [3, 1], marker: { color: [30, 10] } })
  })

  it.each([
    [
      'rows',
      { type: 'rows', where: 'n > 2', names: ['n'], values: [1, 2, 3, 4] },
      [
        [
          [7, 8],
          ['c', 'd'],
        ],
      ],
    ],
    [
      'filter',
      { type: 'filter', target: 'y', operation: '>', value: 2 },
      [
        [
          [7, 8],
          ['c', 'd'],
        ],
      ],
    ],
    [
      'groupby',
      { type: 'groupby', groups: [0, 1, 0, 1] },
      [
        [
          [5, 7],
          ['a', 'c'],
        ],
        [
          [6, 8],
          ['b', 'd'],
        ],
      ],
    ],
  ])(
    'attributes of several columns lose the same points as the others: %s',
    async (_, transform, expected) => {
      const [customdata, customdatasrc] = [
        [
          [5, 6, 7, 8],
          ['a', 'b', 'c', 'd'],
        ],
        'ann:1:aaaaaa,bbbbbb',
      ]
      const found = await drawn(
        { x: [1, 2, 3, 4], y: [1, 2, 3, 4], customdata, customdatasrc, transforms: [transform] },
        'customdata',
      )
      expect(found).toEqual(expected.map((one) => [one]))
    },
  )

  it('rows reads dates as dates, and a single column as a list of its values', async () => {
    const found = await drawn(
      trace({
        where: "d >= '2024-02-01'",
        names: ['d'],
        values: ['2024-01-31', '2024-02-01', null, '2025-01-01'],
      }),
      'x',
    )
    expect(found).toEqual([[['b', 'd']]])
  })

  it('rows is applied before groups, so a group without rows is not a trace', async () => {
    const groups = { type: 'groupby', groups: ['p', 'q', 'p', 'q'] }
    const found = await drawn(
      trace({ where: 'n < 3', names: ['n'], values: [1, 5, 2, 7] }, { transforms: [groups] }),
      'name',
      'x',
    )
    expect(found).toEqual([['p', ['a', 'c']]])
  })

  it.each([
    ['without a filter', undefined, {}, ['p #1', 'q #2', 'r #3']],
    ['q, r', 'n = 3', {}, ['q #2', 'r #3']],
    ['only those that where selects', 'n = 3', { where: 'n > 1' }, ['q #1', 'r #2']],
    ['after another trace', 'n = 3', { before: true }, ['other', 'q (trace 1) #3', 'r (trace 1) #4']],
    [
      'with a chosen color',
      'n = 3',
      { styles: [{ target: 'r', value: { marker: { color: '#9' } } }] },
      ['q #2', 'r #9'],
    ],
  ])(
    'series keep their colors after a filter: %s',
    async (_, filter, { where, before, ...more }: Trace, expected) => {
      const groups = { type: 'groupby', groups: ['p', 'q', 'p', 'r'], ...more }
      const selection = { where, filter, names: ['n'], values: [1, 3, 1, 3] }
      const filtered = { ...trace(selection, { transforms: [groups] }), type: 'bar', marker: {} }
      const data = [...(before ? [{ type: 'bar', name: 'other', x: ['a'], y: [1] }] : []), filtered]
      const layout = { colorway: ['#1', '#2', '#3', '#4'] }
      const figure = (await evaluateTransforms({ data, layout })) as { data: Trace[] }
      const colorOf = ({ name, marker }: Trace, k: number): string => {
        const color = (marker as Trace | undefined)?.color ?? (filter === undefined ? `#${k + 1}` : '')
        return `${name} ${color}`.trim()
      }
      expect(figure.data.map(colorOf)).toEqual(expected)
      expect(figure.data.every(({ line }) => line === undefined)).toBe(true)
    },
  )

  it('many groups may be left out by a filter, and several groupings are evaluated as without one', async () => {
    const rows = Array.from({ length: 1500 }, (_, k) => k)
    const groups = { type: 'groupby', groups: rows.map((k) => `g${k}`) }
    const selection = { type: 'rows', filter: 'n < 3', names: ['n'], values: rows }
    const many = { x: rows, y: rows, transforms: [selection, groups] }
    expect((await evaluated(many)).map(({ name }) => name)).toEqual(['g0', 'g1', 'g2'])
    const two = [groups, { type: 'groupby', groups: rows.map((k) => `h${k % 2}`) }]
    expect(await evaluated({ ...many, transforms: [selection, ...two] })).toHaveLength(3)
  })

  it.each([
    [{ where: 'n >', names: ['n'], values: [1, 2, 3, 4] }, 'where: expected a column'],
    [{ where: 'm > 1', names: ['n'], values: [1, 2, 3, 4] }, 'no column "m"'],
    [{ sort: 'n,n', names: ['n'], values: [1, 2, 3, 4] }, 'named twice'],
  ])('an invalid expression is an error of the figure', async (transform, message) => {
    await expect(evaluated(trace(transform))).rejects.toMatchObject({
      code: 'bad_figure',
      message: expect.stringContaining(message),
    })
  })
})

describe('per', () => {
  it.each([
    ['day', '2024-05-15'],
    ['week', '2024-05-13'],
    ['month', '2024-05-01'],
    ['quarter', '2024-04-01'],
    ['year', '2024-01-01'],
  ])('a period of %s starts on its first day, in UTC', async (unit, first) => {
    const x = ['2024-05-15', '2024-05-15 23:59', '2024-05-16T01:00:00+02:00', null, 'soon']
    const found = await drawn({ x, y: [1, 2, 3, 4, 5], transforms: [{ type: 'per', unit }] }, 'x')
    expect(found).toEqual([[[first, first, first, null, null]]])
  })

  it('weeks begin on Monday, also before 1970', async () => {
    const x = ['1969-12-28', '1969-12-29', '1970-01-04', '1970-01-05']
    const found = await drawn({ x, y: [1, 2, 3, 4], transforms: [{ type: 'per', unit: 'week' }] }, 'x')
    expect(found).toEqual([[['1969-12-22', '1969-12-29', '1969-12-29', '1970-01-05']]])
  })
})

describe('top', () => {
  const groups = ['a', 'b', 'c', 'd', 'a', 'b', 'c', 'd']
  const trace = (transform: object, more: object[] = []) => ({
    x: [1, 1, 1, 1, 2, 2, 2, 2],
    y: [9, 1, 5, 2, 9, 1, 5, 2],
    transforms: [{ type: 'groupby', groups, ...transform }, ...more],
  })

  it('the largest groups are separate traces, and the others are combined as the last one', async () => {
    expect(await drawn(trace({ top: 3, other: 'sum' }), 'name', 'x', 'y')).toEqual([
      ['a', [1, 2], [9, 9]],
      ['c', [1, 2], [5, 5]],
      ['other (2), sum', [1, 2], [3, 3]],
    ])
    expect(await drawn(trace({ top: 3 }), 'name', 'y')).toEqual([
      ['a', [9, 9]],
      ['c', [5, 5]],
      ['other (2)', [1, 2, 1, 2]],
    ])
  })

  it('groups are ranked by absolute value, alike in all traces', async () => {
    const named = (name: string, y: number[]) => ({
      name,
      x: [1, 1, 1],
      y,
      transforms: [{ type: 'groupby', groups: ['a', 'b', 'c'], groupssrc: 'alice:0:abcdef', top: 2 }],
    })
    const { data } = (await evaluateTransforms({
      data: [named('p', [1, -9, 2]), named('n', [3, 0, 4])],
    })) as {
      data: { name: string }[]
    }
    expect(data.map(({ name }) => name)).toEqual(['b (p)', 'other (2) (p)', 'b (n)', 'other (2) (n)'])
  })

  it('groups up to the limit are unchanged', async () => {
    expect((await evaluated(trace({ top: 4, other: 'sum' }))).map(({ name }) => name)).toEqual([
      'a',
      'b',
      'c',
      'd',
    ])
  })

  it('the aggregate of the combined groups covers all their rows', async () => {
    const mean = { type: 'aggregate', groups: 'x', aggregations: [{ target: 'y', func: 'avg' }] }
    expect(await drawn(trace({ top: 2 }, [mean]), 'name', 'y')).toEqual([
      ['a', [9, 9]],
      ['other (3)', [8 / 3, 8 / 3]],
    ])
  })

  it('top keeps the largest points, and the sum of the others on request', async () => {
    const bars = (other: boolean) => ({
      type: 'bar',
      x: ['a', 'b', 'c', 'd', 'e'],
      y: [1, 4, null, 3, 2],
      transforms: [{ type: 'top', count: 2, other }],
    })
    expect(await drawn(bars(false), 'x', 'y')).toEqual([
      [
        ['b', 'd'],
        [4, 3],
      ],
    ])
    expect(await drawn(bars(true), 'x', 'y')).toEqual([
      [
        ['b', 'd', 'other (2)'],
        [4, 3, 3],
      ],
    ])
  })
})

it('frames repeat all series, so their product is limited', async () => {
  const rows = Array.from({ length: 1000 }, (_, k) => k)
  const frames = (count: number, hovertemplate = '') =>
    evaluated({
      x: rows,
      y: rows,
      hovertemplate,
      transforms: [
        { type: 'groupby', animate: true, groups: rows.map((k) => k % count) },
        { type: 'groupby', groups: rows.map((k) => k % 100) },
      ],
    })
  expect((await frames(5)).length).toBe(100)
  await expect(frames(200)).rejects.toMatchObject({
    code: 'too_large',
    message: expect.stringContaining('in its frames'),
  })
  await expect(frames(50, 'a'.repeat(2000))).rejects.toMatchObject({
    code: 'too_large',
    message: expect.stringContaining('share'),
  })
})

it('a sum of no values is missing in charts of columns, and 0 in other figures', async () => {
  const sums = (more: object) =>
    drawn(
      {
        x: ['a', 'b', 'b'],
        y: [1, null, null],
        transforms: [
          { type: 'aggregate', groups: 'x', aggregations: [{ target: 'y', func: 'sum', ...more }] },
        ],
      },
      'y',
    )
  expect(await sums({ empty: 'none' })).toEqual([[[1, undefined]]])
  expect(await sums({})).toEqual([[[1, 0]]])
})

it('a heatmap has one cell per x and y', async () => {
  const found = await drawn(
    {
      type: 'heatmap',
      x: ['a', 'a', 'b', 'a'],
      y: [1, 1, 1, 2],
      z: [1, 3, 5, 7],
      transforms: [{ type: 'cells', func: 'avg' }],
    },
    'x',
    'y',
    'z',
  )
  expect(found).toEqual([
    [
      ['a', 'b', 'a'],
      [1, 1, 2],
      [2, 5, 7],
    ],
  ])
})

describe('facet', () => {
  const trace = (more: object[] = []) => ({
    x: [1, 2, 1, 2],
    y: [1, 2, 3, 4],
    transforms: [{ type: 'groupby', groups: ['p', 'p', 'q', 'q'], facet: true }, ...more],
  })

  it('a trace without a name keeps its number behind groups', async () => {
    const first = { x: [1, 2], y: [1, 2], transforms: [{ type: 'groupby', groups: ['p', 'q'] }] }
    const data = [first, { y: [3] }, { y: [4], name: 'last' }]
    const figure = (await evaluateTransforms({ data, layout: {} })) as { data: Trace[] }
    expect(figure.data.slice(2).map(({ name }) => name)).toEqual(['trace 1', 'last'])
  })

  it('points are in the chart of their row and column, also if two charts have the same title', async () => {
    const groups = [
      ['x', 'b, x', 'x', 'b, x'],
      ['a, b', 'a', 'a', 'a, b'],
    ]
    const transforms = groups.map((list) => ({ type: 'groupby', groups: list, facet: true }))
    const found = await drawn({ x: [1, 1, 1, 1], y: [10, 99, 5, 7], transforms }, 'xaxis', 'y')
    // Charts are numbered row by row, and rows and columns in order of appearance.
    expect(found).toEqual([
      ['x', [10]],
      ['x2', [5]],
      ['x4', [99]],
      ['x3', [7]],
    ])
  })

  it('facet draws a small chart per value, with the same scales and its name above', async () => {
    const layout = { xaxis: { title: { text: 'x' }, type: 'linear' }, yaxis: { title: { text: 'y' } } }
    const figure = (await evaluateTransforms({ data: [trace()], layout })) as { data: Trace[]; layout: Trace }
    expect(figure.data.map(({ xaxis, yaxis, y }) => [xaxis, yaxis, y])).toEqual([
      ['x', 'y', [1, 2]],
      ['x2', 'y2', [3, 4]],
    ])
    expect(figure.layout).toMatchObject({
      xaxis: { type: 'linear', domain: [0, 0.47], title: { text: 'x' } },
      xaxis2: { type: 'linear', domain: [0.53, 1], matches: 'x', anchor: 'y2' },
      yaxis2: { matches: 'y', showticklabels: false },
      showlegend: false,
      annotations: [{ text: 'p' }, { text: 'q' }],
    })
  })

  it('marks and bands are in every small chart, with labels in the first', async () => {
    const shapes = [
      {
        name: 'gridline-band',
        xref: 'x',
        yref: 'paper',
        x0: 1,
        x1: 2,
        y0: 0,
        y1: 1,
        label: { text: 'closed' },
      },
      { name: 'mine', xref: 'paper', yref: 'paper', x0: 0, x1: 1 },
    ]
    const { layout } = (await evaluateTransforms({ data: [trace()], layout: { shapes } })) as {
      layout: Trace
    }
    const { label, ...plain } = shapes[0]
    expect(layout.shapes).toEqual([
      { ...plain, xref: 'x', yref: 'y domain', label },
      { ...plain, xref: 'x2', yref: 'y2 domain' },
      shapes[1],
    ])
  })

  it('series have the same color in every small chart, and one legend entry', async () => {
    const by = { type: 'groupby', groups: ['a', 'b', 'b', 'a'] }
    const found = await drawn(trace([by]), 'name', 'xaxis', 'showlegend', 'line')
    const [blue, orange] = [{ color: '#1f77b4' }, { color: '#ff7f0e' }]
    expect(found).toEqual([
      ['a', 'x', true, blue],
      ['b', 'x', true, orange],
      ['b', 'x2', false, orange],
      ['a', 'x2', false, blue],
    ])
  })

  it('more than 36 small charts are refused', async () => {
    const groups = Array.from({ length: 37 }, (_, k) => k)
    const many = { x: groups, y: groups, transforms: [{ type: 'groupby', groups, facet: true }] }
    await expect(evaluated(many)).rejects.toMatchObject({ code: 'too_large' })
  })
})

it.each([
  ['2024-03-31T00:30:00Z', '2024-03-31 01:30:00.000'],
  ['2024-03-31T01:30:00Z', '2024-03-31 03:30:00.000'],
  ['2024-01-01 12:00:00.250-05:00', '2024-01-01 18:00:00.250'],
  ['2024-01-01 12:00', '2024-01-01 12:00'],
  ['2024-01-01', '2024-01-01'],
  [null, null],
])('the time %s is %s in Oslo', async (value, local) => {
  const found = await drawn({ x: [value], y: [1], transforms: [{ type: 'zone', zone: 'Europe/Oslo' }] }, 'x')
  expect(found).toEqual([[[local]]])
})

it('treemap parts with the same name are distinguished by ids', async () => {
  const trace = {
    ...{ type: 'treemap', ids: [1, 2, 3, 4], labels: ['root', 'a', 'a', 'b'], parents: [null, 1, 2, 1] },
    ...{ values: [null, 1, 4, 5], transforms: [{ type: 'tree' }] },
  }
  const { data } = (await evaluateTransforms({ data: [trace] })) as { data: unknown[] }
  expect(data).toEqual([
    {
      ...{ type: 'treemap', ids: ['1', '2', '3', '4'], labels: ['root', 'a', 'a', 'b'] },
      ...{ parents: ['', '1', '2', '1'], values: [9, 4, 4, 5], branchvalues: 'total' },
    },
  ])
})

describe('bars between two values', () => {
  const of = async (trace: object, ...transforms: object[]) => {
    const { data } = (await evaluateTransforms({ data: [{ ...trace, transforms }] })) as { data: object[] }
    return data[0]
  }

  it('a range bar spans two values or dates; without both ends, or backwards, there is none', async () => {
    const bar = { type: 'bar', x: ['a', 'b', 'c', 'd'] }
    expect(await of({ ...bar, base: [1, -3, null, 5], y: [4, 2, 7, null] }, { type: 'span' })).toMatchObject({
      y: [3, 5, null, null],
      base: [1, -3, null, 5],
    })
    const days = {
      ...bar,
      base: ['2024-02-28', '1485-08-22', 'x', null],
      y: ['2024-03-01', '1485-08-21', 'y', 'z'],
    }
    expect(await of(days, { type: 'span' })).toMatchObject({ y: [2 * 86_400_000, null, null, null] })
  })

  it('mirrored bars keep their values on hover', async () => {
    const trace = { type: 'bar', x: ['a', 'b', 'c'], y: [3, null, -2] }
    expect(await of(trace, { type: 'negate' })).toMatchObject({
      y: [-3, null, null],
      customdata: [3, null, null],
    })
  })

  it('ecdf shares count equal values together, and omit missing ones', async () => {
    const trace = { type: 'scatter', x: [3, 1, null, 3, 2] }
    expect(await of(trace, { type: 'cumulate' })).toMatchObject({ x: [1, 2, 3, 3], y: [25, 50, 100, 100] })
  })
})

it('series whose names begin with a number are sorted by it, others last', async () => {
  for (const [given, wanted] of [
    [
      ['10', '9', '100'],
      ['9', '10', '100'],
    ],
    [
      ['75,000 to 99,999', '1,000,000 and more', '0 to 74,999'],
      ['0 to 74,999', '75,000 to 99,999', '1,000,000 and more'],
    ],
    [
      ['2024-02-01', '2024-01-01', '2023-05-05'],
      ['2023-05-05', '2024-01-01', '2024-02-01'],
    ],
    [
      ['b', 'a', '1'],
      ['b', 'a', '1'],
    ],
  ]) {
    const trace = {
      x: given,
      y: given.map(() => 1),
      transforms: [{ type: 'groupby', groups: given, top: 12 }],
    }
    const { data } = (await evaluateTransforms({ data: [trace] })) as { data: { name: string }[] }
    expect(data.map(({ name }) => name)).toEqual(wanted)
  }
  const groups = ['3', '3', '2', '1', '4']
  const trace = { x: groups, y: [5, 5, 3, 1, 1], transforms: [{ type: 'groupby', groups, top: 3 }] }
  const { data } = (await evaluateTransforms({ data: [trace] })) as { data: { name: string }[] }
  expect(data.map(({ name }) => name)).toEqual(['2', '3', 'other (2)'])
})

describe('what values are counted in', () => {
  const of = async (trace: Trace, transform: object, layout: object = {}): Promise<Record<string, unknown>> =>
    (
      (await evaluateTransforms({ data: [{ ...trace, transforms: [transform] }], layout })) as {
        data: Trace[]
      }
    ).data[0]

  it('histogram bins are at round numbers, the same for all series', async () => {
    const values = [0, 1, 2, 9, 10, 11, 55, 99]
    const groups = { type: 'groupby', groups: values.map((_, k) => (k < 4 ? 'a' : 'b')), top: 12 }
    const trace = { type: 'histogram', x: values, transforms: [groups, { type: 'bins' }] }
    const { data } = (await evaluateTransforms({ data: [trace], layout: {} })) as { data: Trace[] }
    expect(data).toMatchObject([
      { type: 'bar', x: [10], y: [4], customdata: ['0 to 19'] },
      { type: 'bar', x: [10, 30, 50, 70, 90], y: [2, 0, 1, 0, 1] },
    ])
    expect(await of({ type: 'histogram', x: [3, 4, 4, 5, null] }, { type: 'bins' })).toMatchObject({
      ...{ x: [3, 4, 5], y: [1, 2, 1], customdata: ['3', '4', '5'] },
    })
  })

  it('each value is in one bin, for any numbers', async () => {
    for (const values of [
      [1e15, 1e15 + 5],
      [1e-12, 3e-12, -2e-12],
      [0.1, 0.2, 0.3, 0.7],
      [5],
      [-3, -3.5, 1e300],
    ]) {
      const { y } = await of({ type: 'histogram', x: values }, { type: 'bins' })
      expect(
        (y as number[]).reduce((sum, count) => sum + count, 0),
        String(values),
      ).toBe(values.length)
    }
  })

  it('dates are counted in periods, and labels one by one', async () => {
    const dates = { type: 'histogram', x: ['2020-01-05', '2020-01-30', '2020-03-01', '2023-11-11', null] }
    expect(await of(dates, { type: 'bins' }, { xaxis: { type: 'date' } })).toMatchObject({
      ...{ y: [2, 1, 1], customdata: ['month of 2020-01-01', 'month of 2020-03-01', 'month of 2023-11-01'] },
    })
    const labels = { type: 'histogram', x: ['a', null, 'a', 'null'] }
    expect(await of(labels, { type: 'bins' }, { xaxis: { type: 'category' } })).toMatchObject({
      y: [2, 1, 1],
    })
  })

  it('a density integrates to 1 around its values', async () => {
    const { x, y } = (await of({ type: 'scatter', x: [1, 2, 2, 3, null] }, { type: 'density' })) as {
      x: number[]
      y: number[]
    }
    const area = x.slice(1).reduce((sum, at, k) => sum + (at - x[k]) * ((y[k] + y[k + 1]) / 2), 0)
    expect(area).toBeCloseTo(1, 2)
    expect(x[y.indexOf(Math.max(...y))]).toBeCloseTo(2, 1)
    expect(await of({ type: 'scatter', x: [null] }, { type: 'density' })).toMatchObject({ x: [], y: [] })
  })

  it('calendar days are cells of their week, per year', async () => {
    const days = { type: 'heatmap', x: ['2023-12-31', '2024-01-01', 'no day', '2024-01-08'], z: [1, 2, 3, 4] }
    expect(await of(days, { type: 'calendar' })).toMatchObject({
      ...{ x: [52, 0, 1], y: ['2023 Sunday', '2024 Monday', '2024 Monday'], z: [1, 2, 4] },
    })
  })

  it('sankey links connect numbered nodes, and equal links are combined', async () => {
    const link = { source: ['a', 'b', 'a', 'c'], target: ['b', 'c', 'b', 'c'], value: [1, 2, 3, -1] }
    expect(await of({ type: 'sankey', link }, { type: 'links' })).toMatchObject({
      node: { label: ['a', 'b', 'c'] },
      link: { source: [0, 1], target: [1, 2], value: [4, 2] },
    })
  })

  it('rose directions are compass points, and values are counted in classes', async () => {
    const transforms = [
      { type: 'sectors' },
      { type: 'groupby', groups: [1, 12, 3, 20], classes: 2, top: 12 },
      { type: 'aggregate', groups: 'theta', aggregations: [{ target: 'r', func: 'count', empty: 'none' }] },
    ]
    const { data } = (await evaluateTransforms({
      data: [{ type: 'barpolar', theta: [0, 359, 90, -90], transforms }],
      layout: {},
    })) as { data: Trace[] }
    expect(data).toMatchObject([
      { name: '0 to 10', theta: ['N', 'E'], r: [1, 1] },
      { name: '10 to 20', theta: ['N', 'W'], r: [1, 1] },
    ])
  })

  it('each point is in one hexagon, near its center', async () => {
    const [x, y] = [0, 1].map((n) => Array.from({ length: 500 }, (_, k) => Math.sin(k * (n + 1.7)) * 10))
    const found = (await of({ type: 'scatter', x, y }, { type: 'hexagons' })) as {
      marker: { color: number[] }
      x: number[]
    }
    expect(found.marker.color.reduce((sum, count) => sum + count, 0)).toBe(500)
    expect(found.x.length).toBeGreaterThan(100)
  })

  it('bump ranks are per place, equal values share one, and only the first groups are drawn', async () => {
    const groups = ['a', 'b', 'c', 'a', 'b', 'c']
    const trace = {
      ...{ type: 'scatter', x: [1, 1, 1, 2, 2, 2], y: [5, 9, 5, 7, 1, 2] },
      transforms: [{ type: 'rank' }, { type: 'groupby', groups, top: 3, drop: true, of: 'city' }],
    }
    const figure = {
      data: [{ ...trace, transforms: [{ type: 'rank' }, { type: 'groupby', groups, top: 12 }] }],
    }
    const { data } = (await evaluateTransforms(figure)) as { data: Trace[] }
    expect(data.map(({ name, y }) => [name, y])).toEqual([
      ['a', [2, 1]],
      ['b', [1, 3]],
      ['c', [2, 2]],
    ])
    const few = {
      data: [
        {
          ...trace,
          transforms: [{ type: 'rank' }, { type: 'groupby', groups, top: 2, drop: true, of: 'city' }],
        },
      ],
      layout: {},
    }
    const shown = (await evaluateTransforms(few)) as {
      data: Trace[]
      layout: { meta: { notShown: string[] } }
    }
    expect(shown.data.map(({ name }) => name)).toEqual(['a'])
    expect(shown.layout.meta.notShown).toEqual(['2 more cities'])
  })

  it('trends of series with one point are counted as missing', async () => {
    const groups = ['a', 'a', 'b', 'c']
    const transforms = [
      { type: 'groupby', groups, top: 12 },
      { type: 'trend', method: 'linear' },
    ]
    const figure = { data: [{ x: [1, 2, 3, 4], y: [1, 2, 3, 4], transforms }], layout: {} }
    const { data, layout } = (await evaluateTransforms(figure)) as {
      data: Trace[]
      layout: { meta: { notShown: string[] } }
    }
    expect(data.map(({ name }) => name)).toEqual(['a', 'a (trend)', 'b', 'c'])
    expect(layout.meta.notShown).toEqual(['2 trends of series with fewer than two points'])
  })

  it('a band goes along its upper values and back along the lower ones, and ends at gaps', async () => {
    const trace = { type: 'scatter', x: [1, 2, 3, 4], y: [5, 6, null, 8], customdata: [1, 2, 3, 4] }
    expect(await of(trace, { type: 'band' })).toMatchObject({
      x: [1, 2, 2, 1, null, 4, 4, null],
      y: [5, 6, 2, 1, null, 8, 4, null],
    })
  })
})

describe('transforms as plotly.js 2.35 evaluates them, with figures of its own', () => {
  const of = async (trace: Trace): Promise<unknown[]> => drawn(trace, 'x', 'y')

  it('lists of a filter keep their order after an aggregate, with their types', async () => {
    const transforms = [
      {
        type: 'aggregate',
        groups: ['z', 'b', 'b', '', '', 'b', '', ''],
        aggregations: [{ target: 'y', func: 'median' }],
      },
      {
        type: 'filter',
        target: ['2021-05-03', '2020-02-01', '2020-02-01', '2021-05-03', 'x', 'x', 'x', 'x'],
        operation: '!=',
        value: '2',
      },
    ]
    const x = [
      '2020-01-01',
      '2020-01-02',
      '2020-01-03',
      '2020-01-04',
      '2020-01-01',
      '2020-02-01',
      '2020-01-01',
      '2020-01-01',
    ]
    expect(await of({ x, y: [3, 5, 0, 10, 2, 1, 3, 0], transforms })).toEqual([
      [
        ['2020-01-01', '2020-01-02', '2020-01-04'],
        [3, 1, 2.5],
      ],
    ])
  })

  it('a number in a text is a time on a date axis, and empty texts are labels', async () => {
    const dates = {
      x: [1, 2],
      y: ['2021-05-03', '2020-02-01'],
      transforms: [{ type: 'filter', target: 'y', operation: '>', value: '2' }],
    }
    expect(await of(dates)).toEqual([
      [
        [1, 2],
        ['2021-05-03', '2020-02-01'],
      ],
    ])
    const empty = {
      x: [1],
      y: [2],
      transforms: [{ type: 'filter', target: [''], operation: '!=', value: 'b' }],
    }
    expect(await of(empty)).toEqual([[[1], [2]]])
  })
})

it('in a tree of thousands of parts, the smaller children are combined per part', async () => {
  const leaves = Array.from({ length: 10_000 }, (_, k) => k)
  const trace = {
    type: 'treemap',
    labels: [...leaves.map((k) => `leaf ${k}`), 'A', 'B'],
    parents: [...leaves.map((k) => (k % 2 === 0 ? 'A' : 'B')), '', ''],
    values: [...leaves.map((k) => k + 1), null, null],
    transforms: [{ type: 'tree' }],
  }
  const [found] = await evaluated(trace)
  const { labels, values, ids, parents } = found as Record<'labels' | 'ids' | 'parents', string[]> & {
    values: number[]
  }
  expect(labels.length).toBeLessThanOrEqual(504)
  expect(new Set(ids).size).toBe(labels.length)
  const sumOf = (parent: string) =>
    values.filter((_, k) => parents[k] === parent).reduce((sum, value) => sum + value, 0)
  for (const parent of ['A', 'B']) expect(sumOf(parent)).toBe(values[labels.indexOf(parent)])
  expect(labels).toContain('leaf 9999')
  expect(labels.filter((label) => label.startsWith('other'))).toHaveLength(2)
})

it('several columns become points at their names, for the selected rows, by series', async () => {
  const trace = {
    ...{
      type: 'scatter',
      y: [
        [1, 2, 3],
        [4, null, 6],
      ],
      text: ['r1', 'r2', 'r3'],
    },
    transforms: [
      { type: 'melt', names: ['2019', '2020'] },
      { type: 'rows', where: 'n < 3', names: ['n'], types: ['number'], values: [1, 2, 3] },
      { type: 'groupby', groups: ['a', 'b', 'c'], top: 12 },
    ],
  }
  expect(await drawn(trace, 'name', 'x', 'y', 'text')).toEqual([
    ['a', [2019, 2020], [1, 4], ['r1', 'r1']],
    ['b', [2019, 2020], [2, null], ['r2', 'r2']],
  ])
})
