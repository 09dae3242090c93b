// Series around a middle: streams, and bars that part at their middle series.
import { listOf } from '../../charts/figure/lists.ts'
import { colorsOf } from './colors.ts'
import type { Attributes, Draft } from './draft.ts'
import { showBothSides } from './sides.ts'

/** Moves stacked series so that they are around a middle, where `--stack center` asks for it. */
export function centerStacks(draft: Draft): void {
  const { data, layout } = draft
  if (layout.meta.isCentered !== true) return
  if (data.some(({ stackgroup }) => stackgroup !== undefined)) centerAreas(draft)
  else centerBars(draft)
}

/** The key of a label or a number in a map. */
const keyOf = (value: unknown): string => `${typeof value} ${String(value)}`

/** A first area, which is not seen, lifts the others from below the middle. */
function centerAreas(draft: Draft): void {
  const { data, layout } = draft
  const totals = new Map<string, { x: unknown; total: number }>()
  for (const trace of data)
    for (const [k, x] of [...listOf(trace.x)].entries()) {
      const own = totals.get(keyOf(x)) ?? { x, total: 0 }
      own.total += Number(listOf(trace.y)[k]) || 0
      totals.set(keyOf(x), own)
    }
  const points = [...totals.values()]
  if (layout.xaxis?.type !== 'category')
    points.sort((a, b) => (a.x === b.x ? 0 : (a.x as number) < (b.x as number) ? -1 : 1))
  const colors = colorsOf(draft)
  const colored = data.map((trace, k) => ({
    ...trace,
    line: { color: colors[k % colors.length], width: 0.5, ...trace.line },
  }))
  const ground = {
    ...{ type: 'scatter', mode: 'lines', stackgroup: data[0].stackgroup, line: { width: 0 } },
    ...{ x: points.map(({ x }) => x), y: points.map(({ total }) => -total / 2) },
    ...{ fillcolor: 'rgba(0,0,0,0)', hoverinfo: 'skip', showlegend: false },
  }
  draft.data = [ground, ...colored]
  // Its numbers say nothing: the heights of areas do.
  layout.yaxis = { ...layout.yaxis, showticklabels: false, showgrid: false, title: { text: '' } }
}

/** Bars begin where the one before them ends, and the middle of the series is at zero. */
function centerBars(draft: Draft): void {
  const { data, layout } = draft
  const isTurned = data.every(({ orientation }) => orientation === 'h')
  const [along, up] = isTurned ? (['y', 'x'] as const) : (['x', 'y'] as const)
  const sizeAt = (trace: Attributes, k: number): number => Math.max(0, Number(listOf(trace[up])[k]) || 0)
  const starts = new Map<string, number>()
  for (const [n, trace] of data.entries()) {
    const share = Math.min(1, Math.max(0, data.length / 2 - n))
    for (const [k, label] of [...listOf(trace[along])].entries())
      starts.set(keyOf(label), (starts.get(keyOf(label)) ?? 0) - share * sizeAt(trace, k))
  }
  draft.data = data.map((trace) => {
    const sizes = [...listOf(trace[along])].map((_, k) => sizeAt(trace, k))
    const base = [...listOf(trace[along])].map((label, k) => {
      const start = starts.get(keyOf(label))!
      starts.set(keyOf(label), start + sizes[k])
      return start
    })
    return { ...trace, base, [up]: sizes, customdata: sizes, hovertemplate: `%{${along}}: %{customdata}` }
  })
  layout.barmode = 'overlay'
  showBothSides(layout, isTurned ? 'xaxis' : 'yaxis', Math.max(...[...starts.values()].map(Math.abs)))
}
