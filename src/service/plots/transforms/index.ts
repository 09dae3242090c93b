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

/**
 * Evaluates `transforms` of traces as plotly.js 2.35 does, which was the last version to have them, so that figures with
 * them are drawn by later ones. See docs/api.md#transforms.
 */

/** Transforms that change the arrays of a trace, in the order in which they are listed. */
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

/** Our own transforms that are evaluated before traces are grouped. */
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

/** Whether a `groupby` has what plotly.js does not know.*/
function isOwnGrouping({ top: most, facet, animate, classes }: Transform): boolean {
  return most !== undefined || facet === true || animate === true || classes !== undefined
}

/** Groups of numbers become classes of them, if that is asked for. */
function classify(_: Attributes, transform: Transform): void {
  const { groups, classes } = transform
  if (typeof classes === 'number' && classes >= 1 && Array.isArray(groups))
    transform.groups = classed(groups, classes)
}

/** Transforms of one trace. More takes longer than anybody waits for a chart. */
const MAX_TRANSFORMS = 20

/** How much a figure may become by its groups. */
export interface TransformLimits {
  traces: number
  /** Series of all frames together: each frame has all of them. */
  frameTraces: number
  /** Characters of attributes that all groups, frames and small charts have. */
  shared: number
}

const DEFAULT_LIMITS: TransformLimits = { traces: 1000, frameTraces: 10_000, shared: 4 * 1024 * 1024 }

/**
 * The figure with its transforms evaluated. Traces without transforms, and what is not known, stay as they are. Throws
 * `too_large`. Yields to the event loop.
 */
export async function transformed(
  figure: { data?: unknown; layout?: unknown },
  most: TransformLimits = DEFAULT_LIMITS,
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
  for (const given of data) ready.push(isEvaluable(given) ? await prepared(given) : given)
  // Rows are counted before they are put together, and all figures of ours say what they do not show.
  const isOurs =
    isObject(figure.layout) && isObject(figure.layout.meta) && figure.layout.meta.spec !== undefined
  if (isOurs)
    for (const text of missingIn({ data: ready.filter(isObject), layout: figure.layout as Attributes }))
      notShown.add(text)
  const counts = new Map<string, [count: number, what: string, why: string]>()
  const addUnseen = (transforms: readonly Transform[]): void => {
    for (const { unseen } of transforms) {
      if (!Array.isArray(unseen)) continue
      const [count, what, why] = unseen as [number, string, string]
      counts.set(why, [count + (counts.get(why)?.[0] ?? 0), what, why])
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
  // Bands are parts of their lines.
  const own = data.filter((trace) => !isObject(trace) || trace.meta?.isBand !== true).length
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
    if (total > most.traces) throw tooMany(`the figure has ${total} groups; at most ${most.traces} are drawn`)
    shared += groups * lengthWithoutPoints(trace)
    if (shared > most.shared) throw tooMany('the groups of the figure share too many attributes')
    for (const part of expand(trace, k, own, facets, frames)) expanded.push(part)
    if (turnIsLong()) await breathe()
  }
  const charts = countOf(facets)
  if (charts > MAX_FACETS) throw tooMany(`the figure has more than ${MAX_FACETS} small charts`)
  if (new Set(frames.values()).size > MAX_FRAMES)
    throw tooMany(`the figure has more than ${MAX_FRAMES} frames`)
  if (charts * JSON.stringify(figure.layout ?? null).length > most.shared)
    throw tooMany('the small charts of the figure share too many attributes')
  const placed = facets.size > 0 ? faceted(figure, expanded.filter(isObject), facets) : figure
  const axes = new Axes(isObject(placed.layout) ? placed.layout : {}, expanded.filter(isObject), traces)
  const drawn: unknown[] = []
  for (const [k, trace] of expanded.entries()) {
    if (!isEvaluable(trace)) {
      drawn.push(trace)
      continue
    }
    if (hasTrend(trace)) color(trace, k, placed.layout)
    const line = { transforms: trace.transforms }
    const done = await evaluated(trace, axes)
    const trend = trendOf({ ...done, ...line })
    const own = (line.transforms as unknown[]).filter(isObject)
    addUnseen(own.filter(({ type }) => Object.hasOwn(changes, keyOf(type))))
    for (const { left, of } of own)
      if (typeof left === 'number' && left > 0)
        notShown.add(moreOf(left, typeof of === 'string' ? spoken(of) : 'value'))
    const frame = frames.get(trace)
    if (frame !== undefined) for (const one of trend ? [done, trend] : [done]) frames.set(one, frame)
    if (trend) done.opacity ??= PALE_OPACITY
    drawn.push(done, ...(trend ? [trend] : []))
  }
  for (const [count, what, why] of counts.values()) notShown.add(`${counted(count, what)} ${why}`.trim())
  if (frames.size > 0) {
    const series = new Set(
      drawn.filter((trace) => frames.has(trace)).map((trace) => seriesOf(trace as Attributes)),
    )
    const all = series.size * new Set(frames.values()).size
    if (all > most.frameTraces)
      throw tooMany(`the figure has ${all} series in its frames; at most ${most.frameTraces} are drawn`)
    if ((shared / total) * all > most.shared)
      throw tooMany('the frames of the figure share too many attributes')
    return animated(withUnseen(placed, notShown, isOurs), drawn, frames)
  }
  return { ...withUnseen(placed, notShown, isOurs), data: drawn }
}

/** `1 more city`, `2,300 more cities`. */
function moreOf(count: number, thing: string): string {
  return `${count.toLocaleString('en')} more ${count === 1 ? thing : pluralOf(thing)}`
}

/** The figure with what it does not show. */
function withUnseen(figure: Attributes, notShown: ReadonlySet<string>, isCounted: boolean): Attributes {
  if (notShown.size === 0 && !isCounted) return figure
  const layout: Attributes = isObject(figure.layout) ? figure.layout : {}
  const meta = { ...layout.meta, notShown: [...notShown], ...(isCounted && { isCounted }) }
  return { ...figure, layout: { ...layout, meta } }
}

function hasTrend(trace: Attributes): boolean {
  return (trace.transforms as unknown[]).some((one) => isObject(one) && one.type === 'trend')
}

/** Gives a trace the color that it would have among the others, so that its trend has the same. */
function color(trace: Attributes, index: number, layout: unknown): void {
  const [line, marker]: Attributes[] = [trace.line, trace.marker].map((one) => (isObject(one) ? one : {}))
  const colors = colorsOf(isObject(layout) ? layout : {})
  const chosen: unknown = line.color ?? marker.color ?? colors[index % colors.length]
  if (typeof chosen !== 'string') return
  trace.line = { color: chosen, ...line }
  trace.marker = { color: chosen, ...marker }
}

/** The trace after the transforms that come before the groups. */
async function prepared(given: Attributes): Promise<Attributes> {
  const transforms = (given.transforms as unknown[]).filter(isObject)
  const isOurs = (one: Transform): boolean =>
    one.type === 'groupby' ? isOwnGrouping(one) : Object.hasOwn(preparations, keyOf(one.type))
  if (!transforms.some(isOurs)) return given
  if (transforms.filter(({ type }) => type === 'rows').length > 1)
    throw new Problem('bad_figure', 'a trace has more than one transform of type rows')
  const trace = copied(given)
  cutToLength(trace)
  const own = (trace.transforms as unknown[]).filter(isObject).filter(({ enabled }) => enabled !== false)
  // Rows are chosen first, whatever the order of the list is.
  const inOrder = [...own.filter(({ type }) => type === 'rows'), ...own.filter(({ type }) => type !== 'rows')]
  for (const transform of inOrder) {
    const type = keyOf(transform.type)
    // Rows without a label are a group that can be named, and not those with the text `null`.
    if (type === 'groupby' && Array.isArray(transform.groups) && isOwnGrouping(transform))
      transform.groups = transform.groups.map((group: unknown) =>
        group === null || group === '' ? NO_LABEL : (group ?? NO_LABEL),
      )
    if (Object.hasOwn(preparations, type)) await preparations[type](trace, transform)
  }
  return trace
}

/** Merges the smaller groups of each trace. Traces that are grouped by the same column keep the same groups. */
function limitGroups(traces: readonly Attributes[]): void {
  const sizes = new Map<unknown, GroupSizes>()
  const limited = traces.flatMap((trace) =>
    (trace.transforms as unknown[]).filter(isObject).flatMap((transform) => {
      const { type, top: limit, enabled, groups, groupssrc: column = transform } = transform
      if (type !== 'groupby' || limit === undefined || enabled === false || !Array.isArray(groups)) return []
      const own = sizes.get(column) ?? new Map()
      sizes.set(column, own)
      addSizes(own, trace, groups)
      return [{ transform, groups, sizes: own }]
    }),
  )
  for (const { transform, groups, sizes: own } of limited) {
    const { groups: merged, other } = topGroups(own, transform, groups)
    transform.groups = merged
    transform.otherGroup = other
    if (transform.drop === true && other !== undefined) transform.left = own.size - countIn(transform)
  }
}

/** Groups of a `groupby` with `top` that are not merged. */
function countIn({ top: most }: Transform): number {
  return Math.max(0, Number(most) - 1)
}

/** Characters of a trace that each of its groups has: the arrays with a value for each point are divided, as are the styles. */
function lengthWithoutPoints(trace: Attributes): number {
  const styles = (trace.transforms as unknown[]).map((one) => (isObject(one) ? one.styles : undefined))
  const divided = new Set([...arraysOf(trace).map((path) => valueAt(trace, path)), ...styles])
  return JSON.stringify(trace, (_, value) => (divided.has(value) ? undefined : value)).length
}

function tooMany(what: string): Problem {
  return new Problem('too_large', what, { hint: 'Show fewer categories, or evaluate the transforms before.' })
}

function isEvaluable(trace: unknown): trace is Attributes {
  return isObject(trace) && Array.isArray(trace.transforms) && trace.transforms.length > 0
}

async function changed(trace: Attributes, transform: Transform, axes: Axes): Promise<void> {
  changes[keyOf(transform.type)](trace, transform, axes)
  if (turnIsLong()) await breathe()
}

/** Points have an x and a y: what is beyond the shorter one is not drawn. */
function cutToLength(trace: Attributes): void {
  const { x, y } = trace
  if (!Array.isArray(x) || !Array.isArray(y)) return
  const length = Math.min(x.length, y.length)
  for (const path of arraysOf(trace)) setAt(trace, path, (valueAt(trace, path) as unknown[]).slice(0, length))
}

async function evaluated(trace: Attributes, axes: Axes): Promise<Attributes> {
  cutToLength(trace)
  axes.number(trace)
  for (const transform of trace.transforms as unknown[])
    if (isObject(transform) && transform.enabled !== false && Object.hasOwn(changes, keyOf(transform.type)))
      await changed(trace, transform, axes)
  // The arrays are no longer those of the columns.
  for (const path of arraysOf(trace)) removeAt(trace, `${path}src`)
  const { transforms, ...rest } = trace
  return rest
}
