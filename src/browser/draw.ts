/// <reference lib="dom" />
// Runs in the page that draws images. The page has no network and a strict policy: see src/draw/pages.ts.
import { loadGeo, needsGeo, withoutTiles } from './plotly.ts'

interface Wanted {
  format: 'png' | 'jpeg' | 'webp' | 'svg'
  width: number
  height: number
  scale: number
}

declare global {
  interface Window {
    /** Draws a figure (JSON text). Resolves to a data URL. */
    drawFigure(figure: string, wanted: Wanted): Promise<string>
  }
}

window.drawFigure = async (text, wanted) => {
  const { data, layout } = JSON.parse(text)
  const figure = { data: data ?? [], layout: withoutTiles(layout ?? {}), config: { staticPlot: true } }
  if (needsGeo(figure)) await loadGeo('/plotly-geo.js')
  return Plotly.toImage(figure, wanted)
}
