import type { Client } from '../../client/index.ts'
import { closest, listed } from '../../contract/closest.ts'
import { Problem } from '../../contract/errors.ts'
import type { GridMeta } from '../../contract/resources/index.ts'
import { boundWhere, columnsOf, parseSort, parseWhere, type QueryType, sortText } from '../../query/index.ts'
import type { Option } from '../core/define.ts'
import { sortOption, whereOption } from '../core/row-options.ts'
import { typeName } from '../output/view.ts'
import { columnNames } from './columns.ts'

/** Types of charts that are made from the columns of a grid. */
export const chartTypes = [
  'scatter',
  'line',
  'bar',
  'area',
  'box',
  'violin',
  'histogram',
  'heatmap',
  'pie',
] as const
export type ChartType = (typeof chartTypes)[number]

/** What `--aggregate` computes of the rows with the same x. */
const aggregateFunctions = ['sum', 'mean', 'median', 'min', 'max', 'count', 'first', 'last'] as const

/** Periods that dates are put together in. */
const periods = ['day', 'week', 'month', 'quarter', 'year'] as const
/** Series of a chart, as the service draws them. */
const MOST_SERIES = 1000
/** Series that one can tell apart: without --top, there are not more. */
const TOP_SERIES = 12

/** Options that say what a chart shows. */
export const chartOptions = [
  { flags: '--x <column>', description: 'column of the x axis; pie: labels' },
  { flags: '--y <columns>', description: 'columns of the y axis, comma-separated; pie: values' },
  {
    flags: '--color <column>',
    description: 'column of numbers that colors the points of a scatter or the cells of a heatmap',
  },
  { flags: '--size <column>', description: 'column of numbers that sizes the points of a scatter' },
  { flags: '--text <column>', description: 'column with the text shown for each point' },
  {
    flags: '--by <column>',
    description: 'column whose values become series of their own, such as the city of each row',
  },
  {
    flags: '--aggregate <function>',
    description: 'what is shown of rows with the same x: their sum, mean …',
    choices: aggregateFunctions,
  },
  {
    flags: '--per <period>',
    description: 'with --aggregate: one point for each day, week, month, quarter or year of a date axis',
    choices: periods,
  },
  {
    flags: '--top <n>',
    description: 'show only the largest n: series with --by (default: 12), otherwise bars or slices',
    integer: { max: MOST_SERIES },
  },
  whereOption,
  sortOption,
  { flags: '--title <text>', description: 'title of the chart' },
] as const satisfies readonly Option[]

export interface ChartOptions {
  x?: string
  y?: string
  color?: string
  size?: string
  text?: string
  by?: string
  aggregate?: (typeof aggregateFunctions)[number]
  per?: (typeof periods)[number]
  top?: number
  where?: string
  sort?: string
  title?: string
}

type Column = Pick<GridMeta['cols'][number], 'name' | 'type' | 'uid' | 'date_order'> & {
  /** The first value of each type, where the table was read here. */
  seen?: readonly { text: string }[]
}

/** A grid, as far as charts need it. */
type ChartGrid = Pick<GridMeta, 'fid' | 'filename'> & { cols: readonly Column[] }

/** Values of a text column that are read to say why it is not a number. */
const SAMPLE_ROWS = 100
/** Different cells of a heatmap that are counted. */
const MOST_CELLS = 1_000_000
/** Diameter of the largest point sized by a column, in pixels. */
const LARGEST_POINT_PIXELS = 40

/** A figure whose traces refer to columns of a grid, so that it changes with the grid. Throws `usage`. */
export async function chartOf(
  client: Client | undefined,
  grid: ChartGrid,
  type: ChartType,
  options: ChartOptions,
  note: (text: string) => void = () => {},
): Promise<object> {
  const chart = new Chart(client, grid, type)
  const x = chart.column('--x', options.x)
  const ys = await chart.yColumns(options.y, type === 'heatmap' && options.color !== undefined)
  const color = await chart.number('--color', options.color)
  const size = await chart.number('--size', options.size)
  const text = chart.column('--text', options.text)
  const by = chart.column('--by', options.by)
  chart.only('--by', by, GROUPED)
  chart.only('--aggregate', options.aggregate, AGGREGATED)
  chart.only('--color', color, ['scatter', 'heatmap'])
  chart.only('--size', size, ['scatter'])
  const layout: Record<string, unknown> = {}
  if (options.title !== undefined) layout.title = { text: options.title }
  const titled = (column: Column | undefined) => column && { title: { text: column.name }, ...axisOf(column) }
  layout.xaxis = titled(x)
  layout.yaxis = ys.length === 1 ? titled(ys[0]) : undefined
  if (ys.length > 1) layout.showlegend = true
  const shared = { xsrc: chart.reference(x), textsrc: chart.reference(text) }
  const { aggregate } = options
  chart.only('--per', options.per, PERIODIC)
  if (options.per !== undefined) assertPeriods(x, options)
  if (options.top !== undefined && !by) chart.only('--top without --by', options.top, ['bar', 'pie'])
  if (options.top === 0) throw new Problem('usage', '--top must be at least 1')
  const selected = chart.selection(options)
  const transforms = transformsOf(type, chart.reference(by), selected, options, { x, y: ys[0] })
  if (by) {
    layout.showlegend = true
    await chart.noteOthers(by, options, note)
  }
  if (!aggregate && x && ((!by && (type === 'bar' || type === 'pie')) || (type === 'heatmap' && color)))
    await chart.assertSingle(x, options.where, type === 'heatmap' ? ys[0] : undefined)
  const each = (make: (y: Column) => object): object[] =>
    ys.map((y) => ({ name: y.name, ...shared, ysrc: chart.reference(y), ...make(y), transforms }))
  switch (type) {
    case 'scatter': {
      const marker = (color || size) && {
        colorsrc: chart.reference(color),
        ...(color && { showscale: true, colorbar: { title: { text: color.name } } }),
        sizesrc: chart.reference(size),
        ...(size && { sizemode: 'area', sizeref: await chart.sizeRef(size), sizemin: 2 }),
      }
      return { data: each(() => ({ type: 'scatter', mode: 'markers', marker })), layout }
    }
    case 'line':
      return { data: each(() => ({ type: 'scatter', mode: 'lines' })), layout }
    case 'area':
      return {
        data: each(() => ({
          type: 'scatter',
          mode: 'lines',
          ...(ys.length > 1 || by ? { stackgroup: 'one' } : { fill: 'tozeroy' }),
        })),
        layout,
      }
    case 'bar':
      return {
        data: each(() => ({ type: 'bar' })),
        layout: { ...layout, barmode: ys.length > 1 || by ? 'group' : undefined },
      }
    case 'box':
    case 'violin':
      return { data: each(() => ({ type })), layout }
    case 'histogram': {
      // One column makes a histogram, given as x or as y.
      const columns = x ? [x, ...ys] : ys
      const data = columns.map((column) => ({
        type,
        name: column.name,
        xsrc: chart.reference(column),
        transforms,
      }))
      return {
        data,
        layout: {
          ...layout,
          xaxis: columns.length === 1 ? titled(columns[0]) : undefined,
          yaxis: { title: { text: 'count' } },
          barmode: columns.length > 1 || by ? 'overlay' : undefined,
        },
      }
    }
    case 'heatmap': {
      if (color)
        return {
          data: each(() => ({ type, zsrc: chart.reference(color), transforms })).slice(0, 1),
          layout,
        }
      if (ys.length < 2)
        throw new Problem('usage', 'a heatmap needs the values of its cells', {
          hint: 'Give them with --color COLUMN, or give several columns with --y.',
        })
      // Each y column is a column of the map; x labels its rows.
      const zsrc = `${grid.fid}:${ys.map(({ uid }) => uid).join(',')}`
      const ticks = { tickmode: 'array', tickvals: ys.map((_, k) => k), ticktext: ys.map(({ name }) => name) }
      return {
        data: [{ type, zsrc, ysrc: chart.reference(x) }],
        layout: { ...layout, xaxis: ticks, yaxis: { ...titled(x), autorange: 'reversed' } },
      }
    }
    case 'pie': {
      const { title } = layout
      return {
        data: ys.slice(0, 1).map((y) => ({
          type,
          labelssrc: chart.reference(x),
          valuessrc: chart.reference(y),
          textsrc: chart.reference(text),
          transforms,
        })),
        layout: { title },
      }
    }
  }
}

/** Types that can have a series for each value of a column, and types of which several rows can be one point. */
const GROUPED: readonly ChartType[] = ['scatter', 'line', 'bar', 'area', 'box', 'violin', 'histogram']
const AGGREGATED: readonly ChartType[] = ['scatter', 'line', 'bar', 'area', 'pie', 'heatmap']
const PERIODIC: readonly ChartType[] = ['scatter', 'line', 'bar', 'area', 'heatmap']

/** What the service evaluates before the chart is drawn: see docs/api.md#transforms and docs/api.md#own-transforms. */
function transformsOf(
  type: ChartType,
  groupssrc: string | undefined,
  selected: object | undefined,
  { aggregate, per, top, sort }: ChartOptions,
  drawn: { x: Column | undefined; y: Column | undefined },
): object[] | undefined {
  const [groups, target] = type === 'pie' ? ['labels', 'values'] : ['x', 'y']
  const func = aggregate === 'mean' ? 'avg' : aggregate
  // Points of several groups at one x cannot be one line or one bar.
  const isOfOne = !func && (type === 'line' || type === 'area' || type === 'bar')
  const other = isOfOne ? (type === 'line' ? 'avg' : 'sum') : undefined
  // Sums are ordered, not the rows that they are made of.
  const sorted = aggregate && sort !== undefined ? parseSort(sort) : []
  const ordered = sorted.toReversed().flatMap(({ name, descending }) => {
    const axis = name === drawn.y?.name ? target : name === drawn.x?.name ? groups : undefined
    return axis ? [{ type: 'sort', target: axis, order: descending ? 'descending' : 'ascending' }] : []
  })
  const transforms = [
    ...(selected ? [selected] : []),
    ...(per ? [{ type: 'per', target: 'x', unit: per }] : []),
    ...(groupssrc ? [{ type: 'groupby', groupssrc, top: top ?? TOP_SERIES, other }] : []),
    ...(func && type !== 'heatmap' ? [{ type: 'aggregate', groups, aggregations: [{ target, func }] }] : []),
    ...(func && type === 'heatmap' ? [{ type: 'cells', func }] : []),
    // Lines go from point to point, so the points of each series are in the order of the axis.
    ...((groupssrc || func) && sort === undefined && (type === 'line' || type === 'area')
      ? [{ type: 'sort', target: 'x' }]
      : []),
    ...ordered,
    ...(top !== undefined && !groupssrc
      ? [
          {
            type: 'top',
            count: top,
            target,
            labels: groups,
            // The slices of a pie are parts of a whole.
            other: type === 'pie' && (func === undefined || func === 'sum' || func === 'count'),
          },
        ]
      : []),
  ]
  return transforms.length > 0 ? transforms : undefined
}

/** Throws `usage` for --per without dates on the x axis, or without --aggregate. */
function assertPeriods(x: Column | undefined, { aggregate, x: name }: ChartOptions): void {
  if (!x || (x.type !== 'date' && x.type !== 'datetime' && x.type !== 'empty'))
    throw new Problem(
      'usage',
      x
        ? `--per needs dates on the x axis; the column ${name} holds ${typeName(x.type)} values`
        : '--per needs --x with a column of dates',
      {
        hint: x
          ? `Read the file with --column ${JSON.stringify(`${name}:date`)} if they are dates.`
          : undefined,
      },
    )
  if (!aggregate)
    throw new Problem('usage', '--per puts several rows together, so it needs --aggregate', {
      hint: 'For example: --per month --aggregate sum',
    })
}

/** Checks the options of a chart against a table that is not uploaded. Throws `usage`. */
export async function checkChart(
  filename: string,
  columns: readonly {
    name: string
    type: string
    dateOrder?: string
    seen?: readonly { text: string }[]
  }[],
  type: ChartType,
  options: ChartOptions,
): Promise<void> {
  const cols = columns.map(({ dateOrder, ...column }) => {
    const type = column.type === 'datetime-zone' ? 'datetime' : column.type
    return { ...column, type, date_order: dateOrder, uid: '' } as Column
  })
  await chartOf(undefined, { fid: '', filename, cols }, type, options)
}

/**
 * The type of the axis of a column, as plotly.js names it: zip codes are labels, and dates are times. Numbers need none.
 * Throws `bad_data` for dates that can be read in two ways.
 */
function axisOf({ name, type, date_order }: Column): { type?: 'category' | 'date' } {
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
  return type === 'text' || type === 'boolean' ? { type: 'category' } : {}
}

class Chart {
  constructor(
    private readonly client: Client | undefined,
    private readonly grid: ChartGrid,
    private readonly type: ChartType,
  ) {}

  /** The column of an option. Throws with the name meant if there is none. */
  column(flag: string, name: string | undefined): Column | undefined {
    if (name === undefined) return undefined
    const { cols, filename } = this.grid
    const found = cols.find((column) => column.name === name)
    if (found) return found
    const names = cols.map((column) => column.name)
    const meant = closest(name, names)
    throw new Problem('unknown_column', `${flag} ${name}: the grid ${filename} has no column of that name`, {
      hint: meant === undefined ? `Columns: ${listed(names)}` : `Did you mean ${meant}?`,
    })
  }

  /** A column that must hold numbers. */
  async number(flag: string, name: string | undefined): Promise<Column | undefined> {
    const column = this.column(flag, name)
    if (column) await this.assertNumbers(flag, column)
    return column
  }

  /** The columns of --y. They hold numbers, unless they are an axis only. */
  async yColumns(given: string | undefined, isAxis: boolean): Promise<Column[]> {
    const isHistogram = this.type === 'histogram'
    if (given === undefined) {
      if (isHistogram) return []
      throw new Problem('usage', `a ${this.type} chart needs --y`, {
        hint: `Columns: ${listed(this.grid.cols.map(({ name }) => name))}`,
      })
    }
    const names = this.grid.cols.map(({ name }) => name)
    const columns = columnNames(given, names).map((name) => this.column('--y', name)!)
    if (this.type === 'pie' && columns.length > 1) throw new Problem('usage', '--y: a pie shows one column')
    if (!isHistogram && !isAxis) for (const column of columns) await this.assertNumbers('--y', column)
    return columns
  }

  private async assertNumbers(flag: string, column: Column): Promise<void> {
    const { name, type } = column
    if (type === 'number' || type === 'empty' || type === undefined) return
    const texts = await this.sample(column)
    const shown = texts.find((text) => typeof text === 'string' && Number.isNaN(Number(text))) as
      | string
      | undefined
    const reason = reasonOf(texts)
    const example = shown === undefined ? undefined : `for example ${JSON.stringify(shown.slice(0, 40))}`
    const why = [reason, example].filter(Boolean).join(', ')
    const numbers = this.grid.cols.filter((one) => one.type === 'number').map((one) => one.name)
    const again =
      reason === 'decimal commas'
        ? 'read the file with --decimal , and, if points separate thousands, --thousands . (or with --locale, such as --locale de)'
        : reason === 'thousands separators'
          ? 'read the file with --thousands and the separator'
          : `read the file with --column ${JSON.stringify(`${name}:number`)}${texts.some((text) => /,\d{1,2}(?!\d)/.test(String(text))) ? ' --decimal ,' : ''}${texts.some((text) => /\d\.\d{3},/.test(String(text))) ? ' --thousands .' : ''}`
    const asNumbers = `write them with a decimal point and without units, and upload the file again with --column ${JSON.stringify(`${name}:number`)} --on-conflict replace`
    throw new Problem(
      'usage',
      `${flag} ${name}: the column holds ${typeName(type)} values, not numbers${why && ` (${why})`}`,
      {
        hint: reason
          ? `To load them as numbers, ${again}; of a grid that exists, upload the file again with --on-conflict replace.`
          : numbers.length > 0
            ? `Columns of numbers: ${listed(numbers)}.`
            : `If they are numbers, ${asNumbers}.`,
      },
    )
  }

  /** The first values of a column. */
  private async sample(column: Column): Promise<unknown[]> {
    if (!this.client) return (column.seen ?? []).map(({ text }) => text)
    const query = { columns: [column.name], head: SAMPLE_ROWS, format: 'json' as const }
    const response = await this.client.response('grids.content', { fid: this.grid.fid, query })
    const content = (await response.json()) as { cols: Record<string, { data: unknown[] }> }
    return content.cols[column.name]?.data ?? []
  }

  /** The value per pixel that draws the largest value of a column as the largest point. */
  async sizeRef(column: Column): Promise<number> {
    if (!this.client) return 1
    const query = { uid: column.uid }
    const response = await this.client.response('columns.get', { fid: this.grid.fid, query })
    const { cols } = (await response.json()) as { cols: { data: unknown[] }[] }
    let most = 0
    for (const value of cols[0].data) if (typeof value === 'number' && value > most) most = value
    return most === 0 ? 1 : (2 * most) / LARGEST_POINT_PIXELS ** 2
  }

  /** The transform that keeps and sorts rows; undefined without --where and --sort. Throws `usage` and `unknown_column`. */
  selection({ where, sort, aggregate, x, y }: ChartOptions): object | undefined {
    const condition = where === undefined ? undefined : parseWhere(where)
    // With --aggregate, the axes are sorted after it.
    const keys = sort === undefined ? [] : parseSort(sort)
    const before = keys.filter(({ name }) => !aggregate || (name !== x && name !== y))
    const named = [
      ...new Set([...(condition ? columnsOf(condition.expression) : []), ...keys.map(({ name }) => name)]),
    ]
    const columns = named.map((name) => this.column(sort?.includes(name) ? '--sort' : '--where', name)!)
    if (condition)
      boundWhere(
        condition,
        columns.map(({ name, type }) => ({ name, type: type as QueryType })),
      )
    if (!condition && before.length === 0) return undefined
    return {
      type: 'rows',
      where,
      sort: before.length === 0 ? undefined : before.map(sortText).join(','),
      names: named,
      valuessrc: `${this.grid.fid}:${columns.map(({ uid }) => uid).join(',')}`,
    }
  }

  /**
   * Throws `bad_data` if several rows have the same value, or the same pair of values: their bars or cells would be drawn
   * over each other.
   */
  async assertSingle({ name }: Column, where: string | undefined, second?: Column): Promise<void> {
    if (!this.client) return
    const { rows, distinct } = second
      ? await this.pairs(this.client, [name, second.name], where)
      : await this.distinct(this.client, name, where)
    if (distinct >= rows || distinct === 0) return
    const by = GROUPED.includes(this.type) ? ', or show the rows of each category with --by COLUMN' : ''
    const what = second
      ? `${rows} rows have ${distinct} different cells of ${name} and ${second.name}, so a ${this.type} would show one row of several`
      : `${rows} rows have ${distinct} different values, so a ${this.type} chart would show several rows as one`
    throw new Problem('bad_data', `--x ${name}: ${what}`, {
      field: name,
      hint: `Add --aggregate sum (or mean, count …)${by}.`,
    })
  }

  /** Says how many values of --by are not series of their own. */
  async noteOthers(
    { name }: Column,
    { where, top }: ChartOptions,
    note: (text: string) => void,
  ): Promise<void> {
    if (!this.client) return
    const { distinct } = await this.distinct(this.client, name, where)
    const most = top ?? TOP_SERIES
    if (distinct <= most) return
    const own = Math.max(1, most - 1)
    note(
      `--by ${name}: the column has ${distinct} values; the ${own} largest are series of their own, and the other ${distinct - own} are one series, other (to show more, use --top ${Math.min(distinct, MOST_SERIES)})`,
    )
  }

  private async distinct(client: Client, name: string, where: string | undefined) {
    const query = { columns: [name], where }
    const described = (await client.call('grids.describe', { fid: this.grid.fid, query })).columns[0]
    const rows = described.rows - described.nulls
    return { rows, distinct: described.distinct_is_exact ? described.distinct : rows }
  }

  /** How many rows have both values, and how many different pairs there are. */
  private async pairs(client: Client, columns: string[], where: string | undefined) {
    const query = { columns, where, format: 'ndjson' as const }
    const response = await client.response('grids.content', { fid: this.grid.fid, query })
    const seen = new Set<string>()
    let rows = 0
    let rest = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.bytes()) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop()!
      rows += lines.length
      for (const line of lines) if (seen.size < MOST_CELLS) seen.add(line)
    }
    return { rows, distinct: seen.size < MOST_CELLS ? seen.size : rows }
  }

  only(flag: string, given: unknown, types: readonly ChartType[]): void {
    if (given !== undefined && !types.includes(this.type))
      throw new Problem('usage', `${flag} can only be used with --type ${types.join(' or ')}`)
  }

  reference(column: Column | undefined): string | undefined {
    return column && `${this.grid.fid}:${column.uid}`
  }
}

/** Why numbers were read as text; undefined if they do not look like numbers. */
function reasonOf(values: readonly unknown[]): string | undefined {
  const texts = values.filter((value) => typeof value === 'string').map((text) => text.trim())
  const some = (pattern: RegExp): boolean => texts.some((text) => pattern.test(text))
  if (some(/^[-+]?[\d. ]*\d,\d+$/)) return 'decimal commas'
  if (some(/^[-+]?\d{1,3}([,' \u00a0\u202f]\d{3})+(\.\d+)?$/)) return 'thousands separators'
  if (some(/[$€£¥₹]|\b(USD|EUR|GBP|CHF|JPY)\b/)) return 'currency'
  if (some(/^[-+]?[\d.,]+\s*%$/)) return 'percent signs'
  return undefined
}
