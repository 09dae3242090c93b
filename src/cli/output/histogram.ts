import { stepAbove } from '../../charts/figure/steps.ts'
import type { TextTrace } from './plot-text.ts'

/** Bars of a histogram, at most about as many. */
const BINS = 25

/** Histograms of numbers as the bars that they are, which characters can show; other traces as they are. */
export function withBins(traces: readonly TextTrace[]): readonly TextTrace[] {
  if (traces.length === 0 || !traces.every(isCounted)) return traces
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { x } of traces)
    for (const value of x as unknown[])
      if (typeof value === 'number') [least, most] = [Math.min(least, value), Math.max(most, value)]
  const step = stepAbove((most - least) / BINS)
  const first = Math.floor(least / step)
  const count = Math.floor(most / step) - first + 1
  if (!(most > least) || !(count <= 4 * BINS)) return traces
  return traces.map((trace) => {
    const y = new Array<number>(count).fill(0)
    for (const value of trace.x as unknown[])
      if (typeof value === 'number') y[Math.floor(value / step) - first]++
    return { ...trace, type: 'bar', x: y.map((_, k) => (first + k + 0.5) * step), y }
  })
}

/** A histogram that counts numbers of x, as ours do. */
function isCounted({ type, x, y, ...others }: TextTrace): boolean {
  return (
    type === 'histogram' &&
    y === undefined &&
    Array.isArray(x) &&
    x.every((value) => value === null || (typeof value === 'number' && Number.isFinite(value))) &&
    ['histnorm', 'histfunc', 'cumulative', 'xbins', 'nbinsx'].every((name) => others[name] === undefined)
  )
}
