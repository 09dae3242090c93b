// Texts in columns that had numbers or dates when a chart was made: see docs/guide.md#themes.
import { formatCount } from '../contract/message-texts.ts'
import { type Attributes, isObject } from './figure/figure.ts'
import { listOf } from './figure/lists.ts'
import { hasLabels } from './spec/column-names.ts'
import { humanizeName } from './spec/words.ts'

/** Returns whether an axis has labels. Dates and numbers that a slope chart converts do not count. */
export function hasLabelAxis(layout: Attributes, letter: 'x' | 'y', id: unknown): boolean {
  if (layout[`${letter}axis${String(id ?? letter).slice(1)}`]?.type !== 'category') return false
  const { columns = [], options = {} }: Attributes = layout.meta?.spec ?? {}
  const x =
    layout.meta?.chart === 'slope' ? columns.find(({ name }: Attributes) => name === options.x) : undefined
  return x === undefined || hasLabels(x)
}

/** Maximum length of a number or a date, in characters. */
const MAX_VALUE_CHARACTERS = 400
/** Characters beside and in numbers that plotly.js ignores, as in `$1,200` and `45%`. */
const NUMBER_JUNK = /['"%,$#\s]/g
/** Texts that plotly.js draws on axes of numbers and dates; empty ones are missing values. */
const NUMBER_TEXT = /^(?:[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?)?$/i
const DATE_TEXT = /^$|^[-+]?\d{4}/
/** A text whose last comma separates no thousands: plotly.js reads `10,5` as 105. */
const DECIMAL_COMMA = /,(?!\d{3}(?!\d))[^,]*$|\.\d*,/

/** Attributes that show their values as they are written, so that any text will do. */
const WRITTEN_ATTRIBUTES: ReadonlySet<string> = new Set(
  'labels ids parents text hovertext customdata locations theta symbol'.split(' '),
)

/** Returns whether any text will do for an attribute of a trace: labels, and values that are counted. */
function takesTexts(trace: Attributes, layout: Attributes, attribute: string): boolean {
  if (WRITTEN_ATTRIBUTES.has(attribute)) return true
  const isSpread = trace.type === 'box' || trace.type === 'violin'
  if (isSpread && attribute === (trace.orientation === 'h' ? 'y' : 'x')) return true
  const transforms: Attributes[] = Array.from(listOf(trace.transforms)).filter(isObject)
  const aggregations = transforms.flatMap((transform) => Array.from(listOf(transform.aggregations)))
  if (aggregations.some((one) => isObject(one) && one.target === attribute && one.func === 'count'))
    return true
  const isAxis = attribute === 'x' || attribute === 'y'
  return isAxis && hasLabelAxis(layout, attribute, trace[`${attribute}axis`])
}

function isDateText(text: string): boolean {
  return text.length <= MAX_VALUE_CHARACTERS && DATE_TEXT.test(text.trim())
}

/** Returns a check for texts that plotly.js reads as the numbers that they are. One decimal comma decides for all. */
function createNumberCheck(values: readonly unknown[]): (text: string) => boolean {
  const isShort = (text: string): boolean => text.length <= MAX_VALUE_CHARACTERS
  const isEuropean = values.some(
    (value) => typeof value === 'string' && isShort(value) && DECIMAL_COMMA.test(value),
  )
  return (text) =>
    isShort(text) && !(isEuropean && /[.,]/.test(text)) && NUMBER_TEXT.test(text.replace(NUMBER_JUNK, ''))
}

/** A list of a trace that has texts in a column of numbers or dates. */
interface OtherTexts {
  /** The trace, or its marker. */
  holder: Attributes
  attribute: string
  column: Attributes
  /** Positions of the texts. */
  rows: number[]
}

/** Finds texts in columns that had numbers or dates when the chart was made. */
function findOtherTexts(traces: readonly Attributes[], layout: Attributes): OtherTexts[] {
  const columns: Attributes[] = Array.from(listOf(layout.meta?.spec?.columns)).filter(isObject)
  const found: OtherTexts[] = []
  for (const trace of traces)
    for (const holder of [trace, trace.marker].filter(isObject))
      for (const [key, source] of Object.entries(holder)) {
        if (!key.endsWith('src') || typeof source !== 'string') continue
        const attribute = key.slice(0, -3)
        const uid = source.slice(source.lastIndexOf(':') + 1)
        const column = columns.find((one) => one.uid === uid)
        if (!column || takesTexts(trace, layout, attribute)) continue
        const isNumber = column.type === 'number'
        if (!isNumber && !String(column.type).startsWith('date')) continue
        const list = listOf(holder[attribute])
        const rows: number[] = []
        let fits: ((text: string) => boolean) | undefined
        for (let k = 0; k < list.length; k++) {
          const value = list[k]
          if (typeof value !== 'string') continue
          fits ??= isNumber ? createNumberCheck(Array.from(list)) : isDateText
          if (!fits(value)) rows.push(k)
        }
        if (rows.length > 0) found.push({ holder, attribute, column, rows })
      }
  return found
}

/**
 * Returns how many rows have a text in a column that had numbers or dates when the chart was made: 2 rows whose price is
 * not a number.
 */
export function describeOtherTexts(data: readonly Attributes[], layout: Attributes): string[] {
  const counts = new Map<string, number>()
  for (const { attribute, column, rows } of findOtherTexts(data, layout)) {
    // Rows without a color are grey.
    if (attribute === 'color') continue
    const why = `whose ${humanizeName(String(column.name))} is not a ${column.type === 'number' ? 'number' : 'date'}`
    counts.set(why, Math.max(rows.length, counts.get(why) ?? 0))
  }
  return [...counts].map(([why, count]) => `${formatCount(count, 'row')} ${why}`)
}

/** Returns a trace without texts in columns that had numbers or dates: an axis of labels would have them in any order. */
export function dropOtherTexts(trace: Attributes, layout: Attributes): Attributes {
  let changed = trace
  for (const { holder, attribute, rows } of findOtherTexts([trace], layout)) {
    const values: unknown[] = Array.from(listOf(holder[attribute]))
    for (const row of rows) values[row] = null
    changed =
      holder === trace
        ? { ...changed, [attribute]: values }
        : { ...changed, marker: { ...changed.marker, [attribute]: values } }
  }
  return changed
}
