/**
 * Labels in the order of their axis, as plotly.js has it. `order`, `list`: `categoryorder` and `categoryarray` of the axis.
 * `sizes`: the sums of what is drawn at the labels.
 */
export function orderedLabels<T>(
  labels: readonly T[],
  order: unknown,
  list: unknown,
  sizes: ReadonlyMap<string, number>,
): T[] {
  const unique = [...new Set(labels)]
  if (order === 'array' && Array.isArray(list)) {
    const place = (label: T): number => (list.includes(label) ? list.indexOf(label) : list.length)
    return unique.sort((a, b) => place(a) - place(b))
  }
  const [by, direction] = String(order).split(' ')
  const sign = direction === 'descending' ? -1 : 1
  if (by === 'total') {
    const size = (label: T): number => sizes.get(String(label)) ?? 0
    return unique.sort((a, b) => sign * (size(a) - size(b)))
  }
  return by === 'category' ? unique.sort((a, b) => sign * (String(a) < String(b) ? -1 : 1)) : unique
}
