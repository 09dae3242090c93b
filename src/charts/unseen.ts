// What a chart does not show, as the line below it says: see docs/guide.md#themes.
import { counted } from '../contract/closest.ts'
import { type Attributes, isObject } from './figure/figure.ts'
import { isMissing, listOf, withRows } from './figure/lists.ts'
import { columnNames, hasLabels } from './spec/column-names.ts'
import { spoken } from './spec/words.ts'

interface Figure {
  data: readonly Attributes[]
  layout: Attributes
}

/** Lists of which each row must have a value, and what a row without one lacks. */
type Needed = [lists: unknown[], what: string][]

/** Whether an axis has labels. A slope has the moments of its dates or numbers as labels. */
function isLabeled(layout: Attributes, letter: 'x' | 'y', id: unknown): boolean {
  if (layout[`${letter}axis${String(id ?? letter).slice(1)}`]?.type !== 'category') return false
  const { columns = [], options = {} }: Attributes = layout.meta?.spec ?? {}
  const x =
    layout.meta?.chart === 'slope' ? columns.find(({ name }: Attributes) => name === options.x) : undefined
  return x === undefined || hasLabels(x)
}

/** What rows of a type need to be drawn. Labels need nothing: rows without one have the label `(none)`. */
function neededBy(trace: Attributes, layout: Attributes): Needed {
  const { x, y, color, aggregate }: Record<string, string | undefined> = layout.meta?.spec?.options ?? {}
  const word = (name: unknown, usual: string): string => (typeof name === 'string' ? spoken(name) : usual)
  const isLabels = (letter: 'x' | 'y'): boolean => isLabeled(layout, letter, trace[`${letter}axis`])
  const axis = (letter: 'x' | 'y', name: unknown): Needed =>
    isLabels(letter) ? [] : [[[trace[letter]], word(name, letter)]]
  // A name with a comma is in quotes: then that of the trace is as good.
  const value = word(y !== undefined && !/[",]/.test(y) ? y : trace.name, 'a value')
  const { type = 'scatter', mode } = trace
  // What is computed, or ranked, does not show which rows it is of.
  const isComputed =
    (aggregate !== undefined && !/^(?:count|none)$/.test(aggregate)) ||
    /^(?:bump|slope)$/.test(layout.meta?.chart)
  const computed: Needed = isComputed && listOf(trace.y).length > 0 ? [[[trace.y], value]] : []
  switch (type) {
    case 'candlestick':
    case 'ohlc':
      return [...axis('x', x), [[trace.open, trace.high, trace.low, trace.close], 'all prices']]
    case 'scattergeo':
      return [
        [[trace.lat, trace.lon], 'a place'],
        ...(trace.marker?.sizeref === undefined
          ? []
          : ([[[trace.marker.size], word(layout.meta?.spec?.options?.size, 'size')]] satisfies Needed)),
      ]
    case 'choropleth':
      return [
        [[trace.locations], word(x, 'a place')],
        [[trace.z], value],
      ]
    case 'heatmap':
    case 'contour':
      return Array.isArray(listOf(trace.z)[0])
        ? []
        : [
            ...axis('x', x),
            ...axis('y', y),
            [[trace.z], word(color ?? (layout.meta?.chart === 'calendar' ? y : undefined), 'a value')],
          ]
    case 'histogram2d':
      return [...axis('x', x), ...axis('y', y)]
    case 'histogram':
      return axis('x', trace.name ?? x)
    case 'box':
    case 'violin':
      return [...axis('x', x), [[trace.y], value]]
    case 'scatter3d':
    case 'mesh3d': {
      const { z } = layout.meta?.spec?.options ?? {}
      return [
        [[trace.x], word(x, 'x')],
        [[trace.y], word(y, 'y')],
        [[trace.z], word(z, 'z')],
      ]
    }
    case 'splom':
    case 'parcoords':
      return (Array.isArray(trace.dimensions) ? trace.dimensions : [])
        .filter(isObject)
        .map(({ values, label }: Attributes): Needed[number] => [[values], word(label, 'a value')])
    case 'pie':
      return [[[trace.values], value]]
    case 'scatterpolar':
      return [[[trace.r], value]]
    case 'barpolar': {
      const isDegrees = Array.from(listOf(trace.theta)).some((theta) => typeof theta === 'number')
      return [
        [[trace.r], value],
        ...(isDegrees ? ([[[trace.theta], word(x, 'a direction')]] satisfies Needed) : []),
      ]
    }
    case 'sankey':
      return [
        [
          [trace.link?.source, trace.link?.target, trace.link?.value],
          listOf(trace.link?.value).length > 0 ? 'both ends and a value' : 'both ends',
        ],
      ]
    case 'bar':
      if (layout.meta?.chart === 'dumbbell') return axis('x', x)
      if (listOf(trace.base).length > 0) return [[[trace.base, trace.y], 'both ends'], ...axis('x', x)]
      return [...axis('x', x), ...computed]
    case 'scatter':
    case 'scattergl':
    case 'waterfall': {
      // Between points that are joined, a gap shows what is missing.
      const isPoint = (mode === 'markers' || mode === 'markers+text') && !isLabels('x')
      const angle = word(layout.meta?.spec?.options?.angle, 'a direction')
      const isTurned: Needed = listOf(trace.marker?.angle).length > 0 ? [[[trace.marker.angle], angle]] : []
      const isSized: Needed =
        trace.marker?.sizeref === undefined
          ? []
          : [[[trace.marker.size], word(layout.meta?.spec?.options?.size, 'size')]]
      const isSpread = layout.meta?.chart === 'density' || layout.meta?.chart === 'ecdf'
      return [
        ...axis('x', isSpread ? trace.name : x),
        ...isSized,
        ...(isPoint ? ([[[trace.y], value]] satisfies Needed) : computed),
        ...isTurned,
      ]
    }
    default:
      return []
  }
}

/** How many rows have no place in a chart, and why: `2 rows without date`. Rows without anything at the end are none. */
export function missingIn({ data, layout }: Figure): string[] {
  const most = new Map<string, number>()
  for (const trace of data) {
    if (trace.meta?.isBand === true) continue
    if (trace.type === 'treemap' || trace.type === 'sunburst') countParts(trace, layout, most)
    const needed = neededBy(trace, layout)
    const all = [...needed.flatMap(([lists]) => lists), trace.x, trace.y, trace.z, trace.values, trace.r].map(
      listOf,
    )
    const filled = [...new Set(all)].filter(({ length }) => length > 0)
    let end = Math.max(0, ...filled.map(({ length }) => length))
    if (filled.length > 1) while (end > 0 && filled.every((list) => isMissing(list[end - 1]))) end--
    for (const [lists, what] of needed) {
      const own = lists.map(listOf).filter(({ length }) => length > 0)
      let count = 0
      if (own.length > 0) for (let k = 0; k < end; k++) if (own.some((list) => isMissing(list[k]))) count++
      if (count > 0) most.set(what, Math.max(count, most.get(what) ?? 0))
    }
  }
  return [...most].map(([what, count]) => `${counted(count, 'row')} without ${what}`)
}

/** Parts without parts of their own that have no value. */
function countParts(
  { labels, ids, parents, values }: Attributes,
  layout: Attributes,
  most: Map<string, number>,
): void {
  if (listOf(values).length === 0) return
  const [names, above, sizes] = [
    listOf(listOf(ids).length > 0 ? ids : labels),
    listOf(parents),
    listOf(values),
  ]
  const isParent = new Set(Array.from(above, String))
  const count = Array.from(names).filter(
    (name, k) => isMissing(sizes[k]) && !isParent.has(String(name)),
  ).length
  const y = layout.meta?.spec?.options?.y
  if (count > 0) most.set(typeof y === 'string' ? spoken(y) : 'a value', count)
}

/** Types whose rows have a place on the x axis. */
const PLACED: ReadonlySet<string> = new Set(['scatter', 'scattergl', 'bar', 'waterfall'])

/** A trace without the rows that have no place on an axis of numbers or dates: they are in no line, and on no axis. */
export function placed(trace: Attributes, layout: Attributes): Attributes {
  const { type = 'scatter', x, xaxis = 'x', orientation, meta } = trace
  const isAxis = !isLabeled(layout, 'x', xaxis)
  const values = Array.from(listOf(x))
  if (!PLACED.has(type) || orientation === 'h' || !isAxis || meta?.isBand || !values.some(isMissing))
    return trace
  const rows = [...values.keys()].filter((k) => !isMissing(values[k]))
  return withRows(trace, rows, values.length)
}

/** What a figure does not show, and what its axes cut. Markup is written as it is. */
export function unseenIn({ data, layout }: Figure): { unseen: string[]; remarks: string[] } {
  const { notShown, isCounted, spec } = layout.meta ?? {}
  const unseen = [...Array.from(listOf(notShown), String)]
  if (isCounted !== true) unseen.push(...missingIn({ data, layout }))
  let [unsized, notAbove] = [0, 0]
  const cut = new Map<string, number>()
  for (const trace of data) {
    for (const size of trace.marker?.sizeref === undefined ? [] : Array.from(listOf(trace.marker?.size)))
      if (typeof size === 'number' && size <= 0) unsized++
    for (const letter of ['x', 'y'] as const) {
      const axis = layout[`${letter}axis${String(trace[`${letter}axis`] ?? letter).slice(1)}`]
      // Of a histogram, a bin without values has no bar.
      if (axis?.type === 'log' && !(layout.meta?.chart === 'histogram' && letter === 'y'))
        notAbove += countNotAbove(trace, letter)
      countCut(trace[letter], axis, spec?.options, cut)
    }
  }
  // Each column of --y has all rows.
  const columns = columnNames(String(spec?.options?.y ?? '')).length || 1
  if (unsized > 0) unseen.push(`${counted(Math.ceil(unsized / columns), 'row')} with a size of zero or less`)
  const negative = data.reduce((sum, trace) => sum + negativeParts(trace, layout).length, 0)
  if (negative > 0) unseen.push(`${counted(negative, 'value')} below zero`)
  if (notAbove > 0) unseen.push(`${counted(notAbove, 'value')} not above zero`)
  for (const [where, count] of cut) unseen.push(`${counted(count, 'value')} ${where}`)
  const lost = data.reduce((sum, trace) => sum + regionless(trace), 0)
  if (lost > 0) unseen.push(`${counted(lost, 'place')} not on the map`)
  const colorless = data.reduce(
    (sum, { marker }) =>
      sum + (marker?.showscale === true ? Array.from(listOf(marker.color)).filter(isMissing).length : 0),
    0,
  )
  const start = data.some(isFromZero) && cutEnd(layout, data)
  const zeros = missingInAreas(data, isLabeled(layout, 'x', undefined))
  return {
    unseen,
    remarks: [
      ...(start === false ? [] : [`The axis begins at ${start}, not at zero`]),
      ...(colorless === 0
        ? []
        : [
            `${counted(colorless, 'row')} without ${spoken(String(spec?.options?.color ?? 'a color'))} ${colorless === 1 ? 'is' : 'are'} grey`,
          ]),
      ...(zeros === 0
        ? []
        : [`${counted(zeros, 'missing value')} ${zeros === 1 ? 'is' : 'are'} drawn as zero`]),
    ],
  }
}

/** Values that are not above zero, of rows that have a place on the other axis. */
function countNotAbove(trace: Attributes, letter: 'x' | 'y'): number {
  const [values, others] = [listOf(trace[letter]), listOf(trace[letter === 'x' ? 'y' : 'x'])]
  return Array.from(values).filter(
    (value, k) => typeof value === 'number' && value <= 0 && !(k < others.length && isMissing(others[k])),
  ).length
}

/** Places of a map of own regions that are none of them. */
function regionless({ geojson, featureidkey = 'id', locations, z }: Attributes): number {
  const features: unknown = geojson?.features
  if (!Array.isArray(features) || featureidkey !== 'id') return 0
  const known = new Set(features.map((one) => String(one?.id)))
  return Array.from(listOf(locations)).filter(
    (place, k) => !isMissing(place) && !isMissing(listOf(z)[k]) && !known.has(String(place)),
  ).length
}

/** Where a trace has parts of a whole that are below zero: slices, and shares of stacked bars and areas. */
export function negativeParts(trace: Attributes, layout: Attributes): number[] {
  const isShare = layout.barnorm === 'percent' || trace.groupnorm === 'percent'
  if (trace.type !== 'pie' && !isShare) return []
  const values = Array.from(listOf(trace.type === 'pie' ? trace.values : trace.y))
  return values.flatMap((value, k) => (typeof value === 'number' && value < 0 ? [k] : []))
}

/** Counts values beyond the ends of an axis that --range-x or --range-y sets. */
function countCut(
  values: unknown,
  axis: Attributes | undefined,
  options: Attributes | undefined,
  cut: Map<string, number>,
): void {
  if (!Array.isArray(axis?.range) || axis.type === 'log') return
  const isAsked = [options?.rangeX, options?.rangeY].some((range) => range === axis.range.join(','))
  if (!isAsked) return
  const placeOf = (value: unknown): number =>
    typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN
  const isTurned = placeOf(axis.range[0]) > placeOf(axis.range[1])
  const [low, high] = isTurned ? [...axis.range].reverse() : axis.range
  for (const value of Array.from(listOf(values))) {
    const where =
      placeOf(value) > placeOf(high)
        ? `above ${high}`
        : placeOf(value) < placeOf(low)
          ? `below ${low}`
          : undefined
    if (where !== undefined) cut.set(where, (cut.get(where) ?? 0) + 1)
  }
}

/** Places of stacked areas at which a series has no value: it is drawn as zero there. */
function missingInAreas(data: readonly Attributes[], isLabels: boolean): number {
  const isPlace = (place: unknown): boolean => isLabels || !isMissing(place)
  const areas = data.filter(({ stackgroup, hoverinfo }) => stackgroup !== undefined && hoverinfo !== 'skip')
  if (areas.length < 2) return 0
  const places = new Set(areas.flatMap(({ x }) => Array.from(listOf(x)).filter(isPlace).map(String)))
  return areas.reduce((sum, { x, y }) => {
    const own = new Set(
      Array.from(listOf(x))
        .filter((place, k) => isPlace(place) && !isMissing(listOf(y)[k]))
        .map(String),
    )
    // A series without any value is not drawn.
    return own.size === 0 ? sum : sum + places.size - own.size
  }, 0)
}

/** Types that begin at zero. */
const FROM_ZERO: ReadonlySet<string> = new Set(['bar', 'waterfall', 'funnel'])

function isFromZero({ type = 'scatter', fill, stackgroup, error_y, error_x }: Attributes): boolean {
  const isStem = [error_x, error_y].some(
    (error) => (error?.arrayminus ?? error?.valueminus) !== undefined && error.width === 0,
  )
  return FROM_ZERO.has(type) || isStem || stackgroup !== undefined || fill === 'tozeroy' || fill === 'tozerox'
}

/** The end of the axis of values that is nearest to zero, if zero is not on it; false otherwise. */
function cutEnd(layout: Attributes, data: readonly Attributes[]): number | false {
  const axis = data.some(({ orientation }) => orientation === 'h') ? layout.xaxis : layout.yaxis
  if (axis?.type === 'log' || !Array.isArray(axis?.range)) return false
  const [low, high] = [...axis.range].map(Number).sort((a, b) => a - b)
  return low > 0 ? low : high < 0 ? high : false
}
