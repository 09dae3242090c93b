// Collects the footer line that lists omitted data: see docs/guide.md#themes.
import { listOf } from '../../charts/figure/lists.ts'
import { negativeParts, placed, unseenIn } from '../../charts/unseen.ts'
import { escapedMarkup } from '../../contract/markup.ts'
import type { Attributes, Draft } from './draft.ts'

/** Notes what is in the data and not in the chart, and an axis that cuts what begins at zero. */
export function noteUnseen({ data, layout, unseen, remarks }: Draft): void {
  const found = unseenIn({ data, layout })
  unseen.push(...found.unseen.map(escapedMarkup))
  remarks.push(...found.remarks)
}

/** Leaves out rows without a place, which would break lines and make axes longer. */
export function dropPlaceless({ data, layout }: Draft): void {
  for (const [k, trace] of data.entries())
    data[k] = aboveZero(withoutNegative(placed(trace, layout), layout), layout)
}

/** Shares without values below zero: they are no part of a whole. */
function withoutNegative(trace: Attributes, layout: Attributes): Attributes {
  const lost = trace.type === 'pie' ? [] : negativeParts(trace, layout)
  return lost.length === 0
    ? trace
    : { ...trace, y: [...listOf(trace.y)].map((y, k) => (lost.includes(k) ? null : y)) }
}

/** A trace without values that a logarithmic axis has no place for: plotly.js draws lines to the end of the axis. */
function aboveZero(trace: Attributes, layout: Attributes): Attributes {
  const changed: Attributes = {}
  for (const letter of ['x', 'y'] as const) {
    const axis = layout[`${letter}axis${String(trace[`${letter}axis`] ?? letter).slice(1)}`]
    const values = [...listOf(trace[letter])]
    if (axis?.type === 'log' && values.some((value) => Number(value) <= 0))
      changed[letter] = values.map((value) => (Number(value) > 0 ? value : null))
  }
  return { ...trace, ...changed }
}
