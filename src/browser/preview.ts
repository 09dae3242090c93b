/// <reference lib="dom" />
// Draws a figure that the parent page sends. It runs in an opaque origin, because the figure is not trusted.
import { adaptFigure } from './adapt-figure.ts'
import { prepareFigure, removeTiles } from './plotly.ts'

const { own: parentOrigin = '', geo = '' } = (document.currentScript as HTMLScriptElement).dataset
const chart = document.getElementById('chart')!
const status = document.getElementById('status')!

addEventListener('message', async ({ source, origin, data }) => {
  if (source !== parent || origin !== parentOrigin) return
  try {
    const figure = await prepareFigure(data as string, geo, adaptFigure)
    const { width, height, ...layout } = removeTiles(figure)
    await Plotly.newPlot(chart, {
      data: figure.data,
      layout: { ...layout, autosize: true },
      config: { responsive: true, displaylogo: false, showSendToCloud: false },
    })
    status.remove()
    chart.dataset.drawn = 'true'
  } catch (error) {
    status.textContent = `This chart cannot be drawn: ${(error as Error).message}`
    chart.dataset.drawn = 'failed'
  }
})
parent.postMessage({ type: 'gridline:ready' }, parentOrigin)
