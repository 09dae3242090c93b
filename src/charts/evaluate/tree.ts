/** Transform `tree`: computes the totals of treemaps and sunbursts. */
import type { Attributes } from '../figure/figure.ts'
import { NO_LABEL } from '../figure/shared-names.ts'

/**
 * Computes totals: a parent is as large as its children together, or as its own value if that is larger. Adds
 * parents without a row; nodes in a cycle become roots. Takes linear time. See docs/api.md#own-transforms.
 */
export function computeTotals(trace: Attributes): void {
  if (!Array.isArray(trace.labels)) return
  const names: string[] = trace.labels.map((label) => textOrEmpty(label) || NO_LABEL)
  // Nodes with equal labels differ by id. A node without an id cannot be a parent.
  const isNamed = new Set(names).size === names.length
  const hasIds = Array.isArray(trace.ids) || !isNamed
  const labels = hasIds ? identifyNodes(names, trace.ids) : [...names]
  const hasValues = Array.isArray(trace.values)
  const parents = labels.map((_, k) => (Array.isArray(trace.parents) ? textOrEmpty(trace.parents[k]) : ''))
  const values: number[] = labels.map((_, k) => (hasValues ? positiveOrZero(trace.values[k]) : 0))
  /** First row of each label: children belong to it. */
  const rows = new Map<string, number>()
  for (const [k, label] of labels.entries()) if (!rows.has(label)) rows.set(label, k)
  for (const parent of [...parents])
    if (parent !== '' && !rows.has(parent)) {
      rows.set(parent, labels.length)
      labels.push(parent)
      parents.push('')
      values.push(0)
    }
  const parentRows = parents.map((parent, k) =>
    parent === '' || rows.get(parent) === k ? undefined : rows.get(parent),
  )
  /** Number of children of each node that are not in its sum yet. */
  const pending = labels.map(() => 0)
  const sums = labels.map(() => 0)
  for (const k of parentRows) if (k !== undefined) pending[k]++
  const isLeaf = pending.map((count) => count === 0)
  const totals = labels.map(() => 0)
  const isDone = labels.map(() => false)
  const ready = [...labels.keys()].filter((k) => isLeaf[k])
  for (let k = ready.pop(); k !== undefined; k = ready.pop()) {
    totals[k] = isLeaf[k] && !hasValues ? 1 : Math.max(values[k], sums[k])
    isDone[k] = true
    const parent = parentRows[k]
    if (parent === undefined) continue
    sums[parent] += totals[k]
    if (--pending[parent] === 0) ready.push(parent)
  }
  // The remaining nodes are in a cycle: make them roots.
  for (const k of labels.keys())
    if (!isDone[k]) {
      totals[k] = Math.max(values[k], sums[k])
      parents[k] = ''
    } else if (parentRows[k] === undefined) parents[k] = ''
  const shown = labels.map((label, k) => (k < names.length ? names[k] : label))
  const totalsTree = { labels: shown, parents, values: totals, ids: labels }
  const { ids, ...parts } = labels.length > MAX_NODES ? keepLargestNodes(totalsTree) : totalsTree
  Object.assign(trace, { ...parts, branchvalues: 'total', ...((hasIds || ids !== labels) && { ids }) })
}

/** Returns an id for each node: the given one, or the label if it is the first with it. */
function identifyNodes(names: readonly string[], ids: unknown): string[] {
  if (Array.isArray(ids)) return names.map((_, k) => textOrEmpty(ids[k]) || `row ${k + 1}`)
  const used = new Set<string>()
  return names.map((name, k) => {
    let id = name
    while (used.has(id)) id = id === name ? `row ${k + 1}` : `${id} `
    used.add(id)
    return id
  })
}

/** Maximum number of nodes, which a browser draws in less than a second. */
const MAX_NODES = 500

interface TreeNodes {
  labels: string[]
  parents: string[]
  values: number[]
  ids: string[]
}

/**
 * Keeps the `MAX_NODES` largest of more nodes than that, and merges the smaller children of each parent into
 * one node, `other (count)`.
 */
function keepLargestNodes({ labels, parents, values, ids }: TreeNodes): TreeNodes {
  const order = [...values].sort((a, b) => b - a)
  const minSize = order[MAX_NODES - 1]
  // Parents are at least as large as their children, so they are kept too. Among equal nodes, the first are
  // kept.
  let remaining = MAX_NODES - order.indexOf(minSize)
  const isKept = values.map((value) => value > minSize || (value === minSize && remaining-- > 0))
  const kept = [...labels.keys()].filter((k) => isKept[k])
  const keptIds = new Set(kept.map((k) => ids[k]))
  // Drop a node whose parent of equal size was not kept.
  const nodes = kept.filter((k) => parents[k] === '' || keptIds.has(parents[k]))
  const isShown = new Set(nodes)
  const rest = new Map<string, { count: number; sum: number }>()
  for (const [k, parent] of parents.entries()) {
    if (isShown.has(k) || (parent !== '' && !keptIds.has(parent))) continue
    const merged = rest.get(parent) ?? { count: 0, sum: 0 }
    rest.set(parent, { count: merged.count + 1, sum: merged.sum + values[k] })
  }
  const others = [...rest].filter(([, { sum }]) => sum > 0)
  return {
    labels: [...nodes.map((k) => labels[k]), ...others.map(([, { count }]) => `other (${count})`)],
    parents: [...nodes.map((k) => parents[k]), ...others.map(([parent]) => parent)],
    values: [...nodes.map((k) => values[k]), ...others.map(([, { sum }]) => sum)],
    ids: [...nodes.map((k) => ids[k]), ...others.map(([parent]) => `other of ${parent}`)],
  }
}

function textOrEmpty(value: unknown): string {
  return value === null || value === undefined ? '' : String(value)
}

function positiveOrZero(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0
}
