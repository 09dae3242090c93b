// Stacks around a middle line (`--stack center`): streams and diverging bars.
import { listOf } from '../../charts/figure/lists.ts'
import type { Attributes, Draft } from './arrangement.ts'
import { colorwayOf } from './colors.ts'
import { writeTicksWithoutSign } from './unsigned-axes.ts'

/** Moves stacked series around a middle line, for `--stack center`. */
export function centerStacks(draft: Draft): void {
  const { data, layout } = draft
  if (layout.meta.isCentered !== true) return
  if (data.some(({ stackgroup }) => stackgroup !== undefined)) centerAreas(draft)
  else centerBars(draft)
}

/** Returns a map key that distinguishes labels from numbers. */
const mapKeyOf = (value: unknown): string => `${typeof value} ${String(value)}`

/** Adds an invisible first area that shifts the others to the middle. */
function centerAreas(draft: Draft): void {
  const { data, layout } = draft
  const totals = new Map<string, { x: unknown; total: number }>()
  for (const trace of data)
    for (const [k, x] of [...listOf(trace.x)].entries()) {
      const entry = totals.get(mapKeyOf(x)) ?? { x, total: 0 }
      entry.total += Number(listOf(trace.y)[k]) || 0
      totals.set(mapKeyOf(x), entry)
    }
  const points = [...totals.values()]
  if (layout.xaxis?.type !== 'category')
    points.sort((a, b) => (a.x === b.x ? 0 : (a.x as number) < (b.x as number) ? -1 : 1))
  const colors = colorwayOf(draft)
  const colored = data.map((trace, k) => ({
    ...trace,
    line: { color: colors[k % colors.length], width: 0.5, ...trace.line },
  }))
  const base = {
    ...{ type: 'scatter', mode: 'lines', stackgroup: data[0].stackgroup, line: { width: 0 } },
    ...{ x: points.map(({ x }) => x), y: points.map(({ total }) => -total / 2) },
    ...{ fillcolor: 'rgba(0,0,0,0)', hoverinfo: 'skip', showlegend: false },
  }
  draft.data = [base, ...colored]
  // The axis numbers are meaningless: only the heights count.
  layout.yaxis = { ...layout.yaxis, showticklabels: false, showgrid: false, title: { text: '' } }
}

/** Stacks bars so that the middle series is at zero. */
function centerBars(draft: Draft): void {
  const { data, layout } = draft
  const isHorizontal = data.every(({ orientation }) => orientation === 'h')
  const [labelKey, valueKey] = isHorizontal ? (['y', 'x'] as const) : (['x', 'y'] as const)
  const sizeAt = (trace: Attributes, k: number): number =>
    Math.max(0, Number(listOf(trace[valueKey])[k]) || 0)
  const starts = new Map<string, number>()
  for (const [n, trace] of data.entries()) {
    const share = Math.min(1, Math.max(0, data.length / 2 - n))
    for (const [k, label] of [...listOf(trace[labelKey])].entries())
      starts.set(mapKeyOf(label), (starts.get(mapKeyOf(label)) ?? 0) - share * sizeAt(trace, k))
  }
  draft.data = data.map((trace) => {
    const sizes = [...listOf(trace[labelKey])].map((_, k) => sizeAt(trace, k))
    const base = [...listOf(trace[labelKey])].map((label, k) => {
      const start = starts.get(mapKeyOf(label))!
      starts.set(mapKeyOf(label), start + sizes[k])
      return start
    })
    return {
      ...trace,
      base,
      [valueKey]: sizes,
      customdata: sizes,
      hovertemplate: `%{${labelKey}}: %{customdata}`,
    }
  })
  layout.barmode = 'overlay'
  writeTicksWithoutSign(
    layout,
    isHorizontal ? 'xaxis' : 'yaxis',
    Math.max(...[...starts.values()].map(Math.abs)),
  )
}
