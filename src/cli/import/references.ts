// References of figures to columns of grids: `ada:7:aa11bb`.
import { isObject } from '../../charts/figure/figure.ts'

const REFERENCE = /^([^:\s]+:\d+):([^:\s]+)$/

/** A reference: the grid on the former server, and the uid of the column. */
export interface Reference {
  grid: string
  uid: string
}

function parseReference(value: unknown): Reference | undefined {
  const [, grid, uid] = (typeof value === 'string' && REFERENCE.exec(value)) || []
  return grid === undefined ? undefined : { grid, uid }
}

/** Calls `visit` for each member of a figure, at any depth, that may be a reference: its name ends in `src`. */
function visitSources(value: unknown, visit: (owner: Record<string, unknown>, name: string) => void): void {
  if (Array.isArray(value)) {
    // Arrays of numbers and texts are long, and have no references.
    if (isObject(value[0]) || Array.isArray(value[0])) for (const item of value) visitSources(item, visit)
  } else if (isObject(value))
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === 'string' && name.endsWith('src')) visit(value, name)
      else if (typeof member === 'object') visitSources(member, visit)
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
 * Replaces the references of a figure, in place. A reference that `resolve` does not know is removed. Returns the
 * grids of those whose values are not in the figure either.
 */
export function replaceReferences(
  figure: unknown,
  resolve: (reference: Reference) => string | undefined,
): Set<string> {
  const lost = new Set<string>()
  visitSources(figure, (owner, name) => {
    const reference = parseReference(owner[name])
    if (!reference) return
    const replaced = resolve(reference)
    if (replaced !== undefined) owner[name] = replaced
    else {
      delete owner[name]
      if (owner[name.slice(0, -'src'.length)] === undefined) lost.add(reference.grid)
    }
  })
  return lost
}

/** Returns whether a figure shows any data: values, or references. */
export function hasData({ data }: Record<string, unknown>): boolean {
  const hasValues = (trace: unknown): boolean =>
    isObject(trace) &&
    Object.entries(trace).some(
      ([name, member]) =>
        Array.isArray(member) ||
        (typeof member === 'string' && parseReference(member) !== undefined && name.endsWith('src')) ||
        (isObject(member) && (member.bdata !== undefined || hasValues(member))) ||
        (name === 'value' && typeof member === 'number'),
    )
  return Array.isArray(data) && data.some(hasValues)
}
