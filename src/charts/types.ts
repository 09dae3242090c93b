import type { ChartOptions } from './options.ts'

/** The type is chosen from the columns. */
export const AUTO = 'auto'

/** Options that a type of chart can have, apart from x, y and what all charts have. */
type Taken = keyof ChartOptions

const AXES = ['logX', 'logY', 'rangeX', 'rangeY', 'formatY', 'unit', 'mark', 'band'] as const
const GROUPS = ['by', 'facet', 'top'] as const
const SUMS = ['aggregate', 'per', 'zone'] as const
const POINTS = [...AXES, ...GROUPS, ...SUMS, 'text', 'error', 'labels', 'y2'] as const
const BOXES = [...AXES, ...GROUPS, 'horizontal', 'text'] as const
const PARTS = ['text', 'top', 'aggregate'] as const
const CELLS = [...AXES, ...SUMS, 'color'] as const
const SPANS = ['rangeX', 'rangeY', 'formatY', 'unit', 'mark', 'band', 'text'] as const

/** The types of charts that are made from the columns of a grid, with the options of each. */
const takenBy = {
  scatter: [...POINTS, 'color', 'size', 'angle', 'trend', 'animate'],
  line: [...POINTS, 'trend'],
  step: POINTS,
  area: [...AXES, ...GROUPS, ...SUMS, 'text', 'stack'],
  bar: [...POINTS, 'stack', 'horizontal', 'animate'],
  dot: [...POINTS, 'animate', 'horizontal'],
  range: [...SPANS, 'horizontal'],
  dumbbell: [...SPANS, 'horizontal'],
  timeline: [...SPANS, 'by', 'top'],
  pyramid: ['formatY', 'unit', 'text', 'aggregate'],
  lollipop: [...AXES, ...GROUPS, ...SUMS, 'text', 'labels', 'horizontal'],
  box: BOXES,
  violin: BOXES,
  strip: BOXES,
  ridgeline: ['rangeX', 'rangeY', 'unit', 'formatY'],
  histogram: [...BOXES, 'stack'],
  ecdf: ['by', 'top', 'logX', 'rangeX', 'unit', 'mark'],
  histogram2d: [...AXES, 'facet'],
  heatmap: CELLS,
  contour: CELLS,
  pie: PARTS,
  donut: PARTS,
  treemap: ['text', 'parent', 'id'],
  sunburst: ['text', 'parent', 'id'],
  funnel: ['text', 'labels', ...AXES],
  waterfall: ['text', 'labels', ...AXES],
  candlestick: ['text', ...AXES],
  ohlc: ['text', ...AXES],
  map: ['lat', 'lon', 'color', 'size', 'angle', 'text', 'by'],
  choropleth: ['text', 'unit', 'formatY'],
  scatter3d: ['z', 'color', 'text', 'by'],
  surface: ['z'],
  parallel: ['color'],
  splom: ['color', 'text', 'by', 'top'],
  radar: ['by', 'top', 'rangeY'],
  table: [],
  indicator: ['aggregate', 'unit', 'formatY'],
} as const satisfies Record<string, readonly Taken[]>

export type ChartType = keyof typeof takenBy

export const chartTypes = Object.keys(takenBy) as [ChartType, ...ChartType[]]

/** The types, and `auto`: chosen from the columns. */
export const chartChoices = ['auto', ...chartTypes] as [typeof AUTO, ...ChartType[]]

export function takes(type: ChartType, option: Taken): boolean {
  return (takenBy[type] as readonly Taken[]).includes(option)
}

export function isPie(type: ChartType): boolean {
  return type === 'pie' || type === 'donut'
}

export function isCells(type: ChartType): boolean {
  return type === 'heatmap' || type === 'contour'
}

/** The types that can have an option. */
export function typesWith(option: Taken): ChartType[] {
  return chartTypes.filter((type) => takes(type, option))
}

/** Options that only some types have. */
export const typedOptions: readonly Taken[] = [...new Set(Object.values(takenBy).flat())]

/** Types whose points are joined. */
export const LINES: ReadonlySet<ChartType> = new Set(['line', 'step', 'area'])

/** Types that have no x and y axis. */
export const WITHOUT_AXES: ReadonlySet<ChartType> = new Set([
  'pie',
  'donut',
  'treemap',
  'sunburst',
  'map',
  'choropleth',
  'scatter3d',
  'surface',
  'parallel',
  'splom',
  'radar',
  'table',
  'indicator',
])

/** Types whose traces say which of them they are: see `typeOf`. Of others, `layout.meta.chart` says it. */
export const KNOWN_BY_TRACES: ReadonlySet<ChartType> = new Set([
  'scatter',
  'line',
  'bar',
  'area',
  'box',
  'violin',
  'histogram',
  'heatmap',
  'pie',
])
