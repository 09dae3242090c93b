/** Evaluates `transforms` of traces as plotly.js 2.35 did. See docs/api.md#transforms. */
import { NO_LABEL } from '../../../charts/figure/names.ts'
import { pluralOf, spoken } from '../../../charts/spec/words.ts'
import { missingIn } from '../../../charts/unseen.ts'
import { counted } from '../../../contract/closest.ts'
import { Problem } from '../../../contract/errors.ts'
import { breathe, turnIsLong } from '../../../json/index.ts'
import { aggregate, cells, number } from './aggregate.ts'
import { animated, MAX_FRAMES, seriesOf } from './animate.ts'
import {
  type Attributes,
  arraysOf,
  copied,
  isObject,
  keyOf,
  removeAt,
  setAt,
  type Transform,
  valueAt,
} from './attributes.ts'
import { Axes } from './axes.ts'
import { bins, planBins } from './bins.ts'
import { colorsOf, countOf, faceted, MAX_FACETS } from './facet.ts'
import { filter } from './filter.ts'
import { expand, groupsOf } from './groupby.ts'
import { melt } from './melt.ts'
import { per } from './per.ts'
import { complete, order, rows } from './rows.ts'
import { sort } from './sort.ts'
import { amounts, negate, span } from './spans.ts'
import { band, calendar, classed, cumulate, density, hexagons, links, rank, sectors } from './spreads.ts'
import { addSizes, type GroupSizes, top, topGroups } from './top.ts'
import { tree } from './tree.ts'
import { PALE_OPACITY, trendOf } from './trend.ts'
import { zone } from './zone.ts'

/** Transforms that change the arrays of a trace. Applied after grouping, in the order of the trace. */
const changes: Readonly<Record<string, (trace: Attributes, transform: Transform, axes: Axes) => void>> = {
  filter,
  sort,
  order,
  aggregate,
  cells,
  top,
  number,
  tree,
  complete,
  span,
  negate,
  amounts,
  cumulate,
  density,
  bins,
  calendar,
  links,
  hexagons,
  band,
}

/** Transforms that are applied before traces are grouped. plotly.js has none of them. */
const preparations: Readonly<
  Record<string, (trace: Attributes, transform: Transform) => void | Promise<void>>
> = {
  rows,
  melt,
  zone,
  per,
  rank,
  sectors,
  groupby: classify,
}

/** Returns whether a `groupby` uses options that plotly.js does not have. */
function isOwnGrouping({ top: limit, facet, animate, classes }: Transform): boolean {
  return limit !== undefined || facet === true || animate === true || classes !== undefined
}

/** Replaces numeric groups by classes, if the transform has `classes`. */
function classify(_: Attributes, transform: Transform): void {
  const { groups, classes: count } = transform
  if (typeof count === 'number' && count >= 1 && Array.isArray(groups))
    transform.groups = classed(groups, count)
}

/** Maximum number of transforms of a trace, to bound the time. */
const MAX_TRANSFORMS = 20

/** Limits of the result of an evaluation. */
export interface TransformLimits {
  traces: number
  /** Maximum number of series times frames. */
  frameTraces: number
  /** Maximum number of characters of attributes that are repeated in groups, frames and small charts. */
  shared: number
}

const DEFAULT_LIMITS: TransformLimits = { traces: 1000, frameTraces: 10_000, shared: 4 * 1024 * 1024 }

/** Evaluates the transforms of a figure. Ignores unknown ones. Throws `too_large` and `bad_figure`. */
export async function transformed(
  figure: { data?: unknown; layout?: unknown },
  limits: TransformLimits = DEFAULT_LIMITS,
): Promise<object> {
  const { data } = figure
  if (!Array.isArray(data)) return figure
  const traces = data.filter(isObject)
  const expanded: unknown[] = []
  const facets = new Map<Attributes, string[]>()
  const frames = new Map<unknown, string>()
  const notShown = new Set<string>()
  let [total, shared] = [0, 0]
  const ready: unknown[] = []
  for (const trace of data) ready.push(isEvaluable(trace) ? await prepared(trace) : trace)
  // Count unseen rows before rows are aggregated. Figures of Gridline list what they do not show.
  const isGridlineFigure =
    isObject(figure.layout) && isObject(figure.layout.meta) && figure.layout.meta.spec !== undefined
  if (isGridlineFigure)
    for (const text of missingIn({ data: ready.filter(isObject), layout: figure.layout as Attributes }))
      notShown.add(text)
  const unseenCounts = new Map<string, [count: number, what: string, why: string]>()
  const addUnseen = (transforms: readonly Transform[]): void => {
    for (const { unseen } of transforms) {
      if (!Array.isArray(unseen)) continue
      const [count, what, why] = unseen as [number, string, string]
      unseenCounts.set(why, [count + (unseenCounts.get(why)?.[0] ?? 0), what, why])
    }
  }
  for (const { transforms } of ready.filter(isEvaluable))
    addUnseen(
      (transforms as unknown[])
        .filter(isObject)
        .filter(({ type }) => Object.hasOwn(preparations, keyOf(type))),
    )
  limitGroups(ready.filter(isEvaluable))
  planBins(ready.filter(isEvaluable), figure.layout)
  // A band belongs to its line: it is not a separate series.
  const seriesCount = data.filter((trace) => !isObject(trace) || trace.meta?.isBand !== true).length
  for (const [k, trace] of ready.entries()) {
    if (!isEvaluable(trace)) {
      expanded.push(trace)
      continue
    }
    const count = trace.transforms.length
    if (count > MAX_TRANSFORMS)
      throw tooMany(`a trace has ${count} transforms; at most ${MAX_TRANSFORMS} are evaluated`)
    const groups = groupsOf(trace)
    total += groups
    if (total > limits.traces)
      throw tooMany(`the figure has ${total} groups; at most ${limits.traces} are drawn`)
    shared += groups * lengthWithoutPoints(trace)
    if (shared > limits.shared) throw tooMany('the groups of the figure share too many attributes')
    for (const part of expand(trace, k, seriesCount, facets, frames)) expanded.push(part)
    if (turnIsLong()) await breathe()
  }
  const facetCount = countOf(facets)
  if (facetCount > MAX_FACETS) throw tooMany(`the figure has more than ${MAX_FACETS} small charts`)
  if (new Set(frames.values()).size > MAX_FRAMES)
    throw tooMany(`the figure has more than ${MAX_FRAMES} frames`)
  if (facetCount * JSON.stringify(figure.layout ?? null).length > limits.shared)
    throw tooMany('the small charts of the figure share too many attributes')
  const arranged = facets.size > 0 ? faceted(figure, expanded.filter(isObject), facets) : figure
  const axes = new Axes(isObject(arranged.layout) ? arranged.layout : {}, expanded.filter(isObject), traces)
  const drawn: unknown[] = []
  for (const [k, trace] of expanded.entries()) {
    if (!isEvaluable(trace)) {
      drawn.push(trace)
      continue
    }
    if (hasTrend(trace)) color(trace, k, arranged.layout)
    const original = { transforms: trace.transforms }
    const evaluatedTrace = await evaluated(trace, axes)
    const trend = trendOf({ ...evaluatedTrace, ...original })
    const transforms = (original.transforms as unknown[]).filter(isObject)
    addUnseen(transforms.filter(({ type }) => Object.hasOwn(changes, keyOf(type))))
    for (const { left, of } of transforms)
      if (typeof left === 'number' && left > 0)
        notShown.add(moreOf(left, typeof of === 'string' ? spoken(of) : 'value'))
    const frame = frames.get(trace)
    if (frame !== undefined)
      for (const part of trend ? [evaluatedTrace, trend] : [evaluatedTrace]) frames.set(part, frame)
    if (trend) evaluatedTrace.opacity ??= PALE_OPACITY
    drawn.push(evaluatedTrace, ...(trend ? [trend] : []))
  }
  for (const [count, what, why] of unseenCounts.values())
    notShown.add(`${counted(count, what)} ${why}`.trim())
  if (frames.size > 0) {
    const series = new Set(
      drawn.filter((trace) => frames.has(trace)).map((trace) => seriesOf(trace as Attributes)),
    )
    const frameSeries = series.size * new Set(frames.values()).size
    if (frameSeries > limits.frameTraces)
      throw tooMany(
        `the figure has ${frameSeries} series in its frames; at most ${limits.frameTraces} are drawn`,
      )
    if ((shared / total) * frameSeries > limits.shared)
      throw tooMany('the frames of the figure share too many attributes')
    return animated(withUnseen(arranged, notShown, isGridlineFigure), drawn, frames)
  }
  return { ...withUnseen(arranged, notShown, isGridlineFigure), data: drawn }
}

/** Formats `1 more city`, `2,300 more cities`. */
function moreOf(count: number, thing: string): string {
  return `${count.toLocaleString('en')} more ${count === 1 ? thing : pluralOf(thing)}`
}

/** Adds the list of what a figure does not show to its metadata. */
function withUnseen(figure: Attributes, notShown: ReadonlySet<string>, isCounted: boolean): Attributes {
  if (notShown.size === 0 && !isCounted) return figure
  const layout: Attributes = isObject(figure.layout) ? figure.layout : {}
  const meta = { ...layout.meta, notShown: [...notShown], ...(isCounted && { isCounted }) }
  return { ...figure, layout: { ...layout, meta } }
}

function hasTrend(trace: Attributes): boolean {
  return (trace.transforms as unknown[]).some(
    (transform) => isObject(transform) && transform.type === 'trend',
  )
}

/** Sets the color that a trace has by its index, so that its trend line gets the same. */
function color(trace: Attributes, index: number, layout: unknown): void {
  const [line, marker]: Attributes[] = [trace.line, trace.marker].map((attribute) =>
    isObject(attribute) ? attribute : {},
  )
  const colors = colorsOf(isObject(layout) ? layout : {})
  const chosen: unknown = line.color ?? marker.color ?? colors[index % colors.length]
  if (typeof chosen !== 'string') return
  trace.line = { color: chosen, ...line }
  trace.marker = { color: chosen, ...marker }
}

/** Applies the transforms that precede grouping, to a copy of the trace. Throws `bad_figure`. */
async function prepared(original: Attributes): Promise<Attributes> {
  const transforms = (original.transforms as unknown[]).filter(isObject)
  const isPreparation = (transform: Transform): boolean =>
    transform.type === 'groupby'
      ? isOwnGrouping(transform)
      : Object.hasOwn(preparations, keyOf(transform.type))
  if (!transforms.some(isPreparation)) return original
  if (transforms.filter(({ type }) => type === 'rows').length > 1)
    throw new Problem('bad_figure', 'a trace has more than one transform of type rows')
  const trace = copied(original)
  cutToLength(trace)
  const active = (trace.transforms as unknown[]).filter(isObject).filter(({ enabled }) => enabled !== false)
  // Rows are selected first, whatever the order of transforms.
  const inOrder = [
    ...active.filter(({ type }) => type === 'rows'),
    ...active.filter(({ type }) => type !== 'rows'),
  ]
  for (const transform of inOrder) {
    const type = keyOf(transform.type)
    // Name the group of rows without a label, so that it differs from the text `null`.
    if (type === 'groupby' && Array.isArray(transform.groups) && isOwnGrouping(transform))
      transform.groups = transform.groups.map((group: unknown) =>
        group === null || group === '' ? NO_LABEL : (group ?? NO_LABEL),
      )
    if (Object.hasOwn(preparations, type)) await preparations[type](trace, transform)
  }
  return trace
}

/** Merges small groups. Traces that are grouped by the same column keep the same groups. */
function limitGroups(traces: readonly Attributes[]): void {
  const sizes = new Map<unknown, GroupSizes>()
  const merges = traces.flatMap((trace) =>
    (trace.transforms as unknown[]).filter(isObject).flatMap((transform) => {
      const { type, top: limit, enabled, groups, groupssrc: column = transform } = transform
      if (type !== 'groupby' || limit === undefined || enabled === false || !Array.isArray(groups)) return []
      const groupSizes = sizes.get(column) ?? new Map()
      sizes.set(column, groupSizes)
      addSizes(groupSizes, trace, groups)
      return [{ transform, groups, sizes: groupSizes }]
    }),
  )
  for (const { transform, groups, sizes: groupSizes } of merges) {
    const { groups: merged, other } = topGroups(groupSizes, transform, groups)
    transform.groups = merged
    transform.otherGroup = other
    if (transform.drop === true && other !== undefined) transform.left = groupSizes.size - countIn(transform)
  }
}

/** Returns the number of groups that a `groupby` with `top` does not merge. */
function countIn({ top: most }: Transform): number {
  return Math.max(0, Number(most) - 1)
}

/** Returns the number of characters that each group of a trace repeats: all but point arrays and styles. */
function lengthWithoutPoints(trace: Attributes): number {
  const styles = (trace.transforms as unknown[]).map((transform) =>
    isObject(transform) ? transform.styles : undefined,
  )
  const divided = new Set([...arraysOf(trace).map((path) => valueAt(trace, path)), ...styles])
  return JSON.stringify(trace, (_, value) => (divided.has(value) ? undefined : value)).length
}

function tooMany(what: string): Problem {
  return new Problem('too_large', what, { hint: 'Show fewer categories, or evaluate the transforms before.' })
}

function isEvaluable(trace: unknown): trace is Attributes {
  return isObject(trace) && Array.isArray(trace.transforms) && trace.transforms.length > 0
}

/** Applies one transform. */
async function changed(trace: Attributes, transform: Transform, axes: Axes): Promise<void> {
  changes[keyOf(transform.type)](trace, transform, axes)
  if (turnIsLong()) await breathe()
}

/** Cuts the point arrays to the shorter one of x and y, since further points are not drawn. */
function cutToLength(trace: Attributes): void {
  const { x, y } = trace
  if (!Array.isArray(x) || !Array.isArray(y)) return
  const length = Math.min(x.length, y.length)
  for (const path of arraysOf(trace)) setAt(trace, path, (valueAt(trace, path) as unknown[]).slice(0, length))
}

/** Applies the transforms of a trace that follow grouping. */
async function evaluated(trace: Attributes, axes: Axes): Promise<Attributes> {
  cutToLength(trace)
  axes.number(trace)
  for (const transform of trace.transforms as unknown[])
    if (isObject(transform) && transform.enabled !== false && Object.hasOwn(changes, keyOf(transform.type)))
      await changed(trace, transform, axes)
  // The arrays no longer equal the columns that they refer to.
  for (const path of arraysOf(trace)) removeAt(trace, `${path}src`)
  const { transforms, ...rest } = trace
  return rest
}
