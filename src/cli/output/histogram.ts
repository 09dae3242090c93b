// Converts histograms to bars.
import { roundUpToStep } from '../../charts/figure/steps.ts'
import type { TextTrace } from './plot-marks.ts'

/** Approximate maximum number of bars. */
const MAX_BINS = 25

/** Converts histograms of numbers to bar traces, which characters can show. Other traces are unchanged. */
export function withBins(traces: readonly TextTrace[]): readonly TextTrace[] {
  if (traces.length === 0 || !traces.every(isCountHistogram)) return traces
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { x } of traces)
    for (const value of x)
      if (typeof value === 'number') [min, max] = [Math.min(min, value), Math.max(max, value)]
  const step = roundUpToStep((max - min) / MAX_BINS)
  const first = Math.floor(min / step)
  const count = Math.floor(max / step) - first + 1
  if (!(max > min) || !(count <= 4 * MAX_BINS)) return traces
  return traces.map((trace) => {
    const y = new Array<number>(count).fill(0)
    for (const value of trace.x) if (typeof value === 'number') y[Math.floor(value / step) - first]++
    return { ...trace, type: 'bar', x: y.map((_, k) => (first + k + 0.5) * step), y }
  })
}

/** Returns whether a trace is a histogram that only counts numbers of x, without bins or norm of its own. */
function isCountHistogram(trace: TextTrace): trace is TextTrace & { x: (number | null)[] } {
  const { type, x, y, ...attributes } = trace
  return (
    type === 'histogram' &&
    y === undefined &&
    Array.isArray(x) &&
    x.every((value) => value === null || (typeof value === 'number' && Number.isFinite(value))) &&
    ['histnorm', 'histfunc', 'cumulative', 'xbins', 'nbinsx'].every((name) => attributes[name] === undefined)
  )
}
