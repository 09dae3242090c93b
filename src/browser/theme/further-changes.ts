// Corrections after the first drawing that few charts need.
import { MARK_NAME } from '../../charts/figure/shared-names.ts'
import { type Attributes, measureText } from './arrangement.ts'
import { findPlacesNote } from './maps.ts'

/** Space between a vertical mark and its label, in pixels. */
const MARK_GAP_PIXELS = 6

/** Returns the layout changes of a drawn chart: a note on unknown places, and labels of marks. */
export function furtherChanges(chart: unknown, annotations: readonly Attributes[]): Attributes {
  const note = findPlacesNote(chart, annotations)
  return { ...markChanges(chart), ...(note && { annotations: [...annotations, note] }) }
}

/** Returns whether a shape is a vertical mark with a label. */
export function hasLabelBeside({ name, label, x0, x1 }: Attributes): boolean {
  return name === MARK_NAME && label?.text !== undefined && x0 === x1
}

/** Moves labels of vertical marks to the left of their lines, if they do not fit on the right. */
function markChanges(chart: unknown): Attributes {
  // biome-ignore lint/suspicious/noExplicitAny: the inner data of plotly.js has no types
  const { _fullLayout: full, layout } = chart as any
  const changes: Attributes = {}
  for (const [k, shape] of (layout.shapes ?? []).entries()) {
    const axis = full[`xaxis${String(shape.xref ?? 'x').slice(1)}`]
    if (!hasLabelBeside(shape) || !axis?.r2p) continue
    const at = axis.r2p(axis.type === 'log' ? Math.log10(Number(shape.x0)) : shape.x0)
    const width = measureText(String(shape.label.text), shape.label.font?.size) + MARK_GAP_PIXELS
    if (at + width > axis._length && at > width) changes[`shapes[${k}].label.xanchor`] = 'right'
  }
  return changes
}
