/** Transform `sort` of plotly.js. */
import type { Attributes } from '../figure/figure.ts'
import { resolveTarget, selectRows, type Transform } from './attributes.ts'
import type { AxisTypes } from './axis-types.ts'

/** Sorts the points by the target, stably. */
export function sortPoints(trace: Attributes, { target = 'x', order }: Transform, axes: AxisTypes): void {
  const values = resolveTarget(trace, target)
  if (!values) return
  const { toNumber } = axes.getConversion(trace, target, values)
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
  selectRows(trace, rows)
}
