// Steps of the theme that few charts need.
import { nameAreas, unstackNegative } from './areas.ts'
import { addSizeLegend } from './bubbles.ts'
import { arrangeCalendar } from './calendars.ts'
import { centerStacks } from './centers.ts'
import type { AdditionalSteps } from './core.ts'
import { arrangeFacets } from './facets.ts'
import { drawHexagons } from './hexagons.ts'
import { colorSeries } from './hues.ts'
import { formatLogAxes } from './logs.ts'
import { arrangeMaps } from './maps.ts'
import { placeNotes } from './notes.ts'
import { orderLabels } from './orders.ts'
import { arrangeSingleTypes } from './parts.ts'
import { arrangePies } from './pies.ts'
import { addPolarMargins, sortPolarLabels } from './roses.ts'
import { arrangeColorScales } from './scales.ts'
import { arrangePyramid } from './sides.ts'
import { arrangeSlopeAxis } from './slopes.ts'
import { arrangeStems, outlineTimelineBars } from './stems.ts'
import { turnLabelsVertical } from './upright.ts'
import { thinValues } from './values.ts'

/** Steps by name. */
export const ADDITIONAL_STEPS: AdditionalSteps = {
  arrangeCalendar,
  centerStacks,
  arrangeFacets,
  drawHexagons,
  keySizes: addSizeLegend,
  arrangeMaps,
  arrangeParts: arrangeSingleTypes,
  arrangePies,
  arrangePolar: addPolarMargins,
  arrangeSlope: arrangeSlopeAxis,
  formatLogs: formatLogAxes,
  nameAreas,
  arrangePyramid,
  colorSeries,
  standLabels: turnLabelsVertical,
  unstackNegative,
  arrangeRose: sortPolarLabels,
  arrangeStems,
  orderLabels,
  outlineTimes: outlineTimelineBars,
  thinValues,
  turnNotes: placeNotes,
  arrangeColors: arrangeColorScales,
}
