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
  id?: string
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
  angle?: string
  text?: string
  by?: string
  facet?: string
  animate?: string
  aggregate?: (typeof aggregateFunctions)[number] | 'none'
  zone?: string
  per?: (typeof periods)[number] | 'none'
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

/** Kinds of values of options. The first four contain names of columns. */
export type OptionKind = 'column' | 'columns' | 'where' | 'sort' | 'text' | 'texts' | 'flag' | 'number'

export const optionKinds: Readonly<Record<keyof ChartOptions, OptionKind>> = {
  x: 'column',
  y: 'columns',
  z: 'column',
  lat: 'column',
  lon: 'column',
  parent: 'column',
  id: 'column',
  error: 'column',
  y2: 'columns',
  stack: 'text',
  horizontal: 'flag',
  trend: 'text',
  mark: 'texts',
  band: 'texts',
  labels: 'flag',
  color: 'column',
  size: 'column',
  angle: 'column',
  text: 'column',
  by: 'column',
  facet: 'column',
  animate: 'column',
  aggregate: 'text',
  zone: 'text',
  per: 'text',
  top: 'number',
  logX: 'flag',
  logY: 'flag',
  rangeX: 'text',
  rangeY: 'text',
  formatY: 'text',
  unit: 'text',
  where: 'where',
  sort: 'sort',
  title: 'text',
  subtitle: 'text',
  source: 'text',
  theme: 'text',
}

/** Options of which `none` is a value like others. */
const WITH_NONE: ReadonlySet<string> = new Set(['title', 'stack'])

/** The options without those that are `none`, or an empty text. */
export function withoutNone(options: ChartOptions): ChartOptions {
  const isNone = (name: string, value: unknown): boolean =>
    !WITH_NONE.has(name) && /^(?:none)?$/.test(String(value))
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => value !== undefined && !isNone(name, value)),
  ) as ChartOptions
}

/** A column, as far as charts need it. */
export type Column = Pick<GridMeta['cols'][number], 'name' | 'type' | 'uid' | 'date_order' | 'zoned'> & {
  /** The first value of each type, where the table was read here. */
  seen?: readonly { text: string }[]
}

/** A grid, as far as charts need it. */
export type ChartGrid = Pick<GridMeta, 'fid' | 'filename'> & { cols: readonly Column[] }
