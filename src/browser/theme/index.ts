// Applies the theme when a chart is drawn, if `layout.meta.theme` is set.
import { type Figure, themedWith } from './core.ts'
import type { View } from './draft.ts'
import { moreParts } from './more.ts'

export { fitOf, needsFit } from './fit.ts'

/** Calls `applyThemeWith` with all steps. */
export function themed<T extends Figure>(figure: T, view: View): T {
  return themedWith(figure, view, moreParts)
}
