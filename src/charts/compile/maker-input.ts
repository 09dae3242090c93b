// Input and output of the makers of traces, and parts that several of them share.
import type { Attributes } from '../figure/figure.ts'
import type { ChartColumns } from '../normalize/chart-columns.ts'
import type { ChartColumnResolver } from '../normalize/resolve-columns.ts'
import type { ChartValues } from '../normalize/values.ts'
import type { ChartGrid, ChartOptions, Column } from '../spec/options.ts'
import type { ChartType } from '../spec/types.ts'

/** Input of a maker. */
export interface MakerInput {
  grid: ChartGrid
  chart: ChartColumnResolver
  values: ChartValues
  options: ChartOptions
  columns: ChartColumns
  /** Transforms that the server evaluates before the chart is drawn; undefined if there are none. */
  transforms: Attributes[] | undefined
  /** Creates a trace for each --y column, with the shared attributes. */
  createTraces(make: (y: Column | undefined) => Attributes): Attributes[]
  /** Returns the axis of a column: title and type. */
  columnAxis(column: Column | undefined): Attributes | undefined
  /** Layout with the axes of most charts. */
  layout: Attributes
  /** Axis attributes that options set. */
  settings: { x: Attributes; y: Attributes }
}

/** Output of a maker. */
export interface TracesAndLayout {
  data: Attributes[]
  layout: Attributes
}

/** Creates the traces and layout of a chart type. Throws `usage`. */
export type Maker = (parts: MakerInput) => TracesAndLayout | Promise<TracesAndLayout>

/** Makers of some chart types. */
export type Makers = Partial<Record<ChartType, Maker>>

/** Minimum radius of points sized by a column, in pixels. */
const MIN_RADIUS_PIXELS = 2

/** Returns the marker of points colored, sized or turned by columns; undefined if no column does so. */
export async function createMarker({
  chart,
  values,
  columns: { color, size, angle },
}: MakerInput): Promise<Attributes | undefined> {
  if (!color && !size && !angle) return undefined
  return {
    ...(angle && { symbol: 'arrow', anglesrc: chart.formatReference(angle), ...(!size && { size: 12 }) }),
    colorsrc: chart.formatReference(color),
    ...(color && { showscale: true, colorbar: { title: { text: color.name } } }),
    sizesrc: chart.formatReference(size),
    ...(size && { sizemode: 'area', sizeref: await values.loadSizeRef(size), sizemin: MIN_RADIUS_PIXELS }),
  }
}

/** Marks the layout of series stacked around a middle line: see `theme/centers.ts`. */
export function withCenteredStack(layout: Attributes, stack: ChartOptions['stack']): Attributes {
  return stack === 'center' ? { ...layout, meta: { ...layout.meta, isCentered: true } } : layout
}

/** Adds a percent sign to the y axis if the stack is in percent. */
export function withPercentAxis(layout: Attributes, stack: ChartOptions['stack']): Attributes {
  return stack === 'percent' ? { ...layout, yaxis: { ticksuffix: '%', ...layout.yaxis } } : layout
}

/** Returns a layout without axes and legend setting. */
export function withoutAxes({ xaxis: _, yaxis: __, showlegend: ___, ...rest }: Attributes): Attributes {
  return rest
}

/** Returns the reference to several columns. */
export function formatColumnsReference({ fid }: ChartGrid, columns: readonly Column[]): string {
  return `${fid}:${columns.map(({ uid }) => uid).join(',')}`
}
