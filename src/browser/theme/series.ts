// Legends, names at the ends of lines, points and hover mode.
import { isMissing, listOf } from '../../charts/figure/lists.ts'
import {
  type Attributes,
  type Draft,
  hasOnePlot,
  isNarrow,
  measureText,
  shortenDistinct,
  TEXT_PIXELS,
} from './arrangement.ts'
import { colorwayOf } from './colors.ts'
import { annotate } from './titles.ts'

/** Maximum number of lines with names at their ends; more lines use a legend. */
const MAX_NAMED_LINES = 12
/** Height of a name in pixels, and the maximum share of the height for all names. */
const NAME_PIXELS = 17
const MAX_NAMES_HEIGHT_SHARE = 0.6
/** Maximum share of the width for the names. */
const MAX_NAMES_WIDTH_SHARE = 0.28
/** Up to this number of lines, long names are shortened; above it, a legend is used. */
const MAX_SHORTENED_LINES = 4
/** Space between a line and its name, in pixels. */
const GAP_PIXELS = 6
/** Numbers of points above which they are drawn transparent, and smaller. */
const FADE_THRESHOLD_POINTS = 300
const SHRINK_THRESHOLD_POINTS = 3000

/** Name of the annotation with the name of a line at its end. */
export const END_NAME = 'gridline-end'

/** Trace types with legend entries. */
const LEGEND_TYPES = /^(?:scatter|bar|box|violin|histogram$|funnel$|waterfall$)/

/** Shows a legend for several series, unless the figure decides. */
export function decideLegend({ data, layout }: Draft): void {
  const entries = data.filter(
    ({ type = 'scatter', showlegend, visible }) =>
      LEGEND_TYPES.test(type) && showlegend !== false && visible !== false,
  )
  if (entries.length > 1) layout.showlegend ??= true
  // plotly.js also counts traces without a legend entry.
  else if (data.length > 1 && entries.length === 1) layout.showlegend ??= false
}

/** Writes the names of a few lines at their ends, instead of a legend. */
export function nameLines(draft: Draft): void {
  const { layout } = draft
  const lines = listNameableSeries(draft)
  if (!lines.every(isMainAxisLine)) return
  const isLog = layout.yaxis?.type === 'log'
  const ends = lines.map((line) => lastValueOf(line, isLog))
  writeEndNames(draft, lines, ends, findEarlyEnds(lines, layout))
}

/**
 * Returns the visible traces to name at their ends instead of in the legend; none without an automatic legend,
 * in narrow views and with several plots, and for too few or too many traces.
 */
export function listNameableSeries(draft: Draft): Attributes[] {
  const { data, layout, view } = draft
  if (layout.showlegend !== true || layout.legend !== undefined || isNarrow(view) || !hasOnePlot(draft))
    return []
  const lines = data.filter(({ visible, showlegend }) => visible !== false && showlegend !== false)
  const maxLines = Math.min(MAX_NAMED_LINES, Math.floor((view.height * MAX_NAMES_HEIGHT_SHARE) / NAME_PIXELS))
  const minLines = layout.meta.highlight === undefined ? 2 : 1
  return lines.length < minLines || lines.length > maxLines ? [] : lines
}

/** Writes names at the ends of series. `ends`: y values. `early`: x of series that end before others. */
export function writeEndNames(
  draft: Draft,
  lines: readonly Attributes[],
  ends: readonly (number | undefined)[],
  early: readonly unknown[],
): void {
  const { data, layout, view } = draft
  if (lines.length === 0 || ends.some((end) => end === undefined) || layout.yaxis?.range !== undefined) return
  const isLog = layout.yaxis?.type === 'log'
  const fullNames = lines.map(({ name }) => String(name ?? ''))
  const names = shortenDistinct(fullNames, view.width * MAX_NAMES_WIDTH_SHARE)
  const isWhole = names.every((name, k) => name === fullNames[k])
  if (!isWhole && lines.length > MAX_SHORTENED_LINES) return
  layout.showlegend = false
  // Names near zero need no space below it.
  if (!isLog && layout.yaxis?.rangemode === undefined && isNowhereNegative(draft))
    layout.yaxis = { ...layout.yaxis, rangemode: 'nonnegative' }
  draft.right = Math.max(draft.right, Math.max(...names.map((name) => measureText(name))) + GAP_PIXELS + 12)
  const colors = colorwayOf(draft)
  for (const [k, name] of names.entries()) {
    const trace = lines[k]
    const color = trace.line?.color ?? trace.marker?.color ?? colors[data.indexOf(trace) % colors.length]
    annotate(layout, {
      name: END_NAME,
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

/** Returns whether all that is drawn at heights are numbers from zero. */
function isNowhereNegative({ data, layout }: Draft): boolean {
  // Stacks around a middle line are moved below zero later.
  if (listOf(layout.shapes).length > 0 || layout.meta.isCentered === true) return false
  return data.every(({ y, error_y }) => {
    const heights = [...listOf(y)]
    const isFromZero = (height: unknown): boolean =>
      height == null || (typeof height === 'number' && height >= 0)
    return error_y === undefined && heights.length > 0 && heights.every(isFromZero)
  })
}

/** Returns whether a trace is a line on the main axes. */
function isMainAxisLine({ type = 'scatter', mode, stackgroup, fill, xaxis, yaxis }: Attributes): boolean {
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

/** Share of the x range beyond which a line counts as ending with the chart. */
const END_THRESHOLD_SHARE = 0.97

/** Returns the last x of lines that end before the others; undefined for the others. */
function findEarlyEnds(lines: readonly Attributes[], layout: Attributes): unknown[] {
  const { type } = layout.xaxis ?? {}
  const labels = type === 'category' ? [...new Set(lines.flatMap(({ x }) => [...listOf(x)]))] : []
  const order: unknown[] = Array.isArray(layout.xaxis?.categoryarray) ? layout.xaxis.categoryarray : labels
  const indexByLabel = new Map(order.map((label, k) => [label, k]))
  const positionOf = (x: unknown): number =>
    type === 'category' ? (indexByLabel.get(x) ?? -1) : typeof x === 'number' ? x : Date.parse(String(x))
  const ends = lines.map(({ x, y }) => {
    const rows = [...listOf(x)].filter((_, k) => !isMissing(listOf(y)[k]))
    return rows.reduce(
      (last, row) => (last === undefined || positionOf(row) > positionOf(last) ? row : last),
      undefined,
    )
  })
  const positions = lines.flatMap(({ x }) => [...listOf(x)].map(positionOf)).filter(Number.isFinite)
  const low = positions.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const high = positions.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  return ends.map((end) => {
    const share = (positionOf(end) - low) / (high - low || 1)
    if (!(share < END_THRESHOLD_SHARE)) return undefined
    return type === 'log' ? Math.log10(Number(end)) : type === 'category' ? positionOf(end) : end
  })
}

/** Returns the last value of a line that can be drawn. */
function lastValueOf({ y }: Attributes, isLog: boolean): number | undefined {
  const values = listOf(y)
  for (let k = values.length - 1; k >= 0; k--) {
    const value = values[k]
    if (typeof value === 'number' && Number.isFinite(value) && (!isLog || value > 0)) return value
  }
  return undefined
}

/** Diameter of an isolated point, in pixels. */
const LONE_PIXELS = 7

/** Draws isolated points of lines and areas as markers, because a line cannot show them. */
export function markLonePoints({ data }: Draft): void {
  for (const [k, trace] of data.entries()) {
    const { type = 'scatter', mode, x, y, connectgaps } = trace
    if (!/^scatter(?:gl)?$/.test(type) || !/^lines(?:\+text)?$/.test(mode) || connectgaps === true) continue
    const [xs, values] = [listOf(x), withoutTexts(listOf(y))]
    const hasPoint = (at: number): boolean =>
      at >= 0 && at < values.length && !isMissing(values[at]) && (xs.length === 0 || !isMissing(xs[at]))
    const sizes = Array.from(values, (_, at) =>
      hasPoint(at) && !hasPoint(at - 1) && !hasPoint(at + 1) ? LONE_PIXELS : 0,
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

/** Returns values without texts among numbers, which plotly.js leaves out: `n/a` in a column of numbers as texts. */
function withoutTexts(values: ArrayLike<unknown> & Iterable<unknown>): ArrayLike<unknown> {
  const texts = [...values].filter((value): value is string => typeof value === 'string')
  if (texts.length === 0) return values
  const isNumber = (text: string): boolean => text.trim() !== '' && Number.isFinite(Number(text))
  // Otherwise, the axis has labels.
  if (texts.filter(isNumber).length * 2 < texts.length) return values
  return Array.from(values, (value) => (typeof value === 'string' && !isNumber(value) ? null : value))
}

/** Makes many points transparent, and smaller. */
export function fadePoints({ data }: Draft): void {
  const points = data.filter(
    ({ type, mode }) => (type ?? 'scatter').startsWith('scatter') && mode === 'markers',
  )
  const count = points.reduce((sum, { x, y }) => sum + Math.max(listOf(x).length, listOf(y).length), 0)
  if (count < FADE_THRESHOLD_POINTS) return
  const isDense = count >= SHRINK_THRESHOLD_POINTS
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

/** Sets the hover mode: all values at one x for lines, otherwise the closest point. */
export function setHoverMode({ data, layout }: Draft): void {
  if (layout.hovermode !== undefined || data.length === 0) return
  if (
    data.every(({ type = 'scatter', mode }) => type.startsWith('scatter') && String(mode).includes('lines'))
  )
    layout.hovermode = 'x unified'
  else layout.hovermode = 'closest'
}
