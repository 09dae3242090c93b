// Builds a figure from chart options and grid columns.
import type { Attributes, Figure } from '../figure/figure.ts'
import { type NormalizedChart, normalizeChart } from '../normalize/normalize.ts'
import type { ChartClient } from '../normalize/read-values.ts'
import type { ChartColumnResolver } from '../normalize/resolve-columns.ts'
import type { ChartValues, Findings } from '../normalize/values.ts'
import { quoteColumnName } from '../spec/column-names.ts'
import {
  type ChartGrid,
  type ChartOptions,
  type Column,
  dropEmptyOptions,
  OPTION_NAMES,
  optionKindOf,
} from '../spec/options.ts'
import { parseColumnNames } from '../spec/parse-names.ts'
import type { Spec } from '../spec/spec.ts'
import type { ChartType } from '../spec/types.ts'
import { describeAggregate, humanizeName } from '../spec/words.ts'
import { createAxisSettings } from './axes.ts'
import { createAxis, createLayout } from './layout.ts'
import type { MakerInput, TracesAndLayout } from './maker-input.ts'
import { makers } from './makers/index.ts'
import { createTransforms } from './transforms.ts'

/**
 * Returns a figure whose traces refer to columns of a grid, so that it changes with the grid, and whose
 * layout holds the spec. Throws `usage`.
 */
export async function compileChart(
  client: ChartClient | undefined,
  grid: ChartGrid,
  type: ChartType,
  input: ChartOptions,
  { note = () => {}, facts = {} }: Partial<Findings> = {},
): Promise<Figure> {
  const options = dropEmptyOptions(input)
  const normal = await normalizeChart(client, grid, type, options, { note, facts })
  const { chart, values } = normal
  const parts = createMakerInput(grid, normal)
  const result = await makers[type](parts)
  const labeledResult = {
    data: result.data.map((trace) => withLabels(type, trace, parts.options)),
    layout: result.layout,
  }
  const { data, layout } = await withSecondAxis(labeledResult, parts)
  return {
    data,
    layout: { ...layout, meta: { ...layout.meta, spec: createSpec(type, options, chart, values) } },
  }
}

/** Returns the input of a maker of traces. */
function createMakerInput(grid: ChartGrid, normal: NormalizedChart): MakerInput {
  const { type, options, columns, chart } = normal
  const { x, ys } = columns
  const transforms = createTransforms(normal)
  const shared = { xsrc: chart.formatReference(x), textsrc: chart.formatReference(columns.text) }
  const each: MakerInput['createTraces'] = (createTrace) =>
    (ys.length === 0 ? [undefined] : ys).map((y) => ({
      name: y?.name ?? 'count',
      ...shared,
      ysrc: chart.formatReference(y),
      ...createErrorBars(chart, type, columns.error),
      ...createTrace(y),
      transforms,
    }))
  const settings = createAxisSettings(type, options, x, ys[0])
  const axis = (column: Column | undefined) => column && createAxis(column, options, column === x)
  const layout = createLayout(type, options, columns, settings)
  return { ...normal, grid, transforms, createTraces: each, columnAxis: axis, layout, settings }
}

/** Compiles a stored spec with the columns as they were. Reads no values. */
export function compileSpec(fid: string, { type, options, columns, facts }: Spec): Promise<Figure> {
  return compileChart(undefined, { fid, filename: '', cols: columns }, type, options, { facts: { ...facts } })
}

/** Returns the spec of a chart. Excludes its theme, which is part of the figure. */
function createSpec(
  type: ChartType,
  input: ChartOptions,
  chart: ChartColumnResolver,
  { facts }: ChartValues,
): Spec {
  const isStored = (name: string, value: unknown): boolean =>
    optionKindOf(name) !== undefined && name !== 'theme' && value !== undefined && value !== false
  // Store ranges and patterns as the columns that they match now.
  const names = chart.names
  const storedValue = (name: string, value: unknown): unknown =>
    optionKindOf(name) === 'columns' && typeof value === 'string'
      ? parseColumnNames(value, names).map(quoteColumnName).join(',')
      : value
  // In the order of the table, so that the same options are the same bytes, in whatever order they are given.
  const options = Object.fromEntries(
    OPTION_NAMES.flatMap((name) =>
      isStored(name, input[name]) ? [[name, storedValue(name, input[name])]] : [],
    ),
  )
  const columns = [...chart.usedColumns].map(({ name, uid, type: kind, date_order, zoned }) => ({
    name,
    uid,
    type: kind,
    date_order,
    zoned,
  }))
  return { type, options, columns, facts: { ...facts, isUnsorted: facts.isUnsorted || undefined } }
}

/** Returns the error bars of all traces. */
function createErrorBars(chart: ChartColumnResolver, type: ChartType, error: Column | undefined): Attributes {
  return error && type !== 'lollipop'
    ? { error_y: { type: 'data', arraysrc: chart.formatReference(error), visible: true } }
    : {}
}

/** Returns a trace with its values, or the texts of --text, written at its points if --labels is set. */
function withLabels(type: ChartType, trace: Attributes, { labels, text }: ChartOptions): Attributes {
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
async function withSecondAxis(
  { data, layout }: TracesAndLayout,
  { chart, options: { y2, aggregate }, columns: { x }, transforms }: MakerInput,
): Promise<TracesAndLayout> {
  if (y2 === undefined) return { data, layout }
  const columns = await chart.resolveNumbers('--y2', y2)
  const traces = columns.map((column) => ({
    name: column.name,
    type: 'scatter',
    mode: 'lines',
    yaxis: 'y2',
    xsrc: chart.formatReference(x),
    ysrc: chart.formatReference(column),
    transforms,
  }))
  const titleText = (name: string): string =>
    aggregate && aggregate !== 'count' ? describeAggregate(aggregate, humanizeName(name)) : humanizeName(name)
  const title = columns.length === 1 ? { title: { text: titleText(columns[0].name) } } : {}
  // Start at zero beside bars, so that the smallest value does not lie on the x axis.
  const fromZero = data.some(({ type }) => type === 'bar') && { rangemode: 'tozero' }
  const yaxis2 = { overlaying: 'y', side: 'right', tickmode: 'auto', showgrid: false, ...fromZero, ...title }
  return { data: [...data, ...traces], layout: { ...layout, yaxis2, showlegend: true } }
}
