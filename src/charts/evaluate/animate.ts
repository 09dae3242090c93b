/** Turns groups of traces into frames of an animation. */

import { escapeMarkup } from '../../contract/plotly-markup.ts'
import { parseInstant } from '../../json/index.ts'
import { type Attributes, isObject } from '../figure/figure.ts'
import { labelOf } from '../figure/shared-names.ts'
import { getArrayAt } from './attributes.ts'

/** Maximum number of frames of an animation. */
export const MAX_FRAMES = 200
/** Duration of a frame, in ms. */
const FRAME_MS = 500
/** Duration of the transition between frames, in ms. */
const TRANSITION_MS = 250
/** Padding between the outer points and the ends of an axis, as a fraction of its extent. */
const AXIS_PADDING = 0.05

/**
 * Creates an animated figure with a slider and buttons. `frames` maps traces to frame names; other traces are
 * in every frame. Axes cover the values of all frames, so that they do not move.
 */
export function animateFigure(
  figure: Attributes,
  traces: readonly unknown[],
  frames: ReadonlyMap<unknown, string>,
): Attributes {
  const names = sortFrames([...new Set(frames.values())])
  const moving = shareColorRange(traces.filter((trace): trace is Attributes => frames.has(trace)))
  const still = traces.filter((trace) => !frames.has(trace))
  const series = [...new Set(moving.map(seriesNameOf))]
  const [first, byFrame] = [new Map<string, Attributes>(), new Map<string, Attributes>()]
  for (const trace of moving.toReversed()) {
    first.set(seriesNameOf(trace), trace)
    byFrame.set(JSON.stringify([frames.get(trace), seriesNameOf(trace)]), trace)
  }
  const tracesOf = (name: string): Attributes[] =>
    series.map((key) => byFrame.get(JSON.stringify([name, key])) ?? removePoints(first.get(key)!))
  const layout: Attributes = isObject(figure.layout) ? { ...figure.layout } : {}
  layout.xaxis = fixAxisRange(layout.xaxis, moving, 'x')
  layout.yaxis = fixAxisRange(
    layout.yaxis,
    moving.filter(({ yaxis }) => yaxis !== 'y2'),
    'y',
  )
  if (layout.yaxis2 !== undefined)
    layout.yaxis2 = fixAxisRange(
      layout.yaxis2,
      moving.filter(({ yaxis }) => yaxis === 'y2'),
      'y',
    )
  const indices = series.map((_, k) => still.length + k)
  return {
    ...figure,
    data: [...still, ...tracesOf(names[0])],
    frames: names.map((name) => ({ name, data: tracesOf(name), traces: indices })),
    layout: { ...layout, sliders: [createSlider(names)], updatemenus: [createButtons()] },
  }
}

/** Sets the same color range for all traces, in place. */
function shareColorRange(traces: Attributes[]): Attributes[] {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { marker } of traces)
    for (const color of isObject(marker) && Array.isArray(marker.color) ? marker.color : [])
      if (typeof color === 'number') [min, max] = [Math.min(min, color), Math.max(max, color)]
  if (min <= max)
    for (const trace of traces)
      trace.marker = { cmin: min, cmax: max, ...(isObject(trace.marker) ? trace.marker : {}) }
  return traces
}

/** Returns the series name of a trace, by which frames are matched. */
export function seriesNameOf({ name }: Attributes): string {
  return String(name ?? '')
}

/** Copies a trace without its points, for a frame in which its series has none. */
function removePoints(trace: Attributes): Attributes {
  return { ...trace, x: [], y: [], ...(Array.isArray(trace.text) && { text: [] }) }
}

/** Sorts frame names that are all numbers or all dates; keeps the order of others. */
function sortFrames(names: readonly string[]): string[] {
  const numbers = new Map(names.map((name) => [name, name.trim() === '' ? Number.NaN : Number(name)]))
  const dates = new Map(names.map((name) => [name, parseInstant(name)]))
  for (const positions of [numbers, dates])
    if (names.every((name) => !Number.isNaN(positions.get(name)!)))
      return [...names].sort((a, b) => positions.get(a)! - positions.get(b)!)
  return [...names]
}

/** Sets the range of an axis to the values of all frames, unless it has one. */
function fixAxisRange(original: unknown, traces: readonly Attributes[], letter: 'x' | 'y'): Attributes {
  const axis: Attributes = isObject(original) ? original : {}
  if (axis.range !== undefined || axis.type === 'log') return axis
  const values = traces.flatMap((trace) => getArrayAt(trace, letter))
  if (axis.type === 'category') {
    const labels = [...new Set(values.map(labelOf))]
    const withRange = { ...axis, range: [-0.5, labels.length - 0.5] }
    return axis.categoryorder === undefined
      ? { ...withRange, categoryorder: 'array', categoryarray: labels }
      : withRange
  }
  const isDates = axis.type === 'date'
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    const position =
      isDates && typeof value === 'string'
        ? parseInstant(value)
        : typeof value === 'number'
          ? value
          : Number.NaN
    if (position < min) min = position
    if (position > max) max = position
  }
  if (min > max) return axis
  // Bars begin at zero.
  const isBars = letter === 'y' && traces.some(({ type }) => type === 'bar')
  const [from, to] = isBars ? [Math.min(0, min), Math.max(0, max)] : [min, max]
  // The first and the last bar need room for their width.
  const distinct = new Set(values).size
  const isBarAxis = letter === 'x' && traces.some(({ type }) => type === 'bar')
  const padding = (to - from || 1) * (isBarAxis ? 0.6 / Math.max(1, distinct - 1) : AXIS_PADDING)
  const range = [isBars && from === 0 ? 0 : from - padding, to + padding]
  return { ...axis, range: isDates ? range.map((position) => new Date(position).toISOString()) : range }
}

const ANIMATION_MODE = { mode: 'immediate', fromcurrent: true }
const FRAME = { duration: FRAME_MS, redraw: true }
const TRANSITION = { duration: TRANSITION_MS }

function createSlider(names: readonly string[]): Attributes {
  return {
    active: 0,
    x: 0,
    len: 1,
    pad: { t: 62 },
    currentvalue: { xanchor: 'right', font: { size: 16 } },
    steps: names.map((name) => ({
      label: escapeMarkup(name),
      method: 'animate',
      args: [
        [name],
        { ...ANIMATION_MODE, frame: { duration: 0, redraw: true }, transition: { duration: 0 } },
      ],
    })),
  }
}

function createButtons(): Attributes {
  return {
    type: 'buttons',
    direction: 'left',
    showactive: false,
    x: 0,
    xanchor: 'left',
    y: 0,
    yanchor: 'top',
    pad: { t: 40, r: 10 },
    buttons: [
      {
        label: 'Play',
        method: 'animate',
        args: [null, { ...ANIMATION_MODE, frame: FRAME, transition: TRANSITION }],
      },
      {
        label: 'Pause',
        method: 'animate',
        args: [[null], { ...ANIMATION_MODE, frame: { duration: 0 }, transition: { duration: 0 } }],
      },
    ],
  }
}
