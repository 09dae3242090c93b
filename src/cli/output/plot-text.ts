import { orderedLabels } from '../../charts/figure/label-order.ts'
import { stepAbove } from '../../charts/figure/steps.ts'
import { DOTS } from './picture.ts'

/** A chart as characters, drawn from its data: lines, points and bars on one pair of axes. */
export interface PlotTextOptions {
  /** Characters across and lines down, with axes and without title and legend. */
  columns: number
  lines: number
  color: boolean
  /** Colors of traces, in order. Default: those of plotly.js. */
  colors?: readonly string[]
  /** Makes a text of a figure safe for a terminal. */
  plain: (text: string) => string
}

export interface TextTrace {
  name?: unknown
  type?: unknown
  mode?: unknown
  x?: unknown
  y?: unknown
  orientation?: unknown
  visible?: unknown
  showlegend?: unknown
  line?: { color?: unknown; shape?: unknown }
  marker?: { color?: unknown }
  [other: string]: unknown
}

/** The default colors of traces in plotly.js, in order. */
const PLOTLY_COLORS = '1f77b4 ff7f0e 2ca02c d62728 9467bd 8c564b e377c2 7f7f7f bcbd22 17becf'.split(' ')
/** Attributes that change what is drawn in ways that characters cannot show. */
const UNSUPPORTED = [
  'fill',
  'stackgroup',
  'xaxis',
  'yaxis',
  'base',
  'offset',
  'width',
  'transforms',
  'error_y',
  'error_x',
  'x0',
  'dx',
  'y0',
  'dy',
]
/** Traces with fewer points have markers, as in plotly.js. */
const MARKERS_BELOW = 20

/** Numbers from 0 to 1 on an axis, and what is written there. */
interface Axis {
  place: (value: unknown) => number | undefined
  ticks: (room: number) => { at: number; text: string }[]
}

/** The lines of a chart; undefined if it has something that only a picture can show. */
export function plotText(
  traces: readonly TextTrace[],
  layout: Record<string, unknown>,
  { columns, lines, color, colors, plain }: PlotTextOptions,
): string[] | undefined {
  const numbered = traces.map((trace, number) => ({ trace, number })).filter(({ trace }) => isVisible(trace))
  const shown = numbered.map(({ trace }) => trace)
  if (shown.length === 0 || !shown.every(isSupported)) return undefined
  // Shares of a whole are other values.
  if (layout.barnorm !== undefined && layout.barnorm !== '') return undefined
  const bars = shown.filter(({ type }) => type === 'bar')
  const isAcross = bars.length > 0 && bars.every(({ orientation }) => orientation === 'h')
  if (
    bars.length > 0 &&
    (bars.length < shown.length || (!isAcross && bars.some(({ orientation }) => orientation === 'h')))
  )
    return undefined
  const heights = bars.flatMap((bar) => pointsOf(bar).map(({ x, y }) => (isAcross ? x : y)))
  if (heights.some((value) => isKnown(value) && typeof value !== 'number')) return undefined
  const boxes = bars.length > 0 ? boxesOf(bars, layout.barmode, isAcross) : []
  if (!boxes) return undefined
  const along = isAcross ? 'y' : 'x'
  const values = (letter: 'x' | 'y'): unknown[] => {
    if (bars.length > 0 && letter !== along) return [0, ...boxes.flatMap(({ from, to }) => [from, to])]
    return shown.flatMap((trace) => pointsOf(trace).map((point) => point[letter]))
  }
  const pad = (letter: 'x' | 'y'): number => (bars.length > 0 && letter === along ? 0.5 : 0)
  const sizes = new Map<string, number>()
  for (const trace of shown)
    for (const point of pointsOf(trace)) {
      const [label, value] = isAcross ? [point.y, point.x] : [point.x, point.y]
      sizes.set(String(label), (sizes.get(String(label)) ?? 0) + (Number(value) || 0))
    }
  const x = axisOf(values('x'), layout.xaxis, pad('x'), plain, sizes)
  const y = axisOf(values('y'), layout.yaxis, pad('y'), plain, sizes)
  if (!x || !y) return undefined
  // Bars begin at zero, which a logarithmic axis does not have.
  const isLog = (axis: unknown): boolean => (axis as { type?: unknown } | undefined)?.type === 'log'
  if (bars.length > 0 && (isLog(layout.xaxis) || isLog(layout.yaxis))) return undefined
  const yTicks = y.ticks(Math.max(2, Math.floor(lines / 4)))
  const gutter = yTicks.reduce((most, { text }) => Math.min(16, Math.max(most, text.length)), 0)
  const width = columns - gutter - 2
  const height = lines - 2
  if (width < 20 || height < 4) return undefined
  const canvas = new Canvas(width, height)
  if (bars.length > 0) drawBars(canvas, boxes, isAcross ? y : x, isAcross ? x : y, isAcross)
  else for (const [k, trace] of shown.entries()) drawTrace(canvas, trace, x, y, k)
  const paint = (k: number): number[] => rgbOf(shown[k], numbered[k].number, colors)
  const result = frame(canvas.rows(color ? paint : undefined), yTicks, gutter, height)
  result.push(`${' '.repeat(gutter + 1)}└${'─'.repeat(width)}`)
  result.push(underTicks(x.ticks(Math.max(2, Math.floor(width / 14))), gutter + 2, width))
  return result
}

/** A legend: the names of traces, in their colors. */
export function legendOf(
  traces: readonly TextTrace[],
  color: boolean,
  plain: (text: string) => string,
  colors?: readonly string[],
): string[] {
  const named = traces.flatMap((trace, k) =>
    isVisible(trace) && typeof trace.name === 'string' && trace.showlegend !== false
      ? [{ trace, k, name: plain(trace.name) }]
      : [],
  )
  if (named.length < 2) return []
  const parts = named
    .slice(0, 10)
    .map(({ trace, k, name }) => (color ? `${ink(rgbOf(trace, k, colors))}■\u001b[39m ${name}` : `■ ${name}`))
  return [`  ${parts.join('   ')}${named.length > 10 ? ' …' : ''}`]
}

/** A trace can be null in a figure. */
function isVisible(trace: TextTrace | null): trace is TextTrace {
  return typeof trace === 'object' && trace !== null && (trace.visible ?? true) === true
}

function isSupported(trace: TextTrace): boolean {
  const { type, x, y, line } = trace
  if (type !== undefined && type !== 'scatter' && type !== 'scattergl' && type !== 'bar') return false
  if (line?.shape !== undefined && line.shape !== 'linear') return false
  if (!(x === undefined || Array.isArray(x)) || !(y === undefined || Array.isArray(y)) || (!x && !y))
    return false
  // Names over names: two levels of categories.
  if ([x, y].some((list) => Array.isArray(list) && list.some(Array.isArray))) return false
  return UNSUPPORTED.every((name) => trace[name] === undefined || trace[name] === name[0])
}

function pointsOf({ x, y }: TextTrace): { x: unknown; y: unknown }[] {
  const [xs, ys] = [x as unknown[] | undefined, y as unknown[] | undefined]
  const count = Math.min(xs?.length ?? Number.POSITIVE_INFINITY, ys?.length ?? Number.POSITIVE_INFINITY)
  return Array.from({ length: count }, (_, k) => ({ x: xs ? xs[k] : k, y: ys ? ys[k] : k }))
}

const DATE = /^\d{4}-\d{2}(-\d{2}([T ]\d{2}(:\d{2}(:\d{2}(\.\d+)?)?)?)?)?$/

function isKnown(value: unknown): boolean {
  return value !== null && value !== undefined && value !== ''
}

/** An axis over all of these values; undefined for what is not supported. */
function axisOf(
  values: readonly unknown[],
  given: unknown,
  pad: number,
  plain: (text: string) => string,
  sizes: ReadonlyMap<string, number>,
): Axis | undefined {
  const axis = withUnit(given)
  const { type, range, autorange, categoryorder, categoryarray, tickvals, ticktext } = axis
  if (type === 'multicategory') return undefined
  const isReversed = autorange === 'reversed'
  if (type !== 'category' && (isReversed || categoryorder !== undefined)) return undefined
  if (
    tickvals !== undefined &&
    !(Array.isArray(tickvals) && tickvals.every((tick) => typeof tick === 'number'))
  )
    return undefined
  const known = values.filter(isKnown)
  if (known.length === 0) return undefined
  // Reversed, or with an end that the data decides.
  if (range !== undefined && type !== 'category' && !isAscending(range)) return undefined
  // plotly.js takes texts of numbers for numbers.
  if (type !== 'category' && known.some((value) => typeof value === 'string' && isNumberText(value)))
    return undefined
  const isNumeric = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value)
  // Labels are all shown, whatever part of the axis is.
  if (
    type === 'category' ||
    ((type === undefined || type === '-') && !known.every(isNumeric) && !known.every(isDate))
  )
    return known.every((value) => !isDateLike(value))
      ? categories(orderedLabels(known, categoryorder, categoryarray, sizes), isReversed, plain)
      : undefined
  if (type === 'date' || ((type === undefined || type === '-') && known.every(isDate))) {
    const days = known.map(timeOf)
    if (days.some(Number.isNaN)) return undefined
    return numbers(days, rangeGiven(range, timeOf), pad * DAY_MS, timeOf, dateTicks)
  }
  if (!known.every(isNumeric)) return undefined
  if (type === 'log') {
    const positive = (known as number[]).filter((value) => value > 0).map(Math.log10)
    const place = (value: unknown): number =>
      isNumeric(value) && (value as number) > 0 ? Math.log10(value as number) : Number.NaN
    return positive.length === 0
      ? undefined
      : numbers(positive, rangeGiven(range, Number), 0, place, logTicks)
  }
  if (type !== undefined && type !== 'linear' && type !== '-') return undefined
  const number = (value: unknown): number => (isNumeric(value) ? (value as number) : Number.NaN)
  const own = Array.isArray(tickvals)
    ? (tickvals as number[]).map((value, k) => ({
        value,
        text: plain(String(Array.isArray(ticktext) ? ticktext[k] : value)),
      }))
    : undefined
  const ticks = own
    ? (_: number, __: number, room: number) => thinned(own, room)
    : (from: number, to: number, room: number) =>
        withUnits(axis, numberTicks(from, to, room, axis.tickformat === 'd'))
  return numbers(known as number[], rangeGiven(range, number), pad, number, ticks)
}

/** As many ticks as fit, with that of zero. */
function thinned(ticks: readonly Tick[], room: number): Tick[] {
  const step = Math.ceil(ticks.length / room)
  const zero = Math.max(
    0,
    ticks.findIndex(({ value }) => value === 0),
  )
  return ticks.filter((_, k) => (k - zero) % step === 0)
}

/** The attributes of an axis. */
function withUnit(given: unknown): Record<string, unknown> {
  return typeof given === 'object' && given !== null ? (given as Record<string, unknown>) : {}
}

/** Ticks with the unit of their axis: a word is read once, at the top. */
function withUnits({ tickprefix, ticksuffix }: Record<string, unknown>, ticks: Tick[]): Tick[] {
  const [before, after] = [tickprefix, ticksuffix].map((unit) => (typeof unit === 'string' ? unit : ''))
  const isWord = after.length > 2
  return ticks.map(({ value, text }, k) => ({
    value,
    text: `${before}${text}${isWord && k < ticks.length - 1 ? '' : after}`,
  }))
}

interface Tick {
  value: number
  text: string
}

function isNumberText(text: string): boolean {
  return text.trim() !== '' && Number.isFinite(Number(text))
}

function isAscending(range: unknown): boolean {
  if (!Array.isArray(range) || range.length !== 2) return false
  const [from, to] = range
  return typeof from === typeof to && (typeof from === 'number' || typeof from === 'string') && from < to
}

function isDate(value: unknown): boolean {
  return typeof value === 'string' && DATE.test(value)
}

/** A text that a chart takes for a date in a way that is not read here. */
function isDateLike(value: unknown): boolean {
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}/.test(value)
}

function timeOf(value: unknown): number {
  if (!isDate(value)) return Number.NaN
  const [day, time = '00:00'] = (value as string).split(/[T ]/)
  return Date.parse(`${day.length === 7 ? `${day}-01` : day}T${time.length === 2 ? `${time}:00` : time}Z`)
}

function rangeGiven(range: unknown, read: (value: unknown) => number): [number, number] | undefined {
  if (!Array.isArray(range) || range.length !== 2) return undefined
  const [from, to] = range.map(read)
  return from < to ? [from, to] : undefined
}

function numbers(
  values: readonly number[],
  range: [number, number] | undefined,
  pad: number,
  read: (value: unknown) => number,
  ticksOf: (from: number, to: number, room: number) => { value: number; text: string }[],
): Axis | undefined {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    if (value < from) from = value
    if (value > to) to = value
  }
  if (from === to) [from, to] = [from - 1, to + 1]
  // Numbers so large that their distance, or one more, is not a number of its own.
  if (!Number.isFinite(to - from) || from === to) return undefined
  const more = (to - from) * 0.04
  const isZero = (end: number): boolean => end === 0
  ;[from, to] = range ?? [
    isZero(from) ? from - pad : from - more - pad,
    isZero(to) ? to + pad : to + more + pad,
  ]
  const place = (value: number): number => (value - from) / (to - from)
  return {
    place: (value) => {
      const number = read(value)
      return Number.isNaN(number) ? undefined : place(number)
    },
    ticks: (room) => ticksOf(from, to, room).map(({ value, text }) => ({ at: place(value), text })),
  }
}

const LARGE = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 6 })

/** `isPlain`: whole numbers without separators, such as years. */
function numberTicks(from: number, to: number, room: number, isPlain = false): Tick[] {
  const step = isPlain ? Math.max(1, stepAbove((to - from) / room)) : stepAbove((to - from) / room)
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9))
  // Beyond this, counting in steps is not exact.
  if (Math.max(Math.abs(from), Math.abs(to)) / step > 2 ** 50)
    return [from, to].map((value) => ({ value, text: String(value) }))
  const ticks: { value: number; text: string }[] = []
  for (let k = Math.ceil(from / step); k * step <= to; k++) {
    const value = k * step
    const isLong = Math.abs(value) >= 1e15 || digits > 8
    const isLarge = !isPlain && Math.abs(value) >= 1e6
    ticks.push({
      value,
      text: isLong
        ? value.toExponential(2)
        : isLarge
          ? LARGE.format(value)
          : isPlain
            ? String(value)
            : value.toFixed(digits).replace(/\B(?=(\d{3})+(?!\d)(\.|$))/g, ','),
    })
  }
  return ticks
}

const MAX_POWER = 400

function logTicks(from: number, to: number, room: number): { value: number; text: string }[] {
  // Powers beyond those of a double are no numbers of data.
  if (Math.max(Math.abs(from), Math.abs(to)) > MAX_POWER) return []
  const step = Math.max(1, Math.ceil((to - from) / room))
  const ticks: { value: number; text: string }[] = []
  for (let power = Math.ceil(from); power <= to; power += step)
    ticks.push({
      value: power,
      text: Math.abs(power) > 6 ? `1e${power}` : String(Number((10 ** power).toPrecision(1))),
    })
  return ticks.length > 1
    ? ticks
    : numberTicks(from, to, room).map(({ value }) => ({ value, text: (10 ** value).toPrecision(3) }))
}

const SECOND_MS = 1000
const DAY_MS = 86_400 * SECOND_MS
const TIME_STEPS_MS = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10_800, 21_600, 43_200].map(
  (seconds) => seconds * SECOND_MS,
)
const DAY_STEPS_MS = [1, 2, 7, 14].map((days) => days * DAY_MS)
const MONTH_STEPS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 12_000]

function dateTicks(from: number, to: number, room: number): { value: number; text: string }[] {
  const rough = (to - from) / room
  const fixed = [...TIME_STEPS_MS, ...DAY_STEPS_MS].find((step) => step >= rough)
  const ticks: { value: number; text: string }[] = []
  if (fixed !== undefined) {
    for (let value = Math.ceil(from / fixed) * fixed; value <= to; value += fixed) {
      const iso = new Date(value).toISOString()
      const isDay = fixed >= DAY_MS || value % DAY_MS === 0
      ticks.push({ value, text: isDay ? iso.slice(0, 10) : iso.slice(11, fixed < 60 * SECOND_MS ? 19 : 16) })
    }
    return ticks
  }
  const months =
    MONTH_STEPS.find((step) => step * 30.4 * DAY_MS >= rough) ?? MONTH_STEPS[MONTH_STEPS.length - 1]
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

function categories(known: readonly unknown[], isReversed: boolean, plain: (text: string) => string): Axis {
  const all = new Map<string, number>()
  for (const value of known) if (!all.has(String(value))) all.set(String(value), all.size)
  const at = (k: number): number => ((isReversed ? all.size - 1 - k : k) + 0.5) / all.size
  return {
    place: (value) => {
      const k = isKnown(value) ? all.get(String(value)) : undefined
      return k === undefined ? undefined : at(k)
    },
    ticks: () => [...all].map(([text, k]) => ({ at: at(k), text: plain(text) })),
  }
}

/** Dots of braille characters, each with the trace that drew it last. */
class Canvas {
  readonly wide: number
  readonly high: number
  private readonly dots: Uint8Array
  private readonly owner: Uint16Array

  constructor(
    private readonly columns: number,
    private readonly lines: number,
  ) {
    this.wide = columns * 2
    this.high = lines * 4
    this.dots = new Uint8Array(columns * lines)
    this.owner = new Uint16Array(columns * lines)
  }

  dot(x: number, y: number, trace: number): void {
    if (x < 0 || y < 0 || x >= this.wide || y >= this.high) return
    const row = this.high - 1 - y
    const k = (row >> 2) * this.columns + (x >> 1)
    this.dots[k] |= DOTS[row & 3][x & 1]
    this.owner[k] = trace
  }

  line(x0: number, y0: number, x1: number, y1: number, trace: number): void {
    // The part of the line that is inside, as fractions of it.
    let [from, to] = [0, 1]
    for (const [start, change, end] of [
      [x0, x1 - x0, this.wide - 1],
      [y0, y1 - y0, this.high - 1],
    ]) {
      if (change === 0 && (start < 0 || start > end)) return
      if (change === 0) continue
      const [one, other] = [-start / change, (end - start) / change]
      from = Math.max(from, Math.min(one, other))
      to = Math.min(to, Math.max(one, other))
    }
    if (!(from <= to)) return
    const steps = Math.max(1, Math.ceil((to - from) * Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0))))
    for (let k = 0; k <= steps; k++) {
      const part = from + ((to - from) * k) / steps
      this.dot(Math.round(x0 + (x1 - x0) * part), Math.round(y0 + (y1 - y0) * part), trace)
    }
  }

  rows(paint: ((trace: number) => number[]) | undefined): string[] {
    return Array.from({ length: this.lines }, (_, line) => {
      let text = ''
      let last = ''
      for (let column = 0; column < this.columns; column++) {
        const k = line * this.columns + column
        const style = paint && this.dots[k] > 0 ? ink(paint(this.owner[k])) : ''
        if (style !== last) text += style === '' ? '\u001b[39m' : style
        last = style
        text += this.dots[k] === 0 ? ' ' : String.fromCharCode(0x2800 + this.dots[k])
      }
      return last === '' ? text.trimEnd() : `${text}\u001b[39m`
    })
  }
}

function drawTrace(canvas: Canvas, trace: TextTrace, xAxis: Axis, yAxis: Axis, k: number): void {
  const points = pointsOf(trace)
  const mode =
    typeof trace.mode === 'string' ? trace.mode : points.length < MARKERS_BELOW ? 'lines+markers' : 'lines'
  const hasLines = mode.includes('lines')
  let before: [number, number] | undefined
  let isAlone = false
  const mark = ([x, y]: [number, number]): void => {
    for (const [right, up] of [
      [0, 0],
      [1, 0],
      [0, 1],
      [1, 1],
    ])
      canvas.dot(x + right, y + up, k)
  }
  for (const { x, y } of points) {
    const [across, up] = [xAxis.place(x), yAxis.place(y)]
    if (across === undefined || up === undefined) {
      // A point between gaps has no line: it is a point.
      if (before && isAlone) mark(before)
      before = undefined
      continue
    }
    const at: [number, number] = [Math.round(across * (canvas.wide - 1)), Math.round(up * (canvas.high - 1))]
    if (mode.includes('markers')) mark(at)
    if (hasLines && before) canvas.line(...before, ...at, k)
    isAlone = hasLines && before === undefined
    before = at
  }
  if (before && isAlone) mark(before)
}

interface Box {
  trace: number
  /** The place of the bar along its axis, and which of those beside each other it is. */
  at: unknown
  index: number
  beside: number
  from: number
  to: number
}

/** The bars of traces: stacked, beside or over each other. Undefined for modes that change the values. */
function boxesOf(bars: readonly TextTrace[], mode: unknown, isAcross: boolean): Box[] | undefined {
  if (mode !== undefined && mode !== 'group' && mode !== 'stack' && mode !== 'overlay' && mode !== 'relative')
    return undefined
  const isStacked = mode === 'stack' || mode === 'relative'
  const sums = new Map<string, number>()
  const isBeside = mode === undefined || mode === 'group'
  const beside = isBeside ? bars.length : 1
  return bars.flatMap((bar, trace) =>
    pointsOf(bar).flatMap(({ x, y }) => {
      const [at, value] = isAcross ? [y, x] : [x, y]
      if (typeof value !== 'number' || !isKnown(at)) return []
      const key = `${value < 0 ? '-' : '+'}${String(at)}${isStacked ? '' : `/${trace}`}`
      const from = sums.get(key) ?? 0
      sums.set(key, from + value)
      return [{ trace, at, index: isBeside ? trace : 0, beside, from, to: from + value }]
    }),
  )
}

function drawBars(canvas: Canvas, boxes: readonly Box[], along: Axis, value: Axis, isAcross: boolean): void {
  const [length, height] = isAcross ? [canvas.high, canvas.wide] : [canvas.wide, canvas.high]
  const places = [...new Set(boxes.map(({ at }) => along.place(at)))]
    .filter((at) => at !== undefined)
    .sort((a, b) => a - b)
  let room = 1
  for (let k = 1; k < places.length; k++) room = Math.min(room, places[k] - places[k - 1])
  const group = Math.max(1, room * length * 0.8)
  for (const { trace, at, index, beside, from, to } of boxes) {
    const middle = along.place(at)
    const [low, high] = [value.place(Math.min(from, to)), value.place(Math.max(from, to))]
    if (middle === undefined || low === undefined || high === undefined) continue
    const each = group / beside
    const start = Math.round(middle * length - group / 2 + index * each)
    const end = Math.max(start, Math.round(middle * length - group / 2 + (index + 1) * each) - 1)
    const [bottom, top] = [
      Math.max(0, Math.round(low * (height - 1))),
      Math.min(height - 1, Math.round(high * (height - 1))),
    ]
    for (let a = start; a <= end; a++)
      for (let b = bottom; b <= top; b++) canvas.dot(isAcross ? b : a, isAcross ? a : b, trace)
  }
}

/** Adds the axis on the left. */
function frame(
  rows: readonly string[],
  ticks: readonly { at: number; text: string }[],
  gutter: number,
  height: number,
): string[] {
  const labels = new Map<number, string>()
  for (const { at, text } of ticks) {
    const line = height - 1 - Math.min(height - 1, Math.floor(at * height))
    if (at >= 0 && at <= 1 && !labels.has(line)) labels.set(line, text)
  }
  return rows.map((row, line) => {
    const label = labels.get(line)
    return `${cut(label ?? '', gutter).padStart(gutter)} ${label === undefined ? '│' : '┤'}${row}`
  })
}

/** The line of ticks below: as many as fit. */
function underTicks(ticks: readonly { at: number; text: string }[], indent: number, width: number): string {
  let line = ''
  for (const { at, text } of ticks) {
    if (at < 0 || at > 1) continue
    const label = cut(text, 16)
    const middle = indent + Math.round(at * (width - 1))
    const start = Math.min(
      Math.max(indent, middle - Math.floor([...label].length / 2)),
      indent + width - [...label].length,
    )
    const used = [...line].length
    if (start < used + (line === '' ? 0 : 2)) continue
    line += ' '.repeat(start - used) + label
  }
  return line
}

function cut(text: string, most: number): string {
  const characters = [...text]
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`
}

function ink(rgb: readonly number[]): string {
  return `\u001b[38;2;${rgb.join(';')}m`
}

/** The color of a trace: its own, or that of its position. */
function rgbOf({ line, marker }: TextTrace, k: number, colors: readonly string[] = PLOTLY_COLORS): number[] {
  for (const color of [line?.color, marker?.color]) {
    const text = typeof color === 'string' ? color.trim() : ''
    const hex = /^#([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(text)?.[1]
    if (hex) return channels(hex.length === 3 ? [...hex].map((digit) => digit + digit).join('') : hex)
    const parts = /^rgba?\((\d{1,3}), ?(\d{1,3}), ?(\d{1,3})/i.exec(text)
    if (parts) return parts.slice(1, 4).map((part) => Math.min(255, Number(part)))
  }
  return channels(colors[k % colors.length].replace('#', ''))
}

function channels(hex: string): number[] {
  return [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))
}
