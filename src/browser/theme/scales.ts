import { isMissing, listOf } from '../../charts/figure/lists.ts'
import { stepAbove } from '../../charts/figure/steps.ts'
import { counted } from '../../contract/closest.ts'
import { DIVERGING, mixed, SEQUENTIAL, scaleOf } from './colors.ts'
import { type Attributes, type Draft, edgeOf, isNarrow, mostBeside, shortenedApart, textOf } from './draft.ts'
import { showEmpty } from './empty.ts'
import { localeIn, numbersUpTo } from './numbers.ts'

/** Types that color cells by a number. */
const CELLS = new Set(['heatmap', 'contour', 'histogram2d', 'surface', 'mesh3d', 'choropleth'])
/** Those of them with rows of cells. */
const MATRICES = new Set(['heatmap', 'contour', 'histogram2d'])
/** Part of the range that must be on the other side of zero, for colors that part there. */
const MIN_OTHER_SIDE = 0.1

/** Colors of cells part at zero if the values do. On a phone, the scale of colors is below the chart. */
export function arrangeColors(draft: Draft): void {
  const { data } = draft
  shareScale(draft)
  shareCounts(draft)
  for (const [k, trace] of data.entries()) {
    if (trace.type === 'heatmap') fillSteps(draft, trace)
    const scale = trace.coloraxis === undefined ? scaleIn(trace) : undefined
    if (scale === undefined) continue
    const { holder, values } = scale
    const range = rangeOf(values)
    if (draft.layout.meta.scale === 'log' && scale.path === undefined && range && range[1] <= 0) {
      draft.unseen.push(`${counted(trace.z.length, 'value')} not above zero`)
      data[k] = { type: 'scatter', x: [], y: [] }
      showEmpty(draft.layout)
      continue
    }
    const scaled = range && scaledAs(draft, scale, range)
    const bar: Attributes = holder.colorbar ?? {}
    const numbers = range && numbersUpTo(Math.max(-range[0], range[1]), draft.layout)
    const shown = barOf(draft, { ...numbers, ...scaled?.colorbar, ...bar })
    const changes: Attributes = { colorbar: shown }
    Object.assign(changes, scaled?.holder)
    // plotly.js finds no lines between equal values.
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
      CELLS.has(trace.type) &&
      holder.colorscale === undefined &&
      holder.zmin === undefined
    ) {
      const isDiverging = Math.min(-range[0], range[1]) > MIN_OTHER_SIDE * Math.max(-range[0], range[1])
      const middle = trace.type === 'mesh3d' || trace.type === 'surface' ? 'cmid' : 'zmid'
      if (isDiverging) Object.assign(changes, { colorscale: scaleOf(DIVERGING), [middle]: 0 })
    }
    data[k] =
      scale.path === undefined
        ? { ...trace, ...changes, ...scaled?.trace }
        : { ...trace, [scale.path]: { ...holder, ...changes } }
    if (MATRICES.has(trace.type)) arrangeRows(draft, trace)
  }
}

/** The look of a scale of colors: on a phone, it is below the chart. */
function barOf(draft: Draft, bar: Attributes): Attributes {
  const { view } = draft
  const shown = { outlinewidth: 0, thickness: 12, ...bar }
  if (!isNarrow(view)) return shown
  draft.scale ??= textOf(bar.title)
  return {
    ...shown,
    ...{ orientation: 'h', yref: 'container', y: edgeOf(view) / view.height, yanchor: 'bottom' },
    ...{ thickness: 10, title: { text: '' } },
  }
}

/** Small charts of counts have one scale of colors: plotly.js knows how far it goes. */
function shareCounts(draft: Draft): void {
  const { data, layout } = draft
  const counts = data.filter(({ type, coloraxis }) => type === 'histogram2d' && coloraxis === undefined)
  if (counts.length < 2) return
  const [{ colorbar = {} }] = counts
  layout.coloraxis = {
    colorscale: scaleOf(SEQUENTIAL),
    colorbar: barOf(draft, colorbar),
    ...layout.coloraxis,
  }
  for (const [k, trace] of data.entries())
    if (counts.includes(trace)) data[k] = { ...trace, coloraxis: 'coloraxis' }
}

/** Points of several series, or small charts, have one scale of colors, and what has no color is grey. */
function shareScale({ data }: Draft): void {
  const colored = data.filter(({ marker }) => marker?.showscale === true && listOf(marker.color).length > 0)
  const range = rangeOf(colored.map(({ marker }) => marker.color))
  if (!range) return
  for (const [k, trace] of data.entries()) {
    const at = colored.indexOf(trace)
    if (at < 0) continue
    const isMissing = [...listOf(trace.marker.color)].some((color) => typeof color !== 'number')
    data[k] = {
      ...trace,
      marker: {
        // Their colors are those of the values: symbols tell series from each other.
        ...(colored.length > 1 && { cmin: range[0], cmax: range[1] }),
        ...(colored.length > 1 && !trace.xaxis && { symbol: SYMBOLS[at % SYMBOLS.length] }),
        ...trace.marker,
        ...(at > 0 && { showscale: false }),
        // plotly.js draws what has no number in a dark color, which is one of the scale.
        ...(isMissing && {
          opacity: [...listOf(trace.marker.color)].map((color) =>
            typeof color === 'number' ? (trace.marker.opacity ?? 1) : 0.35,
          ),
        }),
      },
    }
  }
}

const SYMBOLS = ['circle', 'diamond', 'square', 'cross', 'triangle-up', 'x']

/** Steps of a scale of colors, at most. */
const MAX_STEPS = 6

interface Scaled {
  holder: Attributes
  colorbar?: Attributes
  trace?: Attributes
}

/** The colors of a trace for the `--scale` of its chart; undefined without one. */
function scaledAs(
  { layout, unseen }: Draft,
  { path, values }: ColorScale,
  [least, most]: [number, number],
): Scaled | undefined {
  const letter = path === undefined ? 'z' : 'c'
  if (layout.meta.scale === 'diverging') {
    const middle = least < 0 && most > 0 ? 0 : (least + most) / 2
    return { holder: { colorscale: scaleOf(DIVERGING), [`${letter}mid`]: middle } }
  }
  if (layout.meta.scale === 'steps') {
    const step = stepAbove((most - least) / MAX_STEPS)
    const from = Math.floor(least / step) * step
    const count = Math.max(1, Math.ceil((most - from) / step - 1e-9))
    const edges = Array.from({ length: count + 1 }, (_, k) => Number((from + k * step).toPrecision(12)))
    const colorscale = edges.slice(1).flatMap((_, k) => {
      const color = mixed(SEQUENTIAL, count === 1 ? 0.5 : k / (count - 1))
      return [
        [k / count, color],
        [(k + 1) / count, color],
      ]
    })
    const ends = { [`${letter}min`]: edges[0], [`${letter}max`]: edges.at(-1) }
    return { holder: { colorscale, ...ends }, colorbar: { tickmode: 'array', tickvals: edges } }
  }
  if (layout.meta.scale !== 'log') return undefined
  let lost = 0
  const logarithm = (value: unknown): unknown => {
    if (typeof value === 'object' && value !== null) return [...listOf(value)].map(logarithm)
    if (typeof value !== 'number') return null
    if (value <= 0) lost++
    return value > 0 ? Math.log10(value) : null
  }
  const logarithms = [...listOf(values)].map(logarithm)
  if (lost > 0) unseen.push(`${counted(lost, 'value')} not above zero`)
  const ends = [Math.floor(Math.log10(Math.max(least, most / 1e12))), Math.ceil(Math.log10(most))]
  const digits = ends[1] - ends[0] > 2 ? [1] : [1, 2, 5]
  const ticks = Array.from({ length: ends[1] - ends[0] + 1 }, (_, k) =>
    digits.map((digit) => digit * 10 ** (ends[0] + k)),
  )
  const tickvals = ticks.flat().map(Math.log10)
  const ticktext = ticks
    .flat()
    .map((tick) => tick.toLocaleString(localeIn(layout.meta), { maximumSignificantDigits: 3 }))
  const own = path === undefined ? { text: values, hovertemplate: '%{x}, %{y}: %{text}<extra></extra>' } : {}
  return {
    // Points that the scale has no place for are not drawn.
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
    trace: path === undefined ? { z: logarithms, ...own } : {},
  }
}

/** Cells of an axis that are filled in, at most. */
const MAX_STEPS_FILLED = 2000

/** Adds the steps of numbers or times that have no cell: plotly.js makes the cells beside them wider. */
function fillSteps({ layout }: Draft, trace: Attributes): void {
  const z = listOf(trace.z)
  if (z.length === 0 || Array.isArray(z[0])) return
  for (const letter of ['x', 'y'] as const) {
    const values = [...listOf(trace[letter])]
    if (values.length !== z.length || layout[`${letter}axis`]?.type === 'category') continue
    const isNumbers = values.every((value) => typeof value === 'number' || isMissing(value))
    const placeOf = (value: unknown): number => (isNumbers ? Number(value) : Date.parse(String(value)))
    const places = [...new Set(values.filter((value) => !isMissing(value)).map(placeOf))].sort(
      (a, b) => a - b,
    )
    const steps = places.slice(1).map((place, k) => place - places[k])
    const step = Math.min(...steps)
    const isEven = steps.every((one) => Math.abs(one / step - Math.round(one / step)) < 1e-6)
    const count = Math.round((places[places.length - 1] - places[0]) / step)
    if (places.length < 3 || !(step > 0) || !isEven || count > MAX_STEPS_FILLED) continue
    const known = new Set(places.map((place) => Math.round((place - places[0]) / step)))
    const other = letter === 'x' ? 'y' : 'x'
    const missing = Array.from({ length: count }, (_, k) => k).filter((k) => !known.has(k))
    if (missing.length === 0) continue
    const added = missing.map((k) => places[0] + k * step)
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

/** Labels beside the rows of cells. */
function arrangeRows({ layout, view }: Draft, { y }: Attributes): void {
  const isLabels = layout.yaxis?.type === 'category'
  // Rows are read from the top.
  layout.yaxis = {
    ...{ showgrid: false, ticklabelposition: 'outside', ...(isLabels && { autorange: 'reversed' }) },
    ...layout.yaxis,
  }
  if (!isNarrow(view) || layout.yaxis.type !== 'category') return
  const labels = [...new Set(listOf(y))].filter((label) => typeof label === 'string')
  const texts = shortenedApart(labels, mostBeside([], view))
  layout.yaxis.labelalias ??= Object.fromEntries(labels.map((label, k) => [label, texts[k]]))
}

interface ColorScale {
  /** The part of a trace that has the scale; undefined for the trace itself. */
  path: 'marker' | 'line' | undefined
  holder: Attributes
  values: unknown
}

/** What has a scale of colors in a trace; undefined if nothing has. */
function scaleIn(trace: Attributes): ColorScale | undefined {
  if (CELLS.has(trace.type))
    return { path: undefined, holder: trace, values: trace.type === 'mesh3d' ? trace.intensity : trace.z }
  for (const path of ['marker', 'line'] as const)
    if (trace[path]?.showscale === true) return { path, holder: trace[path], values: trace[path].color }
  return undefined
}

/** The least and the greatest number of a list, or of a list of lists; undefined without numbers. */
function rangeOf(values: unknown): [number, number] | undefined {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (const row of listOf(values))
    for (const value of typeof row === 'object' && row !== null ? listOf(row) : [row]) {
      if (typeof value !== 'number') continue
      if (value < least) least = value
      if (value > most) most = value
    }
  return least > most ? undefined : [least, most]
}
