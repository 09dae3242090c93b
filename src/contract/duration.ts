/** Durations and times as people read them. */

/** Seconds of each unit. */
const UNITS = [
  [24 * 3600, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const

/** Formats seconds in the largest unit of which they are whole: `36 h`. */
export function formatDuration(seconds: number): string {
  const [unit, name] = UNITS.find(([size]) => seconds % size === 0)!
  return `${seconds / unit} ${name}`
}

/** Formats a time to the minute: `2026-11-30 07:00 UTC`. */
export function formatMinute(time: number | string | Date): string {
  return `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
