// Background colors of templates.
import type { Attributes } from './figure.ts'

/** Returns whether a template sets a background color: it then looks light unless it has a dark variant. */
export function hasBackground({ layout }: Attributes): boolean {
  return layout?.paper_bgcolor !== undefined || layout?.plot_bgcolor !== undefined
}
