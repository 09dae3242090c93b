/** Detects axis types as plotly.js does, and converts values to numbers. */
import { type Attributes, isObject } from '../figure/figure.ts'
import { toKey } from './attributes.ts'

/** Converts values to comparable numbers and back. Undefined: the value has no position on the axis. */
export interface Conversion {
  toNumber(value: unknown): number | undefined
  toValue(number: number): unknown
}

type AxisType = 'linear' | 'log' | 'date' | 'category'

/** Detects axis types; converts values to numbers. */
export class AxisTypes {
  private readonly conversionCache = new Map<string, Conversion>()

  /** First values of each axis: they decide its type. */
  private readonly firstValues = new Map<string, readonly unknown[]>()

  /** `traces` are drawn; `original` are the traces of the figure, before they were grouped. */
  constructor(
    private readonly layout: Attributes,
    traces: readonly Attributes[],
    original: readonly Attributes[],
  ) {
    for (const trace of [...traces, ...original])
      for (const letter of ['x', 'y', 'z']) {
        const values: unknown = trace[letter]
        const axis = letter + toKey(trace[`${letter}axis`] ?? letter)
        if (Array.isArray(values) && values.length > 0 && !this.firstValues.has(axis))
          this.firstValues.set(axis, values)
      }
  }

  /** Returns the conversion of an attribute: that of its axis, or one detected from its values. */
  getConversion(trace: Attributes, target: unknown, values: readonly unknown[]): Conversion {
    if (target !== 'x' && target !== 'y' && target !== 'z') {
      const conversion = CONVERSIONS[detectAxisType(values)]()
      for (const value of values) conversion.toNumber(value)
      return conversion
    }
    const declared: unknown = trace[`${target}axis`]
    const axis = typeof declared === 'string' ? declared : target
    const name = `${target}axis${axis.slice(1)}`
    const cached = this.conversionCache.get(name)
    if (cached) return cached
    const conversion = CONVERSIONS[this.axisTypeOf(target, axis, name)]()
    this.conversionCache.set(name, conversion)
    return conversion
  }

  /** Returns the time of a value on a date axis, in ms, since times with different offsets can be equal. */
  timeOnDateAxis(
    { xaxis = 'x', yaxis = 'y' }: Attributes,
    target: unknown,
    value: unknown,
  ): number | undefined {
    const axis = target === 'x' ? xaxis : target === 'y' ? yaxis : undefined
    const settings = axis === undefined ? undefined : this.layout[`${target}axis${toKey(axis).slice(1)}`]
    return isObject(settings) && settings.type === 'date' ? parsePlotlyDate(value) : undefined
  }

  /** Assigns numbers to the labels of a trace, in their order. */
  numberLabels(trace: Attributes): void {
    for (const letter of ['x', 'y'] as const) {
      const values: unknown = trace[letter]
      if (!Array.isArray(values)) continue
      const { toNumber } = this.getConversion(trace, letter, values)
      for (const value of values) toNumber(value)
    }
  }

  /** Returns the type of an axis: from the layout, or detected from its first values. */
  private axisTypeOf(letter: 'x' | 'y' | 'z', axis: string, name: string): AxisType {
    const settings = this.layout[name]
    const type = isObject(settings) ? settings.type : undefined
    if (type === 'log' || type === 'date' || type === 'category' || type === 'linear') return type
    const values = this.firstValues.get(letter + axis)
    return values ? detectAxisType(values) : 'linear'
  }
}

const CONVERSIONS: Record<AxisType, () => Conversion> = {
  linear: () => ({ toNumber: parseNumber, toValue: (number) => number }),
  log: () => ({ toNumber: parseNumber, toValue: (number) => number }),
  // A numeric text is a time in ms, as a number is.
  date: () => ({
    toNumber: (value) =>
      parsePlotlyDate(value) ?? (isNumeric(value) ? parsePlotlyDate(Number(value)) : undefined),
    toValue: formatDate,
  }),
  category: createCategoryConversion,
}

/** Creates a conversion that numbers labels in order of appearance. */
function createCategoryConversion(): Conversion {
  const indexes = new Map<unknown, number>()
  const labels: unknown[] = []
  return {
    toNumber(value) {
      if (value === null || value === undefined) return undefined
      // As in plotly.js, 1 and "1" are the same label.
      const key = toKey(value)
      let index = indexes.get(key)
      if (index === undefined) {
        index = labels.push(value) - 1
        indexes.set(key, index)
      }
      return index
    },
    toValue: (number) => labels[Math.round(number)],
  }
}

/** Maximum length of a text that is a number. */
const MAX_NUMBER_CHARACTERS = 400
const NUMBER_JUNK = /^['"%,$#\s]+|[, ]|['"%,$#\s]+$/g

/** Parses a number, also with currency, percent or separators, as plotly.js does; undefined if it is none. */
function parseNumber(value: unknown): number | undefined {
  if (typeof value === 'string' && value.length > MAX_NUMBER_CHARACTERS) return undefined
  const plainText = typeof value === 'string' ? value.replace(NUMBER_JUNK, '') : value
  return isNumeric(plainText) ? Number(plainText) : undefined
}

function isNumeric(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))
}

const PLOTLY_DATE =
  /^\s*(-?\d\d\d\d)(?:-(\d?\d)(?:-(\d?\d)(?:[ Tt]([01]?\d|2[0-3])(?::([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?(Z|z|[+-]\d\d(?::?\d\d)?)?)?)?)?)?\s*$/

/** Parses a date as plotly.js does, in ms since 1970; undefined if it is invalid. */
export function parsePlotlyDate(value: unknown): number | undefined {
  if (typeof value === 'number') return Math.abs(value) < 8.64e15 ? value : undefined
  const match = typeof value === 'string' ? PLOTLY_DATE.exec(value) : null
  if (!match) return undefined
  const [, year, month = '1', day = '1', hour = '0', minute = '0', second = '0', zone] = match
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return undefined
  return (
    date.getTime() -
    parseOffset(zone) +
    Number(hour) * 3_600_000 +
    Number(minute) * 60_000 +
    Number(second) * 1000
  )
}

/** Parses an offset from UTC such as `+01:00`, in ms. */
function parseOffset(zone: string | undefined): number {
  if (zone === undefined || /z/i.test(zone)) return 0
  const sign = zone.startsWith('-') ? -1 : 1
  return sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(':', ''))) * 60_000
}

/** Formats a date without trailing zero parts. */
function formatDate(time: number): string | undefined {
  if (Math.abs(time) > 8.64e15) return undefined
  const text = new Date(Math.round(time)).toISOString().replace('T', ' ').slice(0, -1)
  return text
    .replace(/\.?0+$/, (zeros) => (zeros.startsWith('.') ? '' : zeros))
    .replace(/( 00:00:00|:00)$/, '')
}

/** Number of sampled values for type detection. */
const MAX_SAMPLED_VALUES = 1000

/** Detects the axis type of values, counting distinct ones, as plotly.js 2.35 does. */
function detectAxisType(values: readonly unknown[]): AxisType {
  const step = Math.max(1, (values.length - 1) / MAX_SAMPLED_VALUES)
  let [dates, numeric, numbers, labels] = [0, 0, 0, 0]
  const seen = new Set<string>()
  for (let k = 0; k < values.length; k += step) {
    const value = values[Math.round(k)]
    if (seen.has(String(value))) continue
    seen.add(String(value))
    if (typeof value === 'string' && parsePlotlyDate(value) !== undefined) dates++
    if (isNumeric(value)) numeric++
    if (typeof value === 'boolean') labels++
    else if (parseNumber(value) !== undefined) numbers++
    else if (typeof value === 'string') labels++
  }
  if (dates > numeric * 2) return 'date'
  return labels > numbers * 2 ? 'category' : 'linear'
}
