/** Returns whether a text matches a pattern, in which `*` stands for any characters. Linear in the text. */
export function matchesWildcard(pattern: string, text: string): boolean {
  const parts = pattern.split('*')
  if (parts.length === 1) return pattern === text
  const [first] = parts
  const last = parts[parts.length - 1]
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  // Match each part at its first position: a later match never allows more.
  let end = first.length
  for (const part of parts.slice(1, -1)) {
    const index = text.indexOf(part, end)
    if (index < 0) return false
    end = index + part.length
  }
  return end <= text.length - last.length
}
