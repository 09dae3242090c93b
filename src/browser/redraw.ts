// Draws a chart again, but only what differs from the last drawing: at every key, all points would take a second.

/** Keeps the values that a chart has drawn last. */
export class LastDrawing {
  private notes: string | undefined
  private traces: readonly Record<string, unknown>[] = []
  private layout: Record<string, unknown> = {}
  /** Shifts of annotations that were measured, by path. */
  private shifts: Record<string, unknown> = {}

  /**
   * Returns traces with the arrays that were drawn last, where the values are the same: plotly.js then draws their
   * points only once. A note can change the range of an axis: then everything is drawn again.
   */
  reuseTraces(
    traces: readonly Record<string, unknown>[],
    { annotations }: Record<string, unknown>,
  ): Record<string, unknown>[] {
    const notes = JSON.stringify(annotations)
    const drawn = notes === this.notes ? this.traces : []
    this.notes = notes
    const reused = traces.map((trace, k) => reuseMembers(trace, drawn[k]))
    this.traces = reused
    return reused
  }

  /** Gives a preview what was drawn and measured last, where it is the same: only what differs is drawn again. */
  keepDrawn(layout: Record<string, unknown>): void {
    const { theme } = (layout.meta ?? {}) as { theme?: unknown }
    if (theme !== undefined) layout.meta = { theme }
    for (const name of COMPARED_BY_IDENTITY)
      if (JSON.stringify(layout[name]) === JSON.stringify(this.layout[name])) layout[name] = this.layout[name]
    this.layout = layout
    forEachShift(layout, this.shifts, (annotation, shift, path) => {
      annotation[shift] = this.shifts[path]
    })
  }

  /** Returns the measured changes that a layout does not have yet; undefined if there are none. */
  withoutKept(
    layout: Record<string, unknown>,
    changes: Record<string, unknown> = {},
  ): Record<string, unknown> | undefined {
    const left = { ...changes }
    this.shifts = {}
    forEachShift(layout, changes, (annotation, shift, path) => {
      this.shifts[path] = changes[path]
      if (annotation[shift] === changes[path]) delete left[path]
    })
    return Object.keys(left).length > 0 ? left : undefined
  }
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
