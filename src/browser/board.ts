/// <reference lib="dom" />
// Script of boards: draws their charts in one document, and follows their items by one stream of events.

import type { BoardMessage, Rectangle } from './board-charts.ts'
import type { ChartSettings } from './chart-view.ts'

/** Time in which the common document must answer when it is loaded. Otherwise charts are drawn in frames, in ms. */
const READY_TIMEOUT_MS = 1000
/** Time in which the common document must be loaded, in ms. */
const LOAD_TIMEOUT_MS = 10_000
/** Maximum height of a chart, in pixels. */
const MAX_CHART_PIXELS = 10_000
/** Number of charts that are loaded with the page; the others are loaded when they are nearly seen. */
const FIRST_CHARTS = 24
/** Distance from the window at which the other charts are loaded. */
const NEAR = '1500px'
/** Builds of plotly.js that draw without WebGL. Browsers have few contexts of it, and take the oldest away. */
const PLAIN_BUILD = /\/bundle-[a-z]+\.js$/

/** The element in whose place a chart is drawn, after the frame that would show it alone. */
class ChartPlace {
  readonly element = document.createElement('div')
  /** The chart as it was last drawn, for printing. */
  readonly picture = document.createElement('img')
  /** Whether its page is loaded, or being loaded. */
  isLoaded = false

  constructor(
    readonly id: string,
    readonly frame: HTMLIFrameElement,
  ) {
    this.element.className = 'place'
    this.element.dataset.chart = id
    this.element.style.minHeight = `${frame.height}px`
    this.picture.alt = frame.title
    this.element.append(this.picture)
    frame.after(this.element)
  }

  /** Returns where the chart is in the board, inside of its border. */
  measure(board: HTMLElement): Rectangle {
    const { element } = this
    const [outer, inner] = [board, element].map((one) => one.getBoundingClientRect())
    return {
      left: inner.left - outer.left + element.clientLeft,
      top: inner.top - outer.top + element.clientTop,
      width: element.clientWidth,
      height: element.clientHeight,
    }
  }
}

/** Radius of the corners of a place inside of its border, in pixels. */
const RADIUS_PIXELS = 7

/** Returns the outline of a place with its round corners, as an SVG path. */
function outlineOf({ left, top, width, height }: Rectangle): string {
  const r = RADIUS_PIXELS
  const corner = (x: number, y: number): string => `a${r} ${r} 0 0 1 ${x} ${y}`
  const [across, down] = [width - 2 * r, height - 2 * r]
  return `M${left + r} ${top}h${across}${corner(r, r)}v${down}${corner(-r, r)}h${-across}${corner(-r, -r)}v${-down}${corner(r, -r)}z`
}

/** The charts of a board, in one document that lies over it and is seen only where charts are. */
class BoardCharts {
  private readonly board: HTMLElement
  private readonly sheet = document.createElement('iframe')
  private readonly places = new Map<HTMLIFrameElement, ChartPlace>()
  private readonly observer = new ResizeObserver(() => this.sendPlaces())
  private readonly nearPlaces = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue
        this.nearPlaces.unobserve(target)
        const place = [...this.places.values()].find(({ element }) => element === target)
        if (place) this.load(place)
      }
    },
    { rootMargin: NEAR },
  )
  private isReady = false
  private count = 0

  constructor(board: HTMLElement) {
    this.board = board
    this.sheet.className = 'sheet'
    this.sheet.title = 'Charts'
    this.sheet.src = '/board-charts'
    addEventListener('message', ({ source, data }) => {
      if (source === this.sheet.contentWindow) this.receive(data)
    })
    const giveUp = (): void => {
      if (!this.isReady) board.classList.add('framed')
    }
    this.sheet.addEventListener('load', () => setTimeout(giveUp, READY_TIMEOUT_MS))
    setTimeout(giveUp, LOAD_TIMEOUT_MS)
    this.observer.observe(board)
    // Printing does not wait for charts that were never seen, but the next one has them.
    addEventListener('beforeprint', () => {
      if (this.isReady) for (const place of this.places.values()) this.load(place)
    })
    this.update()
  }

  /** Draws the charts that are on the board now. */
  update(): void {
    const frames = [...this.board.querySelectorAll<HTMLIFrameElement>('.item iframe:not(.shown)')].filter(
      (frame) => {
        // A mistake in plotly.js must not show charts of one user to another.
        const isOwn = ownerOf(frame.src) === ownerOf(location.href)
        if (!isOwn) frame.classList.add('shown')
        return isOwn
      },
    )
    if (frames.length > 0 && !this.sheet.isConnected) this.board.append(this.sheet)
    for (const [frame, place] of this.places) if (!frame.isConnected) this.remove(place)
    for (const frame of frames) {
      if (this.places.has(frame)) continue
      const place = new ChartPlace(String(this.count++), frame)
      this.places.set(frame, place)
      this.observer.observe(place.element)
      if (this.isReady) this.loadSoon(place)
    }
    this.sendPlaces()
  }

  /** Says that data may have changed. */
  look(): void {
    const message: BoardMessage = { type: 'gridline:look' }
    this.send(message)
    for (const frame of this.board.querySelectorAll<HTMLIFrameElement>('.item iframe'))
      frame.contentWindow?.postMessage(message, '*')
  }

  private send(message: BoardMessage): void {
    this.sheet.contentWindow?.postMessage(message, '*')
  }

  // biome-ignore lint/suspicious/noExplicitAny: a message of another document
  private receive(data: any): void {
    if (data?.type === 'gridline:ready' && !this.board.classList.contains('framed')) {
      this.isReady = true
      this.sendPlaces()
      for (const place of this.places.values()) this.loadSoon(place)
    }
    const place = [...this.places.values()].find(({ id }) => id === data?.id)
    if (!place) return
    const { element } = place
    if (data.type === 'gridline:failed') this.showFrame(place)
    else if (data.type === 'gridline:drawn') {
      const height = Math.min(Number(data.height), MAX_CHART_PIXELS)
      const border = element.offsetHeight - element.clientHeight
      // Charts that grow with their rows say how high they are.
      if (height > element.clientHeight) element.style.minHeight = `${height + border}px`
    } else if (data.type === 'gridline:picture' && /^data:image\/svg\+xml,/.test(String(data.url))) {
      place.picture.src = data.url
    }
  }

  private sendPlaces(): void {
    if (!this.isReady) return
    const measured = [...this.places.values()].map((place) => [place.id, place.measure(this.board)] as const)
    // Outside of the charts, clicks reach the board below.
    const outline = measured.map(([, place]) => outlineOf(place)).join('')
    this.sheet.style.clipPath = outline === '' ? 'inset(100%)' : `path("${outline}")`
    this.send({ type: 'gridline:places', places: Object.fromEntries(measured) })
  }

  /** Loads a chart; one after many when it is nearly seen. */
  private loadSoon(place: ChartPlace): void {
    if (Number(place.id) < FIRST_CHARTS) this.load(place)
    else this.nearPlaces.observe(place.element)
  }

  /** Shows a chart in its own frame. */
  private showFrame(place: ChartPlace): void {
    place.frame.classList.add('shown')
    this.remove(place)
    this.sendPlaces()
  }

  private remove({ frame, element }: ChartPlace): void {
    this.places.delete(frame)
    this.observer.unobserve(element)
    this.nearPlaces.unobserve(element)
    element.remove()
  }

  /** Loads the page of a chart, and sends what it draws. The frame shows it if that fails. */
  private async load(place: ChartPlace): Promise<void> {
    if (place.isLoaded) return
    place.isLoaded = true
    const { id, frame } = place
    try {
      const { pathname, search } = new URL(frame.src)
      const response = await fetch(pathname + search)
      if (!response.ok) throw new Error(`status ${response.status}`)
      // Its style would be refused here, and is not needed.
      const html = (await response.text()).replace(/<style>.*?<\/style>/s, '')
      const page = new DOMParser().parseFromString(html, 'text/html')
      const [build, script] = page.querySelectorAll<HTMLScriptElement>('script[src]')
      const url = build.getAttribute('src')!
      if (!PLAIN_BUILD.test(url)) return this.showFrame(place)
      this.send({
        type: 'gridline:chart',
        id,
        figure: page.getElementById('figure')!.textContent!,
        build: url,
        settings: { ...script.dataset } as ChartSettings,
        isUntitled: new URLSearchParams(search).get('title') === 'false',
        title: frame.title,
      })
    } catch {
      this.showFrame(place)
    }
  }
}

/** Returns the user in the address of a file: `/~alice/12.embed`. */
function ownerOf(address: string): string | undefined {
  return /^\/(?:~|%7e)([^/]+)/i.exec(new URL(address).pathname)?.[1]
}

/**
 * Follows a board while it is visible: when a stream says that something has changed, charts look, and the rest is
 * loaded with the page. Browsers have six connections for all pages of a server, so that hidden pages must not keep any.
 */
function followBoard(board: HTMLElement, charts: BoardCharts, load: () => void): void {
  let events: EventSource | undefined
  let known: string | undefined
  /** Whether the board may have changed since the page was loaded: before its first state, the page was hidden. */
  let isUnsure = false
  const stop = (): void => {
    events?.close()
    events = undefined
  }
  const follow = (): void => {
    stop()
    if (document.visibilityState === 'hidden') {
      isUnsure ||= known === undefined
      return
    }
    const stream = new EventSource(board.dataset.follow!)
    events = stream
    stream.addEventListener('state', ({ data }) => {
      const isNew = isUnsure || (known !== undefined && known !== data)
      isUnsure = false
      known = data
      if (!isNew) return
      charts.look()
      load()
    })
    // The server refuses the stream: the reader may not see the board any more, for example.
    stream.addEventListener('error', () => {
      if (stream.readyState === EventSource.CLOSED && stream === events) load()
    })
  }
  follow()
  document.addEventListener('visibilitychange', follow)
  addEventListener('pagehide', stop)
  // The page is shown again as it was left.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) follow()
  })
}

/** Loads the items of the page again. `isLive`: after a change of data, while the reader may type. */
type Load = (isLive: boolean) => Promise<void>

/** Returns a function that loads items, one time after the other. */
function createLoader(board: HTMLElement, charts: BoardCharts): Load {
  let loading = Promise.resolve()
  return (isLive) => {
    const { href } = location
    const load = async (): Promise<void> => {
      // Another filter has been chosen since.
      if (href !== location.href) return
      board.ariaBusy = 'true'
      try {
        await loadItems(board, charts, href, isLive)
      } finally {
        board.ariaBusy = null
      }
    }
    loading = loading.catch(() => {}).then(load)
    return loading
  }
}

async function loadItems(
  board: HTMLElement,
  charts: BoardCharts,
  href: string,
  isLive: boolean,
): Promise<void> {
  const response = await fetch(href)
  if (response.status === 404) {
    const note = document.createElement('p')
    note.className = 'note'
    note.textContent = 'This board is not shared with you any more, or is in the trash.'
    board.replaceChildren(note)
  }
  if (!response.ok) throw new Error(`status ${response.status}`)
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  if (href !== location.href) return
  document.querySelector('.downloads')?.replaceWith(...page.querySelectorAll('.downloads'))
  const items = page.querySelectorAll('.board .item')
  const shown = board.querySelectorAll('.item')
  // The board itself has changed.
  if (items.length !== shown.length) {
    const sheet = board.querySelector('.sheet')
    for (const child of [...board.childNodes]) if (child !== sheet) child.remove()
    board.prepend(...(page.querySelector('.board')?.childNodes ?? []))
    charts.update()
    return
  }
  showFilters(board, page, isLive)
  for (const [k, item] of shown.entries()) {
    const next = items[k]
    const frames = [item, next].map((one) => one.querySelector('iframe')?.src)
    // A chart looks itself.
    if (frames[0] !== undefined && frames[0] === frames[1]) continue
    if (item.innerHTML !== next.innerHTML) item.replaceWith(next)
  }
  charts.update()
}

/** Shows the values, choices and notes of the filters of a page. A list keeps the focus. */
function showFilters(board: HTMLElement, page: Document, isLive: boolean): void {
  const form = board.querySelector<HTMLFormElement>(FILTER_FORM)
  const nextForm = page.querySelector<HTMLFormElement>(FILTER_FORM)
  if (!form || !nextForm) return
  for (const next of nextForm.querySelectorAll<HTMLSelectElement | HTMLInputElement>('select, input')) {
    const field = form.elements.namedItem(next.name) as typeof next | null
    // A value that is being typed or chosen stays.
    if (!field || (isLive && field === document.activeElement)) continue
    const { value } = next
    if (field instanceof HTMLSelectElement) field.replaceChildren(...next.childNodes)
    field.value = value
  }
  for (const note of board.querySelectorAll(FILTER_NOTES)) note.remove()
  form.after(...page.querySelectorAll(FILTER_NOTES))
}

const FILTER_FORM = '.board > form.filter'
const FILTER_NOTES = '.board > .note, .board > .chosen'

/** Shows the rows of a filter when its value is chosen, without loading the page. */
function followFilters(board: HTMLElement, load: Load): void {
  const show = (): void => {
    load(false).catch(() => location.reload())
  }
  board.addEventListener('change', ({ target }) =>
    (target as Element).closest<HTMLFormElement>('form.filter')?.requestSubmit(),
  )
  board.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    if (!form.matches('.filter')) return
    event.preventDefault()
    const url = new URL(location.href)
    // An empty value stands for all rows, also of a filter with a default.
    const entries = [...new FormData(form)].map(([name, value]) => [name, String(value)])
    url.search = new URLSearchParams(entries).toString()
    // A value that is typed is chosen when it changes, and once more by Enter.
    if (url.href === location.href) return
    history.pushState(null, '', url)
    show()
  })
  addEventListener('popstate', show)
}

for (const board of document.querySelectorAll<HTMLElement>('.board')) {
  const charts = new BoardCharts(board)
  const load = createLoader(board, charts)
  if (board.dataset.follow) followBoard(board, charts, () => load(true).catch(() => {}))
  followFilters(board, load)
}
