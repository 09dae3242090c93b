import { listed } from '../contract/closest.ts'
import { Problem } from '../contract/errors.ts'
import { escapedMarkup } from '../contract/markup.ts'
import { parseSort } from '../query/index.ts'
import { axisSettings } from './axes.ts'
import { Chart } from './chart.ts'
import { columnNames, nameInList } from './columns.ts'
import type { Attributes, Figure } from './figure.ts'
import { assertLocale } from './locales.ts'
import { notesOf, shapesOf } from './marks.ts'
import { SOURCE } from './names.ts'
import {
  type ChartGrid,
  type ChartOptions,
  type Column,
  flagOf,
  kindOfOption,
  withoutNone,
} from './options.ts'
import type { Facts, Spec } from './spec.ts'
import { type Drawn, makers, type Parts } from './traces.ts'
import { assertPeriods, assertTrend, assertZone, isWhole, transformsOf } from './transforms.ts'
import { type ChartType, hasTrait, takes, typedOptions, typesWith } from './types.ts'
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
  const { aggregate, top } = options
  const values = new ChartValues(client, grid.fid, type, options, note, facts)
  const chart = new Chart(values, grid, type)
  assertTaken(type, options)
  const columns = await columnsOf(chart, type, options)
  const { x, ys, by, facets, symbol, dash } = columns
  const isFaceted = facets.length > 0
  if (aggregate && columns.error)
    throw new Problem(
      'usage',
      '--error and --aggregate cannot be used together: error bars belong to single rows',
    )
  if (facets.length > 2) throw new Problem('usage', '--facet has one column, or two: rows and columns')
  if (isFaceted && options.horizontal)
    throw new Problem('usage', '--facet and --horizontal cannot be used together')
  for (const flag of ['y2', 'animate'] as const)
    if (options.horizontal && options[flag] !== undefined)
      throw new Problem('usage', `--horizontal and --${flag} cannot be used together`)
  if (type === 'ecdf' || type === 'density')
    for (const column of x ? [x, ...ys] : ys) await chart.number(x === column ? '--x' : '--y', column.name)
  if (isFaceted && options.y2 !== undefined)
    throw new Problem('usage', '--facet and --y2 cannot be used together: small charts have one axis')
  if (options.trend === 'linear' && (x?.type === 'text' || x?.type === 'boolean'))
    throw new Problem('usage', '--trend linear needs numbers or dates on the x axis', {
      hint: 'Labels have no distance from each other. --trend mean:3 follows the points in their order.',
    })
  if (options.y2 !== undefined && (options.stack === 'center' || chart.isAcross(options)))
    throw new Problem(
      'usage',
      `--y2 cannot be used with ${options.stack === 'center' ? '--stack center' : '--x columns'}`,
    )
  if (chart.isAcross(options) && !aggregate && (hasTrait(type, 'single') || hasTrait(type, 'joined')))
    await values.assertOneRow(columnNames(options.y ?? '', chart.names)[0], by, ...facets, columns.animate)
  if (options.stack === 'center' && (isFaceted || columns.animate))
    throw new Problem('usage', '--stack center cannot be used with --facet or --animate')
  if (type === 'pyramid' && by) await values.assertTwoSides(by)
  if (isFaceted && columns.animate)
    throw new Problem('usage', '--facet and --animate cannot be used together')
  const isMap = hasTrait(type, 'cells') && (options.color !== undefined || aggregate === 'count')
  if (aggregate && !x && type !== 'indicator')
    throw new Problem('usage', '--aggregate needs --x: rows with the same x become one point')
  if (options.zone !== undefined) assertZone(options.zone, x)
  if (options.per !== undefined) assertPeriods(x, options)
  if (top !== undefined && !by && type !== 'bar' && !hasTrait(type, 'slices'))
    throw new Problem('usage', '--top without --by can only be used with --type bar or pie or donut')
  if (top !== undefined && !by && (!x || ys.length > 1))
    throw new Problem('usage', '--top needs --x, and one column of --y')
  if (top === 0) throw new Problem('usage', '--top must be at least 1')
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

/** Throws `usage` for an option that the type of chart does not have. */
function assertTaken(type: ChartType, options: ChartOptions): void {
  for (const name of typedOptions)
    if (options[name] !== undefined && options[name] !== false && !takes(type, name)) {
      if (hasTrait(type, 'no axes') && AXIS_OPTIONS.has(name))
        throw new Problem('usage', `a ${type} has no axes`)
      throw new Problem(
        'usage',
        `${flagOf(name)} can only be used with --type ${typesWith(name).join(' or ')}`,
      )
    }
}

const AXIS_OPTIONS: ReadonlySet<string> = new Set(['logX', 'logY', 'rangeX', 'rangeY', 'formatY', 'unit'])

async function columnsOf(chart: Chart, type: ChartType, options: ChartOptions): Promise<Drawn> {
  const { aggregate } = options
  const isAcross = chart.isAcross(options)
  const x = isAcross ? undefined : chart.column('--x', options.x)
  const isMap = hasTrait(type, 'cells') && (options.color !== undefined || aggregate === 'count')
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

/** Throws if the chart would draw several rows as one, or more labels than anybody reads. */
async function assertReadable(
  values: ChartValues,
  type: ChartType,
  { aggregate, stack, logX, logY }: ChartOptions,
  { x, ys, by, facets, dash, animate, id }: Drawn,
  isMap: boolean,
): Promise<void> {
  if (facets.length > 0) await values.assertFewFacets(facets)
  if (animate) await values.assertFewFrames(animate)
  if (by) await values.noteOthers(by)
  const hasAxis = !hasTrait(type, 'no axes') || hasTrait(type, 'slices') || type === 'radar'
  if (x && hasAxis && type !== 'scatter' && type !== 'histogram') await values.assertFewLabels(x)
  if (!aggregate && x && hasTrait(type, 'single')) await values.assertSingle(id ?? x, by, ...facets, animate)
  if (!aggregate && x && isMap) await values.assertSingle(x, ys[0])
  const isSeveral = by !== undefined || ys.length > 1
  const isStacked = stack === undefined ? type === 'area' && isSeveral : stack !== 'none'
  if (logY && hasTrait(type, 'from zero'))
    throw new Problem(
      'usage',
      `--log-y: a ${type} chart begins at zero, which a logarithmic axis does not have`,
      {
        hint: `Use --type ${type === 'area' ? 'line' : 'dot'}.`,
      },
    )
  if (!isWhole(aggregate) && (hasTrait(type, 'slices') || isStacked))
    throw new Problem(
      'usage',
      `--aggregate ${aggregate}: ${hasTrait(type, 'slices') ? 'slices' : 'stacked series'} are parts of a whole, and these do not add up`,
      {
        hint: hasTrait(type, 'slices')
          ? 'Use --type bar, or --aggregate sum or count.'
          : 'Use --stack none, or --aggregate sum or count.',
      },
    )
  if (!aggregate && isStacked && type === 'area') {
    await values.assertOneSign(ys)
    await values.noteMissing(ys)
  }
  if (!aggregate && hasTrait(type, 'whole')) await values.assertParts(ys, `a ${type}`)
  if (!aggregate && (stack === 'percent' || stack === 'center'))
    await values.assertParts(ys, `--stack ${stack}`)
  if (stack === 'percent' && !isSeveral && type !== 'histogram')
    throw new Problem('usage', '--stack percent: of one series, each part is the whole', {
      hint: 'Give several columns with --y, or the series with --by.',
    })
  if (!aggregate && x && hasTrait(type, 'joined') && facets.length === 0 && !dash)
    await values.noteRepeated(x, by)
  if (logX && x) await values.noteLogarithms([x], '--log-x')
  if (logY && !aggregate) await values.noteLogarithms(ys, '--log-y')
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

/** Whether an axis needs a title. Dates and names of columns say what they are, unless they are dates of a zone. */
function needsTitle({ uid, type, zoned }: Column, { zone }: ChartOptions): boolean {
  if (uid === '') return false
  return (type !== 'date' && type !== 'datetime') || zoned === true || zone !== undefined
}

/** The name of a column, with the zone in which its times are drawn. */
function axisTitle({ name, zoned }: Column, zone: string | undefined): string {
  return zone ? `${spoken(name)} (${zone})` : zoned ? `${spoken(name)} (UTC)` : spoken(name)
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

/**
 * The title of a chart: the given one, or one that says what its columns are, which `meta.title` repeats, so that it is
 * known from one that somebody wrote. `--title none` is none.
 */
function titleOf(type: ChartType, options: Titled, shown: string): Attributes {
  const { title, subtitle } = options
  const meta = { theme: 'gridline' }
  const under = subtitle === undefined ? {} : { subtitle: { text: subtitle } }
  if (title === 'none') return { ...(subtitle !== undefined && { title: { text: '', ...under } }), meta }
  if (title !== undefined) return { title: { text: title, ...under }, meta }
  const text = defaultTitle(type, options, shown)
  return { title: { text, ...under }, meta: { ...meta, title: text } }
}

/** Options, with the columns of --facet. */
type Titled = ChartOptions & { facets: readonly string[] }

function defaultTitle(type: ChartType, options: Titled, shown: string): string {
  const { x, y, z, per, by, facets, symbol, dash, lat, size, color } = options
  // A rose of values counts them in classes.
  const isClassed = type === 'rose' && y !== undefined && by === undefined && options.aggregate === undefined
  const isPair = type === 'histogram2d' || type === 'hexbin'
  const isSpread = hasTrait(type, 'spread') || isPair
  const along = isSpread
    ? []
    : type === 'scatter3d' || type === 'surface'
      ? [z === undefined ? undefined : shown, x]
      : [per === undefined ? x : undefined, hasTrait(type, 'cells') ? y : undefined]
  const names = [
    ...new Set([...along, options.to, by, isClassed ? y : undefined, symbol, dash, ...facets]),
  ].flatMap((name) => (name === undefined ? [] : [spoken(name)]))
  const what = isSpread
    ? `distribution of ${[x, y?.replace(/,\s*/g, ', ')].flatMap((name) => (name === undefined ? [] : [spoken(name)])).join(isPair ? ' and ' : ', ')}`
    : isClassed
      ? 'count'
      : type === 'map'
        ? spoken(size ?? color ?? lat ?? 'places')
        : type === 'indicator' && options.aggregate === undefined
          ? `last ${shown}`
          : type === 'candlestick' || type === 'ohlc'
            ? 'prices'
            : type === 'table'
              ? ''
              : ((type === 'scatter3d' || type === 'surface') && z) || shown
  const whole = options.stack === 'percent' ? `share of ${what}` : what
  const timed = per === undefined || what === '' ? whole : `${whole} per ${per}`
  const plain = names.length === 0 || what === '' ? timed : `${timed} by ${inWords(names)}`
  const text = escapedMarkup(plain)
  // A name that is more than a word stays as it is: pH.
  return /^\p{Ll}+(?![^\s,])/u.test(plain) ? text.charAt(0).toUpperCase() + text.slice(1) : text
}

/** `a`, `a and b`, `a, b and c`. */
function inWords(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
