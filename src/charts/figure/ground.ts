import type { Attributes } from './figure.ts'

/** Whether a template has colors of the ground, with which it is light unless it has others for the dark. */
export function hasGround({ layout }: Attributes): boolean {
  return layout?.paper_bgcolor !== undefined || layout?.plot_bgcolor !== undefined
}
