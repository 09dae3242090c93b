/// <reference lib="dom" />
// The parts of plotly.js that our pages use.
import { inUtc } from './zones.ts'

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
}

declare global {
  const Plotly: PlotlyApi
}

/** Whether a figure draws a map that needs the outlines of countries. */
export function needsGeo({ data, layout }: Figure): boolean {
  return (
    Object.keys(layout).some((key) => /^geo\d*$/.test(key)) ||
    data.some((trace) => trace?.type === 'scattergeo' || trace?.type === 'choropleth')
  )
}

/** Styles of maps that need no tiles from another host. */
const LOCAL_STYLE = 'white-bg'

/** The layout of a figure whose maps show their data on white: tiles and layers would be fetched from other hosts. */
export function withoutTiles({ data, layout }: Pick<Figure, 'data' | 'layout'>): Record<string, unknown> {
  const subplots = data.flatMap((trace) => (typeof trace?.subplot === 'string' ? [trace.subplot] : []))
  const names = new Set([...Object.keys(layout), ...subplots, 'map', 'mapbox'])
  const local = { ...layout }
  for (const name of names) if (/^map(box)?\d*$/.test(name)) local[name] = onWhite(layout[name])
  const template = layout.template as { layout?: Record<string, unknown> } | undefined
  if (typeof template?.layout === 'object' && template.layout !== null)
    local.template = { ...template, layout: withoutTiles({ data: [], layout: template.layout }) }
  return local
}

function onWhite(map: unknown): Record<string, unknown> {
  const { layers, ...rest } = (typeof map === 'object' && map !== null ? map : {}) as { layers?: unknown }
  // A layer with GeoJSON needs nothing from elsewhere.
  const kept = Array.isArray(layers)
    ? layers.filter(
        ({ source } = {}) => typeof source === 'object' && source !== null && !Array.isArray(source),
      )
    : undefined
  return { ...rest, style: LOCAL_STYLE, ...(kept && { layers: kept }) }
}

/** Whether a figure draws a map with MapLibre. */
function needsMap({ data }: Figure): boolean {
  return data.some((trace) => typeof trace?.type === 'string' && /map(box)?$/.test(trace.type))
}

/**
 * Lets maps start their worker in an opaque origin. MapLibre takes a worker from a blob there for one of another
 * origin, and imports it in a module worker, which browsers refuse. It is started as a classic worker instead.
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
 * Reads a figure (JSON text) and loads what plotly.js needs to draw it in an opaque origin. `adapt`: makes it one of the
 * present plotly.js.
 */
export async function prepared(
  text: string,
  geoUrl: string,
  adapt: (figure: Figure) => Figure | Promise<Figure>,
): Promise<Figure> {
  const given = JSON.parse(text) as Partial<Figure>
  const figure = inUtc(await adapt({ ...given, data: given.data ?? [], layout: given.layout ?? {} }))
  if (needsGeo(figure)) await loadGeo(geoUrl)
  if (needsMap(figure) && !mapWorkersAllowed) {
    allowMapWorkers()
    mapWorkersAllowed = true
  }
  return figure
}

/** Runs a script. `what` it is, for the error where it cannot be loaded. */
export function loadScript(url: string, what: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = url
    script.onload = () => resolve()
    script.onerror = () => reject(new Error(`${what} could not be loaded`))
    document.head.append(script)
  })
}

let geo: Promise<void> | undefined

/** Loads the outlines of countries once. Without them, plotly.js would fetch them from another host. */
export function loadGeo(url: string): Promise<void> {
  geo ??= loadScript(url, 'the outlines of countries')
  return geo
}
