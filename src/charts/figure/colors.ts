// Default colors of series.

/** Colors of series, distinguishable with any color blindness, on light and dark backgrounds. */
export const COLORS = '#2f6fd6 #d95f1e #25a269 #d40039 #8d8cd4 #b81b94 #9513ff #c2759b'.split(' ')
/** Colors for a dark background, where thin lines need a contrast of 4.5 : 1. */
export const DARK_COLORS = '#7a97fb #eb6e2d #34ad73 #f63951 #b7b4ff #e550bd #9f5aff #f5a4cb'.split(' ')
