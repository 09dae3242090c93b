// Makers of lines, steps, slopes, bumps and areas.

import type { Attributes } from '../../figure/figure.ts'
import { createUsageError } from '../../spec/errors.ts'
import {
  createMarker,
  type MakerInput,
  type Makers,
  type TracesAndLayout,
  withCenteredStack,
  withPercentAxis,
} from '../maker-input.ts'

export const linesMakers = {
  async line(parts) {
    const { data, layout } = createLines(parts)
    const marker = await createMarker(parts)
    if (!marker) return { data, layout }
    // A line has one color, so the column colors its points.
    const withMarkers = (trace: Attributes): Attributes =>
      trace.meta?.isBand
        ? trace
        : { ...trace, mode: 'lines+markers', line: { color: COLORED_POINTS_LINE_COLOR, width: 1 }, marker }
    return { data: data.map(withMarkers), layout }
  },
  slope: (parts) => {
    const { data, layout } = createLines(parts)
    return {
      data: data.map((trace) => ({ ...trace, mode: 'lines+markers' })),
      layout: { ...layout, xaxis: { ...layout.xaxis, type: 'category' } },
    }
  },
  bump({ createTraces, layout, columns: { ys, by }, transforms = [] }) {
    if (ys.length !== 1 || !by)
      throw createUsageError('a bump ranks one column of --y among the series of --by')
    const data = createTraces(() => ({ type: 'scatter', mode: 'lines+markers', marker: { size: 9 } }))
    return {
      data: data.map((trace) => ({ ...trace, transforms: withRank(transforms) })),
      layout: { ...layout, yaxis: { title: { text: 'rank' }, autorange: 'reversed' } },
    }
  },
  step: (parts) => {
    const { data, layout } = createLines(parts)
    return { data: data.map((trace) => ({ ...trace, line: { shape: 'hv' } })), layout }
  },
  area({ createTraces, layout, columns, options: { stack } }) {
    const isStacked = stack === undefined ? columns.ys.length > 1 || columns.by : stack !== 'none'
    const style = isStacked
      ? { stackgroup: 'one', ...(stack === 'percent' && { groupnorm: 'percent' }) }
      : { fill: 'tozeroy' }
    return {
      data: createTraces(() => ({ type: 'scatter', mode: 'lines', ...style })),
      layout: withCenteredStack(withPercentAxis(layout, stack), stack),
    }
  },
} satisfies Makers

/** Inserts a rank transform, after `melt`. */
function withRank(transforms: readonly Attributes[]): Attributes[] {
  const isMelt = ({ type }: Attributes): boolean => type === 'melt'
  return [
    ...transforms.filter(isMelt),
    { type: 'rank' },
    ...transforms.filter((transform) => !isMelt(transform)),
  ]
}

/** Returns line traces, with the band of --band-of if there is one. Throws `usage`. */
function createLines({
  createTraces,
  layout,
  chart,
  columns: { x, ys, bandEnds },
  transforms = [],
}: MakerInput): TracesAndLayout {
  const data = createTraces(() => ({ type: 'scatter', mode: 'lines' }))
  if (bandEnds.length === 0) return { data, layout }
  if (bandEnds.length !== 2 || ys.length !== 1)
    throw createUsageError('--band-of needs two columns, low and high, and one column of --y')
  const references = {
    ysrc: chart.formatReference(bandEnds[1]),
    customdatasrc: chart.formatReference(bandEnds[0]),
  }
  // Aggregate the band like the line, without its trend.
  const bandTransforms = transforms
    .filter(({ type }) => type !== 'trend')
    .map((transform) =>
      transform.type === 'aggregate'
        ? {
            ...transform,
            aggregations: [...transform.aggregations, { ...transform.aggregations[0], target: 'customdata' }],
          }
        : transform,
    )
  const band = {
    ...{
      type: 'scatter',
      mode: 'lines',
      fill: 'toself',
      line: { width: 0 },
      hoverinfo: 'skip',
      showlegend: false,
    },
    ...{ name: ys[0].name, meta: { isBand: true }, xsrc: chart.formatReference(x), ...references },
    transforms: [...bandTransforms, { type: 'band' }],
  }
  return { data: [...data, band], layout }
}

/** Color of a line with points colored by a column. */
const COLORED_POINTS_LINE_COLOR = '#a0a0a0'
