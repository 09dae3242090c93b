// Rows are sorted like a stable sort by value.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { afterEach, expect, it, vi } from 'vitest'
import { defaultLimits } from '../../../src/contract/limits.ts'
import { type Bytes, parseInstant, WorkBudget } from '../../../src/json/index.ts'
import { KernelPool } from '../../../src/service/grids/column/kernel/pool.ts'
import { RowSet } from '../../../src/service/grids/column/row-set.ts'
import type { Snapshot } from '../../../src/service/grids/column/snapshot.ts'
import { createDelimitedWriter, ndjson } from '../../../src/service/grids/read/row-writers.ts'
import { RowSorter } from '../../../src/service/grids/read/sort.ts'
import { SortedRows } from '../../../src/service/grids/read/sorted-rows.ts'
import { runs } from '../../support/property-runs.ts'
import { all, both, columnArbitrary, snapshotOf } from '../../support/snapshots.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

afterEach(() => {
  KernelPool.use = 'large'
})

type Values = readonly string[]

/** Compares two JSON values: numbers, then lists and booleans, then texts. */
function compareValues(a: string, b: string, isDate: boolean): number {
  const kindOf = (json: string): number => (/^[-\d]/.test(json) ? 0 : json[0] === '"' ? 2 : 1)
  if (kindOf(a) !== kindOf(b)) return kindOf(a) - kindOf(b)
  if (kindOf(a) === 0 || isDate) return compareNumbers(a, b, isDate)
  const [x, y] = kindOf(a) === 2 ? [JSON.parse(a), JSON.parse(b)] : [a, b]
  return Buffer.compare(Buffer.from(x), Buffer.from(y))
}

function compareNumbers(a: string, b: string, isDate: boolean): number {
  if (!isDate && /^-?\d+$/.test(a) && /^-?\d+$/.test(b)) return Math.sign(Number(BigInt(a) - BigInt(b)))
  const [x, y] = [a, b].map((json) => (isDate ? parseInstant(JSON.parse(json)) : Number(json)))
  return Math.sign(x - y)
}

/** Returns the order of rows, by columns of which missing values come last. */
function modelOrder(
  rows: readonly number[],
  by: readonly { values: Values; isDate: boolean; descending: boolean }[],
): number[] {
  return rows.toSorted((a, b) => {
    for (const { values, isDate, descending } of by) {
      const [x, y] = [values[a] ?? 'null', values[b] ?? 'null']
      if (x === 'null' && y === 'null') continue
      if (x === 'null') return 1
      if (y === 'null') return -1
      const result = compareValues(x, y, isDate)
      if (result !== 0) return descending ? -result : result
    }
    return 0
  })
}

async function sort(
  snap: Snapshot,
  by: readonly { column: number; descending: boolean }[],
  only?: RowSet,
): Promise<Uint32Array> {
  const keys = by.map(({ column, descending }) => ({ column: snap.columns[column], descending }))
  return new RowSorter(defaultLimits).sortBy(snap, keys, new WorkBudget(), only)
}

it('rows of any columns are sorted like a stable sort by value', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(columnArbitrary, { minLength: 1, maxLength: 3 }),
      fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
      fc.option(fc.array(fc.nat(59)), { nil: undefined }),
      async (columns, descending, chosen) => {
        const snap = await snapshotOf(columns)
        const only =
          chosen &&
          RowSet.of(
            snap.rows,
            chosen.filter((row) => row < snap.rows),
          )
        const by = columns.map((_, column) => ({ column, descending: descending[column] }))
        const [fast, slow] = await both(() => sort(snap, by, only))
        expect(fast).toEqual(slow)
        const rows = only ? [...only] : Array.from({ length: snap.rows }, (_, row) => row)
        const model = modelOrder(
          rows,
          by.map(({ column, descending }) => ({
            values: columns[column].values.map(([, value]) => value),
            isDate: snap.columns[column].type.startsWith('date'),
            descending,
          })),
        )
        expect([...fast]).toEqual(model)
        const [a, b] = await both(() => all(new SortedRows(snap, ndjson(), fast, 1e6)))
        expect(a).toBe(b)
      },
    ),
    { numRuns: runs(150, 3000) },
  )
})

it('many texts with equal beginnings are sorted', async () => {
  const texts = Array.from(
    { length: 5000 },
    (_, k) => `https://example.org/${'x'.repeat(k % 40)}${(k * 7919) % 2500}`,
  )
  const values = texts.map((text) => ['', JSON.stringify(text), ''])
  const snap = await snapshotOf([{ values, slices: [2000, 2000] }])
  const order = [...(await sort(snap, [{ column: 0, descending: false }]))]
  expect(order).toEqual(
    modelOrder(
      [...texts.keys()],
      [{ values: texts.map((text) => JSON.stringify(text)), isDate: false, descending: false }],
    ),
  )
  expect(
    await all(new SortedRows(snap, createDelimitedWriter(',', true), Uint32Array.from(order), 1e6)),
  ).toBe(`c0\n${order.map((row) => `${texts[row]}\n`).join('')}`)
})

it('texts that differ only by NUL characters at their end are sorted by length', async () => {
  const texts = Array.from({ length: 1200 }, (_, k) => `a${'\0'.repeat(k % 7)}`)
  const values = texts.map((text) => ['', JSON.stringify(text), ''])
  const snap = await snapshotOf([{ values, slices: [] }])
  const only = RowSet.of(1200, texts.keys())
  const order = await sort(snap, [{ column: 0, descending: false }], only)
  const lengths = [...order].map((row) => texts[row].length)
  expect(lengths).toEqual(lengths.toSorted((a, b) => a - b))
})

it('hundreds of thousands of small groups with equal beginnings are sorted', async () => {
  const texts = Array.from(
    { length: 280_000 },
    (_, k) => `customer${String((k * 7919) % 140_000).padStart(8, '0')}/${k % 2}`,
  )
  const values = texts.map((text) => ['', `"${text}"`, ''])
  const snap = await snapshotOf([{ values, slices: [] }])
  const order = await sort(snap, [{ column: 0, descending: false }])
  for (let k = 1; k < order.length; k++)
    if (texts[order[k - 1]] > texts[order[k]]) expect.fail(`row ${k} is not sorted`)
})

it('long integers are sorted exactly', async () => {
  const values = Array.from({ length: 3000 }, (_, k) => String(10n ** 20n + BigInt((k * 7919) % 3000)))
  const snap = await snapshotOf([{ values: values.map((value) => ['', value, '']), slices: [1000] }])
  const order = await sort(snap, [{ column: 0, descending: true }])
  expect([...order].map((row) => values[row])).toEqual(values.toSorted().toReversed())
})

it('rows longer than the memory of a kernel are sorted, and too many bytes refused', async () => {
  const long = Array.from({ length: 2500 }, (_, k) => [
    '',
    JSON.stringify(`${(k * 7) % 2500} ${'y'.repeat(k % 500 === 0 ? 200_000 : 10)}`),
    '',
  ])
  const numbers = Array.from({ length: 2500 }, (_, k) => ['', String((k * 7) % 2500), ''])
  const snap = await snapshotOf([
    { values: long, slices: [1000] },
    { values: numbers, slices: [] },
  ])
  const order = await sort(snap, [{ column: 1, descending: false }])
  const [fast, slow] = await both(() => all(new SortedRows(snap, ndjson(), order, 1e7)))
  expect(fast === slow).toBe(true)
  expect(fast.match(/"c1":\d+/g)).toEqual(Array.from({ length: 2500 }, (_, k) => `"c1":${k}`))
  await expect(all(new SortedRows(snap, ndjson(), order, 1e5))).rejects.toMatchObject({ code: 'too_large' })
})

it('memory of sorted rows counts until they are read, closed or forgotten', async () => {
  const values = Array.from({ length: 2500 }, (_, k) => ['', String((k * 7) % 2500), ''])
  const snap = await snapshotOf([{ values, slices: [] }])
  const order = await sort(snap, [{ column: 0, descending: false }])
  const sorter = new RowSorter({ ...defaultLimits, sort_bytes: 100_000 })
  const buffer = (most = 100_000) => sorter.buffer(new SortedRows(snap, ndjson(), order, most))
  await expect(buffer(20_000)).rejects.toMatchObject({ code: 'too_large' })
  const held: Bytes[] = []
  const holdMost = async (): Promise<number> => {
    for (;;) {
      const next = await buffer().catch(({ code }) => code)
      if (next === 'overloaded') return held.length
      held.push(next)
    }
  }
  const most = await holdMost()
  expect(most).toBeGreaterThan(2)
  expect((await all(held.shift()!)).startsWith('{"c0":0}\n{"c0":1}\n')).toBe(true)
  await held.shift()![Symbol.asyncIterator]().return!()
  expect(await holdMost()).toBe(most)
  held.length = 0
  await vi.waitFor(async () => {
    collectGarbage()
    await buffer()
  })
})
