// Says of grids that their refreshes fail.
import { WARNING_HEADER } from '../../contract/headers.ts'
import type { FileRow } from '../store/aggregates/files.ts'

type StaleFile = Pick<FileRow, 'filename' | 'stale_since'>

/** Returns since when any of these files is stale, in ms since 1970; null if none is. */
export function staleSinceOf(files: readonly StaleFile[]): number | null {
  const times = files.flatMap(({ stale_since }) => stale_since ?? [])
  return times.length === 0 ? null : Math.min(...times)
}

/** Says which of these files are stale; undefined if none is. */
export function formatStaleNote(files: readonly StaleFile[]): string | undefined {
  const stale = files.flatMap(({ filename, stale_since }) =>
    stale_since === null
      ? []
      : [`${filename} is stale since ${formatMinute(stale_since)} UTC: its refreshes fail`],
  )
  return stale.length === 0 ? undefined : [...new Set(stale)].join('; ')
}

/** Returns the response header that says which of these files are stale; none if none is. */
export function createStaleHeaders(files: readonly StaleFile[]): Record<string, string> {
  const note = formatStaleNote(files)
  return note === undefined ? {} : { [WARNING_HEADER]: encodeURIComponent(note) }
}

/** Formats ms since 1970 as the minute in UTC: `2026-01-31 10:00`. */
export function formatMinute(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}
