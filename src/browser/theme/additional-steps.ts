// Steps of the theme that few charts need.
import { nameAreas, unstackNegative } from './areas.ts'
import { arrangeCalendar } from './calendars.ts'
import { centerStacks } from './centers.ts'
import { arrangeColorScales } from './color-scales.ts'
import type { AdditionalSteps } from './core.ts'
import { arrangeFacets } from './facets.ts'
import { drawHexagons } from './hexagons.ts'
import { orderLabels } from './label-order.ts'
import { formatLogAxes } from './log-axes.ts'
import { arrangeMaps } from './maps.ts'
import { placeNotes } from './notes.ts'
import { arrangeSingleTypes } from './other-types.ts'
import { arrangePies } from './pies.ts'
import { addPolarMargins, sortPolarLabels } from './polar.ts'
import { colorSeries } from './series-colors.ts'
import { addSizeLegend } from './size-legend.ts'
import { arrangeSlopeAxis } from './slopes.ts'
import { arrangeStems, outlineShortBars } from './stems.ts'
import { arrangePyramid } from './unsigned-axes.ts'
import { thinValues } from './value-labels.ts'
import { turnLabelsVertical } from './vertical-labels.ts'

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
  outlineShortBars,
  thinValues,
  turnNotes: placeNotes,
  arrangeColors: arrangeColorScales,
}
