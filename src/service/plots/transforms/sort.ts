import { type Attributes, type Transform, takeRows, targetOf } from './attributes.ts'
import type { Axes } from './axes.ts'

/** Puts the points in the order of the target. Equal ones keep their order. */
export function sort(trace: Attributes, { target = 'x', order }: Transform, axes: Axes): void {
  const values = targetOf(trace, target)
  if (!values) return
  const { toNumber } = axes.conversionOf(trace, target, values)
  const isDescending = order === 'descending'
  const numbers = values.map(toNumber)
  const rows = values.map((_, k) => k)
  rows.sort((a, b) => {
    const [one, other] = [numbers[a], numbers[b]]
    // What cannot be placed is last.
    if (one === undefined || other === undefined)
      return Number(one === undefined) - Number(other === undefined)
    return isDescending ? other - one : one - other
  })
  takeRows(trace, rows)
}
