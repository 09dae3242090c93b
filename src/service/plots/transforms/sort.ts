import { type Attributes, arraysOf, setAt, type Transform, targetOf, valueAt } from './attributes.ts'
import type { Axes } from './axes.ts'

/** Puts the points in the order of the target. Equal ones keep their order. */
export function sort(trace: Attributes, { target = 'x', order }: Transform, axes: Axes): void {
  const values = targetOf(trace, target)
  if (!values) return
  const { toNumber } = axes.conversionOf(trace, target, values)
  const isDescending = order === 'descending'
  const rows = values
    .map((value, k) => ({ value, k }))
    .sort((a, b) => {
      const [one, other] = [toNumber(a.value), toNumber(b.value)]
      // What cannot be placed is last.
      if (one === undefined) return 1
      if (other === undefined) return -1
      return isDescending ? other - one : one - other
    })
  for (const path of arraysOf(trace)) {
    const array = valueAt(trace, path) as unknown[]
    setAt(
      trace,
      path,
      rows.map(({ k }) => array[k]),
    )
  }
}
