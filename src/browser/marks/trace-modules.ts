/// <reference lib="dom" />
// The functions with which plotly.js draws traces of one type.

import type { PlotlyApi } from '../plotly.ts'

/** Maximum number of marks of a path: browsers draw the parts of a path that are seen. */
export const MAX_PATH_MARKS = 1000

/** A color with its own opacity. */
const TRANSLUCENT = /a\(|\/|^#(?:[\da-f]{4}|[\da-f]{8})$|transparent/i

/** How the marks of a trace look, as plotly.js completes it. */
export interface Marker {
  color: unknown
  line?: { width: unknown }
  gradient?: { type: unknown }
}

/** Returns whether all marks of a trace have one opaque color, without outlines. */
export function haveOneColor({ color, line, gradient }: Marker): boolean {
  return (
    typeof color === 'string' &&
    !TRANSLUCENT.test(color) &&
    !(line && line.width !== 0) &&
    !(gradient && gradient.type !== 'none')
  )
}

export interface Axis {
  /** Returns the position of a value, in pixels. `isClipped`: those that a log axis does not have lie below it. */
  c2p(value: unknown, isClipped?: boolean): number
  /** Length, in pixels. */
  _length: number
}

export interface Subplot {
  xaxis: Axis
  yaxis: Axis
  isRangePlot?: boolean
}

/** The drawn layer of traces, as a selection of d3. */
export interface Layer {
  node(): Element
}

/** Functions of plotly.js for traces of a type. `Marks`: those of a trace, as plotly.js computes them. */
export interface TraceModule<Marks> {
  plot(
    element: HTMLElement,
    subplot: Subplot,
    traces: Marks[],
    layer: Layer,
    transition?: unknown,
    done?: unknown,
  ): void
  style(element: HTMLElement): void
  styleOnSelect(element: HTMLElement, marks: Marks, selection: unknown): void
}

/** Finds the functions of a type of traces: each drawn trace names them. Undefined if plotly.js has none. */
export type FindTraceModule = <Marks>(type: string) => Promise<TraceModule<Marks> | undefined>

export async function findTraceModule<Marks>(
  plotly: PlotlyApi,
  type: string,
): Promise<TraceModule<Marks> | undefined> {
  const element = document.createElement('div')
  try {
    await plotly.newPlot(element, { data: [{ type, visible: false }], layout: { width: 100, height: 100 } })
    const { _fullData: traces } = element as { _fullData?: { _module?: Partial<TraceModule<Marks>> }[] }
    const module = traces?.[0]?._module
    return module?.plot && module.style && module.styleOnSelect ? (module as TraceModule<Marks>) : undefined
  } finally {
    plotly.purge(element)
  }
}

/** Returns whether a position is near enough to be moved into view before the chart is drawn again. */
export function isNear(at: number, { _length: length }: Axis): boolean {
  return at >= -length && at <= 2 * length
}
