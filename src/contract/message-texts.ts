// Texts of messages: suggestions for mistyped names, lists and counts.
/** Returns the hint, preceded by a suggested name if there is one. */
export function withSuggestion(suggestion: string | undefined, hint: string): string {
  return suggestion === undefined ? hint : `Did you mean ${suggestion}? ${hint}`
}

/** Maximum length of a word that is compared with others, in characters. */
const MAX_COMPARED_CHARACTERS = 100

/** Returns the name most similar to `given`, ignoring case; undefined if none is similar enough. */
export function findClosest(given: string, names: readonly string[]): string | undefined {
  const lowerCase = given.toLowerCase()
  let best: string | undefined
  // Two edits can turn a short word into an unrelated one.
  let minDistance = (lowerCase.length < 5 ? 1 : lowerCase.length < 8 ? 2 : 3) + 1
  const continues = (name: string): boolean => name.toLowerCase().startsWith(lowerCase)
  for (const name of names) {
    const distance = editDistance(lowerCase, name.toLowerCase(), minDistance + 1)
    // Of two that are as close, the one that the given word begins.
    const isBetter = distance === minDistance && best !== undefined && continues(name) && !continues(best)
    if (distance < minDistance || isBetter) {
      minDistance = distance
      best = name
    }
  }
  return best
}

/**
 * Returns the number of edits between two words, at most `limit`. Exchanging two adjacent letters is one edit
 * (optimal string alignment).
 */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit || a.length > MAX_COMPARED_CHARACTERS) return limit
  // Words can be longer than the other one by the limit.
  let [beforeRow, row, next] = [0, 1, 2].map(() => new Int32Array(a.length + 2 * limit + 1).fill(limit))
  for (let k = 0; k <= Math.min(b.length, limit); k++) row[k] = k
  for (let i = 1; i <= a.length; i++) {
    // Farther from the diagonal, there are more edits.
    const [from, to] = [Math.max(1, i - limit), Math.min(b.length, i + limit)]
    next[from - 1] = from === 1 ? i : limit
    for (let k = from; k <= to; k++) {
      const same = a[i - 1] === b[k - 1] ? 0 : 1
      next[k] = Math.min(next[k - 1] + 1, row[k] + 1, row[k - 1] + same)
      const isExchanged = i > 1 && k > 1 && a[i - 1] === b[k - 2] && a[i - 2] === b[k - 1]
      if (isExchanged) next[k] = Math.min(next[k], beforeRow[k - 2] + 1)
    }
    ;[beforeRow, row, next] = [row, next, beforeRow]
  }
  return Math.min(row[b.length], limit)
}

/** Formats names for a message: the first `limit`, then `…`. */
export function formatList(names: readonly string[], limit = 20): string {
  return `${names.slice(0, limit).join(', ')}${names.length > limit ? ' …' : ''}`
}

/** Formats a count for a message: `1 row`, `2 rows`, `no rows`. */
export function formatCount(count: number, thing: string): string {
  return `${count === 0 ? 'no' : count} ${thing}${count === 1 ? '' : 's'}`
}
