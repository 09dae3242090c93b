import type { Attributes, Figure } from '../figure/figure.ts'
import type { Chart } from '../normalize/chart.ts'
import { type NormalChart, normalize } from '../normalize/normalize.ts'
import type { ChartClient, ChartValues } from '../normalize/values.ts'
import { columnNames, nameInList } from '../spec/column-names.ts'
import { type ChartGrid, type ChartOptions, type Column, kindOfOption, withoutNone } from '../spec/options.ts'
import type { Facts, Spec } from '../spec/spec.ts'
import type { ChartType } from '../spec/types.ts'
import { computedOf, spoken } from '../spec/words.ts'
import { axisSettings } from './axes.ts'
import { layoutOf, titledAxis } from './layout.ts'
import { makers } from './makers/index.ts'
import type { Made, Parts } from './parts.ts'
import { transformsOf } from './transforms.ts'

/**
 * A figure whose traces refer to columns of a grid, so that it changes with the grid, with the spec that makes it again.
 * `facts`: what is known of the values. Throws `usage`.
 */
export async function chartOf(
  client: ChartClient | undefined,
  grid: ChartGrid,
  type: ChartType,
  given: ChartOptions,
  note: (text: string) => void = () => {},
  facts?: Facts,
): Promise<Figure> {
  const known = withoutNone(given)
  const normal = await normalize(client, grid, type, known, note, facts)
  const { chart, values } = normal
  const parts = partsOf(grid, normal)
  const made = await makers[type](parts)
  const whole = { data: made.data.map((trace) => labeled(type, trace, parts.options)), layout: made.layout }
  const { data, layout } = await withSecond(whole, parts)
  return { data, layout: { ...layout, meta: { ...layout.meta, spec: specText(type, known, chart, values) } } }
}

/** What makers of traces are given. */
function partsOf(grid: ChartGrid, normal: NormalChart): Parts {
  const { type, options, columns, chart, values } = normal
  const { x, ys } = columns
  const transforms = transformsOf(normal)
  const shared = { xsrc: chart.reference(x), textsrc: chart.reference(columns.text) }
  const each: Parts['each'] = (make) =>
    (ys.length === 0 ? [undefined] : ys).map((y) => ({
      name: y?.name ?? 'count',
      ...shared,
      ysrc: chart.reference(y),
      ...errorsOf(chart, type, columns.error),
      ...make(y),
      transforms,
    }))
  const settings = axisSettings(type, options, x, ys[0])
  const axis = (column: Column | undefined) => column && titledAxis(column, options, column === x)
  const layout = layoutOf(type, options, columns, settings)
  return { grid, chart, values, options, columns, transforms, each, axis, layout, settings }
}

/** The figure that a spec makes, of the columns as they were. Reads no values. */
export function figureOf(fid: string, { type, options, columns, facts }: Spec): Promise<Figure> {
  return chartOf(undefined, { fid, filename: '', cols: columns }, type, options, undefined, { ...facts })
}

/** The spec of a chart, without its theme, which is part of the figure. */
function specText(type: ChartType, given: ChartOptions, chart: Chart, { facts }: ChartValues): Spec {
  const isSaid = (name: string, value: unknown): boolean =>
    kindOfOption(name) !== undefined && name !== 'theme' && value !== undefined && value !== false
  // Ranges and patterns stand for the columns that they name now.
  const known = chart.names
  const stored = (name: string, value: unknown): unknown =>
    kindOfOption(name) === 'columns'
      ? columnNames(value as string, known)
          .map(nameInList)
          .join(',')
      : value
  const options = Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      isSaid(name, value) ? [[name, stored(name, value)]] : [],
    ),
  )
  const columns = [...chart.named].map(({ name, uid, type: kind, date_order, zoned }) => ({
    name,
    uid,
    type: kind,
    date_order,
    zoned,
  }))
  return { type, options, columns, facts: { ...facts, isUnsorted: facts.isUnsorted || undefined } }
}

/** The error bars of all traces. */
function errorsOf(chart: Chart, type: ChartType, error: Column | undefined): Attributes {
  return error && type !== 'lollipop'
    ? { error_y: { type: 'data', arraysrc: chart.reference(error), visible: true } }
    : {}
}

/** A trace with its values, or the texts of --text, written at its points, if that is asked for. */
function labeled(type: ChartType, trace: Attributes, { labels, text }: ChartOptions): Attributes {
  if (!labels) return trace
  if (type === 'bar')
    return {
      ...trace,
      texttemplate: text === undefined ? '%{value}' : '%{text}',
      textposition: 'auto',
      textangle: 0,
    }
  if (type === 'funnel') return { ...trace, textinfo: 'value', textposition: 'auto' }
  if (type === 'waterfall') return { ...trace, textinfo: 'delta', textposition: 'outside' }
  const above = {
    texttemplate: text === undefined ? '%{y}' : '%{text}',
    textposition: 'top center',
    cliponaxis: false,
  }
  return { ...trace, mode: `${trace.mode}+text`, ...above }
}

/** The chart with the columns of --y2, as lines on an axis of their own. */
async function withSecond(
  { data, layout }: Made,
  { chart, options: { y2, aggregate }, columns: { x }, transforms }: Parts,
): Promise<Made> {
  if (y2 === undefined) return { data, layout }
  const columns = await chart.numbers('--y2', y2)
  const own = columns.map((column) => ({
    name: column.name,
    type: 'scatter',
    mode: 'lines',
    yaxis: 'y2',
    xsrc: chart.reference(x),
    ysrc: chart.reference(column),
    transforms,
  }))
  const said = (name: string): string =>
    aggregate && aggregate !== 'count' ? computedOf(aggregate, spoken(name)) : spoken(name)
  const title = columns.length === 1 ? { title: { text: said(columns[0].name) } } : {}
  // Beside bars from zero, a line from its own least value would lie on the floor.
  const fromZero = data.some(({ type }) => type === 'bar') && { rangemode: 'tozero' }
  const yaxis2 = { overlaying: 'y', side: 'right', tickmode: 'auto', showgrid: false, ...fromZero, ...title }
  return { data: [...data, ...own], layout: { ...layout, yaxis2, showlegend: true } }
}
