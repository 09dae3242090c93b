// Theme of pies.
import { listOf } from '../../charts/figure/lists.ts'
import { type Attributes, type Draft, isNarrow, shortenDistinct, TEXT_PIXELS } from './arrangement.ts'

/** Minimum share of a slice with a label. */
const MIN_LABELED_SHARE = 0.03
/** Height of a two-line label beside the pie, in pixels. */
const LABEL_PIXELS = 2 * (TEXT_PIXELS + 5)

/** Maximum width of a label beside the pie, and in the legend of narrow screens, as shares of the chart. */
const MAX_LABEL_SHARE = 0.24
const MAX_LEGEND_SHARE = 0.7

/** Returns the labels of a pie as far as there is room, and their full texts on hover. */
function shortenLabels(trace: Attributes, maxWidth: number): Attributes {
  const labels = [...listOf(trace.labels)]
  const texts = labels.map((label) => String(label ?? ''))
  const names = [...new Set(texts)]
  const short = shortenDistinct(names, maxWidth)
  if (short.every((name, k) => name === names[k])) return {}
  const shortByName = new Map(names.map((name, k) => [name, short[k]]))
  // plotly.js joins the texts of slices of one label.
  const isPlain =
    names.length === texts.length &&
    [trace.hovertext, trace.hovertemplate, trace.hoverinfo].every((value) => value === undefined)
  return {
    labels: texts.map((text) => shortByName.get(text)),
    ...(isPlain && {
      hovertext: texts,
      hovertemplate: '%{hovertext}<br>%{value}<br>%{percent}<extra></extra>',
    }),
  }
}

/** Places labels outside the pie; on narrow screens in a legend. None below `MIN_LABELED_SHARE`. */
export function arrangePies({ data, layout, view, above }: Draft): void {
  for (const [k, trace] of data.entries()) {
    if (trace.type !== 'pie' || trace.texttemplate !== undefined || trace.textinfo !== undefined) continue
    const originals = [...listOf(trace.values)]
    const values = originals.map((value) => (typeof value === 'number' && value > 0 ? value : 0))
    const total = values.reduce((sum, value) => sum + value, 0)
    const narrow = isNarrow(view)
    // List slices that are too thin for a label in the legend.
    const hasThin = values.some((value) => value > 0 && value / total < MIN_LABELED_SHARE)
    const template = narrow ? '%{percent:.0%}' : '%{label}<br>%{percent:.0%}'
    data[k] = {
      ...trace,
      ...shortenLabels(trace, view.width * (narrow ? MAX_LEGEND_SHARE : MAX_LABEL_SHARE)),
      // plotly.js omits negative slices, but includes them in the total.
      values: originals.map((value) => (typeof value === 'number' && value >= 0 ? value : null)),
      texttemplate: values.map((value) => (value / total >= MIN_LABELED_SHARE ? template : '')),
      textposition: narrow ? 'inside' : 'outside',
      automargin: true,
      showlegend: narrow || hasThin,
      ...(trace.direction === undefined && { direction: 'clockwise' }),
    }
    if (narrow || hasThin) layout.showlegend ??= true
    // Labels of the top slices are above the pie.
    if (!narrow) above.axis = LABEL_PIXELS
  }
}
