// Layout of a chart: titles, axes, shapes and notes.

import { isMomentType } from '../../contract/column-types.ts'
import { formatList } from '../../contract/message-texts.ts'
import { parseSort } from '../../query/index.ts'
import type { Attributes } from '../figure/figure.ts'
import { SOURCE_NAME } from '../figure/shared-names.ts'
import type { ChartColumns } from '../normalize/chart-columns.ts'
import { hasLabels } from '../spec/column-names.ts'
import { createDataError, createUsageError } from '../spec/errors.ts'
import type { ChartOptions, Column } from '../spec/options.ts'
import { parseColumnNames } from '../spec/parse-names.ts'
import { type ChartType, hasColumnAxes, hasTrait } from '../spec/types.ts'
import { describeAggregate, humanizeName } from '../spec/words.ts'
import { createNotes, createShapes } from './reference-lines.ts'
import { createTitle, formatAxisTitle, needsTitle } from './titles.ts'

/** Returns the layout of a chart. Throws `usage` and `bad_data`. */
export function createLayout(
  type: ChartType,
  options: ChartOptions,
  { x, ys, by, color, facets }: ChartColumns,
  settings: { x: Attributes; y: Attributes },
): Attributes {
  const isMap = hasColumnAxes(type, options)
  const { aggregate } = options
  const names = formatList(
    ys.map(({ name }) => humanizeName(name)),
    3,
  )
  const computed = aggregate && (aggregate === 'count' || ys[0]) && describeAggregate(aggregate, names)
  const colorName = color && humanizeName(color.name)
  const drawnName =
    hasTrait(type, 'cells') && colorName
      ? aggregate
        ? describeAggregate(aggregate, colorName)
        : colorName
      : computed
  const layout: Attributes = createTitle(
    type,
    { ...options, ...(x?.uid === '' && { x: undefined }), facets: facets.map(({ name }) => name) },
    drawnName ?? names,
  )
  layout.xaxis = x && { ...createAxis(x, options, true), ...createLabelOrder(x, ys[0], type, options) }
  if (aggregate && !isMap) layout.yaxis = ys.length > 1 ? undefined : { title: { text: computed } }
  else
    layout.yaxis =
      ys.length === 1
        ? {
            ...createAxis(ys[0], options, false),
            ...(isMap && createLabelOrder(ys[0], undefined, type, options)),
          }
        : undefined
  if (options.stack === 'percent' && layout.yaxis?.title)
    layout.yaxis = { ...layout.yaxis, title: { text: `share of ${layout.yaxis.title.text}` } }
  if (Object.keys(settings.x).length > 0) layout.xaxis = { ...layout.xaxis, ...settings.x }
  if (Object.keys(settings.y).length > 0) layout.yaxis = { ...layout.yaxis, ...settings.y }
  if (ys.length > 1 || by || options.symbol || options.dash) layout.showlegend = true
  layout.shapes = createShapes(options, x)
  if (!hasTrait(type, 'known by traces')) layout.meta = { ...layout.meta, chart: type }
  // The theme swaps the axes when it draws: transforms run before, on unswapped axes.
  if (options.horizontal) layout.meta = { ...layout.meta, horizontal: true }
  if (by && x && (type === 'box' || type === 'violin')) layout[`${type}mode`] = 'group'
  const annotations = [
    ...createNotes(options, x),
    ...(options.source === undefined ? [] : [createSourceNote(options.source)]),
  ]
  if (annotations.length > 0) layout.annotations = annotations
  if (options.locale !== undefined) layout.meta = { ...layout.meta, locale: options.locale }
  if (options.highlight) layout.meta = { ...layout.meta, highlight: options.highlight }
  if (options.scale && options.scale !== 'linear') layout.meta = { ...layout.meta, scale: options.scale }
  return layout
}

/** Returns the axis of a column: title and type. */
export function createAxis(column: Column, options: ChartOptions, isX: boolean): Attributes {
  const isTitled = needsTitle(column, options)
  const text = formatAxisTitle(column, isX ? options.zone : undefined)
  return { ...(isTitled && { title: { text } }), ...axisAttributesOf(column) }
}

/** Returns the annotation with the data source. The theme moves it below the axis labels. */
function createSourceNote(text: string): Attributes {
  const position = { xref: 'paper', yref: 'paper', x: 0, y: -0.2, xanchor: 'left', yanchor: 'top' }
  return { name: SOURCE_NAME, text: `Source: ${text}`, showarrow: false, font: { size: 12 }, ...position }
}

/**
 * Returns the axis type of a column, as plotly.js names it; numbers need none. Throws `bad_data` for dates
 * that can be read in two ways.
 */
function axisAttributesOf({ name, type, date_order }: Column): {
  type?: 'category' | 'date'
  automargin?: true
} {
  if (date_order === 'undecided') {
    const columns = ['dmy', 'mdy'].map((order) => `--column ${JSON.stringify(`${name}:date-${order}`)}`)
    throw createDataError(
      `column ${name}: ambiguous dates (day or month first) cannot be an axis`,
      name,
      `Read the file with ${columns.join(' or ')}, or as labels with --column ${JSON.stringify(`${name}:text`)}; for an existing grid, upload it again with --on-conflict replace.`,
    )
  }
  if (isMomentType(type)) return { type: 'date' }
  return hasLabels({ type }) ? { type: 'category', automargin: true } : {}
}

/** Returns the order of labels on an axis: by name or by total. Throws `usage` for other axes. */
function createLabelOrder(
  column: Column,
  values: Column | undefined,
  type: ChartType,
  { sort, aggregate, order }: ChartOptions,
): { categoryorder?: string; categoryarray?: string[] } {
  const keys = sort === undefined || hasTrait(type, 'slices') ? [] : parseSort(sort)
  const key = keys.find(({ name }) => name === column.name || name === values?.name)
  const isLabels = hasLabels(column) || column.type === 'empty'
  if (order !== undefined && isLabels)
    return { categoryorder: 'array', categoryarray: parseColumnNames(order) }
  if (!isLabels && (key || (aggregate && keys.length > 0)) && type !== 'heatmap')
    throw createUsageError(
      `--sort: the axis of ${column.name} is always in the order of its ${column.type === 'number' ? 'numbers' : 'dates'}`,
    )
  // Sorted by another column: keep the order of the rows.
  if (!key) return isLabels && keys.length > 0 ? { categoryorder: 'trace' } : {}
  if (!isLabels) return {}
  // Each step starts at the end of the previous one, so the order of rows matters.
  if (type === 'waterfall' || type === 'funnel') return { categoryorder: 'trace' }
  const direction = key.descending ? 'descending' : 'ascending'
  return { categoryorder: `${key.name === column.name ? 'category' : 'total'} ${direction}` }
}
