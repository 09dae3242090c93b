import { keySizes } from './bubbles.ts'
import { arrangeCalendar } from './calendars.ts'
import { centerStacks } from './centers.ts'
import type { MoreParts } from './core.ts'
import { arrangeFacets } from './facets.ts'
import { drawHexagons } from './hexagons.ts'
import { arrangeMaps } from './maps.ts'
import { arrangeParts } from './parts.ts'
import { arrangePies } from './pies.ts'
import { arrangeRose } from './roses.ts'
import { arrangeColors } from './scales.ts'

/** The parts that few charts need. */
export const moreParts: MoreParts = {
  arrangeCalendar,
  centerStacks,
  arrangeFacets,
  drawHexagons,
  keySizes,
  arrangeMaps,
  arrangeParts,
  arrangePies,
  arrangeRose,
  arrangeColors,
}
