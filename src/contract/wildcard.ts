/** Whether a text is that of a pattern, in which `*` stands for any characters. Linear in the text. */
export function matchesWildcard(pattern: string, text: string): boolean {
  const parts = pattern.split('*')
  if (parts.length === 1) return pattern === text
  const [first] = parts
  const last = parts[parts.length - 1]
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  // Each part where it is first found: if it can be found later, it can be found there.
  let at = first.length
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= text.length - last.length
}
