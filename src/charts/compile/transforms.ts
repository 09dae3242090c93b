import { parseSort } from '../../query/index.ts'
import type { NormalChart } from '../normalize/normalize.ts'
import { trendWindow } from '../normalize/rules.ts'
import { columnNames, hasLabels } from '../spec/column-names.ts'
import { type ChartOptions, TOP_SERIES } from '../spec/options.ts'
import { hasTrait } from '../spec/types.ts'

/** Slices that a pie has, with one more for all others, unless --top says otherwise. */
export const PIE_SLICES = 6

/** Symbols, or dashes, of a chart: the eye does not tell more apart. */
const MAX_STYLES = 6

/** What the service evaluates before the chart is drawn: see docs/api.md#transforms and docs/api.md#own-transforms. */
export function transformsOf(normal: NormalChart): object[] | undefined {
  const { type, chart, options, selected, isUnsorted, columns } = normal
  const {
    x,
    ys: [y],
    facets,
    animate,
    symbol,
    dash,
  } = columns
  const groupssrc = chart.reference(columns.by)
  const style = symbol ? ('symbol' as const) : dash && ('dash' as const)
  const styled = chart.reference(symbol ?? dash)
  const { aggregate, per, top, sort, zone, trend } = options
  const [groups, target] = hasTrait(type, 'slices')
    ? ['labels', 'values']
    : ['x', type === 'calendar' ? 'z' : 'y']
  const isCells = hasTrait(type, 'cells')
  const given = aggregate === 'mean' ? 'avg' : aggregate
  // The number of an indicator is computed of all rows.
  const func = type === 'indicator' ? undefined : given
  // Points of several groups at one x cannot be one line or one bar.
  const isOfOne = !func && (hasTrait(type, 'joined') || type === 'bar')
  const other = isOfOne ? (type === 'line' || type === 'step' ? 'avg' : 'sum') : undefined
  // With --aggregate, the results are sorted, not the rows.
  const sorted =
    (aggregate || hasTrait(type, 'slices')) && !isCells && sort !== undefined ? parseSort(sort) : []
  const ordered = sorted.toReversed().flatMap(({ name, descending }) => {
    const axis = name === y?.name ? target : name === x?.name ? groups : undefined
    return axis ? [{ type: 'order', target: axis, descending }] : []
  })
  // Of one column, each series has a color and a look of its own.
  const isOne = styled !== undefined && styled === groupssrc
  const { order } = options
  const isSeriesOrder = order !== undefined && !hasLabels(x)
  const largest = top ?? (hasTrait(type, 'slices') ? PIE_SLICES : undefined)
  const transforms = [
    ...(chart.isAcross(options) ? [{ type: 'melt', names: columnNames(options.y ?? '', chart.names) }] : []),
    ...(selected ? [selected] : []),
    ...(zone ? [{ type: 'zone', target: 'x', zone }] : []),
    ...(per ? [{ type: 'per', target: 'x', unit: per }] : []),
    ...facets.map((column) => ({ type: 'groupby', groupssrc: chart.reference(column), facet: true })),
    ...(animate ? [{ type: 'groupby', groupssrc: chart.reference(animate), animate: true }] : []),
    ...(groupssrc
      ? [
          {
            type: 'groupby',
            groupssrc,
            top: top === undefined ? TOP_SERIES : top + 1,
            other,
            ...(isOne && { style }),
            ...((type === 'bump' || type === 'slope') && { drop: true, of: options.by }),
            ...(isSeriesOrder && { order: columnNames(order) }),
          },
        ]
      : []),
    ...(styled && !isOne
      ? [{ type: 'groupby', groupssrc: styled, style, hue: 'kept', top: MAX_STYLES, other }]
      : []),
    ...(func && !isCells
      ? [{ type: 'aggregate', groups, aggregations: aggregationsOf(options, target, func) }]
      : []),
    ...(func && isCells ? [{ type: 'cells', func }] : []),
    // Lines go from point to point, so the points of each series are in the order of the axis.
    ...(type === 'waterfall' && sort === undefined && x?.type !== 'text'
      ? [{ type: 'sort', target: 'x' }]
      : []),
    ...((groupssrc || styled || facets.length > 0 || func || isUnsorted) &&
    sort === undefined &&
    hasTrait(type, 'joined')
      ? [{ type: 'sort', target: 'x' }]
      : []),
    ...ordered,
    ...(largest !== undefined && !groupssrc
      ? [
          {
            type: 'top',
            count: largest,
            target,
            labels: groups,
            other: hasTrait(type, 'slices'),
            of: x?.name,
          },
        ]
      : []),
    ...(trend ? [trendOf(trend, options)] : []),
  ]
  return transforms.length > 0 ? transforms : undefined
}

/** What is computed of the rows of a point: its value, its color and its size. */
function aggregationsOf({ color, size }: ChartOptions, target: string, func: string): object[] {
  const targets = [target, ...(color ? ['marker.color'] : []), ...(size ? ['marker.size'] : [])]
  return targets.map((one) => ({ target: one, func, empty: 'none' }))
}

function trendOf(trend: string, { logX, logY }: ChartOptions): object {
  const window = trendWindow(trend)
  const method = window === undefined ? 'linear' : 'mean'
  return { type: 'trend', method, window, ...(logX && { logX }), ...(logY && { logY }) }
}
