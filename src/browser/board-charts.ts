/// <reference lib="dom" />
// Draws all charts of a board in one document with an opaque origin, which lies over the board: plotly.js is loaded
// and compiled once. The board sends figures and places; see `board.ts`.

import { ChartUpdates } from './chart-updates.ts'
import { type ChartSettings, ChartView, loadPlotly } from './chart-view.ts'
import type { PlotlyApi } from './plotly.ts'

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
  /** Whether data may have changed since its figure was loaded. */
  mustLook?: boolean
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
async function draw(
  { id, figure, settings, isUntitled, title }: Extract<BoardMessage, { type: 'gridline:chart' }>,
  plotly: PlotlyApi,
): Promise<void> {
  const drawn = charts.get(id)
  if (!drawn) return
  const { box, chart, status } = drawn
  chart.ariaLabel = title
  const view = new ChartView(
    {
      chart,
      status,
      isUntitled,
      measure: () => ({ width: box.clientWidth, height: box.clientHeight }),
      onDrawn: (failed) => {
        const isFirst = drawn.hasPicture === undefined
        drawn.hasPicture = failed
        // A chart can need more height than its place has.
        send({ type: 'gridline:drawn', id, height: Number.parseFloat(chart.style.minHeight) || 0 })
        schedulePictures(isFirst ? FIRST_PICTURE_DELAY_MS : PICTURE_DELAY_MS)
      },
      onChanged: () => {
        drawn.hasPicture = false
        schedulePictures(PICTURE_DELAY_MS)
      },
    },
    settings,
    plotly,
  )
  drawn.view = view
  await view.drawFirst(figure)
  if (charts.get(id) !== drawn) return removeChart(id, drawn)
  drawn.updates = new ChartUpdates(view, chart, settings, figure)
  drawn.updates.begin()
  if (drawn.mustLook) drawn.updates.poll()
}

/** Time without a new drawing before pictures are made, in ms: the first ones, and those of changed charts. */
const FIRST_PICTURE_DELAY_MS = 200
const PICTURE_DELAY_MS = 2000
/** Time after which pictures are made even if charts are drawn all the time, in ms. */
const MAX_PICTURE_DELAY_MS = 10_000
let pictures: ReturnType<typeof setTimeout> | undefined
/** When pictures are made at the latest, in ms of `performance.now()`. */
let picturesDue = Number.POSITIVE_INFINITY

/** Schedules pictures of charts, for printing: a page cannot wait for them when it is printed. */
function schedulePictures(delay: number): void {
  const now = performance.now()
  picturesDue = Math.min(picturesDue, now + MAX_PICTURE_DELAY_MS)
  clearTimeout(pictures)
  pictures = setTimeout(sendPicture, Math.min(delay, picturesDue - now))
}

async function sendPicture(): Promise<void> {
  const next = [...charts].find(([, { view, hasPicture }]) => view && !hasPicture)
  if (!next) {
    picturesDue = Number.POSITIVE_INFINITY
    return
  }
  const [id, drawn] = next
  drawn.hasPicture = true
  try {
    send({ type: 'gridline:picture', id, url: await drawn.view!.toPicture() })
  } catch {
    // It is printed without.
  }
  clearTimeout(pictures)
  pictures = setTimeout(sendPicture)
}

let drawing = Promise.resolve()

/** Draws a chart when its plotly.js is loaded and those before it are drawn. The board shows its frame if that fails. */
function schedule(message: Extract<BoardMessage, { type: 'gridline:chart' }>): void {
  const fail = (): void => send({ type: 'gridline:failed', id: message.id })
  loadPlotly(message.build).then((plotly) => {
    drawing = drawing
      .then(() => draw(message, plotly))
      .catch(fail)
      // What is drawn is shown before the next one is.
      .then(() => new Promise((resolve) => setTimeout(resolve)))
  }, fail)
}

addEventListener('message', ({ source, origin, data }) => {
  // Only pages of this server show charts here.
  if (parent === window || source !== parent || origin !== location.origin) return
  const message = data as BoardMessage
  switch (message?.type) {
    case 'gridline:places':
      return placeCharts(message.places)
    case 'gridline:chart':
      schedule(message)
      return
    case 'gridline:look':
      for (const drawn of charts.values())
        if (drawn.updates) drawn.updates.poll()
        else drawn.mustLook = true
  }
})
document.addEventListener('visibilitychange', () => {
  for (const { updates } of charts.values()) updates?.follow()
})
send({ type: 'gridline:ready' })
