/** Keeps the largest points or groups, and combines the rest. */
import type { Attributes } from '../figure/figure.ts'
import {
  getArrayAt,
  getAtPath,
  listTransforms,
  selectRows,
  setAtPath,
  type Transform,
  toKey,
} from './attributes.ts'

/** Returns the name of the combined rest. */
const nameOfRest = (count: number): string => `other (${count})`

/**
 * Keeps the `count` largest points by `target`. If `other` is true, adds a point with the sum of the rest;
 * otherwise sets `left` to the number of omitted points.
 */
export function keepLargest(trace: Attributes, transform: Transform): void {
  const { count, target = 'y', labels = 'x', other } = transform
  if (typeof target !== 'string' || typeof labels !== 'string') return
  const [sizes, names] = [getAtPath(trace, target), getAtPath(trace, labels)]
  if (!Array.isArray(sizes) || !Array.isArray(names) || !isCount(count) || sizes.length <= count) return
  // A pie cannot show values below zero.
  const isShown = (k: number): boolean =>
    other !== true || !(toSize(sizes[k]) < 0 && toSize(sizes[k]) !== UNSIZED)
  const below = sizes.filter((_, k) => !isShown(k)).length
  if (below > 0) transform.unseen = [below, 'value', 'below zero']
  const largest = new Set(
    sizes
      .map((_, k) => k)
      .filter(isShown)
      .sort((a, b) => toSize(sizes[b]) - toSize(sizes[a]) || a - b)
      .slice(0, count),
  )
  const rows = [...sizes.keys()].filter(isShown)
  // Points without a number are not in the sum of the rest.
  const rest = rows.filter((k) => !largest.has(k) && (other !== true || toSize(sizes[k]) !== UNSIZED))
  // Do not combine a single point.
  if (other === true && rest.length === 1 && below === 0) return
  selectRows(
    trace,
    rows.filter((k) => largest.has(k)),
  )
  if (other !== true) {
    transform.left = rest.length
    return
  }
  if (rest.length === 0) return
  const sum = rest.reduce((total, k) => total + toSize(sizes[k]), 0)
  setAtPath(trace, target, [...getArrayAt(trace, target), sum])
  setAtPath(trace, labels, [...getArrayAt(trace, labels), nameOfRest(rest.length)])
}

/** Sizes of groups: the sum of absolute `y` values, or the number of points without `y`. */
export type GroupSizes = Map<string, number>

/** Adds the points of a trace to the sizes of its groups. */
export function addGroupSizes(sizes: GroupSizes, trace: Attributes, groups: readonly unknown[]): void {
  // After `rank`, the original values are in customdata.
  const isRanked = listTransforms(trace).some(({ type }) => type === 'rank')
  const values: unknown = isRanked ? trace.customdata : trace.y
  const sized = Array.isArray(values) && trace.type !== 'histogram' ? values : undefined
  for (const [k, group] of groups.entries()) {
    const key = toKey(group)
    sizes.set(key, (sizes.get(key) ?? 0) + (sized ? Math.abs(Number(sized[k])) || 0 : 1))
  }
}

/** Merges all but the largest `top` − 1 groups if there are more than `top`. `other` names the merged one. */
export function mergeSmallGroups(
  sizes: GroupSizes,
  { top: count }: Transform,
  groups: readonly unknown[],
): { groups: unknown[]; other?: string } {
  if (!isCount(count) || sizes.size <= count) return { groups: [...groups] }
  const order = [...sizes.keys()].sort((a, b) => sizes.get(b)! - sizes.get(a)!)
  // The merged group counts as one of the `top` series.
  const largest = new Set(order.slice(0, Math.max(0, count - 1)))
  let other = nameOfRest(sizes.size - largest.size)
  // Avoid the name of an existing group.
  while (sizes.has(other)) other += ' '
  return { groups: groups.map((group) => (largest.has(toKey(group)) ? group : other)), other }
}

function isCount(count: unknown): count is number {
  return typeof count === 'number' && count >= 1
}

const UNSIZED = Number.NEGATIVE_INFINITY

/** Converts a value to a number; `UNSIZED` if it is none. */
function toSize(value: unknown): number {
  const size = typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN
  return Number.isFinite(size) ? size : UNSIZED
}
