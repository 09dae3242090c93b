/// <reference lib="dom" />
// The embedded chart: draws the figure in the page, in the size of the frame. It runs in an opaque origin.
import { type Figure, loadGeo, needsGeo, withoutTiles } from './plotly.ts'

const script = document.currentScript as HTMLScriptElement
const { geo = '', modebar = '' } = script.dataset
const query = new URLSearchParams(location.search)

/** Settings of the figure that are kept. Others would name other servers or let the reader edit the chart. */
const KEPT = ['scrollZoom', 'doubleClick', 'staticPlot', 'showTips', 'showAxisDragHandles'] as const

function configOf({ config = {} }: Figure): Record<string, unknown> {
  const kept = Object.fromEntries(KEPT.filter((name) => name in config).map((name) => [name, config[name]]))
  return {
    ...kept,
    responsive: true,
    displaylogo: false,
    // An opaque origin cannot take part in sharing, and no chart goes to a third party by one click.
    showSendToCloud: false,
    ...(modebar === 'false' ? { displayModeBar: false } : {}),
  }
}

/** The layout in the size of the frame, unless the address sets one. */
function layoutOf({ layout }: Figure): Record<string, unknown> {
  const { width, height, ...rest } = withoutTiles(layout)
  const side = (name: string): number | undefined => {
    const given = Number(query.get(name))
    return given >= 10 && given <= 10_000 ? given : undefined
  }
  return {
    ...(isPlain(rest) ? dark(rest) : rest),
    width: side('width'),
    height: side('height'),
    autosize: true,
  }
}

/** Whether the figure leaves all colors to us. */
function isPlain(layout: Record<string, unknown>): boolean {
  return ['template', 'paper_bgcolor', 'plot_bgcolor', 'font'].every((name) => layout[name] === undefined)
}

function dark(layout: Record<string, unknown>): Record<string, unknown> {
  if (!matchMedia('(prefers-color-scheme: dark)').matches) return layout
  const axis = { gridcolor: '#3a3f47', zerolinecolor: '#555b66', linecolor: '#555b66' }
  const template = {
    layout: {
      paper_bgcolor: '#16181d',
      plot_bgcolor: '#16181d',
      font: { color: '#d7dae0' },
      xaxis: axis,
      yaxis: axis,
      legend: { bgcolor: 'rgba(0,0,0,0)' },
    },
  }
  return { ...layout, template }
}

async function draw(): Promise<void> {
  const chart = document.getElementById('chart')!
  const status = document.getElementById('status')!
  try {
    const figure = JSON.parse(document.getElementById('figure')!.textContent!) as Figure
    figure.data ??= []
    figure.layout ??= {}
    if (needsGeo(figure)) await loadGeo(geo)
    const frames = Array.isArray(figure.frames) ? figure.frames.filter((frame) => frame !== null) : []
    await Plotly.newPlot(chart, {
      data: figure.data,
      layout: layoutOf(figure),
      config: configOf(figure),
      ...(frames.length > 0 && { frames }),
    })
    status.remove()
    chart.dataset.drawn = 'true'
  } catch (error) {
    status.textContent = `This chart cannot be drawn: ${(error as Error).message}`
    chart.dataset.drawn = 'failed'
  }
  tellParent()
}

/** Tells the page around this frame how high the chart wants to be. Nothing of its content is sent. */
function tellParent(): void {
  if (parent === window) return
  const height = Math.ceil(document.documentElement.scrollHeight)
  parent.postMessage({ type: 'gridline:drawn', height }, '*')
}

draw()
