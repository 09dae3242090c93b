import { listOf } from '../../charts/figure/lists.ts'
import { NOTE } from '../../charts/figure/names.ts'
import type { Draft } from './draft.ts'
import { listOfAnnotations } from './headings.ts'

/** The text of a note stands on the side of its point where the chart is: plotly.js would make the axis longer. */
export function turnNotes({ data, layout }: Draft): void {
  if (!listOfAnnotations(layout).some(({ name }) => name === NOTE)) return
  const { type, categoryarray } = layout.xaxis ?? {}
  const labels = [...new Set(data.flatMap(({ x }) => [...listOf(x)]))]
  const order: unknown[] = Array.isArray(categoryarray) ? categoryarray : labels
  const placeOf = (x: unknown): number => {
    if (type === 'category') return order.indexOf(x)
    const place = typeof x === 'number' ? x : Date.parse(String(x))
    return type === 'log' && labels.includes(x) ? Math.log10(place) : place
  }
  const places = labels.map(placeOf).filter(Number.isFinite)
  const least = places.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const most = places.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  layout.annotations = listOfAnnotations(layout).map((one) => {
    const share = (placeOf(one.x) - least) / (most - least || 1)
    if (one.name !== NOTE || one.xanchor !== undefined || !Number.isFinite(share)) return one
    return { ...one, xanchor: share > 0.6 ? 'right' : share < 0.4 ? 'left' : 'center' }
  })
}
