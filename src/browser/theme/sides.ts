import { listOf } from '../../charts/figure/lists.ts'
import { stepBelow } from '../../charts/figure/steps.ts'
import type { Attributes, Draft } from './draft.ts'
import { localeIn } from './numbers.ts'

/** The axis of a pyramid has numbers without a sign on both sides. */
export function arrangePyramid({ data, layout }: Draft): void {
  if (layout.meta.chart === 'pyramid') showBothSides(layout, 'xaxis', mostOf(data))
}

/** The largest number of bars, without its sign. */
function mostOf(data: readonly Attributes[]): number {
  let most = 0
  for (const { x } of data) for (const value of listOf(x)) most = Math.max(most, Math.abs(Number(value) || 0))
  return most
}

/** The numbers of both sides of an axis are written without a sign. */
export function showBothSides(layout: Attributes, axis: 'xaxis' | 'yaxis', most: number): void {
  const step = stepBelow(most / 2)
  const ticks = Array.from(
    { length: Math.floor(most / step) * 2 + 1 },
    (_, k) => (k - Math.floor(most / step)) * step,
  )
  const ticktext = ticks.map((tick) =>
    Math.abs(tick).toLocaleString(localeIn(layout.meta), { maximumSignificantDigits: 6 }),
  )
  layout[axis] = { tickmode: 'array', tickvals: ticks, ticktext, ...layout[axis] }
}
