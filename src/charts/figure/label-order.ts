// Order of the labels on an axis.

/**
 * Returns the unique labels in the order in which plotly.js draws them. `order`, `list`: `categoryorder` and
 * `categoryarray` of the axis. `sizes`: sums of the values at each label.
 */
export function sortLabels<T>(
  labels: readonly T[],
  order: unknown,
  list: unknown,
  sizes: ReadonlyMap<string, number>,
): T[] {
  const unique = [...new Set(labels)]
  if (order === 'array' && Array.isArray(list)) {
    const indexOf = (label: T): number => (list.includes(label) ? list.indexOf(label) : list.length)
    return unique.sort((a, b) => indexOf(a) - indexOf(b))
  }
  const [by, direction] = String(order).split(' ')
  const sign = direction === 'descending' ? -1 : 1
  if (by === 'total') {
    const size = (label: T): number => sizes.get(String(label)) ?? 0
    return unique.sort((a, b) => sign * (size(a) - size(b)))
  }
  return by === 'category' ? unique.sort((a, b) => sign * (String(a) < String(b) ? -1 : 1)) : unique
}
