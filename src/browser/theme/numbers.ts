// Number and date formats of axes.
import { listOf } from '../../charts/figure/lists.ts'
import { findSupportedLocale } from '../../charts/figure/locale.ts'
import { type Attributes, type Draft, isNarrow } from './arrangement.ts'

/** Suffixes of large numbers in plotly.js. */
const SUFFIX_VALUES = { M: 1e6, B: 1e9, T: 1e12 } as const
/** Maximum multiple of a tick step that is translated; an axis has far fewer ticks. */
const MAX_TICK_MULTIPLE = 120

/** Formats axis numbers, unless the figure does: thousands with commas, millions by name, no prefixes. */
export function formatNumbers(draft: Draft): void {
  const { data, layout } = draft
  const names = new Set([
    'xaxis',
    'yaxis',
    ...Object.keys(layout).filter((name) => /^[xy]axis\d+$/.test(name)),
  ])
  for (const key of names) {
    const axis: Attributes = layout[key] ?? {}
    if (axis.type === 'date' || axis.type === 'category' || axis.tickformat !== undefined) continue
    const largest = measureNumbers(data, key)
    if (largest === undefined) {
      // Only plotly.js knows the counts of a histogram.
      if (key.startsWith('y') || data.some(({ type }) => type === 'histogram'))
        layout[key] = { separatethousands: true, ...axis }
      continue
    }
    const { values, isWhole, span, low } = largest
    // Few whole numbers have a tick each; the y axis may extend beyond them, to sums.
    const hasEachTick =
      isWhole &&
      span < (layout.meta.chart === 'bump' ? MAX_RANKS : EACH_TICK_THRESHOLD) &&
      axis.type !== 'log' &&
      (key.startsWith('x') || layout.meta.chart === 'bump')
    const isYears = isWhole && key.startsWith('x') && largest.least >= 1000 && values < 3000
    layout[key] = {
      // Smaller whole numbers on an x axis may be years.
      ...((key.startsWith('y') || values >= 10_000) && { separatethousands: true }),
      // Do not place ticks between whole numbers.
      ...(hasEachTick &&
        axis.range === undefined && {
          tickmode: 'array',
          tickvals: Array.from({ length: span + 1 }, (_, k) => low + k),
        }),
      ...(key === 'xaxis' && isNarrow(draft.view) && placeNarrowTicks(draft, values, axis)),
      ...(isWhole &&
        !hasEachTick &&
        span < EACH_TICK_THRESHOLD &&
        axis.type !== 'log' && { nticks: Math.max(2, Math.ceil(span) + 2) }),
      ...(isYears && { tickformat: 'd' }),
      ...createNumberFormat(values, layout),
      ...(axis.type === 'log' && { dtick: logTickStepOf(values, largest.least) }),
      // Let a bar of one have a height.
      ...(axis.type === 'log' &&
        layout.meta.chart === 'histogram' && {
          range: [Math.log10(0.5), Math.log10(values * data.length * 1.2)],
        }),
      hoverformat: hoverFormatOf(values, isWhole, key.startsWith('x')),
      // Write a long unit only once, at the top.
      ...(String(axis.ticksuffix ?? '').length > 2 && { showticksuffix: 'last', showexponent: 'all' }),
      ...axis,
    }
    const { labelalias, tickprefix = '', ticksuffix = '' } = layout[key]
    // plotly.js looks up label aliases with the unit.
    if (values >= 1e6 && labelalias && tickprefix + ticksuffix !== '')
      layout[key].labelalias = addUnit(labelalias, tickprefix, ticksuffix)
  }
}

/** Below this span, each whole number has a tick. */
const EACH_TICK_THRESHOLD = 6
/** Maximum number of ranks with a tick each. */
const MAX_RANKS = 16

/** Returns label aliases, each also with a unit. */
function addUnit(names: Record<string, string>, before: string, after: string): Record<string, string> {
  const entries = Object.entries(names).flatMap(([key, name]) =>
    ['', after].map((end) => [`${before}${key}${end}`, `${before}${name}${end}`]),
  )
  return Object.fromEntries(entries)
}

/** Possible tick steps, in months, and the maximum number of month ends that are considered. */
const MONTH_STEPS = [1, 2, 3, 6, 12, 24, 36, 60, 120]
const MAX_MONTH_ENDS = 2000
/** Maximum number of months for ticks at months; a longer axis has years. */
const MAX_MONTHS = 24

/** Returns the number of months since year 0. */
function monthNumberOf(day: string): number {
  return Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7))
}

/** Returns whether descending numbers are equally spaced. */
function isEvenlySpaced(numbers: readonly number[]): boolean {
  return numbers.every((number, k) => k < 2 || numbers[k - 1] - number === numbers[0] - numbers[1])
}

function isEndOfMonth(day: string): boolean {
  return new Date(Date.parse(day) + DAY_MS).getUTCDate() === 1
}

const DAY_MS = 86_400_000
/** Maximum span in days for a tick at each day. */
const MAX_DAYS_WITH_TICKS = 6

/** Places ticks of dates at days, months or month ends, without hours. */
export function formatDates(draft: Draft): void {
  const { layout } = draft
  const before = layout.xaxis
  formatFirstAxis(draft)
  if (layout.xaxis === before) return
  const { tickmode, tickvals, dtick, tick0, tickformat } = layout.xaxis
  // Facets share these ticks.
  for (const key of Object.keys(layout))
    if (/^xaxis\d+$/.test(key) && layout[key].matches === 'x')
      layout[key] = { tickmode, tickvals, dtick, tick0, tickformat, ...layout[key] }
}

/** Formats the first x axis. */
function formatFirstAxis({ data, layout, view }: Draft): void {
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
  if (first === undefined || last === undefined || isExtended(layout, first, last)) return
  const months = monthNumberOf(last) - monthNumberOf(first) + 1
  if (starts && starts.size > 1 && months <= MAX_MONTHS) {
    // Do not place week ticks between months.
    const maxTicks = isNarrow(view) ? 6 : 12
    const step = MONTH_STEPS.find((candidate) => months / candidate <= maxTicks) ?? months
    layout.xaxis = { dtick: `M${step}`, tick0: first, tickformat: '%b\n%Y', ...layout.xaxis }
    return
  }
  const days = [...(ends ?? [])].sort().reverse()
  if (days.length > 1 && days.length <= MAX_MONTH_ENDS && isEvenlySpaced(days.map(monthNumberOf))) {
    // Place ticks at the month ends: a tick at the next month would be misread.
    const maxTicks = isNarrow(view) ? 6 : 12
    const step = MONTH_STEPS.find((months) => days.length / months <= maxTicks) ?? days.length
    const tickvals = days.filter((_, k) => k % step === 0).reverse()
    layout.xaxis = { tickmode: 'array', tickvals, tickformat: '%b\n%Y', ...layout.xaxis }
    return
  }
  if ((Date.parse(last) - Date.parse(first)) / DAY_MS <= MAX_DAYS_WITH_TICKS)
    layout.xaxis = { ...layout.xaxis, dtick: DAY_MS }
}

/** Width of a character, and of the space between two labels, in pixels. */
const CHARACTER_PIXELS = 8
const GAP_PIXELS = 16

/**
 * Makes room for the labels of a narrow x axis: `10,000 €` is wider than plotly.js expects. With its automatic margins,
 * which change the ticks, which change the margins, it can draw without end.
 */
function placeNarrowTicks(
  draft: Draft,
  values: number,
  { tickprefix = '', ticksuffix = '' }: Attributes,
): Attributes {
  // The last tick is above the values. Large numbers are named, as in 20 million.
  const digits = values >= 1e6 ? 10 : Math.ceil(values * 2).toLocaleString('en').length
  const pixels = (digits + tickprefix.length + ticksuffix.length) * CHARACTER_PIXELS
  draft.right = Math.max(draft.right, pixels / 2)
  const most = Math.floor((draft.view.width - draft.right) / (pixels + GAP_PIXELS))
  return { automargin: 'height', ...(most < 5 && { nticks: Math.max(4, most) }) }
}

/** Returns whether reference lines or notes extend the axis beyond the data. */
function isExtended({ shapes, annotations }: Attributes, first: string, last: string): boolean {
  const all = [...listOf(shapes), ...listOf(annotations)] as Attributes[]
  const positions = all.filter(({ xref }) => xref === 'x').flatMap(({ x, x0, x1 }) => [x, x0, x1])
  return positions.some(
    (position) => position !== undefined && (String(position) < first || String(position) > `${last} 24`),
  )
}

/** Returns the number format for values up to `values`. */
export function createNumberFormat(values: number, { meta }: Attributes): Attributes {
  if (values >= 1e6)
    return { exponentformat: 'B', minexponent: 5, labelalias: createTickAliases(localeOf(meta)) }
  return { exponentformat: values > 0 && values < 1e-4 ? 'power' : 'none' }
}

/** Returns the tick step of a logarithmic axis: 1 (powers of ten only) if there are at least two powers. */
function logTickStepOf(values: number, least: number): number | undefined {
  return Math.floor(Math.log10(values)) - Math.ceil(Math.log10(least)) >= 1 ? 1 : undefined
}

function hoverFormatOf(values: number, isWhole: boolean, isX: boolean): string {
  // Whole numbers on an x axis may be years.
  if (isWhole) return isX && values < 10_000 ? 'd' : ',d'
  if (values >= 1000) return ',.2~f'
  return values >= 1 ? ',.3~f' : '.4~r'
}

/**
 * Returns the largest absolute number on an axis, the smallest positive one, whether all are whole, and their
 * span; undefined without numbers.
 */
export function measureNumbers(
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
      // A waterfall draws running totals.
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

const aliasesByLocale = new Map<string, Record<string, string>>()

/** Returns the language of a chart. */
export function localeOf(meta: Attributes | undefined): string {
  return findSupportedLocale(meta?.locale) ?? 'en'
}

/** Returns tick labels with named millions, `2.5M` → `2.5 million`, for multiples of 1, 2 or 5. */
function createTickAliases(locale: string): Record<string, string> {
  const cached = aliasesByLocale.get(locale)
  if (cached) return cached
  const aliasesByTick: Record<string, string> = {}
  const compactDisplay = locale.startsWith('en') ? 'long' : 'short'
  const names = new Intl.NumberFormat(locale, { notation: 'compact', compactDisplay })
  const numbers = new Intl.NumberFormat(locale, { useGrouping: false, maximumFractionDigits: 6 })
  const nameOf = (size: number): string =>
    names.formatToParts(2 * size).find(({ type }) => type === 'compact')?.value ?? ''
  for (let power = -3; power <= 2; power++)
    for (const digit of [1, 2, 5])
      for (let k = 1; k <= MAX_TICK_MULTIPLE; k++) {
        const value = Number((k * digit * 10 ** power).toPrecision(6))
        if (value >= 1000) break
        const text = numbers.format(value)
        for (const sign of ['', '−'])
          for (const [short, size] of Object.entries(SUFFIX_VALUES))
            aliasesByTick[`${sign}${text}${short}`] = `${sign}${text} ${nameOf(size)}`
      }
  aliasesByLocale.set(locale, aliasesByTick)
  return aliasesByTick
}
