// Collects the footer line that lists omitted data: see docs/guide.md#looks.
import { unseenIn } from '../../charts/unseen.ts'
import { escapedMarkup } from '../../contract/markup.ts'
import type { Draft } from './draft.ts'

/** Notes what is in the data and not in the chart, and an axis that cuts what begins at zero. */
export function noteUnseen({ data, layout, unseen, remarks }: Draft): void {
  const found = unseenIn({ data, layout })
  unseen.push(...found.unseen.map(escapedMarkup))
  remarks.push(...found.remarks)
}
