// Automatic choice of chart types.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compileChart } from '../../src/charts/compile/compile.ts'
import { completed } from '../../src/charts/normalize/complete-options.ts'
import { choosePeriod, isAmount, isCount, isLevel } from '../../src/charts/normalize/measures.ts'
import type { ChartGrid, Column } from '../../src/charts/spec/options.ts'
import { runs } from '../support/property-runs.ts'

const NAMES = [
  'id',
  '2019',
  '2020',
  '2021',
  'year',
  'lat',
  'lon',
  'open',
  'close',
  'city',
  'a b',
  'x,y',
  'n',
  'm',
  'k',
]
const column = fc.record({
  name: fc.constantFrom(...NAMES),
  type: fc.constantFrom('number', 'text', 'boolean', 'date', 'datetime', 'json', 'empty'),
  rows: fc.nat(2000),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
})

it('every combination of columns gets a chart', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(column, { selector: ({ name }) => name, minLength: 1, maxLength: 7 }),
      async (columns) => {
        const cols = columns.map(({ name, type }, k) => ({ name, type, uid: `u${k}` }) as Column)
        const grid: ChartGrid = { fid: 'me:1', filename: 'g', cols }
        const counts = new Map(
          columns.map(({ name, rows, share }) => [name, { rows, distinct: Math.ceil(rows * share) }]),
        )
        const { type, options, reason } = await completed(grid, 'auto', {}, async (name) => counts.get(name))
        const { data } = await compileChart(undefined, grid, type, options)
        expect(data.length).toBeGreaterThan(0)
        expect(reason).toBeTruthy()
      },
    ),
    { numRuns: runs(300, 20_000) },
  )
})

it('amounts come first and are added up per period, levels have a mean', async () => {
  const cols = [
    { name: 'day', type: 'date', uid: 'a' },
    { name: 'quantity', type: 'number', uid: 'b' },
    { name: 'unit_price', type: 'number', uid: 'c' },
    { name: 'orderTotal', type: 'number', uid: 'd' },
    { name: 'total_cases', type: 'number', uid: 'e' },
  ] as Column[]
  const choose = async (kept: readonly string[]) => {
    const grid = { fid: 'me:1', filename: 'g', cols: cols.filter(({ name }) => kept.includes(name)) }
    const ends = ['2025-01-01', '2025-12-31']
    return (await completed(grid, 'auto', {}, async () => ({ rows: 3000, distinct: 365, ends }))).chosenFlags
  }
  expect(await choose(['day', 'quantity', 'orderTotal'])).toBe(
    '--type line --x day --y orderTotal --aggregate sum --per week',
  )
  expect(await choose(['day', 'quantity'])).toBe(
    '--type line --x day --y quantity --aggregate sum --per week',
  )
  expect(await choose(['day', 'unit_price', 'total_cases'])).toBe(
    '--type line --x day --y unit_price,total_cases --aggregate mean --per week',
  )
  // What is given stays.
  const grid = { fid: 'me:1', filename: 'g', cols }
  const given = { y: 'unit_price,orderTotal', per: 'month' } as const
  const ends = ['2025-01-01', '2025-12-31']
  const { options } = await completed(grid, 'auto', { ...given }, async () => ({
    rows: 3000,
    distinct: 365,
    ends,
  }))
  expect(options).toMatchObject({ ...given, aggregate: 'mean' })
})

it('names tell amounts from levels', () => {
  const amounts =
    'amount,Revenue (EUR),sales2023,order_total,total (USD),total_usd,Total price,grossProfit,revenue/EUR'
  const levels =
    'sales_rate,average_amount,Profit %,spend ratio,gross margin %,revenue_growth,unit_price,cumulative_sales'
  const neither = 'total_cases,quantity,template_count,lonely,running total'
  expect(amounts.split(',').filter((name) => !isAmount(name))).toEqual([])
  expect(levels.split(',').filter((name) => !isLevel(name))).toEqual([])
  expect(neither.split(',').filter((name) => isAmount(name))).toEqual([])
  const counts = 'quantity,Qty,units,order_count,pageViews'
  expect(counts.split(',').filter((name) => !isCount(name) || isAmount(name))).toEqual([])
  expect('running count,count_per_day,average visits,country'.split(',').filter(isCount)).toEqual([])
})

it('periods give neither few points nor thousands', () => {
  const choose = (first: string, last: string) => choosePeriod('datetime', first, last)
  expect(choose('2025-01-01T00:00:00', '2025-01-01T02:00:00')).toBe('minute')
  expect(choose('2025-01-01T00:00:00', '2025-01-01T00:05:00')).toBe(undefined)
  expect(choose('2025-01-01T00:00:00', '2025-01-03T00:00:00')).toBe('hour')
  expect(choose('2025-01-01T00:00:00', '2025-03-01T00:00:00')).toBe('day')
  expect(choose('-0044-03-15T00:00:00', '2025-03-01T00:00:00')).toBe(undefined)
})

it('the choice has a reason and alternatives', async () => {
  const cols = [
    { name: 'city', type: 'text', uid: 'a' },
    { name: 'price', type: 'number', uid: 'b' },
    { name: 'cost', type: 'number', uid: 'c' },
  ] as Column[]
  const known = { rows: 100, distinct: 5 }
  const found = await completed(
    { fid: 'me:1', filename: 'g', cols },
    undefined,
    { y: 'price' },
    async () => known,
  )
  expect(found.type).toBe('bar')
  expect(found.reason).toBe('city has labels')
  expect(found.suggestions).toContainEqual({
    type: 'box',
    shows: 'the spread of price for each city',
    columns: { x: 'city', y: 'price' },
  })
  const given = await completed({ fid: 'me:1', filename: 'g', cols }, 'pie', {}, async () => known)
  expect([given.reason, given.suggestions]).toEqual([undefined, []])
})

it('names that nearly each row has of its own make no lines, and numbers of documents are no amounts', async () => {
  const cols = [
    { name: 'day', type: 'date', uid: 'a' },
    { name: 'customer', type: 'text', uid: 'b' },
    { name: 'status', type: 'text', uid: 'c' },
    { name: 'Beleg-Nr.', type: 'number', uid: 'd' },
    { name: 'amount', type: 'number', uid: 'e' },
  ] as Column[]
  const distinct: Record<string, number> = { day: 6, customer: 8, status: 2, 'Beleg-Nr.': 10, amount: 9 }
  const chosen = await completed({ fid: 'me:1', filename: 'g', cols }, 'auto', {}, async (name) => ({
    rows: 10,
    distinct: distinct[name],
  }))
  expect([chosen.type, chosen.options]).toMatchObject(['line', { x: 'day', y: 'amount', by: 'status' }])
})
