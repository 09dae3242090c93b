// The kernel reads and writes columns like TypeScript.
import fc from 'fast-check'
import { afterEach, expect, it } from 'vitest'
import { KernelPool } from '../../../src/service/grids/column/kernel/pool.ts'
import { RowSet } from '../../../src/service/grids/column/row-set.ts'
import { streamScalars } from '../../../src/service/grids/column/scalars.ts'
import { createDelimitedWriter, ndjson, type RowWriter } from '../../../src/service/grids/read/row-writers.ts'
import { streamChosenRows, streamFirstRows } from '../../../src/service/grids/read/rows.ts'
import { runs } from '../../support/property-runs.ts'
import { all, both, columnArbitrary, snapshotOf } from '../../support/snapshots.ts'

afterEach(() => {
  KernelPool.use = 'large'
})

const writers: (() => RowWriter)[] = [
  () => createDelimitedWriter(','),
  () => createDelimitedWriter('\t'),
  ndjson,
]

it('the kernel writes any rows of any columns like TypeScript', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(columnArbitrary, { minLength: 1, maxLength: 5 }),
      fc.constantFrom(...writers),
      fc.array(fc.nat(59)),
      fc.option(fc.nat(70), { nil: undefined }),
      async (columns, writer, chosen, head) => {
        const snap = await snapshotOf(columns)
        const [a, b] = await both(() => all(streamFirstRows(snap, writer(), head)))
        expect(a).toBe(b)
        const rows = RowSet.of(
          snap.rows,
          chosen.filter((row) => row < snap.rows),
        )
        const [c, d] = await both(() => all(streamChosenRows(snap, writer(), rows)))
        expect(c).toBe(d)
      },
    ),
    { numRuns: runs(150, 3000) },
  )
})

it('the kernel reads values of any column like TypeScript', async () => {
  await fc.assert(
    fc.asyncProperty(columnArbitrary, async (one) => {
      const snap = await snapshotOf([one])
      const [fast, slow] = await both(async () => {
        const found: unknown[] = []
        for await (const chunk of streamScalars(snap, snap.columns[0])) found.push(...chunk)
        return found
      })
      expect(fast).toEqual(slow)
    }),
    { numRuns: runs(150, 3000) },
  )
})

it('texts and rows beyond the memory of the kernel are read alike', async () => {
  const values = Array.from({ length: 20_000 }, (_, k) => ['', JSON.stringify(`text ${k % 9000}`), ''])
  const long = Array.from({ length: 30 }, (_, k) => [
    '',
    JSON.stringify(`${'x'.repeat(k * 9000)}${k % 2 ? '"' : ','}`),
    '',
  ])
  const snap = await snapshotOf([
    { values, slices: [7000, 7000] },
    { values: long, slices: [10, 10] },
  ])
  const [a, b] = await both(() => all(streamFirstRows(snap, createDelimitedWriter(','))))
  expect(a === b).toBe(true)
  const [fast, slow] = await both(async () => {
    const found: unknown[] = []
    for await (const chunk of streamScalars(snap, snap.columns[0])) found.push(...chunk)
    return found
  })
  expect(fast).toEqual(slow)
})

it('a column that ends before others leaves their values as they are', async () => {
  const column = (count: number) => ({
    values: Array.from({ length: count }, (_, k) => ['', String(k % 10), '']),
    slices: [count],
  })
  for (const counts of [
    [1, 60],
    [2, 60, 1],
    [0, 60, 3, 60],
  ]) {
    const snap = await snapshotOf(counts.map(column))
    for (const writer of writers) {
      const [a, b] = await both(() => all(streamFirstRows(snap, writer())))
      expect(a).toBe(b)
    }
  }
})

it('rows of thousands of columns and of long cells are written like TypeScript', async () => {
  const cells = [
    (k: number) => String(k),
    (k: number) => `"${'x'.repeat(k % 400)}, \\"${k}\\""`,
    () => '[1, {"a": null}]',
  ]
  for (const [width, rows] of [
    [3000, 12],
    [700, 40],
  ]) {
    const snap = await snapshotOf(
      Array.from({ length: width }, (_, column) => ({
        // Only the last column has values that are not plain.
        values: Array.from({ length: rows }, (_, row) => [
          '',
          cells[column === width - 1 ? 2 : column % 2](row * 97 + column),
          '',
        ]),
        slices: [column % 3 === 0 ? 5 : rows - 1],
      })),
    )
    for (const writer of writers) {
      const [a, b] = await both(() => all(streamFirstRows(snap, writer())))
      expect(a === b).toBe(true)
    }
  }
})
