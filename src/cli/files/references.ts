// References of figures to columns of grids: `ada:7:aa11bb`, or of several columns: `ada:7:aa11bb,cc22dd`.
import { isObject } from '../../charts/figure/figure.ts'

const REFERENCE = /^([^:\s]+:\d+):([^:\s]+)$/

/** A reference: the grid on the former server, and the uids of the columns. */
export interface Reference {
  grid: string
  uids: readonly string[]
}

function parseReference(value: unknown): Reference | undefined {
  const [, grid, uids] = (typeof value === 'string' && REFERENCE.exec(value)) || []
  return grid === undefined ? undefined : { grid, uids: uids.split(',') }
}

/** Calls `visit` for each member of a figure, at any depth, that may be a reference: its name ends in `src`. */
function visitSources(value: unknown, visit: (owner: Record<string, unknown>, name: string) => void): void {
  // Not recursive: figures of strangers can be nested very deep.
  const waiting = [value]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (Array.isArray(next)) {
      // Arrays of numbers and texts are long, and have no references.
      if (isObject(next[0]) || Array.isArray(next[0]))
        for (const item of next) if (item !== null) waiting.push(item)
    } else if (isObject(next))
      for (const [name, member] of Object.entries(next)) {
        if (typeof member === 'string' && name.endsWith('src')) visit(next, name)
        else if (typeof member === 'object' && member !== null) waiting.push(member)
      }
  }
}

/** Lists the references of a figure. */
export function listReferences(figure: unknown): Reference[] {
  const references: Reference[] = []
  visitSources(figure, (owner, name) => {
    const reference = parseReference(owner[name])
    if (reference) references.push(reference)
  })
  return references
}

/**
 * Replaces the references of a figure, in place. A reference that `resolve` does not know is removed. Returns those
 * whose values are not in the figure either. `dropsValues`: removes the values of the others.
 */
export function replaceReferences(
  figure: unknown,
  resolve: (reference: Reference) => string | undefined,
  { dropsValues = false } = {},
): Reference[] {
  const lost: Reference[] = []
  visitSources(figure, (owner, name) => {
    const reference = parseReference(owner[name])
    if (!reference) return
    const replaced = resolve(reference)
    const attribute = name.slice(0, -'src'.length)
    if (replaced !== undefined) {
      owner[name] = replaced
      if (dropsValues) delete owner[attribute]
    } else {
      delete owner[name]
      if (owner[attribute] === undefined) lost.push(reference)
    }
  })
  return lost
}

/** Returns whether a figure shows any data: values, or references. */
export function hasData({ data }: Record<string, unknown>): boolean {
  const hasValues = (part: unknown, depth = 0): boolean =>
    isObject(part) &&
    depth < 8 &&
    Object.entries(part).some(
      ([name, member]) =>
        Array.isArray(member) ||
        (name.endsWith('src') && parseReference(member) !== undefined) ||
        (isObject(member) && (member.bdata !== undefined || hasValues(member, depth + 1))) ||
        (name === 'value' && typeof member === 'number'),
    )
  return Array.isArray(data) && data.some((trace) => hasValues(trace))
}
