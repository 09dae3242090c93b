// Lists of values in traces.
import { type Attributes, isObject } from './figure.ts'

/** Returns an array or a typed array; any other value as an empty list. */
export function listOf(value: unknown): ArrayLike<unknown> & Iterable<unknown> {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView))
    ? (value as unknown as unknown[])
    : []
}

/** Returns whether a value is null, undefined or NaN. */
export function isMissing(value: unknown): boolean {
  return value === null || value === undefined || Number.isNaN(value)
}

/** Returns attributes with only the given rows, in that order. Applies to each list of `length` values. */
export function selectRows(attributes: Attributes, rows: readonly number[], length: number): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => {
      const list = listOf(value)
      if (list.length === length) return [key, rows.map((row) => list[row])]
      const isPart = ['marker', 'error_x', 'error_y'].includes(key) && isObject(value)
      return [key, isPart ? selectRows(value, rows, length) : value]
    }),
  )
}
