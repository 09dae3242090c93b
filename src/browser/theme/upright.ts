import { type Draft, edgeOf, GAP_PIXELS, labelsOf, shortenedApart, widthOf } from './draft.ts'

/** Labels below a chart that cannot be turned stand upright where they have no room side by side: each that has room for a line. */
export function standLabels({ data, layout, view }: Draft): void {
  const { type, dtick, tickangle, tickvals } = layout.xaxis ?? {}
  const isOpen = dtick === undefined && tickangle === undefined && tickvals === undefined
  if (type !== 'category' || !isOpen || layout.meta.facets || Object.keys(layout).includes('xaxis2')) return
  const labels = labelsOf(data.map(({ x }) => x))
  if (labels === undefined) return
  const room = view.width - 2 * edgeOf(view) - 48
  const widest = Math.max(...labels.map((label) => widthOf(label)))
  if ((widest + GAP_PIXELS) * labels.length <= room) {
    layout.xaxis = { dtick: 1, ...layout.xaxis }
    return
  }
  const step = Math.ceil((labels.length * STANDING_PIXELS) / room)
  const texts = shortenedApart(labels, Math.min(view.height * STANDING_SHARE, MAX_STANDING_PIXELS))
  const labelalias = Object.fromEntries(labels.map((label, k) => [label, texts[k]]))
  layout.xaxis = { dtick: step, tickangle: -90, labelalias, ...layout.xaxis }
}

/** Width of an upright label in pixels; its height is at most this share of the chart, and this many pixels. */
const STANDING_PIXELS = 16
const STANDING_SHARE = 0.3
const MAX_STANDING_PIXELS = 140
