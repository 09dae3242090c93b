/// <reference lib="dom" />
// The parts of plotly.js that our pages use.

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

/** A layout whose maps show their data on white: tiles and layers would be fetched from other hosts. */
export function withoutTiles(layout: Record<string, unknown>): Record<string, unknown> {
  const local = { ...layout }
  for (const [key, map] of Object.entries(layout)) {
    if (!/^map(box)?\d*$/.test(key) || typeof map !== 'object' || map === null) continue
    const { layers, ...rest } = map as { layers?: unknown }
    const kept = Array.isArray(layers)
      ? layers.filter((layer) => typeof layer?.source !== 'string')
      : undefined
    local[key] = { ...rest, style: LOCAL_STYLE, ...(kept && { layers: kept }) }
  }
  for (const key of ['map', 'mapbox']) local[key] ??= { style: LOCAL_STYLE }
  return local
}

let geo: Promise<void> | undefined

/** Loads the outlines of countries once. Without them, plotly.js would fetch them from another host. */
export function loadGeo(url: string): Promise<void> {
  geo ??= new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = url
    script.onload = () => resolve()
    script.onerror = () => reject(new Error('the outlines of countries could not be loaded'))
    document.head.append(script)
  })
  return geo
}
