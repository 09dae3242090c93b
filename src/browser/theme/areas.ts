// Theme of area charts.
import { listOf } from '../../charts/figure/lists.ts'
import { hasNegative } from '../../charts/omitted.ts'
import type { Attributes, Draft } from './arrangement.ts'
import { listNameableSeries, writeEndNames } from './series.ts'

/** Writes the names of stacked areas at their ends, instead of a legend. */
export function nameAreas(draft: Draft): void {
  const areas = listNameableSeries(draft)
  if (areas.every(isArea)) writeEndNames(draft, areas, areaMiddlesOf(areas, draft.layout), [])
}

function isArea({ stackgroup, xaxis, yaxis }: Attributes): boolean {
  return stackgroup !== undefined && !xaxis && !yaxis
}

/** Returns the vertical middle of each stacked area at the last x. */
function areaMiddlesOf(areas: readonly Attributes[], layout: Attributes): (number | undefined)[] {
  if (areas.length === 0) return []
  const last = areas
    .map(({ x }) => [...listOf(x)].at(-1))
    .reduce((a, b) => ((b as number) > (a as number) ? b : a))
  const sizes = areas.map(({ x, y }) => Number(listOf(y)[[...listOf(x)].lastIndexOf(last)]) || 0)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const isShare = areas.some(({ groupnorm }) => groupnorm === 'percent')
  const scale = isShare ? 100 / (total || 1) : 1
  let bottom = layout.meta.isCentered === true ? -total / 2 : 0
  return sizes.map((size) => {
    const middle = (bottom + size / 2) * scale
    bottom += size
    return middle
  })
}

/** Draws stacked areas with negative values as lines, because the areas would overlap. */
export function unstackNegative({ data, remarks }: Draft): void {
  if (!data.some((trace) => trace.stackgroup !== undefined && hasNegative(trace))) return
  remarks.push('Areas with values below zero are drawn as lines, not stacked')
  for (const [k, { stackgroup, groupnorm: _, ...trace }] of data.entries())
    data[k] = stackgroup === undefined ? { ...trace } : { ...trace, fill: 'none' }
}
