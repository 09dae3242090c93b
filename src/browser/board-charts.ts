/// <reference lib="dom" />
// Draws all charts of a board in one document with an opaque origin, which lies over the board: plotly.js is loaded
// and compiled once. The board sends figures and places; see `board.ts`.

import { ChartUpdates } from './chart-updates.ts'
import { type ChartSettings, ChartView, loadPlotly } from './chart-view.ts'

/** Where a chart is on the board, in pixels. */
export interface Rectangle {
  left: number
  top: number
  width: number
  height: number
}

/** Message of the board. */
export type BoardMessage =
  /** Places of all charts, by id. Those without a place are removed. */
  | { type: 'gridline:places'; places: Record<string, Rectangle> }
  /** A chart, which has a place. `build`: URL of the plotly.js that draws it; `figure`: JSON text. */
  | {
      type: 'gridline:chart'
      id: string
      figure: string
      build: string
      settings: ChartSettings
      isUntitled: boolean
      title: string
    }
  /** Data may have changed. */
  | { type: 'gridline:look' }

interface DrawnChart {
  box: HTMLElement
  place?: Rectangle
  chart: HTMLElement
  status: HTMLElement
  view?: ChartView
  updates?: ChartUpdates
  hasPicture?: boolean
}

const charts = new Map<string, DrawnChart>()
const send = (message: object): void => parent.postMessage(message, '*')

function createBox(): DrawnChart {
  const [box, chart, status] = ['div', 'div', 'p'].map((tag) => document.createElement(tag))
  box.className = 'box'
  chart.role = 'img'
  status.role = 'status'
  status.textContent = 'Drawing the chart…'
  box.append(status, chart)
  document.body.append(box)
  return { box, chart, status }
}

function removeChart(id: string, { box, view, updates }: DrawnChart): void {
  updates?.stop()
  view?.purge()
  box.remove()
  charts.delete(id)
}

function placeCharts(places: Record<string, Rectangle>): void {
  for (const [id, chart] of charts) if (!places[id]) removeChart(id, chart)
  for (const [id, place] of Object.entries(places)) {
    const drawn = charts.get(id) ?? createBox()
    charts.set(id, drawn)
    for (const [side, pixels] of Object.entries(place)) drawn.box.style.setProperty(side, `${pixels}px`)
    const { width, height } = drawn.place ?? place
    drawn.place = place
    if (width !== place.width || height !== place.height) drawn.view?.fitToPlace()
  }
}

/** Draws a chart, after those before it. */
async function draw(message: Extract<BoardMessage, { type: 'gridline:chart' }>): Promise<void> {
  const { id, figure, build, settings, isUntitled, title } = message
  const drawn = charts.get(id)
  if (!drawn) return
  const { box, chart, status } = drawn
  chart.ariaLabel = title
  const plotly = await loadPlotly(build)
  const view = new ChartView(
    {
      chart,
      status,
      isUntitled,
      measure: () => ({ width: box.clientWidth, height: box.clientHeight }),
      onDrawn: (failed) => {
        drawn.hasPicture = failed
        // A chart can need more height than its place has.
        send({ type: 'gridline:drawn', id, height: Number.parseFloat(chart.style.minHeight) || 0 })
        schedulePictures()
      },
    },
    settings,
    plotly,
  )
  drawn.view = view
  drawn.updates = new ChartUpdates(view, chart, settings, figure)
  await view.drawFirst(figure)
  if (charts.get(id) === drawn) drawn.updates.begin()
  else removeChart(id, drawn)
}

/** Time without a new drawing before pictures are made, in ms. */
const PICTURE_DELAY_MS = 2000
let pictures: ReturnType<typeof setTimeout> | undefined

/** Schedules pictures of charts, for printing: a page cannot wait for them when it is printed. */
function schedulePictures(): void {
  clearTimeout(pictures)
  pictures = setTimeout(sendPicture, PICTURE_DELAY_MS)
}

async function sendPicture(): Promise<void> {
  const next = [...charts].find(([, { view, hasPicture }]) => view && !hasPicture)
  if (!next) return
  const [id, drawn] = next
  drawn.hasPicture = true
  try {
    send({ type: 'gridline:picture', id, url: await drawn.view!.toPicture() })
  } catch {
    // It is printed without.
  }
  pictures = setTimeout(sendPicture)
}

let drawing = Promise.resolve()

addEventListener('message', ({ source, origin, data }) => {
  // Only pages of this server show charts here.
  if (parent === window || source !== parent || origin !== location.origin) return
  const message = data as BoardMessage
  switch (message?.type) {
    case 'gridline:places':
      return placeCharts(message.places)
    case 'gridline:chart':
      // What is drawn is shown before the next one is.
      drawing = drawing
        .then(() => draw(message))
        .catch(() => {})
        .then(() => new Promise((resolve) => setTimeout(resolve)))
      return
    case 'gridline:look':
      for (const { updates } of charts.values()) updates?.poll()
  }
})
document.addEventListener('visibilitychange', () => {
  for (const { updates } of charts.values()) updates?.follow()
})
send({ type: 'gridline:ready' })
