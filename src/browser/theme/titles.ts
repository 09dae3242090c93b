// Title, legend, axis titles and footer of charts.
import { SOURCE_NAME } from '../../charts/figure/shared-names.ts'
import {
  type Attributes,
  type Draft,
  edgePixelsOf,
  isNarrow,
  measureText,
  shortenDistinct,
  TEXT_PIXELS,
  titleTextOf,
  wrapText,
} from './arrangement.ts'
import { colorwayOf } from './colors.ts'
import { logoHeightOf, logoWidthOf } from './logo.ts'

const TITLE_SIZE_PIXELS = 18
const TITLE_LINE_PIXELS = 24
const CAPITAL_PIXELS = 13
const SUBTITLE_SIZE_PIXELS = 14
const SUBTITLE_LINE_PIXELS = 20
const LEGEND_LINE_PIXELS = 24
/** Width of a legend symbol with the space around it, in pixels. */
const SYMBOL_PIXELS = 52
/** Space before the first legend symbol, in pixels. */
const LEGEND_INSET_PIXELS = 8
const AXIS_TITLE_PIXELS = 22
export const SOURCE_PIXELS = 24
/** Name of the annotation with the title of the y axis. */
export const Y_TITLE = 'gridline-y-title'
/** Name of the annotations with the titles of facets. */
export const FACET_TITLE = 'gridline-facet'

/** Places title and subtitle on the left, wrapped to the width. */
export function placeTitle({ layout, view, above }: Draft): void {
  const edge = edgePixelsOf(view)
  const maxWidth = view.width - 2 * edge - logoWidthOf(layout.template)
  const title = titleTextOf(layout.title)
  const source: Attributes = typeof layout.title === 'object' && layout.title !== null ? layout.title : {}
  const lines = title === undefined ? [] : wrapText(title, maxWidth, TITLE_SIZE_PIXELS, 600)
  const subtitle = titleTextOf(source.subtitle)
  const subtitleLines = subtitle === undefined ? [] : wrapText(subtitle, maxWidth, SUBTITLE_SIZE_PIXELS)
  if (lines.length === 0 && subtitleLines.length === 0) {
    above.title = edge + logoHeightOf(layout.template)
    return
  }
  layout.title = {
    ...source,
    text: lines.length === 0 ? ' ' : lines.join('<br>'),
    // plotly.js places a title of several lines too high, by a capital letter.
    pad: { l: edge, t: edge - 2 + (lines.length > 1 ? CAPITAL_PIXELS : 0), ...source.pad },
    ...(subtitleLines.length > 0 && { subtitle: { ...source.subtitle, text: subtitleLines.join('<br>') } }),
  }
  above.title =
    edge +
    lines.length * TITLE_LINE_PIXELS +
    subtitleLines.length * SUBTITLE_LINE_PIXELS +
    (subtitleLines.length > 0 ? 18 : 8)
}

/** Maximum share of the height for a legend above the plot, and the number of rows always allowed. */
const MAX_LEGEND_SHARE = 0.25
const MIN_LEGEND_ROWS = 4
/** Maximum number of legend names that are measured; more never fit. */
const MAX_MEASURED_NAMES = 200

/** Places a visible legend below the title, unless the figure has placed it. */
export function placeLegend(draft: Draft): void {
  const { data, layout, view, above } = draft
  if (layout.showlegend !== true || !isUnplaced(layout.legend)) return
  shortenNames(draft)
  const names = data.flatMap((trace) =>
    trace.showlegend === false || trace.visible === false
      ? []
      : trace.type === 'pie' || trace.type === 'funnelarea'
        ? [...new Set([...(trace.labels ?? [])].map(String))]
        : [String(trace.name ?? '')],
  )
  if (names.length === 0) return
  const edge = edgePixelsOf(view)
  const available = view.width - 2 * edge
  let rows = 1
  let x = 0
  // In several rows, plotly.js makes all entries as wide as the widest one.
  const widths = names.slice(0, MAX_MEASURED_NAMES).map((name) => measureText(name) + SYMBOL_PIXELS)
  const widest = Math.max(...widths)
  const all = widths.reduce((sum, width) => sum + width, 0)
  if (all > available)
    for (const _ of widths) {
      if (x > 0 && x + widest > available) {
        rows++
        x = 0
      }
      x += widest
    }
  if (rows > MIN_LEGEND_ROWS && rows * LEGEND_LINE_PIXELS > view.height * MAX_LEGEND_SHARE) {
    // A long legend is beside the plot, or below it on narrow screens, where it scrolls.
    if (isNarrow(view)) placeLegendBelow(draft, rows)
    else shortenNames(draft, view.width * MAX_NAMES_SHARE)
    // An image cannot scroll, so it grows with its legend if allowed.
    draft.height = Math.max(draft.height, above.title + names.length * ENTRY_PIXELS + AXIS_PIXELS)
    if (!isNarrow(view))
      layout.legend = { x: 1.02, xanchor: 'left', y: 1, traceorder: 'normal', ...layout.legend }
    return
  }
  above.legend = rows * LEGEND_LINE_PIXELS
  layout.legend = {
    orientation: 'h',
    xref: 'container',
    x: (edge - LEGEND_INSET_PIXELS) / view.width,
    xanchor: 'left',
    yref: 'container',
    y: 1 - (above.title - 4) / view.height,
    yanchor: 'top',
    traceorder: 'normal',
    ...layout.legend,
  }
}

/** Height of an entry in a legend beside the plot, and of the axis below it, in pixels. */
const ENTRY_PIXELS = 19.5
const AXIS_PIXELS = 110
/** Maximum share of the width for the names in a legend beside the plot. */
const MAX_NAMES_SHARE = 0.3

/** Shortens names that are wider than `maxWidth` pixels, so that all stay distinct. */
function shortenNames(
  { data, view }: Draft,
  maxWidth = view.width - 2 * edgePixelsOf(view) - SYMBOL_PIXELS,
): void {
  const names = [...new Set(data.map(({ name }) => String(name ?? '')))]
  if (!names.some((name) => measureText(name) > maxWidth)) return
  const texts = shortenDistinct(names, maxWidth)
  for (const [k, trace] of data.entries()) {
    const text = texts[names.indexOf(String(trace.name ?? ''))]
    if (trace.name !== undefined && text !== trace.name) data[k] = { ...trace, name: text }
  }
}

/** Places the legend below the plot on narrow screens. It scrolls if the chart cannot grow. */
function placeLegendBelow(draft: Draft, rows: number): void {
  const { layout, view } = draft
  const fullHeight = rows * LEGEND_LINE_PIXELS
  const maxHeight =
    view.maxHeight === undefined ? view.height * MAX_LEGEND_BELOW_SHARE : MAX_LEGEND_BELOW_PIXELS
  draft.below = Math.min(fullHeight, maxHeight)
  // The legend does not shrink the plot.
  draft.height = Math.max(draft.height, PLOT_PIXELS + draft.below)
  const edge = edgePixelsOf(view)
  layout.legend = {
    orientation: 'h',
    ...{ xref: 'container', x: (edge - LEGEND_INSET_PIXELS) / view.width, xanchor: 'left' },
    ...{ yref: 'container', y: edge / view.height, yanchor: 'bottom' },
    maxheight: draft.below,
    traceorder: 'normal',
    ...layout.legend,
  }
}

/** Height of a plot with its title and its axis, in pixels. */
const PLOT_PIXELS = 420
/** Maximum height of a legend below the plot: share of the height, or pixels if the chart can grow. */
const MAX_LEGEND_BELOW_SHARE = 0.5
const MAX_LEGEND_BELOW_PIXELS = 2400

/** Returns whether the figure has not placed the legend. */
function isUnplaced(legend: unknown): boolean {
  if (typeof legend !== 'object' || legend === null) return true
  return !['x', 'y', 'orientation', 'xref', 'yref'].some((key) => key in legend)
}

/** Writes the y axis title, and the subject of the color bar, above the plot. */
export function placeAxisTitle(draft: Draft): void {
  const { layout, view, above, barTitle: colorbarSubject } = draft
  if (listOfAnnotations(layout).some(({ name }) => name === FACET_TITLE)) return
  const axis = titleTextOf(layout.yaxis?.title)
  if (axis !== undefined)
    layout.yaxis = { ...layout.yaxis, title: { ...titleObjectOf(layout.yaxis.title), text: '' } }
  // Labels of horizontal bars need no title.
  const isLabels = layout.yaxis?.type === 'category' || layout.yaxis?.type === 'multicategory'
  const isScaleNamed =
    colorbarSubject === undefined ||
    (titleTextOf(layout.title) ?? '').toLowerCase().includes(colorbarSubject.toLowerCase())
  // A default title that begins with the axis title makes it redundant.
  const title = titleTextOf(layout.title)
  const isRepeated =
    axis !== undefined &&
    title !== undefined &&
    title === layout.meta?.title &&
    new RegExp(`^${escapePattern(axis)}(?: by | per |$)`, 'i').test(title.replaceAll('<br>', ' '))
  const texts = [
    isLabels || isRepeated ? undefined : axis,
    isScaleNamed ? undefined : `color: ${colorbarSubject}`,
  ].filter(Boolean)
  const second = titleTextOf(layout.yaxis2?.title) || undefined
  if (texts.length === 0 && second === undefined) return
  const position = { xref: 'paper', yref: 'paper', y: 1, yanchor: 'bottom', yshift: above.axis + 4 }
  const available = view.width - 2 * edgePixelsOf(view) - (isNarrow(view) ? 0 : 40)
  const secondWidth = second === undefined ? 0 : Math.min(measureText(second) + 16, available / 2)
  if (texts.length > 0) {
    const [line] = wrapText(texts.join(' · '), available - secondWidth, TEXT_PIXELS)
    annotate(layout, { ...position, name: Y_TITLE, text: line, x: 0, xanchor: 'left' })
  }
  if (second !== undefined) {
    layout.yaxis2 = { ...layout.yaxis2, title: { ...titleObjectOf(layout.yaxis2.title), text: '' } }
    const [line] = wrapText(second, secondWidth, TEXT_PIXELS)
    const color = findSecondAxisColor(draft)
    const font = color === undefined ? {} : { font: { color } }
    if (color !== undefined) layout.yaxis2.tickfont = { color, ...layout.yaxis2.tickfont }
    annotate(layout, { ...position, ...font, name: 'gridline-y2-title', text: line, x: 1, xanchor: 'right' })
  }
  above.axis += AXIS_TITLE_PIXELS
}

/** Returns the color of the second axis if it has a single series; otherwise undefined. */
function findSecondAxisColor(draft: Draft): string | undefined {
  const { data } = draft
  const secondTraces = data.filter(({ yaxis }) => yaxis === 'y2')
  if (secondTraces.length !== 1) return undefined
  const colors = colorwayOf(draft)
  return secondTraces[0].line?.color ?? colors[data.indexOf(secondTraces[0]) % colors.length]
}

/** Escapes a text for a regular expression. */
function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

function titleObjectOf(title: unknown): Attributes {
  return typeof title === 'object' && title !== null ? title : {}
}

/** Adds the footer: source, omitted data and remarks. `measuredChanges` positions it after drawing. */
export function placeFooter(draft: Draft): void {
  const { layout, view, omitted, remarks } = draft
  const sourceNote = listOfAnnotations(layout).find(({ name }) => name === SOURCE_NAME)
  const remarkText = [...(omitted.length > 0 ? [`Not shown: ${omitted.join(', ')}`] : []), ...remarks].join(
    '. ',
  )
  if (!sourceNote && (remarkText === '' || view.height < MIN_FOOTER_CHART_PIXELS)) return
  const maxWidth = view.width - 2 * edgePixelsOf(view)
  const lines = [
    ...wrapText(String(sourceNote?.text ?? ''), maxWidth, 12).slice(0, 1),
    ...wrapText(remarkText, maxWidth, 12).slice(0, MAX_FOOTER_LINES),
  ]
  liftAboveFooter(draft, (SOURCE_PIXELS + (lines.length - 1) * FOOTER_LINE_PIXELS) / view.height)
  layout.annotations = listOfAnnotations(layout).filter((annotation) => annotation !== sourceNote)
  annotate(layout, {
    ...sourceNote,
    ...{ name: SOURCE_NAME, xref: 'paper', yref: 'paper', x: 0, y: 0, xanchor: 'left', yanchor: 'bottom' },
    font: { size: 12, ...sourceNote?.font },
    text: lines.join('<br>'),
  })
}

/** Returns whether a color bar is at the lower edge of the chart. */
export function hasColorbarBelow(data: readonly Attributes[]): boolean {
  return data.some((trace) => [trace, trace.marker, trace.line].some((holder) => isBelow(holder?.colorbar)))
}

/** Returns whether a legend or color bar is at the lower edge of the chart. */
export function isBelow(holder: Attributes | undefined): boolean {
  return holder?.yref === 'container' && holder.yanchor === 'bottom'
}

/** Moves legend and color bars at the lower edge above the footer, by a share of the height. */
function liftAboveFooter({ data, layout }: Draft, share: number): void {
  const lift = (holder: Attributes): Attributes => ({ ...holder, y: holder.y + share })
  if (isBelow(layout.legend)) layout.legend = lift(layout.legend)
  if (isBelow(layout.coloraxis?.colorbar))
    layout.coloraxis = { ...layout.coloraxis, colorbar: lift(layout.coloraxis.colorbar) }
  for (const [k, trace] of data.entries()) {
    if (isBelow(trace.colorbar)) data[k] = { ...trace, colorbar: lift(trace.colorbar) }
    for (const path of ['marker', 'line'])
      if (isBelow(trace[path]?.colorbar))
        data[k] = { ...data[k], [path]: { ...trace[path], colorbar: lift(trace[path].colorbar) } }
  }
}

/** Maximum number of lines of omitted data and remarks. */
const MAX_FOOTER_LINES = 3
/** Height of each additional footer line, in pixels. */
export const FOOTER_LINE_PIXELS = 16
/** Minimum height of a chart that lists omitted data, in pixels. */
const MIN_FOOTER_CHART_PIXELS = 160

/** Returns the annotations of a layout; an empty list if there are none. */
export function listOfAnnotations(layout: Attributes): Attributes[] {
  return Array.isArray(layout.annotations) ? layout.annotations : []
}

/** Adds an annotation without an arrow. */
export function annotate(layout: Attributes, text: Attributes): void {
  layout.annotations = [...listOfAnnotations(layout), { showarrow: false, align: 'left', ...text }]
}
