// Every chart type over odd tables and frame sizes: drawn or refused, without exceptions.
import { describe, expect, it } from 'vitest'
import { applyTheme } from '../../src/browser/theme/index.ts'
import { compileChart } from '../../src/charts/compile/compile.ts'
import { evaluateTransforms } from '../../src/charts/evaluate/index.ts'
import type { Attributes } from '../../src/charts/figure/figure.ts'
import type { ChartGrid, ChartOptions } from '../../src/charts/spec/options.ts'
import { acceptsOption, CHART_TYPES } from '../../src/charts/spec/types.ts'
import { Problem } from '../../src/contract/errors.ts'
import { chartColumns, leastOptions } from '../support/charts.ts'

type Table = Record<'day' | 'end' | 'city' | 'n' | 'm' | 'k' | 'l', unknown[]>

const grid: ChartGrid = { fid: 'me:1', filename: 'g', cols: chartColumns }

const table = (count: number, of: (k: number) => Partial<Record<keyof Table, unknown>>): Table =>
  Object.fromEntries(
    chartColumns.map(({ name }) => [
      name,
      Array.from({ length: count }, (_, k) => of(k)[name as keyof Table] ?? null),
    ]),
  ) as Table
const day = (k: number): string => new Date(Date.UTC(2024, 0, 1 + k)).toISOString().slice(0, 10)
const usual = (k: number) => ({
  day: day(k),
  end: day(k + 3),
  city: `c${k}`,
  n: k,
  m: k + 1,
  k: k * 2,
  l: 3 - k,
})

const tables: Record<string, Table> = {
  'no rows': table(0, usual),
  'one row': table(1, usual),
  'all missing': table(3, () => ({})),
  'one category': table(5, (k) => ({ ...usual(k), city: 'c' })),
  '10,000 categories': table(10_000, usual),
  '200 groups of two': table(400, (k) => ({ ...usual(k), city: `c${k % 200}` })),
  'numbers without a place': table(4, (k) => ({
    ...usual(k),
    n: [1e300, -1e300, -0, 1e-300][k],
    m: [-0, 1e300, 5e-324, 1][k],
  })),
  'dates of long ago': table(3, (k) => ({
    ...usual(k),
    day: ['0001-01-01', '9999-12-31', 'no day'][k],
    end: '2024-02-30',
  })),
  'texts that are more': table(6, (k) => ({
    ...usual(k),
    city: ['<b>x</b>', 'שלום עולם', '👩‍👩‍👧', 'x'.repeat(2000), 'constructor', '%{x}<br>&lt;'][k],
  })),
  'names that repeat': table(6, (k) => ({
    ...usual(k),
    city: k % 2 === 0 ? 'null' : null,
    n: k % 3 === 0 ? null : k,
  })),
}

/** Replaces references by values of a table, like the service. */
function resolved(value: unknown, columns: Table): unknown {
  if (Array.isArray(value)) return value.map((one) => resolved(one, columns))
  if (typeof value !== 'object' || value === null) return value
  const next: Attributes = {}
  for (const [key, inner] of Object.entries(value)) {
    const uids = /^me:1:(.+)$/.exec(String(inner))?.[1].split(',')
    next[key] = resolved(inner, columns)
    if (key.endsWith('src') && uids) {
      const lists = uids.map((uid) => columns[uid as keyof Table])
      next[key.slice(0, -3)] = lists.length === 1 ? lists[0] : lists
    }
  }
  return next
}

/** Returns the drawn figure; undefined if it is refused with a reason. */
async function attempt(work: () => Promise<Attributes>): Promise<Attributes | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

/** Widths and heights of frames, in pixels. Large tables are drawn in the first one. */
const SIZES = [
  [360, 480],
  [200, 100],
  [4000, 700],
] as const

describe.each(CHART_TYPES)('%s', (type) => {
  const options: ChartOptions = leastOptions(type)
  const wide = (['by', 'facet', 'animate'] as const).filter((name) => acceptsOption(type, name))
  const all = [options, ...wide.map((name) => ({ ...options, [name]: 'city' }))]

  it.each(Object.keys(tables))('%s', async (name) => {
    for (const given of all) {
      const figure = await attempt(async () => {
        const made = await compileChart(undefined, grid, type, given)
        return (await evaluateTransforms(
          resolved(JSON.parse(JSON.stringify(made)), tables[name]) as object,
        )) as Attributes
      })
      // One row is drawn by every type.
      if (name === 'one row' && given === options) expect(figure).toBeDefined()
      if (!figure) continue
      const isLarge = tables[name].n.length > 100
      for (const [width, height] of isLarge ? SIZES.slice(0, 1) : SIZES) {
        const shown = applyTheme(figure as { data: Attributes[]; layout: Attributes }, {
          ...{ scheme: 'light' as const, width, height, maxHeight: 10_000 },
        })
        expect(shown.data.length).toBeGreaterThan(0)
        expect(() => JSON.stringify(shown)).not.toThrow()
        const ticks = shown.layout.xaxis?.tickvals
        expect(Array.isArray(ticks) ? ticks.length : 0).toBeLessThan(3000)
      }
    }
  })
})
