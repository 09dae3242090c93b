// Makers of all chart types.
import type { ChartType } from '../../spec/types.ts'
import type { Maker } from '../maker-input.ts'
import { barsMakers } from './bars.ts'
import { cellsMakers } from './cells.ts'
import { linesMakers } from './lines.ts'
import { mapsMakers } from './maps.ts'
import { pointsMakers } from './points.ts'
import { polarMakers } from './polar.ts'
import { spreadsMakers } from './spreads.ts'
import { tablesMakers } from './tables.ts'
import { wholesMakers } from './wholes.ts'

/** Makers by chart type. A type without a maker does not compile. */
export const makers: Record<ChartType, Maker> = {
  ...linesMakers,
  ...pointsMakers,
  ...barsMakers,
  ...spreadsMakers,
  ...cellsMakers,
  ...wholesMakers,
  ...polarMakers,
  ...mapsMakers,
  ...tablesMakers,
}
