// Transforms of animations, trends, trees and indicators.
import { expect, it } from 'vitest'
import { evaluateTransforms } from '../../../src/charts/evaluate/index.ts'

// biome-ignore lint/suspicious/noExplicitAny: a figure can have any attribute
const drawn = async (trace: object, layout: object = {}): Promise<any> =>
  evaluateTransforms({ data: [trace], layout })

it('each value of --animate is a frame with the same series and fixed axes', async () => {
  const figure = await drawn({
    type: 'bar',
    x: ['a', 'b', 'a', 'b', 'a'],
    y: [1, 2, 3, 4, 9],
    transforms: [
      { type: 'groupby', groups: ['10', '10', '9', '9', '9'], animate: true },
      { type: 'groupby', groups: ['p', 'q', 'p', 'p', 'q'] },
    ],
  })
  expect(figure.frames.map(({ name }: { name: string }) => name)).toEqual(['9', '10'])
  const shown = (data: { name: string; x: string[]; y: number[] }[]) =>
    data.map(({ name, x, y }) => [name, x, y])
  expect(shown(figure.data)).toEqual([
    ['p', ['a', 'b'], [3, 4]],
    ['q', ['a'], [9]],
  ])
  expect(shown(figure.frames[1].data)).toEqual([
    ['p', ['a'], [1]],
    ['q', ['b'], [2]],
  ])
  expect(figure.layout.yaxis.range).toEqual([0, 9.45])
})

it('more than 200 frames are refused', async () => {
  const groups = Array.from({ length: 201 }, (_, k) => k)
  const trace = { x: groups, y: groups, transforms: [{ type: 'groupby', groups, animate: true }] }
  await expect(drawn(trace)).rejects.toThrow('more than 200 frames')
})

it('a linear trend is a least-squares fit, also over dates and labels; gaps are ignored', async () => {
  const line = async (x: unknown[], y: unknown[]) =>
    (await drawn({ name: 'n', x, y, transforms: [{ type: 'trend', method: 'linear' }] })).data[1]
  expect((await line([3, 1, 2], [6, 2, 4])).y).toEqual([2, 4, 6])
  expect(
    (await line(['2024-01-01', '2024-01-02', '2024-01-05'], [0, 1, 4])).y.map((y: number) => Math.round(y)),
  ).toEqual([0, 1, 4])
  expect((await line(['a', 'b', 'c'], [1, null, 3])).y).toEqual([1, 3])
  expect(await line([1, 2], [null, 5])).toBe(undefined)
  expect((await line([1, 1], [2, 4])).y).toEqual([3, 3])
})

it('a moving mean covers each point and the points before it', async () => {
  const { data } = await drawn({
    name: 'n',
    x: [1, 2, 3, 4],
    y: [1, 2, 6, 4],
    transforms: [{ type: 'trend', method: 'mean', window: 3 }],
  })
  expect([data[1].y, data[1].name]).toEqual([[null, null, 3, 4], 'n (mean of 3)'])
})

it('a tree part is as large as its children, and cycles end', async () => {
  const tree = async (labels: unknown[], parents: unknown[], values?: unknown[]) =>
    (await drawn({ type: 'treemap', labels, parents, values, transforms: [{ type: 'tree' }] })).data[0]
  const made = await tree(
    ['World', 'Europe', 'Norway', 'Italy'],
    ['', 'World', 'Europe', 'Europe'],
    [null, 0, 1, 2],
  )
  expect([made.values, made.branchvalues]).toEqual([[3, 3, 1, 2], 'total'])
  expect((await tree(['a', 'b'], ['x', 'x'], [1, 2])).labels).toEqual(['a', 'b', 'x'])
  expect((await tree(['a', 'b', 'c'], ['', 'a', 'a'])).values).toEqual([2, 1, 1])
  expect((await tree(['a', 'b', 'c'], ['', 'a', 'a'], [10, 2, 3])).values).toEqual([10, 2, 3])
  expect((await tree(['a', 'b'], ['b', 'a'], [1, 1])).values.every(Number.isFinite)).toBe(true)
  expect((await tree(['p', 'a', 'b'], ['', 'p', 'p'], [9, 5, 5])).values).toEqual([10, 5, 5])
  expect((await tree(['a', 'b'], ['a', 'a'], [1, 2])).parents).toEqual(['', 'a'])
  const same = Array.from({ length: 100_000 }, () => 'a')
  expect((await tree(same, same)).labels.length).toBeLessThanOrEqual(501)
  const flat = Array.from({ length: 100_000 }, (_, k) => `n${k}`)
  const { values } = await tree(
    flat,
    flat.map(() => 'all'),
  )
  expect(Math.max(...values)).toBe(100_000)
  const deep = Array.from({ length: 50_000 }, (_, k) => `n${k}`)
  expect(
    (
      await tree(
        deep,
        ['', ...deep.slice(0, -1)],
        deep.map((_, k) => (k === 49_999 ? 7 : null)),
      )
    ).values[0],
  ).toBe(7)
})

it('an indicator shows the number of its column', async () => {
  const number = async (func: string, customdata: unknown[]) =>
    (
      await drawn({
        type: 'indicator',
        customdata,
        customdatasrc: 'a:1:b',
        transforms: [{ type: 'number', func }],
      })
    ).data[0]
  expect(await number('last', [1, 5, null])).toEqual({ type: 'indicator', value: 5 })
  expect((await number('avg', [1, 5])).value).toBe(3)
  expect((await number('sum', [])).value).toBe(undefined)
  expect((await number('count', [])).value).toBe(0)
  expect((await number('max', [null])).value).toBe(undefined)
})

it('the rows of a table chart are selected by its columns', async () => {
  const cells = {
    values: [
      ['a', 'b'],
      [1, 2],
    ],
  }
  const rows = { type: 'rows', where: 'n > 1', names: ['n'], types: ['number'], values: [1, 2] }
  const { data } = await drawn({ type: 'table', header: { values: ['x', 'n'] }, cells, transforms: [rows] })
  expect([data[0].header.values, data[0].cells.values]).toEqual([
    ['x', 'n'],
    [['b'], [2]],
  ])
})
