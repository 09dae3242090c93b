// Draws a chart again, but only what differs from the last drawing: at every key, all points would take a second.

let drawnNotes: string | undefined
/** Traces that were drawn last. */
let drawnTraces: readonly Record<string, unknown>[] = []

/**
 * Returns traces with the arrays that were drawn last, where the values are the same: plotly.js then draws their
 * points only once. A note can change the range of an axis: then everything is drawn again.
 */
export function reuseTraces(
  traces: readonly Record<string, unknown>[],
  { annotations }: Record<string, unknown>,
): Record<string, unknown>[] {
  const notes = JSON.stringify(annotations)
  const drawn = notes === drawnNotes ? drawnTraces : []
  drawnNotes = notes
  const reused = traces.map((trace, k) => reuseMembers(trace, drawn[k]))
  drawnTraces = reused
  return reused
}

function reuseMembers(next: Record<string, unknown>, drawn: Record<string, unknown> = {}): typeof next {
  const members = Object.entries(next).map(([name, value]) => {
    const before = drawn[name]
    if (Array.isArray(value) && Array.isArray(before))
      return [name, isSameArray(value, before) ? before : value]
    const isNested = [value, before].every(
      (one) => typeof one === 'object' && one !== null && !Array.isArray(one),
    )
    return [name, isNested ? reuseMembers(value as typeof next, before as typeof next) : value]
  })
  return Object.fromEntries(members)
}

/** Shifts of annotations that were measured, by path. */
let measuredShifts: Record<string, unknown> = {}
const SHIFT_PATH = /^annotations\[(\d+)\]\.([xy]shift)$/

/** Calls a function for each measured shift, with its annotation. */
function forEachShift(
  layout: Record<string, unknown>,
  changes: Record<string, unknown>,
  visit: (annotation: Record<string, unknown>, shift: string, path: string) => void,
): void {
  for (const path of Object.keys(changes)) {
    const [, number, shift] = SHIFT_PATH.exec(path) ?? []
    const annotation = (layout.annotations as Record<string, unknown>[] | undefined)?.[Number(number)]
    if (annotation) visit(annotation, shift, path)
  }
}

/** Members of a layout for which plotly.js draws everything again if they are other objects, even equal ones. */
const COMPARED_BY_IDENTITY = ['meta', 'template'] as const
let drawnLayout: Record<string, unknown> = {}

/** Gives a preview what was drawn and measured last, where it is the same: only what differs is drawn again. */
export function keepDrawn(layout: Record<string, unknown>): void {
  const { theme } = (layout.meta ?? {}) as { theme?: unknown }
  if (theme !== undefined) layout.meta = { theme }
  for (const name of COMPARED_BY_IDENTITY)
    if (JSON.stringify(layout[name]) === JSON.stringify(drawnLayout[name])) layout[name] = drawnLayout[name]
  drawnLayout = layout
  forEachShift(layout, measuredShifts, (annotation, shift, path) => {
    annotation[shift] = measuredShifts[path]
  })
}

/** Returns the measured changes that a layout does not have yet; undefined if there are none. */
export function withoutKept(
  layout: Record<string, unknown>,
  changes: Record<string, unknown> = {},
): Record<string, unknown> | undefined {
  const left = { ...changes }
  measuredShifts = {}
  forEachShift(layout, changes, (annotation, shift, path) => {
    measuredShifts[path] = changes[path]
    if (annotation[shift] === changes[path]) delete left[path]
  })
  return Object.keys(left).length > 0 ? left : undefined
}

/** Returns a layout with changes by path, as `relayout` takes them. */
export function withChangedPaths(
  layout: Record<string, unknown>,
  changes: Record<string, unknown>,
): Record<string, unknown> {
  const next: Record<string, unknown> = { ...layout }
  for (const [path, value] of Object.entries(changes)) {
    const [first, ...rest] = path.split(/[.[\]]+/)
    const last = rest.pop()
    if (last === undefined) {
      next[first] = value
      continue
    }
    let holder: Record<string, unknown> = next
    for (const key of [first, ...rest]) {
      const inner = holder[key]
      const copy = Array.isArray(inner) ? [...inner] : { ...(inner as object) }
      holder[key] = copy
      holder = copy as Record<string, unknown>
    }
    holder[last] = value
  }
  return next
}

const isSameArray = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((value, k) => value === b[k])
