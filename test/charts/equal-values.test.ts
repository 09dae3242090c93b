// Values that are equal, or nearly so, are drawn where they belong.
import { describe, expect, it } from 'vitest'
import { evaluateTransforms } from '../../src/charts/evaluate/index.ts'
import type { Attributes } from '../../src/charts/figure/figure.ts'

async function evaluate(
  trace: Attributes,
  layout: Attributes = {},
): Promise<Attributes & { notShown: unknown }> {
  const meta = { spec: { options: {} } }
  const figure = await evaluateTransforms({ data: [trace], layout: { ...layout, meta } })
  const [drawn] = figure.data as Attributes[]
  return { ...drawn, notShown: (figure.layout as Attributes).meta.notShown }
}

describe('values on bounds', () => {
  it('bars of long numbers are drawn apart', async () => {
    const from = 1_700_000_000_001
    const x = [0, 1, 1, 2, 4].map((k) => from + k)
    const bars = await evaluate({ type: 'histogram', x, transforms: [{ type: 'bins' }] })
    expect(bars.x).toEqual([0, 1, 2, 3, 4].map((k) => from + k))
    expect(bars.y).toEqual([1, 2, 1, 0, 1])
    expect(bars.customdata).toEqual(bars.x.map(String))
    const small = await evaluate({
      type: 'histogram',
      x: [0.1, 0.2, 0.3, 0.7],
      transforms: [{ type: 'bins' }],
    })
    expect(small.customdata[0]).toBe('0 to 0.2')
    const wide = await evaluate({ type: 'histogram', x: [-3, -3, 2, 1e12], transforms: [{ type: 'bins' }] })
    expect([wide.customdata[0], wide.y[0], wide.y[1]]).toEqual(['-200000000000 to -1', 2, 1])
    const close = await evaluate({
      type: 'histogram',
      x: [1000000.7, 1000000.8],
      transforms: [{ type: 'bins' }],
    })
    expect([close.y.at(-1), close.customdata.at(-1)]).toEqual([1, expect.stringMatching(/^1000000\.8 to /)])
    const log = await evaluate(
      { type: 'histogram', x: [154.33748275972903, 300, 800], transforms: [{ type: 'bins' }] },
      { xaxis: { type: 'log' } },
    )
    expect(log.customdata[0]).toMatch(/^154\.337/)
    for (const text of small.customdata) expect(text).toMatch(/^0(\.\d)? to \d(\.\d)?$/)
  })
})

describe('aggregates', () => {
  const groups = (func: string): Attributes => ({
    type: 'aggregate',
    groups: 'x',
    aggregations: [{ target: 'y', func, empty: 'none' }],
  })
  it('first and last leave out missing values', async () => {
    const trace = { type: 'bar', x: ['a', 'a', 'a', 'b'], y: [null, 20, null, null] }
    for (const func of ['first', 'last'])
      expect((await evaluate({ ...trace, transforms: [groups(func)] })).y).toEqual([20, null])
  })

  it('cells of equal instants are one', async () => {
    const heatmap = {
      type: 'heatmap',
      x: [
        '2024-01-31T01:00:00+02:00',
        '2024-01-30T23:00:00Z',
        '2024-01-31T23:00:00Z',
        '2024-01-31T23:00:00Z',
      ],
      y: ['a', 'a', 'b', 'a'],
      z: [1, 2, 5, 7],
      transforms: [{ type: 'cells', func: 'sum' }],
    }
    const layout = { xaxis: { type: 'date' }, yaxis: { type: 'category' } }
    expect((await evaluate(heatmap, layout)).z).toEqual([3, 5, 7])
    const { x, y } = heatmap
    const turned = { ...heatmap, x: y, y: x }
    expect((await evaluate(turned, { xaxis: layout.yaxis, yaxis: layout.xaxis })).z).toEqual([3, 5, 7])
  })

  it('the second of two hours that clocks show alike is listed as not shown', async () => {
    const x = ['2024-10-26T23:30:00Z', '2024-10-27T00:30:00Z', '2024-10-27T01:30:00Z', '2024-10-27T02:30:00Z']
    const zone = { type: 'zone', target: 'x', zone: 'Europe/Oslo' }
    const bars = await evaluate({ type: 'bar', x, y: [1, 2, 4, 8], transforms: [zone, groups('sum')] })
    expect(bars.y).toEqual([1, 6, 8])
    expect(bars.notShown).toEqual(['1 row of an hour that clocks show twice: drawn with the hour before'])
    const spring = { ...zone, zone: 'America/New_York' }
    const plain = await evaluate({ type: 'bar', x, y: [1, 2, 4, 8], transforms: [spring, groups('sum')] })
    expect([plain.y, plain.notShown]).toEqual([[1, 2, 4, 8], []])
  })
})

it('labels of a tree that are missing or repeated are nodes of their own', async () => {
  const tree = {
    type: 'treemap',
    labels: ['Oslo', '', null, 'Rome', 'Rome'],
    values: [1, 2, 4, 3, 5],
    transforms: [{ type: 'tree' }],
  }
  const { labels, values, ids } = await evaluate(tree)
  expect(labels).toEqual(['Oslo', '(none)', '(none)', 'Rome', 'Rome'])
  expect(values).toEqual([1, 2, 4, 3, 5])
  expect(new Set(ids).size).toBe(5)
})

it('a value on the bound of two classes belongs to the upper one, and the largest to the last', async () => {
  const values = Array.from({ length: 10 }, (_, k) => (k + 1) / 10)
  const trace = {
    type: 'barpolar',
    theta: values.map(() => 'N'),
    transforms: [{ type: 'groupby', groups: values, classes: 5 }],
  }
  const { data } = await evaluateTransforms({ data: [trace], layout: {} })
  expect((data as Attributes[]).map(({ name, theta }) => [name, theta.length])).toEqual([
    ['0 to 0.2', 1],
    ['0.2 to 0.4', 2],
    ['0.4 to 0.6', 2],
    ['0.6 to 0.8', 2],
    ['0.8 to 1', 3],
  ])
})
