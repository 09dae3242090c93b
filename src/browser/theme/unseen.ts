// Collects the footer line that lists omitted data: see docs/guide.md#looks.
import { counted } from '../../contract/closest.ts'
import { escapedMarkup } from '../../contract/markup.ts'
import { type Attributes, type Draft, listOf } from './draft.ts'

/** Types that begin at zero. */
const FROM_ZERO: ReadonlySet<string> = new Set(['bar', 'waterfall', 'funnel'])

/** Notes what is in the data and not in the chart, and an axis that cuts what begins at zero. */
export function noteUnseen(draft: Draft): void {
  const { data, layout, unseen } = draft
  for (const text of listOf(layout.meta.notShown)) unseen.push(escapedMarkup(String(text)))
  let [unsized, negative, notAbove] = [0, 0, 0]
  for (const trace of data) {
    const sizes = listOf(trace.marker?.size)
    for (const size of trace.marker?.sizeref === undefined ? [] : sizes)
      if (typeof size !== 'number') unsized++
      else if (size < 0) negative++
    for (const letter of ['x', 'y'] as const) {
      const axis = String(trace[`${letter}axis`] ?? letter)
      if (layout[`${letter}axis${axis.slice(1)}`]?.type !== 'log') continue
      for (const value of listOf(trace[letter])) if (typeof value === 'number' && value <= 0) notAbove++
    }
  }
  if (unsized > 0) unseen.push(`${counted(unsized, 'row')} without size`)
  if (negative > 0) unseen.push(`${counted(negative, 'row')} with a size below zero`)
  if (notAbove > 0) unseen.push(`${counted(notAbove, 'value')} not above zero`)
  const cut = data.some(isFromZero) && cutEnd(layout, data)
  if (cut !== false) draft.remarks.push(`The axis begins at ${cut}, not at zero`)
}

function isFromZero({ type = 'scatter', fill, stackgroup, error_y, error_x }: Attributes): boolean {
  const isStem = [error_x, error_y].some((error) => error?.arrayminus !== undefined && error.width === 0)
  return FROM_ZERO.has(type) || isStem || stackgroup !== undefined || fill === 'tozeroy' || fill === 'tozerox'
}

/** The end of the axis of values that is nearest to zero, if zero is not on it; false otherwise. */
function cutEnd(layout: Attributes, data: readonly Attributes[]): number | false {
  const axis = data.some(({ orientation }) => orientation === 'h') ? layout.xaxis : layout.yaxis
  if (axis?.type === 'log' || !Array.isArray(axis?.range)) return false
  const [low, high] = [...axis.range].map(Number).sort((a, b) => a - b)
  return low > 0 ? low : high < 0 ? high : false
}
