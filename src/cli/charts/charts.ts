import type { Client } from '../../client/index.ts'
import { listed } from '../../contract/closest.ts'
import { Problem } from '../../contract/errors.ts'
import { parseSort } from '../../query/index.ts'
import { axisSettings } from './axes.ts'
import { Chart } from './chart.ts'
import {
  AGGREGATED,
  type ChartGrid,
  type ChartOptions,
  type ChartType,
  type Column,
  GROUPED,
  PERIODIC,
} from './options.ts'
import { assertPeriods, assertZone, transformsOf } from './transforms.ts'
import { ChartValues } from './values.ts'

/** A figure whose traces refer to columns of a grid, so that it changes with the grid. Throws `usage`. */
export async function chartOf(
  client: Client | undefined,
  grid: ChartGrid,
  type: ChartType,
  options: ChartOptions,
  note: (text: string) => void = () => {},
): Promise<object> {
  const { aggregate } = options
  const values = new ChartValues(client, grid.fid, type, options, note)
  const chart = new Chart(values, grid, type)
  const x = chart.column('--x', options.x)
  const isMap = type === 'heatmap' && (options.color !== undefined || aggregate === 'count')
  const ys = await chart.yColumns(options.y, isMap, aggregate === 'count' && type !== 'heatmap')
  const color = await chart.number('--color', options.color)
  const size = await chart.number('--size', options.size)
  const text = chart.column('--text', options.text)
  const by = chart.column('--by', options.by)
  const facet = chart.column('--facet', options.facet)
  chart.only('--by', by, GROUPED)
  chart.only('--facet', facet, GROUPED)
  chart.only('--aggregate', aggregate, AGGREGATED)
  chart.only('--color', color, ['scatter', 'heatmap'])
  chart.only('--size', size, ['scatter'])
  chart.only('--per', options.per, PERIODIC)
  if (aggregate && !x)
    throw new Problem('usage', '--aggregate needs --x: rows with the same x become one point')
  if (options.zone !== undefined) assertZone(options.zone, x)
  if (options.per !== undefined) assertPeriods(x, options)
  if (options.top !== undefined && !by) chart.only('--top without --by', options.top, ['bar', 'pie'])
  if (options.top !== undefined && !by && (!x || ys.length > 1))
    throw new Problem('usage', '--top needs --x, and one column of --y')
  if (options.top === 0) throw new Problem('usage', '--top must be at least 1')
  const selected = chart.selection(options)
  await values.prepare([x, by, facet, ...ys.slice(0, 1)])
  if (facet) await values.assertFewFacets(facet)
  if (by) await values.noteOthers(by)
  if (x && type !== 'scatter' && type !== 'histogram') await values.assertFewLabels(x)
  const isSingle = type === 'bar' || type === 'pie'
  if (!aggregate && x && isSingle && !facet) await values.assertSingle(x, by)
  if (!aggregate && x && isMap) await values.assertSingle(x, ys[0])

  const titled = (column: Column | undefined) =>
    column && {
      ...(needsTitle(column, options) && {
        title: { text: axisTitle(column, column === x ? options.zone : undefined) },
      }),
      ...axisOf(column),
    }
  const computed = aggregate && (aggregate === 'count' ? 'count' : ys[0] && `${aggregate} of ${ys[0].name}`)
  const shown =
    type === 'heatmap' && color ? (aggregate ? `${aggregate} of ${color.name}` : color.name) : computed
  const layout: Record<string, unknown> = titleOf(
    type,
    options,
    shown ??
      listed(
        ys.map(({ name }) => name),
        3,
      ),
  )
  layout.xaxis = x && { ...titled(x), ...orderOf(x, ys[0], type, options) }
  if (aggregate && !isMap) layout.yaxis = ys.length > 1 ? undefined : { title: { text: computed } }
  else
    layout.yaxis =
      ys.length === 1
        ? { ...titled(ys[0]), ...(isMap && orderOf(ys[0], undefined, type, options)) }
        : undefined
  const settings = axisSettings(type, options, x)
  if (Object.keys(settings.x).length > 0) layout.xaxis = { ...(layout.xaxis as object), ...settings.x }
  if (Object.keys(settings.y).length > 0) layout.yaxis = { ...(layout.yaxis as object), ...settings.y }
  if (ys.length > 1 || by) layout.showlegend = true
  const shared = { xsrc: chart.reference(x), textsrc: chart.reference(text) }
  const lines = type === 'line' && !by && !facet && !aggregate ? await values.lines(x, ys) : undefined
  const sources = { by: chart.reference(by), facet: chart.reference(facet) }
  const transforms = transformsOf(
    type,
    sources,
    selected,
    options,
    { x, y: ys[0] },
    lines?.isSorted === false,
  )
  const each = (make: (y: Column | undefined) => object): object[] =>
    (ys.length === 0 ? [undefined] : ys).map((y) => ({
      name: y?.name ?? 'count',
      ...shared,
      ysrc: chart.reference(y),
      ...make(y),
      transforms,
    }))
  switch (type) {
    case 'scatter': {
      const marker = (color || size) && {
        colorsrc: chart.reference(color),
        ...(color && { showscale: true, colorbar: { title: { text: color.name } } }),
        sizesrc: chart.reference(size),
        ...(size && { sizemode: 'area', sizeref: await values.sizeRef(size), sizemin: 2 }),
      }
      return { data: each(() => ({ type: 'scatter', mode: 'markers', marker })), layout }
    }
    case 'line': {
      // A point beside gaps has no line.
      const style = (y: Column | undefined) =>
        y && lines?.gaps.has(y) ? { mode: 'lines+markers', marker: { size: 4 } } : { mode: 'lines' }
      return { data: each((y) => ({ type: 'scatter', ...style(y) })), layout }
    }
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
        ...(columns.length > 1 && !by && { opacity: 0.6 }),
        transforms,
      }))
      return {
        data,
        layout: {
          ...layout,
          xaxis: { ...(columns.length === 1 && titled(columns[0])), ...settings.x },
          yaxis: { title: { text: 'count' }, ...settings.y },
          // Categories are parts of one whole; different columns are not.
          barmode: by ? 'stack' : columns.length > 1 ? 'overlay' : undefined,
        },
      }
    }
    case 'heatmap': {
      if (isMap) {
        const what =
          aggregate === 'count' ? 'count' : aggregate ? `${aggregate} of ${color!.name}` : color!.name
        const colorbar = { title: { text: what } }
        return { data: each(() => ({ type, zsrc: chart.reference(color), colorbar })).slice(0, 1), layout }
      }
      if (transforms)
        throw new Problem('usage', 'a heatmap of several columns shows all rows, in their order', {
          hint: 'Give the values of its cells with --color COLUMN to choose, sort or aggregate rows.',
        })
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
      const { title, meta } = layout
      return {
        data: [
          {
            type,
            labelssrc: chart.reference(x),
            valuessrc: chart.reference(ys[0]),
            ...(options.sort !== undefined && { sort: false }),
            textsrc: chart.reference(text),
            transforms,
          },
        ],
        layout: { title, meta },
      }
    }
  }
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
    return {
      ...column,
      type,
      date_order: dateOrder,
      zoned: column.type === 'datetime-zone',
      uid: '',
    } as Column
  })
  await chartOf(undefined, { fid: '', filename, cols }, type, options)
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

/** Whether an axis needs a title. Dates say what they are, unless they are those of a zone. */
function needsTitle({ type, zoned }: Column, { zone }: ChartOptions): boolean {
  return (type !== 'date' && type !== 'datetime') || zoned === true || zone !== undefined
}

/** The name of a column, with the zone in which its times are drawn. */
function axisTitle({ name, zoned }: Column, zone: string | undefined): string {
  return zone ? `${name} (${zone})` : zoned ? `${name} (UTC)` : name
}

/** The order of labels on an axis: by their name, or by the sum of what is drawn. Throws `usage` for other axes. */
function orderOf(
  along: Column,
  drawn: Column | undefined,
  type: ChartType,
  { sort, aggregate }: ChartOptions,
): { categoryorder?: string } {
  const keys = sort === undefined || type === 'pie' ? [] : parseSort(sort)
  const key = keys.find(({ name }) => name === along.name || name === drawn?.name)
  const isLabels = along.type === 'text' || along.type === 'boolean' || along.type === 'empty'
  if (!isLabels && (key || (aggregate && keys.length > 0)) && type !== 'heatmap')
    throw new Problem(
      'usage',
      `--sort: the axis of ${along.name} is in the order of its ${along.type === 'number' ? 'numbers' : 'dates'}`,
    )
  if (!key || !isLabels) return {}
  const direction = key.descending ? 'descending' : 'ascending'
  return { categoryorder: `${key.name === along.name ? 'category' : 'total'} ${direction}` }
}

/**
 * The title of a chart: the given one, or one that says what its columns are, which `meta.title` repeats, so that it is
 * known from one that somebody wrote. `--title none` is none.
 */
function titleOf(
  type: ChartType,
  { title, x, y, per, by, facet }: ChartOptions,
  shown: string,
): { title?: { text: string }; meta: { theme: string; title?: string } } {
  const theme = 'gridline'
  if (title === 'none') return { meta: { theme } }
  if (title !== undefined) return { title: { text: title }, meta: { theme } }
  const along = type === 'histogram' ? [] : [per ?? x, type === 'heatmap' ? y : undefined]
  const names = [...new Set([...along, by, facet])].filter((name) => name !== undefined)
  const what =
    type === 'histogram'
      ? `distribution of ${[x, y?.replace(/,\s*/g, ', ')].filter((name) => name !== undefined).join(', ')}`
      : shown
  const plain = names.length === 0 ? what : `${what} by ${inWords(names)}`
  const escaped = plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const text = escaped.charAt(0).toUpperCase() + escaped.slice(1)
  return { title: { text }, meta: { theme, title: text } }
}

/** `a`, `a and b`, `a, b and c`. */
function inWords(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
