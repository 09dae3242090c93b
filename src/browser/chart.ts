/// <reference lib="dom" />
// Draws the figure of an embedded chart, in the size of its frame. It runs in an opaque origin.

import { ChartUpdates } from './chart-updates.ts'
import { type ChartSettings, ChartView, loadMore, type Preview } from './chart-view.ts'

const settings: ChartSettings = { ...(document.currentScript as HTMLScriptElement).dataset }
const query = new URLSearchParams(location.search)
const chart = document.getElementById('chart')!

/** Returns the width or height of the query, in pixels. */
function readSide(name: string): number | undefined {
  const pixels = Number(query.get(name))
  return pixels >= 10 && pixels <= 10_000 ? pixels : undefined
}

const view = new ChartView(
  {
    chart,
    status: document.getElementById('status')!,
    isUntitled: query.get('title') === 'false',
    fixed: { width: readSide('width'), height: readSide('height') },
    measure: () => ({ width: innerWidth, height: innerHeight }),
    onDrawn: sendHeight,
    // Other sites need not know.
    onChanged: () => parent.postMessage({ type: 'gridline:changed' }, location.origin),
  },
  settings,
  Plotly,
)
const stored = document.getElementById('figure')?.textContent ?? ''
const updates = new ChartUpdates(view, chart, settings, stored)

/** Preview that is not drawn yet; a newer one replaces it. */
let nextPreview: Preview | undefined
let watchesParts = false

/** Draws previews, one after another, until there is none. */
async function drawPreviews(): Promise<void> {
  while (nextPreview) {
    const shown = nextPreview
    view.preview = shown.figure === null ? undefined : shown
    view.chosenScheme = shown.scheme
    document.documentElement.style.colorScheme = view.readScheme()
    document.body.style.background = view.readScheme() === 'dark' ? '#16181d' : '#fff'
    updates.follow()
    try {
      const more = shown.isEditable ? await loadMore(settings.more ?? '') : undefined
      await view.draw(shown.figure ?? updates.stored)
      if (!watchesParts) more?.watchParts(chart)
      watchesParts ||= more !== undefined
      chart.dataset.shows = view.preview ? 'preview' : 'stored'
    } catch (error) {
      view.showFailure(error)
    }
    if (nextPreview === shown) nextPreview = undefined
  }
}

// Only pages of this server can show a figure in place of the chart.
addEventListener('message', ({ source, origin, data }) => {
  if (parent === window || source !== parent || origin !== location.origin) return
  if (data?.type === 'gridline:look') updates.poll()
  if (data?.type === 'gridline:print') sendPicture()
  if (data?.type !== 'gridline:show') return
  const isDrawing = nextPreview !== undefined
  nextPreview = data as Preview
  if (!isDrawing) drawPreviews()
})

/** Draws the chart for the first time, then follows its data. */
async function begin(): Promise<void> {
  // The page around it sends what to draw.
  if (stored === '') {
    parent.postMessage({ type: 'gridline:ready' }, '*')
    return
  }
  await view.drawFirst(stored)
  updates.begin()
}

/** Sends the height of the chart to the parent page, and whether it cannot be drawn, but none of its content. */
function sendHeight(failed: boolean): void {
  if (parent === window) return
  const height = Math.ceil(document.documentElement.scrollHeight)
  parent.postMessage({ type: 'gridline:drawn', height, ...(failed && { failed }) }, '*')
}

/** Sends the chart as an image to a page of this server, which prints it. */
async function sendPicture(): Promise<void> {
  const url = await view.toPicture().catch(() => undefined)
  if (url !== undefined) parent.postMessage({ type: 'gridline:picture', url }, location.origin)
}

addEventListener('resize', () => view.scheduleRedraw())
document.addEventListener('visibilitychange', () => updates.follow())
begin()
