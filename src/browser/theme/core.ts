// Theme of charts that Gridline creates: see docs/guide.md#themes. Other figures stay unchanged.

import { hasBackground } from '../../charts/figure/background.ts'
import { COLORS, DARK_COLORS } from '../../charts/figure/colors.ts'
import { listOf } from '../../charts/figure/lists.ts'
import { type Attributes, type Draft, edgePixelsOf, isNarrow, titleTextOf, type View } from './arrangement.ts'
import { arrangeBars, MAY_HAVE_ORDER } from './bars.ts'
import { markEmptyChart } from './empty.ts'
import { escapeLabels } from './labels.ts'
import { withLogo, withoutLogo } from './logo.ts'
import { formatDates, formatNumbers } from './numbers.ts'
import { dropUndrawableRows, noteOmitted } from './omitted.ts'
import { decideLegend, fadePoints, markLonePoints, nameLines, setHoverMode } from './series.ts'
import { createTemplate, mergeTemplates } from './template.ts'
import { hasColorbarBelow, placeAxisTitle, placeFooter, placeLegend, placeTitle } from './titles.ts'

export interface Figure {
  data: Attributes[]
  layout: Attributes
}

/** Steps of the theme, in order: each can rely on those before it. */
const STEPS = [
  noteOmitted,
  dropUndrawableRows,
  markEmptyChart,
  escapeLabels,
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
  setHoverMode,
  'arrangeSlope',
  nameLines,
  'nameAreas',
  placeTitle,
  placeLegend,
  'arrangeStems',
  'outlineShortBars',
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
  placeFooter,
] as const

/** Steps that few charts need, loaded on demand. */
export type AdditionalSteps = Readonly<
  Record<Extract<(typeof STEPS)[number], string>, (draft: Draft) => void>
>

/** Trace types that this file draws without additional steps. */
const PLAIN_TYPES = /^(?:scatter(?:gl)?|bar|box|violin|histogram)$/

/** Chart types that need additional steps, whatever their traces are. */
const SPECIAL_CHARTS: ReadonlySet<unknown> = new Set(['hexbin', 'lollipop', 'timeline', 'range', 'pyramid'])

/** Returns whether a figure needs steps that are loaded on demand. */
export function needsAdditionalSteps({ data, layout }: Figure): boolean {
  const { theme, chart, locale, isCentered, highlight, spec } = layout.meta ?? {}
  const isLabels = layout.xaxis?.type === 'category'
  const needsStep = ({
    type = 'scatter',
    marker,
    line,
    texttemplate,
    meta,
    x,
    stackgroup,
    name,
  }: Attributes): boolean =>
    !PLAIN_TYPES.test(type) ||
    marker?.colorscale ||
    marker?.showscale ||
    line?.showscale ||
    marker?.sizemode ||
    texttemplate !== undefined ||
    meta?.hue !== undefined ||
    meta?.isBand === true ||
    (isLabels && (type !== 'bar' || [0, 1].some((k) => MAY_HAVE_ORDER.test(listOf(x)[k] as string)))) ||
    (spec?.options?.by !== undefined && MAY_HAVE_ORDER.test(name)) ||
    stackgroup !== undefined
  return (
    theme === undefined ||
    SPECIAL_CHARTS.has(chart) ||
    [locale, highlight].some((setting) => setting !== undefined) ||
    isCentered === true ||
    [layout.xaxis, layout.yaxis].some((axis) => axis?.type === 'log') ||
    [...listOf(layout.annotations), ...listOf(layout.shapes)].some((part) =>
      /^gridline-(?:facet|note|mark)$/.test((part as Attributes)?.name),
    ) ||
    data.some((trace) => trace !== null && needsStep(trace))
  )
}

/**
 * Returns a figure with the theme; unchanged without `layout.meta.theme`. A template of the figure overrides
 * that of the theme. Does not modify its input. `more`: steps that few charts need.
 */
export function applyThemeWith<T extends Figure>(figure: T, view: View, more?: AdditionalSteps): T {
  if (typeof figure.layout.meta?.theme !== 'string') return figure
  const { shown: themed, needed } = arrangeFigure(figure, view, more)
  const height = Math.min(needed, view.maxHeight ?? 0)
  if (height <= view.height) return themed
  const { shown: grown } = arrangeFigure(figure, { ...view, height }, more)
  return { ...grown, layout: { ...grown.layout, height } }
}

/** Steps for the traces of animation frames, which replace those of the first frame. */
const FRAME_STEPS = [dropUndrawableRows, escapeLabels, 'colorSeries', markLonePoints] as const

/** Returns the frames of an animation with the theme. Does not modify its input. */
export function applyThemeToFrames(
  frames: readonly Attributes[],
  layout: Attributes,
  view: View,
  more?: AdditionalSteps,
): Attributes[] {
  if (typeof layout.meta?.theme !== 'string') return [...frames]
  return frames.map((frame) => {
    if (!Array.isArray(frame.data)) return frame
    const draft = createDraft({ data: frame.data, layout }, view)
    runSteps(FRAME_STEPS, draft, more)
    return { ...frame, data: draft.data }
  })
}

/** Returns a draft of a figure: its traces and layout can be changed. */
function createDraft({ data, layout }: Figure, view: View): Draft {
  const copies = (list: unknown): Attributes[] | undefined =>
    Array.isArray(list) ? list.map((item) => ({ ...item })) : undefined
  const [annotations, shapes] = [copies(layout.annotations), copies(layout.shapes)]
  return {
    data: data.map((trace) => recolorForScheme({ ...trace }, layout.template, view.scheme)),
    layout: { ...layout, ...(annotations && { annotations }), ...(shapes && { shapes }) },
    // Steps see the scheme that is actually drawn.
    view: { ...view, scheme: resolveScheme(layout.template, view.scheme) },
    above: { title: 0, legend: 0, axis: 0 },
    below: 0,
    height: 0,
    omitted: [],
    remarks: [],
    right: edgePixelsOf(view),
    left: edgePixelsOf(view),
  }
}

/** Runs steps on a draft; skips those that are not loaded. */
function runSteps(
  parts: readonly (keyof AdditionalSteps | ((draft: Draft) => void))[],
  draft: Draft,
  more: AdditionalSteps | undefined,
): void {
  for (const part of parts) {
    if (typeof part === 'string') more?.[part](draft)
    else part(draft)
  }
}

/** Applies all steps to a figure. `needed`: height that its rows need, in pixels. */
function arrangeFigure<T extends Figure>(
  figure: T,
  view: View,
  more?: AdditionalSteps,
): { shown: T; needed: number } {
  const draft = createDraft(figure, view)
  const { layout } = figure
  runSteps(STEPS, draft, more)
  const { above } = draft
  const margin = {
    l: draft.left,
    r: draft.right,
    b:
      edgePixelsOf(view) +
      draft.below +
      (fixDateHeight(draft) || (draft.below > 0 || layout.polar !== undefined ? TICKS_PIXELS : 0)),
    t: above.title + above.legend + above.axis + (above.legend + above.axis > 0 ? 0 : 6),
    ...draft.layout.margin,
  }
  const scheme = resolveScheme(layout.template, view.scheme)
  const userTemplate = userTemplateOf(layout.template, scheme)
  const template = createTemplate(scheme, {
    lineWidth: lineWidthOf(draft.data),
    isNarrow: isNarrow(view),
    over: withoutLogo(userTemplate),
  })
  const result = {
    ...figure,
    data: draft.data,
    layout: { ...withLogo({ ...draft.layout, margin }, userTemplate, view), template },
  }
  return { shown: result, needed: draft.height }
}

/**
 * Returns the height of two-line dates on narrow screens, with a color bar below, in pixels; 0 for other
 * axes. Automatic margins would never settle: the number of lines changes the height of the plot, and with it
 * the dates.
 */
function fixDateHeight({ data, layout, view }: Draft): number {
  const { type, title, automargin } = layout.xaxis ?? {}
  if (!isNarrow(view) || type !== 'date' || titleTextOf(title) !== undefined || automargin !== undefined)
    return 0
  layout.xaxis = { ...layout.xaxis, automargin: 'right' }
  return TICKS_PIXELS + (hasColorbarBelow(data) ? COLORBAR_PIXELS : 0)
}

/** Height of a color bar below a plot, in pixels. */
const COLORBAR_PIXELS = 44

/** Height of axis labels with a legend below them, in pixels. */
const TICKS_PIXELS = 36

/** Returns a trace in the colors of the scheme: the server uses those of the light scheme. */
function recolorForScheme(trace: Attributes, template: unknown, scheme: View['scheme']): Attributes {
  const { layout, dark } = (template ?? {}) as Attributes
  if (scheme !== 'dark') return trace
  const [lightColors = COLORS, darkColors = layout?.colorway === undefined ? DARK_COLORS : undefined] = [
    layout?.colorway,
    dark?.layout?.colorway,
  ]
  if (!Array.isArray(lightColors) || !Array.isArray(darkColors)) return trace
  for (const key of ['line', 'marker']) {
    const at = lightColors.indexOf(trace[key]?.color)
    if (at >= 0 && darkColors[at] !== undefined) trace[key] = { ...trace[key], color: darkColors[at] }
  }
  return trace
}

/** Returns the scheme to draw: light for a template with a background and no dark variant. */
function resolveScheme(template: unknown, requested: View['scheme']): View['scheme'] {
  const input = (template ?? {}) as Attributes
  return hasBackground(input) && input.dark === undefined ? 'light' : requested
}

/** Returns the template of the figure for a scheme. */
function userTemplateOf(template: unknown, scheme: View['scheme']): Attributes {
  const { dark, ...light } = (template ?? {}) as Attributes
  return scheme === 'dark' && dark !== undefined ? mergeTemplates(light, dark) : light
}

/** Returns the width of lines, in pixels: thinner for dense points and for many lines. */
function lineWidthOf(data: readonly Attributes[]): number {
  const pointCount = Math.max(0, ...data.map(({ x, y }) => Math.max(listOf(x).length, listOf(y).length)))
  if (data.length > MANY_LINES_THRESHOLD) return 1
  return pointCount > DENSE_LINE_THRESHOLD_POINTS ? 1.5 : 2.5
}

const DENSE_LINE_THRESHOLD_POINTS = 400
const MANY_LINES_THRESHOLD = 30
