// Draws lines, points and bars as characters, from the data of a figure.
import { sortLabels } from '../../charts/figure/label-order.ts'
import { roundUpToStep } from '../../charts/figure/steps.ts'

/** Options for drawing a chart as characters. */
export interface PlotTextOptions {
  /** Size in characters and lines, with axes, without title and legend. */
  columns: number
  lines: number
  color: boolean
  /** Colors of traces, in order. Default: plotly.js colors. */
  colors?: readonly string[]
  /** Removes markup and control characters. */
  plain: (text: string) => string
}

/** Attributes of a trace that are read. */
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

/** Default colors of traces in plotly.js, in order. */
const PLOTLY_COLORS = '1f77b4 ff7f0e 2ca02c d62728 9467bd 8c564b e377c2 7f7f7f bcbd22 17becf'.split(' ')
/** Attributes with effects that characters cannot show. */
const UNSUPPORTED_ATTRIBUTES = [
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
/** Number of points below which traces have markers, as in plotly.js. */
const MARKER_THRESHOLD_POINTS = 20

/** Axis: positions of values from 0 to 1, and ticks. */
interface Axis {
  positionOf: (value: unknown) => number | undefined
  ticks: (room: number) => { at: number; text: string }[]
}

/** Draws a chart as lines of text. Returns undefined if it needs an image. */
export function drawPlot(
  traces: readonly TextTrace[],
  layout: Record<string, unknown>,
  { columns, lines, color, colors, plain }: PlotTextOptions,
): string[] | undefined {
  const numbered = traces.map((trace, number) => ({ trace, number })).filter(({ trace }) => isVisible(trace))
  const visibleTraces = numbered.map(({ trace }) => trace)
  if (visibleTraces.length === 0 || !visibleTraces.every(isSupported)) return undefined
  // barnorm changes the values to shares of the total.
  if (layout.barnorm !== undefined && layout.barnorm !== '') return undefined
  const bars = visibleTraces.filter(({ type }) => type === 'bar')
  const isHorizontal = bars.length > 0 && bars.every(({ orientation }) => orientation === 'h')
  if (
    bars.length > 0 &&
    (bars.length < visibleTraces.length ||
      (!isHorizontal && bars.some(({ orientation }) => orientation === 'h')))
  )
    return undefined
  const heights = bars.flatMap((bar) => pointsOf(bar).map(({ x, y }) => (isHorizontal ? x : y)))
  if (heights.some((value) => isPresent(value) && typeof value !== 'number')) return undefined
  const boxes = bars.length > 0 ? computeBars(bars, layout.barmode, isHorizontal) : []
  if (!boxes) return undefined
  const positionAxis = isHorizontal ? 'y' : 'x'
  const values = (letter: 'x' | 'y'): unknown[] => {
    if (bars.length > 0 && letter !== positionAxis) return [0, ...boxes.flatMap(({ from, to }) => [from, to])]
    return visibleTraces.flatMap((trace) => pointsOf(trace).map((point) => point[letter]))
  }
  const pad = (letter: 'x' | 'y'): number => (bars.length > 0 && letter === positionAxis ? 0.5 : 0)
  const sizes = new Map<string, number>()
  for (const trace of visibleTraces)
    for (const point of pointsOf(trace)) {
      const [label, value] = isHorizontal ? [point.y, point.x] : [point.x, point.y]
      sizes.set(String(label), (sizes.get(String(label)) ?? 0) + (Number(value) || 0))
    }
  const x = createAxis(values('x'), layout.xaxis, pad('x'), plain, sizes)
  const y = createAxis(values('y'), layout.yaxis, pad('y'), plain, sizes)
  if (!x || !y) return undefined
  // Bars start at zero, which logarithmic axes lack.
  const isLog = (axis: unknown): boolean => (axis as { type?: unknown } | undefined)?.type === 'log'
  if (bars.length > 0 && (isLog(layout.xaxis) || isLog(layout.yaxis))) return undefined
  const yTicks = y.ticks(Math.max(2, Math.floor(lines / 4)))
  const gutter = yTicks.reduce((most, { text }) => Math.min(16, Math.max(most, text.length)), 0)
  const width = columns - gutter - 2
  const height = lines - 2
  if (width < 20 || height < 4) return undefined
  const canvas = new Canvas(width, height)
  if (bars.length > 0) drawBars(canvas, boxes, isHorizontal ? y : x, isHorizontal ? x : y, isHorizontal)
  else for (const [k, trace] of visibleTraces.entries()) drawTrace(canvas, trace, x, y, k)
  const paint = (k: number): number[] => traceColor(visibleTraces[k], numbered[k].number, colors)
  const result = addYAxis(canvas.toLines(color ? paint : undefined), yTicks, gutter, height)
  result.push(`${' '.repeat(gutter + 1)}└${'─'.repeat(width)}`)
  result.push(formatXLabels(x.ticks(Math.max(2, Math.floor(width / 14))), gutter + 2, width))
  return result
}

/** Formats the legend as one line: the names of traces, in their colors. None for less than two traces. */
export function formatLegend(
  traces: readonly TextTrace[],
  color: boolean,
  plain: (text: string) => string,
  colors?: readonly string[],
): string[] {
  const namedTraces = traces.flatMap((trace, k) =>
    isVisible(trace) && typeof trace.name === 'string' && trace.showlegend !== false
      ? [{ trace, k, name: plain(trace.name) }]
      : [],
  )
  if (namedTraces.length < 2) return []
  const parts = namedTraces
    .slice(0, 10)
    .map(({ trace, k, name }) =>
      color ? `${colorCode(traceColor(trace, k, colors))}■\u001b[39m ${name}` : `■ ${name}`,
    )
  return [`  ${parts.join('   ')}${namedTraces.length > 10 ? ' …' : ''}`]
}

/** Returns whether a trace is visible. Traces in figures can be null. */
function isVisible(trace: TextTrace | null): trace is TextTrace {
  return typeof trace === 'object' && trace !== null && (trace.visible ?? true) === true
}

/** Returns whether characters can show a trace. */
function isSupported(trace: TextTrace): boolean {
  const { type, x, y, line } = trace
  if (type !== undefined && type !== 'scatter' && type !== 'scattergl' && type !== 'bar') return false
  if (line?.shape !== undefined && line.shape !== 'linear') return false
  if (!(x === undefined || Array.isArray(x)) || !(y === undefined || Array.isArray(y)) || (!x && !y))
    return false
  // Two levels of categories.
  if ([x, y].some((list) => Array.isArray(list) && list.some(Array.isArray))) return false
  return UNSUPPORTED_ATTRIBUTES.every((name) => trace[name] === undefined || trace[name] === name[0])
}

/** Returns the points of a trace. A missing coordinate is the point number. */
function pointsOf({ x, y }: TextTrace): { x: unknown; y: unknown }[] {
  const [xs, ys] = [x as unknown[] | undefined, y as unknown[] | undefined]
  const count = Math.min(xs?.length ?? Number.POSITIVE_INFINITY, ys?.length ?? Number.POSITIVE_INFINITY)
  return Array.from({ length: count }, (_, k) => ({ x: xs ? xs[k] : k, y: ys ? ys[k] : k }))
}

const DATE_PATTERN = /^\d{4}-\d{2}(-\d{2}([T ]\d{2}(:\d{2}(:\d{2}(\.\d+)?)?)?)?)?$/

/** Returns whether a value is present: not null, undefined or empty. */
function isPresent(value: unknown): boolean {
  return value !== null && value !== undefined && value !== ''
}

/** Creates an axis for values; undefined if not supported. */
function createAxis(
  values: readonly unknown[],
  attributes: unknown,
  pad: number,
  plain: (text: string) => string,
  sizes: ReadonlyMap<string, number>,
): Axis | undefined {
  const axis = toAttributes(attributes)
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
  const isNumeric = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value)
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
    const positive = (presentValues as number[]).filter((value) => value > 0).map(Math.log10)
    const place = (value: unknown): number =>
      isNumeric(value) && (value as number) > 0 ? Math.log10(value as number) : Number.NaN
    return positive.length === 0
      ? undefined
      : createNumericAxis(positive, parseRange(range, Number), 0, place, logTicks)
  }
  if (type !== undefined && type !== 'linear' && type !== '-') return undefined
  const number = (value: unknown): number => (isNumeric(value) ? (value as number) : Number.NaN)
  const customTicks = Array.isArray(tickvals)
    ? (tickvals as number[]).map((value, k) => ({
        value,
        text: plain(String(Array.isArray(ticktext) ? ticktext[k] : value)),
      }))
    : undefined
  const ticks = customTicks
    ? (_: number, __: number, room: number) => thinTicks(customTicks, room)
    : (from: number, to: number, room: number) =>
        addUnits(axis, numberTicks(from, to, room, axis.tickformat === 'd'))
  return createNumericAxis(presentValues as number[], parseRange(range, number), pad, number, ticks)
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

/** Returns the attributes of an axis; empty if unset. */
function toAttributes(axis: unknown): Record<string, unknown> {
  return typeof axis === 'object' && axis !== null ? (axis as Record<string, unknown>) : {}
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
function isDate(value: unknown): boolean {
  return typeof value === 'string' && DATE_PATTERN.test(value)
}

/** Returns whether a text is a date for plotly.js, also in formats not supported here. */
function isDateLike(value: unknown): boolean {
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}/.test(value)
}

/** Parses a date to ms since 1970; NaN for other values. */
function parseTime(value: unknown): number {
  if (!isDate(value)) return Number.NaN
  const [day, time = '00:00'] = (value as string).split(/[T ]/)
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
  ticksOf: (from: number, to: number, room: number) => { value: number; text: string }[],
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
  const step = isPlain
    ? Math.max(1, roundUpToStep((to - from) / maxTicks))
    : roundUpToStep((to - from) / maxTicks)
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9))
  // Beyond this ratio, steps are inexact.
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
function logTicks(from: number, to: number, maxTicks: number): { value: number; text: string }[] {
  // Exponents beyond doubles cannot be data.
  if (Math.max(Math.abs(from), Math.abs(to)) > MAX_EXPONENT) return []
  const step = Math.max(1, Math.ceil((to - from) / maxTicks))
  const ticks: { value: number; text: string }[] = []
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

/** Returns ticks at round dates or times. */
function dateTicks(from: number, to: number, maxTicks: number): { value: number; text: string }[] {
  const minStep = (to - from) / maxTicks
  const fixedStep = [...TIME_STEPS_MS, ...DAY_STEPS_MS].find((step) => step >= minStep)
  const ticks: { value: number; text: string }[] = []
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

/** Dots of a braille character: two columns of four. */
const DOTS = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
]

/** Canvas of braille dots. Each character has the color of the trace drawn last. */
class Canvas {
  readonly dotColumns: number
  readonly dotRows: number
  private readonly dots: Uint8Array
  private readonly traceByCharacter: Uint16Array

  constructor(
    private readonly columns: number,
    private readonly lines: number,
  ) {
    this.dotColumns = columns * 2
    this.dotRows = lines * 4
    this.dots = new Uint8Array(columns * lines)
    this.traceByCharacter = new Uint16Array(columns * lines)
  }

  /** Sets one dot. Ignores positions outside. */
  setDot(x: number, y: number, trace: number): void {
    if (x < 0 || y < 0 || x >= this.dotColumns || y >= this.dotRows) return
    const row = this.dotRows - 1 - y
    const k = (row >> 2) * this.columns + (x >> 1)
    this.dots[k] |= DOTS[row & 3][x & 1]
    this.traceByCharacter[k] = trace
  }

  /** Draws a line, clipped to the canvas. */
  drawLine(x0: number, y0: number, x1: number, y1: number, trace: number): void {
    // Visible section of the line, as fractions of its length.
    let [from, to] = [0, 1]
    for (const [start, change, end] of [
      [x0, x1 - x0, this.dotColumns - 1],
      [y0, y1 - y0, this.dotRows - 1],
    ]) {
      if (change === 0 && (start < 0 || start > end)) return
      if (change === 0) continue
      const [entry, exit] = [-start / change, (end - start) / change]
      from = Math.max(from, Math.min(entry, exit))
      to = Math.min(to, Math.max(entry, exit))
    }
    if (!(from <= to)) return
    const steps = Math.max(1, Math.ceil((to - from) * Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0))))
    for (let k = 0; k <= steps; k++) {
      const fraction = from + ((to - from) * k) / steps
      this.setDot(Math.round(x0 + (x1 - x0) * fraction), Math.round(y0 + (y1 - y0) * fraction), trace)
    }
  }

  /** Returns the lines of text. `paint` returns the RGB color of a trace. */
  toLines(paint: ((trace: number) => number[]) | undefined): string[] {
    return Array.from({ length: this.lines }, (_, line) => {
      let text = ''
      let lastStyle = ''
      for (let column = 0; column < this.columns; column++) {
        const k = line * this.columns + column
        const style = paint && this.dots[k] > 0 ? colorCode(paint(this.traceByCharacter[k])) : ''
        if (style !== lastStyle) text += style === '' ? '\u001b[39m' : style
        lastStyle = style
        text += this.dots[k] === 0 ? ' ' : String.fromCharCode(0x2800 + this.dots[k])
      }
      return lastStyle === '' ? text.trimEnd() : `${text}\u001b[39m`
    })
  }
}

/** Draws the lines and markers of a trace. */
function drawTrace(canvas: Canvas, trace: TextTrace, xAxis: Axis, yAxis: Axis, k: number): void {
  const points = pointsOf(trace)
  const mode =
    typeof trace.mode === 'string'
      ? trace.mode
      : points.length < MARKER_THRESHOLD_POINTS
        ? 'lines+markers'
        : 'lines'
  const hasLines = mode.includes('lines')
  let previous: [number, number] | undefined
  let isIsolated = false
  const drawMarker = ([x, y]: [number, number]): void => {
    for (const [right, up] of [
      [0, 0],
      [1, 0],
      [0, 1],
      [1, 1],
    ])
      canvas.setDot(x + right, y + up, k)
  }
  for (const { x, y } of points) {
    const [xPosition, yPosition] = [xAxis.positionOf(x), yAxis.positionOf(y)]
    if (xPosition === undefined || yPosition === undefined) {
      // A point between gaps is drawn as a marker.
      if (previous && isIsolated) drawMarker(previous)
      previous = undefined
      continue
    }
    const dot: [number, number] = [
      Math.round(xPosition * (canvas.dotColumns - 1)),
      Math.round(yPosition * (canvas.dotRows - 1)),
    ]
    if (mode.includes('markers')) drawMarker(dot)
    if (hasLines && previous) canvas.drawLine(...previous, ...dot, k)
    isIsolated = hasLines && previous === undefined
    previous = dot
  }
  if (previous && isIsolated) drawMarker(previous)
}

/** Bar of one trace. */
interface Bar {
  trace: number
  /** Position along the axis, and index among adjacent bars. */
  at: unknown
  index: number
  /** Number of adjacent bars. */
  beside: number
  from: number
  to: number
}

/** Computes bars: stacked, grouped or overlaid. Undefined for other modes. */
function computeBars(bars: readonly TextTrace[], mode: unknown, isHorizontal: boolean): Bar[] | undefined {
  if (mode !== undefined && mode !== 'group' && mode !== 'stack' && mode !== 'overlay' && mode !== 'relative')
    return undefined
  const isStacked = mode === 'stack' || mode === 'relative'
  const sums = new Map<string, number>()
  const isGrouped = mode === undefined || mode === 'group'
  const groupSize = isGrouped ? bars.length : 1
  return bars.flatMap((bar, trace) =>
    pointsOf(bar).flatMap(({ x, y }) => {
      const [position, value] = isHorizontal ? [y, x] : [x, y]
      if (typeof value !== 'number' || !isPresent(position)) return []
      const key = `${value < 0 ? '-' : '+'}${String(position)}${isStacked ? '' : `/${trace}`}`
      const from = sums.get(key) ?? 0
      sums.set(key, from + value)
      return [
        { trace, at: position, index: isGrouped ? trace : 0, beside: groupSize, from, to: from + value },
      ]
    }),
  )
}

/** Draws bars. */
function drawBars(
  canvas: Canvas,
  boxes: readonly Bar[],
  positionAxis: Axis,
  valueAxis: Axis,
  isHorizontal: boolean,
): void {
  const [length, height] = isHorizontal
    ? [canvas.dotRows, canvas.dotColumns]
    : [canvas.dotColumns, canvas.dotRows]
  const places = [...new Set(boxes.map(({ at }) => positionAxis.positionOf(at)))]
    .filter((at) => at !== undefined)
    .sort((a, b) => a - b)
  let minDistance = 1
  for (let k = 1; k < places.length; k++) minDistance = Math.min(minDistance, places[k] - places[k - 1])
  const groupWidth = Math.max(1, minDistance * length * 0.8)
  for (const { trace, at, index, beside, from, to } of boxes) {
    const middle = positionAxis.positionOf(at)
    const [low, high] = [valueAxis.positionOf(Math.min(from, to)), valueAxis.positionOf(Math.max(from, to))]
    if (middle === undefined || low === undefined || high === undefined) continue
    const barWidth = groupWidth / beside
    const start = Math.round(middle * length - groupWidth / 2 + index * barWidth)
    const end = Math.max(start, Math.round(middle * length - groupWidth / 2 + (index + 1) * barWidth) - 1)
    const [bottom, top] = [
      Math.max(0, Math.round(low * (height - 1))),
      Math.min(height - 1, Math.round(high * (height - 1))),
    ]
    for (let a = start; a <= end; a++)
      for (let b = bottom; b <= top; b++) canvas.setDot(isHorizontal ? b : a, isHorizontal ? a : b, trace)
  }
}

/** Adds the y axis and its labels on the left. */
function addYAxis(
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
    return `${truncate(label ?? '', gutter).padStart(gutter)} ${label === undefined ? '│' : '┤'}${row}`
  })
}

/** Formats the labels of the x axis, as many as fit. */
function formatXLabels(
  ticks: readonly { at: number; text: string }[],
  indent: number,
  width: number,
): string {
  let line = ''
  for (const { at, text } of ticks) {
    if (at < 0 || at > 1) continue
    const label = truncate(text, 16)
    const middle = indent + Math.round(at * (width - 1))
    const start = Math.min(
      Math.max(indent, middle - Math.floor([...label].length / 2)),
      indent + width - [...label].length,
    )
    const usedWidth = [...line].length
    if (start < usedWidth + (line === '' ? 0 : 2)) continue
    line += ' '.repeat(start - usedWidth) + label
  }
  return line
}

/** Cuts a text to a number of characters. */
function truncate(text: string, maxCharacters: number): string {
  const characters = [...text]
  return characters.length <= maxCharacters ? text : `${characters.slice(0, maxCharacters - 1).join('')}…`
}

/** Returns the escape code of a text color. */
function colorCode(rgb: readonly number[]): string {
  return `\u001b[38;2;${rgb.join(';')}m`
}

/** Returns the color of a trace as RGB: its own, or that of its position. */
function traceColor(
  { line, marker }: TextTrace,
  k: number,
  colors: readonly string[] = PLOTLY_COLORS,
): number[] {
  for (const color of [line?.color, marker?.color]) {
    const text = typeof color === 'string' ? color.trim() : ''
    const hex = /^#([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(text)?.[1]
    if (hex) return parseHex(hex.length === 3 ? [...hex].map((digit) => digit + digit).join('') : hex)
    const parts = /^rgba?\((\d{1,3}), ?(\d{1,3}), ?(\d{1,3})/i.exec(text)
    if (parts) return parts.slice(1, 4).map((part) => Math.min(255, Number(part)))
  }
  return parseHex(colors[k % colors.length].replace('#', ''))
}

/** Parses six hexadecimal digits to RGB. */
function parseHex(hex: string): number[] {
  return [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))
}
