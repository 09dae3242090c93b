// Position of notes.
import { listOf } from '../../charts/figure/lists.ts'
import { NOTE_NAME } from '../../charts/figure/shared-names.ts'
import type { Draft } from './arrangement.ts'
import { listOfAnnotations } from './titles.ts'

/** Places the text of a note towards the middle of the chart: otherwise plotly.js extends the axis. */
export function placeNotes({ data, layout }: Draft): void {
  if (!listOfAnnotations(layout).some(({ name }) => name === NOTE_NAME)) return
  const { type, categoryarray } = layout.xaxis ?? {}
  const labels = [...new Set(data.flatMap(({ x }) => [...listOf(x)]))]
  const order: unknown[] = Array.isArray(categoryarray) ? categoryarray : labels
  const positionOf = (x: unknown): number => {
    if (type === 'category') return order.indexOf(x)
    const place = typeof x === 'number' ? x : Date.parse(String(x))
    return type === 'log' && labels.includes(x) ? Math.log10(place) : place
  }
  const positions = labels.map(positionOf).filter(Number.isFinite)
  const low = positions.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const high = positions.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  layout.annotations = listOfAnnotations(layout).map((annotation) => {
    const share = (positionOf(annotation.x) - low) / (high - low || 1)
    if (annotation.name !== NOTE_NAME || annotation.xanchor !== undefined || !Number.isFinite(share))
      return annotation
    return { ...annotation, xanchor: share > 0.6 ? 'right' : share < 0.4 ? 'left' : 'center' }
  })
}
