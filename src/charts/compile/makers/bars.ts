// Makers of bars, ranges, prices and other charts of bars.

import { isMomentType } from '../../../contract/column-types.ts'
import type { Attributes } from '../../figure/figure.ts'
import { createUsageError } from '../../spec/errors.ts'
import type { Column } from '../../spec/options.ts'
import { type ChartType, withArticle } from '../../spec/types.ts'
import {
  createMarker,
  type MakerInput,
  type Makers,
  type TracesAndLayout,
  withCenteredStack,
  withoutAxes,
  withPercentAxis,
} from '../maker-input.ts'

export const barsMakers = {
  async bar(parts) {
    const { createTraces, layout, columns, options } = parts
    const { stack } = options
    const marker = await createMarker(parts)
    const isSeveral = columns.ys.length > 1 || columns.by !== undefined
    const barmode =
      stack === undefined ? (isSeveral ? 'group' : undefined) : stack === 'none' ? 'group' : 'relative'
    return {
      data: createTraces(() => ({ type: 'bar', marker })),
      layout: {
        ...withCenteredStack(withPercentAxis(layout, stack), stack),
        barmode,
        ...(stack === 'percent' && { barnorm: 'percent' }),
      },
    }
  },
  range: (parts) => {
    const [low, high] = requireTwoColumns('range', parts)
    return { data: [createSpanTrace(parts, low, high, {})], layout: { ...parts.layout, showlegend: false } }
  },
  dumbbell: (parts) => {
    const ends = requireTwoColumns('dumbbell', parts)
    const points = parts.createTraces(() => ({ type: 'scatter', mode: 'markers', marker: { size: 11 } }))
    const bar = { width: 0.06, marker: { color: '#a0a0a0' }, showlegend: false, hoverinfo: 'skip' }
    return { data: [createSpanTrace(parts, ...ends, bar), ...points], layout: parts.layout }
  },
  timeline: (parts) => {
    const [start, end] = requireTwoColumns('timeline', parts)
    const { layout, columnAxis, columns } = parts
    const isTime = ({ type }: Column): boolean => isMomentType(type)
    // Years are numbers: both columns must be numbers, or both dates.
    const kinds = [start, end].filter(({ type }) => type !== 'empty')
    if (!kinds.every(isTime) && !kinds.every(({ type }) => type === 'number'))
      throw createUsageError(
        `--y ${start.name},${end.name}: a timeline needs two columns of dates, or two of years`,
      )
    const { title: _, ...dates } = { ...columnAxis(end), ...columnAxis(start) }
    const timelineLayout = {
      ...layout,
      ...(columns.by ? { showlegend: true } : { showlegend: false }),
      yaxis: { ...dates, ...parts.settings.y },
      barmode: 'overlay',
      meta: { ...layout.meta, horizontal: true },
    }
    return { data: [createSpanTrace(parts, start, end, {}, { isTime: true })], layout: timelineLayout }
  },
  pyramid: (parts) => {
    const { createTraces, layout, columns } = parts
    if (columns.ys.length !== (columns.by ? 1 : 2))
      throw createUsageError('a pyramid needs two columns with --y, one for each side, or one and --by')
    const [left, right] = createTraces(() => ({ type: 'bar' }))
    const pyramidLayout = { ...layout, barmode: 'relative', meta: { ...layout.meta, horizontal: true } }
    if (columns.by) {
      const sides = left.transforms.map((transform: Attributes) =>
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
    return { data: [mirrored(left, 'negate'), mirrored(right, 'amounts')], layout: pyramidLayout }
  },
  funnel({ chart, createTraces, layout, columns: { x, ys } }) {
    const { xaxis: _, yaxis: __, ...rest } = layout
    return {
      data: createTraces((y) => ({
        type: 'funnel',
        orientation: 'h',
        xsrc: chart.formatReference(y),
        ysrc: chart.formatReference(x),
        textinfo: 'value',
      })),
      layout: { ...rest, yaxis: { type: 'category' }, ...(ys.length > 1 && { showlegend: true }) },
    }
  },
  waterfall: ({ createTraces, layout }) => ({ data: createTraces(() => ({ type: 'waterfall' })), layout }),
  candlestick: (parts) => createPriceChart('candlestick', parts),
  ohlc: (parts) => createPriceChart('ohlc', parts),
} satisfies Makers

/** Returns the two --y columns. Throws `usage` for another number. */
function requireTwoColumns(type: ChartType, { columns: { ys } }: MakerInput): [Column, Column] {
  const [low, high] = ys
  if (ys.length !== 2) throw createUsageError(`${withArticle(type)} needs two columns with --y: from,to`)
  return [low, high]
}

/** Returns a trace of bars from one column to another. */
function createSpanTrace(
  { chart, columns: { x, text }, transforms }: MakerInput,
  low: Column,
  high: Column,
  style: Attributes,
  more: Attributes = {},
): Attributes {
  return {
    ...{ type: 'bar', name: `${low.name} to ${high.name}`, xsrc: chart.formatReference(x) },
    ...{
      basesrc: chart.formatReference(low),
      ysrc: chart.formatReference(high),
      textsrc: chart.formatReference(text),
    },
    ...style,
    transforms: [...(transforms ?? []), { type: 'span', ...more }],
  }
}

/** Price columns, in the order of --y. */
const PRICE_NAMES = ['open', 'high', 'low', 'close'] as const

/** Returns a candlestick or OHLC chart. Throws `usage`. */
function createPriceChart(
  type: 'candlestick' | 'ohlc',
  { chart, columns: { x, ys, text }, layout, transforms }: MakerInput,
): TracesAndLayout {
  if (ys.length !== PRICE_NAMES.length)
    throw createUsageError(`${withArticle(type)} chart needs four columns with --y: open,high,low,close`)
  const references = Object.fromEntries(
    PRICE_NAMES.map((name, k) => [`${name}src`, chart.formatReference(ys[k])]),
  )
  return {
    data: [
      {
        type,
        xsrc: chart.formatReference(x),
        ...references,
        textsrc: chart.formatReference(text),
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
