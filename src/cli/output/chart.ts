import { themed } from '../../browser/theme/index.ts'
import { isStacked } from '../../charts/figure/barmode.ts'
import { COLORS } from '../../charts/figure/colors.ts'
import { NO_LABEL } from '../../charts/figure/names.ts'
import { placed, unseenIn } from '../../charts/unseen.ts'
import type { ImageFormat } from '../../contract/operations/index.ts'
import { chartWords } from './chart-words.ts'
import { hasColor } from './color.ts'
import { withBins } from './histogram.ts'
import { braille, graphicsOf, picture, sizeFor } from './picture.ts'
import { legendOf, plotText, type TextTrace } from './plot-text.ts'

export interface ChartFigure {
  data?: Trace[]
  layout?: Record<string, unknown>
}

interface Trace extends TextTrace {
  labels?: unknown
  values?: unknown
}

/** Characters of a chart. */
const MAX_COLUMNS = 100
const LINES = 20

/**
 * A chart for a terminal or pipe: the picture where the terminal can show one, otherwise characters. Lines, points and
 * bars are drawn here; other charts are drawn by Chromium and shown as dots.
 */
export async function chartText(
  given: ChartFigure,
  environment: NodeJS.ProcessEnv,
  stream: NodeJS.WriteStream,
): Promise<string> {
  const { drawFigure } = await import('../../service/index.ts')
  const { figure: known, lost } = withoutLost(given)
  const figure = withLabels(known)
  if (lost > 0 && figure.data?.length === 0) return noData(lost)
  const draw = (shown: object, width: number, height: number): Promise<Uint8Array> =>
    drawFigure(JSON.stringify(shown), { format: 'png' satisfies ImageFormat, width, height }, environment)
  const graphics = stream.isTTY ? graphicsOf(environment) : undefined
  if (graphics) return picture(await draw(figure, 700, 450), graphics)
  const columns = Math.min(MAX_COLUMNS, stream.columns || 80)
  const { data = [], layout = {} } = figure
  const words = chartWords(data as Record<string, unknown>[], columns)
  const heading = titleOf(layout)
  if (words) return [...(heading ? [heading] : []), ...words, ...unseen(known), ''].join('\n')
  const color = hasColor(stream, environment)
  const { shown, colors } = arranged(figure, columns)
  const options = { columns, lines: LINES, color, colors, plain }
  const own = plotText(withBins(shown.data), shown.layout, options)
  if (own) {
    const title = titleOf(layout)
    const titles = [layout.yaxis, layout.xaxis].map((axis) => titleOf(axis as Record<string, unknown>))
    const isTurned = shown.data.some(
      ({ orientation }, k) => orientation === 'h' && data[k]?.orientation !== 'h',
    )
    const [up, across] = isTurned ? titles.reverse() : titles
    return [
      ...(title ? [center(title, columns)] : []),
      ...(up ? [up] : []),
      ...own,
      ...(across ? [center(across, columns)] : []),
      ...legendOf(shown.data, color, plain, colors),
      ...unseen(known),
      ...(lost > 0 ? [noData(lost).trimEnd()] : []),
      '',
    ].join('\n')
  }
  const { width, height } = sizeFor(columns, LINES)
  const image = await draw(withoutText(figure), width, height)
  const title = titleOf(figure.layout)
  return [
    ...(title ? [center(title, columns)] : []),
    ...braille(image, color),
    ...ranges(figure),
    ...unseen(known),
    ...(lost > 0 ? [noData(lost).trimEnd()] : []),
    '',
  ].join('\n')
}

/** Size of a character, in pixels, as far as the arrangement of a chart depends on it. */
const CHARACTER_PIXELS = 8
const LINE_PIXELS = 20

/** A chart of ours as pages arrange it, with its colors; figures of others as they are. */
function arranged(
  { data = [], layout = {} }: ChartFigure,
  columns: number,
): { shown: { data: Trace[]; layout: Record<string, unknown> }; colors?: readonly string[] } {
  if (layout.meta === undefined) return { shown: { data, layout } }
  const view = { scheme: 'light', width: columns * CHARACTER_PIXELS, height: LINES * LINE_PIXELS } as const
  const themedFigure = themed({ data: data as Record<string, unknown>[], layout }, view)
  return { shown: themedFigure as { data: Trace[]; layout: Record<string, unknown> }, colors: COLORS }
}

/** The line that lists omitted data, as below a chart on a page; none without. */
function unseen({ data = [], layout = {} }: ChartFigure): string[] {
  if (layout.meta === undefined) return []
  const { unseen: lost, remarks } = unseenIn({ data, layout })
  const parts = [...(lost.length > 0 ? [`Not shown: ${lost.join(', ')}`] : []), ...remarks]
  return parts.length === 0 ? [] : [plain(parts.join('. '))]
}

/** The figure with a label for rows without one, as on pages. */
function withLabels(figure: ChartFigure): ChartFigure {
  const isLabels = (axis: unknown): boolean => (axis as { type?: unknown } | undefined)?.type === 'category'
  const { data = [], layout = {} } = figure
  if (layout.meta === undefined) return figure
  const written = (values: unknown): unknown =>
    Array.isArray(values) ? values.map((value) => value ?? NO_LABEL) : values
  return {
    ...figure,
    data: data
      .map((given) => placed(given, layout))
      .map((trace) => ({
        ...trace,
        ...(isLabels(layout.xaxis) && trace.x !== undefined && { x: written(trace.x) }),
        ...(isLabels(layout.yaxis) && trace.y !== undefined && { y: written(trace.y) }),
      })),
  }
}

/** The traces of a figure that have their data: others would be drawn by the numbers of their points. */
function withoutLost(figure: ChartFigure): { figure: ChartFigure; lost: number } {
  const { data = [] } = figure
  const kept = data.filter((trace) => !hasLost(trace))
  return { figure: { ...figure, data: kept }, lost: data.length - kept.length }
}

/** Whether a trace, or an object in it, has a reference without its data. */
function hasLost(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const object = value as Record<string, unknown>
  return Object.entries(object).some(([name, inner]) =>
    name.endsWith('src') && typeof inner === 'string' && /^[^:]+:\d+:./.test(inner)
      ? object[name.slice(0, -'src'.length)] === undefined
      : hasLost(inner),
  )
}

function noData(lost: number): string {
  return `No data: ${lost === 1 ? 'the trace refers' : `${lost} traces refer`} to columns that no longer exist.\n`
}

/** The figure without what cannot be read in so few dots: texts, grid lines, legends and margins. */
function withoutText({ data = [], layout = {} }: ChartFigure): object {
  const bare: Record<string, unknown> = {
    ...layout,
    template: undefined,
    title: undefined,
    annotations: undefined,
    showlegend: false,
    paper_bgcolor: '#fff',
    plot_bgcolor: '#fff',
    margin: { l: 6, r: 6, t: 6, b: 6 },
  }
  const axis = {
    showgrid: false,
    showticklabels: false,
    ticks: '',
    title: undefined,
    zeroline: false,
    showline: true,
    linecolor: '#888',
  }
  const names = new Set([
    'xaxis',
    'yaxis',
    ...Object.keys(layout).filter((name) => /^[xy]axis\d*$/.test(name)),
  ])
  for (const name of names) bare[name] = { ...(layout[name] as object), ...axis }
  const traces = data.map((trace) => ({
    ...trace,
    showscale: false,
    text: undefined,
    marker: { ...(trace as { marker?: object }).marker, showscale: false },
  }))
  return { data: traces, layout: bare }
}

function titleOf(layout: Record<string, unknown> = {}): string | undefined {
  const { title } = layout
  const text = typeof title === 'string' ? title : (title as { text?: unknown } | undefined)?.text
  return typeof text === 'string' ? plain(text) : undefined
}

/** Texts of a figure come from anywhere: no markup, no control characters. */
function plain(text: string): string {
  return text
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')
    .slice(0, 100)
}

function center(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, Math.floor((columns - text.length) / 2))) + text
}

/** What the axes and the traces are, in place of tick labels and a legend. */
function ranges({ data = [], layout = {} }: ChartFigure): string[] {
  const lines: string[] = []
  if (data.length > 0 && data.every(({ type }) => type === 'pie')) return pieces(data[0])
  for (const axis of ['x', 'y'] as const) {
    const range = rangeOf(axis === 'x' ? data.flatMap(({ x }) => listOf(x)) : heights(data, layout))
    if (range) lines.push(`${axis}: ${range}${labelOf(layout[`${axis}axis`])}`)
  }
  const names = data.flatMap(({ name }) => (typeof name === 'string' ? [plain(name)] : []))
  if (names.length > 1) lines.push(`traces: ${names.slice(0, 10).join(', ')}${names.length > 10 ? ' …' : ''}`)
  return lines
}

function listOf(values: unknown): unknown[] {
  return Array.isArray(values) ? values : []
}

/** What the y axis shows: the values of lines and points; of bars and filled areas their sums, from zero. */
function heights(data: readonly Trace[], layout: Record<string, unknown>): unknown[] {
  if (data.some(({ type, orientation }) => type === 'histogram' || orientation === 'h')) return []
  const all: unknown[] = []
  const shared = new Map<string, number>()
  for (const trace of data) {
    const x = listOf(trace.x)
    const isBar = trace.type === 'bar'
    if (!isBar && trace.stackgroup === undefined) {
      for (const value of listOf(trace.y)) all.push(value)
      if (trace.fill === 'tozeroy') all.push(0)
      continue
    }
    const sums = !isBar || isStacked(layout) ? shared : new Map<string, number>()
    for (const [k, value] of listOf(trace.y).entries()) {
      if (typeof value !== 'number') continue
      // Negative bars are stacked below the axis.
      const key = `${value < 0 ? '-' : '+'}${String(x[k] ?? k)}`
      sums.set(key, (sums.get(key) ?? 0) + value)
    }
    all.push(0)
    for (const sum of sums.values()) all.push(sum)
  }
  return all
}

/** Parts of a pie that are listed. */
const PARTS = 10

/** The labels and values of a pie, largest first. */
function pieces({ labels, values }: Trace): string[] {
  const sums = new Map<string, number>()
  const names = listOf(labels)
  for (const [k, value] of listOf(values).entries())
    if (typeof value === 'number') {
      const name = plain(String(names.length === 0 ? k : (names[k] ?? NO_LABEL)))
      sums.set(name, (sums.get(name) ?? 0) + value)
    }
  const total = [...sums.values()].reduce((a, b) => a + b, 0)
  const parts = [...sums].sort(([, a], [, b]) => b - a)
  const lines = parts
    .slice(0, PARTS)
    .map(
      ([name, value]) =>
        `${name}: ${Number(value.toPrecision(6))}${total > 0 ? ` (${Math.round((100 * value) / total)} %)` : ''}`,
    )
  return parts.length > PARTS ? [...lines, `… and ${parts.length - PARTS} more`] : lines
}

function labelOf(axis: unknown): string {
  const label = titleOf(axis as Record<string, unknown>)
  return label ? ` (${label})` : ''
}

function rangeOf(values: readonly unknown[]): string | undefined {
  const known = values.filter((value) => value !== null && value !== undefined)
  if (known.length === 0) return undefined
  if (known.every((value) => typeof value === 'number')) {
    let [least, most] = [known[0] as number, known[0] as number]
    for (const value of known as number[]) {
      if (value < least) least = value
      if (value > most) most = value
    }
    return `${least} to ${most}`
  }
  const texts = known.map(String)
  // Dates in ISO 8601 sort as text; other texts are categories in their order.
  if (texts.every((text) => /^\d{4}-\d\d/.test(text))) texts.sort()
  const [first, last] = [texts[0], texts[texts.length - 1]].map(plain)
  return first === last ? first : `${first} to ${last}`
}
