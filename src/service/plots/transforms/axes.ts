import { type Attributes, isObject, keyOf } from './attributes.ts'

/** Values as what they are compared and counted by, and back. Undefined is a value that cannot be placed. */
export interface Conversion {
  toNumber(value: unknown): number | undefined
  toValue(number: number): unknown
}

type AxisType = 'linear' | 'log' | 'date' | 'category'

/** How the axes of a figure read the values of its traces. */
export class Axes {
  private readonly known = new Map<string, Conversion>()

  /** The first values of each axis, which decide its type. */
  private readonly first = new Map<string, readonly unknown[]>()

  /** `traces`: those that are drawn. `given`: those of the figure. */
  constructor(
    private readonly layout: Attributes,
    traces: readonly Attributes[],
    given: readonly Attributes[],
  ) {
    for (const trace of [...traces, ...given])
      for (const letter of ['x', 'y', 'z']) {
        const values: unknown = trace[letter]
        const axis = letter + keyOf(trace[`${letter}axis`] ?? letter)
        if (Array.isArray(values) && values.length > 0 && !this.first.has(axis)) this.first.set(axis, values)
      }
  }

  /** How values of an attribute are read: by their axis, or as an axis of their own. */
  conversionOf(trace: Attributes, target: unknown, values: readonly unknown[]): Conversion {
    if (target !== 'x' && target !== 'y' && target !== 'z') {
      const conversion = conversions[typeOf(values)]()
      for (const value of values) conversion.toNumber(value)
      return conversion
    }
    const axis = typeof trace[`${target}axis`] === 'string' ? (trace[`${target}axis`] as string) : target
    const name = `${target}axis${axis.slice(1)}`
    const found = this.known.get(name)
    if (found) return found
    const conversion = conversions[this.typeOf(target, axis, name)]()
    this.known.set(name, conversion)
    return conversion
  }

  /** The time of a value on an axis of dates that says so: the same one can be written with two offsets. */
  momentOf({ xaxis = 'x' }: Attributes, target: unknown, value: unknown): number | undefined {
    const settings = target === 'x' ? this.layout[`xaxis${keyOf(xaxis).slice(1)}`] : undefined
    return isObject(settings) && settings.type === 'date' ? instant(value) : undefined
  }

  /** Numbers the labels of a trace before they are compared. */
  number(trace: Attributes): void {
    for (const letter of ['x', 'y'] as const) {
      const values: unknown = trace[letter]
      if (!Array.isArray(values)) continue
      const { toNumber } = this.conversionOf(trace, letter, values)
      for (const value of values) toNumber(value)
    }
  }

  private typeOf(letter: 'x' | 'y' | 'z', axis: string, name: string): AxisType {
    const settings = this.layout[name]
    const type = isObject(settings) ? settings.type : undefined
    if (type === 'log' || type === 'date' || type === 'category' || type === 'linear') return type
    const values = this.first.get(letter + axis)
    return values ? typeOf(values) : 'linear'
  }
}

const conversions: Record<AxisType, () => Conversion> = {
  linear: () => ({ toNumber: cleanNumber, toValue: (number) => number }),
  log: () => ({ toNumber: cleanNumber, toValue: (number) => number }),
  // A text that is a number is a time in ms, as the number is.
  date: () => ({
    toNumber: (value) => instant(value) ?? (isNumeric(value) ? instant(Number(value)) : undefined),
    toValue: dateText,
  }),
  category: categories,
}

/** Labels are numbered as they appear. */
function categories(): Conversion {
  const indexes = new Map<unknown, number>()
  const labels: unknown[] = []
  return {
    toNumber(value) {
      if (value === null || value === undefined) return undefined
      // As keys of an object: 1 and "1" are the same label.
      const key = keyOf(value)
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

const JUNK = /^['"%,$#\s]+|[, ]|['"%,$#\s]+$/g

function cleanNumber(value: unknown): number | undefined {
  const plainText = typeof value === 'string' ? value.replace(JUNK, '') : value
  return isNumeric(plainText) ? Number(plainText) : undefined
}

function isNumeric(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))
}

const DATE =
  /^\s*(-?\d\d\d\d)(?:-(\d?\d)(?:-(\d?\d)(?:[ Tt]([01]?\d|2[0-3])(?::([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?(Z|z|[+-]\d\d(?::?\d\d)?)?)?)?)?)?\s*$/

/** The time of a value on an axis of dates, in ms since 1970, as plotly.js reads it. */
export function instant(value: unknown): number | undefined {
  if (typeof value === 'number') return Math.abs(value) < 8.64e15 ? value : undefined
  const match = typeof value === 'string' ? DATE.exec(value) : null
  if (!match) return undefined
  const [, year, month = '1', day = '1', hour = '0', minute = '0', second = '0', zone] = match
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return undefined
  return (
    date.getTime() -
    offsetOf(zone) +
    Number(hour) * 3_600_000 +
    Number(minute) * 60_000 +
    Number(second) * 1000
  )
}

/** The offset of a zone from UTC, in ms. Times are drawn in UTC. */
function offsetOf(zone: string | undefined): number {
  if (zone === undefined || /z/i.test(zone)) return 0
  const sign = zone.startsWith('-') ? -1 : 1
  return sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(':', ''))) * 60_000
}

/** A date without the parts that are zero at its end. */
function dateText(time: number): string | undefined {
  if (Math.abs(time) > 8.64e15) return undefined
  const iso = new Date(Math.round(time)).toISOString().replace('T', ' ').slice(0, -1)
  return iso
    .replace(/\.?0+$/, (zeros) => (zeros.startsWith('.') ? '' : zeros))
    .replace(/( 00:00:00|:00)$/, '')
}

/** The values of an array of which its type is found. */
const SAMPLE_VALUES = 1000

/** The type that plotly.js 2.35 gives to an axis with these values: of different ones, whatever their types. */
function typeOf(values: readonly unknown[]): AxisType {
  const step = Math.max(1, (values.length - 1) / SAMPLE_VALUES)
  let [dates, numeric, numbers, labels] = [0, 0, 0, 0]
  const seen = new Set<string>()
  for (let k = 0; k < values.length; k += step) {
    const value = values[Math.round(k)]
    if (seen.has(String(value))) continue
    seen.add(String(value))
    if (typeof value === 'string' && instant(value) !== undefined) dates++
    if (isNumeric(value)) numeric++
    if (typeof value === 'boolean') labels++
    else if (cleanNumber(value) !== undefined) numbers++
    else if (typeof value === 'string') labels++
  }
  if (dates > numeric * 2) return 'date'
  return labels > numbers * 2 ? 'category' : 'linear'
}
