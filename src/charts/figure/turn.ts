import type { Attributes } from './figure.ts'

/** A shape in a chart whose axes are exchanged: a mark of x is one of y, and the other way round. */
export function turnedShape(shape: Attributes): Attributes {
  const { x0, x1, y0, y1, xref, yref, ...rest } = shape
  const other = (ref: unknown): unknown =>
    typeof ref === 'string'
      ? ref.replace(/^[xy](?!\w*domain)/, (letter) => (letter === 'x' ? 'y' : 'x'))
      : ref
  const turned: Attributes = { ...rest, x0: y0, x1: y1, y0: x0, y1: x1, xref: other(yref), yref: other(xref) }
  if (shape.type !== 'line' || !shape.label) return turned
  // The label of a line stands inside of the plot, whichever way the line goes.
  const place =
    turned.y0 === turned.y1 ? { xanchor: 'right', yanchor: 'bottom' } : { xanchor: 'left', yanchor: 'top' }
  return { ...turned, label: { ...shape.label, textangle: 0, ...place } }
}
