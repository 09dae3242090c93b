/// <reference lib="dom" />
// Draws marks that look alike as few paths. plotly.js makes elements for each mark, and styles them twice, which takes
// most of the time of a chart with many: see docs/adr/0055-joined-marks.md.

import type { Figure, PlotlyApi } from '../plotly.ts'
import { joinBars } from './bars.ts'
import { joinPoints } from './clouds.ts'
import { hasManyMarks, JOINED_TYPES, type JoinedType } from './many-marks.ts'
import { findTraceModule } from './trace-modules.ts'

/** Functions that join the marks of traces, by type. */
const JOINERS = { scatter: joinPoints, bar: joinBars } satisfies Record<JoinedType, unknown>

/** Builds of plotly.js, with the types of traces whose marks they join. */
const joinedTypes = new WeakMap<PlotlyApi, Set<string>>()

/** Has plotly.js join the marks of a figure. Call it before the figure is drawn. */
export async function joinMarks(plotly: PlotlyApi, { data }: Pick<Figure, 'data'>): Promise<void> {
  const types = joinedTypes.get(plotly) ?? new Set()
  joinedTypes.set(plotly, types)
  for (const type of JOINED_TYPES) {
    if (types.has(type) || !data.some((trace) => hasManyMarks(trace, type))) continue
    types.add(type)
    const module = await findTraceModule(plotly, type)
    if (module) await JOINERS[type](module, (other) => findTraceModule(plotly, other))
  }
}
