// How charts look that Gridline makes from columns: see docs/guide.md#themes. Figures of others are not changed.
import { type Figure, themedWith } from './core.ts'
import type { View } from './draft.ts'
import { moreParts } from './more.ts'

export { fitOf, needsFit } from './fit.ts'

/** `themedWith` with all parts. */
export function themed<T extends Figure>(figure: T, view: View): T {
  return themedWith(figure, view, moreParts)
}
