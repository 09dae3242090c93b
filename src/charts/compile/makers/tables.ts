// Makers of tables and indicators.
import type { Column } from '../../spec/options.ts'
import { splitUnit } from '../axes.ts'
import { formatColumnsReference, type Makers, withoutAxes } from '../maker-input.ts'

export const tablesMakers = {
  table: ({ grid, columns: { ys }, layout, transforms }) => ({
    data: [
      {
        type: 'table',
        header: { values: ys.map(({ name }) => name), align: ys.map(alignmentOf) },
        cells: { valuessrc: formatColumnsReference(grid, ys), align: ys.map(alignmentOf), height: 26 },
        transforms: [...(transforms ?? []), { type: 'complete' }],
      },
    ],
    layout: withoutAxes(layout),
  }),
  indicator({ chart, grid, columns: { ys }, layout, transforms, options: { aggregate, unit, formatY } }) {
    const func = aggregate === 'mean' ? 'avg' : (aggregate ?? 'last')
    const [column] = ys
    return {
      data: [
        {
          type: 'indicator',
          mode: 'number',
          // Any column has the number of rows.
          customdatasrc: chart.formatReference(column ?? grid.cols[0]),
          number: { valueformat: formatY ?? ',', ...splitUnit(unit) },
          transforms: [
            ...(transforms ?? []),
            { type: 'number', func, ...(column === undefined && { of: 'rows' }) },
          ],
        },
      ],
      layout: withoutAxes(layout),
    }
  },
} satisfies Makers

function alignmentOf({ type }: Column): string {
  return type === 'number' ? 'right' : 'left'
}
