// The spec of a chart: the type and options that created its figure.
import type { ChartOptions, Column } from './options.ts'
import type { ChartType } from './types.ts'

/** Properties of a grid's values that affect how the chart is drawn. */
export interface Facts {
  /** The points of a line are sorted when the chart is drawn. */
  isUnsorted?: boolean
  /** Value per square pixel of points sized by a column (plotly.js `sizeref`). */
  sizeRef?: number
  /** Kind of place names in a choropleth (plotly.js `locationmode`). */
  places?: 'ISO-3' | 'USA-states' | 'country names' | 'geojson-id'
}

/**
 * Type and options of a chart, stored in `layout.meta.spec`. `columns`: the columns in its options, with
 * their names at that time.
 */
export interface Spec {
  type: ChartType
  options: ChartOptions
  columns: Column[]
  facts: Facts
}
