import { listOf } from '../../charts/figure/lists.ts'
import { type Attributes, type Draft, edgeOf, shortened, widthOf } from './draft.ts'
import { localeIn } from './numbers.ts'

/** Room beside a text in its cell, in pixels. */
const PAD_PIXELS = 18
/** Width of a column, at least and at most, in pixels. A longer text has several lines. */
const MIN_COLUMN_PIXELS = 44
const MAX_COLUMN_PIXELS = 320
/** Width of a column of numbers, at least, where they are written shorter, in pixels. */
const MIN_NUMBER_PIXELS = 62
/** Part of the width of a table that a long word can have. */
const MAX_WORD_SHARE = 0.3
/** Cells of a column whose texts decide its width. */
const MEASURED_CELLS = 300
/** Characters of a number that has room in any column. */
const FEW_CHARACTERS = 5
/** Width of a character, at most, in pixels: shorter texts need not be measured. */
const CHARACTER_PIXELS = 13

/**
 * A table whose columns are as wide as their texts need, with texts that fit: plotly.js cuts a number on its left, so that
 * it reads as another one.
 */
export function fitTable({ layout, view }: Draft, trace: Attributes): Attributes {
  const columns: unknown[][] = [...listOf(trace.cells?.values)].map((column) => [...listOf(column)])
  if (columns.length === 0 || trace.columnwidth !== undefined) return trace
  const names = [...listOf(trace.header?.values)].map((name) => String(name ?? ''))
  const isNumber = (k: number): boolean => listOf(trace.cells.align)[k] === 'right'
  const needed = columns.map((cells, k) => {
    const texts = cells.slice(0, MEASURED_CELLS).map((cell) => widthOf(String(cell ?? '')))
    const widest = Math.max(widthOf(names[k] ?? '', undefined, 600), ...texts)
    return Math.min(MAX_COLUMN_PIXELS, Math.max(MIN_COLUMN_PIXELS, widest + PAD_PIXELS))
  })
  const room = view.width - 2 * edgeOf(view)
  const sum = (widths: readonly number[]): number => widths.reduce((all, width) => all + width, 0)
  // Texts have several lines before numbers are written shorter.
  const numbers = sum(needed.filter((_, k) => isNumber(k)))
  const texts = sum(needed) - numbers
  const left = Math.max(room - numbers, MIN_COLUMN_PIXELS * needed.filter((_, k) => !isNumber(k)).length)
  // No narrower than the longest of its words, as far as there is room: a date, a name.
  const words = columns.map((cells) =>
    Math.max(
      0,
      ...cells.slice(0, MEASURED_CELLS).flatMap((cell) =>
        String(cell ?? '')
          .split(' ')
          .map((word) => widthOf(word)),
      ),
    ),
  )
  const wanted = needed.map((width, k) =>
    isNumber(k) || texts <= left
      ? width
      : Math.max((width * left) / texts, Math.min(words[k] + PAD_PIXELS, room * MAX_WORD_SHARE)),
  )
  // Numbers can be written shorter, down to a few digits; dates cannot.
  const others = sum(wanted.filter((_, k) => !isNumber(k)))
  const shrunk = wanted.map((width, k) =>
    isNumber(k)
      ? Math.max(Math.min(width, MIN_NUMBER_PIXELS), Math.min(width, (width * (room - others)) / numbers))
      : width,
  )
  const scale = room / sum(shrunk)
  const widths = shrunk.map((width) => Math.floor(width * Math.min(1, scale)))
  const fitted = (cell: unknown, k: number): unknown => {
    const text = String(cell ?? '')
    const most = widths[k] - PAD_PIXELS
    if (text.length * CHARACTER_PIXELS <= most || widthOf(text) <= most) return cell
    return isNumber(k) ? shortNumber(text, most, localeIn(layout.meta)) : shortWords(text, most)
  }
  const values = columns.map((cells, k) => cells.map((cell) => fitted(cell, k)))
  const header = { ...trace.header, values: names.map((name, k) => shortWords(name, widths[k] - PAD_PIXELS)) }
  return { ...trace, columnwidth: widths, header, cells: { ...trace.cells, values } }
}

/** A number with as many digits as fit: `1.2346B`. */
function shortNumber(text: string, most: number, locale: string): string {
  const number = Number(text)
  if (Number.isNaN(number)) return shortened(text, most)
  for (let digits = 6; digits > 1; digits--) {
    const short = number.toLocaleString(locale, { notation: 'compact', maximumSignificantDigits: digits })
    if (widthOf(short) <= most) return short
  }
  return text.length <= FEW_CHARACTERS ? text : shortened(number.toPrecision(2), most)
}

/** A text whose words fit a width: plotly.js breaks lines between words only. */
function shortWords(text: string, most: number): string {
  return text
    .split(' ')
    .map((word) => shortened(word, most))
    .join(' ')
}
