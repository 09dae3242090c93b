/// <reference lib="dom" />
// Follows the data of a chart: a stream of events or polls tell that it has changed, and zooming asks for more points.

import type { ChartSettings, ChartView } from './chart-view.ts'

interface AxisState {
  type?: string
  range?: unknown[]
  autorange?: unknown
}

interface PlotlyElement {
  on?: (event: string, listener: (change: Record<string, unknown>) => void) => void
  layout?: Record<string, AxisState>
}

/** Interval between polls for changed data, in ms. */
const POLL_MS = 5000
/** The same where a board tells its charts when to look. */
const BOARD_POLL_MS = 60_000
/** Delay after zooming before more points are loaded, in ms. */
const ZOOM_DELAY_MS = 200

export class ChartUpdates {
  /** Figure that was loaded last (JSON text). */
  stored: string
  private readonly view: ChartView
  private readonly chart: PlotlyElement
  private readonly settings: ChartSettings
  private state: string
  private events: EventSource | undefined
  private timer: ReturnType<typeof setTimeout> | undefined
  private zooming: ReturnType<typeof setTimeout> | undefined
  private isFresh = true
  private isStopped = false
  private lastDrawing = 0

  /** `stored`: the figure that came with the page (JSON text). */
  constructor(view: ChartView, chart: HTMLElement, settings: ChartSettings, stored: string) {
    this.stored = stored
    this.view = view
    this.chart = chart as unknown as PlotlyElement
    this.settings = settings
    this.state = settings.state ?? ''
  }

  /** Begins, when the chart is drawn. */
  begin(): void {
    this.chart.on?.('plotly_relayout', (change) => this.loadMorePoints(change))
    this.follow()
  }

  /** Follows changes, instead of an earlier call; stops if the page is hidden. Call it whenever that changes. */
  follow(): void {
    const { own = '', live = '' } = this.settings
    this.events?.close()
    this.events = undefined
    clearTimeout(this.timer)
    // A self-contained page has no server.
    if (this.isStopped || document.visibilityState === 'hidden' || own === '' || this.view.preview) return
    if (live !== 'events') {
      // Its page was loaded just now.
      if (live === 'board' && this.isFresh) this.schedulePoll()
      else this.poll()
      this.isFresh = false
      return
    }
    this.events = new EventSource(this.liveUrl('events'))
    this.events.addEventListener('state', (event) =>
      this.drawIfChanged((event as MessageEvent<string>).data).catch(() => this.pollInstead()),
    )
    // A proxy can block the event stream.
    this.events.addEventListener('error', () => this.pollInstead())
  }

  /** Ends following. A later `follow` does not begin again. */
  stop(): void {
    this.isStopped = true
    this.follow()
  }

  /** Polls for changed data. */
  async poll(): Promise<void> {
    try {
      const response = await fetch(this.liveUrl('state'))
      // The plot was deleted or is no longer accessible: keep the drawn chart.
      if (response.status === 404) return
      if (response.ok) await this.drawIfChanged((await response.json()).state)
    } catch {
      // The server is unreachable: try again later.
    }
    this.schedulePoll()
  }

  /** Returns a URL of the live chart. */
  private liveUrl(what: string): string {
    const { own = '', watch = '' } = this.settings
    return `${own}.${what}?watch=${encodeURIComponent(watch)}`
  }

  /** Follows changes by polling instead of events. */
  private pollInstead(): void {
    this.events?.close()
    this.schedulePoll()
  }

  /** Schedules the next poll. */
  private schedulePoll(): void {
    clearTimeout(this.timer)
    if (this.isStopped) return
    const interval = this.settings.live === 'board' ? BOARD_POLL_MS : POLL_MS
    this.timer = setTimeout(() => this.poll(), interval * (0.8 + Math.random() * 0.4))
  }

  /** Draws the data again if it has changed. Throws if it could not be loaded: the next state then draws it. */
  private async drawIfChanged(newState: string): Promise<void> {
    if (newState !== this.state && (await this.drawCurrentData())) this.state = newState
  }

  /** Loads and draws the current data, with points for the visible ranges. Returns false if a newer call does. */
  private async drawCurrentData(): Promise<boolean> {
    const number = ++this.lastDrawing
    const ranges = this.listVisibleRanges().map((range) => `&range=${encodeURIComponent(range)}`)
    const response = await fetch(this.liveUrl('live') + ranges.join(''))
    if (!response.ok) throw new Error(`status ${response.status}`)
    const text = await response.text()
    const isNewest = number === this.lastDrawing
    if (!isNewest || this.isStopped || this.view.preview) return false
    this.stored = text
    await this.view.draw(text)
    return true
  }

  /** Returns the visible ranges of the x axes that the reader changed, as `xaxis,FROM,TO`. */
  private listVisibleRanges(): string[] {
    return Object.entries(this.chart.layout ?? {}).flatMap(([name, axis]) =>
      /^xaxis\d*$/.test(name) && axis.autorange !== true && axis.range?.length === 2
        ? [`${name},${axis.range.map((end) => (axis.type === 'log' ? 10 ** Number(end) : end)).join(',')}`]
        : [],
    )
  }

  /** Loads more points for the range that the reader zooms to. */
  private loadMorePoints(change: Record<string, unknown>): void {
    const isZoom = Object.keys(change).some((name) => /^xaxis\d*\.(range|autorange)/.test(name))
    if (!this.view.hasOmittedPoints || !isZoom) return
    clearTimeout(this.zooming)
    this.zooming = setTimeout(() => this.drawCurrentData().catch(() => {}), ZOOM_DELAY_MS)
  }
}
