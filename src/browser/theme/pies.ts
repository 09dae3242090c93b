import { type Draft, isNarrow, listOf } from './draft.ts'

/** Slices below this share have no label: there is no room for it. */
const LEAST_SHARE = 0.03

/** Labels of slices are beside the pie, and on a phone in a legend above it. Small slices have none. */
export function arrangePies({ data, layout, view }: Draft): void {
  for (const [k, trace] of data.entries()) {
    if (trace.type !== 'pie' || trace.texttemplate !== undefined || trace.textinfo !== undefined) continue
    const values = [...listOf(trace.values)].map((value) =>
      typeof value === 'number' && value > 0 ? value : 0,
    )
    const total = values.reduce((sum, value) => sum + value, 0)
    const narrow = isNarrow(view)
    const shown = narrow ? '%{percent:.0%}' : '%{label}<br>%{percent:.0%}'
    data[k] = {
      ...trace,
      texttemplate: values.map((value) => (value / total >= LEAST_SHARE ? shown : '')),
      textposition: narrow ? 'inside' : 'outside',
      automargin: true,
      showlegend: narrow,
      ...(trace.direction === undefined && { direction: 'clockwise' }),
    }
    if (narrow) layout.showlegend ??= true
  }
}
