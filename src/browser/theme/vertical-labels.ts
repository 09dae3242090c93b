// Vertical labels below a chart.
import {
  type Draft,
  edgePixelsOf,
  LABEL_GAP_PIXELS,
  listAxisLabels,
  measureText,
  shortenDistinct,
} from './arrangement.ts'

/** Makes labels vertical if they do not fit and the chart cannot be turned; drops those without space. */
export function turnLabelsVertical({ data, layout, view }: Draft): void {
  const { type, dtick, tickangle, tickvals } = layout.xaxis ?? {}
  const isOpen = dtick === undefined && tickangle === undefined && tickvals === undefined
  if (type !== 'category' || !isOpen || layout.meta.facets || Object.keys(layout).includes('xaxis2')) return
  const labels = listAxisLabels(data.map(({ x }) => x))
  if (labels === undefined) return
  const available = view.width - 2 * edgePixelsOf(view) - 48
  const widest = Math.max(...labels.map((label) => measureText(label)))
  if ((widest + LABEL_GAP_PIXELS) * labels.length <= available) {
    layout.xaxis = { dtick: 1, ...layout.xaxis }
    return
  }
  const step = Math.ceil((labels.length * VERTICAL_LABEL_PIXELS) / available)
  const texts = shortenDistinct(
    labels,
    Math.min(view.height * MAX_VERTICAL_LABEL_SHARE, MAX_VERTICAL_LABEL_PIXELS),
  )
  const labelalias = Object.fromEntries(labels.map((label, k) => [label, texts[k]]))
  layout.xaxis = { dtick: step, tickangle: -90, labelalias, ...layout.xaxis }
}

/** Width of a vertical label in pixels, and its maximum height as a share of the chart and in pixels. */
const VERTICAL_LABEL_PIXELS = 16
const MAX_VERTICAL_LABEL_SHARE = 0.3
const MAX_VERTICAL_LABEL_PIXELS = 140
