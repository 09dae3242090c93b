import { listed } from '../contract/closest.ts'
import { Problem } from '../contract/errors.ts'
import { parseSort } from '../query/index.ts'
import { axisSettings } from './axes.ts'
import { Chart } from './chart.ts'
import { columnNames, nameInList } from './columns.ts'
import type { Attributes, Figure } from './figure.ts'
import { assertLocale } from './locales.ts'
import { notesOf, shapesOf } from './marks.ts'
import { SOURCE } from './names.ts'
import { type ChartGrid, type ChartOptions, type Column, kindOfOption, withoutNone } from './options.ts'
import { assertReadable, assertTaken, assertTogether } from './rules.ts'
import type { Facts, Spec } from './spec.ts'
import { axisTitle, needsTitle, titleOf } from './titles.ts'
import { type Drawn, makers, type Parts } from './traces.ts'
import { assertTrend, transformsOf } from './transforms.ts'
import { type ChartType, hasTrait, isCellMap } from './types.ts'
import { type ChartClient, ChartValues } from './values.ts'
import { computedOf, spoken } from './words.ts'

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
  // Of one column, the order is that of its values.
  const isSort = grid.cols.some(({ name }) => name === known.order)
  const options = isSort ? { ...known, sort: known.order, order: undefined } : known
  const { aggregate } = options
  const values = new ChartValues(client, grid.fid, type, options, note, facts)
  const chart = new Chart(values, grid, type)
  assertTaken(type, options)
  const columns = await columnsOf(chart, type, options)
  const { x, ys, by, facets, symbol, dash } = columns
  const isFaceted = facets.length > 0
  assertTogether(type, options, columns)
  for (const column of type === 'ecdf' || type === 'density' ? (x ? [x, ...ys] : ys) : [])
    await chart.number(x === column ? '--x' : '--y', column.name)
  if (chart.isAcross(options) && !aggregate && (hasTrait(type, 'single') || hasTrait(type, 'joined')))
    await values.assertOneRow(columnNames(options.y ?? '', chart.names)[0], by, ...facets, columns.animate)
  if (type === 'pyramid' && by) await values.assertTwoSides(by)
  const isMap = isCellMap(type, options)
  const selected = chart.selection(options)
  await values.prepare([x, by, ...facets, ...ys.slice(0, 1)])
  await assertReadable(values, type, options, columns, isMap)

  if (x) await values.assertMarked(x)
  await values.assertHighlighted(by, x, ys)
  if (x) await values.assertPlaced(x, by)
  const layout = layoutOf(type, options, columns, isMap)
  const isUnsorted =
    hasTrait(type, 'joined') && !by && !dash && !isFaceted && !aggregate && (await values.isUnsorted(x))
  const sources = {
    by: chart.reference(by),
    facets: facets.map((column) => chart.reference(column)!),
    style: symbol ? ('symbol' as const) : dash && ('dash' as const),
    styled: chart.reference(symbol ?? dash),
    animate: chart.reference(columns.animate),
  }
  const melted = chart.isAcross(options)
    ? [{ type: 'melt', names: columnNames(options.y ?? '', chart.names) }]
    : []
  const own = transformsOf(type, sources, selected, options, { x, y: ys[0] }, isUnsorted)
  const transforms = melted.length > 0 ? [...melted, ...(own ?? [])] : own
  const shared = { xsrc: chart.reference(x), textsrc: chart.reference(columns.text) }
  const each: Parts['each'] = (make) =>
    (ys.length === 0 ? [undefined] : ys).map((y) => ({
      name: y?.name ?? 'count',
      ...shared,
      ysrc: chart.reference(y),
      ...extrasOf(chart, type, options, columns.error),
      ...make(y),
      transforms,
    }))
  const settings = axisSettings(type, options, x, ys[0])
  const axis = (column: Column | undefined) => column && titledAxis(column, options, column === x)
  const parts: Parts = {
    grid,
    chart,
    values,
    options,
    columns,
    transforms,
    each,
    axis,
    layout,
    settings,
  }
  const made = await makers[type](parts)
  const whole = { data: made.data.map((trace) => labeled(type, trace, options)), layout: made.layout }
  const { data, layout: complete } = await withSecond(chart, whole, options, columns, transforms)
  return {
    data,
    layout: { ...complete, meta: { ...complete.meta, spec: specText(type, known, chart, values) } },
  }
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

async function columnsOf(chart: Chart, type: ChartType, options: ChartOptions): Promise<Drawn> {
  const { aggregate } = options
  const isAcross = chart.isAcross(options)
  const x = isAcross ? undefined : chart.column('--x', options.x)
  const isMap = isCellMap(type, options)
  const isAxis = isMap || hasTrait(type, 'axis y')
  const isCount = aggregate === 'count' && !hasTrait(type, 'cells')
  const place = async (flag: '--lat' | '--lon', name: string | undefined, pattern: RegExp) =>
    type === 'map' ? await chart.number(flag, name ?? chart.nameLike(flag, pattern)) : undefined
  const ys = inOrder(await chart.yColumns(options.y, isAxis, isCount), options)
  return {
    ...(isAcross ? chart.across(ys) : { x, ys }),
    z: await chart.number('--z', options.z),
    color: await chart.number('--color', options.color),
    size: await chart.number('--size', options.size),
    angle: await chart.number('--angle', options.angle),
    error: await chart.number('--error', options.error),
    text: chart.column('--text', options.text),
    by: chart.column('--by', options.by),
    facets: chart.columns('--facet', options.facet),
    symbol: chart.column('--symbol', options.symbol),
    dash: chart.column('--dash', options.dash),
    animate: chart.column('--animate', options.animate),
    parent: chart.column('--parent', options.parent),
    id: chart.column('--id', options.id),
    to: chart.column('--to', options.to),
    ends: await chart.numbers('--band-of', options.bandOf),
    lat: await place('--lat', options.lat, /^(lat|latitude)$/i),
    lon: await place('--lon', options.lon, /^(lon|lng|long|longitude)$/i),
  }
}

/** The columns of --y in the order of --order, if it names them. */
function inOrder(ys: Column[], { order, by }: ChartOptions): Column[] {
  const names = order === undefined || by !== undefined ? [] : columnNames(order)
  const isNamed = ({ name }: Column): boolean => names.includes(name)
  if (!names.every((name) => ys.some((column) => column.name === name))) return ys
  const named = ys.filter(isNamed).sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name))
  return [...named, ...ys.filter((column) => !isNamed(column))]
}

function layoutOf(
  type: ChartType,
  options: ChartOptions,
  { x, ys, by, color, facets }: Drawn,
  isMap: boolean,
): Attributes {
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
  const settings = axisSettings(type, options, x, ys[0])
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
  if (options.locale !== undefined) {
    assertLocale(options.locale, '--locale')
    layout.meta = { ...layout.meta, locale: options.locale }
  }
  if (options.highlight) layout.meta = { ...layout.meta, highlight: options.highlight }
  if (options.scale && options.scale !== 'linear') layout.meta = { ...layout.meta, scale: options.scale }
  return layout
}

/** The axis of a column: its title and its type. */
function titledAxis(column: Column, options: ChartOptions, isX: boolean): Attributes {
  const isTitled = needsTitle(column, options)
  const text = axisTitle(column, isX ? options.zone : undefined)
  return { ...(isTitled && { title: { text } }), ...axisOf(column) }
}

/** Attributes of all traces that options name. */
function extrasOf(
  chart: Chart,
  type: ChartType,
  { trend }: ChartOptions,
  error: Column | undefined,
): Attributes {
  if (trend !== undefined) assertTrend(trend)
  return error && type !== 'lollipop'
    ? { error_y: { type: 'data', arraysrc: chart.reference(error), visible: true } }
    : {}
}

/** A trace with its values written at its points, if that is asked for. */
function labeled(type: ChartType, trace: Attributes, { labels }: ChartOptions): Attributes {
  if (!labels) return trace
  if (type === 'bar') return { ...trace, texttemplate: '%{value}', textposition: 'auto', textangle: 0 }
  if (type === 'funnel') return { ...trace, textinfo: 'value', textposition: 'auto' }
  if (type === 'waterfall') return { ...trace, textinfo: 'delta', textposition: 'outside' }
  const above = { texttemplate: '%{y}', textposition: 'top center', cliponaxis: false }
  return { ...trace, mode: `${trace.mode}+text`, ...above }
}

/** The chart with the columns of --y2, as lines on an axis of their own. */
async function withSecond(
  chart: Chart,
  { data, layout }: { data: Attributes[]; layout: Attributes },
  { y2, aggregate }: ChartOptions,
  { x }: Drawn,
  transforms: object[] | undefined,
): Promise<{ data: Attributes[]; layout: Attributes }> {
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
  return type === 'text' || type === 'boolean' ? { type: 'category', automargin: true } : {}
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
  const isLabels = along.type === 'text' || along.type === 'boolean' || along.type === 'empty'
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
