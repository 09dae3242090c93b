/** Reads and changes attributes of traces by path. */

import { isTransposed, listDataAttributes } from '../figure/data-attributes.ts'
import { type Attributes, isObject } from '../figure/figure.ts'
import { isMissingLabel } from '../figure/shared-names.ts'

export type Transform = Attributes

/** Converts a value to a key, as plotly.js does: 1 and "1" are equal. */
export function toKey(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}

/** Returns the value at a path such as `marker.color`; undefined if there is none. */
export function getAtPath(trace: Attributes, path: string): unknown {
  let value: unknown = trace
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = Reflect.get(value, name)
  }
  return value
}

/**
 * Sets the value at a path and creates missing objects. Does nothing if the path leads through another value.
 */
export function setAtPath(trace: Attributes, path: string, value: unknown): void {
  const names = path.split('.')
  // Properties of all objects are not attributes.
  if (names.some((name) => name in Object.prototype)) return
  const last = names.pop()!
  let parent: Attributes = trace
  for (const name of names) {
    const isList: boolean = Array.isArray(parent)
    if (isList && !(Object.hasOwn(parent, name) && isObject(parent[name]))) return
    parent[name] ??= {}
    if (typeof parent[name] !== 'object') return
    parent = parent[name]
  }
  if (!Array.isArray(parent)) parent[last] = value
}

/** Removes the attribute at a path such as `marker.color`, if it exists. */
export function removeAtPath(trace: Attributes, path: string): void {
  const names = path.split('.')
  const last = names.pop()!
  const parent = names.length === 0 ? trace : getAtPath(trace, names.join('.'))
  if (isObject(parent)) delete parent[last]
}

function arrayOrEmpty(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns the array at a path; an empty one if there is none. */
export function getArrayAt(trace: Attributes, path: string): unknown[] {
  return arrayOrEmpty(getAtPath(trace, path))
}

/** Returns the transforms of a trace. */
export function listTransforms({ transforms }: Attributes): Transform[] {
  return arrayOrEmpty(transforms).filter(isObject)
}

/** Attributes of transforms that can be arrays with a value per point. */
const TRANSFORM_ARRAYS = ['groups', 'target']

/** Lists paths of arrays with a value per point, including those of transforms. */
export function listPointArrays(trace: Attributes): string[] {
  const paths = [...listDataAttributes(toKey(trace.type ?? 'scatter'))].filter((path) =>
    Array.isArray(getAtPath(trace, path)),
  )
  if (trace.type === 'splom')
    for (const [k, dimension] of arrayOrEmpty(trace.dimensions).entries())
      if (isObject(dimension) && Array.isArray(dimension.values)) paths.push(`dimensions.${k}.values`)
  for (const [k, transform] of arrayOrEmpty(trace.transforms).entries())
    if (isObject(transform))
      for (const name of TRANSFORM_ARRAYS)
        if (Array.isArray(transform[name])) paths.push(`transforms.${k}.${name}`)
  return paths
}

/** Returns whether an attribute that refers to several columns of a grid is an array of these columns. */
function isColumnList(
  trace: Attributes,
  path: string,
  array: readonly unknown[],
): array is readonly unknown[][] {
  const source = getAtPath(trace, `${path}src`)
  return (
    typeof source === 'string' &&
    source.includes(',') &&
    array.every(Array.isArray) &&
    !isTransposed(toKey(trace.type), path)
  )
}

/** Copies the points of these rows from the arrays of `trace` to `into`, in this order. Row −1 is a gap. */
export function selectRows(
  trace: Attributes,
  rows: readonly number[],
  into = trace,
  paths: Iterable<string> = listPointArrays(trace),
): void {
  for (const path of paths) {
    const array = getArrayAt(trace, path)
    const select = (values: readonly unknown[]) => rows.map((k) => values[k])
    setAtPath(into, path, isColumnList(trace, path, array) ? array.map(select) : select(array))
  }
}

/** Stands for a missing label, as distinct from the text `null`. */
const MISSING_LABEL = '\u0000'

/** Returns the key of the group of a label. Rows without a label are a group. */
export function keyOfLabel(label: unknown): unknown {
  return isMissingLabel(label) ? MISSING_LABEL : label
}

/** Groups row numbers by value, ordered by first row. */
export function groupRows(values: readonly unknown[]): Map<string, number[]> {
  const rows = new Map<string, number[]>()
  for (const [k, value] of values.entries()) {
    const key = toKey(value)
    const keyRows = rows.get(key)
    if (keyRows) keyRows.push(k)
    else rows.set(key, [k])
  }
  return rows
}

/** Returns the values that a transform targets: its own array, cut to the points, or one of the trace. */
export function resolveTarget(trace: Attributes, target: unknown): readonly unknown[] | undefined {
  if (Array.isArray(target)) {
    const lists = listPointArrays(trace).filter((path) => !path.startsWith('transforms.'))
    const counts = lists.map((path) => getArrayAt(trace, path).length)
    return counts.length === 0 ? target : target.slice(0, Math.max(...counts))
  }
  const values = typeof target === 'string' ? getAtPath(trace, target) : undefined
  return Array.isArray(values) ? values : undefined
}

/**
 * Copies a trace, so that its objects can be changed. Arrays are shared: they are replaced, never changed.
 */
export function copyTrace(trace: Attributes): Attributes {
  const copy: Attributes = {}
  for (const [name, value] of Object.entries(trace))
    if (name !== '__proto__') copy[name] = isObject(value) ? copyTrace(value) : value
  for (const name of ['transforms', 'dimensions'])
    if (Array.isArray(trace[name]))
      copy[name] = trace[name].map((item: unknown) => (isObject(item) ? copyTrace(item) : item))
  return copy
}
