// Describes the rows and values that a chart omits, for the line below it: see docs/guide.md#themes.
import { formatCount } from '../contract/message-texts.ts'
import { type Attributes, isObject } from './figure/figure.ts'
import { isMissing, listOf, selectRows } from './figure/lists.ts'
import { describeOtherTexts, dropOtherTexts, hasLabelAxis } from './other-texts.ts'
import { splitAtCommas } from './spec/column-names.ts'
import { humanizeName } from './spec/words.ts'

interface Figure {
  data: readonly Attributes[]
  layout: Attributes
}

/** Lists in which each row needs a value, with the name of what a row without one lacks. */
type RequiredValues = [lists: unknown[], what: string][]

const MAX_LATITUDE_DEGREES = 90

/** Returns the latitudes of a map; null where there is no such place on Earth. Longitudes may count on beyond 360. */
export function listLatitudes({ lat }: Attributes): unknown[] {
  return Array.from(listOf(lat), (value) => (Math.abs(Number(value)) <= MAX_LATITUDE_DEGREES ? value : null))
}

/** Returns what the rows of a trace need to be drawn. Labels are optional: rows without one get `(none)`. */
// One function: a table with a case for each trace type.
function requiredValuesOf(trace: Attributes, layout: Attributes): RequiredValues {
  const { chart, spec }: Attributes = layout.meta ?? {}
  const { x, y, y2, z, color, size, angle, aggregate }: Record<string, string | undefined> =
    spec?.options ?? {}
  const nameOr = (name: unknown, fallback: string): string =>
    typeof name === 'string' ? humanizeName(name) : fallback
  const isLabels = (letter: 'x' | 'y'): boolean => hasLabelAxis(layout, letter, trace[`${letter}axis`])
  const axis = (letter: 'x' | 'y', name: unknown): RequiredValues =>
    isLabels(letter) ? [] : [[[trace[letter]], nameOr(name, letter)]]
  // Several columns, or a quoted name: use the name of the trace.
  const given = trace.yaxis === 'y2' ? y2 : y
  const value = nameOr(given !== undefined && !/[",]/.test(given) ? given : trace.name, 'a value')
  const { type = 'scatter', mode, marker } = trace
  const sized: RequiredValues = marker?.sizeref === undefined ? [] : [[[marker.size], nameOr(size, 'size')]]
  // Computed and ranked values do not tell which rows they came from.
  const isComputed =
    (aggregate !== undefined && !/^(?:count|none)$/.test(aggregate)) || /^(?:bump|slope)$/.test(chart)
  const computed: RequiredValues = isComputed && listOf(trace.y).length > 0 ? [[[trace.y], value]] : []
  switch (type) {
    case 'candlestick':
    case 'ohlc':
      return [...axis('x', x), [[trace.open, trace.high, trace.low, trace.close], 'all prices']]
    case 'scattergeo':
      return [[[listLatitudes(trace), trace.lon], 'a place'], ...sized]
    case 'choropleth':
      return [
        [[trace.locations], nameOr(x, 'a place')],
        [[trace.z], value],
      ]
    case 'heatmap':
    case 'contour':
      return Array.isArray(listOf(trace.z)[0])
        ? []
        : [
            ...axis('x', x),
            ...axis('y', y),
            [[trace.z], nameOr(color ?? (chart === 'calendar' ? y : undefined), 'a value')],
          ]
    case 'histogram2d':
      return [...axis('x', x), ...axis('y', y)]
    case 'histogram':
      return axis('x', trace.name ?? x)
    case 'box':
    case 'violin':
      return [...axis('x', x), [[trace.y], value]]
    case 'scatter3d':
    case 'mesh3d':
      return [
        [[trace.x], nameOr(x, 'x')],
        [[trace.y], nameOr(y, 'y')],
        [[trace.z], nameOr(z, 'z')],
      ]
    case 'splom':
    case 'parcoords':
      return (Array.isArray(trace.dimensions) ? trace.dimensions : [])
        .filter(isObject)
        .map(({ values, label }: Attributes): RequiredValues[number] => [[values], nameOr(label, 'a value')])
    case 'pie':
      return [[[trace.values], value]]
    case 'scatterpolar':
      return [[[trace.r], value]]
    case 'barpolar': {
      const isDegrees = Array.from(listOf(trace.theta)).some((theta) => typeof theta === 'number')
      const turned: RequiredValues = isDegrees ? [[[trace.theta], nameOr(x, 'a direction')]] : []
      return [[[trace.r], value], ...turned]
    }
    case 'sankey':
      return [
        [
          [trace.link?.source, trace.link?.target, trace.link?.value],
          listOf(trace.link?.value).length > 0 ? 'both ends and a value' : 'both ends',
        ],
      ]
    case 'bar':
      if (chart === 'dumbbell') return axis('x', x)
      if (listOf(trace.base).length > 0) return [[[trace.base, trace.y], 'both ends'], ...axis('x', x)]
      return [...axis('x', x), ...computed]
    case 'scatter':
    case 'scattergl':
    case 'waterfall': {
      // A gap in a line already shows a missing value.
      const isPoint = (mode === 'markers' || mode === 'markers+text') && !isLabels('x')
      const isTurned = listOf(marker?.angle).length > 0
      const turned: RequiredValues = isTurned ? [[[marker.angle], nameOr(angle, 'a direction')]] : []
      const points: RequiredValues = isPoint ? [[[trace.y], value]] : computed
      const isSpread = chart === 'density' || chart === 'ecdf'
      return [...axis('x', isSpread ? trace.name : x), ...sized, ...points, ...turned]
    }
    default:
      return []
  }
}

/** Returns how many rows are omitted, and why: `2 rows without date`. Ignores empty rows at the end. */
export function describeMissingRows({ data, layout }: Figure): string[] {
  const countsByReason = new Map<string, number>()
  for (const trace of data) {
    if (trace.meta?.isBand === true) continue
    if (trace.type === 'treemap' || trace.type === 'sunburst')
      countMissingLeaves(trace, layout, countsByReason)
    const needed = requiredValuesOf(trace, layout)
    const lists = [
      ...needed.flatMap(([required]) => required),
      trace.x,
      trace.y,
      trace.z,
      trace.values,
      trace.r,
    ].map(listOf)
    const filled = [...new Set(lists)].filter(({ length }) => length > 0)
    let end = Math.max(0, ...filled.map(({ length }) => length))
    if (filled.length > 1) while (end > 0 && filled.every((list) => isMissing(list[end - 1]))) end--
    for (const [required, what] of needed) {
      const filledLists = required.map(listOf).filter(({ length }) => length > 0)
      let count = 0
      if (filledLists.length > 0)
        for (let k = 0; k < end; k++) if (filledLists.some((list) => isMissing(list[k]))) count++
      if (count > 0) countsByReason.set(what, Math.max(count, countsByReason.get(what) ?? 0))
    }
  }
  return [
    ...[...countsByReason].map(([what, count]) => `${formatCount(count, 'row')} without ${what}`),
    ...describeOtherTexts(data, layout),
  ]
}

/** Counts the leaves of a treemap or sunburst that have no value. */
function countMissingLeaves(
  { labels, ids, parents, values }: Attributes,
  layout: Attributes,
  countsByReason: Map<string, number>,
): void {
  if (listOf(values).length === 0) return
  const [names, parentNames, sizes] = [
    listOf(listOf(ids).length > 0 ? ids : labels),
    listOf(parents),
    listOf(values),
  ]
  const isParent = new Set(Array.from(parentNames, String))
  const count = Array.from(names).filter(
    (name, k) => isMissing(sizes[k]) && !isParent.has(String(name)),
  ).length
  const y = layout.meta?.spec?.options?.y
  if (count > 0) countsByReason.set(typeof y === 'string' ? humanizeName(y) : 'a value', count)
}

/** Trace types whose rows have a position on the x axis. */
const X_AXIS_TYPES: ReadonlySet<string> = new Set(['scatter', 'scattergl', 'bar', 'waterfall'])

/** Returns a trace without rows that lack a position on a numeric or date x axis. */
export function dropUnplacedRows(trace: Attributes, layout: Attributes): Attributes {
  const { type = 'scatter', x, xaxis = 'x', orientation, meta } = trace
  const isAxis = !hasLabelAxis(layout, 'x', xaxis)
  const values = Array.from(listOf(x))
  if (!X_AXIS_TYPES.has(type) || orientation === 'h' || !isAxis || meta?.isBand || !values.some(isMissing))
    return trace
  const rows = [...values.keys()].filter((k) => !isMissing(values[k]))
  return selectRows(trace, rows, values.length)
}

/** Counts the rows that are shown, but have no value for the color scale. */
function countColorless(whole: Attributes, layout: Attributes): number {
  if (whole.marker?.showscale !== true) return 0
  const trace = dropOtherTexts(whole, layout)
  const axes = (['x', 'y'] as const).filter((letter) => !hasLabelAxis(layout, letter, trace[`${letter}axis`]))
  const needed = [
    ...axes.map((letter) => trace[letter]),
    ...requiredValuesOf(trace, layout).flatMap(([lists]) => lists),
  ]
  return Array.from(listOf(trace.marker.color)).filter(
    (color, k) => isMissing(color) && !needed.some((list) => isMissingAt(list, k)),
  ).length
}

/** Returns what a figure omits, and remarks about its axes. Markup is not escaped. */
export function describeOmitted({ data, layout }: Figure): { unseen: string[]; remarks: string[] } {
  const { notShown, isCounted, spec } = layout.meta ?? {}
  const unseen = [...Array.from(listOf(notShown), String)]
  if (isCounted !== true) unseen.push(...describeMissingRows({ data, layout }))
  let [unsized, notAbove] = [0, 0]
  const cut = new Map<string, number>()
  for (const trace of data) {
    for (const size of trace.marker?.sizeref === undefined ? [] : Array.from(listOf(trace.marker?.size)))
      if (typeof size === 'number' && size <= 0) unsized++
    for (const letter of ['x', 'y'] as const) {
      const axis = layout[`${letter}axis${String(trace[`${letter}axis`] ?? letter).slice(1)}`]
      // An empty bin of a histogram is not omitted data.
      if (axis?.type === 'log' && !(layout.meta?.chart === 'histogram' && letter === 'y'))
        notAbove += countNotPositive(trace, letter)
      countOutsideLimits(trace[letter], axis, spec?.options, cut)
    }
  }
  // Each --y column counts every row.
  const columns = splitAtCommas(String(spec?.options?.y ?? '')).length || 1
  if (unsized > 0)
    unseen.push(`${formatCount(Math.ceil(unsized / columns), 'row')} with a size of zero or less`)
  const negative = data.reduce((sum, trace) => sum + findNegativeParts(trace, layout).length, 0)
  if (negative > 0) unseen.push(`${formatCount(negative, 'value')} below zero`)
  if (notAbove > 0) unseen.push(`${formatCount(notAbove, 'value')} not above zero`)
  for (const [where, count] of cut) unseen.push(`${formatCount(count, 'value')} ${where}`)
  const unknownPlaces = data.reduce((sum, trace) => sum + countUnknownRegions(trace), 0)
  if (unknownPlaces > 0) unseen.push(`${formatCount(unknownPlaces, 'place')} not on the map`)
  const colorless = data.reduce((sum, trace) => sum + countColorless(trace, layout), 0)
  const start = data.some(beginsAtZero) && findCutStart(layout, data)
  const zeros = countAreaGaps(data, hasLabelAxis(layout, 'x', undefined))
  return {
    unseen,
    remarks: [
      ...(start === false ? [] : [`The axis begins at ${start}, not at zero`]),
      ...remarkOn(
        colorless,
        'row',
        'grey',
        ` without ${humanizeName(String(spec?.options?.color ?? 'a color'))}`,
      ),
      ...remarkOn(zeros, MISSING, 'drawn as zero'),
      ...remarkOn(countFilledGaps(data), MISSING, 'filled over'),
    ],
  }
}

/** Returns whether a list lacks the value of a row; false for a trace without the list. */
function isMissingAt(list: unknown, row: number): boolean {
  const values = listOf(list)
  return row < values.length && isMissing(values[row])
}

/** Counts values that are not positive, in rows with a value on the other axis. */
function countNotPositive(trace: Attributes, letter: 'x' | 'y'): number {
  const others = trace[letter === 'x' ? 'y' : 'x']
  return Array.from(listOf(trace[letter])).filter(
    (value, k) => typeof value === 'number' && value <= 0 && !isMissingAt(others, k),
  ).length
}

/** Counts locations without a region, in a choropleth with custom regions. */
function countUnknownRegions({ geojson, featureidkey = 'id', locations, z }: Attributes): number {
  const features: unknown = geojson?.features
  if (!Array.isArray(features) || featureidkey !== 'id') return 0
  const ids = new Set(features.map((feature) => String(feature?.id)))
  return Array.from(listOf(locations)).filter(
    (place, k) => !isMissing(place) && !isMissing(listOf(z)[k]) && !ids.has(String(place)),
  ).length
}

/** Returns the attribute with the values of a trace: `values`, or the axis along which its bars grow. */
export function valueKeyOf({ type, orientation }: Attributes): 'values' | 'x' | 'y' {
  return type === 'pie' ? 'values' : orientation === 'h' ? 'x' : 'y'
}

/** Returns the row numbers of negative parts of a whole: pie slices, and shares of stacked and centered bars and areas. */
export function findNegativeParts(trace: Attributes, layout: Attributes): number[] {
  const isCenteredBar = layout.meta?.isCentered === true && trace.type === 'bar'
  const isShare = layout.barnorm === 'percent' || trace.groupnorm === 'percent' || isCenteredBar
  if (trace.type !== 'pie' && !isShare) return []
  const values = Array.from(listOf(trace[valueKeyOf(trace)]))
  return values.flatMap((value, k) => (typeof value === 'number' && value < 0 ? [k] : []))
}

/** Counts values outside the limits that --range-x or --range-y sets, by `above N` and `below N`. */
function countOutsideLimits(
  values: unknown,
  axis: Attributes | undefined,
  options: Attributes | undefined,
  cut: Map<string, number>,
): void {
  if (!Array.isArray(axis?.range) || axis.type === 'log') return
  const isRequested = [options?.rangeX, options?.rangeY].some((range) => range === axis.range.join(','))
  if (!isRequested) return
  const toNumber = (value: unknown): number =>
    typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN
  const isReversed = toNumber(axis.range[0]) > toNumber(axis.range[1])
  const [low, high] = isReversed ? [...axis.range].reverse() : axis.range
  for (const value of Array.from(listOf(values))) {
    const where =
      toNumber(value) > toNumber(high)
        ? `above ${high}`
        : toNumber(value) < toNumber(low)
          ? `below ${low}`
          : undefined
    if (where !== undefined) cut.set(where, (cut.get(where) ?? 0) + 1)
  }
}

/** Returns whether a trace has values below zero: areas of such values cannot be stacked. */
export function hasNegative({ y }: Attributes): boolean {
  return Array.from(listOf(y)).some((value) => (value as number) < 0)
}

/** Counts the positions at which a stacked area has no value: it is drawn as zero there. */
function countAreaGaps(data: readonly Attributes[], isLabels: boolean): number {
  const isPosition = (place: unknown): boolean => isLabels || !isMissing(place)
  const areas = data.filter(({ stackgroup, hoverinfo }) => stackgroup !== undefined && hoverinfo !== 'skip')
  // Areas with values below zero become lines.
  if (areas.length < 2 || areas.some(hasNegative)) return 0
  const places = new Set(areas.flatMap(({ x }) => Array.from(listOf(x)).filter(isPosition).map(String)))
  return areas.reduce((sum, { x, y }) => {
    const positions = new Set(
      Array.from(listOf(x))
        .filter((place, k) => isPosition(place) && !isMissing(listOf(y)[k]))
        .map(String),
    )
    // A series without values is not drawn.
    return positions.size === 0 ? sum : sum + places.size - positions.size
  }, 0)
}

const MISSING = 'missing value'

/** Returns what happens to some values or rows, if there are any. */
function remarkOn(count: number, what: string, how: string, which = ''): string[] {
  return count === 0 ? [] : [`${formatCount(count, what)}${which} ${count === 1 ? 'is' : 'are'} ${how}`]
}

/** Counts the missing values between others of areas that are filled to zero: plotly.js fills across them. */
function countFilledGaps(data: readonly Attributes[]): number {
  return data.reduce((sum, { fill, y }) => {
    const gaps = fill === 'tozeroy' ? Array.from(listOf(y), isMissing) : []
    return sum + gaps.slice(gaps.indexOf(false), gaps.lastIndexOf(false)).filter(Boolean).length
  }, 0)
}

/** Trace types that begin at zero. */
const ZERO_BASED_TYPES: ReadonlySet<string> = new Set(['bar', 'waterfall', 'funnel'])

/** Returns whether a trace begins at zero. */
function beginsAtZero({ type = 'scatter', fill, stackgroup, error_y, error_x }: Attributes): boolean {
  const isStem = [error_x, error_y].some(
    (error) => (error?.arrayminus ?? error?.valueminus) !== undefined && error.width === 0,
  )
  return (
    ZERO_BASED_TYPES.has(type) ||
    isStem ||
    stackgroup !== undefined ||
    fill === 'tozeroy' ||
    fill === 'tozerox'
  )
}

/**
 * Returns the end of the value axis that is nearest to zero; false if the axis includes zero, is logarithmic
 * or has no fixed range.
 */
function findCutStart(layout: Attributes, data: readonly Attributes[]): number | false {
  const axis = data.some(({ orientation }) => orientation === 'h') ? layout.xaxis : layout.yaxis
  if (axis?.type === 'log' || !Array.isArray(axis?.range)) return false
  const [low, high] = [...axis.range].map(Number).sort((a, b) => a - b)
  return low > 0 ? low : high < 0 ? high : false
}
