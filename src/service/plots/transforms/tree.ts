import type { Attributes } from './attributes.ts'

/**
 * The values of the parts of a treemap or sunburst as totals: a part with parts of its own is as large as they are
 * together, or larger if its own value says so. Parents without a row are added. See docs/api.md#own-transforms.
 */
export function tree(trace: Attributes): void {
  if (!Array.isArray(trace.labels)) return
  const labels = trace.labels.map(textOf)
  const parents: string[] = Array.isArray(trace.parents)
    ? labels.map((_, k) => textOf(trace.parents[k]))
    : labels.map(() => '')
  const values: (number | undefined)[] = labels.map((_, k) =>
    Array.isArray(trace.values) ? sizeOf(trace.values[k]) : undefined,
  )
  const index = new Map(labels.map((label, k) => [label, k]))
  for (const parent of new Set(parents))
    if (parent !== '' && !index.has(parent)) {
      index.set(parent, labels.length)
      labels.push(parent)
      parents.push('')
      values.push(undefined)
    }
  const parts = new Map<string, number[]>()
  for (const [k, parent] of parents.entries()) {
    const own = parts.get(parent)
    if (own) own.push(k)
    else parts.set(parent, [k])
  }
  const totals: number[] = []
  // From the leaves up. A part that is below itself is given up after as many steps as there are parts.
  const state: ('new' | 'open' | 'done')[] = labels.map(() => 'new')
  for (const start of labels.keys()) {
    const open = [start]
    while (open.length > 0) {
      const k = open[open.length - 1]
      const own = parts.get(labels[k]) ?? []
      const waiting = state[k] === 'new' ? own.filter((part) => state[part] === 'new' && part !== k) : []
      if (state[k] === 'new') state[k] = 'open'
      if (waiting.length > 0) {
        open.push(...waiting)
        continue
      }
      open.pop()
      if (state[k] === 'done') continue
      state[k] = 'done'
      const sum = own.reduce((total, part) => total + (part === k ? 0 : (totals[part] ?? 0)), 0)
      const value = values[k]
      if (own.length === 0) totals[k] = value ?? (Array.isArray(trace.values) ? 0 : 1)
      else totals[k] = value === undefined || value < sum ? sum + (value ?? 0) : value
    }
  }
  Object.assign(trace, { labels, parents, values: totals, branchvalues: 'total' })
}

function textOf(value: unknown): string {
  return value === null || value === undefined ? '' : String(value)
}

function sizeOf(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 ? value : undefined
}
