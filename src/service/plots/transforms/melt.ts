import { type Attributes, arraysOf, isObject, setAt, type Transform, valueAt } from './attributes.ts'

/** Whether a trace has several columns in `y`, which `melt` makes one. */
export function isMelted({ transforms, y }: Attributes): boolean {
  return (
    Array.isArray(y) &&
    y.every(Array.isArray) &&
    (transforms as unknown[]).some((one) => isObject(one) && one.type === 'melt')
  )
}

/**
 * Makes one list of the columns in `y`: each row is a point for each column, with the name of the column as `x`. Names that are
 * all numbers are numbers.
 */
export function melt(trace: Attributes, { names }: Transform): void {
  if (Array.isArray(trace.y) && trace.y.length > 0 && !trace.y.some(Array.isArray)) trace.y = [trace.y]
  if (!isMelted(trace) || !Array.isArray(names)) return
  const columns: unknown[][] = trace.y
  const count = Math.max(0, ...columns.map(({ length }) => length))
  const isNumbers = names.every((name) => /^\d{1,4}(?:\.\d+)?$/.test(String(name)))
  const across = columns.map((_, k) => (isNumbers ? Number(names[k]) : String(names[k] ?? '')))
  for (const path of arraysOf(trace).filter((one) => one !== 'x' && one !== 'y')) {
    const list = valueAt(trace, path) as unknown[]
    setAt(trace, path, Array.from({ length: count }, (_, row) => columns.map(() => list[row])).flat())
  }
  trace.x = Array.from({ length: count }, () => across).flat()
  trace.y = Array.from({ length: count }, (_, row) => columns.map((column) => column[row] ?? null)).flat()
}
