import { NO_LABEL } from '../../../charts/figure/names.ts'
import { escapedMarkup } from '../../../contract/markup.ts'
import { instantOf } from '../../../json/index.ts'
import { type Attributes, isObject } from './attributes.ts'

/** Frames of an animation. */
export const MAX_FRAMES = 200
/** How long a frame is shown, and how long it takes to become the next one, in ms. */
const FRAME_MS = 500
const TRANSITION_MS = 250
/** Room between the outer points and the ends of an axis, as a part of its extent. */
const ROOM = 0.05

/**
 * A figure whose traces are shown one after the other: those of the first frame, with a slider and buttons. Axes hold the
 * values of all frames, so that they stand still. `frames`: the frame of a trace; others are in all of them.
 */
export function animated(
  figure: Attributes,
  traces: readonly unknown[],
  frames: ReadonlyMap<unknown, string>,
): Attributes {
  const names = inOrder([...new Set(frames.values())])
  const moving = withOneScale(traces.filter((trace): trace is Attributes => frames.has(trace)))
  const still = traces.filter((trace) => !frames.has(trace))
  const series = [...new Set(moving.map(seriesOf))]
  const [first, placed] = [new Map<string, Attributes>(), new Map<string, Attributes>()]
  for (const trace of moving.toReversed()) {
    first.set(seriesOf(trace), trace)
    placed.set(JSON.stringify([frames.get(trace), seriesOf(trace)]), trace)
  }
  const of = (name: string): Attributes[] =>
    series.map((key) => placed.get(JSON.stringify([name, key])) ?? empty(first.get(key)!))
  const layout: Attributes = isObject(figure.layout) ? { ...figure.layout } : {}
  layout.xaxis = standing(layout.xaxis, moving, 'x')
  layout.yaxis = standing(
    layout.yaxis,
    moving.filter(({ yaxis }) => yaxis !== 'y2'),
    'y',
  )
  if (layout.yaxis2 !== undefined)
    layout.yaxis2 = standing(
      layout.yaxis2,
      moving.filter(({ yaxis }) => yaxis === 'y2'),
      'y',
    )
  const indices = series.map((_, k) => still.length + k)
  return {
    ...figure,
    data: [...still, ...of(names[0])],
    frames: names.map((name) => ({ name, data: of(name), traces: indices })),
    layout: { ...layout, sliders: [slider(names)], updatemenus: [buttons()] },
  }
}

/** Traces whose points have one scale of colors in all frames. Changes them. */
function withOneScale(traces: Attributes[]): Attributes[] {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { marker } of traces)
    for (const color of isObject(marker) && Array.isArray(marker.color) ? (marker.color as unknown[]) : [])
      if (typeof color === 'number') [least, most] = [Math.min(least, color), Math.max(most, color)]
  if (least <= most)
    for (const trace of traces)
      trace.marker = { cmin: least, cmax: most, ...(isObject(trace.marker) ? trace.marker : {}) }
  return traces
}

/** Returns the series of a trace, which is the same one in all frames. */
export function seriesOf({ name }: Attributes): string {
  return String(name ?? '')
}

/** A trace without points, for a frame in which its series has none. */
function empty(trace: Attributes): Attributes {
  return { ...trace, x: [], y: [], ...(Array.isArray(trace.text) && { text: [] }) }
}

/** Numbers and dates ascend; other names stay in their order. */
function inOrder(names: readonly string[]): string[] {
  const places = new Map(names.map((name) => [name, name.trim() === '' ? Number.NaN : Number(name)]))
  const dates = new Map(names.map((name) => [name, instantOf(name)]))
  for (const known of [places, dates])
    if (names.every((name) => !Number.isNaN(known.get(name)!)))
      return [...names].sort((a, b) => known.get(a)! - known.get(b)!)
  return [...names]
}

/** An axis that holds the values of all frames. */
function standing(given: unknown, traces: readonly Attributes[], letter: 'x' | 'y'): Attributes {
  const axis: Attributes = isObject(given) ? given : {}
  if (axis.range !== undefined || axis.type === 'log') return axis
  const values = traces.flatMap((trace) => (Array.isArray(trace[letter]) ? (trace[letter] as unknown[]) : []))
  if (axis.type === 'category') {
    const labels = [...new Set(values.map((value) => value ?? NO_LABEL))]
    const whole = { ...axis, range: [-0.5, labels.length - 0.5] }
    return axis.categoryorder === undefined
      ? { ...whole, categoryorder: 'array', categoryarray: labels }
      : whole
  }
  const isDates = axis.type === 'date'
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    const at =
      isDates && typeof value === 'string' ? instantOf(value) : typeof value === 'number' ? value : Number.NaN
    if (at < least) least = at
    if (at > most) most = at
  }
  if (least > most) return axis
  // Bars stand on zero.
  const isBars = letter === 'y' && traces.some(({ type }) => type === 'bar')
  const [from, to] = isBars ? [Math.min(0, least), Math.max(0, most)] : [least, most]
  // The first and the last bar are wider than their places.
  const places = new Set(values).size
  const isAlong = letter === 'x' && traces.some(({ type }) => type === 'bar')
  const room = (to - from || 1) * (isAlong ? 0.6 / Math.max(1, places - 1) : ROOM)
  const range = [isBars && from === 0 ? 0 : from - room, to + room]
  return { ...axis, range: isDates ? range.map((at) => new Date(at).toISOString()) : range }
}

const MOVE = { mode: 'immediate', fromcurrent: true }
const frame = { duration: FRAME_MS, redraw: true }
const transition = { duration: TRANSITION_MS }

function slider(names: readonly string[]): Attributes {
  return {
    active: 0,
    x: 0,
    len: 1,
    pad: { t: 62 },
    currentvalue: { xanchor: 'right', font: { size: 16 } },
    steps: names.map((name) => ({
      label: escapedMarkup(name),
      method: 'animate',
      args: [[name], { ...MOVE, frame: { duration: 0, redraw: true }, transition: { duration: 0 } }],
    })),
  }
}

function buttons(): Attributes {
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
      { label: 'Play', method: 'animate', args: [null, { ...MOVE, frame, transition }] },
      {
        label: 'Pause',
        method: 'animate',
        args: [[null], { ...MOVE, frame: { duration: 0 }, transition: { duration: 0 } }],
      },
    ],
  }
}
