// Theme of roses and radars.
import { COLORS } from '../../charts/figure/colors.ts'
import { listOf, selectRows } from '../../charts/figure/lists.ts'
import { COMPASS } from '../../charts/figure/shared-names.ts'
import { type Attributes, type Draft, listAxisLabels, measureText, shortenDistinct } from './arrangement.ts'
import { findMissingOrder, sortByLabels } from './label-order.ts'

/** Sorts labels of roses and radars: compass points (4, 8 or 16) by angle, others in natural order. */
export function sortPolarLabels({ data, layout }: Draft): void {
  const { chart } = layout.meta
  if (chart !== 'rose' && chart !== 'radar') return
  const order =
    layout.polar?.angularaxis?.categoryarray === undefined
      ? findMissingOrder(listAxisLabels(data.map(({ theta }) => theta)))
      : undefined
  if (order) {
    const angularaxis = { ...layout.polar?.angularaxis, categoryorder: 'array', categoryarray: order }
    layout.polar = { ...layout.polar, angularaxis }
  }
  // With more series than colors, the next series are hatched or dashed.
  const repeatStyle = { marker: chart === 'radar' ? { symbol: 'diamond' } : { pattern: { shape: '/' } } }
  for (const [k, trace] of data.entries())
    if (k >= COLORS.length)
      data[k] = {
        ...trace,
        marker: { ...repeatStyle.marker, ...trace.marker },
        ...(chart === 'radar' && { line: { dash: 'dash', ...trace.line } }),
      }
  if (chart === 'radar')
    for (const [k, trace] of data.entries())
      data[k] = closeLine(order ? sortByLabels(trace, order, 'theta') : trace)
  if (chart === 'radar') return
  if (layout.polar?.angularaxis?.categoryarray !== undefined) return
  const labels = new Set(data.flatMap(({ theta }) => [...listOf(theta)].map(String)))
  const compasses = [4, 2, 1].map((step) => COMPASS.filter((_, k) => k % step === 0))
  const points = compasses.find((names) => [...labels].every((name) => names.includes(name)))
  if (points === undefined || labels.size === 0) return
  const angularaxis = { ...layout.polar?.angularaxis, categoryorder: 'array', categoryarray: points }
  layout.polar = { ...layout.polar, angularaxis }
}

/** Returns a radar trace whose line is closed. */
function closeLine(trace: Attributes): Attributes {
  const length = listOf(trace.theta).length
  if (length < 3 || !String(trace.mode).includes('lines')) return trace
  return selectRows(trace, [...Array(length).keys(), 0], length)
}

/** Height of the label above a polar chart, in pixels. */
const POLAR_LABEL_PIXELS = 20
/** Maximum share of the width for a label beside a polar chart. */
const MAX_POLAR_LABEL_SHARE = 0.22

/** Adds margins for the labels around a polar chart, because plotly.js does not. */
export function addPolarMargins(draft: Draft): void {
  const { data, layout, view, above } = draft
  if (layout.polar === undefined) return
  const labels = [layout.polar.angularaxis?.categoryarray, ...data.map(({ theta }) => theta)]
  const unique = [...new Set(labels.flatMap((list) => [...listOf(list)].map(String)))]
  const texts = shortenDistinct(unique, view.width * MAX_POLAR_LABEL_SHARE)
  layout.polar = {
    ...layout.polar,
    angularaxis: {
      labelalias: Object.fromEntries(unique.map((label, k) => [label, texts[k]])),
      ...layout.polar.angularaxis,
    },
  }
  const beside = Math.max(0, ...texts.map((text) => measureText(text)))
  draft.left += beside
  draft.right += beside
  above.axis += POLAR_LABEL_PIXELS
  layout.polar.radialaxis = { nticks: 5, ...layout.polar.radialaxis }
}
