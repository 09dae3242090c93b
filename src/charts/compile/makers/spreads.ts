// Makers of distributions: box, violin, histogram, density and others.
import { Problem } from '../../../contract/errors.ts'
import type { Attributes } from '../../figure/figure.ts'
import type { Made, Makers, Parts } from '../parts.ts'

export const spreadsMakers = {
  box: ({ each, layout }) => ({ data: each(() => ({ type: 'box' })), layout }),
  violin: ({ each, layout }) => ({ data: each(() => ({ type: 'violin' })), layout }),
  strip: ({ each, layout }) => ({
    data: each(() => ({
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
  ridgeline: ({ each, layout, settings }) => ({
    data: each(() => ({ type: 'violin', side: 'negative', points: false, width: 1.6, spanmode: 'hard' })),
    layout: {
      ...layout,
      yaxis: { ...layout.yaxis, ...settings.y },
      showlegend: false,
      meta: { ...layout.meta, horizontal: true },
    },
  }),
  ecdf: (parts) =>
    curves('an ecdf', parts, 'cumulate', {
      ...{ style: { line: { shape: 'hv' } } },
      yaxis: { title: { text: 'share of values' }, ticksuffix: '%', range: [0, 102] },
    }),
  density: (parts) =>
    curves('a density', parts, 'density', {
      ...{ style: { fill: 'tozeroy' }, yaxis: { title: { text: 'density' }, rangemode: 'tozero' } },
    }),
  histogram({ chart, columns: { x, ys, by }, transforms, layout, axis, settings, options: { stack } }) {
    // A histogram accepts its column as --x or as --y.
    const columns = x ? [x, ...ys] : ys
    const data = columns.map((column) => ({
      type: 'histogram',
      name: column.name,
      xsrc: chart.reference(column),
      ...(columns.length > 1 && !by && { opacity: 0.6 }),
      transforms: [...(transforms ?? []), { type: 'bins' }],
    }))
    // Categories of one column add up; different columns do not.
    const defaultMode = by ? 'stack' : columns.length > 1 ? 'overlay' : undefined
    return {
      data,
      layout: {
        ...layout,
        xaxis: { ...(columns.length === 1 && axis(columns[0])), ...settings.x },
        yaxis: { title: { text: 'count' }, ...settings.y },
        barmode: stack === undefined ? defaultMode : stack === 'none' ? 'overlay' : 'stack',
        ...(stack === 'percent' && { barnorm: 'percent' }),
      },
    }
  },
  histogram2d: ({ each, layout }) => ({
    data: each(() => ({ type: 'histogram2d', colorbar: { title: { text: 'count' } } })),
    layout,
  }),
} satisfies Makers

/** Returns curves that a transform computes from columns. Throws `usage`. */
function curves(
  what: string,
  { chart, columns: { x, ys, by }, transforms, layout, axis, settings }: Parts,
  type: string,
  { style, yaxis }: { style: Attributes; yaxis: Attributes },
): Made {
  const columns = x ? [x, ...ys] : ys
  if (columns.length === 0) throw new Problem('usage', `${what} needs a column of numbers with --x`)
  return {
    data: columns.map((column) => ({
      ...{ type: 'scatter', mode: 'lines', ...style, name: column.name, xsrc: chart.reference(column) },
      transforms: [...(transforms ?? []), { type }],
    })),
    layout: {
      ...layout,
      xaxis: { ...(columns.length === 1 && axis(columns[0])), ...settings.x },
      yaxis,
      ...((columns.length > 1 || by) && { showlegend: true }),
    },
  }
}
