/** Evaluates `transforms` of traces as plotly.js 2.35 did. See docs/api.md#transforms. */

import { Problem } from '../../contract/errors.ts'
import { shouldYield, yieldToEventLoop } from '../../json/index.ts'
import { type Attributes, isObject } from '../figure/figure.ts'
import { labelOf } from '../figure/shared-names.ts'
import { aggregate, aggregateToCells, aggregateToNumber } from './aggregate.ts'
import { animateFigure, MAX_FRAMES, seriesNameOf } from './animate.ts'
import {
  copyTrace,
  getArrayAt,
  getAtPath,
  listPointArrays,
  listTransforms,
  removeAtPath,
  setAtPath,
  type Transform,
  toKey,
} from './attributes.ts'
import { AxisTypes } from './axis-types.ts'
import { keepAmounts, negateValues, replaceBySpans } from './bar-spans.ts'
import { convertToBars, planBins } from './bins.ts'
import { arrangeFacets, colorwayOf, countFacets, MAX_FACETS } from './facet.ts'
import { filterPoints } from './filter.ts'
import { applyGroupBy, countGroups } from './groupby.ts'
import { meltColumns } from './melt.ts'
import { NotShown } from './not-shown.ts'
import { truncateToPeriod } from './period.ts'
import { keepCompleteRows, selectAndSortRows, sortByTarget } from './rows.ts'
import { sortPoints } from './sort.ts'
import {
  arrangeCalendar,
  countInHexagons,
  cumulateValues,
  estimateDensity,
  nameDirections,
  numberLinks,
  outlineBand,
  rankPoints,
  replaceByClasses,
} from './spreads.ts'
import { addGroupSizes, type GroupSizes, keepLargest, mergeSmallGroups } from './top.ts'
import { computeTotals } from './tree.ts'
import { createTrendLine, TRACE_OPACITY } from './trend.ts'
import { convertToZone } from './zone.ts'

/** Transforms that change the arrays of a trace. Applied after grouping, in the order of the trace. */
const TRANSFORMS: Readonly<
  Record<string, (trace: Attributes, transform: Transform, axes: AxisTypes) => void>
> = {
  filter: filterPoints,
  sort: sortPoints,
  order: sortByTarget,
  aggregate,
  cells: aggregateToCells,
  top: keepLargest,
  number: aggregateToNumber,
  tree: computeTotals,
  complete: keepCompleteRows,
  span: replaceBySpans,
  negate: negateValues,
  amounts: keepAmounts,
  cumulate: cumulateValues,
  density: estimateDensity,
  bins: convertToBars,
  calendar: arrangeCalendar,
  links: numberLinks,
  hexagons: countInHexagons,
  band: outlineBand,
}

/** Transforms that are applied before traces are grouped. plotly.js has none of them. */
const PREPARATIONS: Readonly<
  Record<string, (trace: Attributes, transform: Transform) => void | Promise<void>>
> = {
  rows: selectAndSortRows,
  melt: meltColumns,
  zone: convertToZone,
  per: truncateToPeriod,
  rank: rankPoints,
  sectors: nameDirections,
  groupby: classifyGroups,
}

/** Returns whether a `groupby` uses options that plotly.js does not have. */
function hasGridlineOptions({ top: limit, facet, animate, classes }: Transform): boolean {
  return limit !== undefined || facet === true || animate === true || classes !== undefined
}

/** Replaces numeric groups by classes, if the transform has `classes`. */
function classifyGroups(_: Attributes, transform: Transform): void {
  const { groups, classes: count } = transform
  if (typeof count === 'number' && count >= 1 && Array.isArray(groups))
    transform.groups = replaceByClasses(groups, count)
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

/** Traces of a figure, split by group. */
interface SplitTraces {
  traces: unknown[]
  /** Facets of traces. */
  facets: Map<Attributes, string[]>
  /** Frames of traces. */
  frames: Map<unknown, string>
  /** Number of groups, and the characters of attributes that they repeat. */
  groups: number
  shared: number
}

/** Evaluates the transforms of a figure. Ignores unknown ones. Throws `too_large` and `bad_figure`. */
export async function evaluateTransforms(
  figure: { data?: unknown; layout?: unknown },
  limits: TransformLimits = DEFAULT_LIMITS,
): Promise<{ data?: unknown; layout?: unknown }> {
  const { data } = figure
  if (!Array.isArray(data)) return figure
  const prepared: unknown[] = []
  for (const trace of data) prepared.push(hasTransforms(trace) ? await prepareTrace(trace) : trace)
  // Count unseen rows before rows are aggregated.
  const notShown = new NotShown(figure.layout, prepared.filter(isObject))
  const ready = notShown.drop(prepared, figure.layout)
  const transformed = ready.filter(hasTransforms)
  for (const trace of transformed) notShown.addUnseen(listTransforms(trace).filter(isPreparation))
  limitGroups(transformed)
  planBins(transformed, figure.layout)
  // A band belongs to its line: it is not a separate series.
  const seriesCount = data.filter((trace) => !isObject(trace) || trace.meta?.isBand !== true).length
  const split = await splitTraces(ready, seriesCount, figure.layout, limits)
  checkArrangement(split, figure.layout, limits)
  const { frames, facets } = split
  const parts = split.traces.filter(isObject)
  const arranged = facets.size > 0 ? arrangeFacets(figure, parts, facets) : figure
  const axes = new AxisTypes(
    isObject(arranged.layout) ? arranged.layout : {},
    parts,
    notShown.drop(data, figure.layout).filter(isObject),
  )
  const drawn: unknown[] = []
  for (const [k, trace] of split.traces.entries()) {
    if (!hasTransforms(trace)) {
      drawn.push(trace)
      continue
    }
    if (hasTrend(trace)) setColor(trace, k, arranged.layout)
    const evaluated = await evaluateTrace(trace, axes, notShown)
    const frame = frames.get(trace)
    if (frame !== undefined) for (const part of evaluated) frames.set(part, frame)
    drawn.push(...evaluated)
  }
  const described = notShown.addTo(arranged)
  if (frames.size === 0) return { ...described, data: drawn }
  checkFrames(drawn, split, limits)
  return animateFigure(described, drawn, frames)
}

/** Splits traces by group. `seriesCount`: number of series before. Throws `too_large`. */
async function splitTraces(
  ready: readonly unknown[],
  seriesCount: number,
  layout: unknown,
  limits: TransformLimits,
): Promise<SplitTraces> {
  const split: SplitTraces = { traces: [], facets: new Map(), frames: new Map(), groups: 0, shared: 0 }
  // Number of series before a trace, also of those that a filter leaves out.
  let places = 0
  for (const [k, trace] of ready.entries()) {
    // plotly.js names traces by their number before they are split.
    const isMoved = split.traces.length !== k && isObject(trace) && (trace.name ?? undefined) === undefined
    if (!hasTransforms(trace)) {
      split.traces.push(isMoved ? { ...trace, name: `trace ${k}` } : trace)
      places++
      continue
    }
    const count = trace.transforms.length
    if (count > MAX_TRANSFORMS)
      throw createTooManyError(`a trace has ${count} transforms; at most ${MAX_TRANSFORMS} are evaluated`)
    const groups = countGroups(trace)
    split.groups += groups
    if (split.groups > limits.traces)
      throw createTooManyError(`the figure has ${split.groups} groups; at most ${limits.traces} are drawn`)
    split.shared += groups * measureSharedAttributes(trace)
    if (split.shared > limits.shared)
      throw createTooManyError('the groups of the figure share too many attributes')
    const parts = applyGroupBy(trace, k, seriesCount, split.facets, split.frames)
    if (isMoved && parts.length === 1) parts[0].name ??= `trace ${k}`
    for (const part of parts) {
      if (part.meta?.place !== undefined) setColor(part, places + part.meta.place, layout)
      split.traces.push(part)
    }
    places += parts[0]?.meta?.places ?? parts.length
    if (shouldYield()) await yieldToEventLoop()
  }
  return split
}

/** Throws `too_large` for too many small charts or frames. */
function checkArrangement({ facets, frames }: SplitTraces, layout: unknown, limits: TransformLimits): void {
  const facetCount = countFacets(facets)
  if (facetCount > MAX_FACETS) throw createTooManyError(`the figure has more than ${MAX_FACETS} small charts`)
  if (new Set(frames.values()).size > MAX_FRAMES)
    throw createTooManyError(`the figure has more than ${MAX_FRAMES} frames`)
  if (facetCount * JSON.stringify(layout ?? null).length > limits.shared)
    throw createTooManyError('the small charts of the figure share too many attributes')
}

/** Throws `too_large` if the frames together have too many series or attributes. */
function checkFrames(
  drawn: readonly unknown[],
  { frames, groups, shared }: SplitTraces,
  limits: TransformLimits,
): void {
  const moving = drawn.filter((trace): trace is Attributes => frames.has(trace))
  const frameSeries = new Set(moving.map(seriesNameOf)).size * new Set(frames.values()).size
  if (frameSeries > limits.frameTraces)
    throw createTooManyError(
      `the figure has ${frameSeries} series in its frames; at most ${limits.frameTraces} are drawn`,
    )
  if ((shared / groups) * frameSeries > limits.shared)
    throw createTooManyError('the frames of the figure share too many attributes')
}

function hasTrend(trace: Attributes): boolean {
  return listTransforms(trace).some(({ type, enabled }) => type === 'trend' && enabled !== false)
}

/** Sets the color that a trace has by its index, for its trend line, or if others are left out. */
function setColor(trace: Attributes, index: number, layout: unknown): void {
  const [line, marker]: Attributes[] = [trace.line, trace.marker].map((attribute) =>
    isObject(attribute) ? attribute : {},
  )
  const colors = colorwayOf(isObject(layout) ? layout : {})
  const chosen: unknown = line.color ?? marker.color ?? colors[index % colors.length]
  if (typeof chosen !== 'string') return
  if (/^scatter/.test(toKey(trace.type ?? 'scatter'))) trace.line = { color: chosen, ...line }
  trace.marker = { color: chosen, ...marker }
}

/** Applies the transforms that precede grouping, to a copy of the trace. Throws `bad_figure`. */
async function prepareTrace(original: Attributes): Promise<Attributes> {
  const transforms = listTransforms(original)
  const isNeeded = (transform: Transform): boolean =>
    transform.type === 'groupby' ? hasGridlineOptions(transform) : isPreparation(transform)
  if (!transforms.some(isNeeded)) return original
  if (transforms.filter(({ type }) => type === 'rows').length > 1)
    throw new Problem('bad_figure', 'a trace has more than one transform of type rows')
  const trace = copyTrace(original)
  cutToShortest(trace)
  const active = listTransforms(trace).filter(({ enabled }) => enabled !== false)
  // Rows are selected first, whatever the order of transforms.
  const inOrder = [
    ...active.filter(({ type }) => type === 'rows'),
    ...active.filter(({ type }) => type !== 'rows'),
  ]
  for (const transform of inOrder) {
    const type = toKey(transform.type)
    // Name the group of rows without a label, so that it differs from the text `null`.
    if (type === 'groupby' && hasGridlineOptions(transform))
      for (const list of ['groups', 'allGroups'])
        if (Array.isArray(transform[list])) transform[list] = transform[list].map(labelOf)
    if (isPreparation(transform)) await PREPARATIONS[type](trace, transform)
  }
  return trace
}

/** Merges small groups. Traces that are grouped by the same column keep the same groups. */
function limitGroups(traces: readonly Attributes[]): void {
  const sizes = new Map<unknown, GroupSizes>()
  const merges = traces.flatMap((trace) =>
    listTransforms(trace).flatMap((transform) => {
      const { type, top: limit, enabled, groups, groupssrc: column = transform } = transform
      if (type !== 'groupby' || limit === undefined || enabled === false || !Array.isArray(groups)) return []
      const groupSizes = sizes.get(column) ?? new Map()
      sizes.set(column, groupSizes)
      addGroupSizes(groupSizes, trace, groups)
      return [{ transform, groups, sizes: groupSizes }]
    }),
  )
  for (const { transform, groups, sizes: groupSizes } of merges) {
    const { groups: merged, other } = mergeSmallGroups(groupSizes, transform, groups)
    transform.groups = merged
    transform.otherGroup = other
    if (transform.drop === true && other !== undefined)
      transform.left = groupSizes.size - countUnmergedGroups(transform)
  }
}

/** Returns the number of groups that a `groupby` with `top` does not merge. */
function countUnmergedGroups({ top: most }: Transform): number {
  return Math.max(0, Number(most) - 1)
}

/** Returns the number of characters that each group of a trace repeats: all but point arrays and styles. */
function measureSharedAttributes(trace: Attributes): number {
  const styles = listTransforms(trace).map((transform) => transform.styles)
  const divided = new Set([...listPointArrays(trace).map((path) => getAtPath(trace, path)), ...styles])
  return JSON.stringify(trace, (_, value) => (divided.has(value) ? undefined : value)).length
}

function createTooManyError(what: string): Problem {
  return new Problem('too_large', what, { hint: 'Show fewer categories, or evaluate the transforms before.' })
}

function hasTransforms(trace: unknown): trace is Attributes {
  return isObject(trace) && Array.isArray(trace.transforms) && trace.transforms.length > 0
}

function isPreparation({ type }: Transform): boolean {
  return Object.hasOwn(PREPARATIONS, toKey(type))
}

/** Cuts the point arrays to the shorter one of x and y, since further points are not drawn. */
function cutToShortest(trace: Attributes): void {
  const { x, y } = trace
  if (!Array.isArray(x) || !Array.isArray(y)) return
  const length = Math.min(x.length, y.length)
  for (const path of listPointArrays(trace)) setAtPath(trace, path, getArrayAt(trace, path).slice(0, length))
}

/**
 * Applies the transforms of a trace that follow grouping. Returns the trace, and its trend line if it has
 * one.
 */
async function evaluateTrace(trace: Attributes, axes: AxisTypes, notShown: NotShown): Promise<Attributes[]> {
  cutToShortest(trace)
  axes.numberLabels(trace)
  const transforms = listTransforms(trace)
  const known = transforms.filter(({ type }) => Object.hasOwn(TRANSFORMS, toKey(type)))
  for (const transform of known) {
    if (transform.enabled === false) continue
    TRANSFORMS[toKey(transform.type)](trace, transform, axes)
    if (shouldYield()) await yieldToEventLoop()
  }
  // The arrays no longer equal the columns that they refer to.
  for (const path of listPointArrays(trace)) removeAtPath(trace, `${path}src`)
  notShown.addUnseen(known)
  notShown.addLeft(transforms)
  const { transforms: _, ...evaluated } = trace
  const trend = createTrendLine({ ...evaluated, transforms })
  if (!trend) {
    if (hasTrend({ transforms })) notShown.addMissingTrend()
    return [evaluated]
  }
  if (trend.y.every((value: unknown) => value === null)) {
    notShown.addEmptyMean(trend.name)
    return [evaluated]
  }
  evaluated.opacity ??= TRACE_OPACITY
  return [evaluated, trend]
}
