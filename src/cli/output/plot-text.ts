// Draws lines, points and bars as characters, from the data of a figure.
import { isObject } from '../../charts/figure/figure.ts'
import { createAxis, isPresent } from './plot-axes.ts'
import { Canvas, colorCode } from './plot-canvas.ts'
import { computeBars, drawBars, drawTrace, pointsOf, type TextTrace } from './plot-marks.ts'

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

/** Default colors of traces in plotly.js, in order. */
const PLOTLY_COLORS = '1f77b4 ff7f0e 2ca02c d62728 9467bd 8c564b e377c2 7f7f7f bcbd22 17becf'.split(' ')
/** Attributes with effects that characters cannot show. */
const UNSUPPORTED_ATTRIBUTES =
  'fill stackgroup xaxis yaxis base offset width transforms error_y error_x x0 dx y0 dy'.split(' ')

/** Draws a chart as lines of text. Returns undefined if it needs an image. */
export function drawPlot(
  traces: readonly TextTrace[],
  layout: Record<string, unknown>,
  { columns, lines, color, colors, plain }: PlotTextOptions,
): string[] | undefined {
  const numbered = traces.map((trace, number) => ({ trace, number })).filter(({ trace }) => isVisible(trace))
  const visibleTraces = numbered.map(({ trace }) => trace)
  if (visibleTraces.length === 0 || !withoutSameWidth(visibleTraces).every(isSupported)) return undefined
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
  const isLog = (axis: unknown): boolean => isObject(axis) && axis.type === 'log'
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

/** Returns traces without the width of their bars, as histograms have it, if it is the same for all. */
function withoutSameWidth(traces: readonly TextTrace[]): TextTrace[] {
  const [{ width }] = traces
  const isSame = typeof width === 'number' && traces.every((trace) => trace.width === width)
  return traces.map((trace) => (isSame ? { ...trace, width: undefined } : trace))
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

/** Formats the labels of the x axis, without those that would overlap. `at`: position on the axis, from 0 to 1. */
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
