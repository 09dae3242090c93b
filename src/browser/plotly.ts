/// <reference lib="dom" />
// The API of plotly.js that our pages use, and how they prepare figures for it.
import { convertToUtc } from './zones.ts'

export interface Figure {
  data: Record<string, unknown>[]
  layout: Record<string, unknown>
  frames?: unknown[]
  config?: Record<string, unknown>
}

export interface PlotlyApi {
  toImage(
    figure: Figure | HTMLElement,
    options: { format: string; width?: number; height?: number; scale?: number },
  ): Promise<string>
  newPlot(element: HTMLElement, figure: Figure): Promise<HTMLElement>
  react(element: HTMLElement, figure: Figure): Promise<HTMLElement>
  relayout(element: HTMLElement, changes: Record<string, unknown>): Promise<HTMLElement>
  purge(element: HTMLElement): void
  register(module: object): void
  Plots: { resize(element: HTMLElement): void }
  /** Images of drawn charts. */
  Snapshot: {
    toSVG(element: HTMLElement, format: string, scale: number): string
    svgToImg(options: {
      format: string
      width: number
      height: number
      scale: number
      canvas: HTMLCanvasElement
      svg: string
      promise: true
    }): Promise<string>
  }
}

declare global {
  const Plotly: PlotlyApi
}

/** Returns whether a figure needs the outlines of countries. */
export function needsGeo({ data, layout }: Figure): boolean {
  return (
    Object.keys(layout).some((key) => /^geo\d*$/.test(key)) ||
    data.some((trace) => trace?.type === 'scattergeo' || trace?.type === 'choropleth')
  )
}

/** Returns whether a build of plotly.js with these trace types draws all traces of a figure. */
export function drawsAll(types: readonly string[], { data, frames = [] }: Partial<Figure>): boolean {
  const traces = [data ?? [], ...frames.map((frame) => (frame as Partial<Figure> | null)?.data ?? [])].flat()
  return traces.every((trace) => typeof trace?.type !== 'string' || types.includes(trace.type))
}

/** Returns a layout without its title, which the page around it shows. Figures without a theme stay as they are. */
export function removeTitle(layout: Record<string, unknown>): Record<string, unknown> {
  const { title: _, ...rest } = layout
  return (layout.meta as { theme?: unknown } | undefined)?.theme === undefined ? layout : rest
}

/** Map style without tiles from another host. */
const TILELESS_STYLE = 'white-bg'

/** Returns the layout with maps on a white background: tiles and layers would be loaded from other hosts. */
export function removeTiles({ data, layout }: Pick<Figure, 'data' | 'layout'>): Record<string, unknown> {
  const subplots = data.flatMap((trace) => (typeof trace?.subplot === 'string' ? [trace.subplot] : []))
  const names = new Set([...Object.keys(layout), ...subplots, 'map', 'mapbox'])
  const next = { ...layout }
  for (const name of names) if (/^map(box)?\d*$/.test(name)) next[name] = removeMapTiles(layout[name])
  const template = layout.template as { layout?: Record<string, unknown> } | undefined
  if (typeof template?.layout === 'object' && template.layout !== null)
    next.template = { ...template, layout: removeTiles({ data: [], layout: template.layout }) }
  return next
}

/** Returns a map with a white background, and only with layers that contain their GeoJSON. */
function removeMapTiles(map: unknown): Record<string, unknown> {
  const { layers, ...rest } = (typeof map === 'object' && map !== null ? map : {}) as { layers?: unknown }
  // A layer that contains its GeoJSON loads nothing.
  const safeLayers = Array.isArray(layers)
    ? layers.filter(
        ({ source } = {}) => typeof source === 'object' && source !== null && !Array.isArray(source),
      )
    : undefined
  return { ...rest, style: TILELESS_STYLE, ...(safeLayers && { layers: safeLayers }) }
}

/** Returns whether a figure draws a map with MapLibre. */
function needsMapLibre({ data }: Figure): boolean {
  return data.some((trace) => typeof trace?.type === 'string' && /map(box)?$/.test(trace.type))
}

/**
 * Lets maps start their worker in an opaque origin. MapLibre considers a worker from a blob to be
 * cross-origin there, and imports it in a module worker, which browsers refuse. This starts a classic worker
 * instead.
 */
function allowMapWorkers(): void {
  const sources = new Map<string, string>()
  const texts = new WeakMap<Blob, string>()
  const NativeBlob = Blob
  const NativeWorker = Worker
  const create = URL.createObjectURL.bind(URL)
  window.Blob = class extends NativeBlob {
    constructor(parts: BlobPart[] = [], options?: BlobPropertyBag) {
      super(parts, options)
      if (parts.every((part) => typeof part === 'string')) texts.set(this, parts.join(''))
    }
  }
  URL.createObjectURL = (object) => {
    const url = create(object)
    const text = object instanceof NativeBlob ? texts.get(object) : undefined
    if (text !== undefined) sources.set(url, text)
    return url
  }
  window.Worker = class extends NativeWorker {
    constructor(url: string | URL, options?: WorkerOptions) {
      const imported = /^\s*import\s*["'](blob:[^"']+)["']/.exec(sources.get(String(url)) ?? '')
      const source = sources.get(imported?.[1] ?? String(url))
      if (options?.type !== 'module' || source === undefined) super(url, options)
      else
        super(
          create(new NativeBlob([source.replace(/export\s*\{[^}]*\};?/g, '')], { type: 'text/javascript' })),
        )
    }
  }
}

let mapWorkersAllowed = false

/**
 * Parses a figure (JSON text) and loads everything that plotly.js needs to draw it in an opaque origin.
 * `adapt` converts it for the current plotly.js.
 */
export async function prepareFigure(
  text: string,
  geoUrl: string,
  adapt: (figure: Figure) => Figure | Promise<Figure>,
): Promise<Figure> {
  const input = JSON.parse(text) as Partial<Figure>
  const figure = convertToUtc(await adapt({ ...input, data: input.data ?? [], layout: input.layout ?? {} }))
  if (needsGeo(figure)) await loadGeo(geoUrl)
  if (needsMapLibre(figure) && !mapWorkersAllowed) {
    allowMapWorkers()
    mapWorkersAllowed = true
  }
  return figure
}

/** Loads and runs a script. `what` names it in the error. */
export function loadScript(url: string, what: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = url
    script.onload = () => resolve()
    script.onerror = () => reject(new Error(`${what} could not be loaded`))
    document.head.append(script)
  })
}

let geoLoading: Promise<void> | undefined

/** Loads the outlines of countries once. Otherwise plotly.js would request them from another host. */
export function loadGeo(url: string): Promise<void> {
  // Self-contained pages have them already.
  const { topojson = {} } = (window as { PlotlyGeoAssets?: { topojson?: object } }).PlotlyGeoAssets ?? {}
  if (Object.keys(topojson).length > 0) return Promise.resolve()
  geoLoading ??= loadScript(url, 'the outlines of countries')
  return geoLoading
}
