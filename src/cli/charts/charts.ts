// Creates charts from grids, with themes and regions.
import { compileChart } from '../../charts/compile/compile.ts'
import { createChart } from '../../charts/create-chart.ts'
import type { Figure } from '../../charts/figure/figure.ts'
import { findGroupings, withChangedColors } from '../../charts/figure/series-color.ts'
import { isBuiltInTheme, setTheme } from '../../charts/figure/themes.ts'
import { completed } from '../../charts/normalize/complete-options.ts'
import type { ChartGrid, ChartOptions, Column } from '../../charts/spec/options.ts'
import type { AUTO, ChartType } from '../../charts/spec/types.ts'
import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { countTemplateAttributes } from './template.ts'
import { loadTheme } from './themes.ts'

/** Creates a chart of a grid, with the theme of the options. */
export async function createThemedChart(
  client: Client,
  grid: ChartGrid,
  requestedType: ChartType | typeof AUTO | undefined,
  options: ChartOptions & { explain?: boolean },
  note: (text: string) => void,
): Promise<{ type: ChartType; figure: Figure }> {
  const { type, figure: unthemed } = await createChart(
    client,
    grid,
    { type: requestedType, options, isExplained: options.explain },
    note,
  )
  const figure = await addRegions(client, grid, unthemed, options, note)
  if (options.theme === undefined) return { type, figure }
  const theme = loadTheme(options.theme)
  if (!isBuiltInTheme(theme.name)) await countTemplateAttributes(theme.template, options.theme)
  return { type, figure: setTheme(figure, theme) }
}

/** Sets the colors of series, by name. `option`: name of the option, for errors. Throws `usage` for a series that a chart does not have. */
export function colorSeries(figure: Figure, colors: ReadonlyMap<string, string>, option: string): Figure {
  // Names of series that a column divides are in the data.
  if (findGroupings(figure.data).length === 0)
    for (const series of colors.keys())
      if (!figure.data.some(({ name }) => name === series))
        throw new Problem('usage', `${option} ${series}: the chart has no series of that name`, {
          hint: `Its series are: ${figure.data.map(({ name }) => name ?? '').join(', ')}`,
        })
  return withChangedColors(figure, colors)
}

/** Adds the regions of `--geojson`, if given. */
export async function addRegions(
  client: Client,
  grid: ChartGrid,
  figure: Figure,
  { geojson }: ChartOptions,
  note: (text: string) => void,
): Promise<Figure> {
  const [trace] = figure.data
  if (geojson === undefined || trace?.type !== 'choropleth') return figure
  const uid = String(trace.locationssrc).split(':')[2]
  const response = await client.response('columns.get', { fid: grid.fid, query: { uid } })
  const { cols } = (await response.json()) as { cols: { data: unknown[] }[] }
  const locations = new Set(cols[0].data.flatMap((location) => (location === null ? [] : [String(location)])))
  const { addRegionsFromFile } = await import('./regions.ts')
  return addRegionsFromFile(figure, geojson, [...locations], note)
}

/** Checks chart options against a table that is not uploaded. Throws `usage`. */
export async function assertChart(
  filename: string,
  columns: readonly {
    name: string
    type: string
    dateOrder?: string
    seen?: readonly { text: string }[]
  }[],
  requestedType: ChartType | typeof AUTO,
  options: ChartOptions,
): Promise<void> {
  const cols = columns.map(({ dateOrder, ...column }, k) => {
    const type = column.type === 'datetime-zone' ? 'datetime' : column.type
    return {
      ...column,
      type,
      date_order: dateOrder,
      zoned: column.type === 'datetime-zone',
      // Without meaning, but of this column alone: the axis of column names has none.
      uid: `${k}`,
    } as Column
  })
  const grid = { fid: '', filename, cols }
  const { type, options: completeOptions } = await completed(
    grid,
    requestedType,
    options,
    async () => undefined,
  )
  await compileChart(undefined, grid, type, completeOptions)
}
