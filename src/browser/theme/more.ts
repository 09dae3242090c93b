// Steps of the theme that few charts need.
import { nameAreas, unstackNegative } from './areas.ts'
import { keySizes } from './bubbles.ts'
import { arrangeCalendar } from './calendars.ts'
import { centerStacks } from './centers.ts'
import type { MoreParts } from './core.ts'
import { arrangeFacets } from './facets.ts'
import { drawHexagons } from './hexagons.ts'
import { colorSeries } from './hues.ts'
import { formatLogs } from './logs.ts'
import { arrangeMaps } from './maps.ts'
import { turnNotes } from './notes.ts'
import { orderLabels } from './orders.ts'
import { arrangeParts } from './parts.ts'
import { arrangePies } from './pies.ts'
import { arrangePolar, arrangeRose } from './roses.ts'
import { arrangeColors } from './scales.ts'
import { arrangePyramid } from './sides.ts'
import { arrangeSlope } from './slopes.ts'
import { arrangeStems, outlineTimes } from './stems.ts'
import { standLabels } from './upright.ts'
import { thinValues } from './values.ts'

/** Steps by name. */
export const moreParts: MoreParts = {
  arrangeCalendar,
  centerStacks,
  arrangeFacets,
  drawHexagons,
  keySizes,
  arrangeMaps,
  arrangeParts,
  arrangePies,
  arrangePolar,
  arrangeSlope,
  formatLogs,
  nameAreas,
  arrangePyramid,
  colorSeries,
  standLabels,
  unstackNegative,
  arrangeRose,
  arrangeStems,
  orderLabels,
  outlineTimes,
  thinValues,
  turnNotes,
  arrangeColors,
}
