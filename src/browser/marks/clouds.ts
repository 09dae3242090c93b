/// <reference lib="dom" />
// Draws points of one color as few paths.

import { MIN_MARKS } from './many-marks.ts'
import {
  haveOneColor,
  isNear,
  MAX_PATH_MARKS,
  type Marker,
  type Subplot,
  type TraceModule,
} from './trace-modules.ts'

/** Opacity that looks the same as more of it. */
const OPAQUE = 0.99
/** Minimum opacity of points that are drawn as paths: many of fainter ones would have to lie one over the other. */
const MIN_OPACITY = 0.05

/** A trace as plotly.js completes it, as far as its points need it. */
interface FullTrace {
  type: string
  mode: string
  visible: unknown
  marker: Marker & {
    symbol: unknown
    size: unknown
    opacity: unknown
    maxdisplayed?: number
    standoff?: unknown
  }
  selectedpoints?: unknown
  stackgroup?: string
  cliponaxis?: boolean
}

/** A point in the units of its axes. The first one of a trace has the trace and its element. */
interface Point {
  x: unknown
  y: unknown
  /** Radius in pixels, by which texts are placed and points are found. */
  mrc?: number
  trace?: FullTrace
  node3?: { node(): Element }
}

type Points = Point[]

/** A cloud as it was drawn. */
interface DrawnCloud {
  opacity: unknown
  redraw: () => void
}

/** Clouds by the element of their points. */
const drawnClouds = new WeakMap<Element, DrawnCloud>()

/** Has a module of plotly.js draw the points of scatters as clouds. */
export function joinPoints(module: TraceModule<Points>): void {
  const { plot, style, styleOnSelect } = module
  module.plot = (element, subplot, traces, layer, transition, done) => {
    // The points of a range slider have the elements of the chart above.
    if (subplot.isRangePlot) return plot(element, subplot, traces, layer, transition, done)
    // An animation also draws traces that it does not name.
    if (transition) for (const group of layer.node().querySelectorAll('g.points')) removeCloud(group)
    const clouds = transition ? [] : traces.filter(isCloud)
    const modes = clouds.map(([{ trace }]) => trace!.mode)
    for (const points of clouds) {
      const { trace } = points[0]
      for (const point of points) point.mrc = radiusOf(trace!)
      trace!.mode = withoutMarkers(trace!.mode)
    }
    try {
      plot(element, subplot, traces, layer, transition, done)
    } finally {
      for (const [k, [{ trace }]] of clouds.entries()) trace!.mode = modes[k]
    }
    for (const points of traces) {
      const group = findGroup(points)
      if (!group) continue
      removeCloud(group)
      if (!clouds.includes(points)) continue
      group.append(...createPaths(points, subplot))
      const redraw = (): void => module.plot(element, subplot, traces, layer)
      drawnClouds.set(group, { opacity: points[0].trace!.marker.opacity, redraw })
    }
  }
  module.style = (element) => {
    style(element)
    for (const group of element.querySelectorAll('g.trace.scatter g.points')) {
      const drawn = drawnClouds.get(group)
      // plotly.js keeps the points with their element.
      const points = (group as Element & { __data__?: Points }).__data__
      if (!drawn || !points) continue
      const { marker } = points[0].trace!
      if (!isCloud(points) || marker.opacity !== drawn.opacity) drawn.redraw()
      else
        for (const path of group.querySelectorAll<SVGPathElement>('path.cloud')) paint(path, points[0].trace!)
    }
  }
  module.styleOnSelect = (element, points, selection) => {
    const group = findGroup(points)
    if (group) drawnClouds.get(group)?.redraw()
    styleOnSelect(element, points, selection)
  }
}

/** Returns the element of the points of a trace; undefined before it is drawn. */
function findGroup(points: Points): Element | undefined {
  return points[0]?.node3?.node().querySelector('g.points') ?? undefined
}

function removeCloud(group: Element): void {
  drawnClouds.delete(group)
  for (const path of group.querySelectorAll('path.cloud')) path.remove()
}

/** Returns whether all points of a trace are circles of one size and color. */
function isCloud(points: Points): boolean {
  const trace = points[0]?.trace
  if (trace?.type !== 'scatter' || trace.visible !== true || points.length < MIN_MARKS) return false
  const { mode, marker, selectedpoints, stackgroup, cliponaxis } = trace
  return (
    mode.includes('markers') &&
    (marker.symbol === 'circle' || marker.symbol === 0) &&
    typeof marker.size === 'number' &&
    haveOneColor(marker) &&
    typeof marker.opacity === 'number' &&
    marker.opacity >= MIN_OPACITY &&
    !marker.standoff &&
    !marker.maxdisplayed &&
    !selectedpoints &&
    !stackgroup &&
    cliponaxis !== false
  )
}

function withoutMarkers(mode: string): string {
  const rest = mode.split('+').filter((part) => part !== 'markers')
  return rest.length > 0 ? rest.join('+') : 'none'
}

/** Returns the radius of the points of a trace, in pixels. Like plotly.js, draws those without a size. */
function radiusOf({ marker }: FullTrace): number {
  return ((marker.size as number) || 6) / 2
}

/** Returns how many points one over the other are as good as opaque. */
function countUntilOpaque(opacity: number): number {
  return opacity >= OPAQUE ? 1 : Math.ceil(Math.log(1 - OPAQUE) / Math.log(1 - opacity))
}

/**
 * Draws the points of a trace as paths. A path has one color where its points overlap: points that overlap are in
 * different paths.
 */
function createPaths(points: Points, { xaxis, yaxis }: Subplot): SVGPathElement[] {
  const trace = points[0].trace!
  const radius = radiusOf(trace)
  const layers = new Layers(countUntilOpaque(trace.marker.opacity as number), radius)
  const parts = new Map<number, string[]>()
  for (const { x, y } of points) {
    const [left, top] = [round(xaxis.c2p(x)), round(yaxis.c2p(y))]
    const layer = isNear(left, xaxis) && isNear(top, yaxis) ? layers.place(left, top) : undefined
    if (layer === undefined) continue
    const circles = parts.get(layer) ?? []
    parts.set(layer, circles)
    circles.push(formatCircle(left, top, radius))
  }
  return [...parts.values()].flatMap((circles) => {
    const paths: SVGPathElement[] = []
    for (let first = 0; first < circles.length; first += MAX_PATH_MARKS) {
      const path = document.createElementNS('http://www.w3.org/2000/svg', 'path')
      path.setAttribute('class', 'cloud')
      path.setAttribute('d', circles.slice(first, first + MAX_PATH_MARKS).join(''))
      path.style.pointerEvents = 'none'
      paint(path, trace)
      paths.push(path)
    }
    return paths
  })
}

function paint(path: SVGPathElement, { marker }: FullTrace): void {
  path.style.fill = marker.color as string
  path.style.opacity = String(marker.opacity)
}

function formatCircle(x: number, y: number, radius: number): string {
  const d = 2 * radius
  return `M${round(x - radius)},${y}a${radius},${radius} 0 1,1 ${d},0a${radius},${radius} 0 1,1 ${-d},0Z`
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10
}

/** A point with its layer. */
interface Placed {
  x: number
  y: number
  layer: number
}

/** More cells than a chart is wide, on each side of it. */
const ROW_CELLS = 1 << 20

/** Chooses layers for points, so that those of one layer do not overlap. */
class Layers {
  /** Points by their cell, whose side is the width of a point. */
  private readonly cells = new Map<number, Placed[]>()
  /** Layer → number of the last point that overlaps one of it. */
  private readonly overlaps: number[] = []
  private readonly untilOpaque: number
  private readonly radius: number
  private count = 0

  constructor(untilOpaque: number, radius: number) {
    this.untilOpaque = untilOpaque
    this.radius = radius
  }

  /** Returns the layer of a point; undefined for one that so many others cover that it is not seen. */
  place(x: number, y: number): number | undefined {
    const { cells, overlaps, untilOpaque, radius } = this
    if (untilOpaque === 1) return 0
    const side = 2 * radius
    const cell = Math.floor(y / side) * ROW_CELLS + Math.floor(x / side)
    const number = ++this.count
    let same = 0
    for (let down = -1; down <= 1; down++)
      for (let across = -1; across <= 1; across++) {
        const near = cells.get(cell + down * ROW_CELLS + across)
        if (!near) continue
        // No pairs here: this runs a million times for a chart.
        for (const other of near) {
          const dx = other.x - x
          const dy = other.y - y
          if (dx * dx + dy * dy < side * side) overlaps[other.layer] = number
          if (dx === 0 && dy === 0) same++
        }
      }
    if (same >= untilOpaque) return undefined
    let layer = 0
    while (overlaps[layer] === number) layer++
    const placed = { x, y, layer }
    const here = cells.get(cell)
    if (here) here.push(placed)
    else cells.set(cell, [placed])
    return layer
  }
}
