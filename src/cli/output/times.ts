const UNITS = [
  ['year', 365 * 24 * 3600],
  ['month', 30 * 24 * 3600],
  ['day', 24 * 3600],
  ['hour', 3600],
  ['minute', 60],
] as const

/** A time in words, such as `3 hours ago`. Other texts stay as they are. */
export function relativeTime(text: string, now = Date.now()): string {
  const at = Date.parse(text)
  if (Number.isNaN(at)) return text
  const seconds = Math.round((now - at) / 1000)
  const size = Math.abs(seconds)
  for (const [unit, length] of UNITS) {
    if (size < length) continue
    const count = Math.floor(size / length)
    const words = `${count} ${unit}${count === 1 ? '' : 's'}`
    return seconds < 0 ? `in ${words}` : `${words} ago`
  }
  return seconds < 0 ? 'in a moment' : 'just now'
}
