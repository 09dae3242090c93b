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
