// Makers of scatter plots in two or more dimensions.

import type { Attributes } from '../../figure/figure.ts'
import { createUsageError } from '../../spec/errors.ts'
import type { Column } from '../../spec/options.ts'
import { createMarker, formatColumnsReference, type Makers, withoutAxes } from '../maker-input.ts'

export const pointsMakers = {
  async scatter(parts) {
    const marker = await createMarker(parts)
    return {
      data: parts.createTraces(() => ({ type: 'scatter', mode: 'markers', marker })),
      layout: parts.layout,
    }
  },
  dot: ({ createTraces, layout }) => ({
    data: createTraces(() => ({ type: 'scatter', mode: 'markers', marker: { size: 11 } })),
    layout,
  }),
  lollipop: ({ createTraces, layout }) => ({
    // The stem is an error bar of 100 % of the value: it ends at zero.
    data: createTraces(() => ({
      type: 'scatter',
      mode: 'markers',
      marker: { size: 11 },
      error_y: { type: 'percent', symmetric: false, value: 0, valueminus: 100, width: 0, thickness: 2 },
    })),
    layout,
  }),
  hexbin: ({ createTraces, layout, transforms }) => ({
    data: createTraces(() => ({
      ...{
        type: 'scatter',
        mode: 'markers',
        marker: { showscale: true, colorbar: { title: { text: 'count' } } },
      },
    })).map((trace) => ({ ...trace, transforms: [...(transforms ?? []), { type: 'hexagons' }] })),
    layout,
  }),
  async splom(parts) {
    const { chart, columns, layout, transforms } = parts
    if (columns.ys.length < 2) throw createUsageError('a splom needs several columns with --y')
    if (columns.ys.length > MAX_MATRIX_COLUMNS)
      throw createUsageError(
        `a splom accepts at most ${MAX_MATRIX_COLUMNS} columns`,
        'Choose some of them with --y.',
      )
    const dimensions = columns.ys.map((column) => ({
      label: column.name,
      valuessrc: chart.formatReference(column),
    }))
    const marker = { size: 4, ...(await createMarker(parts)) }
    const trace = {
      ...{ type: 'splom', dimensions, marker, transforms },
      ...{ diagonal: { visible: columns.ys.length < 3 }, showupperhalf: false },
      textsrc: chart.formatReference(columns.text),
    }
    return { data: [trace], layout: { ...withoutAxes(layout), ...(columns.by && { showlegend: true }) } }
  },
  parallel({ chart, columns: { ys, color }, layout, transforms }) {
    if (ys.length < 2) throw createUsageError('parallel coordinates need several columns with --y')
    const dimensions = ys.map((column) => ({ label: column.name, valuessrc: chart.formatReference(column) }))
    const line = color && {
      colorsrc: chart.formatReference(color),
      showscale: true,
      colorbar: { title: { text: color.name } },
    }
    return {
      data: [
        { type: 'parcoords', dimensions, line, transforms: [...(transforms ?? []), { type: 'complete' }] },
      ],
      layout: withoutAxes(layout),
    }
  },
  async scatter3d(parts) {
    const { chart, columns, layout, createTraces } = parts
    const { x, ys, z } = columns
    const marker = { size: 4, ...(await createMarker(parts)) }
    return {
      data: createTraces(() => ({
        type: 'scatter3d',
        mode: 'markers',
        zsrc: chart.formatReference(z),
        marker,
      })),
      layout: { ...withoutAxes(layout), scene: createScene(x, ys[0], z) },
    }
  },
  surface({ grid, chart, columns: { x, ys, z }, layout, transforms }) {
    const plain = withoutAxes(layout)
    if (z) {
      const [zsrc, intensitysrc] = [chart.formatReference(z), chart.formatReference(z)]
      const references = {
        xsrc: chart.formatReference(x),
        ysrc: chart.formatReference(ys[0]),
        zsrc,
        intensitysrc,
      }
      return {
        data: [{ type: 'mesh3d', ...references, colorbar: { title: { text: z.name } }, transforms }],
        layout: { ...plain, scene: createScene(x, ys[0], z) },
      }
    }
    if (ys.length < 2) throw createUsageError('a surface needs --x, --y and --z, or several columns with --y')
    return { data: [{ type: 'surface', zsrc: formatColumnsReference(grid, ys) }], layout: plain }
  },
} satisfies Makers

/** Maximum number of columns of a scatter matrix. */
const MAX_MATRIX_COLUMNS = 12

/** Returns a 3-D scene with axis titles. */
function createScene(x: Column | undefined, y: Column | undefined, z: Column | undefined): Attributes {
  const createAxis = (column: Column | undefined) => column && { title: { text: column.name } }
  return { xaxis: createAxis(x), yaxis: createAxis(y), zaxis: createAxis(z) }
}
