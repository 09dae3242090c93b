// Makers of bars, ranges, prices and other charts of bars.
import { Problem } from '../../../contract/errors.ts'
import type { Attributes } from '../../figure/figure.ts'
import type { Column } from '../../spec/options.ts'
import type { ChartType } from '../../spec/types.ts'
import { centered, type Made, type Makers, type Parts, percent, pointsOf, withoutAxes } from '../parts.ts'

export const barsMakers = {
  async bar(parts) {
    const { each, layout, columns, options } = parts
    const { stack } = options
    const marker = await pointsOf(parts)
    const isSeveral = columns.ys.length > 1 || columns.by !== undefined
    const barmode =
      stack === undefined ? (isSeveral ? 'group' : undefined) : stack === 'none' ? 'group' : 'relative'
    return {
      data: each(() => ({ type: 'bar', marker })),
      layout: {
        ...centered(percent(layout, stack), stack),
        barmode,
        ...(stack === 'percent' && { barnorm: 'percent' }),
      },
    }
  },
  range: (parts) => {
    const [low, high] = endsOf('range', parts)
    return { data: [spanOf(parts, low, high, {})], layout: { ...parts.layout, showlegend: false } }
  },
  dumbbell: (parts) => {
    const ends = endsOf('dumbbell', parts)
    const points = parts.each(() => ({ type: 'scatter', mode: 'markers', marker: { size: 11 } }))
    const bar = { width: 0.06, marker: { color: '#a0a0a0' }, showlegend: false, hoverinfo: 'skip' }
    return { data: [spanOf(parts, ...ends, bar), ...points], layout: parts.layout }
  },
  timeline: (parts) => {
    const [start, end] = endsOf('timeline', parts)
    const { layout, axis, columns } = parts
    const isTime = ({ type }: Column): boolean => type === 'date' || type === 'datetime'
    // Years are numbers: both columns must be numbers, or both dates.
    const kinds = [start, end].filter(({ type }) => type !== 'empty')
    if (!kinds.every(isTime) && !kinds.every(({ type }) => type === 'number'))
      throw new Problem(
        'usage',
        `--y ${start.name},${end.name}: a timeline needs two columns of dates, or two of years`,
      )
    const { title: _, ...dates } = { ...axis(end), ...axis(start) }
    const timelineLayout = {
      ...layout,
      ...(columns.by ? { showlegend: true } : { showlegend: false }),
      yaxis: { ...dates, ...parts.settings.y },
      barmode: 'overlay',
      meta: { ...layout.meta, horizontal: true },
    }
    return { data: [spanOf(parts, start, end, {}, { isTime: true })], layout: timelineLayout }
  },
  pyramid: (parts) => {
    const { each, layout, columns } = parts
    if (columns.ys.length !== (columns.by ? 1 : 2))
      throw new Problem('usage', 'a pyramid needs two columns with --y, one for each side, or one and --by')
    const [left, right] = each(() => ({ type: 'bar' }))
    const pyramidLayout = { ...layout, barmode: 'relative', meta: { ...layout.meta, horizontal: true } }
    if (columns.by) {
      const sides = (left.transforms as Attributes[]).map((transform) =>
        transform.type === 'groupby' ? { ...transform, sides: true } : transform,
      )
      return {
        data: [{ ...left, hovertemplate: '%{y}: %{customdata}', transforms: sides }],
        layout: pyramidLayout,
      }
    }
    const mirrored = (side: Attributes, type: string): Attributes => ({
      ...side,
      hovertemplate: '%{y}: %{customdata}',
      transforms: [...(side.transforms ?? []), { type }],
    })
    return {
      data: [mirrored(left, 'negate'), mirrored(right, 'amounts')],
      layout: pyramidLayout,
    }
  },
  funnel({ chart, each, layout, columns: { x, ys } }) {
    const { xaxis: _, yaxis: __, ...rest } = layout
    return {
      data: each((y) => ({
        type: 'funnel',
        orientation: 'h',
        xsrc: chart.reference(y),
        ysrc: chart.reference(x),
        textinfo: 'value',
      })),
      layout: { ...rest, yaxis: { type: 'category' }, ...(ys.length > 1 && { showlegend: true }) },
    }
  },
  waterfall: ({ each, layout }) => ({ data: each(() => ({ type: 'waterfall' })), layout }),
  candlestick: (parts) => prices('candlestick', parts),
  ohlc: (parts) => prices('ohlc', parts),
} satisfies Makers

/** Returns the two --y columns. Throws `usage` for another number. */
function endsOf(type: ChartType, { columns: { ys } }: Parts): [Column, Column] {
  const [low, high] = ys
  if (ys.length !== 2) throw new Problem('usage', `a ${type} needs two columns with --y: from,to`)
  return [low, high]
}

/** Returns a trace of bars from one column to another. */
function spanOf(
  { chart, columns: { x, text }, transforms }: Parts,
  low: Column,
  high: Column,
  style: Attributes,
  more: Attributes = {},
): Attributes {
  return {
    ...{ type: 'bar', name: `${low.name} to ${high.name}`, xsrc: chart.reference(x) },
    ...{ basesrc: chart.reference(low), ysrc: chart.reference(high), textsrc: chart.reference(text) },
    ...style,
    transforms: [...(transforms ?? []), { type: 'span', ...more }],
  }
}

/** Price columns, in the order of --y. */
const PRICES = ['open', 'high', 'low', 'close'] as const

/** Returns a candlestick or OHLC chart. Throws `usage`. */
function prices(
  type: 'candlestick' | 'ohlc',
  { chart, columns: { x, ys, text }, layout, transforms }: Parts,
): Made {
  if (ys.length !== PRICES.length)
    throw new Problem('usage', `a ${type} chart needs four columns with --y: open,high,low,close`)
  const references = Object.fromEntries(PRICES.map((name, k) => [`${name}src`, chart.reference(ys[k])]))
  return {
    data: [
      {
        type,
        xsrc: chart.reference(x),
        ...references,
        textsrc: chart.reference(text),
        showlegend: false,
        transforms,
      },
    ],
    layout: {
      ...withoutAxes(layout),
      xaxis: { ...layout.xaxis, rangeslider: { visible: false } },
      yaxis: layout.yaxis,
    },
  }
}
