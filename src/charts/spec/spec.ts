import type { ChartOptions, Column } from './options.ts'
import type { ChartType } from './types.ts'

/** Facts about the values of a grid that change how its chart is drawn. */
export interface Facts {
  /** Points of a line are put in order where it is drawn. */
  isUnsorted?: boolean
  /** The value of a square pixel of the points that a column sizes. */
  sizeRef?: number
  /** How the places of a choropleth are written. */
  places?: 'ISO-3' | 'USA-states' | 'country names' | 'geojson-id'
}

/** How a chart was made. Stored in `layout.meta.spec`. `columns`: the columns that its options name, with the names they had then. */
export interface Spec {
  type: ChartType
  options: ChartOptions
  columns: Column[]
  facts: Facts
}
