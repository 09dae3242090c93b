/// <reference lib="dom" />

// Corrections that need measured sizes, after the first drawing.
import { SOURCE_NAME } from '../../charts/figure/shared-names.ts'
import { type Attributes, EDGE_PIXELS, TEXT_PIXELS } from './arrangement.ts'
import { type furtherChanges, hasLabelBeside } from './further-changes.ts'
import { hasLogo, logoChanges } from './logo.ts'
import { END_NAME } from './series.ts'
import {
  FOOTER_LINE_PIXELS,
  hasColorbarBelow,
  isBelow,
  listOfAnnotations,
  SOURCE_PIXELS,
  Y_TITLE,
} from './titles.ts'

/** Height of the name of a line, in pixels. */
const LINE_NAME_PIXELS = TEXT_PIXELS + 4

/**
 * Returns layout changes that depend on the drawn sizes: overlapping names of lines, the source below the
 * axis. Undefined if there are none. `listFurther`: those that few charts need.
 */
export function measuredChanges(chart: unknown, listFurther?: typeof furtherChanges): Attributes | undefined {
  // biome-ignore lint/suspicious/noExplicitAny: the inner data of plotly.js has no types
  const { _fullLayout: full, layout, data = [] } = chart as any
  const size = full?._size
  const annotations = listOfAnnotations(layout ?? {})
  if (!size || layout?.meta?.theme === undefined) return undefined
  const changes: Attributes = logoChanges({ images: layout?.images, width: full.width }, size)
  const ends = annotations.flatMap(({ name, y }, k) =>
    name === END_NAME ? [{ k, at: full.yaxis?.r2p?.(y) }] : [],
  )
  if (ends.length > 1 && ends.every(({ at }) => Number.isFinite(at)))
    for (const { k, shift } of spreadNames(ends, size.h)) changes[`annotations[${k}].yshift`] = -shift
  Object.assign(changes, listFurther?.(chart, annotations))
  // Align title, legend, axis title and source on the left.
  const axisTitle = annotations.findIndex(({ name }) => name === Y_TITLE)
  const leftShift = layout.margin.l - size.l
  if (axisTitle >= 0 && Math.abs(leftShift) > 1 && full.xaxis?.domain?.[0] === 0)
    changes[`annotations[${axisTitle}].xshift`] = leftShift
  const source = annotations.findIndex(({ name }) => name === SOURCE_NAME)
  if (source >= 0) {
    // Leave space for the axis labels.
    const extraLines = String(annotations[source].text).split('<br>').length - 1
    // A legend or color bar below the axis has already been lifted.
    const isLifted = hasColorbarBelow(data) || [layout.legend, layout.coloraxis?.colorbar].some(isBelow)
    changes['margin.b'] = size.b + (isLifted ? 0 : SOURCE_PIXELS + extraLines * FOOTER_LINE_PIXELS)
    changes[`annotations[${source}].yshift`] = EDGE_PIXELS / 2 - changes['margin.b']
    changes[`annotations[${source}].xshift`] = leftShift
  }
  return Object.keys(changes).length > 0 ? changes : undefined
}

/** Returns whether `measuredChanges` may change a figure. */
export function needsMeasuring({
  data,
  layout,
}: {
  data: readonly Attributes[]
  layout: Attributes
}): boolean {
  if (layout.meta?.theme !== undefined && data.some(({ type }) => type === 'choropleth')) return true
  return (
    hasLogo(layout) ||
    layout.shapes?.some(hasLabelBeside) ||
    listOfAnnotations(layout).some(
      ({ name }) => name === END_NAME || name === SOURCE_NAME || name === Y_TITLE,
    )
  )
}

/** Maximum number of rounds in which overlapping names move apart. */
const MAX_ROUNDS = 200

/** Returns how far names move down so that none overlap, in pixels. `at`: vertical position of each name. */
function spreadNames(
  ends: readonly { k: number; at: number }[],
  height: number,
): { k: number; shift: number }[] {
  const order = [...ends].sort((a, b) => a.at - b.at)
  const places = order.map(({ at }) => at)
  const last = places.length - 1
  // Below the axis are the labels of its ends.
  const lowest = Math.max(height, places[last])
  for (let round = 0; round < MAX_ROUNDS; round++) {
    places[last] = Math.min(places[last], lowest)
    for (let k = 1; k < places.length; k++) {
      const missing = LINE_NAME_PIXELS - (places[k] - places[k - 1])
      if (missing <= 0) continue
      places[k - 1] -= missing / 2
      places[k] += missing / 2
    }
  }
  const overflow = Math.max(0, places[last] - lowest)
  return order.map(({ k, at }, n) => ({ k, shift: places[n] - overflow - at }))
}
