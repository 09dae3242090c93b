import { listOf } from '../../charts/figure/lists.ts'

// biome-ignore lint/suspicious/noExplicitAny: a figure can have any attribute
export type Attributes = Record<string, any>

export const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
/** Size of ticks, legends and other texts, in pixels. */
export const TEXT_PIXELS = 13
/** Width below which a chart has the layout of a phone, in pixels. */
export const NARROW_PIXELS = 480
/** Room between a chart and the edges of its frame, in pixels. */
export const EDGE_PIXELS = 16
const NARROW_EDGE_PIXELS = 12

/** The room that a chart is drawn in. */
export interface View {
  scheme: 'light' | 'dark'
  /** In pixels. */
  width: number
  height: number
  /** How high the chart can become if its rows need it. Without, it is as high as it is. */
  most?: number
}

/** A chart on its way to its look. Traces and layout are its own, their attributes are not. */
export interface Draft {
  data: Attributes[]
  layout: Attributes
  view: View
  /** Heights of what stands above the plot, from the top, in pixels. */
  above: { title: number; legend: number; axis: number }
  /** Height of a legend below the plot, in pixels. */
  below: number
  /** Height that all rows have room in, in pixels; 0 if any has. */
  needed: number
  /** Room beside the plot, in pixels. */
  left: number
  right: number
  /** Omitted data, for example `2 rows without size`. Printed in the footer of the chart. */
  unseen: string[]
  /** Other sentences for the footer. */
  remarks: string[]
  /** What the scale of colors shows, if it has no title of its own. */
  scale?: string
}

export function isNarrow({ width }: View): boolean {
  return width < NARROW_PIXELS
}

export function edgeOf(view: View): number {
  return isNarrow(view) ? NARROW_EDGE_PIXELS : EDGE_PIXELS
}

/** Room between two labels of an axis, in pixels. */
export const GAP_PIXELS = 14
/** Part of the width of a phone that is not the plot. */
const NARROW_SHARE = 0.2
/** Room between a label and its axis, in pixels. */
const STANDOFF_PIXELS = 18

/** Part of the width of a phone that labels have where they have no room of their own. */
const MIN_LABEL_SHARE = 0.3

/** Width of labels beside the plot of a phone, at most, in pixels. A label of a few letters says nothing: then the plot is smaller. */
export function mostBeside(labels: readonly string[], view: View): number {
  const most = view.width * NARROW_SHARE - 2 * edgeOf(view) - STANDOFF_PIXELS
  return labels.some((label) => widthOf(label) > most) ? Math.max(most, view.width * MIN_LABEL_SHARE) : most
}

/** Whether a chart has one x axis and one y axis, or none. */
export function hasOnePlot({ layout }: Draft): boolean {
  return !Object.keys(layout).some((key) => /^[xy]axis\d+$/.test(key))
}

let context: CanvasRenderingContext2D | null | undefined

/** Width of a text, in pixels. Markup counts as nothing. */
export function widthOf(text: string, size = TEXT_PIXELS, weight = 400): number {
  const plain = text.replace(/<[^<>]*>/g, '')
  context ??= typeof document === 'undefined' ? null : document.createElement('canvas').getContext('2d')
  if (!context) return plain.length * size * 0.56
  context.font = `${weight} ${size}px ${FONT}`
  // Titles are drawn a little wider than they are measured, where the font has no such weight.
  return context.measureText(plain).width * (weight > 400 ? 1.1 : 1)
}

/** A text in at most `most` pixels, with an ellipsis if it is longer. */
export function shortened(text: string, most: number, size = TEXT_PIXELS): string {
  if (widthOf(text, size) <= most) return text
  let end = text.length - 1
  while (end > 1 && widthOf(`${text.slice(0, end)}…`, size) > most) end--
  return `${beginningOf(text, end)}…`
}

/** The beginning of a text, without half of an escaped character at its end. */
function beginningOf(text: string, end: number): string {
  return text
    .slice(0, end)
    .replace(/&[a-z]{0,5}$/, '')
    .trimEnd()
}

/** Texts that are kept apart: of more, nobody reads all. */
const MAX_APART = 300

/** Texts in at most `most` pixels, of which no two are cut to the same one: then the end of each, too, is left. */
export function shortenedApart(texts: readonly string[], most: number): string[] {
  const short = texts.map((text) => shortened(text, most))
  const counts = new Map<string, number>()
  for (const one of short) counts.set(one, (counts.get(one) ?? 0) + 1)
  const isAlike = (k: number): boolean =>
    texts.length <= MAX_APART && short[k] !== texts[k] && counts.get(short[k])! > 1
  const taken = new Set(short.filter((_, k) => !isAlike(k)))
  return short.map((one, k) => {
    if (!isAlike(k)) return one
    const text = texts[k]
    const others = texts.filter((_, n) => n !== k && short[n] === one)
    for (let start = Math.min(5, Math.floor(text.length / 3)); start >= 0; start--) {
      // As much of the end as there is room for, or from where the text differs from the others.
      for (let from = start + 1; from < text.length; from++) {
        // Not within an escaped character.
        if (/&[a-z]{0,5}$/.test(text.slice(0, from)) && /^[a-z]{0,5};/.test(text.slice(from))) continue
        const cut = `${beginningOf(text, start)}…${text.slice(from).trimStart()}`
        if (widthOf(cut) > most) continue
        const isOwn = !taken.has(cut) && others.every((other) => !other.endsWith(text.slice(from)))
        if (isOwn) taken.add(cut)
        if (isOwn) return cut
        break
      }
      const differs = Math.max(...others.map((other) => commonLength(other, text)))
      const cut = shortened(`${text.slice(0, start).trimEnd()}…${text.slice(differs)}`, most)
      if (differs > start && !taken.has(cut)) {
        taken.add(cut)
        return cut
      }
    }
    const numbered = `${k + 1} ${shortened(text, most - widthOf(`${k + 1} `))}`
    taken.add(numbered)
    return numbered
  })
}

/** Characters that two texts begin with, both. */
function commonLength(a: string, b: string): number {
  let k = 0
  while (k < a.length && a[k] === b[k]) k++
  return k
}

/** The lines of a text that fits a width. One with markup stays as it is. */
export function wrapped(text: string, most: number, size: number, weight = 400): string[] {
  if (text === '') return []
  if (/<[a-z/]/i.test(text)) return text.split(/<br\s*\/?>/i)
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines[lines.length - 1]
    const next = line === '' ? word : `${line} ${word}`
    if (line !== '' && widthOf(next, size, weight) > most) lines.push(word)
    else lines[lines.length - 1] = next
  }
  return lines.map((line) => shortened(line, most, size))
}

export function textOf(title: unknown): string | undefined {
  const text = typeof title === 'string' ? title : (title as Attributes | undefined)?.text
  return typeof text === 'string' && text !== '' ? text : undefined
}

/** The labels of an axis, in the order of their rows; undefined if some are not texts. */
export function labelsOf(lists: readonly unknown[]): string[] | undefined {
  const found = new Set<string>()
  for (const list of lists)
    for (const label of listOf(list)) {
      if (typeof label === 'string') found.add(label)
      else if (label !== null && label !== undefined) return undefined
      if (found.size > MAX_LABELS) return undefined
    }
  return found.size === 0 ? undefined : [...found]
}

/** Labels that are looked at. */
const MAX_LABELS = 2000
