// Transforms of the traces, which the server evaluates before a chart is drawn.
import { parseSort } from '../../query/index.ts'
import type { NormalizedChart } from '../normalize/normalize.ts'
import { parseTrendWindow } from '../normalize/rules.ts'
import { hasLabels, parseColumnNames } from '../spec/column-names.ts'
import { type ChartOptions, DEFAULT_MAX_SERIES } from '../spec/options.ts'
import { hasTrait } from '../spec/types.ts'

/** Number of pie slices without --top, in addition to the slice `other`. */
export const DEFAULT_PIE_SLICES = 6

/** Maximum number of symbols or dashes; more are hard to tell apart. */
const MAX_STYLES = 6

/** Returns the transforms of each trace; undefined if there are none. See docs/api.md#transforms. */
export function createTransforms(normal: NormalizedChart): object[] | undefined {
  const { type, chart, options, rowsTransform, isUnsorted, columns } = normal
  const {
    x,
    ys: [y],
    facets,
    animate,
    symbol,
    dash,
  } = columns
  const groupssrc = chart.formatReference(columns.by)
  const style = symbol ? ('symbol' as const) : dash && ('dash' as const)
  const styleSource = chart.formatReference(symbol ?? dash)
  const { aggregate, per, top, sort, zone, trend } = options
  const [groups, target] = hasTrait(type, 'slices')
    ? ['labels', 'values']
    : ['x', type === 'calendar' ? 'z' : 'y']
  const isCells = hasTrait(type, 'cells')
  const queryFunction = aggregate === 'mean' ? 'avg' : aggregate
  // An indicator aggregates all rows, in a separate transform.
  const func = type === 'indicator' ? undefined : queryFunction
  // The series `other` needs one point per x for a line or bar.
  const needsOnePerX = !func && (hasTrait(type, 'joined') || type === 'bar')
  const other = needsOnePerX ? (type === 'line' || type === 'step' ? 'avg' : 'sum') : undefined
  // With --aggregate, sort the results, not the rows.
  const sortKeys =
    (aggregate || hasTrait(type, 'slices')) && !isCells && sort !== undefined ? parseSort(sort) : []
  const orderTransforms = sortKeys.toReversed().flatMap(({ name, descending }) => {
    const axis = name === y?.name ? target : name === x?.name ? groups : undefined
    return axis ? [{ type: 'order', target: axis, descending }] : []
  })
  // If one column sets series and style, each series has its own color and style.
  const isSameColumn = styleSource !== undefined && styleSource === groupssrc
  const { order } = options
  const isSeriesOrder = order !== undefined && !hasLabels(x)
  const maxLabels = top ?? (hasTrait(type, 'slices') ? DEFAULT_PIE_SLICES : undefined)
  const transforms = [
    ...(chart.hasColumnNamesAxis(options)
      ? [{ type: 'melt', names: parseColumnNames(options.y ?? '', chart.names) }]
      : []),
    ...(rowsTransform ? [rowsTransform] : []),
    ...(zone ? [{ type: 'zone', target: 'x', zone }] : []),
    ...(per ? [{ type: 'per', target: 'x', unit: per }] : []),
    ...facets.map((column) => ({ type: 'groupby', groupssrc: chart.formatReference(column), facet: true })),
    ...(animate ? [{ type: 'groupby', groupssrc: chart.formatReference(animate), animate: true }] : []),
    ...(groupssrc
      ? [
          {
            type: 'groupby',
            groupssrc,
            top: top === undefined ? DEFAULT_MAX_SERIES : top + 1,
            other,
            ...(isSameColumn && { style }),
            ...((type === 'bump' || type === 'slope') && { drop: true, of: options.by }),
            ...(isSeriesOrder && { order: parseColumnNames(order) }),
          },
        ]
      : []),
    ...(styleSource && !isSameColumn
      ? [{ type: 'groupby', groupssrc: styleSource, style, hue: 'kept', top: MAX_STYLES, other }]
      : []),
    ...(func && !isCells
      ? [{ type: 'aggregate', groups, aggregations: createAggregations(options, target, func) }]
      : []),
    ...(func && isCells ? [{ type: 'cells', func }] : []),
    // Lines connect points in order, so sort each series along the axis.
    ...(type === 'waterfall' && sort === undefined && x?.type !== 'text'
      ? [{ type: 'sort', target: 'x' }]
      : []),
    ...((groupssrc || styleSource || facets.length > 0 || func || isUnsorted) &&
    sort === undefined &&
    hasTrait(type, 'joined')
      ? [{ type: 'sort', target: 'x' }]
      : []),
    ...orderTransforms,
    ...(maxLabels !== undefined && !groupssrc
      ? [
          {
            type: 'top',
            count: maxLabels,
            target,
            labels: groups,
            other: hasTrait(type, 'slices'),
            of: x?.name,
          },
        ]
      : []),
    ...(trend ? [createTrendTransform(trend, options)] : []),
  ]
  return transforms.length > 0 ? transforms : undefined
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
