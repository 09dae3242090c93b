// Reads chart options back from figures without a stored spec.

import { formatSortKey } from '../../query/index.ts'
import { joinUnit, readAxisOptions, readColorbarOptions } from '../compile/axes.ts'
import { readMarkOptions } from '../compile/reference-lines.ts'
import { DEFAULT_PIE_SLICES } from '../compile/transforms.ts'
import { isStacked } from '../figure/bar-mode.ts'
import {
  type Attributes,
  chartTypeOf,
  type Figure,
  listGridTraces,
  omitUndefined,
  traceChartTypeOf,
} from '../figure/figure.ts'
import { SOURCE_NAME } from '../figure/shared-names.ts'
import { swapShapeAxes } from '../figure/swap-axes.ts'
import { quoteColumnName } from '../spec/column-names.ts'
import { createUsageError } from '../spec/errors.ts'
import { type ChartGrid, type ChartOptions, DEFAULT_MAX_SERIES } from '../spec/options.ts'
import { type ChartType, hasTrait, isChartType } from '../spec/types.ts'

/** Hint of errors about figures that are not charts of one grid. */
export const ATTRIBUTES_HINT = 'Change its attributes by path, such as layout.title.text=Sales.'

/** The traces of a chart of one grid. `secondary`: those on the second y axis. */
type GridChart = ReturnType<typeof findGridChart>

/** Returns the options that would create a chart of a grid again. Throws `usage` for other figures. */
export function readOptions(figure: Figure, grid: ChartGrid): { type: ChartType; options: ChartOptions } {
  const chart = findGridChart(figure, grid)
  const { type, layout, first, primary, isHorizontal } = chart
  const columns = readColumns(chart)
  const by = findTransform(
    first,
    'groupby',
    ({ facet, animate, hue }) => facet !== true && animate !== true && hue === undefined,
  )
  const trend = findTransform(first, 'trend')
  const stack = readStack(type, { data: primary, layout }, by !== undefined)
  const [across, up] = isHorizontal ? [layout.yaxis, layout.xaxis] : [layout.xaxis, layout.yaxis]
  const options: ChartOptions = {
    ...columns,
    y: columns.y === '' ? undefined : columns.y,
    ...readTransforms(chart, columns, by),
    stack,
    horizontal: layout.meta?.horizontal === true || isHorizontal || undefined,
    trend: trend && (trend.method === 'mean' ? `mean:${trend.window}` : 'linear'),
    ...readMarkOptions(isHorizontal ? (layout.shapes ?? []).map(swapShapeAxes) : layout.shapes),
    labels: primary.some(isLabeled) || undefined,
    ...(type === 'indicator'
      ? readIndicatorOptions(first)
      : type === 'choropleth'
        ? readColorbarOptions(first.colorbar)
        : readAxisOptions(across, up)),
    // The percent sign of percentages is not a chosen unit.
    ...(stack === 'percent' && up?.ticksuffix === '%' && { unit: undefined }),
    ...readTexts(layout),
  }
  return { type, options }
}

/** Returns the traces of a grid. Throws `usage` if they are not one chart. */
function findGridChart({ data, layout }: Figure, { fid, cols }: ChartGrid) {
  const gridTraces = listGridTraces({ data, layout }, fid)
  const [first] = gridTraces
  const type = first && chartTypeOf({ data: gridTraces, layout })
  const primary = gridTraces.filter(({ yaxis }) => yaxis !== 'y2')
  if (
    !first ||
    !isChartType(type) ||
    primary.some((trace) => traceChartTypeOf(trace) !== traceChartTypeOf(first)) ||
    (hasTrait(type, 'cells') && String(first.zsrc ?? '').includes(','))
  )
    throw createUsageError('this figure is not a chart of the columns of one grid', ATTRIBUTES_HINT)
  return {
    type,
    layout,
    first,
    primary,
    secondary: gridTraces.filter(({ yaxis }) => yaxis === 'y2'),
    // Earlier releases swapped the columns.
    isHorizontal: first.orientation === 'h' && first.type !== 'funnel',
    /** Returns the column name of a reference; undefined for other values. */
    nameOf(source: unknown): string | undefined {
      const [, , uid] = String(source ?? '').split(':')
      return cols.find((column) => column.uid === uid)?.name
    },
  }
}

/** Returns column names as the value of an option, without undefined ones; '' if none is left. */
function formatNames(names: readonly (string | undefined)[]): string {
  return names
    .filter((name) => name !== undefined)
    .map(quoteColumnName)
    .join(',')
}

/** Reads the columns of traces back. `y` is empty if there are none. */
function readColumns(chart: GridChart): ChartOptions {
  const { type, first, secondary, isHorizontal, nameOf } = chart
  return {
    ...readXAndY(chart),
    z: type === 'scatter3d' || type === 'surface' ? nameOf(first.zsrc) : undefined,
    lat: nameOf(first.latsrc),
    lon: nameOf(first.lonsrc),
    parent: nameOf(first.parentssrc),
    color: nameOf(
      first.marker?.colorsrc ?? first.line?.colorsrc ?? (hasTrait(type, 'cells') ? first.zsrc : undefined),
    ),
    size: nameOf(first.marker?.sizesrc),
    error: nameOf((isHorizontal ? first.error_x : first.error_y)?.arraysrc),
    y2: secondary.length > 0 ? formatNames(secondary.map(({ ysrc }) => nameOf(ysrc))) : undefined,
    text: nameOf(first.textsrc),
  }
}

/** Returns the transforms of a trace. */
function listTransforms({ transforms }: Attributes): Attributes[] {
  return Array.isArray(transforms) ? transforms : []
}

/** Returns the first transform of a kind with which `matches` agrees; undefined if there is none. */
function findTransform(
  trace: Attributes,
  kind: string,
  matches: (transform: Attributes) => boolean = () => true,
): Attributes | undefined {
  return listTransforms(trace).find((transform) => transform.type === kind && matches(transform))
}

/** Reads the options of transforms back. `by`: the transform of the series, if any. */
function readTransforms(
  { type, first, nameOf }: GridChart,
  { x, y }: ChartOptions,
  by: Attributes | undefined,
): ChartOptions {
  const rows = findTransform(first, 'rows')
  const order = listTransforms(first)
    .filter((transform) => transform.type === 'order')
    .toReversed()
    .map(({ target, descending }) =>
      formatSortKey({
        name: (target === 'x' || target === 'labels' ? x : y) ?? '',
        descending: descending === true,
      }),
    )
  return {
    by: nameOf(by?.groupssrc),
    facet: nameOf(findTransform(first, 'groupby', ({ facet }) => facet === true)?.groupssrc),
    animate: nameOf(findTransform(first, 'groupby', ({ animate }) => animate === true)?.groupssrc),
    aggregate: readAggregate(type, first),
    per: findTransform(first, 'per')?.unit,
    zone: findTransform(first, 'zone')?.zone,
    top: readTop(type, first, by),
    where: rows?.where,
    sort: rows?.sort ?? (order.length > 0 ? order.join(',') : undefined),
  }
}

function readAggregate(type: ChartType, trace: Attributes): ChartOptions['aggregate'] {
  const func =
    type === 'indicator'
      ? findTransform(trace, 'number')?.func
      : (findTransform(trace, 'aggregate')?.aggregations?.[0]?.func ?? findTransform(trace, 'cells')?.func)
  if (func === 'avg') return 'mean'
  return type === 'indicator' && func === 'last' ? undefined : func
}

/** Returns the --top option; undefined if it is the default. `by`: the transform of the series. */
function readTop(type: ChartType, trace: Attributes, by: Attributes | undefined): number | undefined {
  if (by) return by.top === undefined || by.top === DEFAULT_MAX_SERIES ? undefined : by.top - 1
  const top = findTransform(trace, 'top')?.count
  return hasTrait(type, 'slices') && top === DEFAULT_PIE_SLICES ? undefined : top
}

/** Returns whether values are written at the points of a trace. */
function isLabeled({ texttemplate, textposition, type }: Attributes): boolean {
  return (
    texttemplate !== undefined || ((type === 'waterfall' || type === 'funnel') && textposition !== undefined)
  )
}

/** Reads --x and --y back from the traces of a figure. */
function readXAndY({ type, primary, isHorizontal, nameOf }: GridChart): { x?: string; y: string } {
  const traces = isHorizontal ? primary.map(swapReferences) : primary
  const [first] = traces
  const all = (key: string): string => formatNames(traces.map((trace) => nameOf(trace[key])))
  const manyOf = (source: unknown): string => {
    const [owner, idlocal, uids = ''] = String(source ?? '').split(':')
    return formatNames(uids.split(',').map((uid) => nameOf(`${owner}:${idlocal}:${uid}`)))
  }
  switch (type) {
    case 'pie':
    case 'donut':
    case 'treemap':
    case 'sunburst':
      return { x: nameOf(first.labelssrc), y: all('valuessrc') }
    case 'histogram':
      return traces.length > 1 ? { y: all('xsrc') } : { x: nameOf(first.xsrc), y: '' }
    case 'funnel':
      return { x: nameOf(first.ysrc), y: all('xsrc') }
    case 'candlestick':
    case 'ohlc':
      return {
        x: nameOf(first.xsrc),
        y: formatNames(['opensrc', 'highsrc', 'lowsrc', 'closesrc'].map((key) => nameOf(first[key]))),
      }
    case 'map':
      return { y: '' }
    case 'choropleth':
      return { x: nameOf(first.locationssrc), y: all('zsrc') }
    case 'surface':
      return first.type === 'surface' ? { y: manyOf(first.zsrc) } : { x: nameOf(first.xsrc), y: all('ysrc') }
    case 'parallel':
      return {
        y: formatNames((first.dimensions ?? []).map(({ valuessrc }: Attributes) => nameOf(valuessrc))),
      }
    case 'table':
      return { y: manyOf(first.cells?.valuessrc) }
    case 'indicator':
      return { y: all('customdatasrc') }
    default:
      return { x: nameOf(first.xsrc), y: all('ysrc') }
  }
}

/** Swaps the columns of x and y. */
function swapReferences({ xsrc, ysrc, ...trace }: Attributes): Attributes {
  return { ...trace, xsrc: ysrc, ysrc: xsrc }
}

/** Returns the --stack option; undefined if it is the default of the type. */
function readStack(type: ChartType, { data, layout }: Figure, hasBy: boolean): ChartOptions['stack'] {
  const hasSeries = data.length > 1 || hasBy
  if (type === 'area') {
    if (data.some(({ groupnorm }) => groupnorm === 'percent')) return 'percent'
    const isStacked = data.some(({ stackgroup }) => stackgroup !== undefined)
    return isStacked === hasSeries ? undefined : isStacked ? 'normal' : 'none'
  }
  if (type !== 'bar' && type !== 'histogram') return undefined
  if (layout.barnorm === 'percent') return 'percent'
  if (type === 'bar') return isStacked(layout) ? 'normal' : undefined
  if (layout.barmode === 'stack') return hasBy ? undefined : 'normal'
  return layout.barmode === 'overlay' && hasBy ? 'none' : undefined
}

function readIndicatorOptions({ number = {} }: Attributes): Pick<ChartOptions, 'unit' | 'formatY'> {
  return {
    unit: joinUnit(number.prefix, number.suffix),
    formatY: number.valueformat === ',' ? undefined : number.valueformat,
  }
}

/** Reads the title, the subtitle and the source back. */
function readTexts({ title, meta, annotations }: Attributes): ChartOptions {
  const titleText = typeof title === 'string' ? title : title?.text
  const isDefault = titleText !== undefined && titleText === meta?.title
  const source = Array.isArray(annotations) ? annotations.find(({ name }) => name === SOURCE_NAME) : undefined
  return {
    title: isDefault ? undefined : (titleText ?? 'none') || 'none',
    subtitle: title?.subtitle?.text,
    source: source && String(source.text).replace(/^Source: /, ''),
  }
}

/** Types that earlier releases made horizontal by swapping their columns. */
const SWAPPED_TYPES: ReadonlySet<unknown> = new Set(['bar', 'box', 'violin', 'histogram'])

/** Converts an earlier horizontal chart: now the columns are not swapped, and the theme swaps the axes. */
export function convertHorizontal(figure: Figure, fid: string): Figure {
  const isSwapped = ({ orientation, type }: Attributes): boolean =>
    orientation === 'h' && SWAPPED_TYPES.has(type)
  const gridTraces = listGridTraces(figure, fid)
  if (gridTraces.length === 0 || !gridTraces.every(isSwapped)) return figure
  const { xaxis, yaxis, shapes, ...rest } = figure.layout
  return {
    ...figure,
    data: figure.data.map((trace) => {
      if (!gridTraces.includes(trace)) return trace
      const { xsrc, ysrc, error_x, orientation: _, ...attributes } = trace
      const exchanged = { xsrc: ysrc, ysrc: xsrc, error_y: error_x }
      return { ...attributes, ...omitUndefined(exchanged) }
    }),
    layout: {
      ...rest,
      ...omitUndefined({ xaxis: yaxis, yaxis: xaxis }),
      ...(Array.isArray(shapes) && { shapes: shapes.map(swapShapeAxes) }),
      meta: { ...rest.meta, horizontal: true },
    },
  }
}
