import { DIVERGING, scaleOf } from './colors.ts'
import {
  type Attributes,
  type Draft,
  edgeOf,
  isNarrow,
  listOf,
  mostBeside,
  shortenedApart,
  textOf,
} from './draft.ts'
import { numbersUpTo } from './numbers.ts'

/** Types that color cells by a number. */
const CELLS = new Set(['heatmap', 'contour', 'histogram2d', 'surface', 'mesh3d', 'choropleth'])
/** Those of them with rows of cells. */
const MATRICES = new Set(['heatmap', 'contour', 'histogram2d'])
/** Part of the range that must be on the other side of zero, for colors that part there. */
const LEAST_OTHER_SIDE = 0.1

/** Colors of cells part at zero if the values do. On a phone, the scale of colors is below the chart. */
export function arrangeColors(draft: Draft): void {
  const { data, view } = draft
  for (const [k, trace] of data.entries()) {
    const scale = scaleIn(trace)
    if (scale === undefined) continue
    const { holder, values } = scale
    const range = rangeOf(values)
    const bar: Attributes = holder.colorbar ?? {}
    const shown: Attributes = {
      outlinewidth: 0,
      thickness: 12,
      ...(range && numbersUpTo(Math.max(-range[0], range[1]))),
      ...bar,
    }
    if (isNarrow(view)) {
      Object.assign(shown, {
        orientation: 'h',
        yref: 'container',
        y: edgeOf(view) / view.height,
        yanchor: 'bottom',
        thickness: 10,
        title: { text: '' },
      })
      draft.scale ??= textOf(bar.title)
    }
    const changes: Attributes = { colorbar: shown }
    if (range && CELLS.has(trace.type) && holder.colorscale === undefined && holder.zmin === undefined) {
      const isDiverging = Math.min(-range[0], range[1]) > LEAST_OTHER_SIDE * Math.max(-range[0], range[1])
      const middle = trace.type === 'mesh3d' || trace.type === 'surface' ? 'cmid' : 'zmid'
      if (isDiverging) Object.assign(changes, { colorscale: scaleOf(DIVERGING), [middle]: 0 })
    }
    data[k] =
      scale.path === undefined
        ? { ...trace, ...changes }
        : { ...trace, [scale.path]: { ...holder, ...changes } }
    if (MATRICES.has(trace.type)) arrangeRows(draft, trace)
  }
}

/** Labels beside the rows of cells. */
function arrangeRows({ layout, view }: Draft, { y }: Attributes): void {
  layout.yaxis = { showgrid: false, ticklabelposition: 'outside', ...layout.yaxis }
  if (!isNarrow(view) || layout.yaxis.type !== 'category') return
  const labels = [...new Set(listOf(y))].filter((label) => typeof label === 'string')
  const texts = shortenedApart(labels, mostBeside(view))
  layout.yaxis.labelalias ??= Object.fromEntries(labels.map((label, k) => [label, texts[k]]))
}

interface ColorScale {
  /** The part of a trace that has the scale; undefined for the trace itself. */
  path: 'marker' | 'line' | undefined
  holder: Attributes
  values: unknown
}

/** What has a scale of colors in a trace; undefined if nothing has. */
function scaleIn(trace: Attributes): ColorScale | undefined {
  if (CELLS.has(trace.type))
    return { path: undefined, holder: trace, values: trace.type === 'mesh3d' ? trace.intensity : trace.z }
  for (const path of ['marker', 'line'] as const)
    if (trace[path]?.showscale === true) return { path, holder: trace[path], values: trace[path].color }
  return undefined
}

/** The least and the greatest number of a list, or of a list of lists; undefined without numbers. */
function rangeOf(values: unknown): [number, number] | undefined {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (const row of listOf(values))
    for (const value of typeof row === 'object' && row !== null ? listOf(row) : [row]) {
      if (typeof value !== 'number') continue
      if (value < least) least = value
      if (value > most) most = value
    }
  return least > most ? undefined : [least, most]
}
