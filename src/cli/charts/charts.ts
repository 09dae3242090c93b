import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
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
  const facet = chart.column('--facet', options.facet)
  chart.only('--by', by, GROUPED)
  chart.only('--facet', facet, GROUPED)
  if (facet) await chart.assertFewFacets(facet, options.where)
  chart.only('--aggregate', options.aggregate, AGGREGATED)
  chart.only('--color', color, ['scatter', 'heatmap'])
  chart.only('--size', size, ['scatter'])
  const layout: Record<string, unknown> = {}
  if (options.title !== undefined) layout.title = { text: options.title }
  const titled = (column: Column | undefined) =>
    column && {
      title: { text: column === x && options.zone ? `${column.name} (${options.zone})` : column.name },
      ...axisOf(column),
    }
  layout.xaxis = titled(x)
  layout.yaxis = ys.length === 1 ? titled(ys[0]) : undefined
  if (ys.length > 1) layout.showlegend = true
  const shared = { xsrc: chart.reference(x), textsrc: chart.reference(text) }
  const { aggregate } = options
  if (options.zone !== undefined) assertZone(options.zone, x)
  chart.only('--per', options.per, PERIODIC)
  if (options.per !== undefined) assertPeriods(x, options)
  if (options.top !== undefined && !by) chart.only('--top without --by', options.top, ['bar', 'pie'])
  if (options.top === 0) throw new Problem('usage', '--top must be at least 1')
  const selected = chart.selection(options)
  const sources = { by: chart.reference(by), facet: chart.reference(facet) }
  const transforms = transformsOf(type, sources, selected, options, { x, y: ys[0] })
  if (by) {
    layout.showlegend = true
    await chart.noteOthers(by, options, note)
  }
  if (
    !aggregate &&
    x &&
    ((!by && !facet && (type === 'bar' || type === 'pie')) || (type === 'heatmap' && color))
  )
    await chart.assertSingle(x, options.where, type === 'heatmap' ? ys[0] : undefined)
  const lines = type === 'line' ? await chart.lineOf(x, ys, options, note) : undefined
  const each = (make: (y: Column) => object): object[] =>
    ys.map((y) => ({
      name: y.name,
      ...shared,
      ysrc: chart.reference(y),
      ...make(y),
      transforms: lines?.transforms ?? transforms,
    }))
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
      return { data: each((y) => ({ type: 'scatter', ...lines?.styles.get(y) })), layout }
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
