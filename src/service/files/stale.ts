// Says of grids that their refreshes fail.
import { WARNING_HEADER } from '../../contract/headers.ts'
import type { FileRow } from '../store/aggregates/files.ts'

type StaleFile = Pick<FileRow, 'filename' | 'stale_since'>

/** Returns since when any of these files is stale, in ms since 1970; null if none is. */
export function staleSinceOf(files: readonly StaleFile[]): number | null {
  const times = files.flatMap(({ stale_since }) => stale_since ?? [])
  return times.length === 0 ? null : Math.min(...times)
}

/** Maximum number of stale files that a note names, and of characters of a name: it is a response header. */
const MAX_NAMED_FILES = 5
const MAX_NAME_CHARACTERS = 60

/** Says which of these files are stale; undefined if none is. */
export function formatStaleNote(files: readonly StaleFile[]): string | undefined {
  const stale = files.flatMap(({ filename, stale_since }) =>
    stale_since === null
      ? []
      : [`${shorten(filename)} is stale since ${formatMinute(stale_since)} UTC: its refreshes fail`],
  )
  const notes = [...new Set(stale)]
  const rest = notes.length - MAX_NAMED_FILES
  if (rest > 0) notes.splice(MAX_NAMED_FILES, rest, `and ${rest} more`)
  return notes.length === 0 ? undefined : notes.join('; ')
}

function shorten(name: string): string {
  const characters = [...name]
  return characters.length <= MAX_NAME_CHARACTERS
    ? name
    : `${characters.slice(0, MAX_NAME_CHARACTERS - 1).join('')}…`
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
