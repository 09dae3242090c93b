// Theme of bar charts and dot plots: order, orientation and labels.
import { isStacked } from '../../charts/figure/bar-mode.ts'
import { sortLabels } from '../../charts/figure/label-order.ts'
import { listOf } from '../../charts/figure/lists.ts'
import { NO_LABEL, NOTE_NAME } from '../../charts/figure/shared-names.ts'
import { swapShapeAxes } from '../../charts/figure/swap-axes.ts'
import {
  type Attributes,
  AXIS_PIXELS,
  type Draft,
  edgePixelsOf,
  hasOnePlot,
  isNarrow,
  LABEL_GAP_PIXELS,
  listAxisLabels,
  MIN_ROW_PIXELS,
  maxLabelWidthOf,
  measureText,
  shortenDistinct,
  shortenLabels,
  wrapToTwoLines,
} from './arrangement.ts'
import { annotate, listOfAnnotations } from './titles.ts'

/** Matches labels that may have a natural order: numbers, months, days of the week, quarters. */
export const MAY_HAVE_ORDER =
  /^\s*(?:(?:[<>≤≥+-]\s*)?\d|q[1-4]\b|h[12]\b|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?\s*(?:\d|$))/i
/** Minimum height of a bar with its label above it, in pixels. */
const LABELED_BAR_PIXELS = 34
/** Maximum height of a bar with a label above it, in pixels. */
const MAX_BAR_PIXELS = 56
/** Height of a label above a bar, and of each additional bar in a group, in pixels. */
const LABEL_PIXELS = 20
const ADDITIONAL_BAR_PIXELS = 12
/** Preferred height of a row with a label beside it, in pixels. */
const ROW_PIXELS = 20
/** Maximum number of labels above bars on narrow screens; a longer list is only scrolled. */
const MAX_LABELS_ABOVE = 100
/** Below this number, bars are thinner. */
const THIN_BARS_THRESHOLD = 4

/** Space for values beside bars: share of the height, or default and maximum of the width in pixels. */
const VALUE_HEIGHT_SHARE = 0.1
const VALUE_PIXELS = 60
const MAX_VALUE_PIXELS = 200

/** Extends the axis for the values beside waterfall bars and points, because plotly.js does not. */
function extendAxisForValues({ data, layout, view }: Draft, isHorizontal: boolean): void {
  const key = isHorizontal ? 'xaxis' : 'yaxis'
  if (layout[key]?.range !== undefined || layout[key]?.type === 'log') return
  let [low, high] = [0, 0]
  for (const trace of data) {
    if (trace.textposition === undefined || (trace.type !== 'waterfall' && !isHorizontal)) continue
    if (trace.type === 'bar' && isStacked(layout)) continue
    let sum = 0
    for (const item of listOf(isHorizontal ? trace.x : trace.y)) {
      const value = Number(item) || 0
      sum = trace.type === 'waterfall' ? sum + value : value
      low = Math.min(low, sum)
      high = Math.max(high, sum)
    }
  }
  const widest = Math.max(...[low, high].map((value) => measureText(value.toLocaleString('en')) + 10))
  const pixels = Math.min(MAX_VALUE_PIXELS, Math.max(VALUE_PIXELS, widest))
  const share = isHorizontal ? pixels / (view.width * MIN_PLOT_SHARE) : VALUE_HEIGHT_SHARE
  const margin = (high - low) * share
  if (margin === 0) return
  const include = [high + margin, ...(low < 0 ? [low - margin] : [])]
  layout[key] = { ...layout[key], autorangeoptions: { include, ...layout[key]?.autorangeoptions } }
}

/** Minimum share of the chart width that the plot takes. */
const MIN_PLOT_SHARE = 0.5

/** Sorts bars by size, unless their labels have an order. Makes bars horizontal if labels do not fit. */
export function arrangeBars(draft: Draft): void {
  const { layout, view } = draft
  let { data } = draft
  // Animation frames replace the traces of the first frame, so these keep their order.
  if (data.length === 0 || !hasOnePlot(draft) || layout.sliders !== undefined) return
  if (layout.meta.horizontal === true) swapAxes(draft)
  data = draft.data
  const isHorizontal = draft.data.every(({ orientation }) => orientation === 'h')
  if (!data.every(isHorizontal || hasDots(draft) ? usesMainAxes : isPlainBar)) return
  const [labelAxis, key] = isHorizontal ? (['yaxis', 'y'] as const) : (['xaxis', 'x'] as const)
  const labels = listAxisLabels(data.map((trace) => trace[key]))
  if (labels === undefined || layout[labelAxis]?.type !== 'category') return
  // Grouped bars keep the order of the rows, such as the answers of a survey.
  const isSingle = data.length === 1 || isStacked(layout)
  const isOrdered = labels.every((label) => label === NO_LABEL || MAY_HAVE_ORDER.test(label))
  // Bars between two values, and pyramids, keep the order of the rows.
  const keepsOrder = data.some(({ base }) => base !== undefined) || layout.meta.chart === 'pyramid'
  const areAmounts = !keepsOrder && (data.every(({ type }) => type === 'bar') || hasDots(draft))
  if (layout[labelAxis].categoryorder === undefined && isSingle && !isOrdered && areAmounts)
    layout[labelAxis] = { ...layout[labelAxis], categoryorder: 'total descending' }
  layout.bargap ??= labels.length < THIN_BARS_THRESHOLD ? 0.5 : undefined
  if (isHorizontal) layout.yaxis = { autorange: 'reversed', ...layout.yaxis, showgrid: false }
  else {
    const available = view.width - 2 * edgePixelsOf(view) - 48
    const widest = Math.max(...labels.map((label) => measureText(label)))
    const fits = (widest + LABEL_GAP_PIXELS) * labels.length <= available
    // Force a tick for each label: plotly.js treats `nticks` as a hint.
    if (fits) layout.xaxis = { dtick: 1, ...layout.xaxis }
    if (fits || layout.xaxis.range !== undefined) {
      extendAxisForValues(draft, false)
      return
    }
    swapAxes(draft)
  }
  extendAxisForValues(draft, true)
  fitLabels(draft, labels)
}

/** Places the labels of horizontal bars beside them, or above them if there is no space. */
function fitLabels(draft: Draft, labels: readonly string[]): void {
  const { data, layout, view, above } = draft
  const height = view.height - above.title - above.legend - AXIS_PIXELS - draft.below
  const bars = isStacked(layout) ? 1 : data.length
  const labeled = LABELED_BAR_PIXELS + (bars - 1) * ADDITIONAL_BAR_PIXELS
  const isAbove = isNarrow(view) && labels.length <= MAX_LABELS_ABOVE
  draft.height =
    view.height -
    height +
    labels.length * (isAbove ? labeled : ROW_PIXELS + (bars - 1) * ADDITIONAL_BAR_PIXELS)
  if (height / labels.length >= MIN_ROW_PIXELS) layout.yaxis.dtick ??= 1
  if (!isNarrow(view)) {
    layout.yaxis.labelalias = shortenLabels(labels, view.width * 0.4, height / labels.length)
    return
  }
  if (height / labels.length < labeled) {
    layout.yaxis = { ...layout.yaxis, ticklabelposition: 'outside' }
    layout.yaxis.labelalias = shortenLabels(labels, maxLabelWidthOf(labels, view), 0)
    return
  }
  // A label above its bar can use the full width.
  layout.yaxis = { ...layout.yaxis, showticklabels: false }
  layout.xaxis = { ...layout.xaxis, showgrid: false }
  const rowHeight = height / labels.length
  const maxWidth = view.width - 2 * edgePixelsOf(view)
  const texts =
    rowHeight >= labeled + LABEL_PIXELS
      ? wrapToTwoLines(labels, maxWidth)
      : shortenDistinct(labels, maxWidth).map((text) => [text])
  const lines = Math.max(...texts.map(({ length }) => length))
  const gap = Math.max((LABEL_PIXELS * lines) / rowHeight, 1 - (MAX_BAR_PIXELS * bars) / rowHeight)
  layout.bargap = gap
  layout.funnelgap = gap
  layout.waterfallgap = gap
  const positions = labels.some((label) => Number.isFinite(Number(label)))
    ? orderLabelsByAxis(draft, labels)
    : undefined
  for (const [k, label] of labels.entries())
    annotate(layout, {
      name: 'gridline-label',
      text: texts[k].join('<br>'),
      xref: 'paper',
      x: 0,
      xanchor: 'left',
      yref: 'y',
      y: positions?.indexOf(label) ?? label,
      yanchor: 'bottom',
      yshift: hasDots(draft) ? 5 : rowHeight * (0.5 - gap / 2) - (layout.meta.chart === 'timeline' ? 0 : 3),
    })
}

/**
 * Returns the distinct labels in the order of the y axis, so that the index of a label is its position:
 * plotly.js takes a numeric text for a position, not for a label.
 */
function orderLabelsByAxis({ data, layout }: Draft, labels: readonly string[]): readonly string[] {
  const sums = new Map<string, number>()
  for (const { x, y } of data)
    for (const [k, label] of [...listOf(y)].entries())
      sums.set(String(label), (sums.get(String(label)) ?? 0) + (Number(listOf(x)[k]) || 0))
  return sortLabels(labels, layout.yaxis.categoryorder, layout.yaxis.categoryarray, sums)
}

const DOT_TYPES: ReadonlySet<unknown> = new Set(['dot', 'lollipop', 'dumbbell'])

/** Returns whether a chart shows dots at labels. */
function hasDots({ layout }: Draft): boolean {
  return DOT_TYPES.has(layout.meta.chart)
}

/** Returns whether a trace uses the main axes. */
function usesMainAxes({ xaxis, yaxis }: Attributes): boolean {
  return !xaxis && !yaxis
}

/** Returns whether a trace is a vertical bar on the main axes, which can be turned. */
function isPlainBar({ type, orientation, xaxis, yaxis, base }: Attributes): boolean {
  return (
    (type === 'bar' || type === 'waterfall') &&
    orientation === undefined &&
    !xaxis &&
    !yaxis &&
    (base === undefined || Array.isArray(base))
  )
}

/** Swaps the axes of a chart, including its facets. */
export function swapAxes(draft: Draft): void {
  const { layout } = draft
  draft.data = draft.data.map(({ x, y, error_x, error_y, ...trace }) => ({
    ...trace,
    ...swapTextTemplates(trace),
    orientation: 'h',
    x: y,
    y: x,
    ...(error_y !== undefined && { error_x: error_y }),
    ...(error_x !== undefined && { error_y: error_x }),
  }))
  const numbers = Object.keys(layout).flatMap((key) => /^xaxis(\d+)$/.exec(key)?.[1] ?? [])
  for (const number of ['', ...numbers]) {
    const { [`xaxis${number}`]: oldX = {}, [`yaxis${number}`]: oldY = {} } = layout
    layout[`xaxis${number}`] = { showgrid: true, showline: false, ...oldY, ...swapAxisReferences(oldY) }
    // Numbers of a histogram, and ages, increase upwards.
    const isUpward = /^(?:histogram|pyramid)$/.test(layout.meta.chart) && oldX.type !== 'category'
    const direction = isUpward ? {} : { autorange: 'reversed' }
    layout[`yaxis${number}`] = { ...oldX, ...direction, showgrid: false, ...swapAxisReferences(oldX) }
  }
  if (Array.isArray(layout.shapes)) layout.shapes = layout.shapes.map(swapShapeAxes)
  layout.annotations = listOfAnnotations(layout).map((annotation) =>
    annotation.name === NOTE_NAME
      ? { ...annotation, x: annotation.y, y: annotation.x, ax: 36, ay: 0, xanchor: 'left' }
      : annotation,
  )
}

/** Swaps the references of an axis to other axes. */
function swapAxisReferences({ anchor, matches, domain: _ }: Attributes): Attributes {
  const swapReference = (id: unknown): unknown =>
    typeof id === 'string' ? id.replace(/^[xy]/, (letter) => (letter === 'x' ? 'y' : 'x')) : id
  return {
    ...(anchor !== undefined && { anchor: swapReference(anchor) }),
    ...(matches !== undefined && { matches: swapReference(matches) }),
  }
}

/** Swaps the axes in text templates, and moves texts beside the points. */
function swapTextTemplates({ texttemplate, hovertemplate, textposition }: Attributes): Attributes {
  const swapLetters = (text: unknown): unknown =>
    typeof text === 'string' ? text.replace(/%\{([xy])/g, (_, axis) => `%{${axis === 'x' ? 'y' : 'x'}`) : text
  return {
    ...(texttemplate !== undefined && { texttemplate: swapLetters(texttemplate) }),
    ...(hovertemplate !== undefined && { hovertemplate: swapLetters(hovertemplate) }),
    ...(textposition === 'top center' && { textposition: 'middle right' }),
    ...(Array.isArray(textposition) && {
      textposition: textposition.map((position) =>
        position === 'bottom center' ? 'middle left' : 'middle right',
      ),
    }),
  }
}
