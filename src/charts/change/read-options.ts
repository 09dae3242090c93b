// Reads chart options back from figures without a stored spec.
import { Problem } from '../../contract/errors.ts'
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
import { type ChartGrid, type ChartOptions, DEFAULT_MAX_SERIES } from '../spec/options.ts'
import { CHART_TYPES, type ChartType, hasTrait } from '../spec/types.ts'

/** Returns the options that would create a chart of a grid again. Throws `usage` for other figures. */
export function readOptions(figure: Figure, grid: ChartGrid): { type: ChartType; options: ChartOptions } {
  const { layout } = figure
  const gridTraces = listGridTraces(figure, grid.fid)
  const [first] = gridTraces
  const type = first && chartTypeOf({ data: gridTraces, layout })
  const isChart = (CHART_TYPES as readonly unknown[]).includes(type)
  if (
    !first ||
    !isChart ||
    gridTraces.some((trace) => trace.yaxis !== 'y2' && traceChartTypeOf(trace) !== traceChartTypeOf(first)) ||
    (hasTrait(type as ChartType, 'cells') && String(first.zsrc ?? '').includes(','))
  )
    throw new Problem('usage', 'this figure is not a chart of the columns of one grid', {
      hint: 'Change its attributes by path, such as layout.title.text=Sales.',
    })
  const nameOf = (source: unknown): string | undefined => {
    const [, , uid] = String(source ?? '').split(':')
    return grid.cols.find((column) => column.uid === uid)?.name
  }
  const formatNames = (names: readonly (string | undefined)[]): string =>
    names
      .filter((name) => name !== undefined)
      .map(quoteColumnName)
      .join(',')
  const primary = gridTraces.filter(({ yaxis }) => yaxis !== 'y2')
  const secondary = gridTraces.filter(({ yaxis }) => yaxis === 'y2')
  const isHorizontal = first.orientation === 'h' && first.type !== 'funnel'
  const { x, y } = readXAndY(
    type as ChartType,
    isHorizontal ? primary.map(swapReferences) : primary,
    nameOf,
    formatNames,
  )
  const transforms: Attributes[] = Array.isArray(first.transforms) ? first.transforms : []
  const find = (kind: string, matches: (transform: Attributes) => boolean = () => true) =>
    transforms.find((transform) => transform.type === kind && matches(transform))
  const by = find(
    'groupby',
    ({ facet, animate, hue }) => facet !== true && animate !== true && hue === undefined,
  )
  const func = find('aggregate')?.aggregations?.[0]?.func ?? find('cells')?.func
  const rows = find('rows')
  const orders = transforms.filter((transform) => transform.type === 'order')
  const order = orders.toReversed().map(({ target, descending }) =>
    formatSortKey({
      name: (target === 'x' || target === 'labels' ? x : y) ?? '',
      descending: descending === true,
    }),
  )
  const title = typeof layout.title === 'string' ? layout.title : layout.title?.text
  const isDefault = title !== undefined && title === layout.meta?.title
  const [across, up] = isHorizontal ? [layout.yaxis, layout.xaxis] : [layout.xaxis, layout.yaxis]
  const isIndicator = type === 'indicator'
  const number = find('number')?.func
  const top = find('top')?.count
  const trend = find('trend')
  const stack = readStack(type as ChartType, { data: primary, layout }, by !== undefined)
  const options: ChartOptions = {
    x,
    y: y === '' ? undefined : y,
    z: type === 'scatter3d' || type === 'surface' ? nameOf(first.zsrc) : undefined,
    lat: nameOf(first.latsrc),
    lon: nameOf(first.lonsrc),
    parent: nameOf(first.parentssrc),
    color: nameOf(
      first.marker?.colorsrc ??
        first.line?.colorsrc ??
        (hasTrait(type as ChartType, 'cells') ? first.zsrc : undefined),
    ),
    size: nameOf(first.marker?.sizesrc),
    error: nameOf((isHorizontal ? first.error_x : first.error_y)?.arraysrc),
    y2: secondary.length > 0 ? formatNames(secondary.map(({ ysrc }) => nameOf(ysrc))) : undefined,
    text: nameOf(first.textsrc),
    by: nameOf(by?.groupssrc),
    facet: nameOf(find('groupby', ({ facet }) => facet === true)?.groupssrc),
    animate: nameOf(find('groupby', ({ animate }) => animate === true)?.groupssrc),
    aggregate: isIndicator
      ? number === 'avg'
        ? 'mean'
        : number === 'last'
          ? undefined
          : number
      : func === 'avg'
        ? 'mean'
        : func,
    per: find('per')?.unit,
    zone: find('zone')?.zone,
    top: by
      ? by.top === undefined || by.top === DEFAULT_MAX_SERIES
        ? undefined
        : by.top - 1
      : hasTrait(type as ChartType, 'slices') && top === DEFAULT_PIE_SLICES
        ? undefined
        : top,
    where: rows?.where,
    sort: rows?.sort ?? (order.length > 0 ? order.join(',') : undefined),
    stack,
    horizontal: layout.meta?.horizontal === true || isHorizontal || undefined,
    trend: trend && (trend.method === 'mean' ? `mean:${trend.window}` : 'linear'),
    ...readMarkOptions(isHorizontal ? (layout.shapes ?? []).map(swapShapeAxes) : layout.shapes),
    labels:
      primary.some(
        ({ texttemplate, textposition, type: kind }) =>
          texttemplate !== undefined ||
          ((kind === 'waterfall' || kind === 'funnel') && textposition !== undefined),
      ) || undefined,
    ...(isIndicator
      ? readIndicatorOptions(first)
      : type === 'choropleth'
        ? readColorbarOptions(first.colorbar)
        : readAxisOptions(across, up)),
    // The percent sign of percentages is not a chosen unit.
    ...(stack === 'percent' && up?.ticksuffix === '%' && { unit: undefined }),
    title: isDefault ? undefined : (title ?? 'none') || 'none',
    subtitle: layout.title?.subtitle?.text,
    source: readSource(layout),
  }
  return { type: type as ChartType, options }
}

type NameOf = (source: unknown) => string | undefined

/** Reads --x and --y back from the traces of a figure. */
function readXAndY(
  type: ChartType,
  traces: readonly Attributes[],
  nameOf: NameOf,
  formatNames: (names: readonly (string | undefined)[]) => string,
): { x: string | undefined; y: string } {
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
      return traces.length > 1 ? { x: undefined, y: all('xsrc') } : { x: nameOf(first.xsrc), y: '' }
    case 'funnel':
      return { x: nameOf(first.ysrc), y: all('xsrc') }
    case 'candlestick':
    case 'ohlc':
      return {
        x: nameOf(first.xsrc),
        y: formatNames(['opensrc', 'highsrc', 'lowsrc', 'closesrc'].map((key) => nameOf(first[key]))),
      }
    case 'map':
      return { x: undefined, y: '' }
    case 'choropleth':
      return { x: nameOf(first.locationssrc), y: all('zsrc') }
    case 'surface':
      return first.type === 'surface'
        ? { x: undefined, y: manyOf(first.zsrc) }
        : { x: nameOf(first.xsrc), y: all('ysrc') }
    case 'parallel':
      return {
        x: undefined,
        y: formatNames((first.dimensions ?? []).map(({ valuessrc }: Attributes) => nameOf(valuessrc))),
      }
    case 'table':
      return { x: undefined, y: manyOf(first.cells?.valuessrc) }
    case 'indicator':
      return { x: undefined, y: all('customdatasrc') }
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

function readSource({ annotations }: Attributes): string | undefined {
  const annotation = Array.isArray(annotations)
    ? annotations.find(({ name }) => name === SOURCE_NAME)
    : undefined
  return annotation === undefined ? undefined : String(annotation.text).replace(/^Source: /, '')
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
