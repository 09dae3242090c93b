// Legend of point sizes.
import { listOf } from '../../charts/figure/lists.ts'
import { roundDownToStep } from '../../charts/figure/steps.ts'
import { type Attributes, type Draft, measureText, TEXT_PIXELS } from './arrangement.ts'
import { SCHEME_COLORS } from './colors.ts'
import { localeOf } from './numbers.ts'
import { annotate } from './titles.ts'

/** Space between a circle, its number and the next circle, in pixels. */
const GAP_PIXELS = 8
/** Ratio of the value of the second circle to that of the first. */
const SECOND_VALUE_RATIO = 1 / 5

/** Adds a legend of point sizes above the plot: two circles with their numbers. */
export function addSizeLegend({ data, layout, view, above }: Draft): void {
  const sized = data.find(({ marker }) => marker?.sizemode === 'area' && listOf(marker.size).length > 0)
  if (!sized || layout.sliders !== undefined) return
  let largest = 0
  for (const trace of data)
    for (const size of [...listOf(trace.marker?.size)])
      if (typeof size === 'number' && size > largest) largest = size
  if (largest <= 0) return
  const values = [roundDownToStep(largest), roundDownToStep(largest * SECOND_VALUE_RATIO)].filter(
    (value, k, all) => all.indexOf(value) === k,
  )
  const radii = values.map((value) => Math.sqrt(value / 2 / sized.marker.sizeref))
  const middle = above.axis + radii[0]
  const circle = (radius: number, right: number): Attributes => ({
    ...{
      type: 'circle',
      xref: 'paper',
      yref: 'paper',
      xsizemode: 'pixel',
      ysizemode: 'pixel',
      xanchor: 1,
      yanchor: 1,
    },
    ...{ x0: -right - 2 * radius, x1: -right, y0: middle - radius, y1: middle + radius },
    line: { color: SCHEME_COLORS[view.scheme].soft, width: 1 },
  })
  let offset = 0
  const shapes: Attributes[] = []
  for (const [k, value] of values.entries()) {
    const text = value.toLocaleString(localeOf(layout.meta), {
      notation: value >= 1e6 ? 'compact' : 'standard',
    })
    annotate(layout, {
      ...{ name: 'gridline-size', text, font: { size: TEXT_PIXELS }, xref: 'paper', yref: 'paper' },
      ...{ x: 1, xanchor: 'right', xshift: -offset, y: 1, yanchor: 'middle', yshift: middle },
    })
    offset += measureText(text) + GAP_PIXELS
    shapes.push(circle(radii[k], offset))
    offset += 2 * radii[k] + GAP_PIXELS
  }
  layout.shapes = [...listOf(layout.shapes), ...shapes]
  above.axis += 2 * radii[0] + GAP_PIXELS
}
