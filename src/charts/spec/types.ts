// Chart types, the options that each accepts, and their traits.
import type { ChartOptions } from './options.ts'

/** Type for which the type is chosen from the columns. */
export const AUTO = 'auto'

/** Name of an option. */
type OptionName = keyof ChartOptions

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

const AXIS_OPTIONS = ['logX', 'logY', 'rangeX', 'rangeY', 'formatY', 'unit', 'mark', 'band', 'note'] as const
const SERIES_OPTIONS = ['by', 'facet', 'top', 'highlight'] as const
const AGGREGATE_OPTIONS = ['aggregate', 'per', 'zone'] as const
const POINT_OPTIONS = [
  ...[...AXIS_OPTIONS, ...SERIES_OPTIONS, ...AGGREGATE_OPTIONS],
  ...(['text', 'error', 'labels', 'y2', 'order'] as const),
] as const
const BOX_OPTIONS = [...AXIS_OPTIONS, ...SERIES_OPTIONS, 'horizontal', 'text', 'order'] as const
const PART_OPTIONS = ['text', 'top', 'aggregate'] as const
const CELL_OPTIONS = [...AXIS_OPTIONS, ...AGGREGATE_OPTIONS, 'color', 'scale', 'order'] as const
const SPAN_OPTIONS = ['rangeX', 'rangeY', 'formatY', 'unit', 'mark', 'band', 'note', 'text', 'order'] as const

/** A chart type: the options that it accepts, and its traits. */
type TypeDefinition = readonly [options: readonly OptionName[], ...traits: Trait[]]

/** Chart types that are created from grid columns. */
const TYPES = {
  scatter: [
    [...POINT_OPTIONS, 'color', 'scale', 'size', 'angle', 'symbol', 'trend', 'animate'],
    'known by traces',
  ],
  line: [[...POINT_OPTIONS, 'trend', 'dash', 'bandOf', 'color', 'scale'], 'joined', 'known by traces'],
  step: [POINT_OPTIONS, 'joined'],
  slope: [
    ['by', 'top', 'highlight', 'aggregate', 'rangeY', 'formatY', 'unit', 'order', 'text'],
    'joined',
    'single',
  ],
  bump: [['by', 'top', 'highlight', 'order', 'text'], 'joined', 'single'],
  area: [
    [...AXIS_OPTIONS, ...SERIES_OPTIONS, ...AGGREGATE_OPTIONS, 'text', 'stack', 'order'],
    ...(['joined', 'from zero', 'known by traces'] as const),
  ],
  bar: [
    [...POINT_OPTIONS, 'stack', 'horizontal', 'animate', 'color', 'scale'],
    ...(['from zero', 'single', 'known by traces'] as const),
  ],
  dot: [[...POINT_OPTIONS, 'animate', 'horizontal']],
  range: [[...SPAN_OPTIONS, 'horizontal'], 'single', 'two y'],
  dumbbell: [[...SPAN_OPTIONS, 'horizontal'], 'single', 'two y'],
  timeline: [
    ['rangeX', 'rangeY', 'mark', 'band', 'note', 'text', 'order', 'by', 'top'],
    ...(['two y', 'axis y'] as const),
  ],
  pyramid: [['formatY', 'unit', 'text', 'aggregate', 'by'], 'whole', 'single'],
  lollipop: [
    [...AXIS_OPTIONS, ...SERIES_OPTIONS, ...AGGREGATE_OPTIONS, 'text', 'labels', 'horizontal', 'order'],
    'from zero',
    'single',
  ],
  box: [BOX_OPTIONS, 'optional x', 'known by traces'],
  violin: [BOX_OPTIONS, 'optional x', 'known by traces'],
  strip: [BOX_OPTIONS, 'optional x'],
  ridgeline: [['rangeX', 'rangeY', 'unit', 'formatY']],
  histogram: [[...BOX_OPTIONS, 'stack'], 'spread', 'optional y'],
  density: [['by', 'top', 'highlight', 'facet', 'rangeX', 'unit', 'mark'], 'spread', 'optional y'],
  ecdf: [['by', 'top', 'highlight', 'logX', 'rangeX', 'unit', 'mark'], 'spread', 'optional y'],
  histogram2d: [[...AXIS_OPTIONS, 'facet'], 'axis y', 'one y'],
  hexbin: [['rangeX', 'rangeY', 'formatY', 'unit', 'mark', 'band', 'note'], 'one y'],
  calendar: [['aggregate', 'per', 'zone', 'scale', 'unit', 'formatY'], 'single', 'one y'],
  heatmap: [CELL_OPTIONS, 'cells', 'known by traces'],
  contour: [CELL_OPTIONS, 'cells'],
  pie: [PART_OPTIONS, 'no axes', 'slices', 'whole', 'single', 'one y', 'known by traces'],
  donut: [PART_OPTIONS, 'no axes', 'slices', 'whole', 'single', 'one y'],
  treemap: [['text', 'parent', 'id'], 'no axes', 'whole', 'single', 'one y', 'optional y'],
  sunburst: [['text', 'parent', 'id'], 'no axes', 'whole', 'single', 'one y', 'optional y'],
  funnel: [['text', 'labels', ...AXIS_OPTIONS], 'from zero', 'whole', 'single'],
  waterfall: [['text', 'labels', ...AXIS_OPTIONS], 'from zero', 'single', 'one y'],
  candlestick: [['text', ...AXIS_OPTIONS], 'single'],
  ohlc: [['text', ...AXIS_OPTIONS], 'single'],
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
} as const satisfies Record<string, TypeDefinition>

export type ChartType = keyof typeof TYPES

export const CHART_TYPES = Object.keys(TYPES) as [ChartType, ...ChartType[]]

/** Chart types, and `auto`. */
export const CHART_TYPE_CHOICES: [typeof AUTO, ...ChartType[]] = ['auto', ...CHART_TYPES]

/** Returns a chart type with its article: a bar, an area. */
export function withArticle(type: string): string {
  return `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`
}

export function isChartType(value: unknown): value is ChartType {
  return typeof value === 'string' && Object.hasOwn(TYPES, value)
}

export function acceptsOption(type: ChartType, option: OptionName): boolean {
  const [options]: TypeDefinition = TYPES[type]
  return options.includes(option)
}

export function hasTrait(type: ChartType, trait: Trait): boolean {
  const definition: TypeDefinition = TYPES[type]
  return definition.includes(trait)
}

/** Returns whether a chart of cells has a column on each axis; its values are those of --color, or counts. */
export function hasColumnAxes(type: ChartType, { color, aggregate }: ChartOptions): boolean {
  return hasTrait(type, 'cells') && (color !== undefined || aggregate === 'count')
}

/** Returns the types that accept an option. */
export function listTypesAccepting(option: OptionName): ChartType[] {
  return CHART_TYPES.filter((type) => acceptsOption(type, option))
}

/** Options that only some types accept. */
export const TYPE_SPECIFIC_OPTIONS: readonly OptionName[] = [
  ...new Set(Object.values(TYPES).flatMap(([options]) => options)),
]
