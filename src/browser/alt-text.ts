// Alt text of charts.
import { listOf } from '../charts/figure/lists.ts'
import { type Attributes, titleTextOf } from './theme/arrangement.ts'

/** Names types by their word and `noun`: `Bar chart`. */
const nameTypes = (types: string, noun: string): Record<string, string> =>
  Object.fromEntries(types.split(' ').map((type) => [type, type[0].toUpperCase() + type.slice(1) + noun]))

/** Name of each chart type or trace type. */
const TYPE_NAMES: Record<string, string> = {
  ...nameTypes('bar pie sunburst funnel waterfall candlestick lollipop dumbbell slope bump radar', ' chart'),
  ...nameTypes('box violin contour dot ridgeline hexbin', ' plot'),
  ...nameTypes('histogram heatmap treemap table surface timeline pyramid calendar rose', ''),
  scattergeo: 'Map',
  choropleth: 'Map',
  indicator: 'Number',
  scatter3d: '3-D scatter plot',
  mesh3d: 'Surface',
  ecdf: 'Distribution curve',
  density: 'Density curve',
  sankey: 'Sankey diagram',
  splom: 'Scatter matrix',
}

/** Returns a sentence that describes a chart from its data. */
export function describeChart({ data, layout }: { data: readonly Attributes[]; layout: Attributes }): string {
  const visible = data.filter((trace) => trace && trace.visible !== false)
  const title = removeMarkup(titleTextOf(layout.title))
  const parts = [
    visible.length === 0
      ? 'Empty chart'
      : `${TYPE_NAMES[layout.meta?.chart] ?? typeNameOf(visible[0])}${describeSeries(visible)}`,
    // The x axis of a calendar holds weeks, not dates.
    layout.meta?.chart === 'calendar' ? '' : describeRange(visible),
    describeExtremes(visible, layout),
  ].filter((part) => part !== '')
  const axes = ['xaxis', 'yaxis'].flatMap((key) => {
    const text = removeMarkup(titleTextOf(layout[key]?.title))
    return text ? [`${key[0]}: ${text}`] : []
  })
  const axesText = axes.length > 0 ? ` Axes: ${axes.join('; ')}.` : ''
  return `${title ? `${title}. ` : ''}${parts.join(', ')}.${axesText}`
}

/** Returns a text without markup. */
function removeMarkup(markup: string | undefined): string | undefined {
  return markup
    ?.replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Returns the name of the type of a trace. */
function typeNameOf({ type = 'scatter', mode, fill, stackgroup, hole }: Attributes): string {
  if (type === 'pie' && hole) return 'Donut chart'
  if (type !== 'scatter' && type !== 'scattergl') return TYPE_NAMES[type] ?? 'Chart'
  if (stackgroup || (fill && fill !== 'none')) return 'Area chart'
  return String(mode).includes('lines') || mode === undefined ? 'Line chart' : 'Scatter plot'
}

/** Returns how many series or points there are. */
function describeSeries(traces: readonly Attributes[]): string {
  if (traces.length > 1) return ` of ${traces.length} series`
  const count = Math.max(
    ...['x', 'y', 'values', 'locations', 'lat'].map((key) => listOf(traces[0][key]).length),
  )
  return count > 1 ? ` of ${count.toLocaleString('en')} ${traces[0].type === 'pie' ? 'parts' : 'points'}` : ''
}

/** Returns the range of x: `from 2019 to 2023`; empty for labels. */
function describeRange(traces: readonly Attributes[]): string {
  let [first, last]: (string | number | undefined)[] = [undefined, undefined]
  for (const { x, orientation } of traces)
    for (const value of orientation === 'h' ? [] : listOf(x)) {
      if (typeof value !== 'number' && !(typeof value === 'string' && /^-?\d{4,}-\d\d/.test(value))) continue
      if (first === undefined || value < first) first = value
      if (last === undefined || value > last) last = value
    }
  if (first === undefined || first === last) return ''
  const format = (value: string | number): string =>
    typeof value === 'number' ? formatNumber(value) : value.replace(/[T ]00:00(:00)?(\.0+)?Z?$/, '')
  return `from ${format(first)} to ${format(last!)}`
}

/** Returns the lowest and the highest value that is drawn; empty for shares, which the data do not have. */
function describeExtremes(traces: readonly Attributes[], layout: Attributes): string {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const trace of traces) {
    if (trace.type === 'histogram') continue
    if (layout.barnorm || trace.groupnorm) return ''
    const isFlat = trace.orientation === 'h'
    const values = isFlat ? trace.x : (trace.values ?? trace.z ?? trace.y ?? trace.value)
    const isLog =
      values === (isFlat ? trace.x : trace.y) && layout[isFlat ? 'xaxis' : 'yaxis']?.type === 'log'
    const others = values === trace.y ? listOf(trace.x) : []
    for (const [k, row] of Array.from(typeof values === 'number' ? [values] : listOf(values)).entries())
      for (const value of typeof row === 'object' && row !== null ? listOf(row) : [row]) {
        if (typeof value !== 'number' || !Number.isFinite(value)) continue
        if ((isLog && value <= 0) || others[k] === null) continue
        if (value < least) least = value
        if (value > most) most = value
      }
  }
  if (least > most) return ''
  return least === most
    ? `value ${formatNumber(most)}`
    : `lowest ${formatNumber(least)}, highest ${formatNumber(most)}`
}

function formatNumber(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 10_000
    ? String(value)
    : value.toLocaleString('en', { maximumSignificantDigits: 4 })
}
