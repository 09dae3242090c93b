// Collects the footer line that lists omitted data: see docs/guide.md#looks.
import { listOf } from '../../charts/figure/lists.ts'
import { placed, unseenIn } from '../../charts/unseen.ts'
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
  for (const [k, trace] of data.entries()) data[k] = aboveZero(placed(trace, layout), layout)
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
