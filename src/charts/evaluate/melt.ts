/** Transform `melt`: combines several columns into one. */
import type { Attributes } from '../figure/figure.ts'
import { getArrayAt, listPointArrays, listTransforms, setAtPath, type Transform } from './attributes.ts'

/** Returns whether a trace has a `melt` transform, and several columns in `y` that it combines. */
export function hasMeltedColumns(trace: Attributes): boolean {
  const { y } = trace
  return (
    Array.isArray(y) && y.every(Array.isArray) && listTransforms(trace).some(({ type }) => type === 'melt')
  )
}

/** Combines the columns in `y`: each row yields one point per column, with the column name as `x`. */
export function meltColumns(trace: Attributes, { names }: Transform): void {
  if (Array.isArray(trace.y) && trace.y.length > 0 && !trace.y.some(Array.isArray)) trace.y = [trace.y]
  if (!hasMeltedColumns(trace) || !Array.isArray(names)) return
  const columns: unknown[][] = trace.y
  const count = Math.max(0, ...columns.map(({ length }) => length))
  const areNumbers = names.every((name) => /^\d{1,4}(?:\.\d+)?$/.test(String(name)))
  const columnNames = columns.map((_, k) => (areNumbers ? Number(names[k]) : String(names[k] ?? '')))
  for (const path of listPointArrays(trace).filter((name) => name !== 'x' && name !== 'y')) {
    const list = getArrayAt(trace, path)
    setAtPath(trace, path, Array.from({ length: count }, (_, row) => columns.map(() => list[row])).flat())
  }
  trace.x = Array.from({ length: count }, () => columnNames).flat()
  trace.y = Array.from({ length: count }, (_, row) => columns.map((column) => column[row] ?? null)).flat()
}
