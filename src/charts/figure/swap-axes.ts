// Swaps x and y of shapes.
import type { Attributes } from './figure.ts'

/** Returns a shape for a chart with swapped axes: a line at x becomes a line at y, and vice versa. */
export function swapShapeAxes(shape: Attributes): Attributes {
  const { x0, x1, y0, y1, xref, yref, ...rest } = shape
  const swapReference = (ref: unknown): unknown =>
    typeof ref === 'string'
      ? ref.replace(/^[xy](?!\w*domain)/, (letter) => (letter === 'x' ? 'y' : 'x'))
      : ref
  const swapped: Attributes = {
    ...rest,
    x0: y0,
    x1: y1,
    y0: x0,
    y1: x1,
    xref: swapReference(yref),
    yref: swapReference(xref),
  }
  if (shape.type !== 'line' || !shape.label) return swapped
  // Keep the label inside the plot.
  const anchors =
    swapped.y0 === swapped.y1 ? { xanchor: 'right', yanchor: 'bottom' } : { xanchor: 'left', yanchor: 'top' }
  return { ...swapped, label: { ...shape.label, textangle: 0, ...anchors } }
}
