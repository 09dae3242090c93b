import type { Attributes } from '../figure/figure.ts'
import type { Chart } from '../normalize/chart.ts'
import type { ChartColumns } from '../normalize/columns.ts'
import type { ChartValues } from '../normalize/values.ts'
import type { ChartGrid, ChartOptions, Column } from '../spec/options.ts'
import type { ChartType } from '../spec/types.ts'

/** The input of a maker of traces. */
export interface Parts {
  grid: ChartGrid
  chart: Chart
  values: ChartValues
  options: ChartOptions
  columns: ChartColumns
  /** What the service evaluates before a trace is drawn. */
  transforms: object[] | undefined
  /** A trace for each column of --y, with what all traces have. */
  each(make: (y: Column | undefined) => Attributes): Attributes[]
  /** The axis of a column: its title and type. */
  axis(column: Column | undefined): Attributes | undefined
  /** The axes as all charts have them. */
  layout: Attributes
  /** Settings of axes that options name. */
  settings: { x: Attributes; y: Attributes }
}

export interface Made {
  data: Attributes[]
  layout: Attributes
}

export type Maker = (parts: Parts) => Made | Promise<Made>

/** Makers of some types of charts. */
export type Makers = Partial<Record<ChartType, Maker>>

/** Radius of the smallest point that a column sizes, in pixels. */
const MIN_RADIUS_PIXELS = 2

/** Colors and sizes of points that columns set; undefined if none does. */
export async function pointsOf({
  chart,
  values,
  columns: { color, size, angle },
}: Parts): Promise<Attributes | undefined> {
  if (!color && !size && !angle) return undefined
  return {
    ...(angle && { symbol: 'arrow', anglesrc: chart.reference(angle), ...(!size && { size: 12 }) }),
    colorsrc: chart.reference(color),
    ...(color && { showscale: true, colorbar: { title: { text: color.name } } }),
    sizesrc: chart.reference(size),
    ...(size && { sizemode: 'area', sizeref: await values.sizeRef(size), sizemin: MIN_RADIUS_PIXELS }),
  }
}

/** Series around a middle, where they are drawn: see `theme/centers.ts`. */
export function centered(layout: Attributes, stack: ChartOptions['stack']): Attributes {
  return stack === 'center' ? { ...layout, meta: { ...layout.meta, isCentered: true } } : layout
}

/** The y axis of parts of 100. */
export function percent(layout: Attributes, stack: ChartOptions['stack']): Attributes {
  return stack === 'percent' ? { ...layout, yaxis: { ticksuffix: '%', ...layout.yaxis } } : layout
}

export function withoutAxes({ xaxis: _, yaxis: __, showlegend: ___, ...rest }: Attributes): Attributes {
  return rest
}

/** The reference to several columns. */
export function severalOf({ fid }: ChartGrid, columns: readonly Column[]): string {
  return `${fid}:${columns.map(({ uid }) => uid).join(',')}`
}
