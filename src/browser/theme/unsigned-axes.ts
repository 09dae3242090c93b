// Axes without signs on both sides of zero.
import { listOf } from '../../charts/figure/lists.ts'
import { roundDownToStep } from '../../charts/figure/steps.ts'
import type { Attributes, Draft } from './arrangement.ts'
import { localeOf } from './numbers.ts'

/** Writes the axis of a pyramid without signs. */
export function arrangePyramid({ data, layout }: Draft): void {
  if (layout.meta.chart === 'pyramid') writeTicksWithoutSign(layout, 'xaxis', largestValueOf(data))
}

/** Returns the largest absolute value of bars. */
function largestValueOf(data: readonly Attributes[]): number {
  let largest = 0
  for (const { x } of data)
    for (const value of listOf(x)) largest = Math.max(largest, Math.abs(Number(value) || 0))
  return largest
}

/** Writes the ticks of an axis without signs, up to `largest` on both sides. */
export function writeTicksWithoutSign(layout: Attributes, axis: 'xaxis' | 'yaxis', largest: number): void {
  const step = roundDownToStep(largest / 2)
  const ticks = Array.from(
    { length: Math.floor(largest / step) * 2 + 1 },
    (_, k) => (k - Math.floor(largest / step)) * step,
  )
  const ticktext = ticks.map((tick) =>
    Math.abs(tick).toLocaleString(localeOf(layout.meta), { maximumSignificantDigits: 6 }),
  )
  layout[axis] = { tickmode: 'array', tickvals: ticks, ticktext, ...layout[axis] }
}
