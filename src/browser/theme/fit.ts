/// <reference lib="dom" />

import { SOURCE } from '../../charts/figure/names.ts'
import { type Attributes, EDGE_PIXELS, TEXT_PIXELS } from './draft.ts'
import {
  FOOT_LINE_PIXELS,
  hasScaleBelow,
  isBelow,
  listOfAnnotations,
  SOURCE_PIXELS,
  Y_TITLE,
} from './headings.ts'
import { hasLogo, logoChanges } from './logo.ts'
import { END } from './series.ts'

/** Height of the name of a line, in pixels. */
const NAME_PIXELS = TEXT_PIXELS + 4

/** The annotation about places that a drawn map does not know; undefined without one. */
export type PlacesNote = (chart: unknown, annotations: readonly Attributes[]) => Attributes | undefined

/**
 * What must change in a chart once it is drawn, because it depends on sizes that only plotly.js knows: names of lines
 * that would cover each other, and the source below the axis. Undefined if nothing does.
 */
export function fitOf(chart: unknown, more?: PlacesNote): Attributes | undefined {
  // biome-ignore lint/suspicious/noExplicitAny: the inner data of plotly.js has no types
  const { _fullLayout: full, layout, data = [] } = chart as any
  const size = full?._size
  const annotations = listOfAnnotations(layout ?? {})
  if (!size || layout?.meta?.theme === undefined) return undefined
  const changes: Attributes = logoChanges({ images: layout?.images, width: full.width }, size)
  const ends = annotations.flatMap(({ name, y }, k) =>
    name === END ? [{ k, at: full.yaxis?.r2p?.(y) }] : [],
  )
  if (ends.length > 1 && ends.every(({ at }) => Number.isFinite(at)))
    for (const { k, shift } of spread(ends, size.h)) changes[`annotations[${k}].yshift`] = -shift
  const note = more?.(chart, annotations)
  if (note) changes.annotations = [...annotations, note]
  // Title, legend, title of the axis and source have one left edge.
  const axis = annotations.findIndex(({ name }) => name === Y_TITLE)
  const beside = layout.margin.l - size.l
  if (axis >= 0 && Math.abs(beside) > 1 && full.xaxis?.domain?.[0] === 0)
    changes[`annotations[${axis}].xshift`] = beside
  const source = annotations.findIndex(({ name }) => name === SOURCE)
  if (source >= 0) {
    // Below what the labels of the axis need.
    const more = String(annotations[source].text).split('<br>').length - 1
    // A legend or a scale below the axis has been lifted above it.
    const isLifted = hasScaleBelow(data) || [layout.legend, layout.coloraxis?.colorbar].some(isBelow)
    changes['margin.b'] = size.b + (isLifted ? 0 : SOURCE_PIXELS + more * FOOT_LINE_PIXELS)
    changes[`annotations[${source}].yshift`] = EDGE_PIXELS / 2 - changes['margin.b']
    changes[`annotations[${source}].xshift`] = beside
  }
  return Object.keys(changes).length > 0 ? changes : undefined
}

/** Whether a figure in our theme has something that `fitOf` may change. */
export function needsFit({ data, layout }: { data: readonly Attributes[]; layout: Attributes }): boolean {
  if (layout.meta?.theme !== undefined && data.some(({ type }) => type === 'choropleth')) return true
  return (
    hasLogo(layout) ||
    listOfAnnotations(layout).some(({ name }) => name === END || name === SOURCE || name === Y_TITLE)
  )
}

/** Rounds in which names that cover each other move apart. */
const MAX_ROUNDS = 200

/** How far names move down, in pixels, so that none covers another one. `at`: where each would be. */
function spread(ends: readonly { k: number; at: number }[], height: number): { k: number; shift: number }[] {
  const order = [...ends].sort((a, b) => a.at - b.at)
  const places = order.map(({ at }) => at)
  for (let round = 0; round < MAX_ROUNDS; round++)
    for (let k = 1; k < places.length; k++) {
      const missing = NAME_PIXELS - (places[k] - places[k - 1])
      if (missing <= 0) continue
      places[k - 1] -= missing / 2
      places[k] += missing / 2
    }
  const over = Math.max(0, (places.at(-1) ?? 0) - height - NAME_PIXELS / 2)
  return order.map(({ k, at }, n) => ({ k, shift: places[n] - over - at }))
}
