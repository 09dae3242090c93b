// What plotly.js draws of random tables, read from its own data in the browser, is what a naive model of the rows says.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compileChart } from '../../src/charts/compile/compile.ts'
import type { ChartOptions } from '../../src/charts/spec/options.ts'
import type { ChartType } from '../../src/charts/spec/types.ts'
import { connectRemote } from '../../src/cli/connect/connect.ts'
import { inBrowser, openPage } from '../support/browser.ts'
import { runs } from '../support/property-runs.ts'

const site = inBrowser()

type Cell = string | number | null
type Row = Record<'x' | 'y' | 'g', Cell>
/** Series by name: x and y of each point that is drawn. */
type Drawn = Record<string, [Cell, number][]>

const functions: Record<string, (values: Cell[]) => number | null> = {
  sum: (values) => ofSome(values, (list) => list.reduce((a, b) => a + b, 0)),
  mean: (values) => ofSome(values, (list) => list.reduce((a, b) => a + b, 0) / list.length),
  min: (values) => ofSome(values, (list) => Math.min(...list)),
  max: (values) => ofSome(values, (list) => Math.max(...list)),
  count: (values) => values.length,
  first: (values) => ofSome(values, (list) => list[0]),
  last: (values) => ofSome(values, (list) => list.at(-1)!),
}

function numbersOf(values: Cell[]): number[] {
  return values.filter((value) => typeof value === 'number')
}

function ofSome(values: Cell[], compute: (list: number[]) => number): number | null {
  const list = numbersOf(values)
  return list.length === 0 ? null : compute(list)
}

/** The points that a chart shows of rows. */
function model(rows: readonly Row[], type: ChartType, options: ChartOptions): Drawn {
  // A row without a label has the label (none).
  const areLabels = rows.some(({ x }) => typeof x === 'string' && !/^\d{4}-/.test(x))
  const labeled = rows.map((row) => (areLabels && row.x === null ? { ...row, x: '(none)' } : row))
  const chosen = options.where ? labeled.filter(({ y }) => y !== null && (y as number) > 0) : labeled
  const series = new Map<string, Row[]>()
  for (const row of chosen) {
    const name = options.by ? String(row.g ?? '') : 'y'
    series.set(name, [...(series.get(name) ?? []), row])
  }
  const drawn: Drawn = {}
  for (const [name, own] of series) {
    let points = own.map(({ x, y }) => [x, y] as [Cell, number | null])
    if (options.aggregate) {
      const groups = new Map<Cell, Cell[]>()
      for (const { x, y } of own) groups.set(x, [...(groups.get(x) ?? []), y])
      points = [...groups].map(([x, values]) => [x, functions[options.aggregate!](values)])
    }
    const valid = points.filter((point): point is [Cell, number] => point[0] !== null && point[1] !== null)
    const isMeasured = valid.every(([x]) => typeof x === 'number' || /^\d{4}-/.test(String(x)))
    if (type === 'line' && isMeasured) valid.sort(([a], [b]) => (a! < b! ? -1 : a! > b! ? 1 : 0))
    if (valid.length > 0) drawn[name] = valid
  }
  return drawn
}

/** What plotly.js has computed to draw, with labels and dates as they are written. */
function calculated(): Drawn {
  // biome-ignore lint/suspicious/noExplicitAny: the inner data of plotly.js has no types
  const { calcdata, _fullLayout: layout } = document.getElementById('chart') as any
  const drawn: Drawn = {}
  for (const points of calcdata) {
    const { trace } = points[0]
    const isBar = trace.type === 'bar'
    const axis = layout.xaxis
    const labelOf = (at: number) =>
      axis.type === 'category'
        ? axis._categories[at]
        : axis.type === 'date'
          ? new Date(at).toISOString().slice(0, 10)
          : at
    const shown = points
      // biome-ignore lint/suspicious/noExplicitAny: as above
      .map((point: any) => [isBar ? point.p : point.x, isBar ? point.s : point.y])
      .filter(([x, y]: [unknown, unknown]) => typeof x === 'number' && typeof y === 'number')
      .map(([x, y]: [number, number]) => [labelOf(x), y])
    if (shown.length > 0) drawn[trace.name] = [...(drawn[trace.name] ?? []), ...shown]
  }
  return drawn
}

const sorted = (drawn: Drawn): Drawn =>
  Object.fromEntries(
    Object.entries(drawn).map(([name, points]) => [
      name,
      [...points].sort((a, b) => String(a).localeCompare(String(b))),
    ]),
  )
const rounded = (drawn: Drawn): Drawn =>
  JSON.parse(
    JSON.stringify(drawn, (_, value) => (typeof value === 'number' ? Number(value.toPrecision(9)) : value)),
  )

it('charts of random tables draw exactly the data', async () => {
  const { test, url } = site()
  const { client, close } = await connectRemote(url, { user: 'alice', apiKey: test.keys.get('alice') })
  const y = fc.option(fc.integer({ min: -9, max: 9 }), { freq: 5 })
  const g = fc.constantFrom('p', 'q', 'r s')
  const kinds: Record<string, fc.Arbitrary<Cell>> = {
    number: fc.option(fc.integer({ min: 0, max: 6 }), { freq: 8 }),
    date: fc.option(fc.constantFrom('2024-02-29', '2023-12-31', '2024-01-01', '2030-06-15'), { freq: 8 }),
    text: fc.option(fc.constantFrom('01234', 'b', 'Ä', '2x', '7'), { freq: 8 }),
  }
  const table = fc
    .constantFrom(...Object.keys(kinds))
    .chain((kind) => fc.array(fc.record({ x: kinds[kind], y, g }), { minLength: 2, maxLength: 12 }))
    // A column without values has no type.
    .filter((rows) => rows.some(({ x }) => x !== null) && rows.some((row) => row.y !== null))
  const options = fc.record(
    {
      by: fc.constant('g'),
      aggregate: fc.constantFrom(...(Object.keys(functions) as NonNullable<ChartOptions['aggregate']>[])),
      where: fc.constant('y > 0'),
    },
    { requiredKeys: [] },
  )
  let made = 0
  const page = await openPage(site().browser)
  await fc.assert(
    fc.asyncProperty(table, fc.constantFrom('line', 'scatter', 'bar'), options, async (rows, type, given) => {
      const cols = Object.fromEntries(
        (['x', 'y', 'g'] as const).map((name, order) => [
          name,
          { data: rows.map((row) => row[name]), order },
        ]),
      )
      const created = await test.ask('alice', 'POST', '/v2/grids', {
        json: { filename: `table ${made++}`, data: { cols } },
      })
      const { file } = created.json
      const chart = { x: 'x', y: 'y', ...given }
      let figure: object
      try {
        figure = await compileChart(client, file, type as ChartType, chart)
      } catch (error) {
        // Several rows at one place: the chart is refused, not drawn as one of them.
        expect((error as Error).message).toMatch(/would show several rows as one/)
        return
      }
      const plot = await test.plot('alice', figure, { world_readable: true })
      const [owner, id] = plot.file.fid.split(':')
      await page.goto(`${url}/~${owner}/${id}.embed`)
      await page.waitForSelector('#chart[data-drawn]')
      const drawn = (await page.evaluate(calculated)) as Drawn
      const expected = model(rows, type as ChartType, chart)
      const [ours, wanted] = [rounded(drawn), rounded(expected)]
      expect(sorted(ours)).toEqual(sorted(wanted))
      const isMeasured = rows.every(({ x }) => x === null || typeof x === 'number' || /^\d{4}-/.test(x))
      if (type === 'line' && isMeasured)
        for (const [name, points] of Object.entries(ours))
          expect(points.map(([x]) => x)).toEqual(wanted[name].map(([x]) => x))
    }),
    { numRuns: runs(8, 400) },
  )
  await page.close()
  await close()
})
