// Lists omitted data in the footer, and removes rows that cannot be drawn: see docs/guide.md#themes.
import { listOf } from '../../charts/figure/lists.ts'
import { describeOmitted, dropUnplacedRows, findNegativeParts, valueKeyOf } from '../../charts/omitted.ts'
import { dropOtherTexts } from '../../charts/other-texts.ts'
import { escapeMarkup } from '../../contract/plotly-markup.ts'
import type { Attributes, Draft } from './arrangement.ts'

/** Adds omitted data, and remarks about cut axes, to the footer. */
export function noteOmitted({ data, layout, omitted, remarks }: Draft): void {
  const result = describeOmitted({ data, layout })
  omitted.push(...result.unseen.map(escapeMarkup))
  remarks.push(...result.remarks)
}

/** Removes rows without a position, which would break lines and extend axes. */
export function dropUndrawableRows({ data, layout }: Draft): void {
  for (const [k, original] of data.entries()) {
    const trace = dropOtherTexts(original, layout)
    data[k] = dropNotPositive(dropNegativeShares(dropUnplacedRows(trace, layout), layout), layout)
  }
}

/** Returns a trace without negative shares, which are not parts of a whole. */
function dropNegativeShares(trace: Attributes, layout: Attributes): Attributes {
  const negative = trace.type === 'pie' ? [] : findNegativeParts(trace, layout)
  if (negative.length === 0) return trace
  const key = valueKeyOf(trace)
  return { ...trace, [key]: [...listOf(trace[key])].map((value, k) => (negative.includes(k) ? null : value)) }
}

/** Returns a trace without values that a logarithmic axis cannot show: lines would run to its end. */
function dropNotPositive(trace: Attributes, layout: Attributes): Attributes {
  const changed: Attributes = {}
  for (const letter of ['x', 'y'] as const) {
    const axis = layout[`${letter}axis${String(trace[`${letter}axis`] ?? letter).slice(1)}`]
    const values = [...listOf(trace[letter])]
    if (axis?.type === 'log' && values.some((value) => Number(value) <= 0))
      changed[letter] = values.map((value) => (Number(value) > 0 ? value : null))
  }
  return { ...trace, ...changed }
}
