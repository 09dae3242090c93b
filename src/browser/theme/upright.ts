// Vertical labels below a chart.
import { type Draft, edgeOf, GAP_PIXELS, labelsOf, shortenedApart, widthOf } from './draft.ts'

/** Makes labels vertical if they do not fit and the chart cannot be turned; drops those without space. */
export function standLabels({ data, layout, view }: Draft): void {
  const { type, dtick, tickangle, tickvals } = layout.xaxis ?? {}
  const isOpen = dtick === undefined && tickangle === undefined && tickvals === undefined
  if (type !== 'category' || !isOpen || layout.meta.facets || Object.keys(layout).includes('xaxis2')) return
  const labels = labelsOf(data.map(({ x }) => x))
  if (labels === undefined) return
  const available = view.width - 2 * edgeOf(view) - 48
  const widest = Math.max(...labels.map((label) => widthOf(label)))
  if ((widest + GAP_PIXELS) * labels.length <= available) {
    layout.xaxis = { dtick: 1, ...layout.xaxis }
    return
  }
  const step = Math.ceil((labels.length * STANDING_PIXELS) / available)
  const texts = shortenedApart(labels, Math.min(view.height * STANDING_SHARE, MAX_STANDING_PIXELS))
  const labelalias = Object.fromEntries(labels.map((label, k) => [label, texts[k]]))
  layout.xaxis = { dtick: step, tickangle: -90, labelalias, ...layout.xaxis }
}

/** Width of a vertical label in pixels, and its maximum height as a share of the chart and in pixels. */
const STANDING_PIXELS = 16
const STANDING_SHARE = 0.3
const MAX_STANDING_PIXELS = 140
