// Formats relative times.
/** Units of time, in seconds. */
const UNITS = [
  ['year', 365 * 24 * 3600],
  ['month', 30 * 24 * 3600],
  ['day', 24 * 3600],
  ['hour', 3600],
  ['minute', 60],
] as const

/** Formats a time relative to now, such as `3 hours ago`. Returns other texts unchanged. */
export function formatRelativeTime(text: string, now = Date.now()): string {
  const time = Date.parse(text)
  if (Number.isNaN(time)) return text
  const seconds = Math.round((now - time) / 1000)
  const distance = Math.abs(seconds)
  for (const [unit, length] of UNITS) {
    if (distance < length) continue
    const count = Math.floor(distance / length)
    const words = `${count} ${unit}${count === 1 ? '' : 's'}`
    return seconds < 0 ? `in ${words}` : `${words} ago`
  }
  return seconds < 0 ? 'in a moment' : 'just now'
}
