import type { Attributes } from './attributes.ts'

/**
 * The values of the parts of a treemap or sunburst as totals: a part with parts of its own is as large as they are
 * together, unless its own value is larger. Parents without a row are added; a part that is below itself is not. Takes as
 * long as there are parts. See docs/api.md#own-transforms.
 */
export function tree(trace: Attributes): void {
  if (!Array.isArray(trace.labels)) return
  const names = trace.labels.map(textOf)
  // Parts of one name have ids of their own; a part without one is no parent.
  const hasIds = Array.isArray(trace.ids)
  const labels: string[] = hasIds
    ? names.map((_: string, k: number) => textOf(trace.ids[k]) || `row ${k + 1}`)
    : names
  const hasValues = Array.isArray(trace.values)
  const parents = labels.map((_, k) => (Array.isArray(trace.parents) ? textOf(trace.parents[k]) : ''))
  const values: number[] = labels.map((_, k) => (hasValues ? sizeOf(trace.values[k]) : 0))
  /** The row of each label. Parts belong to the first one of a label. */
  const rows = new Map<string, number>()
  for (const [k, label] of labels.entries()) if (!rows.has(label)) rows.set(label, k)
  for (const parent of [...parents])
    if (parent !== '' && !rows.has(parent)) {
      rows.set(parent, labels.length)
      labels.push(parent)
      parents.push('')
      values.push(0)
    }
  const above = parents.map((parent, k) =>
    parent === '' || rows.get(parent) === k ? undefined : rows.get(parent),
  )
  /** How many parts of each part are not yet counted, and the sum of those that are. */
  const open = labels.map(() => 0)
  const sums = labels.map(() => 0)
  for (const k of above) if (k !== undefined) open[k]++
  const isLeaf = open.map((count) => count === 0)
  const totals = labels.map(() => 0)
  const isDone = labels.map(() => false)
  const ready = [...labels.keys()].filter((k) => isLeaf[k])
  for (let k = ready.pop(); k !== undefined; k = ready.pop()) {
    totals[k] = isLeaf[k] && !hasValues ? 1 : Math.max(values[k], sums[k])
    isDone[k] = true
    const parent = above[k]
    if (parent === undefined) continue
    sums[parent] += totals[k]
    if (--open[parent] === 0) ready.push(parent)
  }
  // What is left is below itself: it stands alone.
  for (const k of labels.keys())
    if (!isDone[k]) {
      totals[k] = Math.max(values[k], sums[k])
      parents[k] = ''
    } else if (above[k] === undefined) parents[k] = ''
  const shown = labels.map((label, k) => (k < names.length ? names[k] : label))
  const whole = { labels: shown, parents, values: totals, ids: labels }
  const { ids, ...parts } = labels.length > MAX_PARTS ? largest(whole) : whole
  Object.assign(trace, { ...parts, branchvalues: 'total', ...((hasIds || ids !== labels) && { ids }) })
}

/** Parts that a browser draws in less than a second. */
const MAX_PARTS = 500

interface Parts {
  labels: string[]
  parents: string[]
  values: number[]
  ids: string[]
}

/** The largest parts. The smaller ones of each part are one, with how many they are: those below them are in it. */
function largest({ labels, parents, values, ids }: Parts): Parts {
  const order = [...values].sort((a, b) => b - a)
  const least = order[MAX_PARTS - 1]
  // A part is not larger than the one that it is in, so that one is shown too. Of equal ones, the first.
  let room = MAX_PARTS - order.indexOf(least)
  const isKept = values.map((value) => value > least || (value === least && room-- > 0))
  const kept = [...labels.keys()].filter((k) => isKept[k])
  const known = new Set(kept.map((k) => ids[k]))
  // A kept part below one that is not, of equal size, stands with the others.
  const shown = kept.filter((k) => parents[k] === '' || known.has(parents[k]))
  const isShown = new Set(shown)
  const rest = new Map<string, { count: number; sum: number }>()
  for (const [k, parent] of parents.entries()) {
    if (isShown.has(k) || (parent !== '' && !known.has(parent))) continue
    const own = rest.get(parent) ?? { count: 0, sum: 0 }
    rest.set(parent, { count: own.count + 1, sum: own.sum + values[k] })
  }
  const others = [...rest].filter(([, { sum }]) => sum > 0)
  return {
    labels: [...shown.map((k) => labels[k]), ...others.map(([, { count }]) => `other (${count})`)],
    parents: [...shown.map((k) => parents[k]), ...others.map(([parent]) => parent)],
    values: [...shown.map((k) => values[k]), ...others.map(([, { sum }]) => sum)],
    ids: [...shown.map((k) => ids[k]), ...others.map(([parent]) => `other of ${parent}`)],
  }
}

function textOf(value: unknown): string {
  return value === null || value === undefined ? '' : String(value)
}

function sizeOf(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0
}
