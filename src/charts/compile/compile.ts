// Builds a figure from chart options and grid columns.
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
 * Returns a figure whose traces refer to columns of a grid, so that it changes with the grid, and whose
 * layout holds the spec. `facts`: known facts about the values. Throws `usage`.
 */
export async function chartOf(
  client: ChartClient | undefined,
  grid: ChartGrid,
  type: ChartType,
  input: ChartOptions,
  note: (text: string) => void = () => {},
  facts?: Facts,
): Promise<Figure> {
  const options = withoutNone(input)
  const normal = await normalize(client, grid, type, options, note, facts)
  const { chart, values } = normal
  const parts = partsOf(grid, normal)
  const result = await makers[type](parts)
  const labeledResult = {
    data: result.data.map((trace) => labeled(type, trace, parts.options)),
    layout: result.layout,
  }
  const { data, layout } = await withSecond(labeledResult, parts)
  return {
    data,
    layout: { ...layout, meta: { ...layout.meta, spec: specText(type, options, chart, values) } },
  }
}

/** Returns the input of a maker of traces. */
function partsOf(grid: ChartGrid, normal: NormalChart): Parts {
  const { type, options, columns, chart, values } = normal
  const { x, ys } = columns
  const transforms = transformsOf(normal)
  const shared = { xsrc: chart.reference(x), textsrc: chart.reference(columns.text) }
  const each: Parts['each'] = (createTrace) =>
    (ys.length === 0 ? [undefined] : ys).map((y) => ({
      name: y?.name ?? 'count',
      ...shared,
      ysrc: chart.reference(y),
      ...errorsOf(chart, type, columns.error),
      ...createTrace(y),
      transforms,
    }))
  const settings = axisSettings(type, options, x, ys[0])
  const axis = (column: Column | undefined) => column && titledAxis(column, options, column === x)
  const layout = layoutOf(type, options, columns, settings)
  return { grid, chart, values, options, columns, transforms, each, axis, layout, settings }
}

/** Compiles a stored spec with the columns as they were. Reads no values. */
export function figureOf(fid: string, { type, options, columns, facts }: Spec): Promise<Figure> {
  return chartOf(undefined, { fid, filename: '', cols: columns }, type, options, undefined, { ...facts })
}

/** Returns the spec of a chart. Excludes its theme, which is part of the figure. */
function specText(type: ChartType, input: ChartOptions, chart: Chart, { facts }: ChartValues): Spec {
  const isStored = (name: string, value: unknown): boolean =>
    kindOfOption(name) !== undefined && name !== 'theme' && value !== undefined && value !== false
  // Store ranges and patterns as the columns that they match now.
  const names = chart.names
  const storedValue = (name: string, value: unknown): unknown =>
    kindOfOption(name) === 'columns'
      ? columnNames(value as string, names)
          .map(nameInList)
          .join(',')
      : value
  const options = Object.fromEntries(
    Object.entries(input).flatMap(([name, value]) =>
      isStored(name, value) ? [[name, storedValue(name, value)]] : [],
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

/** Returns the error bars of all traces. */
function errorsOf(chart: Chart, type: ChartType, error: Column | undefined): Attributes {
  return error && type !== 'lollipop'
    ? { error_y: { type: 'data', arraysrc: chart.reference(error), visible: true } }
    : {}
}

/** Returns a trace with its values, or the texts of --text, written at its points if --labels is set. */
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

/** Adds the columns of --y2, as lines on a second y axis. */
async function withSecond(
  { data, layout }: Made,
  { chart, options: { y2, aggregate }, columns: { x }, transforms }: Parts,
): Promise<Made> {
  if (y2 === undefined) return { data, layout }
  const columns = await chart.numbers('--y2', y2)
  const traces = columns.map((column) => ({
    name: column.name,
    type: 'scatter',
    mode: 'lines',
    yaxis: 'y2',
    xsrc: chart.reference(x),
    ysrc: chart.reference(column),
    transforms,
  }))
  const titleText = (name: string): string =>
    aggregate && aggregate !== 'count' ? computedOf(aggregate, spoken(name)) : spoken(name)
  const title = columns.length === 1 ? { title: { text: titleText(columns[0].name) } } : {}
  // Start at zero beside bars, so that the smallest value does not lie on the x axis.
  const fromZero = data.some(({ type }) => type === 'bar') && { rangemode: 'tozero' }
  const yaxis2 = { overlaying: 'y', side: 'right', tickmode: 'auto', showgrid: false, ...fromZero, ...title }
  return { data: [...data, ...traces], layout: { ...layout, yaxis2, showlegend: true } }
}
