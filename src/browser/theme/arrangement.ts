// A figure while the theme arranges it, and the view it is drawn for.
import { listOf } from '../../charts/figure/lists.ts'

// biome-ignore lint/suspicious/noExplicitAny: a figure can have any attribute
export type Attributes = Record<string, any>

export const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
/** Font size of ticks, legends and other texts, in pixels. */
export const TEXT_PIXELS = 13
/** Width below which a chart uses the narrow layout, in pixels. */
export const NARROW_PIXELS = 480
/** Margin between a chart and its frame, in pixels. */
export const EDGE_PIXELS = 16
const NARROW_EDGE_PIXELS = 12

/** Size and color scheme in which a chart is drawn. */
export interface View {
  scheme: 'light' | 'dark'
  /** In pixels. */
  width: number
  height: number
  /** Maximum height if the chart can grow with its rows, in pixels; undefined for a fixed height. */
  maxHeight?: number
}

/** A figure that the theme changes. Its traces and layout are copies, their attributes are shared. */
export interface Draft {
  data: Attributes[]
  layout: Attributes
  view: View
  /** Heights of the parts above the plot, from the top, in pixels. */
  above: { title: number; legend: number; axis: number }
  /** Height of a legend below the plot, in pixels. */
  below: number
  /** Minimum height of the chart that fits all rows, in pixels; 0 if any height does. */
  height: number
  /** Margins beside the plot, in pixels. */
  left: number
  right: number
  /** Omitted data, for example `2 rows without size`. Printed in the footer of the chart. */
  omitted: string[]
  /** Other sentences for the footer. */
  remarks: string[]
  /** Title of the color bar, if the bar itself has none. */
  barTitle?: string
}

/** Returns whether the view is as narrow as the screen of a phone. */
export function isNarrow({ width }: View): boolean {
  return width < NARROW_PIXELS
}

/** Returns the margin between a chart and its frame, in pixels. */
export function edgePixelsOf(view: View): number {
  return isNarrow(view) ? NARROW_EDGE_PIXELS : EDGE_PIXELS
}

/** Minimum space between two labels of an axis, in pixels. */
export const LABEL_GAP_PIXELS = 14
/** Share of a narrow screen beside the plot. */
const NARROW_SHARE = 0.2
/** Space between a label and its axis, in pixels. */
const STANDOFF_PIXELS = 18

/** Minimum share of a narrow screen for labels that would otherwise be cut. */
const MIN_LABEL_SHARE = 0.3

/**
 * Returns the maximum width of labels beside the plot on a narrow screen, in pixels. It shrinks the plot
 * rather than cutting labels to a few letters.
 */
export function maxLabelWidthOf(labels: readonly string[], view: View): number {
  const maxWidth = view.width * NARROW_SHARE - 2 * edgePixelsOf(view) - STANDOFF_PIXELS
  return labels.some((label) => measureText(label) > maxWidth)
    ? Math.max(maxWidth, view.width * MIN_LABEL_SHARE)
    : maxWidth
}

/** Returns whether a chart has at most one x axis and one y axis. */
export function hasOnePlot({ layout }: Draft): boolean {
  return !Object.keys(layout).some((key) => /^[xy]axis\d+$/.test(key))
}

let context: CanvasRenderingContext2D | null | undefined

/** Returns the width of a text, in pixels, ignoring markup. */
export function measureText(text: string, size = TEXT_PIXELS, weight = 400): number {
  const plain = text.replace(/<[^<>]*>/g, '')
  context ??= typeof document === 'undefined' ? null : document.createElement('canvas').getContext('2d')
  if (!context) return plain.length * size * 0.56
  context.font = `${weight} ${size}px ${FONT}`
  // A font without this weight is drawn wider than it is measured.
  return context.measureText(plain).width * (weight > 400 ? 1.1 : 1)
}

/** Returns a text of at most `maxWidth` pixels, with an ellipsis if it was cut. */
export function shortenText(text: string, maxWidth: number, size = TEXT_PIXELS): string {
  if (measureText(text, size) <= maxWidth) return text
  let end = text.length - 1
  while (end > 1 && measureText(`${text.slice(0, end)}…`, size) > maxWidth) end--
  return `${cutText(text, end)}…`
}

/** Returns the beginning of a text, without a partial HTML entity at its end. */
function cutText(text: string, end: number): string {
  return text
    .slice(0, end)
    .replace(/&[a-z]{0,5}$/, '')
    .trimEnd()
}

/** Maximum number of texts that are kept distinct. */
const MAX_DISTINCT_TEXTS = 300

/** Shortens texts to `maxWidth` pixels, so that all stay distinct: if necessary, keeps their ends too. */
export function shortenDistinct(texts: readonly string[], maxWidth: number): string[] {
  const short = texts.map((text) => shortenText(text, maxWidth))
  const counts = new Map<string, number>()
  for (const text of short) counts.set(text, (counts.get(text) ?? 0) + 1)
  const isAlike = (k: number): boolean =>
    texts.length <= MAX_DISTINCT_TEXTS && short[k] !== texts[k] && counts.get(short[k])! > 1
  const taken = new Set(short.filter((_, k) => !isAlike(k)))
  return short.map((shortText, k) => {
    if (!isAlike(k)) return shortText
    const text = texts[k]
    const rivals = texts.filter((_, n) => n !== k && short[n] === shortText)
    for (let start = Math.min(5, Math.floor(text.length / 3)); start >= 0; start--) {
      // Keep as much of the end as fits, or start where the text differs from the others.
      for (let from = start + 1; from < text.length; from++) {
        // Do not cut within an HTML entity.
        if (/&[a-z]{0,5}$/.test(text.slice(0, from)) && /^[a-z]{0,5};/.test(text.slice(from))) continue
        const cut = `${cutText(text, start)}…${text.slice(from).trimStart()}`
        if (measureText(cut) > maxWidth) continue
        const isUnique = !taken.has(cut) && rivals.every((rival) => !rival.endsWith(text.slice(from)))
        if (isUnique) taken.add(cut)
        if (isUnique) return cut
        break
      }
      const differs = Math.max(...rivals.map((rival) => commonPrefixLength(rival, text)))
      const cut = shortenText(`${text.slice(0, start).trimEnd()}…${text.slice(differs)}`, maxWidth)
      if (differs > start && !taken.has(cut)) {
        taken.add(cut)
        return cut
      }
    }
    const numbered = `${k + 1} ${shortenText(text, maxWidth - measureText(`${k + 1} `))}`
    taken.add(numbered)
    return numbered
  })
}

/** Returns the length of the common beginning of two texts. */
function commonPrefixLength(a: string, b: string): number {
  let k = 0
  while (k < a.length && a[k] === b[k]) k++
  return k
}

/** Wraps a text into lines of at most `maxWidth` pixels. Keeps the lines of a text with markup. */
export function wrapText(text: string, maxWidth: number, size: number, weight = 400): string[] {
  if (text === '') return []
  if (/<[a-z/]/i.test(text)) return text.split(/<br\s*\/?>/i)
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines[lines.length - 1]
    const next = line === '' ? word : `${line} ${word}`
    if (line !== '' && measureText(next, size, weight) > maxWidth) lines.push(word)
    else lines[lines.length - 1] = next
  }
  return lines.map((line) => shortenText(line, maxWidth, size))
}

/** Height of the x axis below rows, with its title, in pixels. */
export const AXIS_PIXELS = 64
/** Minimum height of a row with a label beside it, in pixels. */
export const MIN_ROW_PIXELS = 15
/** Minimum row height for a label of two lines, in pixels. */
const TWO_LINES_PIXELS = 40

/** Wraps labels to at most two lines, so that all stay distinct. */
export function wrapToTwoLines(labels: readonly string[], maxWidth: number): string[][] {
  const lines = labels.map((label) => wrapText(label, maxWidth, TEXT_PIXELS))
  const ends = shortenDistinct(
    lines.map(([, ...rest]) => rest.join(' ')),
    maxWidth,
  )
  return lines.map(([first, ...rest], k) => (rest.length === 0 ? [first] : [first, ends[k]]))
}

/**
 * Returns shortened texts of labels that are wider than `maxWidth` pixels; undefined if all fit. Rows of `rowHeight`
 * pixels may have space for two lines.
 */
export function shortenLabels(
  labels: readonly string[],
  maxWidth: number,
  rowHeight: number,
): Record<string, string> | undefined {
  const texts =
    rowHeight < TWO_LINES_PIXELS
      ? shortenDistinct(labels, maxWidth)
      : wrapToTwoLines(labels, maxWidth).map((text) => text.join('<br>'))
  const short = labels.flatMap((label, k) => (texts[k] === label ? [] : [[label, texts[k]]]))
  return short.length > 0 ? Object.fromEntries(short) : undefined
}

/** Returns the text of a title, a string or an object; undefined if it is empty. */
export function titleTextOf(title: unknown): string | undefined {
  const text = typeof title === 'string' ? title : (title as Attributes | undefined)?.text
  return typeof text === 'string' && text !== '' ? text : undefined
}

/** Returns the labels of an axis, in row order; undefined if some are not texts or if there are too many. */
export function listAxisLabels(lists: readonly unknown[]): string[] | undefined {
  const labels = new Set<string>()
  for (const list of lists)
    for (const label of listOf(list)) {
      if (typeof label === 'string') labels.add(label)
      else if (label !== null && label !== undefined) return undefined
      if (labels.size > MAX_LABELS) return undefined
    }
  return labels.size === 0 ? undefined : [...labels]
}

/** Maximum number of labels that the theme considers. */
const MAX_LABELS = 2000
