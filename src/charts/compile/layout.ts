import { listed } from '../../contract/closest.ts'
import { Problem } from '../../contract/errors.ts'
import { parseSort } from '../../query/index.ts'
import type { Attributes } from '../figure/figure.ts'
import { SOURCE } from '../figure/names.ts'
import type { ChartColumns } from '../normalize/columns.ts'
import { columnNames, hasLabels } from '../spec/column-names.ts'
import type { ChartOptions, Column } from '../spec/options.ts'
import { type ChartType, hasTrait, isCellMap } from '../spec/types.ts'
import { computedOf, spoken } from '../spec/words.ts'
import { notesOf, shapesOf } from './marks.ts'
import { axisTitle, needsTitle, titleOf } from './titles.ts'

/** The layout of a chart: titles, axes, shapes and notes. Throws `usage` and `bad_data`. */
export function layoutOf(
  type: ChartType,
  options: ChartOptions,
  { x, ys, by, color, facets }: ChartColumns,
  settings: { x: Attributes; y: Attributes },
): Attributes {
  const isMap = isCellMap(type, options)
  const { aggregate } = options
  const names = listed(
    ys.map(({ name }) => spoken(name)),
    3,
  )
  const computed = aggregate && (aggregate === 'count' || ys[0]) && computedOf(aggregate, names)
  const colored = color && spoken(color.name)
  const shown =
    hasTrait(type, 'cells') && colored ? (aggregate ? computedOf(aggregate, colored) : colored) : computed
  const layout: Attributes = titleOf(
    type,
    { ...options, ...(x?.uid === '' && { x: undefined }), facets: facets.map(({ name }) => name) },
    shown ?? names,
  )
  layout.xaxis = x && { ...titledAxis(x, options, true), ...orderOf(x, ys[0], type, options) }
  if (aggregate && !isMap) layout.yaxis = ys.length > 1 ? undefined : { title: { text: computed } }
  else
    layout.yaxis =
      ys.length === 1
        ? { ...titledAxis(ys[0], options, false), ...(isMap && orderOf(ys[0], undefined, type, options)) }
        : undefined
  if (options.stack === 'percent' && layout.yaxis?.title)
    layout.yaxis = { ...layout.yaxis, title: { text: `share of ${layout.yaxis.title.text}` } }
  if (Object.keys(settings.x).length > 0) layout.xaxis = { ...layout.xaxis, ...settings.x }
  if (Object.keys(settings.y).length > 0) layout.yaxis = { ...layout.yaxis, ...settings.y }
  if (ys.length > 1 || by || options.symbol || options.dash) layout.showlegend = true
  layout.shapes = shapesOf(options, x)
  if (!hasTrait(type, 'known by traces')) layout.meta = { ...layout.meta, chart: type }
  // The axes are exchanged where the chart is drawn: what is evaluated before does not depend on it.
  if (options.horizontal) layout.meta = { ...layout.meta, horizontal: true }
  if (by && x && (type === 'box' || type === 'violin')) layout[`${type}mode`] = 'group'
  const texts = [...notesOf(options, x), ...(options.source === undefined ? [] : [sourceOf(options.source)])]
  if (texts.length > 0) layout.annotations = texts
  if (options.locale !== undefined) layout.meta = { ...layout.meta, locale: options.locale }
  if (options.highlight) layout.meta = { ...layout.meta, highlight: options.highlight }
  if (options.scale && options.scale !== 'linear') layout.meta = { ...layout.meta, scale: options.scale }
  return layout
}

/** The axis of a column: its title and its type. */
export function titledAxis(column: Column, options: ChartOptions, isX: boolean): Attributes {
  const isTitled = needsTitle(column, options)
  const text = axisTitle(column, isX ? options.zone : undefined)
  return { ...(isTitled && { title: { text } }), ...axisOf(column) }
}

/** Where the data comes from, below the chart. Our theme moves it below the labels of the axis. */
function sourceOf(text: string): Attributes {
  const place = { xref: 'paper', yref: 'paper', x: 0, y: -0.2, xanchor: 'left', yanchor: 'top' }
  return { name: SOURCE, text: `Source: ${text}`, showarrow: false, font: { size: 12 }, ...place }
}

/**
 * The type of the axis of a column, as plotly.js names it: zip codes are labels, and dates are times. Numbers need none.
 * Throws `bad_data` for dates that can be read in two ways.
 */
function axisOf({ name, type, date_order }: Column): { type?: 'category' | 'date'; automargin?: true } {
  if (date_order === 'undecided') {
    const columns = ['dmy', 'mdy'].map((order) => `--column ${JSON.stringify(`${name}:date-${order}`)}`)
    throw new Problem(
      'bad_data',
      `column ${name}: its dates can have the day or the month first, so it cannot be an axis`,
      {
        field: name,
        hint: `Read the file with ${columns.join(' or ')}, or as labels with --column ${JSON.stringify(`${name}:text`)}; of a grid that exists, upload it again with --on-conflict replace.`,
      },
    )
  }
  if (type === 'date' || type === 'datetime') return { type: 'date' }
  return hasLabels({ type }) ? { type: 'category', automargin: true } : {}
}

/** The order of labels on an axis: by their name, or by the sum of what is drawn. Throws `usage` for other axes. */
function orderOf(
  along: Column,
  drawn: Column | undefined,
  type: ChartType,
  { sort, aggregate, order }: ChartOptions,
): { categoryorder?: string; categoryarray?: string[] } {
  const keys = sort === undefined || hasTrait(type, 'slices') ? [] : parseSort(sort)
  const key = keys.find(({ name }) => name === along.name || name === drawn?.name)
  const isLabels = hasLabels(along) || along.type === 'empty'
  if (order !== undefined && isLabels) return { categoryorder: 'array', categoryarray: columnNames(order) }
  if (!isLabels && (key || (aggregate && keys.length > 0)) && type !== 'heatmap')
    throw new Problem(
      'usage',
      `--sort: the axis of ${along.name} is in the order of its ${along.type === 'number' ? 'numbers' : 'dates'}`,
    )
  // Sorted by another column: in the order of the rows.
  if (!key) return isLabels && keys.length > 0 ? { categoryorder: 'trace' } : {}
  if (!isLabels) return {}
  // Each step begins where the one before it ends.
  if (type === 'waterfall' || type === 'funnel') return { categoryorder: 'trace' }
  const direction = key.descending ? 'descending' : 'ascending'
  return { categoryorder: `${key.name === along.name ? 'category' : 'total'} ${direction}` }
}
