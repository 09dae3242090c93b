import { closest, hintWith } from '../contract/closest.ts'
import { Problem } from '../contract/errors.ts'
import { parseSort } from '../query/index.ts'
import { columnNames, typeName } from './columns.ts'
import { type ChartOptions, type Column, TOP_SERIES } from './options.ts'
import { type ChartType, hasTrait } from './types.ts'

/** Slices that a pie has, with one more for all others, unless --top says otherwise. */
export const PIE_SLICES = 6

/** Whether values are parts of a whole: the smallest of them can be put together. */
export function isWhole(aggregate: ChartOptions['aggregate']): boolean {
  return aggregate === undefined || aggregate === 'sum' || aggregate === 'count'
}

/** References to the columns whose values become series, small charts, frames, and looks of points or lines. */
interface Groupings {
  by: string | undefined
  facets: readonly string[]
  animate: string | undefined
  style: 'symbol' | 'dash' | undefined
  styled: string | undefined
}

/** Symbols, and dashes, that are told apart. */
const MOST_STYLES = 6

/** What the service evaluates before the chart is drawn: see docs/api.md#transforms and docs/api.md#own-transforms. */
export function transformsOf(
  type: ChartType,
  { by: groupssrc, facets, animate, style, styled }: Groupings,
  selected: object | undefined,
  options: ChartOptions,
  drawn: { x: Column | undefined; y: Column | undefined },
  isUnsorted: boolean,
): object[] | undefined {
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
    const axis = name === drawn.y?.name ? target : name === drawn.x?.name ? groups : undefined
    return axis ? [{ type: 'order', target: axis, descending }] : []
  })
  // Of one column, each series has a color and a look of its own.
  const isOne = styled !== undefined && styled === groupssrc
  const { order } = options
  const isSeriesOrder = order !== undefined && drawn.x?.type !== 'text' && drawn.x?.type !== 'boolean'
  const largest = top ?? (hasTrait(type, 'slices') ? PIE_SLICES : undefined)
  const transforms = [
    ...(selected ? [selected] : []),
    ...(zone ? [{ type: 'zone', target: 'x', zone }] : []),
    ...(per ? [{ type: 'per', target: 'x', unit: per }] : []),
    ...facets.map((source) => ({ type: 'groupby', groupssrc: source, facet: true })),
    ...(animate ? [{ type: 'groupby', groupssrc: animate, animate: true }] : []),
    ...(groupssrc
      ? [
          {
            type: 'groupby',
            groupssrc,
            top: top === undefined ? TOP_SERIES : top + 1,
            other,
            ...(isOne && { style }),
            ...(type === 'bump' && { drop: true, of: options.by }),
            ...(isSeriesOrder && { order: columnNames(order) }),
          },
        ]
      : []),
    ...(styled && !isOne
      ? [{ type: 'groupby', groupssrc: styled, style, hue: 'kept', top: MOST_STYLES, other }]
      : []),
    ...(func && !isCells
      ? [{ type: 'aggregate', groups, aggregations: aggregationsOf(options, target, func) }]
      : []),
    ...(func && isCells ? [{ type: 'cells', func }] : []),
    // Lines go from point to point, so the points of each series are in the order of the axis.
    ...(type === 'waterfall' && sort === undefined && drawn.x?.type !== 'text'
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
            of: drawn.x?.name,
          },
        ]
      : []),
    ...(trend ? [trendOf(trend)] : []),
  ]
  return transforms.length > 0 ? transforms : undefined
}

/** What is computed of the rows of a point: its value, its color and its size. */
function aggregationsOf({ color, size }: ChartOptions, target: string, func: string): object[] {
  const targets = [target, ...(color ? ['marker.color'] : []), ...(size ? ['marker.size'] : [])]
  return targets.map((one) => ({ target: one, func, empty: 'none' }))
}

const TREND = /^(?:linear|mean:(\d{1,5}))$/

/** Throws `usage` for a trend that is not known. */
export function assertTrend(trend: string): void {
  const [known, window] = TREND.exec(trend) ?? []
  if (known === undefined || Number(window) < 2)
    throw new Problem('usage', `--trend ${trend}: expected linear or mean:N`, {
      hint: 'mean:7 draws the mean of 7 points.',
    })
}

function trendOf(trend: string): object {
  const window = TREND.exec(trend)?.[1]
  return { type: 'trend', method: window === undefined ? 'linear' : 'mean', window: window && Number(window) }
}

/** Throws `usage` for a zone that is not known, or without times on the x axis. */
export function assertZone(zone: string, x: Column | undefined): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
  } catch {
    throw new Problem('usage', `--zone ${zone}: no time zone has this name`, {
      hint: hintWith(
        closest(zone, Intl.supportedValuesOf('timeZone')),
        'For example: Europe/Oslo, America/New_York or UTC.',
      ),
    })
  }
  if (!x || (x.type !== 'datetime' && x.type !== 'empty'))
    throw new Problem('usage', '--zone needs --x with a column of times')
}

/** Throws `usage` for --per without dates on the x axis, or without --aggregate. */
export function assertPeriods(x: Column | undefined, { aggregate, x: name }: ChartOptions): void {
  if (!x || (x.type !== 'date' && x.type !== 'datetime' && x.type !== 'empty'))
    throw new Problem(
      'usage',
      x
        ? `--per needs dates on the x axis; the column ${name} holds ${typeName(x.type)} values`
        : '--per needs --x with a column of dates',
      {
        hint: x
          ? `Read the file with --column ${JSON.stringify(`${name}:date`)} if they are dates.`
          : undefined,
      },
    )
  if (!aggregate)
    throw new Problem('usage', '--per puts several rows together, so it needs --aggregate', {
      hint: 'For example: --per month --aggregate sum',
    })
}
