/**
 * A test of texts against a pattern of `like`: `%` is any text, `_` is one character, and `\` takes the next character
 * as it is. Compared in time that grows with text times pattern at most, whatever the pattern is.
 */
export function likeTest(pattern: string, anyCase: boolean): (text: string) => boolean {
  const parts: (string | typeof ANY | typeof ONE)[] = []
  const characters = [...(anyCase ? pattern.toLowerCase() : pattern)]
  for (let k = 0; k < characters.length; k++) {
    const c = characters[k]
    if (c === '%') {
      if (parts.at(-1) !== ANY) parts.push(ANY)
    } else if (c === '_') parts.push(ONE)
    else if (c === '\\' && k + 1 < characters.length) parts.push(characters[++k])
    else parts.push(c)
  }
  return (text) => matches([...(anyCase ? text.toLowerCase() : text)], parts)
}

const ANY = Symbol('%')
const ONE = Symbol('_')

/** Goes back only to the last `%`: what is before it is matched as early as possible. */
function matches(text: readonly string[], parts: readonly (string | symbol)[]): boolean {
  let [i, k] = [0, 0]
  let [retry, from] = [-1, 0]
  while (i < text.length) {
    if (k < parts.length && (parts[k] === ONE || parts[k] === text[i])) {
      i++
      k++
    } else if (k < parts.length && parts[k] === ANY) {
      retry = k++
      from = i
    } else if (retry >= 0) {
      k = retry + 1
      i = ++from
    } else return false
  }
  while (k < parts.length && parts[k] === ANY) k++
  return k === parts.length
}
