import { type Attributes, isObject } from './figure.ts'

/** The values of an attribute of a trace; none if it is not a list. */
export function listOf(value: unknown): ArrayLike<unknown> & Iterable<unknown> {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView))
    ? (value as unknown as unknown[])
    : []
}

/** Whether nothing is drawn of a value. */
export function isMissing(value: unknown): boolean {
  return value === null || value === undefined || Number.isNaN(value)
}

/** Attributes with the values of these rows, in their order, in each list that has one for each of `length` rows. */
export function withRows(attributes: Attributes, rows: readonly number[], length: number): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => {
      const list = listOf(value)
      if (list.length === length) return [key, rows.map((row) => list[row])]
      const isPart = ['marker', 'error_x', 'error_y'].includes(key) && isObject(value)
      return [key, isPart ? withRows(value, rows, length) : value]
    }),
  )
}
