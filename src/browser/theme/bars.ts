import { isStacked } from '../../charts/figure/barmode.ts'
import { orderedLabels } from '../../charts/figure/label-order.ts'
import { listOf } from '../../charts/figure/lists.ts'
import { NO_LABEL, NOTE } from '../../charts/figure/names.ts'
import { turnedShape } from '../../charts/figure/turn.ts'
import {
  type Attributes,
  type Draft,
  edgeOf,
  GAP_PIXELS,
  hasOnePlot,
  isNarrow,
  labelsOf,
  mostBeside,
  shortenedApart,
  TEXT_PIXELS,
  widthOf,
  wrapped,
} from './draft.ts'
import { annotate, listOfAnnotations } from './headings.ts'

/** Labels that have an order of their own: numbers, months, days of the week, quarters. */
export const ORDERED =
  /^\s*(?:[<>≤≥+-]?\s*\d|q[1-4]\b|h[12]\b|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?\s*(?:\d|$))/i
/** Height of a bar with its label above it, in pixels. */
const LABELED_BAR_PIXELS = 34
/** Height of a bar with a label above it, at most, in pixels. */
const MAX_BAR_PIXELS = 56
/** Height of a label above a bar, and of each further bar of a group, in pixels. */
const LABEL_PIXELS = 20
const FURTHER_BAR_PIXELS = 12
/** Height of the axis below horizontal bars, with its title, in pixels. */
const AXIS_PIXELS = 64
/** Height of a row with a label in two lines, in pixels. */
const TWO_LINES_PIXELS = 40
/** Height of a row with a label beside it, in pixels: where it can be chosen, and at least. */
const ROW_PIXELS = 20
const MIN_LABEL_PIXELS = 15
/** Labels of a phone that stand above their bars: a longer list is only scrolled. */
const MAX_ABOVE = 100
/** Bars of a chart: fewer are thinner, so that they are not blocks. */
const FEW_BARS = 4

/** Room for the values beside bars and points: a part of the height, or pixels of the width. */
const OUTSIDE_SHARE = 0.1
const VALUE_PIXELS = 60
const MAX_VALUE_PIXELS = 200

/** plotly.js leaves no room for values beside the bars of a waterfall, and beside points. */
function roomForValues({ data, layout, view }: Draft, isTurned: boolean): void {
  const key = isTurned ? 'xaxis' : 'yaxis'
  if (layout[key]?.range !== undefined || layout[key]?.type === 'log') return
  let [least, most] = [0, 0]
  for (const trace of data) {
    if (trace.textposition === undefined || (trace.type !== 'waterfall' && !isTurned)) continue
    if (trace.type === 'bar' && isStacked(layout)) continue
    let sum = 0
    for (const given of listOf(isTurned ? trace.x : trace.y)) {
      const value = Number(given) || 0
      sum = trace.type === 'waterfall' ? sum + value : value
      least = Math.min(least, sum)
      most = Math.max(most, sum)
    }
  }
  const widest = Math.max(...[least, most].map((value) => widthOf(value.toLocaleString('en')) + 10))
  const pixels = Math.min(MAX_VALUE_PIXELS, Math.max(VALUE_PIXELS, widest))
  const share = isTurned ? pixels / (view.width * PLOT_SHARE) : OUTSIDE_SHARE
  const room = (most - least) * share
  if (room === 0) return
  const include = [most + room, ...(least < 0 ? [least - room] : [])]
  layout[key] = { ...layout[key], autorangeoptions: { include, ...layout[key]?.autorangeoptions } }
}

/** Part of the width of a chart that is its plot, at least. */
const PLOT_SHARE = 0.5

/**
 * Bars of labels are in order of their size, unless the labels have an order or another one is set. They are horizontal
 * where their labels have no room side by side.
 */
export function arrangeBars(draft: Draft): void {
  const { layout, view } = draft
  let { data } = draft
  // The frames of an animation are drawn over the first one, as they are.
  if (data.length === 0 || !hasOnePlot(draft) || layout.sliders !== undefined) return
  if (layout.meta.horizontal === true) turn(draft)
  data = draft.data
  const isTurned = draft.data.every(({ orientation }) => orientation === 'h')
  if (!data.every(isTurned || isDots(draft) ? hasOwnAxes : isPlainBar)) return
  const [along, key] = isTurned ? (['yaxis', 'y'] as const) : (['xaxis', 'x'] as const)
  const labels = labelsOf(data.map((trace) => trace[key]))
  if (labels === undefined || layout[along]?.type !== 'category') return
  // Groups of bars stay in the order of the rows: it is that of the answers of a survey, for example.
  const isOne = data.length === 1 || isStacked(layout)
  const isOrdered = labels.every((label) => label === NO_LABEL || ORDERED.test(label))
  // Bars between two values stay in the order of the rows, as do those of two sides.
  const isOfOrder = data.some(({ base }) => base !== undefined) || layout.meta.chart === 'pyramid'
  const areAmounts = !isOfOrder && (data.every(({ type }) => type === 'bar') || isDots(draft))
  if (layout[along].categoryorder === undefined && isOne && !isOrdered && areAmounts)
    layout[along] = { ...layout[along], categoryorder: 'total descending' }
  layout.bargap ??= labels.length < FEW_BARS ? 0.5 : undefined
  if (isTurned) layout.yaxis = { autorange: 'reversed', ...layout.yaxis, showgrid: false }
  else {
    const room = view.width - 2 * edgeOf(view) - 48
    const widest = Math.max(...labels.map((label) => widthOf(label)))
    const fits = (widest + GAP_PIXELS) * labels.length <= room
    // Of labels that fit, none is left out: plotly.js takes `nticks` for a hint.
    if (fits) layout.xaxis = { dtick: 1, ...layout.xaxis }
    if (fits || layout.xaxis.range !== undefined) {
      roomForValues(draft, false)
      return
    }
    turn(draft)
  }
  roomForValues(draft, true)
  fitLabels(draft, labels)
}

/** Labels of horizontal bars beside them, or above them where there is no room. */
function fitLabels(draft: Draft, labels: readonly string[]): void {
  const { data, layout, view, above } = draft
  const height = view.height - above.title - above.legend - AXIS_PIXELS - draft.below
  const bars = isStacked(layout) ? 1 : data.length
  const labeled = LABELED_BAR_PIXELS + (bars - 1) * FURTHER_BAR_PIXELS
  const isAbove = isNarrow(view) && labels.length <= MAX_ABOVE
  draft.needed =
    view.height - height + labels.length * (isAbove ? labeled : ROW_PIXELS + (bars - 1) * FURTHER_BAR_PIXELS)
  if (height / labels.length >= MIN_LABEL_PIXELS) layout.yaxis.dtick ??= 1
  if (!isNarrow(view)) {
    const lines = height / labels.length >= TWO_LINES_PIXELS ? 2 : 1
    layout.yaxis.labelalias = aliases(labels, view.width * 0.4, lines)
    return
  }
  if (height / labels.length < labeled) {
    layout.yaxis = { ...layout.yaxis, ticklabelposition: 'outside' }
    layout.yaxis.labelalias = aliases(labels, mostBeside(labels, view))
    return
  }
  // Above its bar, a label has all the width.
  layout.yaxis = { ...layout.yaxis, showticklabels: false }
  layout.xaxis = { ...layout.xaxis, showgrid: false }
  const row = height / labels.length
  const most = view.width - 2 * edgeOf(view)
  const texts =
    row >= labeled + LABEL_PIXELS
      ? inTwoLines(labels, most)
      : shortenedApart(labels, most).map((text) => [text])
  const lines = Math.max(...texts.map(({ length }) => length))
  const gap = Math.max((LABEL_PIXELS * lines) / row, 1 - (MAX_BAR_PIXELS * bars) / row)
  layout.bargap = gap
  layout.funnelgap = gap
  layout.waterfallgap = gap
  const places = labels.some((label) => Number.isFinite(Number(label)))
    ? placedLabels(draft, labels)
    : undefined
  for (const [k, label] of labels.entries())
    annotate(layout, {
      name: 'gridline-label',
      text: texts[k].join('<br>'),
      xref: 'paper',
      x: 0,
      xanchor: 'left',
      yref: 'y',
      y: places?.indexOf(label) ?? label,
      yanchor: 'bottom',
      yshift: isDots(draft) ? 5 : row * (0.5 - gap / 2) - (layout.meta.chart === 'timeline' ? 0 : 3),
    })
}

/** Labels in the order of their axis: plotly.js takes a text of a number for a place. */
function placedLabels({ data, layout }: Draft, labels: readonly string[]): readonly string[] {
  const sums = new Map<string, number>()
  for (const { x, y } of data)
    for (const [k, label] of [...listOf(y)].entries())
      sums.set(String(label), (sums.get(String(label)) ?? 0) + (Number(listOf(x)[k]) || 0))
  return orderedLabels(labels, layout.yaxis.categoryorder, layout.yaxis.categoryarray, sums)
}

/** Labels in at most two lines, of which no two become the same text. */
function inTwoLines(labels: readonly string[], most: number): string[][] {
  const lines = labels.map((label) => wrapped(label, most, TEXT_PIXELS))
  const ends = shortenedApart(
    lines.map(([, ...rest]) => rest.join(' ')),
    most,
  )
  return lines.map(([first, ...rest], k) => (rest.length === 0 ? [first] : [first, ends[k]]))
}

const DOTS: ReadonlySet<unknown> = new Set(['dot', 'lollipop', 'dumbbell'])

/** Whether a chart shows dots over labels. */
function isDots({ layout }: Draft): boolean {
  return DOTS.has(layout.meta.chart)
}

function hasOwnAxes({ xaxis, yaxis }: Attributes): boolean {
  return !xaxis && !yaxis
}

function isPlainBar({ type, orientation, xaxis, yaxis, base }: Attributes): boolean {
  return (
    (type === 'bar' || type === 'waterfall') &&
    orientation === undefined &&
    !xaxis &&
    !yaxis &&
    (base === undefined || Array.isArray(base))
  )
}

/** Exchanges the axes of a chart, and of small charts. */
export function turn(draft: Draft): void {
  const { layout } = draft
  draft.data = draft.data.map(({ x, y, error_x, error_y, ...trace }) => ({
    ...trace,
    ...turnedTexts(trace),
    orientation: 'h',
    x: y,
    y: x,
    ...(error_y !== undefined && { error_x: error_y }),
    ...(error_x !== undefined && { error_y: error_x }),
  }))
  const numbers = Object.keys(layout).flatMap((key) => /^xaxis(\d+)$/.exec(key)?.[1] ?? [])
  for (const number of ['', ...numbers]) {
    const { [`xaxis${number}`]: across = {}, [`yaxis${number}`]: up = {} } = layout
    layout[`xaxis${number}`] = { showgrid: true, showline: false, ...up, ...turnedRefs(up) }
    // The numbers of a histogram, and ages, ascend upwards.
    const isUpward = /^(?:histogram|pyramid)$/.test(layout.meta.chart) && across.type !== 'category'
    const direction = isUpward ? {} : { autorange: 'reversed' }
    layout[`yaxis${number}`] = { ...across, ...direction, showgrid: false, ...turnedRefs(across) }
  }
  if (Array.isArray(layout.shapes)) layout.shapes = layout.shapes.map(turnedShape)
  layout.annotations = listOfAnnotations(layout).map((one) =>
    one.name === NOTE ? { ...one, x: one.y, y: one.x, ax: 36, ay: 0, xanchor: 'left' } : one,
  )
}

/** The axes that an axis stands at, and has its range of, where axes are exchanged. */
function turnedRefs({ anchor, matches, domain: _ }: Attributes): Attributes {
  const other = (id: unknown): unknown =>
    typeof id === 'string' ? id.replace(/^[xy]/, (letter) => (letter === 'x' ? 'y' : 'x')) : id
  return {
    ...(anchor !== undefined && { anchor: other(anchor) }),
    ...(matches !== undefined && { matches: other(matches) }),
  }
}

/** Texts at points name the other axis, and stand beside the points. */
function turnedTexts({ texttemplate, hovertemplate, textposition }: Attributes): Attributes {
  const turned = (text: unknown): unknown =>
    typeof text === 'string' ? text.replace(/%\{([xy])/g, (_, axis) => `%{${axis === 'x' ? 'y' : 'x'}`) : text
  return {
    ...(texttemplate !== undefined && { texttemplate: turned(texttemplate) }),
    ...(hovertemplate !== undefined && { hovertemplate: turned(hovertemplate) }),
    ...(textposition === 'top center' && { textposition: 'middle right' }),
    ...(Array.isArray(textposition) && {
      textposition: textposition.map((one) => (one === 'bottom center' ? 'middle left' : 'middle right')),
    }),
  }
}

/** Shorter texts of labels that are wider than `most` pixels, in one line or two; undefined if none is. */
function aliases(labels: readonly string[], most: number, lines = 1): Record<string, string> | undefined {
  const texts =
    lines === 1 ? shortenedApart(labels, most) : inTwoLines(labels, most).map((text) => text.join('<br>'))
  const short = labels.flatMap((label, k) => (texts[k] === label ? [] : [[label, texts[k]]]))
  return short.length > 0 ? Object.fromEntries(short) : undefined
}
