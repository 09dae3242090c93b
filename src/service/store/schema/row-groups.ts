// Splits and groups lists of rows.

/** Splits a list into parts of at most `size`: engines limit the number of parameters of a statement. */
export function* inBatches<T>(all: readonly T[], size: number): Generator<T[]> {
  for (let k = 0; k < all.length; k += size) yield all.slice(k, k + size)
}

/** Adds a value to the list under a key. */
export function addToList<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}

/** Adds a value to the set under a key. */
export function addToSet<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key)
  if (set) set.add(value)
  else sets.set(key, new Set([value]))
}
