// Collects the footer line that lists omitted data: see docs/guide.md#looks.
import { placed, unseenIn } from '../../charts/unseen.ts'
import { escapedMarkup } from '../../contract/markup.ts'
import type { Draft } from './draft.ts'

/** Notes what is in the data and not in the chart, and an axis that cuts what begins at zero. */
export function noteUnseen({ data, layout, unseen, remarks }: Draft): void {
  const found = unseenIn({ data, layout })
  unseen.push(...found.unseen.map(escapedMarkup))
  remarks.push(...found.remarks)
}

/** Leaves out rows without a place, which would break lines and make axes longer. */
export function dropPlaceless({ data, layout }: Draft): void {
  for (const [k, trace] of data.entries()) data[k] = placed(trace, layout)
}
