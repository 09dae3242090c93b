// Theme of lollipops and timelines.
import { listOf } from '../../charts/figure/lists.ts'
import type { Draft } from './arrangement.ts'
import { colorwayOf } from './colors.ts'

/** Outlines bars that would be invisible: short ones of timelines, and ranges whose ends are equal. */
export function outlineShortBars(draft: Draft): void {
  const { data, layout } = draft
  const { chart } = layout.meta
  if (chart !== 'timeline' && chart !== 'range') return
  const colors = colorwayOf(draft)
  for (const [k, trace] of data.entries()) {
    const color = trace.marker?.color ?? colors[k % colors.length]
    const width = chart === 'timeline' ? 2 : Array.from(listOf(trace.y), (length) => (length === 0 ? 2 : 0))
    data[k] = { ...trace, marker: { line: { width, color }, ...trace.marker } }
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
