// Axes of charts that are drawn as characters: positions of values, and ticks.
import { type Attributes, isObject } from '../../charts/figure/figure.ts'
import { sortLabels } from '../../charts/figure/label-order.ts'
import { roundUpToStep } from '../../charts/figure/steps.ts'

/** Axis: positions of values from 0 to 1, and ticks. */
export interface Axis {
  positionOf: (value: unknown) => number | undefined
  ticks: (room: number) => { at: number; text: string }[]
}

/** Returns whether a value is present: not null, undefined or empty. */
export function isPresent(value: unknown): boolean {
  return value !== null && value !== undefined && value !== ''
}

const DATE_PATTERN = /^\d{4}-\d{2}(-\d{2}([T ]\d{2}(:\d{2}(:\d{2}(\.\d+)?)?)?Z?)?)?$/

/** Creates an axis for values; undefined if not supported. */
export function createAxis(
  values: readonly unknown[],
  attributes: unknown,
  pad: number,
  plain: (text: string) => string,
  sizes: ReadonlyMap<string, number>,
): Axis | undefined {
  const axis: Attributes = isObject(attributes) ? attributes : {}
  const { type, range, autorange, categoryorder, categoryarray, tickvals, ticktext } = axis
  if (type === 'multicategory') return undefined
  const isReversed = autorange === 'reversed'
  if (type !== 'category' && (isReversed || categoryorder !== undefined)) return undefined
  if (
    tickvals !== undefined &&
    !(Array.isArray(tickvals) && tickvals.every((tick) => typeof tick === 'number'))
  )
    return undefined
  const presentValues = values.filter(isPresent)
  if (presentValues.length === 0) return undefined
  // Reversed, or partly determined by the data.
  if (range !== undefined && type !== 'category' && !isAscending(range)) return undefined
  // plotly.js treats numeric texts as numbers.
  if (type !== 'category' && presentValues.some((value) => typeof value === 'string' && isNumberText(value)))
    return undefined
  const isNumeric = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
  // Categories ignore the range: all labels are shown.
  if (
    type === 'category' ||
    ((type === undefined || type === '-') && !presentValues.every(isNumeric) && !presentValues.every(isDate))
  )
    return presentValues.every((value) => !isDateLike(value))
      ? createCategoryAxis(sortLabels(presentValues, categoryorder, categoryarray, sizes), isReversed, plain)
      : undefined
  if (type === 'date' || ((type === undefined || type === '-') && presentValues.every(isDate))) {
    const days = presentValues.map(parseTime)
    if (days.some(Number.isNaN)) return undefined
    return createNumericAxis(days, parseRange(range, parseTime), pad * DAY_MS, parseTime, dateTicks)
  }
  if (!presentValues.every(isNumeric)) return undefined
  if (type === 'log') {
    const positive = presentValues.filter((value) => value > 0).map(Math.log10)
    const place = (value: unknown): number => (isNumeric(value) && value > 0 ? Math.log10(value) : Number.NaN)
    return positive.length === 0
      ? undefined
      : createNumericAxis(positive, parseRange(range, Number), 0, place, logTicks)
  }
  if (type !== undefined && type !== 'linear' && type !== '-') return undefined
  const number = (value: unknown): number => (isNumeric(value) ? value : Number.NaN)
  const customTicks = Array.isArray(tickvals)
    ? tickvals.map((value: number, k) => ({
        value,
        text: plain(String(Array.isArray(ticktext) ? ticktext[k] : value)),
      }))
    : undefined
  const ticks = customTicks
    ? (_: number, __: number, room: number) => thinTicks(customTicks, room)
    : (from: number, to: number, room: number) =>
        addUnits(axis, numberTicks(from, to, room, axis.tickformat === 'd'))
  return createNumericAxis(presentValues, parseRange(range, number), pad, number, ticks)
}

/** Returns as many ticks as fit, always including zero. */
function thinTicks(ticks: readonly Tick[], maxTicks: number): Tick[] {
  const step = Math.ceil(ticks.length / maxTicks)
  const zero = Math.max(
    0,
    ticks.findIndex(({ value }) => value === 0),
  )
  return ticks.filter((_, k) => (k - zero) % step === 0)
}

/** Adds the unit of the axis to ticks. A word is added only to the top tick. */
function addUnits({ tickprefix, ticksuffix }: Record<string, unknown>, ticks: Tick[]): Tick[] {
  const [prefix, suffix] = [tickprefix, ticksuffix].map((unit) => (typeof unit === 'string' ? unit : ''))
  const isWord = suffix.length > 2
  return ticks.map(({ value, text }, k) => ({
    value,
    text: `${prefix}${text}${isWord && k < ticks.length - 1 ? '' : suffix}`,
  }))
}

/** Tick: value on the axis (log10 for log axes, ms for dates) and label. */
interface Tick {
  value: number
  text: string
}

/** Returns whether a text is a number. */
function isNumberText(text: string): boolean {
  return text.trim() !== '' && Number.isFinite(Number(text))
}

/** Returns whether a range is ascending. */
function isAscending(range: unknown): boolean {
  if (!Array.isArray(range) || range.length !== 2) return false
  const [from, to] = range
  return typeof from === typeof to && (typeof from === 'number' || typeof from === 'string') && from < to
}

/** Returns whether a value is an ISO date in a supported format. */
function isDate(value: unknown): value is string {
  return typeof value === 'string' && DATE_PATTERN.test(value)
}

/** Returns whether a text is a date for plotly.js, also in formats not supported here. */
function isDateLike(value: unknown): boolean {
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}/.test(value)
}

/** Parses a date to ms since 1970; NaN for other values. */
function parseTime(value: unknown): number {
  if (!isDate(value)) return Number.NaN
  // As for plotly.js, the zone of a time does not count.
  const [day, time = '00:00'] = value.replace(/Z$/, '').split(/[T ]/)
  return Date.parse(`${day.length === 7 ? `${day}-01` : day}T${time.length === 2 ? `${time}:00` : time}Z`)
}

/** Converts the range of an axis to numbers; undefined unless ascending. */
function parseRange(range: unknown, toNumber: (value: unknown) => number): [number, number] | undefined {
  if (!Array.isArray(range) || range.length !== 2) return undefined
  const [from, to] = range.map(toNumber)
  return from < to ? [from, to] : undefined
}

/** Creates a numeric axis. `pad`: extra space at both ends, in units of the axis. */
function createNumericAxis(
  values: readonly number[],
  range: [number, number] | undefined,
  pad: number,
  toNumber: (value: unknown) => number,
  ticksOf: (from: number, to: number, room: number) => Tick[],
): Axis | undefined {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    if (value < from) from = value
    if (value > to) to = value
  }
  if (from === to) [from, to] = [from - 1, to + 1]
  // Numbers so large that differences are lost.
  if (!Number.isFinite(to - from) || from === to) return undefined
  const margin = (to - from) * 0.04
  const isZero = (end: number): boolean => end === 0
  ;[from, to] = range ?? [
    isZero(from) ? from - pad : from - margin - pad,
    isZero(to) ? to + pad : to + margin + pad,
  ]
  const toPosition = (value: number): number => (value - from) / (to - from)
  return {
    positionOf: (value) => {
      const number = toNumber(value)
      return Number.isNaN(number) ? undefined : toPosition(number)
    },
    ticks: (room) => ticksOf(from, to, room).map(({ value, text }) => ({ at: toPosition(value), text })),
  }
}

/** Format of large numbers. */
const LARGE_NUMBER_FORMAT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 6 })

/** Returns ticks for a linear axis. `isPlain`: integers without separators, such as years. */
function numberTicks(from: number, to: number, maxTicks: number, isPlain = false): Tick[] {
  const step = Math.max(isPlain ? 1 : 0, roundUpToStep((to - from) / maxTicks))
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9))
  // Beyond this ratio, steps are inexact.
  if (Math.max(Math.abs(from), Math.abs(to)) / step > 2 ** 50)
    return [from, to].map((value) => ({ value, text: String(value) }))
  const ticks: Tick[] = []
  for (let k = Math.ceil(from / step); k * step <= to; k++) {
    const value = k * step
    const isLong = Math.abs(value) >= 1e15 || digits > 8
    const isLarge = !isPlain && Math.abs(value) >= 1e6
    ticks.push({
      value,
      text: isLong
        ? value.toExponential(2)
        : isLarge
          ? LARGE_NUMBER_FORMAT.format(value)
          : isPlain
            ? String(value)
            : value.toFixed(digits).replace(/\B(?=(\d{3})+(?!\d)(\.|$))/g, ','),
    })
  }
  return ticks
}

/** Maximum exponent of ten that is drawn, well above that of doubles. */
const MAX_EXPONENT = 400

/** Returns ticks at powers of ten. */
function logTicks(from: number, to: number, maxTicks: number): Tick[] {
  // Exponents beyond doubles cannot be data.
  if (Math.max(Math.abs(from), Math.abs(to)) > MAX_EXPONENT) return []
  const step = Math.max(1, Math.ceil((to - from) / maxTicks))
  const ticks: Tick[] = []
  for (let power = Math.ceil(from); power <= to; power += step)
    ticks.push({
      value: power,
      text: Math.abs(power) > 6 ? `1e${power}` : String(Number((10 ** power).toPrecision(1))),
    })
  return ticks.length > 1
    ? ticks
    : numberTicks(from, to, maxTicks).map(({ value }) => ({ value, text: (10 ** value).toPrecision(3) }))
}

const SECOND_MS = 1000
const DAY_MS = 86_400 * SECOND_MS
const TIME_STEPS_MS = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10_800, 21_600, 43_200].map(
  (seconds) => seconds * SECOND_MS,
)
const DAY_STEPS_MS = [1, 2, 7, 14].map((days) => days * DAY_MS)
const MONTH_STEPS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 12_000]

/** Returns about `maxTicks` ticks at round dates or times. */
function dateTicks(from: number, to: number, maxTicks: number): Tick[] {
  const minStep = (to - from) / maxTicks
  const fixedStep = [...TIME_STEPS_MS, ...DAY_STEPS_MS].find((step) => step >= minStep)
  const ticks: Tick[] = []
  if (fixedStep !== undefined) {
    for (let value = Math.ceil(from / fixedStep) * fixedStep; value <= to; value += fixedStep) {
      const iso = new Date(value).toISOString()
      const isDay = fixedStep >= DAY_MS || value % DAY_MS === 0
      ticks.push({
        value,
        text: isDay ? iso.slice(0, 10) : iso.slice(11, fixedStep < 60 * SECOND_MS ? 19 : 16),
      })
    }
    return ticks
  }
  const months =
    MONTH_STEPS.find((step) => step * 30.4 * DAY_MS >= minStep) ?? MONTH_STEPS[MONTH_STEPS.length - 1]
  const start = new Date(from)
  let month = Math.ceil((start.getUTCFullYear() * 12 + start.getUTCMonth()) / months) * months
  for (; ; month += months) {
    const date = new Date(0)
    date.setUTCFullYear(Math.floor(month / 12), month % 12, 1)
    const value = date.getTime()
    if (!(value <= to)) return ticks
    if (value >= from) ticks.push({ value, text: date.toISOString().slice(0, months % 12 === 0 ? 4 : 7) })
  }
}

/** Creates an axis of categories. */
function createCategoryAxis(
  values: readonly unknown[],
  isReversed: boolean,
  plain: (text: string) => string,
): Axis {
  const indexByLabel = new Map<string, number>()
  for (const value of values)
    if (!indexByLabel.has(String(value))) indexByLabel.set(String(value), indexByLabel.size)
  const positionOf = (k: number): number =>
    ((isReversed ? indexByLabel.size - 1 - k : k) + 0.5) / indexByLabel.size
  return {
    positionOf: (value) => {
      const k = isPresent(value) ? indexByLabel.get(String(value)) : undefined
      return k === undefined ? undefined : positionOf(k)
    },
    ticks: () => [...indexByLabel].map(([text, k]) => ({ at: positionOf(k), text: plain(text) })),
  }
}
