import type { GridMeta } from '../contract/resources/index.ts'

/** What `--aggregate` computes of the rows with the same x. */
export const aggregateFunctions = ['sum', 'mean', 'median', 'min', 'max', 'count', 'first', 'last'] as const

/** Periods that dates are put together in. */
export const periods = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const
/** Series of a chart, as the service draws them. */
export const MOST_SERIES = 1000
/** Labels that one axis, or one pie, has room for. */
export const MOST_LABELS = 1000
/** Series that one can tell apart: without --top, there are not more. */
export const TOP_SERIES = 12

export interface ChartOptions {
  x?: string
  y?: string
  z?: string
  lat?: string
  lon?: string
  parent?: string
  error?: string
  y2?: string
  stack?: 'none' | 'normal' | 'percent'
  horizontal?: boolean
  trend?: string
  mark?: readonly string[]
  band?: readonly string[]
  labels?: boolean
  color?: string
  size?: string
  text?: string
  by?: string
  facet?: string
  animate?: string
  /** `none` removes one from a chart that exists. */
  aggregate?: (typeof aggregateFunctions)[number] | 'none'
  zone?: string
  per?: (typeof periods)[number]
  top?: number
  logX?: boolean
  logY?: boolean
  rangeX?: string
  rangeY?: string
  formatY?: string
  unit?: string
  where?: string
  sort?: string
  title?: string
  subtitle?: string
  source?: string
  theme?: string
}

/** A column, as far as charts need it. */
export type Column = Pick<GridMeta['cols'][number], 'name' | 'type' | 'uid' | 'date_order' | 'zoned'> & {
  /** The first value of each type, where the table was read here. */
  seen?: readonly { text: string }[]
}

/** A grid, as far as charts need it. */
export type ChartGrid = Pick<GridMeta, 'fid' | 'filename'> & { cols: readonly Column[] }
