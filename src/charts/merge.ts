import { AXIS_KEYS } from './axes.ts'
import { isStacked } from './barmode.ts'
import { BAND, MARK } from './marks.ts'
import { SOURCE } from './names.ts'
import { TOP_SERIES } from './options.ts'
import { withColorOf } from './series-color.ts'
import { PIE_SLICES } from './transforms.ts'
import { turnedShape } from './turn.ts'
import type { ChartType } from './types.ts'

/**
 * What `upload --plot` changes in a chart that exists, see docs/guide.md#create-plots. Columns come from the options, and the
 * design stays: colors, titles, axes, and traces that were added by hand.
 */

// biome-ignore lint/suspicious/noExplicitAny: a figure can have any attribute
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
const TYPE_KEYS = ['type', 'mode', 'fill', 'stackgroup', 'opacity']
/** Attributes of traces that options set. */
const OPTION_KEYS = ['texttemplate', 'textposition', 'textangle', 'groupnorm', 'dimensions'] as const
/** Attributes of axes that a heatmap of several columns sets. */
const HEATMAP_AXIS_KEYS = ['tickmode', 'tickvals', 'ticktext', 'autorange']
/** Types whose bars or boxes can be horizontal: then `x` and `y` are exchanged. */
const HORIZONTAL_TYPES = new Set(['bar', 'box', 'violin', 'histogram'])
/** Attributes that come with a column of a marker. */
const WITH_COLUMN: Readonly<Record<string, readonly string[]>> = {
  colorsrc: ['showscale', 'colorbar'],
  sizesrc: ['sizemode', 'sizeref', 'sizemin'],
}

/**
 * The chart that exists, with the columns, the type and the title of the one that would be made. Neither is changed.
 * `isWhole`: what is made has all that the chart shall have; otherwise, other options of the chart stay.
 */
export function merged(current: Figure, made: Figure, grid: ChartedGrid, isWhole = false): Figure {
  const { data, layout } = current
  const ours = data.filter((trace) => JSON.stringify(trace).includes(`"${grid.fid}:`))
  const isHorizontal =
    ours.some(({ orientation, type }) => orientation === 'h' && type !== 'funnel') &&
    HORIZONTAL_TYPES.has(made.data[0]?.type)
  const wanted = isHorizontal && made.data[0]?.orientation === undefined ? horizontal(made) : made
  const drawn = match(ours, wanted.data, grid)
  const isOtherKind = ours.length > 0 && kindOf({ data: ours, layout }) !== kindOf(wanted)
  const isOtherType =
    isOtherKind || wanted.data.some((trace, k) => drawn[k] && typeOf(drawn[k]) !== typeOf(trace))
  // Of types that are not told by their traces, nothing fits another type but names and colors.
  const isNewKind = isOtherKind && (layout.meta?.chart ?? made.layout.meta?.chart) !== undefined
  const left = wanted.data.map((trace, k) =>
    !drawn[k]
      ? trace
      : isNewKind
        ? recolored(trace, drawn[k], isNamedByColumn(drawn[k], grid))
        : mergedTrace(drawn[k], trace, grid, drawn.length !== ours.length, isWhole),
  )
  // In the order of the options, in the places of those that were there. Traces that were added by hand stay.
  const all = data
    .flatMap((trace) => {
      if (drawn.includes(trace)) return left.splice(0, 1)
      return ours.includes(trace) && isNamedByColumn(trace, grid) ? [] : [trace]
    })
    .concat(left)
  return {
    ...current,
    data: all,
    layout: mergedLayout(
      layout,
      wanted,
      drawn,
      ours.length,
      isOtherType,
      grid,
      isWhole ||
        ours.every((trace) =>
          keysOf(trace).every((key) => wanted.data.some((one) => keysOf(one).includes(key))),
        ),
      isWhole,
    ),
  }
}

/** A chart with bars or boxes from left to right. */
export function horizontal({ data, layout }: Figure): Figure {
  const { xaxis, yaxis, shapes, ...rest } = layout
  return {
    data: data.map(({ xsrc, ysrc, ...trace }) => ({
      ...trace,
      orientation: 'h',
      ...(ysrc !== undefined && { xsrc: ysrc }),
      ...(xsrc !== undefined && { ysrc: xsrc }),
    })),
    layout: {
      ...rest,
      ...(yaxis && { xaxis: yaxis }),
      ...(xaxis && { yaxis: xaxis }),
      ...(Array.isArray(shapes) && { shapes: shapes.map(turnedShape) }),
    },
  }
}

/** A trace with the name and the color of the one before it. */
function recolored(made: Attributes, { name, marker, line }: Attributes, isDefaultName: boolean): Attributes {
  const color = marker?.color ?? line?.color
  const key = made.mode === 'lines' ? 'line' : 'marker'
  return {
    ...made,
    ...(made.name !== undefined && name !== undefined && !isDefaultName && { name }),
    ...(typeof color === 'string' && { [key]: { ...made[key], color } }),
  }
}

function mergedLayout(
  layout: Attributes,
  made: Figure,
  drawn: readonly (Attributes | undefined)[],
  count: number,
  isOtherType: boolean,
  grid: ChartedGrid,
  isDescribed: boolean,
  isWhole: boolean,
): Attributes {
  const next: Attributes = { ...layout }
  // The titles of axes are those of the first trace.
  const [before, after] = [drawn[0], made.data[0]]
  const isOtherCount = count !== made.data.length
  const isOtherMap = before?.zsrc !== after?.zsrc
  const isOtherSum = made.data.some(({ transforms }) => transforms?.some(isSum))
  const { title, meta } = made.layout
  const isOfColumns = isObject(layout.meta) && textOf(layout.title) === layout.meta.title
  // A default title follows the columns. A title that was set stays until another one is given.
  if (title && (meta?.title === undefined || (isOfColumns && isDescribed))) {
    next.title = { ...(isObject(layout.title) ? layout.title : {}), text: title.text }
    if (meta?.title !== undefined) next.meta = { ...layout.meta, title: meta.title }
  } else if (!title) delete next.title
  if (title?.subtitle !== undefined || isWhole) next.title = withSubtitle(next.title, title?.subtitle)
  if (next.title === undefined) delete next.title
  setOwn(next, 'shapes', made.layout.shapes, isWhole, ({ name }) => name === MARK || name === BAND)
  setOwn(next, 'annotations', made.layout.annotations, isWhole, ({ name }) => name === SOURCE)
  if (isOtherType) {
    for (const key of ['geo', 'scene'] as const) {
      delete next[key]
      if (made.layout[key] !== undefined) next[key] = made.layout[key]
    }
    if (isObject(next.meta)) {
      const { chart: _, ...others } = next.meta
      next.meta = meta?.chart === undefined ? others : { ...others, chart: meta.chart }
    }
  }
  if (isWhole && isObject(next.meta)) {
    const { horizontal: _, ...others } = next.meta
    next.meta = meta?.horizontal === true ? { ...others, horizontal: true } : others
  } else if (meta?.horizontal === true) next.meta = { ...next.meta, horizontal: true }
  for (const key of ['boxmode', 'violinmode'] as const)
    if (made.layout[key] !== undefined) next[key] = made.layout[key]
    else if (isWhole || isOtherType) delete next[key]
  // Labels have no unit and no format.
  if (isOtherType)
    for (const axis of ['xaxis', 'yaxis'])
      if (next[axis]?.type === 'category') for (const key of AXIS_KEYS) delete next[axis][key]
  if (made.layout.yaxis2 !== undefined) next.yaxis2 = { ...made.layout.yaxis2, ...next.yaxis2 }
  else if (isWhole) delete next.yaxis2
  // Amounts are no parts of 100.
  const wasPercent = layout.barnorm === 'percent' || before?.groupnorm === 'percent'
  const isPercent = made.layout.barnorm === 'percent' || after?.groupnorm === 'percent'
  for (const axis of ['xaxis', 'yaxis'])
    if (isWhole && wasPercent && !isPercent && next[axis]?.ticksuffix === '%') {
      const { ticksuffix: _, ...others } = next[axis]
      next[axis] = {
        ...others,
        ...(made.layout[axis]?.ticksuffix && { ticksuffix: made.layout[axis].ticksuffix }),
      }
    }
  if (made.layout.barnorm !== undefined) next.barnorm = made.layout.barnorm
  else if (isWhole) delete next.barnorm
  for (const [axis, source] of [
    ['xaxis', 'xsrc'],
    ['yaxis', 'ysrc'],
  ]) {
    if (made.layout[axis]?.categoryorder !== undefined)
      next[axis] = {
        ...(isObject(next[axis]) ? next[axis] : {}),
        categoryorder: made.layout[axis].categoryorder,
      }
    else if (isWhole && isSorted(before) && isObject(next[axis])) {
      const { categoryorder: _, ...others } = next[axis]
      next[axis] = others
    }
    if (isWhole && layout[axis]?.type === 'log' && made.layout[axis]?.type !== 'log') {
      const { type: _, range: __, ...others } = next[axis]
      next[axis] = others
    }
    const chosen = Object.entries(made.layout[axis] ?? {}).filter(
      ([key, value]) => (AXIS_KEYS as readonly string[]).includes(key) || (key === 'type' && value === 'log'),
    )
    if (chosen.length > 0) {
      const own: Attributes = isObject(next[axis]) ? { ...next[axis] } : {}
      // Another unit can stand on the other side of the numbers.
      if (chosen.some(([key]) => key === 'tickprefix' || key === 'ticksuffix')) {
        delete own.tickprefix
        delete own.ticksuffix
      }
      next[axis] = { ...own, ...Object.fromEntries(chosen) }
    }
    const isNewColumn = !before || before[source] !== after?.[source] || (axis === 'yaxis' && isOtherCount)
    if (!isNewColumn && !isOtherType && !isOtherMap && !isOtherSum) continue
    const given: Attributes = isObject(next[axis]) ? next[axis] : {}
    const title = textOf(given.title)
    const isDefault = title === undefined || !before || isNameOf(title, before[source], grid)
    const { title: fresh, ...rest } = made.layout[axis] ?? {}
    const kept: Attributes = { ...given }
    if (before?.type === 'heatmap') for (const key of HEATMAP_AXIS_KEYS) delete kept[key]
    // These follow from the column; others, such as `log`, are a choice.
    if (kept.type === 'category' || kept.type === 'date') delete kept.type
    delete kept.automargin
    Object.assign(kept, rest)
    if (isDefault && (isNewColumn || (isOtherSum && title !== undefined))) kept.title = fresh
    if (kept.title === undefined) delete kept.title
    if (Object.keys(kept).length > 0) next[axis] = kept
    else delete next[axis]
  }
  if (isOtherType) {
    delete next.barmode
    if (made.layout.barmode !== undefined) next.barmode = made.layout.barmode
  } else if (isStacked(made.layout) || (isWhole && isStacked(next))) next.barmode = made.layout.barmode
  else if ((isOtherCount || isWhole) && made.layout.barmode !== undefined)
    next.barmode ??= made.layout.barmode
  else if (isWhole && next.barmode === 'group') delete next.barmode
  if (next.barmode === undefined) delete next.barmode
  if (made.layout.showlegend !== undefined && (isOtherCount || isWhole))
    next.showlegend ??= made.layout.showlegend
  else if (isWhole && made.layout.showlegend === undefined && layout.showlegend === true)
    delete next.showlegend
  return next
}

/** A title with the subtitle that is made; undefined without both. */
function withSubtitle(title: unknown, subtitle: unknown): Attributes | undefined {
  const { subtitle: _, ...rest }: Attributes = isObject(title)
    ? title
    : title === undefined
      ? {}
      : { text: title }
  const next = subtitle === undefined ? rest : { ...rest, subtitle }
  return Object.keys(next).length > 0 ? next : undefined
}

/** Puts the members of a list that options make in the place of those before. Others stay. */
function setOwn(
  layout: Attributes,
  key: 'shapes' | 'annotations',
  made: unknown,
  isWhole: boolean,
  isOurs: (one: Attributes) => boolean,
): void {
  const given: Attributes[] = Array.isArray(layout[key]) ? layout[key] : []
  if (made === undefined && (!isWhole || !given.some(isOurs))) return
  const next = [...given.filter((one) => !isOurs(one)), ...((made as Attributes[] | undefined) ?? [])]
  if (next.length > 0) layout[key] = next
  else delete layout[key]
}

/** Whether two values of JSON are the same, whatever the order of members is. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [one, other] = [a as Attributes, b as Attributes]
  const keys = Object.keys(one)
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSame(one[key], other[key]))
  )
}

/** Whether nothing of a figure changes. */
export function isSameFigure(a: Figure, b: Figure): boolean {
  return isSame(a, b)
}

/** The existing trace for each trace that is made: that of the same values, otherwise the next one in order. */
function match(
  ours: readonly Attributes[],
  made: readonly Attributes[],
  grid: ChartedGrid,
): (Attributes | undefined)[] {
  const free = new Set(ours)
  const found: (Attributes | undefined)[] = made.map(() => undefined)
  const take = (isIt: (one: Attributes, wanted: Attributes) => boolean): void => {
    for (const [k, wanted] of made.entries()) {
      found[k] ??= [...free].find((one) => isIt(one, wanted))
      if (found[k]) free.delete(found[k])
    }
  }
  take((one, wanted) => valuesOf(one) === valuesOf(wanted) && typeOf(one) === typeOf(wanted))
  take((one, wanted) => valuesOf(one) === valuesOf(wanted))
  // Others may have been added by hand, unless there are as many as there shall be.
  take((one) => ours.length === made.length || isNamedByColumn(one, grid))
  return found
}

/** Whether a trace has the name that it got with its column. */
function isNamedByColumn(trace: Attributes, grid: ChartedGrid): boolean {
  const drawn = [valuesOf(trace), trace.ysrc].filter((source) => source !== undefined)
  return (
    trace.name === undefined ||
    drawn.length === 0 ||
    drawn.some((source) => isNameOf(trace.name, source, grid))
  )
}

/** The reference to the column that a trace shows. */
function valuesOf(trace: Attributes): string | undefined {
  const { xsrc, ysrc, zsrc, valuessrc, orientation } = trace
  return orientation === 'h' ? (xsrc ?? ysrc) : (zsrc ?? valuessrc ?? ysrc ?? xsrc)
}

function mergedTrace(
  trace: Attributes,
  made: Attributes,
  grid: ChartedGrid,
  isOtherCount: boolean,
  isWhole: boolean,
): Attributes {
  const next: Attributes = { ...trace }
  if (typeOf(trace) !== typeOf(made)) {
    for (const key of TYPE_KEYS) delete next[key]
    for (const { path } of sourcesOf(trace)) if (path.length === 1) delete next[path[0]]
    if (!HORIZONTAL_TYPES.has(made.type)) delete next.orientation
    for (const key of TYPE_KEYS) if (made[key] !== undefined) next[key] = made[key]
  } else if (typeOf(made) === 'area' && (isOtherCount || isWhole)) {
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
      const group: Attributes = { ...next[first], [last]: value }
      delete group[last.slice(0, -'src'.length)]
      for (const key of WITH_COLUMN[last] ?? []) {
        const fresh = made[first][key]
        if (fresh !== undefined) group[key] = isObject(fresh) ? { ...group[key], ...fresh } : fresh
      }
      next[first] = group
    }
  }
  // The header of a table names its columns.
  if (made.type === 'table' && trace.cells?.valuessrc !== made.cells?.valuessrc) {
    const { valuessrc: _, ...header } = trace.header ?? {}
    next.header = { ...header, values: made.header.values, align: made.header.align }
    next.cells = { ...next.cells, align: made.cells.align }
  }
  for (const key of OPTION_KEYS) {
    if (made[key] !== undefined) next[key] = made[key]
    else if (isWhole || typeOf(trace) !== typeOf(made)) delete next[key]
  }
  if (isWhole || made.texttemplate !== undefined)
    next.mode = withText(next.mode, made.texttemplate !== undefined)
  if (next.mode === undefined) delete next.mode
  // Groups and functions that are given take the place of those before.
  next.transforms = isWhole
    ? withStylesOf(made.transforms, trace.transforms)
    : mergedTransforms(trace.transforms, made.transforms)
  if (next.transforms === undefined) delete next.transforms
  const isNewColumn = valuesOf(trace) !== valuesOf(made) || trace.ysrc !== made.ysrc
  const barTitle = textOf(next.colorbar?.title)
  if (made.colorbar === undefined && typeOf(trace) !== typeOf(made)) delete next.colorbar
  else if (
    made.colorbar?.title !== undefined &&
    (isNewColumn || barTitle === undefined || isNameOf(barTitle, made.zsrc, grid))
  )
    next.colorbar = { ...next.colorbar, title: made.colorbar.title }
  if (made.type === 'choropleth')
    next.colorbar = withBarFormat(next.colorbar, made.colorbar, isWhole || typeOf(trace) !== typeOf(made))
  const isNew = next.name === undefined && typeOf(trace) !== typeOf(made)
  if (made.name !== undefined && ((isNewColumn && isNamedByColumn(trace, grid)) || isNew))
    next.name = made.name
  else if (made.name === undefined && typeOf(trace) !== typeOf(made) && isNamedByColumn(trace, grid))
    delete next.name
  return typeOf(trace) === typeOf(made) ? next : withColorOf(next, trace)
}

/** A scale of colors with the format of another one; `isWhole`: with no format if that has none. */
function withBarFormat(bar: Attributes = {}, made: Attributes = {}, isWhole: boolean): Attributes {
  const next = { ...bar }
  for (const key of ['tickformat', 'tickprefix', 'ticksuffix'] as const)
    if (made[key] !== undefined) next[key] = made[key]
    else if (isWhole) delete next[key]
  return next
}

function withText(mode: unknown, hasText: boolean): string | undefined {
  if (typeof mode !== 'string') return undefined
  const parts = mode.split('+').filter((part) => part !== 'text')
  return [...parts, ...(hasText ? ['text'] : [])].join('+')
}

/** Which option a transform is, so that it takes the place of the one before. */
function keyOf({ type, facet, animate }: Attributes): string {
  if (type === 'groupby') return facet === true ? 'facet' : animate === true ? 'animate' : 'by'
  return type === 'cells' ? 'aggregate' : type === 'order' ? 'sort' : String(type)
}

/** Transforms that no option asks for. */
const OF_TYPE = new Set(['sort', 'tree', 'number', 'complete'])

function keysOf({ transforms }: Attributes): string[] {
  return Array.isArray(transforms)
    ? transforms
        .filter(isObject)
        .filter(({ type, target, count }) => !(type === 'top' && target === 'values' && count === PIE_SLICES))
        .map(keyOf)
        .filter((key) => !OF_TYPE.has(key))
    : []
}

/** The order in which the service evaluates what options say. */
const KEY_ORDER = ['rows', 'zone', 'per', 'facet', 'animate', 'by', 'aggregate', 'sort', 'top', 'trend']

/** Transforms with the colors of series that somebody has chosen: those of the same column. */
function withStylesOf(made: unknown, before: unknown): Attributes[] | undefined {
  if (!Array.isArray(made)) return undefined
  const old: Attributes[] = Array.isArray(before) ? before.filter(isObject) : []
  return made.map((one: Attributes) => {
    const same = old.find((other) => keyOf(other) === keyOf(one) && other.groupssrc === one.groupssrc)
    return same?.styles === undefined || one.type !== 'groupby' ? one : { ...one, styles: same.styles }
  })
}

/** The transforms of a chart with those that options name. What they do not name stays. */
function mergedTransforms(before: unknown, made: unknown): Attributes[] | undefined {
  const old: Attributes[] = Array.isArray(before) ? before.filter(isObject) : []
  const fresh: Attributes[] = Array.isArray(made) ? made.filter(isObject) : []
  if (fresh.length === 0 || old.length === 0)
    return old.length > 0 ? old : fresh.length > 0 ? fresh : undefined
  const byKey = new Map(old.map((one) => [keyOf(one), one]))
  for (const one of fresh) {
    const given = byKey.get(keyOf(one))
    // The order of a line is not an option, and the number of series stays unless another one is named.
    if (given && one.type === 'sort') continue
    const kept = given?.top !== undefined && one.top === TOP_SERIES ? { ...one, top: given.top } : one
    byKey.set(keyOf(one), given?.styles ? { ...kept, styles: given.styles } : kept)
  }
  const by = byKey.get('by')
  // With an aggregation, the other series have it too.
  if (by?.other !== undefined && byKey.has('aggregate')) byKey.set('by', { ...by, other: undefined })
  const rank = (key: string): number => (KEY_ORDER.includes(key) ? KEY_ORDER.indexOf(key) : -1)
  return [...byKey].sort(([a], [b]) => rank(a) - rank(b)).map(([, one]) => one)
}

/** Whether a transform makes one point of several rows, which the title of the axis says. */
function isSum({ type }: Attributes): boolean {
  return type === 'aggregate' || type === 'cells'
}

/** Whether an option puts rows, or what is made of them, in an order. */
function isSorted(trace: Attributes | undefined): boolean {
  const transforms: Attributes[] = Array.isArray(trace?.transforms) ? trace.transforms : []
  return transforms.some(({ type, sort }) => type === 'order' || (type === 'rows' && sort !== undefined))
}

/** Whether a text is the name of a column, with what is computed of it, or was it, as far as that is known. */
function isNameOf(text: unknown, source: unknown, { cols }: ChartedGrid): boolean {
  const uid = String(source ?? '').split(':')[2]
  const column = cols.find((one) => one.uid === uid)
  if (column === undefined || column.name === text || text === 'count') return true
  return typeof text === 'string' && text.replace(/^\w+ of /, '') === column.name
}

/** The references to columns of a trace: `xsrc`, or `marker.colorsrc`. */
function sourcesOf(trace: Attributes): { path: string[]; value: string }[] {
  return Object.entries(trace ?? {}).flatMap(([key, value]) => {
    if (typeof value === 'string') return key.endsWith('src') ? [{ path: [key], value }] : []
    if (!isObject(value)) return []
    return Object.entries(value).flatMap(([inner, one]) =>
      typeof one === 'string' && inner.endsWith('src') ? [{ path: [key, inner], value: one }] : [],
    )
  })
}

function isObject(value: unknown): value is Attributes {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(title: unknown): string | undefined {
  return typeof title === 'string' ? title : (title as { text?: string } | undefined)?.text
}

/** The type of a chart: what it says itself, or what its first trace makes. */
export function kindOf({ data, layout }: Figure): ChartType | string {
  return layout.meta?.chart ?? (data[0] ? typeOf(data[0]) : '')
}

/** The type of chart that a trace makes. Lines may have points, and may be drawn with WebGL. */
export function typeOf({ type = 'scatter', mode, fill, stackgroup }: Attributes): ChartType | string {
  if (type !== 'scatter' && type !== 'scattergl') return type
  if (stackgroup !== undefined || (fill !== undefined && fill !== 'none')) return 'area'
  return mode === undefined || String(mode).includes('lines') ? 'line' : 'scatter'
}
