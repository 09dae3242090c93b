/// <reference lib="dom" />
// A chart in an element: draws its figure in the size of the element, with its theme. It runs in an opaque origin.

import type { AdditionalCode } from './adapt-figure.ts'
import { describeChart } from './alt-text.ts'
import { mayJoinMarks } from './marks/many-marks.ts'
import {
  drawsAll,
  type Figure,
  loadScript,
  type PlotlyApi,
  prepareFigure,
  removeTiles,
  removeTitle,
} from './plotly.ts'
import { LastDrawing, withChangedPaths } from './redraw.ts'
import { applyThemeToFrames, applyThemeWith, needsAdditionalSteps } from './theme/core.ts'
import { measuredChanges } from './theme/measured.ts'

/** Settings of a chart, as the service writes them beside its figure. */
export interface ChartSettings {
  /** URL of the outlines of countries. */
  geo?: string
  /** URL of the additional code. */
  more?: string
  /** URL of the plotly.js that draws all types. */
  plotly?: string
  /** Types that the loaded plotly.js draws; empty: all. */
  types?: string
  scheme?: string
  modebar?: string
  /** Way in which the chart learns of changes. */
  live?: string
  /** Address of its data; empty for a self-contained page. */
  own?: string
  /** Signed text with which its data is read. */
  watch?: string
  /** State of its data. */
  state?: string
}

/** Where a chart is drawn. */
export interface ChartPlace {
  chart: HTMLElement
  /** Shows that the chart is being drawn, or why it cannot be. */
  status: HTMLElement
  /** Whether the page around it shows the title. */
  isUntitled: boolean
  /** Width and height that its address sets, in pixels. */
  fixed?: { width?: number; height?: number }
  /** Returns the size of the place, in pixels. */
  measure(): { width: number; height: number }
  /** Called when the chart is drawn, or has failed. */
  onDrawn(hasFailed: boolean): void
  /** Called when its reader has zoomed it, or hidden a part. */
  onChanged(): void
}

/** A figure that the page around the chart shows in its place: changes that are not saved. */
export interface Preview {
  type: 'gridline:show'
  /** JSON text; null: the chart itself. */
  figure: string | null
  scheme?: string
  /** Whether a click on a part of the chart is passed on. */
  isEditable?: boolean
}

/** Allowed settings of the figure. Others could name other servers or let the reader edit the chart. */
const ALLOWED_SETTINGS = 'locale scrollZoom doubleClick staticPlot showTips showAxisDragHandles'.split(' ')
/** Width below which a chart has no buttons, which would cover its title, in pixels. */
const NARROW_PIXELS = 640
/** Maximum height of a chart, in pixels. */
const MAX_HEIGHT_PIXELS = 10_000
/** Time limit for the first drawing, in ms. */
const DRAW_TIMEOUT_MS = 30_000
/** Delay after a change of size before the chart is drawn again, in ms. */
const RESIZE_DELAY_MS = 150

/** Code that few charts need, once it is loaded. */
let loaded: AdditionalCode | undefined

/** Loads the additional code, once. */
export async function loadMore(url: string): Promise<AdditionalCode> {
  // Self-contained pages have it already.
  if (!loaded && !globalThis.gridlineMore) await loadScript(url, 'a part of the page')
  loaded = globalThis.gridlineMore!
  return loaded
}

export class ChartView {
  /** Shown in place of the stored figure. */
  preview: Preview | undefined
  /** Colors that the page around the chart has chosen; undefined for those of the URL. */
  chosenScheme: string | undefined
  /** True if the chart shows fewer points than its data: zooming then loads more. */
  hasOmittedPoints = false
  private readonly place: ChartPlace
  private readonly settings: ChartSettings
  private readonly last = new LastDrawing()
  /** Figure that was drawn last (JSON text), and the width at that time, in pixels. */
  private drawn = { text: '', width: 0 }
  private plotly: PlotlyApi
  private hasAllTypes: boolean
  private resizing: ReturnType<typeof setTimeout> | undefined

  constructor(place: ChartPlace, settings: ChartSettings, plotly: PlotlyApi) {
    this.place = place
    this.settings = settings
    this.plotly = plotly
    this.hasAllTypes = (settings.types ?? '') === ''
  }

  /** Draws a figure (JSON text), for the first time or again with new data. */
  async draw(text: string): Promise<void> {
    const { chart, status, measure, onDrawn } = this.place
    const figure = await this.prepare(text)
    const givenFrames = Array.isArray(figure.frames) ? figure.frames.filter((frame) => frame !== null) : []
    const { width, height } = measure()
    const view = { scheme: this.readScheme(), width, height }
    const frames = applyThemeToFrames(
      givenFrames as Record<string, unknown>[],
      figure.layout,
      view,
      loaded?.steps,
    )
    const { data: fitted, layout } = this.fit(figure)
    const data = this.last.reuseTraces(fitted, layout)
    if (this.preview) this.last.keepDrawn(layout)
    // Keeps the zoom and hidden series when the data changes.
    layout.uirevision ??= 'kept'
    const isEditable = this.preview?.isEditable
    const config = { ...this.createConfig(figure), ...(isEditable && { edits: { annotationTail: true } }) }
    // A click on the legend leads to the form instead of hiding a series.
    if (isEditable) layout.legend = { ...(layout.legend as object), itemclick: false, itemdoubleclick: false }
    const drawing = { data, layout, config, ...(frames.length > 0 && { frames }) }
    await loaded?.joinMarks(this.plotly, drawing)
    if (chart.dataset.drawn === 'true') await this.plotly.react(chart, drawing)
    else {
      const drawn = (await this.plotly.newPlot(chart, drawing)) as DrawnElement
      for (const event of ['plotly_relayout', 'plotly_restyle']) drawn.on(event, () => this.place.onChanged())
    }
    const changes = this.last.withoutKept(layout, measuredChanges(chart, loaded?.furtherChanges))
    // For a shifted annotation, `relayout` draws all points again, and `react` does not.
    if (changes && this.preview)
      await this.plotly.react(chart, {
        ...drawing,
        layout: withChangedPaths(layout, changes),
      } as typeof drawing)
    else if (changes) await this.plotly.relayout(chart, changes)
    status.hidden = true
    status.textContent = ''
    chart.dataset.drawn = 'true'
    this.drawn = { text, width }
    chart.dataset.width = String(width)
    chart.ariaLabel = describeChart(figure)
    this.hasOmittedPoints = hasPointsNote(layout)
    if (isEditable) loaded?.markParts(chart)
    onDrawn(false)
  }

  /** Draws a figure for the first time, or shows why it cannot be drawn. */
  async drawFirst(text: string): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('it takes too long')), DRAW_TIMEOUT_MS)
    })
    try {
      await Promise.race([this.draw(text), timeout])
    } catch (error) {
      this.showFailure(error)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Shows why the chart cannot be drawn, in its place. */
  showFailure(error: unknown): void {
    const { chart, status } = this.place
    this.plotly.purge(chart)
    status.hidden = false
    status.textContent = `This chart cannot be drawn: ${(error as Error).message}`
    chart.dataset.drawn = 'failed'
    this.place.onDrawn(true)
  }

  /** Returns the drawn chart as a data URL of an SVG image for paper: in its size, and in light colors. */
  async toPicture(): Promise<string> {
    const { chart, measure } = this.place
    const size = { format: 'svg', ...measure() }
    if (this.readScheme() === 'light') return this.plotly.toImage(chart, size)
    const figure = await this.prepare(this.drawn.text)
    const config = { ...this.createConfig(figure), responsive: false }
    const drawing = { ...withView(this.fit(figure, 'light'), chart as unknown as Figure), config }
    await loaded?.joinMarks(this.plotly, drawing)
    const sheet = document.createElement('div')
    sheet.style.cssText = `position:absolute;visibility:hidden;width:${size.width}px;height:${size.height}px`
    document.body.append(sheet)
    try {
      await this.plotly.newPlot(sheet, drawing)
      const changes = measuredChanges(sheet, loaded?.furtherChanges)
      if (changes) await this.plotly.relayout(sheet, changes)
      return await this.plotly.toImage(sheet, size)
    } finally {
      this.plotly.purge(sheet)
      sheet.remove()
    }
  }

  /** Removes what is drawn. */
  purge(): void {
    clearTimeout(this.resizing)
    this.plotly.purge(this.place.chart)
  }

  /**
   * Schedules a new drawing if the place has become wider or narrower: plotly.js only stretches charts, and does not
   * arrange them again.
   */
  scheduleRedraw(): void {
    const { text, width } = this.drawn
    if (text === '' || this.place.measure().width === width) return
    clearTimeout(this.resizing)
    this.resizing = setTimeout(() => this.draw(this.drawn.text).catch(() => {}), RESIZE_DELAY_MS)
  }

  /** Fits the drawn chart to a place whose size has changed. */
  fitToPlace(): void {
    const { chart } = this.place
    if (chart.dataset.drawn !== 'true') return
    this.plotly.Plots.resize(chart)
    this.scheduleRedraw()
  }

  readScheme(): 'light' | 'dark' {
    const asked = this.chosenScheme ?? this.settings.scheme ?? 'light'
    if (asked !== 'auto') return asked === 'dark' ? 'dark' : 'light'
    return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  }

  /** Returns the plotly.js configuration of a figure. */
  private createConfig({ config = {} }: Figure): Record<string, unknown> {
    const allowed = Object.fromEntries(
      ALLOWED_SETTINGS.filter((name) => name in config).map((name) => [name, config[name]]),
    )
    return {
      ...allowed,
      responsive: true,
      displaylogo: false,
      // The share button needs an origin, and no click should send a chart to a third party.
      showSendToCloud: false,
      ...(this.settings.modebar === 'false' || this.place.measure().width < NARROW_PIXELS
        ? { displayModeBar: false }
        : {}),
    }
  }

  /** Returns a figure (JSON text) as the loaded plotly.js can draw it. */
  private prepare(text: string): Promise<Figure> {
    return prepareFigure(text, this.settings.geo ?? '', (one) => this.adapt(one))
  }

  /** Returns the figure in the size of its place, unless its address sets one, and with its theme. */
  private fit(figure: Figure, scheme = this.readScheme()): Figure {
    const { chart, isUntitled, fixed: { width, height } = {}, measure } = this.place
    const { width: _, height: __, ...titled } = removeTiles(figure)
    // The page shows the title instead, but not while it is changed.
    const plain = isUntitled && !this.preview?.isEditable ? removeTitle(titled) : titled
    const maxHeight = height === undefined ? MAX_HEIGHT_PIXELS : undefined
    const place = measure()
    const size = { width: width ?? place.width, height: height ?? place.height, maxHeight }
    const untitled = { data: figure.data, layout: plain }
    const { data, layout } = applyThemeWith(untitled, { scheme, ...size }, loaded?.steps)
    // A chart that is higher than its place scrolls.
    chart.style.minHeight = layout.height === undefined || height !== undefined ? '' : `${layout.height}px`
    const colored = scheme === 'dark' && hasNoColors(layout) ? withDarkColors(layout) : layout
    return { data, layout: { ...colored, width, height, autosize: true } }
  }

  /** Returns a figure as the current plotly.js draws it. Loads the additional code, and all trace types, if necessary. */
  private async adapt(figure: Figure): Promise<Figure> {
    await this.loadAllTypes(figure)
    if (!needsAdditionalSteps(figure) && !mayJoinMarks(figure)) return figure
    const { upgrade } = await loadMore(this.settings.more ?? '')
    const upgraded = upgrade(figure, this.plotly)
    // Its language is registered with the plotly.js that draws it.
    return (await this.loadAllTypes(upgraded)) ? upgrade(figure, this.plotly) : upgraded
  }

  /** Loads the whole plotly.js if the figure has traces that the loaded build does not draw. Returns whether it did. */
  private async loadAllTypes(figure: Figure): Promise<boolean> {
    const { types = '', plotly = '' } = this.settings
    if (this.hasAllTypes || drawsAll(types.split(' '), figure)) return false
    const { chart } = this.place
    if (chart.dataset.drawn === 'true') this.plotly.purge(chart)
    delete chart.dataset.drawn
    this.plotly = await loadPlotly(plotly)
    this.hasAllTypes = true
    return true
  }
}

/** An element in which plotly.js has drawn. */
type DrawnElement = HTMLElement & { on(event: string, listener: () => void): void }

/** Returns a figure with what its reader sees of the drawn one: zoomed axes, turned scenes, hidden series. */
function withView({ data, layout }: Figure, shown: Figure): Figure {
  const next = { ...layout }
  for (const [name, part] of Object.entries(shown.layout)) {
    const { range, autorange, camera } = (part ?? {}) as Record<string, unknown>
    const seen =
      /^[xy]axis\d*$/.test(name) && range && autorange === false ? { range, autorange } : camera && { camera }
    if (seen) next[name] = { ...(layout[name] as object), ...(seen as object) }
  }
  const isSame = shown.data.length === data.length
  return {
    data: isSame ? data.map((trace, k) => ({ ...trace, visible: shown.data[k].visible })) : data,
    layout: next,
  }
}

const builds = new Map<string, Promise<PlotlyApi>>()

/** Loads a build of plotly.js, once. */
export function loadPlotly(url: string): Promise<PlotlyApi> {
  const loading = builds.get(url) ?? loadScript(url, 'a part of the page').then(() => Plotly)
  builds.set(url, loading)
  loading.catch(() => builds.delete(url))
  return loading
}

/** Returns whether a note says that points are omitted. */
function hasPointsNote({ annotations }: Record<string, unknown>): boolean {
  return (
    Array.isArray(annotations) && annotations.some((annotation) => annotation?.name === 'gridline-points')
  )
}

/** Returns whether the figure sets no colors. */
function hasNoColors(layout: Record<string, unknown>): boolean {
  return ['template', 'paper_bgcolor', 'plot_bgcolor', 'font'].every((name) => layout[name] === undefined)
}

/** Adds dark colors. */
function withDarkColors(layout: Record<string, unknown>): Record<string, unknown> {
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

// Opens links of a figure in a new tab, without access to this page.
document.addEventListener(
  'click',
  (event) => {
    const link = (event.target as Element | null)?.closest?.('a')
    if (!link?.closest('.js-plotly-plot')) return
    event.preventDefault()
    const href = link.getAttribute('href') ?? link.getAttribute('xlink:href') ?? ''
    if (/^(https?:|mailto:)/i.test(href.trim())) window.open(href, '_blank', 'noopener,noreferrer')
  },
  true,
)
