// How charts look that Gridline makes from columns: see docs/guide.md#themes. Figures of others are not changed.

import { COLORS, DARK_COLORS } from '../../charts/figure/colors.ts'
import { hasGround } from '../../charts/figure/ground.ts'
import { listOf } from '../../charts/figure/lists.ts'
import { arrangeBars, ORDERED } from './bars.ts'
import { type Attributes, type Draft, edgeOf, isNarrow, textOf, type View } from './draft.ts'
import { sayEmpty } from './empty.ts'
import { hasScaleBelow, placeAxisTitle, placeFoot, placeLegend, placeTitle } from './headings.ts'
import { writeLabels } from './labels.ts'
import { withLogo, withoutLogo } from './logo.ts'
import { formatDates, formatNumbers } from './numbers.ts'
import { decideLegend, fadePoints, hoverOf, markLonePoints, nameLines } from './series.ts'
import { mergedTemplate, templateOf } from './template.ts'
import { dropPlaceless, noteUnseen } from './unseen.ts'

export interface Figure {
  data: Attributes[]
  layout: Attributes
}

/** Parts that few charts need: pages load them where they are needed. */
export type MoreParts = Readonly<
  Record<
    | 'arrangeCalendar'
    | 'centerStacks'
    | 'arrangeFacets'
    | 'drawHexagons'
    | 'keySizes'
    | 'arrangeMaps'
    | 'arrangeParts'
    | 'arrangePies'
    | 'arrangePolar'
    | 'arrangeSlope'
    | 'formatLogs'
    | 'nameAreas'
    | 'arrangePyramid'
    | 'colorSeries'
    | 'standLabels'
    | 'unstackNegative'
    | 'arrangeStems'
    | 'orderLabels'
    | 'outlineTimes'
    | 'thinValues'
    | 'turnNotes'
    | 'arrangeRose'
    | 'arrangeColors',
    (draft: Draft) => void
  >
>

/** The parts of a look, in order: each can count on those before it. */
const PARTS = [
  noteUnseen,
  dropPlaceless,
  sayEmpty,
  writeLabels,
  'unstackNegative',
  'orderLabels',
  'arrangePies',
  'arrangeRose',
  'arrangeColors',
  'arrangeMaps',
  'arrangeParts',
  decideLegend,
  'colorSeries',
  markLonePoints,
  fadePoints,
  hoverOf,
  'arrangeSlope',
  nameLines,
  'nameAreas',
  placeTitle,
  placeLegend,
  'arrangeStems',
  'outlineTimes',
  'thinValues',
  arrangeBars,
  'arrangePyramid',
  'standLabels',
  'centerStacks',
  'drawHexagons',
  'arrangeCalendar',
  'turnNotes',
  formatNumbers,
  'formatLogs',
  formatDates,
  placeAxisTitle,
  'keySizes',
  'arrangePolar',
  'arrangeFacets',
  placeFoot,
] as const

/** Types of traces that the parts of this file draw. */
const PLAIN = /^(?:scatter(?:gl)?|bar|box|violin|histogram)$/

/** Types of charts that need more than their traces say. */
const OTHER: ReadonlySet<unknown> = new Set(['hexbin', 'lollipop', 'timeline', 'pyramid'])

/** Whether a figure is not drawn by the parts of this file alone. */
export function needsMore({ data, layout }: Figure): boolean {
  const { theme, chart, locale, isCentered, highlight, spec } = layout.meta ?? {}
  const isLabels = layout.xaxis?.type === 'category'
  const isOther = ({
    type = 'scatter',
    marker,
    line,
    texttemplate,
    meta,
    x,
    stackgroup,
    name,
  }: Attributes): boolean =>
    !PLAIN.test(type) ||
    marker?.colorscale ||
    marker?.showscale ||
    line?.showscale ||
    marker?.sizemode ||
    texttemplate !== undefined ||
    meta?.hue !== undefined ||
    meta?.isBand === true ||
    (isLabels && (type !== 'bar' || [0, 1].some((k) => ORDERED.test(listOf(x)[k] as string)))) ||
    (spec?.options?.by !== undefined && ORDERED.test(name)) ||
    stackgroup !== undefined
  return (
    theme === undefined ||
    OTHER.has(chart) ||
    [locale, highlight].some((one) => one !== undefined) ||
    isCentered === true ||
    [layout.xaxis, layout.yaxis].some((axis) => axis?.type === 'log') ||
    [...listOf(layout.annotations)].some((one) =>
      /^gridline-(?:facet|note)$/.test((one as Attributes)?.name),
    ) ||
    data.some((trace) => trace !== null && isOther(trace))
  )
}

/**
 * A figure in our theme; unchanged if it does not ask for it in `layout.meta.theme`. A template of the figure goes over
 * that of the theme. What is given is not changed. `more`: the parts that few charts need.
 */
export function themedWith<T extends Figure>(figure: T, view: View, more?: MoreParts): T {
  if (typeof figure.layout.meta?.theme !== 'string') return figure
  const { shown, needed } = arranged(figure, view, more)
  const height = Math.min(needed, view.most ?? 0)
  if (height <= view.height) return shown
  const { shown: grown } = arranged(figure, { ...view, height }, more)
  return { ...grown, layout: { ...grown.layout, height } }
}

/** The parts of a look that the traces of a frame need: they are drawn in the place of those of the first one. */
const FRAME_PARTS = [dropPlaceless, writeLabels, 'colorSeries', markLonePoints] as const

/** The frames of an animation in our theme. What is given is not changed. */
export function framesIn(
  frames: readonly Attributes[],
  layout: Attributes,
  view: View,
  more?: MoreParts,
): Attributes[] {
  if (typeof layout.meta?.theme !== 'string') return [...frames]
  return frames.map((frame) => {
    if (!Array.isArray(frame.data)) return frame
    const draft = draftOf({ data: frame.data, layout }, view)
    perform(FRAME_PARTS, draft, more)
    return { ...frame, data: draft.data }
  })
}

/** A figure on its way to its look: its traces can be replaced, and its layout changed. */
function draftOf({ data, layout }: Figure, view: View): Draft {
  const copies = (list: unknown): Attributes[] | undefined =>
    Array.isArray(list) ? list.map((one) => ({ ...one })) : undefined
  const [annotations, shapes] = [copies(layout.annotations), copies(layout.shapes)]
  return {
    data: data.map((trace) => inScheme({ ...trace }, layout.template, view.scheme)),
    layout: { ...layout, ...(annotations && { annotations }), ...(shapes && { shapes }) },
    // The parts see the colors that are drawn.
    view: { ...view, scheme: schemeOf(layout.template, view.scheme) },
    above: { title: 0, legend: 0, axis: 0 },
    below: 0,
    needed: 0,
    unseen: [],
    remarks: [],
    right: edgeOf(view),
    left: edgeOf(view),
  }
}

/** Lets parts arrange a draft, as far as they are loaded. */
function perform(
  parts: readonly (keyof MoreParts | ((draft: Draft) => void))[],
  draft: Draft,
  more: MoreParts | undefined,
): void {
  for (const part of parts) {
    if (typeof part === 'string') more?.[part](draft)
    else part(draft)
  }
}

function arranged<T extends Figure>(figure: T, view: View, more?: MoreParts): { shown: T; needed: number } {
  const draft = draftOf(figure, view)
  const { layout } = figure
  perform(PARTS, draft, more)
  const { above } = draft
  const margin = {
    l: draft.left,
    r: draft.right,
    b:
      edgeOf(view) +
      draft.below +
      (fixedDates(draft) || (draft.below > 0 || layout.polar !== undefined ? TICKS_PIXELS : 0)),
    t: above.title + above.legend + above.axis + (above.legend + above.axis > 0 ? 0 : 6),
    ...draft.layout.margin,
  }
  const scheme = schemeOf(layout.template, view.scheme)
  const over = overOf(layout.template, scheme)
  const template = templateOf(scheme, {
    lineWidth: lineOf(draft.data),
    isNarrow: isNarrow(view),
    over: withoutLogo(over),
  })
  const shown = {
    ...figure,
    data: draft.data,
    layout: { ...withLogo({ ...draft.layout, margin }, over, view), template },
  }
  return { shown, needed: draft.needed }
}

/**
 * Height of the dates of a phone, which have two lines, and of a scale of colors below them, in pixels; 0 for other axes.
 * plotly.js would make room for as many lines as there are, and never end: numbers inside of the plot change its range,
 * this the dates, and these its height.
 */
function fixedDates({ data, layout, view }: Draft): number {
  const { type, title, automargin } = layout.xaxis ?? {}
  if (!isNarrow(view) || type !== 'date' || textOf(title) !== undefined || automargin !== undefined) return 0
  layout.xaxis = { ...layout.xaxis, automargin: false }
  return TICKS_PIXELS + (hasScaleBelow(data) ? SCALE_PIXELS : 0)
}

/** Height of a scale of colors below a plot, in pixels. */
const SCALE_PIXELS = 44

/** Height of the labels of an axis that a legend is below, in pixels. */
const TICKS_PIXELS = 36

/** A trace with the colors of the scheme: what the service has colored has those of the light one. */
function inScheme(trace: Attributes, template: unknown, scheme: View['scheme']): Attributes {
  const { layout, dark } = (template ?? {}) as Attributes
  if (scheme !== 'dark') return trace
  const [light = COLORS, other = layout?.colorway === undefined ? DARK_COLORS : undefined] = [
    layout?.colorway,
    dark?.layout?.colorway,
  ]
  if (!Array.isArray(light) || !Array.isArray(other)) return trace
  for (const key of ['line', 'marker']) {
    const at = light.indexOf(trace[key]?.color)
    if (at >= 0 && other[at] !== undefined) trace[key] = { ...trace[key], color: other[at] }
  }
  return trace
}

/** A theme that has colors of its own, and none for the dark, is light. */
function schemeOf(template: unknown, wanted: View['scheme']): View['scheme'] {
  const given = (template ?? {}) as Attributes
  return hasGround(given) && given.dark === undefined ? 'light' : wanted
}

function overOf(template: unknown, scheme: View['scheme']): Attributes {
  const { dark, ...light } = (template ?? {}) as Attributes
  return scheme === 'dark' && dark !== undefined ? mergedTemplate(light, dark) : light
}

/** Width of lines, in pixels: thinner where points are dense, and where there are many lines. */
function lineOf(data: readonly Attributes[]): number {
  const most = Math.max(0, ...data.map(({ x, y }) => Math.max(listOf(x).length, listOf(y).length)))
  if (data.length > MANY_LINES) return 1
  return most > DENSE_POINTS ? 1.5 : 2.5
}

const DENSE_POINTS = 400
const MANY_LINES = 30
