/// <reference lib="dom" />
// Parts of a chart that lead to their field of the form: by a click, or with the keyboard.
import { NOTE_NAME, SOURCE_NAME } from '../charts/figure/shared-names.ts'
import { END_NAME } from './theme/series.ts'
import { listOfAnnotations, Y_TITLE } from './theme/titles.ts'

/** A part of a chart, as the page around it receives it. */
export interface ChartPart {
  kind: 'title' | 'x' | 'y' | 'by' | 'source' | 'note' | 'series'
  /** Name of the series. */
  name?: string
  /** Number of the note, from 0. */
  index?: number
}

/** Parts by selector; the first that is under the pointer counts. Annotations are looked up by their names. */
const KINDS_BY_SELECTOR: readonly (readonly [selector: string, kind: ChartPart['kind']])[] = [
  ['.gtitle, .gsubtitle', 'title'],
  ['.legend .traces', 'series'],
  ['.xtitle, .xaxislayer-above', 'x'],
  ['.ytitle, .yaxislayer-above', 'y'],
  ['.legend', 'by'],
]

const LABELS: Readonly<Record<ChartPart['kind'], string>> = {
  title: 'Change the title',
  x: 'Change the x axis',
  y: 'Change the y axis',
  by: 'Change the series',
  source: 'Change the source',
  note: 'Change the note; arrow keys move it',
  series: 'Change the color of the series',
}

// biome-ignore lint/suspicious/noExplicitAny: the elements of plotly.js have no types
type PlotlyElement = HTMLElement & Record<string, any>

/** Passes clicks on parts of a chart, and moved notes, on to the page around it. */
export function watchParts(chart: HTMLElement): void {
  const plot = chart as PlotlyElement
  const send = (message: object): void => parent.postMessage(message, '*')
  chart.addEventListener('click', ({ clientX, clientY }) => {
    const elements = [
      ...document.elementsFromPoint(clientX, clientY),
      ...elementsAround(chart, clientX, clientY),
    ]
    for (const element of elements) {
      const part = partOf(plot, element)
      if (!part) continue
      send({ type: 'gridline:part', part })
      return
    }
  })
  chart.addEventListener('keydown', (event) => {
    const part = partOf(plot, event.target as Element)
    if (!part) return
    const step = ARROWS[event.key]
    if (event.key === 'Enter' || event.key === ' ') send({ type: 'gridline:part', part })
    else if (step && part.kind === 'note') {
      const { ax = 0, ay = 0 } = listOfAnnotations(plot.layout).filter(isNote)[part.index!] ?? {}
      movedNote = part.index
      send({ type: 'gridline:moved', index: part.index, ax: ax + step[0], ay: ay + step[1] })
    } else return
    event.preventDefault()
  })
  plot.on?.('plotly_click', ({ points }: { points: { data?: { name?: unknown; type?: string } }[] }) => {
    const [{ name, type = 'scatter' } = {}] = points.map(({ data }) => data ?? {})
    // Beside a line, the nearest point is far away.
    if (!/^scatter/.test(type) && typeof name === 'string')
      send({ type: 'gridline:part', part: { kind: 'series', name } })
  })
  plot.on?.('plotly_relayout', (changes: Record<string, unknown>) => {
    for (const key of Object.keys(changes)) {
      const number = /^annotations\[(\d+)\]\.a[xy]$/.exec(key)?.[1]
      if (number === undefined) continue
      const annotations = listOfAnnotations(plot.layout)
      const moved = annotations[Number(number)]
      if (!isNote(moved)) return
      const index = annotations.filter(isNote).indexOf(moved)
      send({ type: 'gridline:moved', index, ax: moved.ax, ay: moved.ay })
      return
    }
  })
}

/** Returns the parts whose bounds are around a point: between the labels of an axis, for example. */
function elementsAround(chart: HTMLElement, x: number, y: number): Element[] {
  const selector = KINDS_BY_SELECTOR.map(([text]) => text).join(', ')
  return [...chart.querySelectorAll(selector)].filter((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect()
    return x >= left && x <= right && y >= top && y <= bottom
  })
}

/** Pixels that a note moves at each arrow key. */
const ARROWS: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [-8, 0],
  ArrowRight: [8, 0],
  ArrowUp: [0, -8],
  ArrowDown: [0, 8],
}

const isNote = (annotation: { name?: unknown } | undefined): boolean => annotation?.name === NOTE_NAME

/** Returns the part of a chart that an element belongs to. */
function partOf(plot: PlotlyElement, element: Element): ChartPart | undefined {
  const annotation = element.closest('.annotation')
  if (annotation) return partOfAnnotation(plot, Number(annotation.getAttribute('data-index')))
  for (const [selector, kind] of KINDS_BY_SELECTOR) {
    const found = element.closest(selector)
    if (!found) continue
    return kind === 'series'
      ? { kind, name: found.querySelector('.legendtext')?.textContent ?? '' }
      : { kind }
  }
  return undefined
}

function partOfAnnotation({ layout }: PlotlyElement, number: number): ChartPart | undefined {
  const annotations = listOfAnnotations(layout)
  const annotation = annotations[number]
  switch (annotation?.name) {
    case NOTE_NAME:
      return { kind: 'note', index: annotations.filter(isNote).indexOf(annotation) }
    case SOURCE_NAME:
      return { kind: 'source' }
    case Y_TITLE:
      return { kind: 'y' }
    case END_NAME:
      return { kind: 'series', name: String(annotation.text).replace(/<[^<>]*>/g, '') }
    default:
      return undefined
  }
}

/** Note that an arrow key has moved: it has the focus again when it is drawn. */
let movedNote: number | undefined

/** Lets the keyboard reach the parts of a chart. Call it after each drawing. */
export function markParts(chart: HTMLElement): void {
  const plot = chart as PlotlyElement
  const selector = [...KINDS_BY_SELECTOR.map(([text]) => text), '.annotation'].join(', ')
  for (const element of chart.querySelectorAll<SVGElement>(selector)) {
    const part = partOf(plot, element)
    if (!part || element.getBoundingClientRect().width === 0) continue
    element.setAttribute('tabindex', '0')
    element.setAttribute('role', 'button')
    element.setAttribute('aria-label', part.name ? `${LABELS[part.kind]} ${part.name}` : LABELS[part.kind])
    element.style.cursor = 'pointer'
    if (part.kind === 'note' && part.index === movedNote) {
      movedNote = undefined
      element.focus()
    }
  }
}
