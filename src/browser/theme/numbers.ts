import { listOf } from '../../charts/figure/lists.ts'
import { knownLocale } from '../../charts/figure/locale.ts'
import { type Attributes, type Draft, isNarrow } from './draft.ts'

/** Large numbers as plotly.js writes them. */
const LARGE = { M: 1e6, B: 1e9, T: 1e12 } as const
/** Multiples of a step that have a name: an axis has far fewer ticks. */
const MAX_MULTIPLES = 120

/** Thousands with commas, millions by name, and small numbers without prefixes, unless the figure sets a format. */
export function formatNumbers({ data, layout }: Draft): void {
  const names = new Set([
    'xaxis',
    'yaxis',
    ...Object.keys(layout).filter((name) => /^[xy]axis\d+$/.test(name)),
  ])
  for (const key of names) {
    const axis: Attributes = layout[key] ?? {}
    if (axis.type === 'date' || axis.type === 'category' || axis.tickformat !== undefined) continue
    const largest = largestOn(data, key)
    if (largest === undefined) {
      // Counts of a histogram of others are known to plotly.js alone.
      if (key.startsWith('y') || data.some(({ type }) => type === 'histogram'))
        layout[key] = { separatethousands: true, ...axis }
      continue
    }
    const { values, isWhole, span, low } = largest
    // Whole numbers side by side have a tick each; sums of a y axis go beyond them.
    const isEach =
      isWhole &&
      span < (layout.meta.chart === 'bump' ? MAX_RANKS : FEW_WHOLE) &&
      axis.type !== 'log' &&
      (key.startsWith('x') || layout.meta.chart === 'bump')
    const isYears = isWhole && key.startsWith('x') && largest.least >= 1000 && values < 3000
    layout[key] = {
      // Smaller whole numbers of a x axis may be years.
      ...((key.startsWith('y') || values >= 10_000) && { separatethousands: true }),
      // Between whole numbers there is nothing: there are not more ticks than numbers, whatever the axis shows.
      ...(isEach &&
        axis.range === undefined && {
          tickmode: 'array',
          tickvals: Array.from({ length: span + 1 }, (_, k) => low + k),
        }),
      ...(isWhole &&
        !isEach &&
        span < FEW_WHOLE &&
        axis.type !== 'log' && { nticks: Math.max(2, Math.ceil(span) + 2) }),
      ...(isYears && { tickformat: 'd' }),
      ...numbersUpTo(values, layout),
      ...(axis.type === 'log' && { dtick: logTick(values, largest.least) }),
      // A bar of one has a height.
      ...(axis.type === 'log' &&
        layout.meta.chart === 'histogram' && {
          range: [Math.log10(0.5), Math.log10(values * data.length * 1.2)],
        }),
      hoverformat: hoverFormat(values, isWhole, key.startsWith('x')),
      // A word is read once, at the top; a sign is short.
      ...(String(axis.ticksuffix ?? '').length > 2 && { showticksuffix: 'last', showexponent: 'all' }),
      ...axis,
    }
    const { labelalias, tickprefix = '', ticksuffix = '' } = layout[key]
    // plotly.js looks up a label with its unit.
    if (values >= 1e6 && labelalias && tickprefix + ticksuffix !== '')
      layout[key].labelalias = withUnit(labelalias, tickprefix, ticksuffix)
  }
}

/** Whole numbers up to which each has a tick. */
const FEW_WHOLE = 6
/** Ranks that each have a tick. */
const MAX_RANKS = 16

/** Names of numbers, and the same with a unit. */
function withUnit(names: Record<string, string>, before: string, after: string): Record<string, string> {
  const own = Object.entries(names).flatMap(([key, name]) =>
    ['', after].map((end) => [`${before}${key}${end}`, `${before}${name}${end}`]),
  )
  return Object.fromEntries(own)
}

/** Steps of ticks, in months, and ends of months that are looked at. */
const MONTHS = [1, 2, 3, 6, 12, 24, 36, 60, 120]
const MAX_ENDS = 2000
/** Months of an axis that has months at its ticks: a longer one has years. */
const MAX_MONTHS = 24

/** The number of a month, from year 0 on. */
function monthOf(day: string): number {
  return Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7))
}

function isEven(numbers: readonly number[]): boolean {
  return numbers.every((number, k) => k < 2 || numbers[k - 1] - number === numbers[0] - numbers[1])
}

function isEndOfMonth(day: string): boolean {
  return new Date(Date.parse(day) + DAY_MS).getUTCDate() === 1
}

const DAY_MS = 86_400_000
/** Days of an axis that has a tick for each. */
const FEW_DAYS = 6

/** Dates without times have no hours between them, and ends of months have their ticks where they are. */
export function formatDates(draft: Draft): void {
  const { layout } = draft
  const given = layout.xaxis
  formatFirst(draft)
  if (layout.xaxis === given) return
  const { tickmode, tickvals, dtick, tick0, tickformat } = layout.xaxis
  // Small charts have the same dates.
  for (const key of Object.keys(layout))
    if (/^xaxis\d+$/.test(key) && layout[key].matches === 'x')
      layout[key] = { tickmode, tickvals, dtick, tick0, tickformat, ...layout[key] }
}

function formatFirst({ data, layout, view }: Draft): void {
  const { type, dtick, range } = layout.xaxis ?? {}
  if (type !== 'date' || dtick !== undefined || range !== undefined) return
  let [first, last]: (string | undefined)[] = []
  let ends: Set<string> | undefined = new Set()
  let starts: Set<string> | undefined = new Set()
  for (const { x } of data)
    for (const value of listOf(x)) {
      if (typeof value !== 'string') continue
      if (!/^\d{4}-\d\d-\d\d$/.test(value)) return
      if (ends && isEndOfMonth(value)) ends.add(value)
      else ends = undefined
      if (starts && value.endsWith('-01')) starts.add(value)
      else starts = undefined
      if (first === undefined || value < first) first = value
      if (last === undefined || value > last) last = value
    }
  if (first === undefined || last === undefined || isLonger(layout, first, last)) return
  const months = monthOf(last) - monthOf(first) + 1
  if (starts && starts.size > 1 && months <= MAX_MONTHS) {
    // Weeks have no place between months.
    const most = isNarrow(view) ? 6 : 12
    const step = MONTHS.find((one) => months / one <= most) ?? months
    layout.xaxis = { dtick: `M${step}`, tick0: first, tickformat: '%b\n%Y', ...layout.xaxis }
    return
  }
  const days = [...(ends ?? [])].sort().reverse()
  if (days.length > 1 && days.length <= MAX_ENDS && isEven(days.map(monthOf))) {
    // Beside the tick of the next month, the last day would be read as that.
    const most = isNarrow(view) ? 6 : 12
    const step = MONTHS.find((months) => days.length / months <= most) ?? days.length
    const tickvals = days.filter((_, k) => k % step === 0).reverse()
    layout.xaxis = { tickmode: 'array', tickvals, tickformat: '%b\n%Y', ...layout.xaxis }
    return
  }
  if ((Date.parse(last) - Date.parse(first)) / DAY_MS <= FEW_DAYS)
    layout.xaxis = { ...layout.xaxis, dtick: DAY_MS }
}

/** Whether an axis of dates is longer than its data: marks and notes can be far from it. */
function isLonger({ shapes, annotations }: Attributes, first: string, last: string): boolean {
  const all = [...listOf(shapes), ...listOf(annotations)] as Attributes[]
  const places = all.filter(({ xref }) => xref === 'x').flatMap(({ x, x0, x1 }) => [x, x0, x1])
  return places.some(
    (place) => place !== undefined && (String(place) < first || String(place) > `${last} 24`),
  )
}

/** How numbers are written whose largest is this. */
export function numbersUpTo(values: number, { meta }: Attributes): Attributes {
  if (values >= 1e6) return { exponentformat: 'B', minexponent: 5, labelalias: aliases(localeIn(meta)) }
  return { exponentformat: values > 0 && values < 1e-4 ? 'power' : 'none' }
}

/** Ticks of a logarithmic axis: the powers of ten only, if there are two. */
function logTick(values: number, least: number): number | undefined {
  return Math.floor(Math.log10(values)) - Math.ceil(Math.log10(least)) >= 1 ? 1 : undefined
}

function hoverFormat(values: number, isWhole: boolean, isX: boolean): string {
  // Whole numbers of a x axis may be years.
  if (isWhole) return isX && values < 10_000 ? 'd' : ',d'
  if (values >= 1000) return ',.2~f'
  return values >= 1 ? ',.3~f' : '.4~r'
}

/**
 * The largest number that is drawn on an axis, the smallest one above zero, and whether all are whole; undefined without
 * numbers.
 */
export function largestOn(
  data: readonly Attributes[],
  axis: string,
): { values: number; least: number; isWhole: boolean; span: number; low: number } | undefined {
  const letter = axis[0] as 'x' | 'y'
  const id = axis.replace('axis', '')
  let values = -1
  let least = Number.POSITIVE_INFINITY
  let isWhole = true
  let [low, high] = letter === 'y' ? [0, 0] : [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const trace of data) {
    if ((trace[`${letter}axis`] ?? letter) !== id) continue
    let total = 0
    for (const value of listOf(trace[letter])) {
      // Of a waterfall, the sum of all bars so far is drawn.
      if (trace.type === 'waterfall') total += Number(value) || 0
      const number = typeof value !== 'number' ? Number.NaN : trace.type === 'waterfall' ? total : value
      if (!Number.isFinite(number)) continue
      if (Math.abs(number) > values) values = Math.abs(number)
      if (number > 0 && number < least) least = number
      if (isWhole && !Number.isInteger(number)) isWhole = false
      if (number < low) low = number
      if (number > high) high = number
    }
  }
  return values < 0 ? undefined : { values, least, isWhole, span: high - low, low }
}

const known = new Map<string, Record<string, string>>()

/** The language of a chart. */
export function localeIn(meta: Attributes | undefined): string {
  return knownLocale(meta?.locale) ?? 'en'
}

/** `2.5M` is written `2.5 million`. Ticks are multiples of 1, 2 or 5 times a power of ten. */
function aliases(locale: string): Record<string, string> {
  const found = known.get(locale)
  if (found) return found
  const all: Record<string, string> = {}
  const compactDisplay = locale.startsWith('en') ? 'long' : 'short'
  const names = new Intl.NumberFormat(locale, { notation: 'compact', compactDisplay })
  const numbers = new Intl.NumberFormat(locale, { useGrouping: false, maximumFractionDigits: 6 })
  const nameOf = (size: number): string =>
    names.formatToParts(2 * size).find(({ type }) => type === 'compact')?.value ?? ''
  for (let power = -3; power <= 2; power++)
    for (const digit of [1, 2, 5])
      for (let k = 1; k <= MAX_MULTIPLES; k++) {
        const value = Number((k * digit * 10 ** power).toPrecision(6))
        if (value >= 1000) break
        const text = numbers.format(value)
        for (const sign of ['', '−'])
          for (const [short, size] of Object.entries(LARGE))
            all[`${sign}${text}${short}`] = `${sign}${text} ${nameOf(size)}`
      }
  known.set(locale, all)
  return all
}
