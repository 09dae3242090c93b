import { dataAttributes } from '../data-attributes.ts'

// biome-ignore lint/suspicious/noExplicitAny: a trace can have any attribute
export type Attributes = Record<string, any>
export type Transform = Attributes

export function isObject(value: unknown): value is Attributes {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A value as a key: as keys of objects, 1 and "1" are the same. */
export function keyOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}

/** The value at a path such as `marker.color`. */
export function valueAt(trace: Attributes, path: string): unknown {
  let value: unknown = trace
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Attributes)[name]
  }
  return value
}

/** Sets the value at a path. Objects on the way are made, unless something else is there; arrays get no members. */
export function setAt(trace: Attributes, path: string, value: unknown): void {
  const names = path.split('.')
  // What every object has is not an attribute.
  if (names.some((name) => name in Object.prototype)) return
  const last = names.pop()!
  let at: Attributes = trace
  for (const name of names) {
    const isList: boolean = Array.isArray(at)
    if (isList && !(Object.hasOwn(at, name) && isObject(at[name]))) return
    at[name] ??= {}
    if (typeof at[name] !== 'object') return
    at = at[name]
  }
  if (!Array.isArray(at)) at[last] = value
}

export function removeAt(trace: Attributes, path: string): void {
  const names = path.split('.')
  const last = names.pop()!
  const above = names.length === 0 ? trace : valueAt(trace, names.join('.'))
  if (isObject(above)) delete above[last]
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** Attributes of transforms that can be arrays with a value for each point. */
const OF_TRANSFORMS = ['groups', 'target']

/** Paths of the arrays that have a value for each point, also those of the transforms. */
export function arraysOf(trace: Attributes): string[] {
  const paths = [...dataAttributes(keyOf(trace.type ?? 'scatter'))].filter((path) =>
    Array.isArray(valueAt(trace, path)),
  )
  if (trace.type === 'splom')
    for (const [k, dimension] of listOf(trace.dimensions).entries())
      if (isObject(dimension) && Array.isArray(dimension.values)) paths.push(`dimensions.${k}.values`)
  for (const [k, transform] of ((trace.transforms ?? []) as unknown[]).entries())
    if (isObject(transform))
      for (const name of OF_TRANSFORMS)
        if (Array.isArray(transform[name])) paths.push(`transforms.${k}.${name}`)
  return paths
}

/**
 * Gives `into` the points of these rows, in this order: of all arrays of a trace, or of those with these paths. A row of
 * −1 is a gap.
 */
export function takeRows(
  trace: Attributes,
  rows: readonly number[],
  into = trace,
  paths: Iterable<string> = arraysOf(trace),
): void {
  for (const path of paths) {
    const array = valueAt(trace, path) as unknown[]
    setAt(
      into,
      path,
      rows.map((k) => array[k]),
    )
  }
}

/** What stands for a missing label among labels: it is not the text `null`. */
export const MISSING = '\u0000'

/** The rows of each value, in the order of their first rows. */
export function rowsByKey(values: readonly unknown[]): Map<string, number[]> {
  const rows = new Map<string, number[]>()
  for (const [k, value] of values.entries()) {
    const key = keyOf(value)
    const own = rows.get(key)
    if (own) own.push(k)
    else rows.set(key, [k])
  }
  return rows
}

/** The values that a transform is about: an array of its own, as far as there are points, or one of the trace. */
export function targetOf(trace: Attributes, target: unknown): readonly unknown[] | undefined {
  if (Array.isArray(target)) {
    const lists = arraysOf(trace).filter((path) => !path.startsWith('transforms.'))
    const counts = lists.map((path) => (valueAt(trace, path) as unknown[]).length)
    return counts.length === 0 ? target : target.slice(0, Math.max(...counts))
  }
  const values = typeof target === 'string' ? valueAt(trace, target) : undefined
  return Array.isArray(values) ? values : undefined
}

/** A copy whose objects can be changed. Arrays are shared: they are replaced, never changed. */
export function copied(trace: Attributes): Attributes {
  const copy: Attributes = {}
  for (const [name, value] of Object.entries(trace))
    if (name !== '__proto__') copy[name] = isObject(value) ? copied(value) : value
  for (const name of ['transforms', 'dimensions'])
    if (Array.isArray(trace[name]))
      copy[name] = trace[name].map((one: unknown) => (isObject(one) ? copied(one) : one))
  return copy
}
