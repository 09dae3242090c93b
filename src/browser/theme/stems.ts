import { listOf } from '../../charts/figure/lists.ts'
import { colorsOf } from './colors.ts'
import type { Draft } from './draft.ts'

/** A bar of a timeline that begins and ends on one day is a line. */
export function outlineTimes(draft: Draft): void {
  const { data, layout } = draft
  if (layout.meta.chart !== 'timeline') return
  const colors = colorsOf(draft)
  for (const [k, trace] of data.entries()) {
    const color = trace.marker?.color ?? colors[k % colors.length]
    data[k] = { ...trace, marker: { line: { width: 2, color }, ...trace.marker } }
  }
}

/** The stems of lollipops end at zero: 100 % of a negative value below it would be as far again from zero. */
export function arrangeStems({ data, layout }: Draft): void {
  if (layout.meta.chart !== 'lollipop') return
  for (const [k, trace] of data.entries()) {
    if (trace.error_y?.type !== 'percent') continue
    const { value: _, valueminus: __, ...style } = trace.error_y
    const values = [...listOf(trace.y)]
    const error_y = { ...style, type: 'data', array: values.map(() => 0), arrayminus: values }
    data[k] = { ...trace, error_y, ...(trace.textposition && { textposition: values.map(besideStem) }) }
  }
}

/** Where the value of a point stands, so that it is not on its stem. */
function besideStem(value: unknown): string {
  return Number(value) < 0 ? 'bottom center' : 'top center'
}
