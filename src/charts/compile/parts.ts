// Input and output of the makers of traces, and parts that several of them share.
import type { Attributes } from '../figure/figure.ts'
import type { Chart } from '../normalize/chart.ts'
import type { ChartColumns } from '../normalize/columns.ts'
import type { ChartValues } from '../normalize/values.ts'
import type { ChartGrid, ChartOptions, Column } from '../spec/options.ts'
import type { ChartType } from '../spec/types.ts'

/** Input of a maker. */
export interface Parts {
  grid: ChartGrid
  chart: Chart
  values: ChartValues
  options: ChartOptions
  columns: ChartColumns
  /** undefined | Transforms that the server evaluates before the chart is drawn. */
  transforms: object[] | undefined
  /** Creates a trace for each --y column, with the shared attributes. */
  each(make: (y: Column | undefined) => Attributes): Attributes[]
  /** Returns the axis of a column: title and type. */
  axis(column: Column | undefined): Attributes | undefined
  /** Layout with the axes of most charts. */
  layout: Attributes
  /** Axis attributes that options set. */
  settings: { x: Attributes; y: Attributes }
}

/** Output of a maker. */
export interface Made {
  data: Attributes[]
  layout: Attributes
}

/** Creates the traces and layout of a chart type. Throws `usage`. */
export type Maker = (parts: Parts) => Made | Promise<Made>

/** Makers of some chart types. */
export type Makers = Partial<Record<ChartType, Maker>>

/** Minimum radius of points sized by a column, in pixels. */
const MIN_RADIUS_PIXELS = 2

/** Returns the marker of points colored, sized or turned by columns; undefined if no column does so. */
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

/** Marks the layout of series stacked around a middle line: see `theme/centers.ts`. */
export function centered(layout: Attributes, stack: ChartOptions['stack']): Attributes {
  return stack === 'center' ? { ...layout, meta: { ...layout.meta, isCentered: true } } : layout
}

/** Adds a percent sign to the y axis if the stack is in percent. */
export function percent(layout: Attributes, stack: ChartOptions['stack']): Attributes {
  return stack === 'percent' ? { ...layout, yaxis: { ticksuffix: '%', ...layout.yaxis } } : layout
}

export function withoutAxes({ xaxis: _, yaxis: __, showlegend: ___, ...rest }: Attributes): Attributes {
  return rest
}

/** Returns the reference to several columns. */
export function severalOf({ fid }: ChartGrid, columns: readonly Column[]): string {
  return `${fid}:${columns.map(({ uid }) => uid).join(',')}`
}
