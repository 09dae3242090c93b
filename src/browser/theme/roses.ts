import { listOf } from '../../charts/figure/lists.ts'
import { COMPASS } from '../../charts/figure/names.ts'
import { type Draft, shortenedApart, widthOf } from './draft.ts'

/** Points of the compass stand where they are on it: as few of 4, 8 or 16 as there need to be. */
export function arrangeRose({ data, layout }: Draft): void {
  if (layout.meta.chart !== 'rose' || layout.polar?.angularaxis?.categoryarray !== undefined) return
  const found = new Set(data.flatMap(({ theta }) => [...listOf(theta)].map(String)))
  const rounds = [4, 2, 1].map((step) => COMPASS.filter((_, k) => k % step === 0))
  const points = rounds.find((names) => [...found].every((name) => names.includes(name)))
  if (points === undefined || found.size === 0) return
  const angularaxis = { ...layout.polar?.angularaxis, categoryorder: 'array', categoryarray: points }
  layout.polar = { ...layout.polar, angularaxis }
}

/** Height of the label above a polar chart, in pixels. */
const POLAR_PIXELS = 20
/** Part of the width that a label beside a polar chart can have. */
const POLAR_LABELS_SHARE = 0.22

/** Room for the labels around a polar chart: plotly.js leaves them none. */
export function arrangePolar(draft: Draft): void {
  const { data, layout, view, above } = draft
  if (layout.polar === undefined) return
  const labels = [layout.polar.angularaxis?.categoryarray, ...data.map(({ theta }) => theta)]
  const unique = [...new Set(labels.flatMap((list) => [...listOf(list)].map(String)))]
  const texts = shortenedApart(unique, view.width * POLAR_LABELS_SHARE)
  layout.polar = {
    ...layout.polar,
    angularaxis: {
      labelalias: Object.fromEntries(unique.map((label, k) => [label, texts[k]])),
      ...layout.polar.angularaxis,
    },
  }
  const beside = Math.max(0, ...texts.map((text) => widthOf(text)))
  draft.left += beside
  draft.right += beside
  above.axis += POLAR_PIXELS
}
