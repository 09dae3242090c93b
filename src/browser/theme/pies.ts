import { listOf } from '../../charts/figure/lists.ts'
import { type Draft, isNarrow, TEXT_PIXELS } from './draft.ts'

/** Slices below this share have no label: there is no room for it. */
const MIN_SHARE = 0.03
/** Height of a label beside the pie, which has two lines. */
const LABEL_PIXELS = 2 * (TEXT_PIXELS + 5)

/** Labels of slices are beside the pie, and on a phone in a legend above it. Small slices have none. */
export function arrangePies({ data, layout, view, above }: Draft): void {
  for (const [k, trace] of data.entries()) {
    if (trace.type !== 'pie' || trace.texttemplate !== undefined || trace.textinfo !== undefined) continue
    const given = [...listOf(trace.values)]
    const values = given.map((value) => (typeof value === 'number' && value > 0 ? value : 0))
    const total = values.reduce((sum, value) => sum + value, 0)
    const narrow = isNarrow(view)
    // A slice that is too thin for its name is named in a legend.
    const hasThin = values.some((value) => value > 0 && value / total < MIN_SHARE)
    const shown = narrow ? '%{percent:.0%}' : '%{label}<br>%{percent:.0%}'
    data[k] = {
      ...trace,
      // plotly.js draws no slice of a value below zero, and counts it in the total.
      values: given.map((value) => (typeof value === 'number' && value >= 0 ? value : null)),
      texttemplate: values.map((value) => (value / total >= MIN_SHARE ? shown : '')),
      textposition: narrow ? 'inside' : 'outside',
      automargin: true,
      showlegend: narrow || hasThin,
      ...(trace.direction === undefined && { direction: 'clockwise' }),
    }
    if (narrow || hasThin) layout.showlegend ??= true
    // Labels of slices at the top stand above the pie.
    if (!narrow) above.axis = LABEL_PIXELS
  }
}
