// Hexagons of hexbin charts.
import { listOf } from '../../charts/figure/lists.ts'
import type { Draft } from './arrangement.ts'
import { createColorScale, interpolateColor, SEQUENTIAL_COLORS } from './colors.ts'

/** Corners of a hexagon, in halves of its width and thirds of its height. */
const CORNERS = [
  [0, 2],
  [1, 1],
  [1, -1],
  [0, -2],
  [-1, -1],
  [-1, 1],
] as const

/** Draws the cells of a hexbin as shapes, which scale with the plot. Invisible points provide tooltips. */
export function drawHexagons({ data, layout }: Draft): void {
  if (layout.meta.chart !== 'hexbin') return
  for (const [k, trace] of data.entries()) {
    const [width, height]: number[] = trace.meta?.cell ?? []
    if (!(width > 0 && height > 0)) continue
    const [xs, ys, counts] = [trace.x, trace.y, trace.marker?.color].map((list) =>
      [...listOf(list)].map(Number),
    )
    const largest = Math.max(1, ...counts)
    const shapes = xs.map((x, n) => {
      const corners = CORNERS.map(([right, up]) => `${x + (right * width) / 2},${ys[n] + (up * height) / 3}`)
      const color = interpolateColor(SEQUENTIAL_COLORS, counts[n] / largest)
      return {
        type: 'path',
        layer: 'below',
        path: `M${corners.join('L')}Z`,
        fillcolor: color,
        line: { width: 0 },
      }
    })
    layout.shapes = [...shapes, ...listOf(layout.shapes)]
    data[k] = {
      ...trace,
      marker: {
        ...trace.marker,
        opacity: 0,
        colorscale: createColorScale(SEQUENTIAL_COLORS),
        cmin: 0,
        cmax: largest,
      },
      hovertemplate: '%{marker.color}<extra></extra>',
    }
    const withMargin = (values: number[], margin: number): number[] => [
      Math.min(...values) - margin,
      Math.max(...values) + margin,
    ]
    if (xs.length === 0) continue
    layout.xaxis = { range: withMargin(xs, width / 2), ...layout.xaxis }
    layout.yaxis = { range: withMargin(ys, (height * 2) / 3), showgrid: false, ...layout.yaxis }
  }
}
