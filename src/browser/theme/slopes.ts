import { listOf } from '../../charts/figure/lists.ts'
import { type Attributes, type Draft, isNarrow } from './draft.ts'

/** The moments of a slope are in the order of time, with room for its names. */
export function arrangeSlope({ data, layout, view }: Draft): void {
  if (layout.meta.chart !== 'slope') return
  const labels = new Set(data.flatMap(({ x }) => [...listOf(x)]))
  // Moments are in the order of time, whatever the rows are.
  const { columns = [], options = {} }: Attributes = layout.meta.spec ?? {}
  const isText = columns.some(({ name, type }: Attributes) => name === options.x && type === 'text')
  const inTime = [...labels].sort((a, b) => ((a as number) < (b as number) ? -1 : 1))
  if (!isText && layout.xaxis?.categoryorder === undefined)
    layout.xaxis = { ...layout.xaxis, categoryorder: 'array', categoryarray: inTime }
  // On a phone, half of the first and last label has room inside.
  const room = isNarrow(view) ? 0.3 : 0.1
  layout.xaxis = { range: [-room, labels.size - 1 + (isNarrow(view) ? room : 0.02)], ...layout.xaxis }
}
