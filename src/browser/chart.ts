/// <reference lib="dom" />
// The embedded chart: draws the figure in the page, in the size of the frame. It runs in an opaque origin.

import type { More } from './adapted.ts'
import { altOf } from './alt.ts'
import { type Figure, loadScript, prepared, withoutTiles } from './plotly.ts'
import { framesIn, needsMore, themedWith } from './theme/core.ts'
import { fitOf } from './theme/fit.ts'

const script = document.currentScript as HTMLScriptElement
const {
  geo = '',
  more = '',
  scheme = 'light',
  modebar = '',
  live = '',
  own = '',
  watch = '',
} = script.dataset
const query = new URLSearchParams(location.search)

/** Settings of the figure that are kept. Others would name other servers or let the reader edit the chart. */
const KEPT = ['locale', 'scrollZoom', 'doubleClick', 'staticPlot', 'showTips', 'showAxisDragHandles'] as const

/** Width below which a chart has no buttons, in pixels. */
const NARROW_PIXELS = 480

function configOf({ config = {} }: Figure): Record<string, unknown> {
  const kept = Object.fromEntries(KEPT.filter((name) => name in config).map((name) => [name, config[name]]))
  return {
    ...kept,
    responsive: true,
    displaylogo: false,
    // An opaque origin cannot take part in sharing, and no chart goes to a third party by one click.
    showSendToCloud: false,
    // On a phone, the buttons would be on the title.
    ...(modebar === 'false' || innerWidth < NARROW_PIXELS ? { displayModeBar: false } : {}),
  }
}

/** The figure in the size of the frame, unless the address sets one, and in our theme if it asks for it. */
function shownFigure(given: Figure): Figure {
  const { width: _, height: __, ...plain } = withoutTiles(given)
  // Where the page has the title; charts of others are shown as they are.
  if (query.get('title') === 'false' && (plain.meta as { theme?: unknown } | undefined)?.theme !== undefined)
    delete plain.title
  const side = (name: string): number | undefined => {
    const wanted = Number(query.get(name))
    return wanted >= 10 && wanted <= 10_000 ? wanted : undefined
  }
  const [width, height] = [side('width'), side('height')]
  const most = height === undefined ? MAX_HEIGHT_PIXELS : undefined
  const room = { width: width ?? innerWidth, height: height ?? innerHeight, most }
  const shown = { data: given.data, layout: plain }
  const { data, layout } = themedWith(shown, { scheme: schemeOf(), ...room }, loaded?.parts)
  // A chart that needs more height than the frame has is scrolled.
  chart.style.minHeight = layout.height === undefined || height !== undefined ? '' : `${layout.height}px`
  return { data, layout: { ...(isPlain(layout) ? dark(layout) : layout), width, height, autosize: true } }
}

/** The parts that few charts need, once they are loaded. */
let loaded: More | undefined

/** The figure as the present plotly.js draws it; loads what few charts need if this one does. */
async function adapt(figure: Figure): Promise<Figure> {
  if (!needsMore(figure)) return figure
  if (!loaded) await loadScript(more, 'a part of the page')
  loaded = globalThis.gridlineMore
  return loaded!.adapted(figure)
}

/** How high a chart becomes for its rows, at most. */
const MAX_HEIGHT_PIXELS = 10_000

function schemeOf(): 'light' | 'dark' {
  if (scheme !== 'auto') return scheme === 'dark' ? 'dark' : 'light'
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

/** Whether the figure leaves all colors to us. */
function isPlain(layout: Record<string, unknown>): boolean {
  return ['template', 'paper_bgcolor', 'plot_bgcolor', 'font'].every((name) => layout[name] === undefined)
}

function dark(layout: Record<string, unknown>): Record<string, unknown> {
  if (schemeOf() === 'light') return layout
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

interface ShownAxis {
  type?: string
  range?: unknown[]
  autorange?: unknown
}

interface Plotted {
  on?: (event: string, listener: (change: Record<string, unknown>) => void) => void
}

const chart = document.getElementById('chart')!
const status = document.getElementById('status')!

/** Time after which a chart that is not drawn is given up, in ms. */
const PATIENCE_MS = 30_000

/** Opens links of a figure in a new tab, whatever they ask for: the page there cannot reach this one. */
document.addEventListener(
  'click',
  (event) => {
    const link = (event.target as Element | null)?.closest?.('a')
    if (!link) return
    event.preventDefault()
    const href = link.getAttribute('href') ?? link.getAttribute('xlink:href') ?? ''
    if (/^(https?:|mailto:)/i.test(href.trim())) window.open(href, '_blank', 'noopener,noreferrer')
  },
  true,
)

/** Draws a figure, given as JSON text: for the first time, or again with new data. */
async function draw(text: string): Promise<void> {
  const figure = await prepared(text, geo, adapt)
  const given = Array.isArray(figure.frames) ? figure.frames.filter((frame) => frame !== null) : []
  const view = { scheme: schemeOf(), width: innerWidth, height: innerHeight }
  const frames = framesIn(given as Record<string, unknown>[], figure.layout, view, loaded?.parts)
  const { data, layout } = shownFigure(figure)
  // What the reader has zoomed or hidden stays so when the data changes.
  layout.uirevision ??= 'kept'
  const wanted = { data, layout, config: configOf(figure), ...(frames.length > 0 && { frames }) }
  await (chart.dataset.drawn === 'true' ? Plotly.react(chart, wanted) : Plotly.newPlot(chart, wanted))
  const changes = fitOf(chart, loaded?.placesNote)
  if (changes) await Plotly.relayout(chart, changes)
  status.hidden = true
  status.textContent = ''
  chart.dataset.drawn = 'true'
  shown = { text, width: innerWidth }
  tellParent()
  chart.dataset.width = String(innerWidth)
  chart.ariaLabel = altOf(figure)
  isReduced = hasPointsNote(layout)
}

/** What is shown, and the width it was arranged for, in pixels. */
let shown = { text: '', width: 0 }
let resizing: ReturnType<typeof setTimeout> | undefined
/** How long a chart waits for the next size of its frame, in ms. */
const RESIZE_MS = 150

/** Arranges the chart anew if its frame gets another width. plotly.js itself only stretches it. */
function resized(): void {
  if (shown.text === '' || innerWidth === shown.width) return
  clearTimeout(resizing)
  resizing = setTimeout(() => draw(shown.text).catch(() => {}), RESIZE_MS)
}

async function begin(): Promise<void> {
  try {
    const late = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error('it takes too long')), PATIENCE_MS)
    })
    late.catch(() => {})
    await Promise.race([draw(document.getElementById('figure')!.textContent!), late])
  } catch (error) {
    Plotly.purge(chart)
    status.hidden = false
    status.textContent = `This chart cannot be drawn: ${(error as Error).message}`
    chart.dataset.drawn = 'failed'
    tellParent()
  }
  ;(chart as unknown as Plotted).on?.('plotly_relayout', zoomed)
  follow()
}

/** Tells the page around this frame how high the chart wants to be. Nothing of its content is sent. */
function tellParent(): void {
  if (parent === window) return
  const height = Math.ceil(document.documentElement.scrollHeight)
  parent.postMessage({ type: 'gridline:drawn', height }, '*')
}

/** How often a chart asks whether its data has changed, in ms. */
const ASK_EVERY_MS = 5000
let state = script.dataset.state ?? ''
let events: EventSource | undefined
let timer: ReturnType<typeof setTimeout> | undefined

const address = (what: string): string => `${own}.${what}?watch=${encodeURIComponent(watch)}`

/** Keeps the chart up to date while it can be seen. */
function follow(): void {
  events?.close()
  events = undefined
  clearTimeout(timer)
  if (document.visibilityState === 'hidden') return
  if (live !== 'events') {
    ask()
    return
  }
  events = new EventSource(address('events'))
  events.addEventListener('state', (event) => changed((event as MessageEvent<string>).data))
  // Where streams do not pass, for example a proxy, the chart asks instead.
  events.addEventListener('error', () => {
    events?.close()
    later()
  })
}

function later(): void {
  clearTimeout(timer)
  timer = setTimeout(ask, ASK_EVERY_MS * (0.8 + Math.random() * 0.4))
}

async function ask(): Promise<void> {
  try {
    const response = await fetch(address('state'))
    // The plot is gone, or may no longer be seen: what is shown stays.
    if (response.status === 404) return
    if (response.ok) await changed((await response.json()).state)
  } catch {
    // The server does not answer now.
  }
  later()
}

/** Draws the present data if it is not the data that is shown. */
async function changed(now: string): Promise<void> {
  if (now === state) return
  state = now
  await drawAgain()
}

/** Draws what the service has now, with the points that the shown parts of the axes have room for. */
async function drawAgain(): Promise<void> {
  const number = ++drawings
  const ranges = shownRanges().map((range) => `&range=${encodeURIComponent(range)}`)
  const response = await fetch(address('live') + ranges.join(''))
  const text = response.ok ? await response.text() : undefined
  // A later question has been asked.
  if (text !== undefined && number === drawings) await draw(text)
}

/** Whether the chart has fewer points than its data, so that more can be read. */
let isReduced = false
let drawings = 0
let zooming: ReturnType<typeof setTimeout> | undefined
/** How long a chart waits for the next change of an axis, in ms. */
const ZOOM_MS = 200

function hasPointsNote({ annotations }: Record<string, unknown>): boolean {
  return Array.isArray(annotations) && annotations.some((one) => one?.name === 'gridline-points')
}

/** The parts of the x axes that are shown, of those that the reader has changed: `xaxis,FROM,TO`. */
function shownRanges(): string[] {
  const layout = (chart as unknown as { layout?: Record<string, ShownAxis> }).layout
  return Object.entries(layout ?? {}).flatMap(([name, axis]) =>
    /^xaxis\d*$/.test(name) && axis.autorange !== true && axis.range?.length === 2
      ? [`${name},${axis.range.map((end) => (axis.type === 'log' ? 10 ** Number(end) : end)).join(',')}`]
      : [],
  )
}

/** Reads more points of a part of an axis that the reader zooms to. */
function zoomed(change: Record<string, unknown>): void {
  if (!isReduced || !Object.keys(change).some((name) => /^xaxis\d*\.(range|autorange)/.test(name))) return
  clearTimeout(zooming)
  zooming = setTimeout(() => drawAgain().catch(() => {}), ZOOM_MS)
}

addEventListener('resize', resized)
document.addEventListener('visibilitychange', follow)
begin()
