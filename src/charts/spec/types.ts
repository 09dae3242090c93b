// Chart types, the options that each accepts, and their traits.
import type { ChartOptions } from './options.ts'

/** Type for which the type is chosen from the columns. */
export const AUTO = 'auto'

/** Name of an option. */
type Taken = keyof ChartOptions

/** Traits that chart types share. */
type Trait =
  /** Its points are joined by lines. */
  | 'joined'
  /** It has no x and y axis. */
  | 'no axes'
  /** Its values are drawn from zero. */
  | 'from zero'
  /** It shows parts of a whole. */
  | 'whole'
  /** Each x has one row: several would overlap. */
  | 'single'
  /** It does not need --x. */
  | 'optional x'
  /** It does not accept --x. */
  | 'no x'
  /** It does not need --y: it counts rows, or other options hold its values. */
  | 'optional y'
  /** It accepts one --y column. */
  | 'one y'
  /** It needs two --y columns: from and to. */
  | 'two y'
  /** Its --y column is an axis, which can hold labels or dates. */
  | 'axis y'
  /** It shows a distribution. */
  | 'spread'
  /** It consists of slices. */
  | 'slices'
  /** It consists of cells, colored by a value. */
  | 'cells'
  /** Its traces identify the type (`traceChartTypeOf`). Other types are stored in `layout.meta.chart`. */
  | 'known by traces'

const AXES = ['logX', 'logY', 'rangeX', 'rangeY', 'formatY', 'unit', 'mark', 'band', 'note'] as const
const GROUPS = ['by', 'facet', 'top', 'highlight'] as const
const SUMS = ['aggregate', 'per', 'zone'] as const
const POINTS = [...AXES, ...GROUPS, ...SUMS, 'text', 'error', 'labels', 'y2', 'order'] as const
const BOXES = [...AXES, ...GROUPS, 'horizontal', 'text', 'order'] as const
const PARTS = ['text', 'top', 'aggregate'] as const
const CELLS = [...AXES, ...SUMS, 'color', 'scale', 'order'] as const
const SPANS = ['rangeX', 'rangeY', 'formatY', 'unit', 'mark', 'band', 'note', 'text', 'order'] as const

/** A chart type: the options that it accepts, and its traits. */
type Row = readonly [options: readonly Taken[], ...traits: Trait[]]

/** Chart types that are created from grid columns. */
const rows = {
  scatter: [[...POINTS, 'color', 'scale', 'size', 'angle', 'symbol', 'trend', 'animate'], 'known by traces'],
  line: [[...POINTS, 'trend', 'dash', 'bandOf', 'color', 'scale'], 'joined', 'known by traces'],
  step: [POINTS, 'joined'],
  slope: [
    ['by', 'top', 'highlight', 'aggregate', 'rangeY', 'formatY', 'unit', 'order', 'text'],
    'joined',
    'single',
  ],
  bump: [['by', 'top', 'highlight', 'order', 'text'], 'joined', 'single'],
  area: [
    [...AXES, ...GROUPS, ...SUMS, 'text', 'stack', 'order'],
    ...(['joined', 'from zero', 'known by traces'] as const),
  ],
  bar: [
    [...POINTS, 'stack', 'horizontal', 'animate', 'color', 'scale'],
    ...(['from zero', 'single', 'known by traces'] as const),
  ],
  dot: [[...POINTS, 'animate', 'horizontal']],
  range: [[...SPANS, 'horizontal'], 'single', 'two y'],
  dumbbell: [[...SPANS, 'horizontal'], 'single', 'two y'],
  timeline: [
    ['rangeX', 'rangeY', 'mark', 'band', 'note', 'text', 'order', 'by', 'top'],
    ...(['two y', 'axis y'] as const),
  ],
  pyramid: [['formatY', 'unit', 'text', 'aggregate', 'by'], 'whole', 'single'],
  lollipop: [[...AXES, ...GROUPS, ...SUMS, 'text', 'labels', 'horizontal', 'order'], 'from zero', 'single'],
  box: [BOXES, 'optional x', 'known by traces'],
  violin: [BOXES, 'optional x', 'known by traces'],
  strip: [BOXES, 'optional x'],
  ridgeline: [['rangeX', 'rangeY', 'unit', 'formatY']],
  histogram: [[...BOXES, 'stack'], 'spread', 'optional y'],
  density: [['by', 'top', 'highlight', 'facet', 'rangeX', 'unit', 'mark'], 'spread', 'optional y'],
  ecdf: [['by', 'top', 'highlight', 'logX', 'rangeX', 'unit', 'mark'], 'spread', 'optional y'],
  histogram2d: [[...AXES, 'facet'], 'axis y', 'one y'],
  hexbin: [['rangeX', 'rangeY', 'formatY', 'unit', 'mark', 'band', 'note'], 'one y'],
  calendar: [['aggregate', 'per', 'zone', 'scale', 'unit', 'formatY'], 'single', 'one y'],
  heatmap: [CELLS, 'cells', 'known by traces'],
  contour: [CELLS, 'cells'],
  pie: [PARTS, 'no axes', 'slices', 'whole', 'single', 'one y', 'known by traces'],
  donut: [PARTS, 'no axes', 'slices', 'whole', 'single', 'one y'],
  treemap: [['text', 'parent', 'id'], 'no axes', 'whole', 'single', 'one y', 'optional y'],
  sunburst: [['text', 'parent', 'id'], 'no axes', 'whole', 'single', 'one y', 'optional y'],
  funnel: [['text', 'labels', ...AXES], 'from zero', 'whole', 'single'],
  waterfall: [['text', 'labels', ...AXES], 'from zero', 'single', 'one y'],
  candlestick: [['text', ...AXES], 'single'],
  ohlc: [['text', ...AXES], 'single'],
  map: [
    ['lat', 'lon', 'color', 'scale', 'size', 'angle', 'text', 'labels', 'by'],
    ...(['no axes', 'optional x', 'optional y'] as const),
  ],
  choropleth: [['text', 'unit', 'formatY', 'scale', 'geojson'], 'no axes', 'single', 'one y'],
  scatter3d: [['z', 'color', 'scale', 'text', 'by'], 'no axes', 'axis y', 'one y'],
  surface: [['z'], 'no axes'],
  parallel: [['color', 'scale'], 'no axes', 'no x'],
  splom: [['color', 'scale', 'text', 'by', 'top'], 'no axes', 'optional x'],
  sankey: [['to'], 'no axes', 'whole', 'one y', 'optional y'],
  rose: [['by', 'top', 'aggregate'], 'no axes', 'one y', 'optional y'],
  radar: [['by', 'top', 'rangeY'], 'no axes', 'single'],
  table: [[], 'no axes', 'no x', 'axis y'],
  indicator: [['aggregate', 'unit', 'formatY'], 'no axes', 'no x', 'one y'],
} as const satisfies Record<string, Row>

export type ChartType = keyof typeof rows

export const chartTypes = Object.keys(rows) as [ChartType, ...ChartType[]]

/** Chart types, and `auto`. */
export const chartChoices = ['auto', ...chartTypes] as [typeof AUTO, ...ChartType[]]

export function takes(type: ChartType, option: Taken): boolean {
  return (rows[type][0] as readonly Taken[]).includes(option)
}

export function hasTrait(type: ChartType, trait: Trait): boolean {
  return (rows[type] as Row).includes(trait)
}

/** Returns whether a chart of cells has a column on each axis; its values are those of --color, or counts. */
export function isCellMap(type: ChartType, { color, aggregate }: ChartOptions): boolean {
  return hasTrait(type, 'cells') && (color !== undefined || aggregate === 'count')
}

/** Returns the types that accept an option. */
export function typesWith(option: Taken): ChartType[] {
  return chartTypes.filter((type) => takes(type, option))
}

/** Options that only some types accept. */
export const typedOptions: readonly Taken[] = [
  ...new Set(Object.values(rows).flatMap(([options]) => options)),
]
