import { listOf } from '../../charts/figure/lists.ts'
import { COMPASS } from '../../charts/figure/names.ts'
import type { Draft } from './draft.ts'

/** Points of the compass stand where they are on it: as few of 4, 8 or 16 as there need to be. */
export function arrangeRose({ data, layout }: Draft): void {
  if (layout.meta.chart !== 'rose' || layout.polar?.angularaxis?.categoryarray !== undefined) return
  const found = new Set(data.flatMap(({ theta }) => [...listOf(theta)].map(String)))
  const rounds = [4, 2, 1].map((step) => COMPASS.filter((_, k) => k % step === 0))
  const points = rounds.find((names) => [...found].every((name) => names.includes(name)))
  if (points === undefined || found.size === 0) return
  const angularaxis = { ...layout.polar?.angularaxis, categoryorder: 'array', categoryarray: points }
  layout.polar = { ...layout.polar, angularaxis }
}
