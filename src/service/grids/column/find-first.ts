// Binary search.

/** Returns the first of `count` positions for which a test holds, as it does for all later ones; `count` without one. */
export function findFirst(count: number, holds: (position: number) => boolean): number {
  let [low, high] = [0, count]
  while (low < high) {
    const half = (low + high) >> 1
    if (holds(half)) high = half
    else low = half + 1
  }
  return low
}
