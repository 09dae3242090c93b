// Makers of parts of a whole: pie, treemap, sunburst and sankey.
import { Problem } from '../../../contract/errors.ts'
import { type Made, type Makers, type Parts, withoutAxes } from '../parts.ts'

export const wholesMakers = {
  pie: (parts) => slices(parts),
  donut: (parts) => slices(parts, { hole: 0.55 }),
  treemap: (parts) => hierarchy('treemap', parts),
  sunburst: (parts) => hierarchy('sunburst', parts),
  sankey({ chart, columns: { x, to, ys }, layout, transforms }) {
    if (!x || !to)
      throw new Problem('usage', 'a sankey needs --x and --to: the source and target of each link')
    const link = {
      sourcesrc: chart.reference(x),
      targetsrc: chart.reference(to),
      valuesrc: chart.reference(ys[0]),
    }
    return {
      data: [{ type: 'sankey', link, transforms: [...(transforms ?? []), { type: 'links' }] }],
      layout: withoutAxes(layout),
    }
  },
} satisfies Makers

/** Returns a pie or donut. */
function slices({ chart, columns: { x, ys, text }, layout, options, transforms }: Parts, style = {}): Made {
  return {
    data: [
      {
        type: 'pie',
        ...style,
        labelssrc: chart.reference(x),
        valuessrc: chart.reference(ys[0]),
        ...(options.sort !== undefined && { sort: false }),
        textsrc: chart.reference(text),
        transforms,
      },
    ],
    layout: withoutAxes(layout),
  }
}

/** Returns a treemap or sunburst. Throws `usage`. */
function hierarchy(
  type: 'treemap' | 'sunburst',
  { chart, columns: { x, ys, text, parent, id }, layout, transforms }: Parts,
): Made {
  if (!x) throw new Problem('usage', `a ${type} needs --x: the column that names its parts`)
  return {
    data: [
      {
        type,
        labelssrc: chart.reference(x),
        parentssrc: chart.reference(parent),
        idssrc: chart.reference(id),
        valuessrc: chart.reference(ys[0]),
        textsrc: chart.reference(text),
        branchvalues: 'total',
        transforms: [...(transforms ?? []), { type: 'tree' }],
      },
    ],
    layout: withoutAxes(layout),
  }
}
