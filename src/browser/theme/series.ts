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
const MAX_NAMED = 12
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
  const { layout } = draft
  const lines = namedIn(draft)
  if (!lines.every(isLine)) return
  const isLog = layout.yaxis?.type === 'log'
  const ends = lines.map((line) => endOf(line, isLog))
  nameEnds(draft, lines, ends, earlyEnds(lines, layout))
}

/** The series that can be named at their ends; none if there is no room for their names. */
export function namedIn(draft: Draft): Attributes[] {
  const { data, layout, view } = draft
  if (layout.showlegend !== true || layout.legend !== undefined || isNarrow(view) || !hasOnePlot(draft))
    return []
  const lines = data.filter(({ visible, showlegend }) => visible !== false && showlegend !== false)
  const most = Math.min(MAX_NAMED, Math.floor((view.height * NAMES_HEIGHT) / NAME_PIXELS))
  const least = layout.meta.highlight === undefined ? 2 : 1
  return lines.length < least || lines.length > most ? [] : lines
}

/** Writes the names of series at their ends: `ends` are values of y, `early` where those are that end before the others. */
export function nameEnds(
  draft: Draft,
  lines: readonly Attributes[],
  ends: readonly (number | undefined)[],
  early: readonly unknown[],
): void {
  const { data, layout, view } = draft
  if (lines.length === 0 || ends.some((end) => end === undefined) || layout.yaxis?.range !== undefined) return
  const isLog = layout.yaxis?.type === 'log'
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

/** Part of the extent of a chart beyond which a line ends with it. */
const END_SHARE = 0.97

/** Where lines end that end before others do; undefined for those that end with the chart. */
function earlyEnds(lines: readonly Attributes[], layout: Attributes): unknown[] {
  const { type } = layout.xaxis ?? {}
  const labels = type === 'category' ? [...new Set(lines.flatMap(({ x }) => [...listOf(x)]))] : []
  const order: unknown[] = Array.isArray(layout.xaxis?.categoryarray) ? layout.xaxis.categoryarray : labels
  const at = new Map(order.map((label, k) => [label, k]))
  const placeOf = (x: unknown): number =>
    type === 'category' ? (at.get(x) ?? -1) : typeof x === 'number' ? x : Date.parse(String(x))
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
