/// <reference lib="dom" />
// Draws the figure of an embedded chart, in the size of its frame. It runs in an opaque origin.

import type { AdditionalCode } from './adapt-figure.ts'
import { describeChart } from './alt-text.ts'
import { drawsAll, type Figure, loadScript, prepareFigure, removeTiles, removeTitle } from './plotly.ts'
import { keepDrawn, reuseTraces, withChangedPaths, withoutKept } from './redraw.ts'
import { applyThemeToFrames, applyThemeWith, needsAdditionalSteps } from './theme/core.ts'
import { measuredChanges } from './theme/measured.ts'

const script = document.currentScript as HTMLScriptElement
const {
  geo = '',
  more = '',
  scheme = 'light',
  modebar = '',
  live = '',
  own = '',
  watch = '',
  plotly = '',
  types = '',
} = script.dataset
const query = new URLSearchParams(location.search)

/** Allowed settings of the figure. Others could name other servers or let the reader edit the chart. */
const ALLOWED_SETTINGS = 'locale scrollZoom doubleClick staticPlot showTips showAxisDragHandles'.split(' ')

/** Width below which a chart has no buttons, in pixels. */
const NARROW_PIXELS = 480

/** Returns the plotly.js configuration of a figure. */
function createConfig({ config = {} }: Figure): Record<string, unknown> {
  const allowed = Object.fromEntries(
    ALLOWED_SETTINGS.filter((name) => name in config).map((name) => [name, config[name]]),
  )
  return {
    ...allowed,
    responsive: true,
    displaylogo: false,
    // The share button needs an origin, and no click should send a chart to a third party.
    showSendToCloud: false,
    // On a phone, the buttons would cover the title.
    ...(modebar === 'false' || innerWidth < NARROW_PIXELS ? { displayModeBar: false } : {}),
  }
}

/** Returns the figure in the size of the frame, unless the URL sets one, and with its theme. */
function fitToFrame(figure: Figure): Figure {
  const { width: _, height: __, ...titled } = removeTiles(figure)
  // The page shows the title instead, but not while it is changed.
  const plain = query.get('title') === 'false' && !preview?.isEditable ? removeTitle(titled) : titled
  const side = (name: string): number | undefined => {
    const pixels = Number(query.get(name))
    return pixels >= 10 && pixels <= 10_000 ? pixels : undefined
  }
  const [width, height] = [side('width'), side('height')]
  const maxHeight = height === undefined ? MAX_HEIGHT_PIXELS : undefined
  const size = { width: width ?? innerWidth, height: height ?? innerHeight, maxHeight }
  const untitled = { data: figure.data, layout: plain }
  const { data, layout } = applyThemeWith(untitled, { scheme: readScheme(), ...size }, loaded?.steps)
  // A chart that is higher than the frame scrolls.
  chart.style.minHeight = layout.height === undefined || height !== undefined ? '' : `${layout.height}px`
  return {
    data,
    layout: { ...(hasNoColors(layout) ? withDarkColors(layout) : layout), width, height, autosize: true },
  }
}

/** Code that few charts need, once it is loaded. */
let loaded: AdditionalCode | undefined

/** Returns a figure as the current plotly.js draws it. Loads the additional code, and all trace types, if necessary. */
async function adapt(figure: Figure): Promise<Figure> {
  await loadAllTypes(figure)
  if (!needsAdditionalSteps(figure)) return figure
  const { upgrade } = await loadMore()
  const upgraded = upgrade(figure)
  // Its language is registered with the plotly.js that draws it.
  return (await loadAllTypes(upgraded)) ? upgrade(figure) : upgraded
}

let hasAllTypes = types === ''

/** Loads the whole plotly.js if the figure has traces that the loaded build does not draw. Returns whether it did. */
async function loadAllTypes(figure: Figure): Promise<boolean> {
  if (hasAllTypes || drawsAll(types.split(' '), figure)) return false
  if (chart.dataset.drawn === 'true') Plotly.purge(chart)
  delete chart.dataset.drawn
  await loadScript(plotly, 'a part of the page')
  hasAllTypes = true
  return true
}

/** Loads the additional code, once. */
async function loadMore(): Promise<AdditionalCode> {
  // Self-contained pages have it already.
  if (!loaded && !globalThis.gridlineMore) await loadScript(more, 'a part of the page')
  loaded = globalThis.gridlineMore!
  return loaded
}

/** Maximum height of a chart, in pixels. */
const MAX_HEIGHT_PIXELS = 10_000

/** Colors that the page around the chart has chosen; undefined for those of the URL. */
let chosenScheme: string | undefined

function readScheme(): 'light' | 'dark' {
  const asked = chosenScheme ?? scheme
  if (asked !== 'auto') return asked === 'dark' ? 'dark' : 'light'
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

/** Returns whether the figure sets no colors. */
function hasNoColors(layout: Record<string, unknown>): boolean {
  return ['template', 'paper_bgcolor', 'plot_bgcolor', 'font'].every((name) => layout[name] === undefined)
}

/** Adds dark colors in the dark scheme. */
function withDarkColors(layout: Record<string, unknown>): Record<string, unknown> {
  if (readScheme() === 'light') return layout
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

interface AxisState {
  type?: string
  range?: unknown[]
  autorange?: unknown
}

interface PlotlyElement {
  on?: (event: string, listener: (change: Record<string, unknown>) => void) => void
}

const chart = document.getElementById('chart')!
const status = document.getElementById('status')!

/** Time limit for the first drawing, in ms. */
const DRAW_TIMEOUT_MS = 30_000

// Opens links of a figure in a new tab, without access to this page.
document.addEventListener(
  'click',
  (event) => {
    const link = (event.target as Element | null)?.closest?.('a')
    if (!link || !chart.contains(link)) return
    event.preventDefault()
    const href = link.getAttribute('href') ?? link.getAttribute('xlink:href') ?? ''
    if (/^(https?:|mailto:)/i.test(href.trim())) window.open(href, '_blank', 'noopener,noreferrer')
  },
  true,
)

/** Draws a figure (JSON text), for the first time or again with new data. */
async function draw(text: string): Promise<void> {
  const figure = await prepareFigure(text, geo, adapt)
  const givenFrames = Array.isArray(figure.frames) ? figure.frames.filter((frame) => frame !== null) : []
  const view = { scheme: readScheme(), width: innerWidth, height: innerHeight }
  const frames = applyThemeToFrames(
    givenFrames as Record<string, unknown>[],
    figure.layout,
    view,
    loaded?.steps,
  )
  const { data: fitted, layout } = fitToFrame(figure)
  const data = reuseTraces(fitted, layout)
  if (preview) keepDrawn(layout)
  // Keeps the zoom and hidden series when the data changes.
  layout.uirevision ??= 'kept'
  const config = { ...createConfig(figure), ...(preview?.isEditable && { edits: { annotationTail: true } }) }
  // A click on the legend leads to the form instead of hiding a series.
  if (preview?.isEditable)
    layout.legend = { ...(layout.legend as object), itemclick: false, itemdoubleclick: false }
  const drawing = { data, layout, config, ...(frames.length > 0 && { frames }) }
  await (chart.dataset.drawn === 'true' ? Plotly.react(chart, drawing) : Plotly.newPlot(chart, drawing))
  const changes = withoutKept(layout, measuredChanges(chart, loaded?.placesNote))
  // For a shifted annotation, `relayout` draws all points again, and `react` does not.
  if (changes && preview)
    await Plotly.react(chart, { ...drawing, layout: withChangedPaths(layout, changes) } as typeof drawing)
  else if (changes) await Plotly.relayout(chart, changes)
  status.hidden = true
  status.textContent = ''
  chart.dataset.drawn = 'true'
  lastDrawn = { text, width: innerWidth }
  sendHeight()
  chart.dataset.width = String(innerWidth)
  chart.ariaLabel = describeChart(figure)
  hasOmittedPoints = hasPointsNote(layout)
  if (preview?.isEditable) loaded?.markParts(chart)
}

/** A figure that the page around the chart shows in its place: changes that are not saved. */
interface Preview {
  type: 'gridline:show'
  /** JSON text; null: the chart itself. */
  figure: string | null
  scheme?: string
  /** Whether a click on a part of the chart is passed on. */
  isEditable?: boolean
}

let preview: Preview | undefined
/** Preview that is not drawn yet; a newer one replaces it. */
let nextPreview: Preview | undefined
/** Figure that was loaded last (JSON text). */
let loadedFigure = ''

/** Draws previews, one after another, until there is none. */
async function drawPreviews(): Promise<void> {
  while (nextPreview) {
    const shown = nextPreview
    preview = shown.figure === null ? undefined : shown
    chosenScheme = shown.scheme
    document.documentElement.style.colorScheme = readScheme()
    document.body.style.background = readScheme() === 'dark' ? '#16181d' : '#fff'
    followChanges()
    try {
      if (shown.isEditable) await loadMore()
      await draw(shown.figure ?? loadedFigure)
      if (shown.isEditable && !watchesParts) loaded!.watchParts(chart)
      watchesParts ||= shown.isEditable === true
      chart.dataset.shows = preview ? 'preview' : 'stored'
    } catch (error) {
      showFailure(error)
    }
    if (nextPreview === shown) nextPreview = undefined
  }
}

let watchesParts = false

// Only pages of this server can show a figure in place of the chart.
addEventListener('message', ({ source, origin, data }) => {
  if (parent === window || source !== parent || origin !== location.origin) return
  if (data?.type === 'gridline:look') poll()
  if (data?.type !== 'gridline:show') return
  const isDrawing = nextPreview !== undefined
  nextPreview = data as Preview
  if (!isDrawing) drawPreviews()
})

/** Figure that was drawn last (JSON text), and the width at that time, in pixels. */
let lastDrawn = { text: '', width: 0 }
let resizing: ReturnType<typeof setTimeout> | undefined
/** Delay after a change of size before the chart is drawn again, in ms. */
const RESIZE_DELAY_MS = 150

/**
 * Schedules a new drawing if the width of the frame differs from that of the last drawing: plotly.js only
 * stretches charts.
 */
function scheduleRedraw(): void {
  if (lastDrawn.text === '' || innerWidth === lastDrawn.width) return
  clearTimeout(resizing)
  resizing = setTimeout(() => draw(lastDrawn.text).catch(() => {}), RESIZE_DELAY_MS)
}

function showFailure(error: unknown): void {
  Plotly.purge(chart)
  status.hidden = false
  status.textContent = `This chart cannot be drawn: ${(error as Error).message}`
  chart.dataset.drawn = 'failed'
  sendHeight(true)
}

/** Draws the chart for the first time, then follows its data. */
async function begin(): Promise<void> {
  loadedFigure = document.getElementById('figure')?.textContent ?? ''
  // The page around it sends what to draw.
  if (loadedFigure === '') {
    parent.postMessage({ type: 'gridline:ready' }, '*')
    return
  }
  try {
    const timeout = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error('it takes too long')), DRAW_TIMEOUT_MS)
    })
    timeout.catch(() => {})
    await Promise.race([draw(loadedFigure), timeout])
  } catch (error) {
    showFailure(error)
  }
  ;(chart as unknown as PlotlyElement).on?.('plotly_relayout', loadMorePoints)
  followChanges()
}

/** Sends the height of the chart to the parent page, and whether it cannot be drawn, but none of its content. */
function sendHeight(failed = false): void {
  if (parent === window) return
  const height = Math.ceil(document.documentElement.scrollHeight)
  parent.postMessage({ type: 'gridline:drawn', height, ...(failed && { failed }) }, '*')
}

/** Interval between polls for changed data, in ms. A board tells its charts when to look. */
const POLL_MS = live === 'board' ? 60_000 : 5000
let state = script.dataset.state ?? ''
let eventSource: EventSource | undefined
let pollTimer: ReturnType<typeof setTimeout> | undefined
let isFresh = true

/** Returns a URL of the live chart. */
const liveUrl = (what: string): string => `${own}.${what}?watch=${encodeURIComponent(watch)}`

/** Follows changes of the data, instead of an earlier call; stops if the page is hidden. Call it whenever that changes. */
function followChanges(): void {
  eventSource?.close()
  eventSource = undefined
  clearTimeout(pollTimer)
  // A self-contained page has no server.
  if (document.visibilityState === 'hidden' || own === '' || preview) return
  if (live !== 'events') {
    // Its page was loaded just now.
    if (live === 'board' && isFresh) schedulePoll()
    else poll()
    isFresh = false
    return
  }
  eventSource = new EventSource(liveUrl('events'))
  eventSource.addEventListener('state', (event) =>
    drawIfChanged((event as MessageEvent<string>).data).catch(pollInstead),
  )
  // A proxy can block the event stream.
  eventSource.addEventListener('error', pollInstead)
}

/** Follows changes by polling instead of events. */
function pollInstead(): void {
  eventSource?.close()
  schedulePoll()
}

/** Schedules the next poll. */
function schedulePoll(): void {
  clearTimeout(pollTimer)
  pollTimer = setTimeout(poll, POLL_MS * (0.8 + Math.random() * 0.4))
}

/** Polls for changed data. */
async function poll(): Promise<void> {
  try {
    const response = await fetch(liveUrl('state'))
    // The plot was deleted or is no longer accessible: keep the drawn chart.
    if (response.status === 404) return
    if (response.ok) await drawIfChanged((await response.json()).state)
  } catch {
    // The server is unreachable: try again later.
  }
  schedulePoll()
}

/** Draws the data again if it has changed. Throws if it could not be loaded: the next state then draws it. */
async function drawIfChanged(newState: string): Promise<void> {
  if (newState !== state && (await drawCurrentData())) state = newState
}

/** Loads and draws the current data, with points for the visible ranges. Returns false if a newer call does. */
async function drawCurrentData(): Promise<boolean> {
  const number = ++lastDrawing
  const ranges = listVisibleRanges().map((range) => `&range=${encodeURIComponent(range)}`)
  const response = await fetch(liveUrl('live') + ranges.join(''))
  if (!response.ok) throw new Error(`status ${response.status}`)
  const text = await response.text()
  const isNewest = number === lastDrawing
  if (!isNewest || preview) return false
  loadedFigure = text
  await draw(text)
  return true
}

/** True if the chart shows fewer points than its data: zooming then loads more. */
let hasOmittedPoints = false
let lastDrawing = 0
let zooming: ReturnType<typeof setTimeout> | undefined
/** Delay after zooming before more points are loaded, in ms. */
const ZOOM_DELAY_MS = 200

/** Returns whether a note says that points are omitted. */
function hasPointsNote({ annotations }: Record<string, unknown>): boolean {
  return (
    Array.isArray(annotations) && annotations.some((annotation) => annotation?.name === 'gridline-points')
  )
}

/** Returns the visible ranges of the x axes that the reader changed, as `xaxis,FROM,TO`. */
function listVisibleRanges(): string[] {
  const layout = (chart as unknown as { layout?: Record<string, AxisState> }).layout
  return Object.entries(layout ?? {}).flatMap(([name, axis]) =>
    /^xaxis\d*$/.test(name) && axis.autorange !== true && axis.range?.length === 2
      ? [`${name},${axis.range.map((end) => (axis.type === 'log' ? 10 ** Number(end) : end)).join(',')}`]
      : [],
  )
}

/** Loads more points for the range that the reader zooms to. */
function loadMorePoints(change: Record<string, unknown>): void {
  if (!hasOmittedPoints || !Object.keys(change).some((name) => /^xaxis\d*\.(range|autorange)/.test(name)))
    return
  clearTimeout(zooming)
  zooming = setTimeout(() => drawCurrentData().catch(() => {}), ZOOM_DELAY_MS)
}

addEventListener('resize', scheduleRedraw)
document.addEventListener('visibilitychange', followChanges)
begin()
