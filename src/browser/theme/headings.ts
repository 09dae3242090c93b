import { SOURCE } from '../../charts/figure/names.ts'
import { colorsOf } from './colors.ts'
import {
  type Attributes,
  type Draft,
  edgeOf,
  isNarrow,
  shortenedApart,
  TEXT_PIXELS,
  textOf,
  widthOf,
  wrapped,
} from './draft.ts'
import { logoHeight, logoRoom } from './logo.ts'

const TITLE_SIZE_PIXELS = 18
const TITLE_LINE_PIXELS = 24
const CAPITAL_PIXELS = 13
const SUBTITLE_SIZE_PIXELS = 14
const SUBTITLE_LINE_PIXELS = 20
const LEGEND_LINE_PIXELS = 24
/** Width of the symbol of a legend entry and of the room around it. */
const SYMBOL_PIXELS = 52
/** Room before the first symbol of a legend, in pixels. */
const INSET_PIXELS = 8
const AXIS_TITLE_PIXELS = 22
export const SOURCE_PIXELS = 24
/** The annotation that is the title of the y axis. */
export const Y_TITLE = 'gridline-y-title'
/** The annotation that is the title of a small chart. */
export const FACET = 'gridline-facet'

/** Title and subtitle on the left, in as many lines as they need. */
export function placeTitle({ layout, view, above }: Draft): void {
  const edge = edgeOf(view)
  const most = view.width - 2 * edge - logoRoom(layout.template)
  const title = textOf(layout.title)
  const given: Attributes = typeof layout.title === 'object' && layout.title !== null ? layout.title : {}
  const lines = title === undefined ? [] : wrapped(title, most, TITLE_SIZE_PIXELS, 600)
  const subtitle = textOf(given.subtitle)
  const under = subtitle === undefined ? [] : wrapped(subtitle, most, SUBTITLE_SIZE_PIXELS)
  if (lines.length === 0 && under.length === 0) {
    above.title = edge + logoHeight(layout.template)
    return
  }
  layout.title = {
    ...given,
    text: lines.length === 0 ? ' ' : lines.join('<br>'),
    // plotly.js puts a title of several lines higher, by the height of a capital letter.
    pad: { l: edge, t: edge - 2 + (lines.length > 1 ? CAPITAL_PIXELS : 0), ...given.pad },
    ...(under.length > 0 && { subtitle: { ...given.subtitle, text: under.join('<br>') } }),
  }
  above.title =
    edge +
    lines.length * TITLE_LINE_PIXELS +
    under.length * SUBTITLE_LINE_PIXELS +
    (under.length > 0 ? 18 : 8)
}

/** The part of the height that a legend may have above the plot, and rows that it may have in any case. */
const MAX_LEGEND = 0.25
const MIN_ROWS = 4
/** Names of a legend that are measured: there is no room for more. */
const MAX_MEASURED = 200

/** The legend below the title, from the left, if it is shown and nobody has placed it. */
export function placeLegend(draft: Draft): void {
  const { data, layout, view, above } = draft
  if (layout.showlegend !== true || !isOurs(layout.legend)) return
  shortenNames(draft)
  const names = data.flatMap((trace) =>
    trace.showlegend === false || trace.visible === false
      ? []
      : trace.type === 'pie' || trace.type === 'funnelarea'
        ? [...new Set([...(trace.labels ?? [])].map(String))]
        : [String(trace.name ?? '')],
  )
  if (names.length === 0) return
  const edge = edgeOf(view)
  const most = view.width - 2 * edge
  let rows = 1
  let at = 0
  // Entries of plotly.js are as wide as the widest one if there are several rows.
  const widths = names.slice(0, MAX_MEASURED).map((name) => widthOf(name) + SYMBOL_PIXELS)
  const widest = Math.max(...widths)
  const all = widths.reduce((sum, width) => sum + width, 0)
  if (all > most)
    for (const _ of widths) {
      if (at > 0 && at + widest > most) {
        rows++
        at = 0
      }
      at += widest
    }
  if (rows > MIN_ROWS && rows * LEGEND_LINE_PIXELS > view.height * MAX_LEGEND) {
    // So many names stand beside the plot, or below it on a phone, where one can scroll.
    if (isNarrow(view)) placeBelow(draft, rows)
    else shortenNames(draft, view.width * BESIDE_SHARE)
    // A picture cannot be scrolled: it is as high as its legend, if it may.
    draft.needed = Math.max(draft.needed, above.title + names.length * ENTRY_PIXELS + AXIS_PIXELS)
    if (!isNarrow(view))
      layout.legend = { x: 1.02, xanchor: 'left', y: 1, traceorder: 'normal', ...layout.legend }
    return
  }
  above.legend = rows * LEGEND_LINE_PIXELS
  layout.legend = {
    orientation: 'h',
    xref: 'container',
    x: (edge - INSET_PIXELS) / view.width,
    xanchor: 'left',
    yref: 'container',
    y: 1 - (above.title - 4) / view.height,
    yanchor: 'top',
    traceorder: 'normal',
    ...layout.legend,
  }
}

/** Height of an entry of a legend beside the plot, and of the axis below it, in pixels. */
const ENTRY_PIXELS = 19.5
const AXIS_PIXELS = 110
/** Part of the width that the names of a legend beside the plot can have. */
const BESIDE_SHARE = 0.3

/** Cuts names that are wider than `most`, so that no two become the same text. */
function shortenNames({ data, view }: Draft, most = view.width - 2 * edgeOf(view) - SYMBOL_PIXELS): void {
  const names = [...new Set(data.map(({ name }) => String(name ?? '')))]
  if (!names.some((name) => widthOf(name) > most)) return
  const texts = shortenedApart(names, most)
  for (const [k, trace] of data.entries()) {
    const text = texts[names.indexOf(String(trace.name ?? ''))]
    if (trace.name !== undefined && text !== trace.name) data[k] = { ...trace, name: text }
  }
}

/** The legend below the plot of a phone: all of it if the chart can grow, and else a part that scrolls. */
function placeBelow(draft: Draft, rows: number): void {
  const { layout, view } = draft
  const all = rows * LEGEND_LINE_PIXELS
  const most = view.most === undefined ? view.height * MAX_BELOW : MAX_BELOW_PIXELS
  draft.below = Math.min(all, most)
  // The plot is as high as without it.
  draft.needed = Math.max(draft.needed, PLOT_PIXELS + draft.below)
  const edge = edgeOf(view)
  layout.legend = {
    orientation: 'h',
    ...{ xref: 'container', x: (edge - INSET_PIXELS) / view.width, xanchor: 'left' },
    ...{ yref: 'container', y: edge / view.height, yanchor: 'bottom' },
    maxheight: draft.below,
    traceorder: 'normal',
    ...layout.legend,
  }
}

/** Height of a plot with its title and its axis, in pixels. */
const PLOT_PIXELS = 420
/** Height of a legend below the plot, at most: a part of the height, or pixels of a chart that can grow. */
const MAX_BELOW = 0.5
const MAX_BELOW_PIXELS = 2400

/** Whether the legend is left to us: what is not placed by the figure. */
function isOurs(legend: unknown): boolean {
  if (typeof legend !== 'object' || legend === null) return true
  return !['x', 'y', 'orientation', 'xref', 'yref'].some((key) => key in legend)
}

/** The title of the y axis above the plot, where it is read without turning the head; and what colors show. */
export function placeAxisTitle(draft: Draft): void {
  const { layout, view, above, scale } = draft
  if (listOfAnnotations(layout).some(({ name }) => name === FACET)) return
  const axis = textOf(layout.yaxis?.title)
  if (axis !== undefined)
    layout.yaxis = { ...layout.yaxis, title: { ...titleOf(layout.yaxis.title), text: '' } }
  // Of horizontal bars, the labels say what they are.
  const isLabels = layout.yaxis?.type === 'category' || layout.yaxis?.type === 'multicategory'
  const isSaid =
    scale === undefined || (textOf(layout.title) ?? '').toLowerCase().includes(scale.toLowerCase())
  // A default title that begins with the title of the axis has said it.
  const title = textOf(layout.title)
  const isRepeated =
    axis !== undefined &&
    title !== undefined &&
    title === layout.meta?.title &&
    new RegExp(`^${escaped(axis)}(?: by | per |$)`, 'i').test(title.replaceAll('<br>', ' '))
  const texts = [isLabels || isRepeated ? undefined : axis, isSaid ? undefined : `color: ${scale}`].filter(
    Boolean,
  )
  const second = textOf(layout.yaxis2?.title) || undefined
  if (texts.length === 0 && second === undefined) return
  const place = { xref: 'paper', yref: 'paper', y: 1, yanchor: 'bottom', yshift: above.axis + 4 }
  const room = view.width - 2 * edgeOf(view) - (isNarrow(view) ? 0 : 40)
  const taken = second === undefined ? 0 : Math.min(widthOf(second) + 16, room / 2)
  if (texts.length > 0) {
    const [line] = wrapped(texts.join(' · '), room - taken, TEXT_PIXELS)
    annotate(layout, { ...place, name: Y_TITLE, text: line, x: 0, xanchor: 'left' })
  }
  if (second !== undefined) {
    layout.yaxis2 = { ...layout.yaxis2, title: { ...titleOf(layout.yaxis2.title), text: '' } }
    const [line] = wrapped(second, taken, TEXT_PIXELS)
    const color = secondColor(draft)
    const font = color === undefined ? {} : { font: { color } }
    if (color !== undefined) layout.yaxis2.tickfont = { color, ...layout.yaxis2.tickfont }
    annotate(layout, { ...place, ...font, name: 'gridline-y2-title', text: line, x: 1, xanchor: 'right' })
  }
  above.axis += AXIS_TITLE_PIXELS
}

/** The color of the only series of the second axis. */
function secondColor(draft: Draft): string | undefined {
  const { data } = draft
  const own = data.filter(({ yaxis }) => yaxis === 'y2')
  if (own.length !== 1) return undefined
  const colors = colorsOf(draft)
  return own[0].line?.color ?? colors[data.indexOf(own[0]) % colors.length]
}

/** A text as part of a pattern. */
function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

function titleOf(title: unknown): Attributes {
  return typeof title === 'object' && title !== null ? title : {}
}

/** Adds the footer: the source, then omitted data and remarks. `fitOf` places it once the height of the axis is known. */
export function placeFoot(draft: Draft): void {
  const { layout, view, unseen, remarks } = draft
  const given = listOfAnnotations(layout).find(({ name }) => name === SOURCE)
  const said = [...(unseen.length > 0 ? [`Not shown: ${unseen.join(', ')}`] : []), ...remarks].join('. ')
  if (!given && (said === '' || view.height < MIN_FOOT_PIXELS)) return
  const most = view.width - 2 * edgeOf(view)
  const lines = [
    ...wrapped(String(given?.text ?? ''), most, 12).slice(0, 1),
    ...wrapped(said, most, 12).slice(0, MAX_FOOT_LINES),
  ]
  liftBelow(draft, (SOURCE_PIXELS + (lines.length - 1) * FOOT_LINE_PIXELS) / view.height)
  layout.annotations = listOfAnnotations(layout).filter((one) => one !== given)
  annotate(layout, {
    ...given,
    ...{ name: SOURCE, xref: 'paper', yref: 'paper', x: 0, y: 0, xanchor: 'left', yanchor: 'bottom' },
    font: { size: 12, ...given?.font },
    text: lines.join('<br>'),
  })
}

/** Whether a scale of colors of some traces stands at the lower edge of the chart. */
export function hasScaleBelow(data: readonly Attributes[]): boolean {
  return data.some((one) => [one, one.marker, one.line].some((holder) => isBelow(holder?.colorbar)))
}

/** Whether a legend or a scale of colors stands at the lower edge of the chart. */
export function isBelow(one: Attributes | undefined): boolean {
  return one?.yref === 'container' && one.yanchor === 'bottom'
}

/** Lifts what stands at the lower edge above the footer, by a part of the height. */
function liftBelow({ data, layout }: Draft, share: number): void {
  const lifted = (one: Attributes): Attributes => ({ ...one, y: one.y + share })
  if (isBelow(layout.legend)) layout.legend = lifted(layout.legend)
  if (isBelow(layout.coloraxis?.colorbar))
    layout.coloraxis = { ...layout.coloraxis, colorbar: lifted(layout.coloraxis.colorbar) }
  for (const [k, trace] of data.entries()) {
    if (isBelow(trace.colorbar)) data[k] = { ...trace, colorbar: lifted(trace.colorbar) }
    for (const path of ['marker', 'line'])
      if (isBelow(trace[path]?.colorbar))
        data[k] = { ...data[k], [path]: { ...trace[path], colorbar: lifted(trace[path].colorbar) } }
  }
}

const MAX_FOOT_LINES = 3
/** Height of each further line below the chart, in pixels. */
export const FOOT_LINE_PIXELS = 16
/** Height of a chart that has room for what it does not show, in pixels. */
const MIN_FOOT_PIXELS = 160

export function listOfAnnotations(layout: Attributes): Attributes[] {
  return Array.isArray(layout.annotations) ? layout.annotations : []
}

/** Adds a text without an arrow. */
export function annotate(layout: Attributes, text: Attributes): void {
  layout.annotations = [...listOfAnnotations(layout), { showarrow: false, align: 'left', ...text }]
}
