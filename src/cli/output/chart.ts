// Draws charts in the terminal: as image, characters or dots.
import { applyTheme } from '../../browser/theme/index.ts'
import { isStacked } from '../../charts/figure/bar-mode.ts'
import { COLORS } from '../../charts/figure/colors.ts'
import { isObject } from '../../charts/figure/figure.ts'
import { labelOf } from '../../charts/figure/shared-names.ts'
import { describeOmitted, dropUnplacedRows } from '../../charts/omitted.ts'
import { dropOtherTexts } from '../../charts/other-texts.ts'
import type { ImageFormat } from '../../contract/operations/index.ts'
import { hasColor } from './color.ts'
import { withBins } from './histogram.ts'
import type { TextTrace } from './plot-marks.ts'
import { drawPlot, formatLegend } from './plot-text.ts'
import { graphicsOf, picture } from './terminal-image.ts'
import { formatTextChart } from './text-chart.ts'

export interface ChartFigure {
  data?: TextTrace[]
  layout?: Record<string, unknown>
}

/** Maximum width of a chart, in characters. */
const MAX_CHART_COLUMNS = 100
/** Height of a chart, in lines. */
const CHART_LINES = 20

/**
 * Draws a chart for a terminal or pipe: an image if the terminal supports it, otherwise characters. Of charts that
 * characters cannot show, prints the title and the ranges of the axes.
 */
export async function drawChart(
  original: ChartFigure,
  environment: NodeJS.ProcessEnv,
  stream: NodeJS.WriteStream,
): Promise<string> {
  const { figure: drawable, lostCount } = removeLostTraces(original)
  const figure = fillMissingLabels(drawable)
  if (lostCount > 0 && figure.data?.length === 0) return formatMissingData(lostCount)
  const graphics = stream.isTTY ? graphicsOf(environment) : undefined
  if (graphics) {
    const { drawFigure } = await import('../../service/index.ts')
    const options = { format: 'png' satisfies ImageFormat, width: 700, height: 450 } as const
    return picture(await drawFigure(JSON.stringify(figure), options, environment), graphics)
  }
  const columns = Math.min(MAX_CHART_COLUMNS, stream.columns || 80)
  const { data = [], layout = {} } = figure
  const textLines = formatTextChart(data, columns)
  const heading = titleOf(layout)
  if (textLines)
    return [...(heading ? [heading] : []), ...textLines, ...formatOmissions(drawable), ''].join('\n')
  const color = hasColor(stream, environment)
  const { arrangement, colors } = arrangeFigure(figure, columns)
  const options = { columns, lines: CHART_LINES, color, colors, plain: toPlainText }
  const plotLines = drawPlot(withBins(arrangement.data), arrangement.layout, options)
  if (plotLines) {
    const title = titleOf(layout)
    const titles = [layout.yaxis, layout.xaxis].map(titleOf)
    const isRotated = arrangement.data.some(
      ({ orientation }, k) => orientation === 'h' && data[k]?.orientation !== 'h',
    )
    const [upTitle, acrossTitle] = isRotated ? titles.reverse() : titles
    return [
      ...(title ? [center(title, columns)] : []),
      ...(upTitle ? [upTitle] : []),
      ...plotLines,
      ...(acrossTitle ? [center(acrossTitle, columns)] : []),
      ...formatLegend(arrangement.data, color, toPlainText, colors),
      ...formatOmissions(drawable),
      ...(lostCount > 0 ? [formatMissingData(lostCount).trimEnd()] : []),
      '',
    ].join('\n')
  }
  const title = titleOf(figure.layout)
  const types = [...new Set(data.map(({ type }) => String(type ?? 'scatter')))].join(', ')
  return [
    ...(title ? [title] : []),
    ...describeAxes(figure),
    `Characters cannot show this chart (${types}). Use gridline open or gridline image to see it.`,
    ...formatOmissions(drawable),
    ...(lostCount > 0 ? [formatMissingData(lostCount).trimEnd()] : []),
    '',
  ].join('\n')
}

/** Assumed size of a character, in pixels, for the arrangement of a chart. */
const CHARACTER_PIXELS = 8
const LINE_PIXELS = 20

/** Applies the theme to our charts, as pages do. Other figures are unchanged. */
function arrangeFigure(
  { data = [], layout = {} }: ChartFigure,
  columns: number,
): { arrangement: { data: TextTrace[]; layout: Record<string, unknown> }; colors?: readonly string[] } {
  if (layout.meta === undefined) return { arrangement: { data, layout } }
  const view = {
    scheme: 'light',
    width: columns * CHARACTER_PIXELS,
    height: CHART_LINES * LINE_PIXELS,
  } as const
  return { arrangement: applyTheme({ data, layout }, view), colors: COLORS }
}

/** Returns the line about omitted data that pages show below a chart; none for other figures. */
function formatOmissions({ data = [], layout = {} }: ChartFigure): string[] {
  if (layout.meta === undefined) return []
  const { unseen: omissions, remarks } = describeOmitted({ data, layout })
  const parts = [...(omissions.length > 0 ? [`Not shown: ${omissions.join(', ')}`] : []), ...remarks]
  return parts.length === 0 ? [] : [toPlainText(parts.join('. '))]
}

/** Labels rows without a label, as on pages. */
function fillMissingLabels(figure: ChartFigure): ChartFigure {
  const isLabels = (axis: unknown): boolean => isObject(axis) && axis.type === 'category'
  const { data = [], layout = {} } = figure
  if (layout.meta === undefined) return figure
  const fillLabels = (values: unknown): unknown => (Array.isArray(values) ? values.map(labelOf) : values)
  return {
    ...figure,
    data: data
      .map((original) => dropUnplacedRows(dropOtherTexts(original, layout), layout))
      .map((trace) => ({
        ...trace,
        ...(isLabels(layout.xaxis) && trace.x !== undefined && { x: fillLabels(trace.x) }),
        ...(isLabels(layout.yaxis) && trace.y !== undefined && { y: fillLabels(trace.y) }),
      })),
  }
}

/** Removes traces without their data: they would be drawn by point number. */
function removeLostTraces(figure: ChartFigure): { figure: ChartFigure; lostCount: number } {
  const { data = [] } = figure
  const available = data.filter((trace) => !hasMissingData(trace))
  return { figure: { ...figure, data: available }, lostCount: data.length - available.length }
}

/** Returns whether a trace, or an object in it, refers to data that is missing. */
function hasMissingData(value: unknown): boolean {
  if (!isObject(value)) return false
  return Object.entries(value).some(([name, member]) =>
    name.endsWith('src') && typeof member === 'string' && /^[^:]+:\d+:./.test(member)
      ? value[name.slice(0, -'src'.length)] === undefined
      : hasMissingData(member),
  )
}

/** Formats the note about missing columns. */
function formatMissingData(lostCount: number): string {
  return `No data: ${lostCount === 1 ? 'the trace refers' : `${lostCount} traces refer`} to columns that no longer exist.\n`
}

/** Returns the title of a layout or axis; undefined without one. */
function titleOf(attributes: unknown): string | undefined {
  const title = isObject(attributes) ? attributes.title : undefined
  const text = isObject(title) ? title.text : title
  return typeof text === 'string' ? toPlainText(text) : undefined
}

/**
 * Converts a text of a figure to plain text: without markup and control characters, at most 100 characters.
 */
function toPlainText(text: string): string {
  return text
    .replace(/<[^<>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')
    .slice(0, 100)
}

function center(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, Math.floor((columns - text.length) / 2))) + text
}

/** Lists ranges of axes and names of traces, instead of tick labels and a legend. */
function describeAxes({ data = [], layout = {} }: ChartFigure): string[] {
  const lines: string[] = []
  if (data.length > 0 && data.every(({ type }) => type === 'pie')) return formatPieSlices(data[0])
  for (const axis of ['x', 'y'] as const) {
    const range = formatRange(
      axis === 'x' ? data.flatMap(({ x }) => toArray(x)) : stackedHeights(data, layout),
    )
    if (range) lines.push(`${axis}: ${range}${axisLabelOf(layout[`${axis}axis`])}`)
  }
  const names = data.flatMap(({ name }) => (typeof name === 'string' ? [toPlainText(name)] : []))
  if (names.length > 1) lines.push(`traces: ${names.slice(0, 10).join(', ')}${names.length > 10 ? ' …' : ''}`)
  return lines
}

function toArray(values: unknown): unknown[] {
  return Array.isArray(values) ? values : []
}

/**
 * Returns the values on the y axis: for lines and points, their values; for bars and filled areas, sums, and
 * zero.
 */
function stackedHeights(data: readonly TextTrace[], layout: Record<string, unknown>): unknown[] {
  if (data.some(({ type, orientation }) => type === 'histogram' || orientation === 'h')) return []
  const values: unknown[] = []
  const stackedSums = new Map<string, number>()
  for (const trace of data) {
    const x = toArray(trace.x)
    const isBar = trace.type === 'bar'
    if (!isBar && trace.stackgroup === undefined) {
      for (const value of toArray(trace.y)) values.push(value)
      if (trace.fill === 'tozeroy') values.push(0)
      continue
    }
    const sums = !isBar || isStacked(layout) ? stackedSums : new Map<string, number>()
    for (const [k, value] of toArray(trace.y).entries()) {
      if (typeof value !== 'number') continue
      // Negative bars are stacked below the axis.
      const key = `${value < 0 ? '-' : '+'}${String(x[k] ?? k)}`
      sums.set(key, (sums.get(key) ?? 0) + value)
    }
    values.push(0)
    for (const sum of sums.values()) values.push(sum)
  }
  return values
}

/** Maximum number of listed pie slices. */
const MAX_PIE_SLICES = 10

/** Lists labels and values of a pie, largest first. */
function formatPieSlices({ labels, values }: TextTrace): string[] {
  const sums = new Map<string, number>()
  const names = toArray(labels)
  for (const [k, value] of toArray(values).entries())
    if (typeof value === 'number') {
      const name = toPlainText(String(names.length === 0 ? k : labelOf(names[k])))
      sums.set(name, (sums.get(name) ?? 0) + value)
    }
  const total = [...sums.values()].reduce((a, b) => a + b, 0)
  const slices = [...sums].sort(([, a], [, b]) => b - a)
  const lines = slices
    .slice(0, MAX_PIE_SLICES)
    .map(
      ([name, value]) =>
        `${name}: ${Number(value.toPrecision(6))}${total > 0 ? ` (${Math.round((100 * value) / total)} %)` : ''}`,
    )
  return slices.length > MAX_PIE_SLICES ? [...lines, `… and ${slices.length - MAX_PIE_SLICES} more`] : lines
}

/** Returns the title of an axis in parentheses, or an empty text. */
function axisLabelOf(axis: unknown): string {
  const label = titleOf(axis)
  return label ? ` (${label})` : ''
}

/** Formats the range of values: numbers, dates, or first and last category. Undefined without values. */
function formatRange(values: readonly unknown[]): string | undefined {
  const presentValues = values.filter((value) => value !== null && value !== undefined)
  if (presentValues.length === 0) return undefined
  if (presentValues.every((value) => typeof value === 'number')) {
    let [min, max] = [presentValues[0], presentValues[0]]
    for (const value of presentValues) {
      if (value < min) min = value
      if (value > max) max = value
    }
    return `${min} to ${max}`
  }
  const texts = presentValues.map(String)
  // ISO dates sort as text; categories keep their order.
  if (texts.every((text) => /^\d{4}-\d\d/.test(text))) texts.sort()
  const [first, last] = [texts[0], texts[texts.length - 1]].map(toPlainText)
  return first === last ? first : `${first} to ${last}`
}
