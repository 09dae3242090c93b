import type { ChartOptions, Column } from './options.ts'
import type { ChartType } from './types.ts'

/** What of the values of a grid a figure depends on. */
export interface Facts {
  /** Points of a line are put in order where it is drawn. */
  isUnsorted?: boolean
  /** The value of a square pixel of the points that a column sizes. */
  sizeRef?: number
  /** What names the places of a choropleth. */
  places?: 'ISO-3' | 'USA-states' | 'country names'
}

/** What makes a chart, in `layout.meta.spec` of its figure. `columns`: those that options name, as they were. */
export interface Spec {
  type: ChartType
  options: ChartOptions
  columns: Column[]
  facts: Facts
}
