import { DIVERGING, scaleOf } from './colors.ts'
import { type Attributes, type Draft, isNarrow, listOf, shortened } from './draft.ts'
import { numbersUpTo } from './numbers.ts'

/** Types that color cells by a number. */
const CELLS = new Set(['heatmap', 'contour', 'histogram2d', 'surface'])
/** Part of the range that must be on the other side of zero, for colors that part there. */
const LEAST_OTHER_SIDE = 0.1
/** Part of the width of a phone that labels can have. */
const NARROW_SHARE = 0.2

/** Colors of cells part at zero if the values do. Labels of rows fit. */
export function arrangeCells(draft: Draft): void {
  const { data, layout, view } = draft
  for (const [k, trace] of data.entries()) {
    const colored = colorsOf(trace)
    if (colored === undefined) continue
    const { least, most, bar } = colored
    const shown = { ...numbersUpTo(Math.max(Math.abs(least), Math.abs(most))), ...bar }
    if (isNarrow(view)) shown.title = { side: 'top', ...bar?.title }
    if (!CELLS.has(trace.type)) {
      data[k] = { ...trace, marker: { ...trace.marker, colorbar: shown } }
      continue
    }
    const isDiverging = Math.min(-least, most) > LEAST_OTHER_SIDE * Math.max(-least, most)
    const isOurs = trace.colorscale === undefined && trace.zmin === undefined
    data[k] = {
      ...trace,
      colorbar: shown,
      ...(isDiverging && isOurs && { colorscale: scaleOf(DIVERGING), zmid: 0 }),
    }
    if (trace.type === 'surface') continue
    layout.yaxis = { showgrid: false, ticklabelposition: 'outside', ...layout.yaxis }
    if (isNarrow(view)) {
      const labels = [...new Set(listOf(trace.y))].filter((label) => typeof label === 'string')
      const most = view.width * NARROW_SHARE - 12
      if (layout.yaxis.type === 'category')
        layout.yaxis.labelalias ??= Object.fromEntries(labels.map((label) => [label, shortened(label, most)]))
    }
  }
}

interface Colored {
  least: number
  most: number
  bar: Attributes | undefined
}

/** The numbers that colors show; undefined if they show none. */
function colorsOf(trace: Attributes): Colored | undefined {
  const isCells = CELLS.has(trace.type)
  if (!isCells && trace.marker?.showscale !== true) return undefined
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (const row of listOf(isCells ? trace.z : trace.marker.color))
    for (const value of typeof row === 'object' && row !== null ? listOf(row) : [row]) {
      if (typeof value !== 'number') continue
      if (value < least) least = value
      if (value > most) most = value
    }
  return least > most ? undefined : { least, most, bar: isCells ? trace.colorbar : trace.marker.colorbar }
}
