/// <reference lib="dom" />
// Draws bars of one color as few paths.

import { MIN_MARKS } from './many-marks.ts'
import {
  type Axis,
  type FindTraceModule,
  haveOneColor,
  isNear,
  MAX_PATH_MARKS,
  type Marker,
  type Subplot,
  type TraceModule,
} from './trace-modules.ts'

/** Size below which a bar covers whole pixels, so that it is seen, in pixels. */
const THIN_PIXELS = 2

/** A trace as plotly.js completes it, as far as its bars need it. */
interface FullTrace {
  type: string
  visible: unknown
  orientation: 'v' | 'h'
  marker: Marker & { opacity?: unknown; pattern?: { shape: unknown; path?: unknown } }
  ids?: unknown
  text?: unknown
  texttemplate?: unknown
  selectedpoints?: unknown
  error_x?: { visible?: unknown }
  error_y?: { visible?: unknown }
}

/** A bar, by its position and its size in the units of the axes. The first one of a trace has the trace and its element. */
interface Bar {
  p0: unknown
  p1: unknown
  s0: unknown
  s1: unknown
  trace?: FullTrace
  t?: { cornerradiusvalue?: unknown }
  node3?: { node(): Element }
}

type Bars = Bar[]

interface Chart extends HTMLElement {
  _fullLayout: { bargap?: number; bargroupgap?: number }
  _context: { staticPlot?: boolean }
}

/** Traces whose bars are joined, by their element, and what draws them again. */
const drawnBars = new WeakMap<Element, () => void>()

/** Has a module of plotly.js join bars: also that of histograms, which are drawn with bars, in the same layer. */
export async function joinBars(module: TraceModule<Bars>, find: FindTraceModule): Promise<void> {
  const { plot, style, styleOnSelect } = module
  const histograms = await find<Bars>('histogram')
  const joined: TraceModule<Bars> = {
    plot(element, subplot, traces, layer, transition, done) {
      // plotly.js draws one bar in a thousand, which then gets the shapes of all.
      const drawn = traces.map((bars) =>
        !transition && bars.length >= MIN_MARKS && areAlike(bars)
          ? bars.filter((_, k) => k % MAX_PATH_MARKS === 0)
          : bars,
      )
      plot(element, subplot, drawn, layer, transition, done)
      for (const [k, bars] of traces.entries()) {
        const trace = layer.node().querySelectorAll('g.trace.bars')[k]
        drawnBars.delete(trace)
        if (drawn[k] === bars) continue
        const paths = trace.querySelectorAll('g.point > path')
        const shapeOf = createShape(bars, subplot, element as Chart)
        for (const [n, path] of paths.entries())
          path.setAttribute(
            'd',
            bars
              .slice(n * MAX_PATH_MARKS, (n + 1) * MAX_PATH_MARKS)
              .map(shapeOf)
              .join('') || 'M0,0Z',
          )
        drawnBars.set(trace, () => joined.plot(element, subplot, traces, layer))
      }
    },
    style(element) {
      for (const trace of element.querySelectorAll('g.trace.bars')) {
        // plotly.js keeps the bars with their element.
        const bars = (trace as Element & { __data__?: Bars }).__data__
        if (bars && !areAlike(bars)) drawnBars.get(trace)?.()
      }
      style(element)
    },
    styleOnSelect(element, bars, selection) {
      const trace = bars[0].node3?.node()
      const redraw = trace && drawnBars.get(trace)
      if (redraw) {
        redraw()
        style(element)
      }
      styleOnSelect(element, bars, selection)
    },
  }
  // plotly.js draws the traces of all modules with the same function at once.
  if (histograms?.plot === plot) Object.assign(histograms, joined)
  Object.assign(module, joined)
}

/** Returns whether all bars of a trace are rectangles of one color, without texts. */
function areAlike([{ trace, t }]: Bars): boolean {
  if (trace?.visible !== true || (trace.type !== 'bar' && trace.type !== 'histogram')) return false
  const { marker, ids, text, texttemplate, selectedpoints, error_x, error_y } = trace
  return (
    haveOneColor(marker) &&
    (marker.opacity ?? 1) === 1 &&
    !(marker.pattern && (marker.pattern.shape !== '' || marker.pattern.path)) &&
    !t?.cornerradiusvalue &&
    !ids &&
    !text &&
    !texttemplate &&
    !selectedpoints &&
    !error_x?.visible &&
    !error_y?.visible
  )
}

/** Returns what formats the shape of a bar as plotly.js draws it; empty for a bar that is not seen. */
function createShape(
  bars: Bars,
  { xaxis, yaxis }: Subplot,
  { _fullLayout: { bargap, bargroupgap }, _context: { staticPlot } }: Chart,
): (bar: Bar) => string {
  const isHorizontal = bars[0].trace!.orientation === 'h'
  const [across, along] = isHorizontal ? [yaxis, xaxis] : [xaxis, yaxis]
  const isGapless = bargap === 0 && bargroupgap === 0
  const snap = (at: number, other: number): number => {
    if (staticPlot) return at
    if (Math.abs(at - other) >= THIN_PIXELS) return isGapless ? Math.round(at) : at
    return at > other ? Math.ceil(at) : Math.floor(at)
  }
  // One end after the other, as plotly.js does.
  const ends = (axis: Axis, from: unknown, to: unknown): [number, number] => {
    const [a, b] = [axis.c2p(from, true), axis.c2p(to, true)]
    // A bar without a length is not seen, but one without a width is.
    if (axis === along && a === b) return [a, b]
    const start = snap(a, b)
    const end = snap(b, start)
    return start < end ? [start, end] : [end, start]
  }
  return ({ p0, p1, s0, s1 }) => {
    const [left, right] = ends(across, p0, p1).map(round)
    const [low, high] = ends(along, s0, s1).map(round)
    if (!(high > low) || !(right >= left) || !isNear(left, across)) return ''
    return isHorizontal
      ? `M${low},${left}V${right}H${high}V${left}Z`
      : `M${left},${low}V${high}H${right}V${low}Z`
  }
}

function round(pixels: number): number {
  return Math.round(pixels * 100) / 100
}
