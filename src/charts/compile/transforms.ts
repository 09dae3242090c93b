// Transforms of the traces, which the server evaluates before a chart is drawn.
import { parseSort } from '../../query/index.ts'
import type { Attributes } from '../figure/figure.ts'
import type { ChartColumns } from '../normalize/chart-columns.ts'
import type { NormalizedChart } from '../normalize/normalize.ts'
import { parseTrendWindow } from '../normalize/rules.ts'
import { hasLabels } from '../spec/column-names.ts'
import { type ChartOptions, DEFAULT_MAX_SERIES } from '../spec/options.ts'
import { parseColumnNames } from '../spec/parse-names.ts'
import { hasTrait } from '../spec/types.ts'

/** Number of pie slices without --top, in addition to the slice `other`. */
export const DEFAULT_PIE_SLICES = 6

/** Maximum number of symbols or dashes; more are hard to tell apart. */
const MAX_STYLES = 6

/** Returns the transforms of each trace; undefined if there are none. See docs/api.md#transforms. */
export function createTransforms(normal: NormalizedChart): Attributes[] | undefined {
  const { type, chart, options, rowsTransform, isUnsorted, columns } = normal
  const { x, facets, animate } = columns
  const { aggregate, per, top, sort, zone, trend } = options
  const isSliced = hasTrait(type, 'slices')
  const axes = isSliced ? { x: 'labels', y: 'values' } : { x: 'x', y: type === 'calendar' ? 'z' : 'y' }
  const isCells = hasTrait(type, 'cells')
  const queryFunction = aggregate === 'mean' ? 'avg' : aggregate
  // An indicator aggregates all rows, in a separate transform.
  const func = type === 'indicator' ? undefined : queryFunction
  const series = createSeriesTransforms(normal, func !== undefined)
  // Lines connect points in order, so sort each series along the axis.
  const isSorted = hasTrait(type, 'joined') && (series.length > 0 || facets.length > 0 || func || isUnsorted)
  const maxLabels = top ?? (isSliced ? DEFAULT_PIE_SLICES : undefined)
  const transforms: Attributes[] = [
    ...(chart.hasColumnNamesAxis(options)
      ? [{ type: 'melt', names: parseColumnNames(options.y ?? '', chart.names) }]
      : []),
    ...(rowsTransform ? [rowsTransform] : []),
    ...(zone ? [{ type: 'zone', target: 'x', zone }] : []),
    ...(per ? [{ type: 'per', target: 'x', unit: per }] : []),
    ...facets.map((column) => ({ type: 'groupby', groupssrc: chart.formatReference(column), facet: true })),
    ...(animate ? [{ type: 'groupby', groupssrc: chart.formatReference(animate), animate: true }] : []),
    ...series,
    ...(func && !isCells
      ? [{ type: 'aggregate', groups: axes.x, aggregations: createAggregations(options, axes.y, func) }]
      : []),
    ...(func && isCells ? [{ type: 'cells', func }] : []),
    ...(sort === undefined && (isSorted || (type === 'waterfall' && x?.type !== 'text'))
      ? [{ type: 'sort', target: 'x' }]
      : []),
    ...((aggregate || isSliced) && !isCells ? createOrderTransforms(sort, columns, axes) : []),
    ...(maxLabels !== undefined && !chart.formatReference(columns.by)
      ? [{ type: 'top', count: maxLabels, target: axes.y, labels: axes.x, other: isSliced, of: x?.name }]
      : []),
    ...(trend ? [createTrendTransform(trend, options)] : []),
  ]
  return transforms.length > 0 ? transforms : undefined
}

/** Returns the transforms that split the rows into series, with colors, symbols or dashes. */
function createSeriesTransforms(
  { type, chart, options: { top, by, order }, columns }: NormalizedChart,
  isAggregated: boolean,
): Attributes[] {
  const { x, symbol, dash } = columns
  const groupssrc = chart.formatReference(columns.by)
  const styleSource = chart.formatReference(symbol ?? dash)
  const style = symbol ? 'symbol' : dash && 'dash'
  // The series `other` needs one point per x for a line or bar.
  const needsOnePerX = !isAggregated && (hasTrait(type, 'joined') || type === 'bar')
  const other = needsOnePerX ? (type === 'line' || type === 'step' ? 'avg' : 'sum') : undefined
  // If one column sets series and style, each series has its own color and style.
  const isSameColumn = styleSource !== undefined && styleSource === groupssrc
  const isSeriesOrder = order !== undefined && !hasLabels(x)
  return [
    ...(groupssrc
      ? [
          {
            type: 'groupby',
            groupssrc,
            top: top === undefined ? DEFAULT_MAX_SERIES : top + 1,
            other,
            ...(isSameColumn && { style }),
            ...((type === 'bump' || type === 'slope') && { drop: true, of: by }),
            ...(isSeriesOrder && { order: parseColumnNames(order) }),
          },
        ]
      : []),
    ...(styleSource && !isSameColumn
      ? [{ type: 'groupby', groupssrc: styleSource, style, hue: 'kept', top: MAX_STYLES, other }]
      : []),
  ]
}

/**
 * Returns the transforms of --sort, which sort the results of --aggregate. The main key is last. Columns other
 * than x and the first y are ignored.
 */
function createOrderTransforms(
  sort: string | undefined,
  { x, ys: [y] }: ChartColumns,
  axes: { x: string; y: string },
): Attributes[] {
  const keys = sort === undefined ? [] : parseSort(sort)
  return keys.toReversed().flatMap(({ name, descending }) => {
    const target = name === y?.name ? axes.y : name === x?.name ? axes.x : undefined
    return target ? [{ type: 'order', target, descending }] : []
  })
}

/** Returns the aggregations of a point: value, color and size. */
function createAggregations({ color, size }: ChartOptions, target: string, func: string): object[] {
  const targets = [target, ...(color ? ['marker.color'] : []), ...(size ? ['marker.size'] : [])]
  return targets.map((item) => ({ target: item, func, empty: 'none' }))
}

/** Returns the transform of --trend. */
function createTrendTransform(trend: string, { logX, logY }: ChartOptions): object {
  const window = parseTrendWindow(trend)
  const method = window === undefined ? 'linear' : 'mean'
  return { type: 'trend', method, window, ...(logX && { logX }), ...(logY && { logY }) }
}
