// Makers of charts of cells: heatmap, contour and calendar.
import { isMomentType } from '../../../contract/column-types.ts'
import { createUsageError } from '../../spec/errors.ts'
import { withArticle } from '../../spec/types.ts'
import { describeAggregate, humanizeName } from '../../spec/words.ts'
import { createColorbarFormat } from '../axes.ts'
import { formatColumnsReference, type MakerInput, type Makers, type TracesAndLayout } from '../maker-input.ts'

export const cellsMakers = {
  heatmap: (parts) => createCellChart('heatmap', parts),
  contour: (parts) => createCellChart('contour', parts),
  calendar({ chart, columns: { x, ys }, layout, options, transforms }) {
    if (!x || (!isMomentType(x.type) && x.type !== 'empty'))
      throw createUsageError('a calendar needs --x with a column of dates')
    const isTimes = x.type === 'datetime' && options.per === undefined && options.aggregate !== undefined
    if (isTimes) throw createUsageError('--x has times, but each cell is a day', 'Add --per day.')
    const colorbar = { title: { text: layout.yaxis?.title?.text }, ...createColorbarFormat(options) }
    return {
      data: [
        {
          ...{
            type: 'heatmap',
            name: ys[0]?.name,
            xsrc: chart.formatReference(x),
            zsrc: chart.formatReference(ys[0]),
          },
          ...{ xgap: 1, ygap: 1, colorbar, hovertemplate: '%{text}: %{z}<extra></extra>' },
          transforms: [...(transforms ?? []), { type: 'calendar' }],
        },
      ],
      layout: {
        ...layout,
        xaxis: { showgrid: false, range: [-0.5, 52.5] },
        yaxis: { type: 'category', autorange: 'reversed' },
      },
    }
  },
} satisfies Makers

/** Returns a heatmap or contour plot. Throws `usage`. */
function createCellChart(
  type: 'heatmap' | 'contour',
  {
    grid,
    chart,
    columns: { x, ys, color },
    createTraces,
    layout,
    columnAxis,
    transforms,
    options,
  }: MakerInput,
): TracesAndLayout {
  const { aggregate } = options
  if (color || aggregate === 'count') {
    const title =
      aggregate === undefined
        ? humanizeName(color!.name)
        : describeAggregate(aggregate, color ? humanizeName(color.name) : '')
    const colorbar = { title: { text: title }, ...createColorbarFormat({ unit: options.unit }) }
    return {
      data: createTraces(() => ({ type, zsrc: chart.formatReference(color), colorbar })).slice(0, 1),
      layout,
    }
  }
  if (transforms)
    throw createUsageError(
      `${withArticle(type)} of several columns cannot filter or sort rows`,
      'To filter, sort or aggregate rows, give the values of the cells with --color COLUMN.',
    )
  if (ys.length < 2)
    throw createUsageError(
      `${withArticle(type)} needs the values of its cells`,
      'Give them with --color COLUMN, or give several columns with --y.',
    )
  // Each --y column is a column of the heatmap; x labels its rows.
  const ticks = { tickmode: 'array', tickvals: ys.map((_, k) => k), ticktext: ys.map(({ name }) => name) }
  return {
    data: [{ type, zsrc: formatColumnsReference(grid, ys), ysrc: chart.formatReference(x) }],
    layout: { ...layout, xaxis: ticks, yaxis: { ...columnAxis(x), autorange: 'reversed' } },
  }
}
