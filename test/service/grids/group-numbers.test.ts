// Groups of decoded numbers are those of cells.
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { defaultLimits } from '../../../src/contract/limits.ts'
import { WorkBudget } from '../../../src/json/index.ts'
import { createFirstRows } from '../../../src/service/grids/column/cursor.ts'
import { KernelPool } from '../../../src/service/grids/column/kernel/pool.ts'
import { RowSet } from '../../../src/service/grids/column/row-set.ts'
import { group } from '../../../src/service/grids/reshape/group.ts'
import { areOfNumbers } from '../../../src/service/grids/reshape/group-numbers.ts'
import { join } from '../../../src/service/grids/reshape/join.ts'
import { runs } from '../../support/property-runs.ts'
import { both, columnArbitrary, snapshotOf } from '../../support/snapshots.ts'

afterAll(() => {
  KernelPool.use = 'large'
})

it('sums, means, medians and counts by a text, or of all rows, are those of the general way', async () => {
  let compared = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(columnArbitrary, { minLength: 2, maxLength: 4 }),
      fc.nat(5),
      fc.option(fc.array(fc.nat(59), { maxLength: 40 }), { nil: undefined }),
      async (columns, at, chosen) => {
        const snap = await snapshotOf(columns)
        const rows = chosen
          ? RowSet.of(
              snap.rows,
              chosen.filter((row) => row < snap.rows),
            )
          : createFirstRows(snap.rows)
        const namesOf = (start: string) =>
          snap.columns.filter(({ type }) => type.startsWith(start)).map(({ name }) => name)
        const dates = namesOf('date').slice(0, Math.min(1, at >> 1))
        const by = [...namesOf('text').slice(0, at % 2), ...dates]
        const per = dates.length > 0 ? ['year', 'month', 'week', 'day', 'hour', 'minute'][at] : undefined
        const numbers = snap.columns.filter(({ type }) => type === 'number').map(({ name }) => name)
        const aggregates = [
          { function: 'count' as const },
          ...numbers.flatMap((column) =>
            (['sum', 'mean', 'median', 'count'] as const).map((name) => ({ function: name, column })),
          ),
        ]
        const work = new WorkBudget()
        const run = async (more: { function: 'first'; column: string }[]) => {
          const made = await group(
            snap,
            { by, per, aggregates: [...aggregates, ...more] },
            { rows, limits: defaultLimits, work },
          )
          return made
            .take()
            .slice(0, by.length + aggregates.length)
            .map((text) => JSON.parse(`[${text}]`))
        }
        const expected = await run([{ function: 'first', column: snap.columns[0].name }])
        for (const found of await both(() => run([]))) expect(found).toEqual(expected)
        const keys = by.map((name) => ({
          at: snap.columns.findIndex((column) => column.name === name),
          ...(dates.includes(name) && { period: String }),
        }))
        if (areOfNumbers(snap, keys, [], rows) && snap.rows > 0) compared++
      },
    ),
    { numRuns: runs(300, 10_000), seed: runs(5, Date.now()) },
  )
  expect(compared).toBeGreaterThan(50)
})

it('what groups, pivots and joins keep in memory is limited, not only their results', async () => {
  const numbers = Array.from({ length: 5000 }, (_, k) => k)
  const columnOf = (format: (k: number) => string) => ({
    values: numbers.map((k): [string, string, string] => ['', format(k), '']),
    slices: [],
  })
  const snap = await snapshotOf([columnOf(String), columnOf((k) => `"t${k % 700}"`)])
  const [id, text] = snap.columns.map(({ name }) => name)
  const work = new WorkBudget()
  const options = {
    rows: createFirstRows(snap.rows),
    limits: { ...defaultLimits, query_result_bytes: 300_000 },
    work,
  }
  const median = { function: 'median' as const, column: id }
  const first = { function: 'first' as const, column: text }
  const refused: [string, Promise<unknown>][] = [
    ['group', group(snap, { by: [id], aggregates: [first] }, options)],
    ['group', group(snap, { by: [], aggregates: Array(20).fill(median) }, options)],
    ['group', group(snap, { by: [text], aggregates: [first, ...Array(20).fill(median)] }, options)],
    ['pivot', group(snap, { by: [id], aggregates: [median], pivot: text }, options)],
    [
      'join',
      join(snap, snap, [id], { ...options, limits: { ...defaultLimits, query_result_bytes: 200_000 } }),
    ],
  ]
  for (const [step, made] of refused) await expect(made).rejects.toThrow(`${step}: this needs more than`)
  const made = await group(snap, { by: [text], aggregates: [first, median] }, options)
  expect(made.rows).toBe(700)
})
