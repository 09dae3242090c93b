// Applies the theme when a chart is drawn, if `layout.meta.theme` is set.

import { ADDITIONAL_STEPS } from './additional-steps.ts'
import type { View } from './arrangement.ts'
import { applyThemeWith, type Figure } from './core.ts'

export { measuredChanges, needsMeasuring } from './measured.ts'

/** Calls `applyThemeWith` with all steps. */
export function applyTheme<T extends Figure>(figure: T, view: View): T {
  return applyThemeWith(figure, view, ADDITIONAL_STEPS)
}
