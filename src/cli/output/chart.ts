import type { ImageFormat } from '../../contract/operations/index.ts'
import { braille, graphicsOf, picture, sizeFor } from './picture.ts'

export interface ChartFigure {
  data?: Trace[]
  layout?: Record<string, unknown>
}

interface Trace {
  name?: unknown
  type?: unknown
  x?: unknown
  y?: unknown
}

/** Characters of a chart. */
const MOST_COLUMNS = 100
const LINES = 20

/** A chart for the terminal: the picture where the terminal can show one, otherwise characters. */
export async function chartText(figure: ChartFigure, environment: NodeJS.ProcessEnv): Promise<string> {
  const { drawFigure } = await import('../../service/index.ts')
  const draw = (shown: object, width: number, height: number): Promise<Uint8Array> =>
    drawFigure(JSON.stringify(shown), { format: 'png' satisfies ImageFormat, width, height }, environment)
  const graphics = process.stdout.isTTY ? graphicsOf(environment) : undefined
  if (graphics) return picture(await draw(figure, 700, 450), graphics)
  const columns = Math.min(MOST_COLUMNS, process.stdout.columns ?? 80)
  const { width, height } = sizeFor(columns, LINES)
  const image = await draw(withoutText(figure), width, height)
  const color =
    !environment.NO_COLOR && (process.stdout.isTTY === true || environment.FORCE_COLOR !== undefined)
  const title = titleOf(figure.layout)
  return [...(title ? [center(title, columns)] : []), ...braille(image, color), ...ranges(figure), ''].join(
    '\n',
  )
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
    .replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')
    .slice(0, 100)
}

function center(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, Math.floor((columns - text.length) / 2))) + text
}

/** What the axes and the traces are, in place of tick labels and a legend. */
function ranges({ data = [], layout = {} }: ChartFigure): string[] {
  const lines: string[] = []
  for (const axis of ['x', 'y'] as const) {
    const values = data.flatMap((trace) => (Array.isArray(trace[axis]) ? (trace[axis] as unknown[]) : []))
    const range = rangeOf(values)
    if (range) lines.push(`${axis}: ${range}${labelOf(layout[`${axis}axis`])}`)
  }
  const names = data.flatMap(({ name }) => (typeof name === 'string' ? [plain(name)] : []))
  if (names.length > 1) lines.push(`traces: ${names.slice(0, 10).join(', ')}${names.length > 10 ? ' …' : ''}`)
  return lines
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
    return `${Number(least.toPrecision(6))} to ${Number(most.toPrecision(6))}`
  }
  const texts = known.map(String)
  // Dates in ISO 8601 sort as text; other texts are categories in their order.
  if (texts.every((text) => /^\d{4}-\d\d/.test(text))) texts.sort()
  const [first, last] = [texts[0], texts[texts.length - 1]].map(plain)
  return first === last ? first : `${first} to ${last}`
}
