// Color scales and color bars.
import { isMissing, listOf } from '../../charts/figure/lists.ts'
import { roundUpToStep } from '../../charts/figure/steps.ts'
import { formatCount } from '../../contract/message-texts.ts'
import {
  type Attributes,
  AXIS_PIXELS,
  type Draft,
  edgePixelsOf,
  isNarrow,
  MIN_ROW_PIXELS,
  maxLabelWidthOf,
  shortenLabels,
  titleTextOf,
} from './arrangement.ts'
import { createColorScale, DIVERGING_COLORS, interpolateColor, SEQUENTIAL_COLORS } from './colors.ts'
import { writeEmptyMessage } from './empty.ts'
import { createNumberFormat, localeOf } from './numbers.ts'

/** Trace types that color cells by a number. */
const CELL_TYPES = new Set(['heatmap', 'contour', 'histogram2d', 'surface', 'mesh3d', 'choropleth'])
/** Cell types with rows. */
const MATRIX_TYPES = new Set(['heatmap', 'contour', 'histogram2d'])
/** Minimum share of the range on the other side of zero for diverging colors. */
const MIN_OTHER_SIDE_SHARE = 0.1

/** Sets color scales, diverging around zero. On narrow screens, color bars are below the chart. */
export function arrangeColorScales(draft: Draft): void {
  const { data } = draft
  sharePointScale(draft)
  shareCountScale(draft)
  for (const [k, trace] of data.entries()) {
    if (trace.type === 'heatmap') addMissingSteps(draft, trace)
    const scale = trace.coloraxis === undefined ? findColorScale(trace) : undefined
    if (scale === undefined) continue
    const { holder, values } = scale
    const range = numberRangeOf(values)
    if (draft.layout.meta.scale === 'log' && scale.path === undefined && range && range[1] <= 0) {
      draft.omitted.push(`${formatCount(trace.z.length, 'value')} not above zero`)
      data[k] = { type: 'scatter', x: [], y: [] }
      writeEmptyMessage(draft.layout)
      continue
    }
    const scaled = range && applyScaleOption(draft, scale, range)
    const bar: Attributes = holder.colorbar ?? {}
    const numberFormat = range && createNumberFormat(Math.max(-range[0], range[1]), draft.layout)
    const colorbar = createColorbar(draft, { ...numberFormat, ...scaled?.colorbar, ...bar })
    const changes: Attributes = { colorbar }
    Object.assign(changes, scaled?.holder)
    // plotly.js finds no contour lines between equal values.
    if (trace.type === 'contour' && range && range[0] === range[1]) {
      const size = Math.abs(range[0]) / 2 || 1
      Object.assign(changes, {
        autocontour: false,
        contours: { start: range[0] - size, end: range[0] + size, size },
      })
    }
    if (
      range &&
      scaled === undefined &&
      CELL_TYPES.has(trace.type) &&
      holder.colorscale === undefined &&
      holder.zmin === undefined
    ) {
      const isDiverging = Math.min(-range[0], range[1]) > MIN_OTHER_SIDE_SHARE * Math.max(-range[0], range[1])
      const middle = trace.type === 'mesh3d' || trace.type === 'surface' ? 'cmid' : 'zmid'
      if (isDiverging) Object.assign(changes, { colorscale: createColorScale(DIVERGING_COLORS), [middle]: 0 })
    }
    data[k] =
      scale.path === undefined
        ? { ...trace, ...changes, ...scaled?.trace }
        : { ...trace, [scale.path]: { ...holder, ...changes } }
    if (MATRIX_TYPES.has(trace.type)) arrangeRows(draft, trace)
  }
}

/** Returns the attributes of a color bar. */
function createColorbar(draft: Draft, bar: Attributes): Attributes {
  const { view } = draft
  const style = { outlinewidth: 0, thickness: 12, ...bar }
  if (!isNarrow(view)) return style
  draft.barTitle ??= titleTextOf(bar.title)
  return {
    ...style,
    ...{ orientation: 'h', yref: 'container', y: edgePixelsOf(view) / view.height, yanchor: 'bottom' },
    ...{ thickness: 10, title: { text: '' } },
  }
}

/** Lets facets of counts share one color scale, because only plotly.js knows the range. */
function shareCountScale(draft: Draft): void {
  const { data, layout } = draft
  const counts = data.filter(({ type, coloraxis }) => type === 'histogram2d' && coloraxis === undefined)
  if (counts.length < 2) return
  const [{ colorbar = {} }] = counts
  layout.coloraxis = {
    colorscale: createColorScale(SEQUENTIAL_COLORS),
    colorbar: createColorbar(draft, colorbar),
    ...layout.coloraxis,
  }
  for (const [k, trace] of data.entries())
    if (counts.includes(trace)) data[k] = { ...trace, coloraxis: 'coloraxis' }
}

/** Lets points of all series share one color scale. Points without a value are grey. */
function sharePointScale({ data }: Draft): void {
  const colored = data.filter(({ marker }) => marker?.showscale === true && listOf(marker.color).length > 0)
  const range = numberRangeOf(colored.map(({ marker }) => marker.color))
  if (!range) return
  for (const [k, trace] of data.entries()) {
    const at = colored.indexOf(trace)
    if (at < 0) continue
    const hasMissing = [...listOf(trace.marker.color)].some((color) => typeof color !== 'number')
    data[k] = {
      ...trace,
      marker: {
        // Colors show values, so symbols distinguish the series.
        ...(colored.length > 1 && { cmin: range[0], cmax: range[1] }),
        ...(colored.length > 1 && !trace.xaxis && { symbol: SERIES_SYMBOLS[at % SERIES_SYMBOLS.length] }),
        ...trace.marker,
        ...(at > 0 && { showscale: false }),
        // plotly.js draws points without a number in a dark color of the scale.
        ...(hasMissing && {
          opacity: [...listOf(trace.marker.color)].map((color) =>
            typeof color === 'number' ? (trace.marker.opacity ?? 1) : 0.35,
          ),
        }),
      },
    }
  }
}

const SERIES_SYMBOLS = ['circle', 'diamond', 'square', 'cross', 'triangle-up', 'x']

/** Maximum number of color steps. */
const MAX_COLOR_STEPS = 6

/** Attributes of a color scale, its color bar and its trace. */
interface ScaledColors {
  holder: Attributes
  colorbar?: Attributes
  trace?: Attributes
}

/** Returns the color scale for the --scale of a chart; undefined without one. */
function applyScaleOption(
  { layout, omitted }: Draft,
  { path, values }: ColorScale,
  [least, most]: [number, number],
): ScaledColors | undefined {
  const letter = path === undefined ? 'z' : 'c'
  if (layout.meta.scale === 'diverging') {
    const middle = least < 0 && most > 0 ? 0 : (least + most) / 2
    return { holder: { colorscale: createColorScale(DIVERGING_COLORS), [`${letter}mid`]: middle } }
  }
  if (layout.meta.scale === 'steps') {
    const step = roundUpToStep((most - least) / MAX_COLOR_STEPS)
    const from = Math.floor(least / step) * step
    const count = Math.max(1, Math.ceil((most - from) / step - 1e-9))
    const edges = Array.from({ length: count + 1 }, (_, k) => Number((from + k * step).toPrecision(12)))
    const colorscale = edges.slice(1).flatMap((_, k) => {
      const color = interpolateColor(SEQUENTIAL_COLORS, count === 1 ? 0.5 : k / (count - 1))
      return [
        [k / count, color],
        [(k + 1) / count, color],
      ]
    })
    const ends = { [`${letter}min`]: edges[0], [`${letter}max`]: edges.at(-1) }
    return { holder: { colorscale, ...ends }, colorbar: { tickmode: 'array', tickvals: edges } }
  }
  if (layout.meta.scale !== 'log') return undefined
  let notPositive = 0
  const logarithm = (value: unknown): unknown => {
    if (typeof value === 'object' && value !== null) return [...listOf(value)].map(logarithm)
    if (typeof value !== 'number') return null
    if (value <= 0) notPositive++
    return value > 0 ? Math.log10(value) : null
  }
  const logarithms = [...listOf(values)].map(logarithm)
  if (notPositive > 0) omitted.push(`${formatCount(notPositive, 'value')} not above zero`)
  const ends = [Math.floor(Math.log10(Math.max(least, most / 1e12))), Math.ceil(Math.log10(most))]
  const digits = ends[1] - ends[0] > 2 ? [1] : [1, 2, 5]
  const ticks = Array.from({ length: ends[1] - ends[0] + 1 }, (_, k) =>
    digits.map((digit) => digit * 10 ** (ends[0] + k)),
  )
  const tickvals = ticks.flat().map(Math.log10)
  const ticktext = ticks
    .flat()
    .map((tick) => tick.toLocaleString(localeOf(layout.meta), { maximumSignificantDigits: 3 }))
  const hover =
    path === undefined ? { text: values, hovertemplate: '%{x}, %{y}: %{text}<extra></extra>' } : {}
  return {
    // Hide points that are not positive.
    holder:
      path === undefined
        ? {}
        : {
            color: logarithms,
            opacity: [...listOf(values)].map((value) =>
              typeof value !== 'number' ? 0.35 : value > 0 ? 0.8 : 0,
            ),
          },
    colorbar: { tickmode: 'array', tickvals, ticktext },
    trace: path === undefined ? { z: logarithms, ...hover } : {},
  }
}

/** Maximum number of steps of an axis that is filled. */
const MAX_FILLED_STEPS = 2000

/** Adds empty cells for missing steps of numbers or times: plotly.js would widen the cells beside them. */
function addMissingSteps({ layout }: Draft, trace: Attributes): void {
  const z = listOf(trace.z)
  if (z.length === 0 || Array.isArray(z[0])) return
  for (const letter of ['x', 'y'] as const) {
    const values = [...listOf(trace[letter])]
    if (values.length !== z.length || layout[`${letter}axis`]?.type === 'category') continue
    const isNumbers = values.every((value) => typeof value === 'number' || isMissing(value))
    const positionOf = (value: unknown): number => (isNumbers ? Number(value) : Date.parse(String(value)))
    const positions = [...new Set(values.filter((value) => !isMissing(value)).map(positionOf))].sort(
      (a, b) => a - b,
    )
    const steps = positions.slice(1).map((place, k) => place - positions[k])
    const step = Math.min(...steps)
    const isEven = steps.every((distance) => Math.abs(distance / step - Math.round(distance / step)) < 1e-6)
    const count = Math.round((positions[positions.length - 1] - positions[0]) / step)
    if (positions.length < 3 || !(step > 0) || !isEven || count > MAX_FILLED_STEPS) continue
    const existing = new Set(positions.map((place) => Math.round((place - positions[0]) / step)))
    const other = letter === 'x' ? 'y' : 'x'
    const missing = Array.from({ length: count }, (_, k) => k).filter((k) => !existing.has(k))
    if (missing.length === 0) continue
    const added = missing.map((k) => positions[0] + k * step)
    trace[letter] = [
      ...values,
      ...added.map((place) =>
        isNumbers ? Number(place.toPrecision(12)) : new Date(place).toISOString().slice(0, 19),
      ),
    ]
    trace[other] = [...listOf(trace[other]), ...added.map(() => listOf(trace[other])[0])]
    trace.z = [...listOf(trace.z), ...added.map(() => null)]
    for (const key of ['text', 'customdata'])
      if (listOf(trace[key]).length > 0) trace[key] = [...listOf(trace[key]), ...added.map(() => null)]
  }
}

/** Places the labels beside the rows of cells. */
function arrangeRows({ layout, view, above, below }: Draft, { y }: Attributes): void {
  const isLabels = layout.yaxis?.type === 'category'
  // Place the first row at the top.
  layout.yaxis = {
    ...{ showgrid: false, ticklabelposition: 'outside', ...(isLabels && { autorange: 'reversed' }) },
    ...layout.yaxis,
  }
  if (!isLabels) return
  const labels = [...new Set(listOf(y))].filter((label) => typeof label === 'string')
  const rowHeight = (view.height - above.title - AXIS_PIXELS - below) / labels.length
  if (rowHeight >= MIN_ROW_PIXELS) layout.yaxis.dtick ??= 1
  if (isNarrow(view))
    layout.yaxis.labelalias ??= shortenLabels(labels, maxLabelWidthOf(labels, view), rowHeight)
}

/** Color scale of a trace, and the values that it colors. */
interface ColorScale {
  /** Member of the trace that has the scale; undefined for the trace itself. */
  path: 'marker' | 'line' | undefined
  holder: Attributes
  values: unknown
}

/** Returns the color scale of a trace; undefined if there is none. */
function findColorScale(trace: Attributes): ColorScale | undefined {
  if (CELL_TYPES.has(trace.type))
    return { path: undefined, holder: trace, values: trace.type === 'mesh3d' ? trace.intensity : trace.z }
  for (const path of ['marker', 'line'] as const)
    if (trace[path]?.showscale === true) return { path, holder: trace[path], values: trace[path].color }
  return undefined
}

/** Returns the smallest and largest number in a list or nested lists; undefined without numbers. */
function numberRangeOf(values: unknown): [number, number] | undefined {
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  for (const row of listOf(values))
    for (const value of typeof row === 'object' && row !== null ? listOf(row) : [row]) {
      if (typeof value !== 'number') continue
      if (value < low) low = value
      if (value > high) high = value
    }
  return low > high ? undefined : [low, high]
}
