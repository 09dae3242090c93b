/** Transform `sort` of plotly.js. */
import { type Attributes, type Transform, takeRows, targetOf } from './attributes.ts'
import type { Axes } from './axes.ts'

/** Sorts the points by the target, stably. */
export function sort(trace: Attributes, { target = 'x', order }: Transform, axes: Axes): void {
  const values = targetOf(trace, target)
  if (!values) return
  const { toNumber } = axes.conversionOf(trace, target, values)
  const isDescending = order === 'descending'
  const numbers = values.map(toNumber)
  const rows = values.map((_, k) => k)
  rows.sort((a, b) => {
    const [left, right] = [numbers[a], numbers[b]]
    // Values without a position are last.
    if (left === undefined || right === undefined)
      return Number(left === undefined) - Number(right === undefined)
    return isDescending ? right - left : left - right
  })
  takeRows(trace, rows)
}
