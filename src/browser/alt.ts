import { listOf } from '../charts/figure/lists.ts'
import { type Attributes, textOf } from './theme/draft.ts'

/** The usual name of each type of chart, or of the traces of a type. */
const WORDS: Record<string, string> = {
  bar: 'Bar chart',
  box: 'Box plot',
  violin: 'Violin plot',
  histogram: 'Histogram',
  heatmap: 'Heatmap',
  contour: 'Contour plot',
  pie: 'Pie chart',
  treemap: 'Treemap',
  sunburst: 'Sunburst chart',
  funnel: 'Funnel chart',
  waterfall: 'Waterfall chart',
  candlestick: 'Candlestick chart',
  scattergeo: 'Map',
  choropleth: 'Map',
  table: 'Table',
  indicator: 'Number',
  scatter3d: '3-D scatter plot',
  surface: 'Surface',
  mesh3d: 'Surface',
  dot: 'Dot plot',
  lollipop: 'Lollipop chart',
  dumbbell: 'Dumbbell chart',
  timeline: 'Timeline',
  pyramid: 'Pyramid',
  ridgeline: 'Ridgeline plot',
  ecdf: 'Distribution curve',
  density: 'Density curve',
  slope: 'Slope chart',
  bump: 'Bump chart',
  hexbin: 'Hexbin plot',
  calendar: 'Calendar',
  sankey: 'Sankey diagram',
  rose: 'Rose',
  radar: 'Radar chart',
  splom: 'Scatter matrix',
}

/** A sentence that says what a chart shows, from its data, for people who do not see it. */
export function altOf({ data, layout }: { data: readonly Attributes[]; layout: Attributes }): string {
  const shown = data.filter((trace) => trace && trace.visible !== false)
  const title = plainOf(textOf(layout.title))
  const parts = [
    shown.length === 0 ? 'Empty chart' : `${WORDS[layout.meta?.chart] ?? wordOf(shown[0])}${seriesOf(shown)}`,
    // The weeks of a calendar are no range.
    layout.meta?.chart === 'calendar' ? '' : rangeOf(shown),
    extremesOf(shown),
  ].filter((part) => part !== '')
  const axes = ['xaxis', 'yaxis'].flatMap((key) => {
    const text = plainOf(textOf(layout[key]?.title))
    return text ? [`${key[0]}: ${text}`] : []
  })
  const said = axes.length > 0 ? ` Axes: ${axes.join('; ')}.` : ''
  return `${title ? `${title}. ` : ''}${parts.join(', ')}.${said}`
}

/** A text without markup. */
function plainOf(markup: string | undefined): string | undefined {
  return markup
    ?.replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

function wordOf({ type = 'scatter', mode, fill, stackgroup, hole }: Attributes): string {
  if (type === 'pie' && hole) return 'Donut chart'
  if (type !== 'scatter' && type !== 'scattergl') return WORDS[type] ?? 'Chart'
  if (stackgroup || (fill && fill !== 'none')) return 'Area chart'
  return String(mode).includes('lines') || mode === undefined ? 'Line chart' : 'Scatter plot'
}

function seriesOf(traces: readonly Attributes[]): string {
  if (traces.length > 1) return ` of ${traces.length} series`
  const count = Math.max(
    ...['x', 'y', 'values', 'locations', 'lat'].map((key) => listOf(traces[0][key]).length),
  )
  return count > 1 ? ` of ${count.toLocaleString('en')} ${traces[0].type === 'pie' ? 'parts' : 'points'}` : ''
}

/** From where to where, for dates and numbers. */
function rangeOf(traces: readonly Attributes[]): string {
  let [first, last]: (string | number | undefined)[] = [undefined, undefined]
  for (const { x, orientation } of traces)
    for (const value of orientation === 'h' ? [] : listOf(x)) {
      if (typeof value !== 'number' && !(typeof value === 'string' && /^-?\d{4,}-\d\d/.test(value))) continue
      if (first === undefined || value < first) first = value
      if (last === undefined || value > last) last = value
    }
  if (first === undefined || first === last) return ''
  const plain = (value: string | number): string =>
    typeof value === 'number' ? numberText(value) : value.replace(/[T ]00:00(:00)?(\.0+)?Z?$/, '')
  return `from ${plain(first)} to ${plain(last!)}`
}

function extremesOf(traces: readonly Attributes[]): string {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const trace of traces) {
    if (trace.type === 'histogram') continue
    const values = trace.orientation === 'h' ? trace.x : (trace.values ?? trace.z ?? trace.y ?? trace.value)
    for (const row of typeof values === 'number' ? [values] : listOf(values))
      for (const value of typeof row === 'object' && row !== null ? listOf(row) : [row]) {
        if (typeof value !== 'number' || !Number.isFinite(value)) continue
        if (value < least) least = value
        if (value > most) most = value
      }
  }
  if (least > most) return ''
  return least === most
    ? `value ${numberText(most)}`
    : `lowest ${numberText(least)}, highest ${numberText(most)}`
}

function numberText(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 10_000
    ? String(value)
    : value.toLocaleString('en', { maximumSignificantDigits: 4 })
}
