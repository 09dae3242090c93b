// Theme of slope charts.
import { listOf } from '../../charts/figure/lists.ts'
import { type Attributes, type Draft, isNarrow } from './arrangement.ts'

/** Sorts the moments of a slope chart by time, and adds space for its names. */
export function arrangeSlopeAxis({ data, layout, view }: Draft): void {
  if (layout.meta.chart !== 'slope') return
  const labels = new Set(data.flatMap(({ x }) => [...listOf(x)]))
  // Sort by time, whatever the order of rows.
  const { columns = [], options = {} }: Attributes = layout.meta.spec ?? {}
  const isText = columns.some(({ name, type }: Attributes) => name === options.x && type === 'text')
  const inTime = [...labels].sort((a, b) => ((a as number) < (b as number) ? -1 : 1))
  if (!isText && layout.xaxis?.categoryorder === undefined)
    layout.xaxis = { ...layout.xaxis, categoryorder: 'array', categoryarray: inTime }
  // On narrow screens, leave space inside for half of the outer labels.
  const margin = isNarrow(view) ? 0.3 : 0.1
  layout.xaxis = { range: [-margin, labels.size - 1 + (isNarrow(view) ? margin : 0.02)], ...layout.xaxis }
}
