/// <reference lib="dom" />
// Draws marks that look alike as few paths. plotly.js makes elements for each mark, and styles them twice, which takes
// most of the time of a chart with many: see docs/adr/0055-joined-marks.md.

import type { Figure, PlotlyApi } from '../plotly.ts'
import { joinBars } from './bars.ts'
import { joinPoints } from './clouds.ts'
import { findTraceModule, MIN_MARKS } from './trace-modules.ts'

/** Types of traces whose marks are joined, and what joins them. */
const JOINED = { scatter: joinPoints, bar: joinBars }

/** Builds of plotly.js, with the types of traces whose marks they join. */
const joinedTypes = new WeakMap<PlotlyApi, Set<string>>()

/** Has plotly.js join the marks of a figure. Call it before the figure is drawn. */
export async function joinMarks(plotly: PlotlyApi, { data }: Pick<Figure, 'data'>): Promise<void> {
  const types = joinedTypes.get(plotly) ?? new Set()
  joinedTypes.set(plotly, types)
  for (const [type, join] of Object.entries(JOINED)) {
    if (types.has(type) || !data.some((trace) => mayJoin(trace, type))) continue
    types.add(type)
    const module = await findTraceModule(plotly, type)
    if (module) await join(module, (other) => findTraceModule(plotly, other))
  }
}

function mayJoin(trace: Record<string, unknown> | null, joined: string): boolean {
  const { type = 'scatter', mode, x, y } = trace ?? {}
  const count = Math.max(...[x, y].map((list) => (list as ArrayLike<unknown> | undefined)?.length ?? 0))
  const hasMarks = type !== 'scatter' || mode === undefined || String(mode).includes('markers')
  return type === joined && hasMarks && count >= MIN_MARKS
}
