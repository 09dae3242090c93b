import { Problem } from '../../contract/errors.ts'
import { sortText } from '../../query/index.ts'
import { axisOptions, barOptions, unitIn } from '../compile/axes.ts'
import { markOptions } from '../compile/marks.ts'
import { PIE_SLICES } from '../compile/transforms.ts'
import { isStacked } from '../figure/barmode.ts'
import { type Attributes, defined, type Figure, kindOf, tracesOf, typeOf } from '../figure/figure.ts'
import { SOURCE } from '../figure/names.ts'
import { turnedShape } from '../figure/turn.ts'
import { nameInList } from '../spec/column-names.ts'
import { type ChartGrid, type ChartOptions, TOP_SERIES } from '../spec/options.ts'
import { type ChartType, chartTypes, hasTrait } from '../spec/types.ts'

/** The options with which a chart of the columns of a grid would be made again. Throws `usage` for other figures. */
export function optionsOf(figure: Figure, grid: ChartGrid): { type: ChartType; options: ChartOptions } {
  const { layout } = figure
  const ours = tracesOf(figure, grid.fid)
  const [first] = ours
  const type = first && kindOf({ data: ours, layout })
  const isChart = (chartTypes as readonly unknown[]).includes(type)
  if (
    !first ||
    !isChart ||
    ours.some((trace) => trace.yaxis !== 'y2' && typeOf(trace) !== typeOf(first)) ||
    (hasTrait(type as ChartType, 'cells') && String(first.zsrc ?? '').includes(','))
  )
    throw new Problem('usage', 'this figure is not a chart of the columns of one grid', {
      hint: 'Change its attributes by their paths, such as layout.title.text=Sales.',
    })
  const name = (source: unknown): string | undefined => {
    const [, , uid] = String(source ?? '').split(':')
    return grid.cols.find((column) => column.uid === uid)?.name
  }
  const written = (names: readonly (string | undefined)[]): string =>
    names
      .filter((one) => one !== undefined)
      .map(nameInList)
      .join(',')
  const own = ours.filter(({ yaxis }) => yaxis !== 'y2')
  const second = ours.filter(({ yaxis }) => yaxis === 'y2')
  const isTurned = first.orientation === 'h' && first.type !== 'funnel'
  const { x, y } = columnsOf(type as ChartType, isTurned ? own.map(turned) : own, name, written)
  const transforms: Attributes[] = Array.isArray(first.transforms) ? first.transforms : []
  const of = (kind: string, more: (one: Attributes) => boolean = () => true) =>
    transforms.find((one) => one.type === kind && more(one))
  const by = of(
    'groupby',
    ({ facet, animate, hue }) => facet !== true && animate !== true && hue === undefined,
  )
  const func = of('aggregate')?.aggregations?.[0]?.func ?? of('cells')?.func
  const rows = of('rows')
  const orders = transforms.filter((one) => one.type === 'order')
  const order = orders.toReversed().map(({ target, descending }) =>
    sortText({
      name: (target === 'x' || target === 'labels' ? x : y) ?? '',
      descending: descending === true,
    }),
  )
  const title = typeof layout.title === 'string' ? layout.title : layout.title?.text
  const isDefault = title !== undefined && title === layout.meta?.title
  const [across, up] = isTurned ? [layout.yaxis, layout.xaxis] : [layout.xaxis, layout.yaxis]
  const isIndicator = type === 'indicator'
  const number = of('number')?.func
  const top = of('top')?.count
  const trend = of('trend')
  const stack = stackOf(type as ChartType, { data: own, layout }, by !== undefined)
  const options: ChartOptions = {
    x,
    y: y === '' ? undefined : y,
    z: type === 'scatter3d' || type === 'surface' ? name(first.zsrc) : undefined,
    lat: name(first.latsrc),
    lon: name(first.lonsrc),
    parent: name(first.parentssrc),
    color: name(
      first.marker?.colorsrc ??
        first.line?.colorsrc ??
        (hasTrait(type as ChartType, 'cells') ? first.zsrc : undefined),
    ),
    size: name(first.marker?.sizesrc),
    error: name((isTurned ? first.error_x : first.error_y)?.arraysrc),
    y2: second.length > 0 ? written(second.map(({ ysrc }) => name(ysrc))) : undefined,
    text: name(first.textsrc),
    by: name(by?.groupssrc),
    facet: name(of('groupby', ({ facet }) => facet === true)?.groupssrc),
    animate: name(of('groupby', ({ animate }) => animate === true)?.groupssrc),
    aggregate: isIndicator
      ? number === 'avg'
        ? 'mean'
        : number === 'last'
          ? undefined
          : number
      : func === 'avg'
        ? 'mean'
        : func,
    per: of('per')?.unit,
    zone: of('zone')?.zone,
    top: by
      ? by.top === undefined || by.top === TOP_SERIES
        ? undefined
        : by.top - 1
      : hasTrait(type as ChartType, 'slices') && top === PIE_SLICES
        ? undefined
        : top,
    where: rows?.where,
    sort: rows?.sort ?? (order.length > 0 ? order.join(',') : undefined),
    stack,
    horizontal: layout.meta?.horizontal === true || isTurned || undefined,
    trend: trend && (trend.method === 'mean' ? `mean:${trend.window}` : 'linear'),
    ...markOptions(isTurned ? (layout.shapes ?? []).map(turnedShape) : layout.shapes),
    labels:
      own.some(
        ({ texttemplate, textposition, type: kind }) =>
          texttemplate !== undefined ||
          ((kind === 'waterfall' || kind === 'funnel') && textposition !== undefined),
      ) || undefined,
    ...(isIndicator
      ? indicatorOptions(first)
      : type === 'choropleth'
        ? barOptions(first.colorbar)
        : axisOptions(across, up)),
    // The suffix of parts of 100 is not one that somebody chose.
    ...(stack === 'percent' && up?.ticksuffix === '%' && { unit: undefined }),
    title: isDefault ? undefined : (title ?? 'none') || 'none',
    subtitle: layout.title?.subtitle?.text,
    source: sourceIn(layout),
  }
  return { type: type as ChartType, options }
}

type Named = (source: unknown) => string | undefined

/** The columns of --x and --y, by where each type has them. */
function columnsOf(
  type: ChartType,
  traces: readonly Attributes[],
  name: Named,
  written: (names: readonly (string | undefined)[]) => string,
): { x: string | undefined; y: string } {
  const [first] = traces
  const all = (key: string): string => written(traces.map((trace) => name(trace[key])))
  const several = (source: unknown): string => {
    const [owner, idlocal, uids = ''] = String(source ?? '').split(':')
    return written(uids.split(',').map((uid) => name(`${owner}:${idlocal}:${uid}`)))
  }
  switch (type) {
    case 'pie':
    case 'donut':
    case 'treemap':
    case 'sunburst':
      return { x: name(first.labelssrc), y: all('valuessrc') }
    case 'histogram':
      return traces.length > 1 ? { x: undefined, y: all('xsrc') } : { x: name(first.xsrc), y: '' }
    case 'funnel':
      return { x: name(first.ysrc), y: all('xsrc') }
    case 'candlestick':
    case 'ohlc':
      return {
        x: name(first.xsrc),
        y: written(['opensrc', 'highsrc', 'lowsrc', 'closesrc'].map((key) => name(first[key]))),
      }
    case 'map':
      return { x: undefined, y: '' }
    case 'choropleth':
      return { x: name(first.locationssrc), y: all('zsrc') }
    case 'surface':
      return first.type === 'surface'
        ? { x: undefined, y: several(first.zsrc) }
        : { x: name(first.xsrc), y: all('ysrc') }
    case 'parallel':
      return {
        x: undefined,
        y: written((first.dimensions ?? []).map(({ valuessrc }: Attributes) => name(valuessrc))),
      }
    case 'table':
      return { x: undefined, y: several(first.cells?.valuessrc) }
    case 'indicator':
      return { x: undefined, y: all('customdatasrc') }
    default:
      return { x: name(first.xsrc), y: all('ysrc') }
  }
}

function turned({ xsrc, ysrc, ...trace }: Attributes): Attributes {
  return { ...trace, xsrc: ysrc, ysrc: xsrc }
}

/** How series stand, where it is not as the type has it by itself. */
function stackOf(type: ChartType, { data, layout }: Figure, isBy: boolean): ChartOptions['stack'] {
  const isSeveral = data.length > 1 || isBy
  if (type === 'area') {
    if (data.some(({ groupnorm }) => groupnorm === 'percent')) return 'percent'
    const isStacked = data.some(({ stackgroup }) => stackgroup !== undefined)
    return isStacked === isSeveral ? undefined : isStacked ? 'normal' : 'none'
  }
  if (type !== 'bar' && type !== 'histogram') return undefined
  if (layout.barnorm === 'percent') return 'percent'
  if (type === 'bar') return isStacked(layout) ? 'normal' : undefined
  if (layout.barmode === 'stack') return isBy ? undefined : 'normal'
  return layout.barmode === 'overlay' && isBy ? 'none' : undefined
}

function indicatorOptions({ number = {} }: Attributes): Pick<ChartOptions, 'unit' | 'formatY'> {
  return {
    unit: unitIn(number.prefix, number.suffix),
    formatY: number.valueformat === ',' ? undefined : number.valueformat,
  }
}

function sourceIn({ annotations }: Attributes): string | undefined {
  const found = Array.isArray(annotations) ? annotations.find(({ name }) => name === SOURCE) : undefined
  return found === undefined ? undefined : String(found.text).replace(/^Source: /, '')
}

/** Types whose bars or boxes earlier charts have from left to right by an exchange of their columns. */
const TURNED: ReadonlySet<unknown> = new Set(['bar', 'box', 'violin', 'histogram'])

/** An earlier chart with bars from left to right, as charts are now: they are turned where they are drawn. */
export function upright(figure: Figure, fid: string): Figure {
  const isTurned = ({ orientation, type }: Attributes): boolean => orientation === 'h' && TURNED.has(type)
  const own = tracesOf(figure, fid)
  if (own.length === 0 || !own.every(isTurned)) return figure
  const { xaxis, yaxis, shapes, ...rest } = figure.layout
  return {
    ...figure,
    data: figure.data.map((trace) => {
      if (!own.includes(trace)) return trace
      const { xsrc, ysrc, error_x, orientation: _, ...others } = trace
      const exchanged = { xsrc: ysrc, ysrc: xsrc, error_y: error_x }
      return { ...others, ...defined(exchanged) }
    }),
    layout: {
      ...rest,
      ...defined({ xaxis: yaxis, yaxis: xaxis }),
      ...(Array.isArray(shapes) && { shapes: shapes.map(turnedShape) }),
      meta: { ...rest.meta, horizontal: true },
    },
  }
}
