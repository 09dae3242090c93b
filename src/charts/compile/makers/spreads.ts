// Makers of distributions: box, violin, histogram, density and others.

import type { Attributes } from '../../figure/figure.ts'
import { createUsageError } from '../../spec/errors.ts'
import type { MakerInput, Makers, TracesAndLayout } from '../maker-input.ts'

export const spreadsMakers = {
  box: ({ createTraces, layout }) => ({ data: createTraces(() => ({ type: 'box' })), layout }),
  violin: ({ createTraces, layout }) => ({ data: createTraces(() => ({ type: 'violin' })), layout }),
  strip: ({ createTraces, layout }) => ({
    data: createTraces(() => ({
      type: 'box',
      boxpoints: 'all',
      pointpos: 0,
      jitter: 0.7,
      fillcolor: 'rgba(0,0,0,0)',
      line: { width: 0 },
      hoveron: 'points',
      marker: { opacity: 0.6 },
    })),
    layout,
  }),
  ridgeline: ({ createTraces, layout, settings }) => ({
    data: createTraces(() => ({
      type: 'violin',
      side: 'negative',
      points: false,
      width: 1.6,
      spanmode: 'hard',
    })),
    layout: {
      ...layout,
      yaxis: { ...layout.yaxis, ...settings.y },
      showlegend: false,
      meta: { ...layout.meta, horizontal: true },
    },
  }),
  ecdf: (parts) =>
    createCurves('an ecdf', parts, 'cumulate', {
      ...{ style: { line: { shape: 'hv' } } },
      yaxis: { title: { text: 'share of values' }, ticksuffix: '%', range: [0, 102] },
    }),
  density: (parts) =>
    createCurves('a density', parts, 'density', {
      ...{ style: { fill: 'tozeroy' }, yaxis: { title: { text: 'density' }, rangemode: 'tozero' } },
    }),
  histogram({ chart, columns: { x, ys, by }, transforms, layout, columnAxis, settings, options: { stack } }) {
    // A histogram accepts its column as --x or as --y.
    const columns = x ? [x, ...ys] : ys
    const data = columns.map((column) => ({
      type: 'histogram',
      name: column.name,
      xsrc: chart.formatReference(column),
      ...(columns.length > 1 && !by && { opacity: 0.6 }),
      transforms: [...(transforms ?? []), { type: 'bins' }],
    }))
    // Categories of one column add up; different columns do not.
    const defaultMode = by ? 'stack' : columns.length > 1 ? 'overlay' : undefined
    return {
      data,
      layout: {
        ...layout,
        xaxis: { ...(columns.length === 1 && columnAxis(columns[0])), ...settings.x },
        yaxis: { title: { text: 'count' }, ...settings.y },
        barmode: stack === undefined ? defaultMode : stack === 'none' ? 'overlay' : 'stack',
        ...(stack === 'percent' && { barnorm: 'percent' }),
      },
    }
  },
  histogram2d: ({ createTraces, layout }) => ({
    data: createTraces(() => ({ type: 'histogram2d', colorbar: { title: { text: 'count' } } })),
    layout,
  }),
} satisfies Makers

/** Returns curves that a transform computes from columns. Throws `usage`. */
function createCurves(
  what: string,
  { chart, columns: { x, ys, by }, transforms, layout, columnAxis, settings }: MakerInput,
  type: string,
  { style, yaxis }: { style: Attributes; yaxis: Attributes },
): TracesAndLayout {
  const columns = x ? [x, ...ys] : ys
  if (columns.length === 0) throw createUsageError(`${what} needs a column of numbers with --x`)
  return {
    data: columns.map((column) => ({
      ...{ type: 'scatter', mode: 'lines', ...style, name: column.name, xsrc: chart.formatReference(column) },
      transforms: [...(transforms ?? []), { type }],
    })),
    layout: {
      ...layout,
      xaxis: { ...(columns.length === 1 && columnAxis(columns[0])), ...settings.x },
      yaxis,
      ...((columns.length > 1 || by) && { showlegend: true }),
    },
  }
}
