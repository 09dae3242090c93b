import { isMissing, listOf } from '../../charts/figure/lists.ts'
import { colorsOf } from './colors.ts'
import {
  type Attributes,
  type Draft,
  hasOnePlot,
  isNarrow,
  shortenedApart,
  TEXT_PIXELS,
  widthOf,
} from './draft.ts'
import { annotate } from './headings.ts'

/** Lines that have their names at their ends, if these have room. More have a legend. */
const MOST_NAMED = 12
/** Height of a name, and the part of the height that all names can have. */
const NAME_PIXELS = 17
const NAMES_HEIGHT = 0.6
/** Part of the width that the names can have. */
const NAMES_SHARE = 0.28
/** Lines whose names are rather cut than in a legend. */
const FEW_NAMED = 4
/** Room between a line and its name, in pixels. */
const GAP_PIXELS = 6
/** Points of a scatter that begin to cover each other, and that do so everywhere. */
const MANY_POINTS = 300
const DENSE_POINTS = 3000

/** The annotation that names a line at its end. */
export const END = 'gridline-end'

/** Types whose traces have entries in a legend. */
const IN_LEGENDS = /^(?:scatter|bar|box|violin|histogram$|funnel$|waterfall$)/

/** Several series have a legend, unless the figure says otherwise. */
export function decideLegend({ data, layout }: Draft): void {
  const shown = data.filter(
    ({ type = 'scatter', showlegend, visible }) =>
      IN_LEGENDS.test(type) && showlegend !== false && visible !== false,
  )
  if (shown.length > 1) layout.showlegend ??= true
  // plotly.js counts those that are in no legend, too.
  else if (data.length > 1 && shown.length === 1) layout.showlegend ??= false
}

/** Puts the names of a few lines at their ends, in place of a legend. */
export function nameLines(draft: Draft): void {
  const { data, layout, view } = draft
  if (layout.meta.chart === 'slope') {
    const labels = new Set(data.flatMap(({ x }) => [...listOf(x)]))
    // Moments are in the order of time, whatever the rows are.
    const { columns = [], options = {} }: Attributes = layout.meta.spec ?? {}
    const isText = columns.some(({ name, type }: Attributes) => name === options.x && type === 'text')
    const inTime = [...labels].sort((a, b) => ((a as number) < (b as number) ? -1 : 1))
    if (!isText && layout.xaxis?.categoryorder === undefined)
      layout.xaxis = { ...layout.xaxis, categoryorder: 'array', categoryarray: inTime }
    // On a phone, half of the first and last label has room inside.
    const room = isNarrow(view) ? 0.3 : 0.1
    layout.xaxis = { range: [-room, labels.size - 1 + (isNarrow(view) ? room : 0.02)], ...layout.xaxis }
  }
  if (layout.showlegend !== true || layout.legend !== undefined || isNarrow(view) || !hasOnePlot(draft))
    return
  const lines = data.filter(({ visible, showlegend }) => visible !== false && showlegend !== false)
  const most = Math.min(MOST_NAMED, Math.floor((view.height * NAMES_HEIGHT) / NAME_PIXELS))
  const least = layout.meta.highlight === undefined ? 2 : 1
  const isStack = lines.every(isArea)
  if (lines.length < least || lines.length > most || !(isStack || lines.every(isLine))) return
  const isLog = layout.yaxis?.type === 'log'
  const ends = isStack ? middlesOf(lines, layout) : lines.map((line) => endOf(line, isLog))
  if (ends.some((end) => end === undefined) || layout.yaxis?.range !== undefined) return
  const early = isStack ? [] : earlyEnds(lines, layout)
  const given = lines.map(({ name }) => String(name ?? ''))
  const names = shortenedApart(given, view.width * NAMES_SHARE)
  const isWhole = names.every((name, k) => name === given[k])
  if (!isWhole && lines.length > FEW_NAMED) return
  layout.showlegend = false
  draft.right = Math.max(draft.right, Math.max(...names.map((name) => widthOf(name))) + GAP_PIXELS + 12)
  const colors = colorsOf(draft)
  for (const [k, name] of names.entries()) {
    const trace = lines[k]
    const color = trace.line?.color ?? trace.marker?.color ?? colors[data.indexOf(trace) % colors.length]
    annotate(layout, {
      name: END,
      text: name,
      ...(early[k] === undefined ? { xref: 'paper', x: 1 } : { xref: 'x', x: early[k] }),
      xanchor: 'left',
      xshift: GAP_PIXELS,
      yref: 'y',
      y: isLog ? Math.log10(ends[k] as number) : ends[k],
      yanchor: 'middle',
      font: { color, size: TEXT_PIXELS },
    })
  }
}

function isLine({ type = 'scatter', mode, stackgroup, fill, xaxis, yaxis }: Attributes): boolean {
  const isScatter = type === 'scatter' || type === 'scattergl'
  return (
    isScatter &&
    String(mode).includes('lines') &&
    !stackgroup &&
    (!fill || fill === 'none') &&
    !xaxis &&
    !yaxis
  )
}

function isArea({ stackgroup, xaxis, yaxis }: Attributes): boolean {
  return stackgroup !== undefined && !xaxis && !yaxis
}

/** The middles of stacked areas at the end of the last of them. */
function middlesOf(areas: readonly Attributes[], layout: Attributes): (number | undefined)[] {
  const last = areas
    .map(({ x }) => [...listOf(x)].at(-1))
    .reduce((a, b) => ((b as number) > (a as number) ? b : a))
  const sizes = areas.map(({ x, y }) => Number(listOf(y)[[...listOf(x)].lastIndexOf(last)]) || 0)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const isShare = areas.some(({ groupnorm }) => groupnorm === 'percent')
  const scale = isShare ? 100 / (total || 1) : 1
  let from = layout.meta.isCentered === true ? -total / 2 : 0
  return sizes.map((size) => {
    const middle = (from + size / 2) * scale
    from += size
    return middle
  })
}

/** Part of the extent of a chart beyond which a line ends with it. */
const END_SHARE = 0.97

/** Where lines end that end before others do; undefined for those that end with the chart. */
function earlyEnds(lines: readonly Attributes[], layout: Attributes): unknown[] {
  const { type } = layout.xaxis ?? {}
  const labels = type === 'category' ? [...new Set(lines.flatMap(({ x }) => [...listOf(x)]))] : []
  const order: unknown[] = Array.isArray(layout.xaxis?.categoryarray) ? layout.xaxis.categoryarray : labels
  const placeOf = (x: unknown): number =>
    type === 'category' ? order.indexOf(x) : typeof x === 'number' ? x : Date.parse(String(x))
  const ends = lines.map(({ x, y }) => {
    const rows = [...listOf(x)].filter((_, k) => !isMissing(listOf(y)[k]))
    return rows.reduce(
      (last, one) => (last === undefined || placeOf(one) > placeOf(last) ? one : last),
      undefined,
    )
  })
  const places = lines.flatMap(({ x }) => [...listOf(x)].map(placeOf)).filter(Number.isFinite)
  const least = places.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const most = places.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  return ends.map((end) => {
    const share = (placeOf(end) - least) / (most - least || 1)
    if (!(share < END_SHARE)) return undefined
    return type === 'log' ? Math.log10(Number(end)) : type === 'category' ? placeOf(end) : end
  })
}

/** The last value of a line that is drawn. */
function endOf({ y }: Attributes, isLog: boolean): number | undefined {
  const values = listOf(y)
  for (let k = values.length - 1; k >= 0; k--) {
    const value = values[k]
    if (typeof value === 'number' && Number.isFinite(value) && (!isLog || value > 0)) return value
  }
  return undefined
}

/** Stacked areas with values below zero would cross each other: they are drawn as lines. */
export function unstackNegative({ data, remarks }: Draft): void {
  const isNegative = ({ stackgroup, y }: Attributes): boolean =>
    stackgroup !== undefined && [...listOf(y)].some((value) => typeof value === 'number' && value < 0)
  if (!data.some(isNegative)) return
  remarks.push('Areas with values below zero are drawn as lines, not stacked')
  for (const [k, { stackgroup, groupnorm: _, ...trace }] of data.entries())
    data[k] = stackgroup === undefined ? { ...trace } : { ...trace, fill: 'none' }
}

/** Diameter of a point that no line reaches, in pixels. */
const LONE_PIXELS = 7

/** Points of lines and areas that have no neighbor, which a line cannot show, are drawn as points. */
export function markLonePoints({ data }: Draft): void {
  for (const [k, trace] of data.entries()) {
    const { type = 'scatter', mode, x, y, connectgaps } = trace
    if (!/^scatter(?:gl)?$/.test(type) || !/^lines(?:\+text)?$/.test(mode) || connectgaps === true) continue
    const [along, values] = [listOf(x), listOf(y)]
    const isThere = (at: number): boolean =>
      at >= 0 && at < values.length && !isMissing(values[at]) && (along.length === 0 || !isMissing(along[at]))
    const sizes = Array.from(values, (_, at) =>
      isThere(at) && !isThere(at - 1) && !isThere(at + 1) ? LONE_PIXELS : 0,
    )
    if (!sizes.some((size) => size > 0)) continue
    const color = trace.line?.color
    data[k] = {
      ...trace,
      mode: `${mode}+markers`,
      marker: { ...(color !== undefined && { color }), ...trace.marker, size: sizes, opacity: 1 },
    }
  }
}

/** Points are transparent where they cover each other, and smaller where they are many. */
export function fadePoints({ data }: Draft): void {
  const points = data.filter(
    ({ type, mode }) => (type ?? 'scatter').startsWith('scatter') && mode === 'markers',
  )
  const count = points.reduce((sum, { x, y }) => sum + Math.max(listOf(x).length, listOf(y).length), 0)
  if (count < MANY_POINTS) return
  const isDense = count >= DENSE_POINTS
  for (const [k, trace] of data.entries()) {
    if (!points.includes(trace)) continue
    const { marker = {} } = trace
    data[k] = {
      ...trace,
      marker: {
        opacity: isDense ? 0.35 : 0.6,
        ...(marker.sizesrc === undefined &&
          marker.size === undefined && { size: marker.symbol ? 7 : isDense ? 4 : 5 }),
        ...marker,
      },
    }
  }
}

/** What the pointer shows: all values at one x of lines, one bar, one point. */
export function hoverOf({ data, layout }: Draft): void {
  if (layout.hovermode !== undefined || data.length === 0) return
  if (
    data.every(({ type = 'scatter', mode }) => type.startsWith('scatter') && String(mode).includes('lines'))
  )
    layout.hovermode = 'x unified'
  else layout.hovermode = 'closest'
}
