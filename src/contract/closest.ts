/** A hint that begins with the name that was probably meant, if there is one. */
export function hintWith(meant: string | undefined, hint: string): string {
  return meant === undefined ? hint : `Did you mean ${meant}? ${hint}`
}

/** The name most similar to `given`; undefined if none is similar enough. Case does not count. */
export function closest(given: string, names: readonly string[]): string | undefined {
  const wanted = given.toLowerCase()
  let best: string | undefined
  // A short word with two edits could be any other.
  let least = (wanted.length < 5 ? 1 : wanted.length < 8 ? 2 : 3) + 1
  for (const name of names) {
    const distance = distanceOf(wanted, name.toLowerCase(), least)
    if (distance < least) {
      least = distance
      best = name
    }
  }
  return best
}

/**
 * The number of edits from one word to another, or `most` if there are at least as many. Two letters that are exchanged
 * are one edit (optimal string alignment).
 */
function distanceOf(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) >= most) return most
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, k) => k)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let k = 1; k <= b.length; k++) {
      const same = a[i - 1] === b[k - 1] ? 0 : 1
      next[k] = Math.min(next[k - 1] + 1, row[k] + 1, row[k - 1] + same)
      const isExchanged = i > 1 && k > 1 && a[i - 1] === b[k - 2] && a[i - 2] === b[k - 1]
      if (isExchanged) next[k] = Math.min(next[k], before[k - 2] + 1)
    }
    before = row
    row = next
  }
  return Math.min(row[b.length], most)
}

/** Names for a message: the first ones, and whether there are more. */
export function listed(names: readonly string[], most = 20): string {
  return `${names.slice(0, most).join(', ')}${names.length > most ? ' …' : ''}`
}

/** A number of things for a message: `1 row`, `2 rows`, `no rows`. */
export function counted(count: number, thing: string): string {
  return `${count === 0 ? 'no' : count} ${thing}${count === 1 ? '' : 's'}`
}
