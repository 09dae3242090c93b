// Transforms of stored figures. Their values are compared with plotly.js in
// test/system/transforms.test.ts.
import { expect, it } from 'vitest'
import { evaluateTransforms } from '../../../src/charts/evaluate/index.ts'
import { onSqliteFirst } from '../../support/service.ts'

onSqliteFirst('transforms', (test) => {
  let made = 0
  const plotOf = async (transforms: unknown[]) => {
    const cols = {
      city: { data: ['Oslo', 'Rome', 'Oslo'], order: 0 },
      n: { data: [1, 2, 3], order: 1 },
    }
    const grid = await test().ask('alice', 'POST', '/v2/grids', {
      json: { filename: `cities ${made++}`, data: { cols } },
    })
    const { fid, cols: given } = grid.json.file
    const [city, n] = given.map(({ uid }: { uid: string }) => `${fid}:${uid}`)
    const figure = {
      data: [
        {
          type: 'bar',
          xsrc: city,
          ysrc: n,
          transforms: transforms.map((one) => one ?? { type: 'groupby', groupssrc: city }),
        },
      ],
      layout: {},
    }
    const plot = await test().ask('alice', 'POST', '/v2/plots', { json: { figure, filename: `p ${made++}` } })
    expect(plot.status).toBeLessThan(300)
    const content = async (query = '') =>
      (await test().ask('alice', 'GET', `/v2/plots/${plot.json.file.fid}/content${query}`)).json
    return { figure, grid: fid, content }
  }

  it('transforms are evaluated with inline data, and stored unchanged', async () => {
    const { figure, content } = await plotOf([null])
    expect(await content()).toEqual(figure)
    expect((await content('?inline_data=true')).data).toEqual([
      { type: 'bar', name: 'Oslo', x: ['Oslo', 'Oslo'], y: [1, 3] },
      { type: 'bar', name: 'Rome', x: ['Rome'], y: [2] },
    ])
  })

  it('transforms follow the data, including groups that appear later', async () => {
    const { grid, content } = await plotOf([
      { type: 'aggregate', groups: 'x', aggregations: [{ target: 'y', func: 'sum' }] },
    ])
    await test().ask('alice', 'POST', `/v2/grids/${grid}/row`, {
      json: {
        rows: [
          ['Paris', 7],
          ['Rome', 1],
        ],
      },
    })
    expect((await content('?inline_data=true')).data).toEqual([
      { type: 'bar', x: ['Oslo', 'Rome', 'Paris'], y: [4, 3, 7] },
    ])
  })
})

it.each<[string, unknown]>([
  ['no list', 'filter'],
  ['not objects', [null, 1, 'x', []]],
  ['unknown types', [{ type: 'nest' }, { type: 'constructor' }, {}]],
  [
    'operations and functions of every object',
    [
      { type: 'filter', operation: 'constructor' },
      { type: 'aggregate', aggregations: [{ target: 'y', func: 'toString' }] },
    ],
  ],
  [
    'targets that are not there',
    [
      { type: 'filter', target: 'marker.size' },
      { type: 'sort', target: '' },
      { type: 'aggregate', groups: 'z' },
    ],
  ],
  [
    'targets of every object',
    [
      {
        type: 'aggregate',
        aggregations: [
          { target: '__proto__.x', func: 'count' },
          { target: 'constructor.prototype.x', func: 'count' },
        ],
      },
    ],
  ],
  [
    'groups that are not one for each point',
    [
      { type: 'groupby', groups: ['a'] },
      { type: 'groupby', groups: 7 },
    ],
  ],
  [
    'styles of every object',
    [
      {
        type: 'groupby',
        groups: ['a', 'b', 'a'],
        styles: [{ target: 'a', value: JSON.parse('{"__proto__": {"x": 1}}') }],
      },
    ],
  ],
])('transforms with %s change nothing outside of the trace and do not fail', async (_, transforms) => {
  const figure = { data: [{ x: [1, 2, 3], y: [3, 2, 1], transforms }, null, 7], layout: {} }
  const before = JSON.stringify(figure)
  const { data } = (await evaluateTransforms(figure)) as { data: unknown[] }
  expect(data.length).toBeGreaterThanOrEqual(3)
  expect(JSON.stringify(figure)).toBe(before)
  expect(({} as { x?: number }).x).toBeUndefined()
})

it.each([
  ['more transforms', Array.from({ length: 21 }, () => ({ type: 'sort' }))],
  ['more groups', [{ type: 'groupby', groups: Array.from({ length: 1001 }, (_, k) => k) }]],
  [
    'more shared attributes',
    [{ type: 'groupby', groups: Array.from({ length: 1000 }, (_, k) => k), note: 'x'.repeat(40_000) }],
  ],
  [
    'longer lists of attributes',
    [
      {
        type: 'groupby',
        groups: Array.from({ length: 1000 }, (_, k) => k),
        list: Array.from({ length: 1200 }, (_, k) => `${k}`),
      },
    ],
  ],
])('%s than allowed are refused', async (_, transforms) => {
  const x = Array.from({ length: 1001 }, (_, k) => k)
  await expect(evaluateTransforms({ data: [{ x, y: x, transforms }] })).rejects.toThrow(/at most|too many/)
})

it('sums of dates beyond the calendar become gaps', async () => {
  const many = <T>(value: T): T[] => Array.from({ length: 6000 }, () => value)
  const transforms = [{ type: 'aggregate', aggregations: [{ target: 'y', func: 'sum' }] }]
  const figure = { data: [{ x: many('a'), y: many('2024-01-31'), transforms }] }
  expect(JSON.parse(JSON.stringify(await evaluateTransforms(figure))).data).toEqual([{ x: ['a'], y: [null] }])
})

it('times with a zone are sorted by instant', async () => {
  const x = ['2024-01-01T23:00-05:00', '2024-01-02T01:00Z']
  const { data } = (await evaluateTransforms({
    data: [{ x, y: [2, 1], transforms: [{ type: 'sort' }] }],
  })) as {
    data: unknown[]
  }
  expect(data).toEqual([{ x: [x[1], x[0]], y: [1, 2] }])
})

it('the style of a group replaces the values of its points', async () => {
  const marker = { color: ['blue', 'green', 'blue'], size: [5, 6, 7] }
  const styles = [{ target: 'a', value: { marker: { color: 'red' } } }]
  const transforms = [{ type: 'groupby', groups: ['a', 'b', 'a'], styles }]
  const { data } = (await evaluateTransforms({
    data: [{ x: [1, 2, 3], marker, transforms }],
    layout: {},
  })) as { data: { marker: object }[] }
  expect(data.map((trace) => trace.marker)).toEqual([
    { color: 'red', size: [5, 7] },
    { color: ['green'], size: [6] },
  ])
})
