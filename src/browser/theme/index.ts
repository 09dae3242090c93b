// Applies the theme when a chart is drawn, if `layout.meta.theme` is set.
import { applyThemeWith, type Figure } from './core.ts'
import type { View } from './draft.ts'
import { ADDITIONAL_STEPS } from './more.ts'

export { measuredChanges, needsMeasuring } from './fit.ts'

/** Calls `applyThemeWith` with all steps. */
export function applyTheme<T extends Figure>(figure: T, view: View): T {
  return applyThemeWith(figure, view, ADDITIONAL_STEPS)
}
