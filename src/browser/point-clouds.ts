/// <reference lib="dom" />
// Draws many points of one color as a few paths. plotly.js makes an element for each point, and styles it twice, which
// takes most of the time of a scatter: see docs/adr/0055-point-clouds.md.

import type { Figure, PlotlyApi } from './plotly.ts'

/** Minimum number of points that are drawn as paths. */
const MIN_POINTS = 500
/** Maximum number of points of a path: browsers draw the parts of a path that are seen. */
const MAX_PATH_POINTS = 1000
/** Opacity from which one point over others looks the same as none. */
const OPAQUE = 0.99
/** Maximum number of layers, one for each bit. */
const MAX_LAYERS = 30

/** A color with its own opacity. */
const TRANSLUCENT = /a\(|^#(?:[\da-f]{4}|[\da-f]{8})$|transparent/i

/** A trace as plotly.js completes it, as far as its points need it. */
interface FullTrace {
  type: string
  mode: string
  visible: unknown
  marker: {
    symbol: unknown
    size: unknown
    color: unknown
    opacity: unknown
    line?: { width: unknown }
    gradient?: { type: unknown }
    maxdisplayed?: number
  }
  selectedpoints?: unknown
  stackgroup?: string
  cliponaxis?: boolean
  customdata?: unknown
}

/** Points of a trace in the units of their axes; the first one has the trace and its element. */
type Points = { x: unknown; y: unknown; trace?: FullTrace; node3?: { node(): Element } }[]

interface Axis {
  /** Returns the position of a value, in pixels. */
  c2p(value: unknown): number
  /** Length, in pixels. */
  _length: number
}

interface Subplot {
  xaxis: Axis
  yaxis: Axis
  isRangePlot?: boolean
}

/** Functions of plotly.js for scatters. */
interface ScatterModule {
  plot(
    element: HTMLElement,
    subplot: Subplot,
    traces: Points[],
    layer: unknown,
    transition?: unknown,
    done?: unknown,
  ): void
  style(element: HTMLElement): void
  styleOnSelect(element: HTMLElement, points: Points, selection: unknown): void
}

/** Builds of plotly.js that draw clouds. */
const changed = new WeakSet<PlotlyApi>()

/** Has plotly.js draw the clouds of a figure as paths. Call it before the figure is drawn. */
export async function allowPointClouds(plotly: PlotlyApi, { data }: Pick<Figure, 'data'>): Promise<void> {
  if (changed.has(plotly) || !data.some(mayBeCloud)) return
  changed.add(plotly)
  const module = await findScatterModule(plotly)
  if (module) drawClouds(module)
}

function mayBeCloud({ type = 'scatter', mode, x, y }: Record<string, unknown>): boolean {
  const count = Math.max(...[x, y].map((list) => (list as ArrayLike<unknown> | undefined)?.length ?? 0))
  return type === 'scatter' && (mode === undefined || String(mode).includes('markers')) && count >= MIN_POINTS
}

/** Returns the module of plotly.js that draws scatters, which each drawn trace names. */
async function findScatterModule(plotly: PlotlyApi): Promise<ScatterModule | undefined> {
  const element = document.createElement('div')
  try {
    await plotly.newPlot(element, { data: [{ visible: false }], layout: { width: 100, height: 100 } })
    const { _fullData: traces } = element as { _fullData?: { _module?: ScatterModule }[] }
    const module = traces?.[0]?._module
    return typeof module?.plot === 'function' && typeof module.style === 'function' ? module : undefined
  } finally {
    plotly.purge(element)
  }
}

/** Element → draws its points one by one, as they cannot be a cloud any more. */
const redrawings = new WeakMap<Element, () => void>()

function drawClouds(module: ScatterModule): void {
  const { plot, style, styleOnSelect } = module
  module.plot = (element, subplot, traces, layer, transition, done) => {
    const clouds = transition || subplot.isRangePlot ? [] : traces.filter(isCloud)
    const modes = clouds.map(([{ trace }]) => trace!.mode)
    for (const [{ trace }] of clouds) trace!.mode = withoutMarkers(trace!.mode)
    try {
      plot(element, subplot, traces, layer, transition, done)
    } finally {
      for (const [k, [{ trace }]] of clouds.entries()) trace!.mode = modes[k]
    }
    for (const points of traces) {
      const group = points[0]?.node3?.node().querySelector('g.points')
      if (!group) continue
      for (const path of group.querySelectorAll('path.cloud')) path.remove()
      if (!clouds.includes(points)) continue
      group.append(...createPaths(points, subplot))
      redrawings.set(group, () => module.plot(element, subplot, traces, layer))
    }
  }
  module.style = (element) => {
    style(element)
    for (const group of element.querySelectorAll('g.trace.scatter g.points')) {
      const paths = group.querySelectorAll<SVGPathElement>('path.cloud')
      if (paths.length === 0) continue
      // plotly.js keeps the points with their element.
      const points = (group as Element & { __data__?: Points }).__data__
      if (points && isCloud(points)) for (const path of paths) paint(path, points[0].trace!)
      else redrawings.get(group)?.()
    }
  }
  module.styleOnSelect = (element, points, selection) => {
    const group = points[0]?.node3?.node().querySelector('g.points')
    if (group?.querySelector('path.cloud')) redrawings.get(group)?.()
    styleOnSelect(element, points, selection)
  }
}

/** Returns whether all points of a trace are circles of one size and color. */
function isCloud(points: Points): boolean {
  const trace = points[0]?.trace
  if (trace?.type !== 'scatter' || trace.visible !== true || points.length < MIN_POINTS) return false
  const { mode, marker, selectedpoints, stackgroup, cliponaxis } = trace
  return (
    mode.includes('markers') &&
    (marker.symbol === 'circle' || marker.symbol === 0) &&
    typeof marker.size === 'number' &&
    typeof marker.color === 'string' &&
    !TRANSLUCENT.test(marker.color) &&
    typeof marker.opacity === 'number' &&
    countLayers(marker.opacity) <= MAX_LAYERS &&
    !(marker.line && marker.line.width !== 0) &&
    !(marker.gradient && marker.gradient.type !== 'none') &&
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

/** Returns how many points one over the other are as good as opaque. */
function countLayers(opacity: number): number {
  return opacity >= OPAQUE ? 1 : Math.ceil(Math.log(1 - OPAQUE) / Math.log(1 - opacity))
}

/**
 * Draws the points of a trace as paths. A path has one color where its points overlap: points that lie one over the
 * other are in several paths, as many as it takes until they are opaque.
 */
function createPaths(points: Points, subplot: Subplot): SVGPathElement[] {
  const { xaxis, yaxis } = subplot
  const trace = points[0].trace!
  const [opacity, radius] = [trace.marker.opacity as number, (trace.marker.size as number) / 2]
  const layers = new Layers(countLayers(opacity), radius, subplot)
  const parts = new Map<number, string[]>()
  for (const { x, y } of points) {
    const [left, top] = [xaxis.c2p(x), yaxis.c2p(y)]
    const isSeen =
      left >= -radius && left <= xaxis._length + radius && top >= -radius && top <= yaxis._length + radius
    const layer = isSeen ? layers.place(left, top) : -1
    if (layer < 0) continue
    const circles = parts.get(layer) ?? []
    parts.set(layer, circles)
    circles.push(formatCircle(left, top, radius))
  }
  return [...parts.values()].flatMap((circles) => {
    const paths: SVGPathElement[] = []
    for (let first = 0; first < circles.length; first += MAX_PATH_POINTS) {
      const path = document.createElementNS('http://www.w3.org/2000/svg', 'path')
      path.setAttribute('class', 'cloud')
      path.setAttribute('d', circles.slice(first, first + MAX_PATH_POINTS).join(''))
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
  const [left, d] = [round(x - radius), 2 * radius]
  return `M${left},${round(y)}a${radius},${radius} 0 1,1 ${d},0a${radius},${radius} 0 1,1 ${-d},0Z`
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10
}

/** Chooses layers for points, so that those of one layer do not overlap. */
class Layers {
  /** Layers of the points in each cell, whose side is the radius of a point, as bits. */
  private readonly cells: Int32Array
  private readonly count: number
  private readonly cell: number
  private readonly columns: number

  constructor(count: number, radius: number, { xaxis, yaxis }: Subplot) {
    this.count = count
    this.cell = Math.max(1, radius)
    const cellsOf = (axis: Axis): number => Math.ceil(axis._length / this.cell) + 2 * MARGIN_CELLS
    this.columns = cellsOf(xaxis)
    this.cells = new Int32Array(count === 1 ? 0 : this.columns * cellsOf(yaxis))
  }

  /** Returns the layer of a point; −1 for one over so many others that it is not seen. */
  place(x: number, y: number): number {
    const { cells, columns, count } = this
    if (count === 1) return 0
    const cellOf = (at: number): number => Math.floor(at / this.cell) + MARGIN_CELLS
    const here = cellOf(y) * columns + cellOf(x)
    let taken = 0
    for (let down = -2; down <= 2; down++)
      for (let across = -2; across <= 2; across++) taken |= cells[here + down * columns + across]
    // The lowest bit that is not set.
    const layer = 31 - Math.clz32(~taken & -~taken)
    if (layer < 0 || layer >= count) return -1
    cells[here] |= 1 << layer
    return layer
  }
}

/** Number of cells around those of the chart: for points that are half outside, and their neighbors. */
const MARGIN_CELLS = 4
