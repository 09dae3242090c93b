import { inLocale } from './locales.ts'
import { withToday } from './older.ts'
import type { Figure } from './plotly.ts'
import type { MoreParts } from './theme/core.ts'
import type { PlacesNote } from './theme/fit.ts'

/** The parts that few charts need. */
export interface More {
  adapted: typeof adapted
  parts: MoreParts
  placesNote: PlacesNote
}

declare global {
  var gridlineMore: More | undefined
}

/** A figure of an earlier plotly.js, or in another language, as the present one draws it. */
export function adapted(figure: Figure): Figure {
  return inLocale(withToday(figure))
}
