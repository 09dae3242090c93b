// Column widths of tables.
import { listOf } from '../../charts/figure/lists.ts'
import { type Attributes, type Draft, edgePixelsOf, measureText, shortenText } from './arrangement.ts'
import { localeOf } from './numbers.ts'

/** Space beside a text in its cell, in pixels. */
const PAD_PIXELS = 18
/** Minimum and maximum width of a column, in pixels. Longer texts wrap. */
const MIN_COLUMN_PIXELS = 44
const MAX_COLUMN_PIXELS = 320
/** Minimum width of a column of shortened numbers, in pixels. */
const MIN_NUMBER_PIXELS = 62
/** Maximum share of the table width for a long word. */
const MAX_WORD_SHARE = 0.3
/** Number of cells per column that are measured. */
const MEASURED_CELLS = 300
/** Maximum number of characters that fit any column. */
const MAX_FITTING_CHARACTERS = 5
/** Maximum width of a character, in pixels: shorter texts need no measurement. */
const MAX_CHARACTER_PIXELS = 13

/** Fits column widths and texts of a table: plotly.js would cut the first digits of numbers. */
export function fitTable({ layout, view }: Draft, trace: Attributes): Attributes {
  const columns: unknown[][] = [...listOf(trace.cells?.values)].map((column) => [...listOf(column)])
  if (columns.length === 0 || trace.columnwidth !== undefined) return trace
  const names = [...listOf(trace.header?.values)].map((name) => String(name ?? ''))
  const isNumber = (k: number): boolean => listOf(trace.cells.align)[k] === 'right'
  const needed = columns.map((cells, k) => {
    const texts = cells.slice(0, MEASURED_CELLS).map((cell) => measureText(String(cell ?? '')))
    const widest = Math.max(measureText(names[k] ?? '', undefined, 600), ...texts)
    return Math.min(MAX_COLUMN_PIXELS, Math.max(MIN_COLUMN_PIXELS, widest + PAD_PIXELS))
  })
  const available = view.width - 2 * edgePixelsOf(view)
  const sum = (widths: readonly number[]): number => widths.reduce((all, width) => all + width, 0)
  // Wrap texts before shortening numbers.
  const numbers = sum(needed.filter((_, k) => isNumber(k)))
  const texts = sum(needed) - numbers
  const left = Math.max(available - numbers, MIN_COLUMN_PIXELS * needed.filter((_, k) => !isNumber(k)).length)
  // A column is at least as wide as its longest word, if possible.
  const words = columns.map((cells) =>
    Math.max(
      0,
      ...cells.slice(0, MEASURED_CELLS).flatMap((cell) =>
        String(cell ?? '')
          .split(' ')
          .map((word) => measureText(word)),
      ),
    ),
  )
  const preferred = needed.map((width, k) =>
    isNumber(k) || texts <= left
      ? width
      : Math.max((width * left) / texts, Math.min(words[k] + PAD_PIXELS, available * MAX_WORD_SHARE)),
  )
  // Numbers can be shortened to a few digits, dates cannot.
  const textWidth = sum(preferred.filter((_, k) => !isNumber(k)))
  const shrunk = preferred.map((width, k) =>
    isNumber(k)
      ? Math.max(
          Math.min(width, MIN_NUMBER_PIXELS),
          Math.min(width, (width * (available - textWidth)) / numbers),
        )
      : width,
  )
  const scale = available / sum(shrunk)
  const widths = shrunk.map((width) => Math.floor(width * Math.min(1, scale)))
  const fitCell = (cell: unknown, k: number): unknown => {
    const text = String(cell ?? '')
    const maxWidth = widths[k] - PAD_PIXELS
    if (text.length * MAX_CHARACTER_PIXELS <= maxWidth || measureText(text) <= maxWidth) return cell
    return isNumber(k) ? shortenNumber(text, maxWidth, localeOf(layout.meta)) : shortenWords(text, maxWidth)
  }
  const values = columns.map((cells, k) => cells.map((cell) => fitCell(cell, k)))
  const header = {
    ...trace.header,
    values: names.map((name, k) => shortenWords(name, widths[k] - PAD_PIXELS)),
  }
  return { ...trace, columnwidth: widths, header, cells: { ...trace.cells, values } }
}

/** Formats a number with as many digits as fit: `1.2346B`. */
function shortenNumber(text: string, maxWidth: number, locale: string): string {
  const number = Number(text)
  if (Number.isNaN(number)) return shortenText(text, maxWidth)
  for (let digits = 6; digits > 1; digits--) {
    const short = number.toLocaleString(locale, { notation: 'compact', maximumSignificantDigits: digits })
    if (measureText(short) <= maxWidth) return short
  }
  return text.length <= MAX_FITTING_CHARACTERS ? text : shortenText(number.toPrecision(2), maxWidth)
}

/** Shortens the words of a text to a width: plotly.js breaks lines only between words. */
function shortenWords(text: string, maxWidth: number): string {
  return text
    .split(' ')
    .map((word) => shortenText(word, maxWidth))
    .join(' ')
}
