import { aggregate } from './aggregate.ts'
import {
  type Attributes,
  arraysOf,
  isObject,
  removeAt,
  setAt,
  type Transform,
  valueAt,
} from './attributes.ts'
import { Axes } from './axes.ts'
import { filter } from './filter.ts'
import { expand } from './groupby.ts'
import { sort } from './sort.ts'

/**
 * Evaluates `transforms` of traces as plotly.js 2.35 does, which was the last version to have them, so that figures with
 * them are drawn by later ones. See docs/api.md#transforms.
 */

/** Transforms that change the arrays of a trace, in the order in which they are listed. */
const changes: Readonly<Record<string, (trace: Attributes, transform: Transform, axes: Axes) => void>> = {
  filter,
  sort,
  aggregate,
}

/** The figure with its transforms evaluated. Traces without transforms, and what is not known, stay as they are. */
export function transformed(figure: { data?: unknown; layout?: unknown }): object {
  const { data } = figure
  if (!Array.isArray(data)) return figure
  const traces = data.filter(isObject)
  const expanded = data.flatMap((trace, k) => (isEvaluable(trace) ? expand(trace, k, data.length) : [trace]))
  const axes = new Axes(isObject(figure.layout) ? figure.layout : {}, expanded.filter(isObject), traces)
  return { ...figure, data: expanded.map((trace) => (isEvaluable(trace) ? evaluated(trace, axes) : trace)) }
}

function isEvaluable(trace: unknown): trace is Attributes {
  return isObject(trace) && Array.isArray(trace.transforms) && trace.transforms.length > 0
}

/** Points have an x and a y: what is beyond the shorter one is not drawn. */
function cutToLength(trace: Attributes): void {
  const { x, y } = trace
  if (!Array.isArray(x) || !Array.isArray(y)) return
  const length = Math.min(x.length, y.length)
  for (const path of arraysOf(trace)) setAt(trace, path, (valueAt(trace, path) as unknown[]).slice(0, length))
}

function evaluated(trace: Attributes, axes: Axes): Attributes {
  cutToLength(trace)
  axes.number(trace)
  for (const transform of trace.transforms as unknown[])
    if (isObject(transform) && transform.enabled !== false && Object.hasOwn(changes, String(transform.type)))
      changes[String(transform.type)](trace, transform, axes)
  // The arrays are no longer those of the columns.
  for (const path of arraysOf(trace)) removeAt(trace, `${path}src`)
  const { transforms, ...rest } = trace
  return rest
}
