// Makers of roses and radars.

import { COMPASS } from '../../figure/shared-names.ts'
import { createUsageError } from '../../spec/errors.ts'
import { DEFAULT_MAX_SERIES } from '../../spec/options.ts'
import { type Makers, withoutAxes } from '../maker-input.ts'

export const polarMakers = {
  rose({ chart, columns: { x, ys, by }, layout, options: { aggregate }, transforms }) {
    if (!x) throw createUsageError('a rose needs --x: a column of directions, in degrees or as labels')
    // Without --aggregate, count the rows; per class of values if there is a --y column.
    const isClassed = ys.length > 0 && aggregate === undefined && by === undefined
    const func = aggregate === 'mean' ? 'avg' : (aggregate ?? (ys.length > 0 && by ? 'sum' : 'count'))
    const otherTransforms = (transforms ?? []).filter((transform) => transform.type !== 'aggregate')
    const sum = { type: 'aggregate', groups: 'theta', aggregations: [{ target: 'r', func, empty: 'none' }] }
    const classes = {
      type: 'groupby',
      groupssrc: chart.formatReference(ys[0]),
      classes: 5,
      top: DEFAULT_MAX_SERIES,
    }
    const reference = isClassed ? undefined : chart.formatReference(ys[0])
    return {
      data: [
        {
          ...{
            type: 'barpolar',
            name: ys[0]?.name ?? 'count',
            thetasrc: chart.formatReference(x),
            rsrc: reference,
          },
          transforms: [
            { type: 'sectors', of: x.name },
            ...otherTransforms,
            ...(isClassed ? [classes] : []),
            sum,
          ],
        },
      ],
      layout: {
        ...withoutAxes(layout),
        polar: {
          angularaxis: {
            ...{ direction: 'clockwise', rotation: 90, type: 'category' },
            ...(x.type === 'number' && { categoryorder: 'array', categoryarray: COMPASS }),
          },
          radialaxis: { rangemode: 'tozero', angle: 45, tickangle: 0, nticks: 4 },
          barmode: 'stack',
          bargap: 0.1,
        },
        ...((by || isClassed) && { showlegend: true }),
      },
    }
  },
  radar({ chart, columns: { x, ys, by }, layout, transforms, settings }) {
    const data = ys.map((column) => ({
      ...{ type: 'scatterpolar', mode: 'lines+markers', fill: 'toself', name: column.name },
      ...{ thetasrc: chart.formatReference(x), rsrc: chart.formatReference(column), transforms },
    }))
    const radialaxis = { rangemode: 'tozero', ...settings.y }
    return {
      data,
      layout: {
        ...withoutAxes(layout),
        polar: { radialaxis, angularaxis: { type: 'category', direction: 'clockwise' } },
        ...((ys.length > 1 || by) && { showlegend: true }),
      },
    }
  },
} satisfies Makers
