// Theme of lollipops and timelines.
import { listOf } from '../../charts/figure/lists.ts'
import type { Draft } from './arrangement.ts'
import { colorwayOf } from './colors.ts'

/** Outlines timeline bars, so that a bar of one day is visible as a line. */
export function outlineTimelineBars(draft: Draft): void {
  const { data, layout } = draft
  if (layout.meta.chart !== 'timeline') return
  const colors = colorwayOf(draft)
  for (const [k, trace] of data.entries()) {
    const color = trace.marker?.color ?? colors[k % colors.length]
    data[k] = { ...trace, marker: { line: { width: 2, color }, ...trace.marker } }
  }
}

/** Lets lollipop stems end at zero: 100 % of a negative value would lead away from zero. */
export function arrangeStems({ data, layout }: Draft): void {
  if (layout.meta.chart !== 'lollipop') return
  for (const [k, trace] of data.entries()) {
    if (trace.error_y?.type !== 'percent') continue
    const { value: _, valueminus: __, ...style } = trace.error_y
    const values = [...listOf(trace.y)]
    const error_y = { ...style, type: 'data', array: values.map(() => 0), arrayminus: values }
    data[k] = { ...trace, error_y, ...(trace.textposition && { textposition: values.map(textPositionOf) }) }
  }
}

/** Returns the text position away from the stem. */
function textPositionOf(value: unknown): string {
  return Number(value) < 0 ? 'bottom center' : 'top center'
}
