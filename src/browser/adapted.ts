// Adapts figures of an older plotly.js, or in another language, to the current plotly.js.
import { inLocale } from './locales.ts'
import { withToday } from './older.ts'
import type { Figure } from './plotly.ts'
import type { MoreParts } from './theme/core.ts'
import type { PlacesNote } from './theme/fit.ts'

/** Code that few charts need, loaded on demand. */
export interface More {
  adapted: typeof adapted
  parts: MoreParts
  placesNote: PlacesNote
}

declare global {
  var gridlineMore: More | undefined
}

/** Returns a figure as the current plotly.js draws it, with its language. */
export function adapted(figure: Figure): Figure {
  return inLocale(withToday(figure))
}
