// Makers of parts of a whole: pie, treemap, sunburst and sankey.
import { createUsageError } from '../../spec/errors.ts'
import { withArticle } from '../../spec/types.ts'
import { type MakerInput, type Makers, type TracesAndLayout, withoutAxes } from '../maker-input.ts'

export const wholesMakers = {
  pie: (parts) => createPie(parts),
  donut: (parts) => createPie(parts, { hole: 0.55 }),
  treemap: (parts) => createHierarchy('treemap', parts),
  sunburst: (parts) => createHierarchy('sunburst', parts),
  sankey({ chart, columns: { x, to, ys }, layout, transforms }) {
    if (!x || !to) throw createUsageError('a sankey needs --x and --to: the source and target of each link')
    const link = {
      sourcesrc: chart.formatReference(x),
      targetsrc: chart.formatReference(to),
      valuesrc: chart.formatReference(ys[0]),
    }
    return {
      data: [{ type: 'sankey', link, transforms: [...(transforms ?? []), { type: 'links' }] }],
      layout: withoutAxes(layout),
    }
  },
} satisfies Makers

/** Returns a pie or donut. */
function createPie(
  { chart, columns: { x, ys, text }, layout, options, transforms }: MakerInput,
  style = {},
): TracesAndLayout {
  return {
    data: [
      {
        type: 'pie',
        ...style,
        labelssrc: chart.formatReference(x),
        valuessrc: chart.formatReference(ys[0]),
        ...(options.sort !== undefined && { sort: false }),
        textsrc: chart.formatReference(text),
        transforms,
      },
    ],
    layout: withoutAxes(layout),
  }
}

/** Returns a treemap or sunburst. Throws `usage`. */
function createHierarchy(
  type: 'treemap' | 'sunburst',
  { chart, columns: { x, ys, text, parent, id }, layout, transforms }: MakerInput,
): TracesAndLayout {
  if (!x) throw createUsageError(`${withArticle(type)} needs --x: the column that names its parts`)
  return {
    data: [
      {
        type,
        labelssrc: chart.formatReference(x),
        parentssrc: chart.formatReference(parent),
        idssrc: chart.formatReference(id),
        valuessrc: chart.formatReference(ys[0]),
        textsrc: chart.formatReference(text),
        branchvalues: 'total',
        transforms: [...(transforms ?? []), { type: 'tree' }],
      },
    ],
    layout: withoutAxes(layout),
  }
}
