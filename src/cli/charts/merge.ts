import { isDeepStrictEqual } from 'node:util'
import type { ChartType } from './charts.ts'

/**
 * What `upload --plot` changes in a chart that exists, see docs/guide.md#create-plots. Columns come from the options, and the
 * design stays: colors, titles, axes, and traces that were added by hand.
 */

// biome-ignore lint/suspicious/noExplicitAny: figures are open; only the attributes that charts are made of are read
type Attributes = Record<string, any>

export interface Figure {
  data: Attributes[]
  layout: Attributes
}

/** The grid of a chart, with its present columns. */
export interface ChartedGrid {
  fid: string
  cols: readonly { uid: string; name: string }[]
}

/** Attributes that make a trace one type of chart. */
const TYPE_KEYS = ['type', 'mode', 'fill', 'stackgroup']
/** Attributes of the layout that come with a type of chart. */
const LAYOUT_KEYS = ['barmode', 'showlegend']

/** The chart that exists, with the columns, the type and the title of the one that would be made. Neither is changed. */
export function merged(current: Figure, made: Figure, grid: ChartedGrid): Figure {
  const { data, layout } = current
  const isOfGrid = (trace: Attributes): boolean =>
    sourcesOf(trace).some(({ value }) => value.startsWith(`${grid.fid}:`))
  const ours = data.filter(isOfGrid)
  const drawn = match(ours, made.data)
  const isOtherType = made.data.some((trace, k) => drawn[k] && typeOf(drawn[k]) !== typeOf(trace))
  const isOtherCount = ours.length !== made.data.length
  // The titles of axes are those of the first trace.
  const [before, after] = [drawn[0], made.data[0]]
  const traces = made.data.map((trace, k) =>
    drawn[k] ? mergedTrace(drawn[k], trace, grid, isOtherCount) : trace,
  )
  // In the order of the options, in the places of those that were there.
  const left = [...traces]
  const all = data.flatMap((trace) => (isOfGrid(trace) ? left.splice(0, 1) : [trace])).concat(left)
  const next: Attributes = { ...layout }
  if (made.layout.title)
    next.title = { ...(typeof layout.title === 'object' ? layout.title : {}), text: made.layout.title.text }
  for (const [axis, source] of [
    ['xaxis', 'xsrc'],
    ['yaxis', 'ysrc'],
  ]) {
    const isNewColumn = !before || before[source] !== after?.[source] || (axis === 'yaxis' && isOtherCount)
    if (!isNewColumn && !isOtherType) continue
    const title = textOf(layout[axis]?.title)
    const isDefault = title === undefined || !before || isNameOf(title, before[source], grid)
    const { title: fresh, ...rest } = made.layout[axis] ?? {}
    const kept = { ...rest, ...layout[axis] }
    if (isDefault && isNewColumn) kept.title = fresh
    if (kept.title === undefined) delete kept.title
    if (Object.keys(kept).length > 0 || layout[axis]) next[axis] = kept
  }
  if (isOtherType || isOtherCount)
    for (const key of LAYOUT_KEYS) if (made.layout[key] !== undefined) next[key] ??= made.layout[key]
  return { ...current, data: all, layout: next }
}

/** Whether nothing of a figure changes. */
export function isSameFigure(a: Figure, b: Figure): boolean {
  return isDeepStrictEqual(a, b)
}

/** The existing trace for each trace that is made: that of the same values, otherwise the next in order. */
function match(ours: readonly Attributes[], made: readonly Attributes[]): (Attributes | undefined)[] {
  const free = new Set(ours)
  const take = (found: Attributes | undefined): Attributes | undefined => {
    if (found) free.delete(found)
    return found
  }
  const same = made.map((trace) => take([...free].find((one) => valuesOf(one) === valuesOf(trace))))
  return made.map((_, k) => same[k] ?? take(free.values().next().value))
}

/** The reference to the column that a trace shows. */
function valuesOf(trace: Attributes): string | undefined {
  return trace.ysrc ?? trace.valuessrc ?? trace.zsrc ?? trace.xsrc
}

function mergedTrace(
  trace: Attributes,
  made: Attributes,
  grid: ChartedGrid,
  isOtherCount: boolean,
): Attributes {
  const next: Attributes = { ...trace }
  if (typeOf(trace) !== typeOf(made)) {
    for (const key of TYPE_KEYS) delete next[key]
    for (const { path } of sourcesOf(trace)) if (path.length === 1) delete next[path[0]]
    for (const key of TYPE_KEYS) if (made[key] !== undefined) next[key] = made[key]
  } else if (typeOf(made) === 'area' && isOtherCount) {
    for (const key of ['fill', 'stackgroup'] as const) {
      delete next[key]
      if (made[key] !== undefined) next[key] = made[key]
    }
  }
  for (const { path, value } of sourcesOf(made)) {
    const [first, last] = path
    if (last === undefined) {
      next[first] = value
      // The column is drawn in place of values that were in the figure.
      delete next[first.slice(0, -'src'.length)]
    } else if (trace[first]?.[last] !== value) {
      next[first] = { ...trace[first], ...made[first] }
      delete next[first][last.slice(0, -'src'.length)]
    }
  }
  const isNewColumn = valuesOf(trace) !== valuesOf(made)
  const isNamedByColumn = isNewColumn && isNameOf(next.name, valuesOf(trace), grid)
  const isNew = next.name === undefined && (isNewColumn || typeOf(trace) !== typeOf(made))
  if (made.name !== undefined && (isNamedByColumn || isNew)) next.name = made.name
  return next
}

/** Whether a text is the name of a column, or was it, as far as that is known. */
function isNameOf(text: unknown, source: unknown, { cols }: ChartedGrid): boolean {
  const uid = String(source ?? '').split(':')[2]
  const column = cols.find((one) => one.uid === uid)
  return column === undefined || column.name === text
}

/** The references to columns of a trace: `xsrc`, or `marker.colorsrc`. */
function sourcesOf(trace: Attributes): { path: string[]; value: string }[] {
  return Object.entries(trace).flatMap(([key, value]) => {
    if (typeof value === 'string') return key.endsWith('src') ? [{ path: [key], value }] : []
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
    return Object.entries(value).flatMap(([inner, one]) =>
      typeof one === 'string' && inner.endsWith('src') ? [{ path: [key, inner], value: one }] : [],
    )
  })
}

function textOf(title: unknown): string | undefined {
  return typeof title === 'string' ? title : (title as { text?: string } | undefined)?.text
}

/** The type of chart that a trace makes. Lines may have points, and may be drawn with WebGL. */
function typeOf({ type = 'scatter', mode, fill, stackgroup }: Attributes): ChartType | string {
  if (type !== 'scatter' && type !== 'scattergl') return type
  if (stackgroup !== undefined || (fill !== undefined && fill !== 'none')) return 'area'
  return mode === undefined || String(mode).includes('lines') ? 'line' : 'scatter'
}
