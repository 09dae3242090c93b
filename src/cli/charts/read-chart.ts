// Finds the options of a chart that exists.
import { findGridId } from '../../charts/change/apply-options.ts'
import { readSpec } from '../../charts/change/read-spec.ts'
import { compileSpec } from '../../charts/compile/compile.ts'
import { type Figure, isSameFigure } from '../../charts/figure/figure.ts'
import { listChosenColors, withChangedColors } from '../../charts/figure/series-color.ts'
import { isBuiltInTheme } from '../../charts/figure/themes.ts'
import type { ChartOptions } from '../../charts/spec/options.ts'
import type { Client } from '../../client/index.ts'
import type { GridMeta } from '../../contract/resources/index.ts'
import type { ChartFile } from './chart-file.ts'
import { loadFigure } from './update-figure.ts'

/** A chart, as a file would have it. */
interface ReadChart {
  chart: Omit<ChartFile, 'grid'>
  grid: GridMeta
  /** Theme that a file has to be given for; undefined for a built-in one. */
  ownTheme: string | undefined
  /** Whether it was made from options, or its figure was written by hand. */
  hasOptions: boolean
  /** Whether the options make the same figure: with the colors of series, or without them. */
  isComplete: { withColors: boolean; withoutColors: boolean }
}

/** Loads the grid whose columns a figure shows. Throws `usage` unless there is exactly one. */
export async function loadGridOf(client: Client, figure: Figure): Promise<GridMeta> {
  return client.call('grids.get', { fid: findGridId(figure) })
}

/** Reads the type, the options and the colors of a chart. Throws `usage` unless it shows exactly one grid. */
export async function readChart(client: Client, fid: string): Promise<ReadChart> {
  const { figure } = await loadFigure(client, fid)
  const grid = await loadGridOf(client, figure)
  const { spec, options: currentOptions } = readSpec(figure, grid)
  const { type } = spec
  const options = { ...currentOptions, theme: builtInThemeOf(figure) }
  const compileWith = (compileOptions: ChartOptions): Promise<Figure> =>
    compileSpec(grid.fid, { ...spec, options: compileOptions })
  // A title written into the figure becomes --title.
  const title = titleOf(figure)
  if (title !== titleOf(await compileWith(spec.options))) options.title = title || 'none'
  const plain: Figure = JSON.parse(
    JSON.stringify(await compileWith({ ...spec.options, title: options.title })),
  )
  const colors = listChosenColors(figure, plain)
  const isSame = (made: Figure): boolean => isSameFigure(withoutTheme(figure), withoutTheme(made))
  return {
    chart: { type, options, colors },
    grid,
    ownTheme:
      builtInThemeOf(figure) === undefined && figure.layout.template !== undefined
        ? String(figure.layout.meta?.theme)
        : undefined,
    hasOptions: figure.layout.meta?.spec !== undefined,
    isComplete: {
      withColors: isSame(withChangedColors(plain, new Map(Object.entries(colors)))),
      withoutColors: isSame(plain),
    },
  }
}

/** Returns the title of a figure. */
function titleOf({ layout: { title } }: Figure): string | undefined {
  return typeof title === 'string' ? title : title?.text
}

/** Returns the built-in theme of a chart; undefined for others. */
function builtInThemeOf({ layout: { meta, template } }: Figure): string | undefined {
  return isBuiltInTheme(meta?.theme) && template !== undefined ? meta.theme : undefined
}

/** Removes the theme, the origin of the title, and headers of tables, which follow from the columns. */
function withoutTheme({ layout: { meta: _meta, template: _, ...layout }, data, ...figure }: Figure): Figure {
  const plain = data.map((trace) =>
    trace.type === 'table' ? { ...trace, header: undefined, cells: trace.cells?.valuessrc } : trace,
  )
  return { ...figure, data: plain, layout }
}
