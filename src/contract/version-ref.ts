/**
 * How a version of a file is named: `3`; `-1`, the one before the present one; `2026-11-01` or `2026-11-01T09:30`, the
 * one at the end of that day or at that time (UTC without an offset); or the name that it was kept with. See
 * docs/versions.md.
 */
export type VersionRef =
  | { kind: 'number'; number: number }
  | { kind: 'back'; count: number }
  | { kind: 'time'; time: number }
  | { kind: 'name'; name: string }

const DAY = /^(\d{4}-\d\d-\d\d)$/
const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/i
/** Names of kept versions. They begin with a letter, so that they are no number and no date. */
const NAME = /^\p{L}[\p{L}\p{N}._-]{0,63}$/u

/** What a text names; undefined if it can name no version. */
export function parseVersionRef(text: string): VersionRef | undefined {
  if (/^\d{1,9}$/.test(text)) return { kind: 'number', number: Number(text) }
  if (/^-\d{1,9}$/.test(text)) return { kind: 'back', count: Number(text.slice(1)) }
  const time = timeOf(text)
  if (time !== undefined) return { kind: 'time', time }
  return NAME.test(text) ? { kind: 'name', name: text } : undefined
}

/** The last moment that a day or time names, in ms since 1970. */
function timeOf(text: string): number | undefined {
  const day = DAY.exec(text)
  if (day) {
    const start = Date.parse(`${day[1]}T00:00:00Z`)
    // There is no 30th of February, also where it can be parsed.
    const isThere = !Number.isNaN(start) && new Date(start).toISOString().startsWith(day[1])
    return !isThere ? undefined : start + 24 * 3600 * 1000 - 1
  }
  const found = TIME.exec(text)
  if (!found) return undefined
  const [, date, minutes, seconds = '', , zone = 'Z'] = found
  const time = Date.parse(`${date}T${minutes}${seconds === '' ? ':00' : seconds}${zone.toUpperCase()}`)
  if (Number.isNaN(time)) return undefined
  return time + (seconds === '' ? 59_999 : seconds.includes('.') ? 0 : 999)
}

/** What a text is not, if it cannot be the name of a kept version or a draft; undefined if it can. */
export function versionNameFault(text: string): string | undefined {
  if (text === '') return 'is empty'
  if (text.length > 64) return `has ${text.length} characters; the limit is 64`
  return NAME.test(text) ? undefined : 'cannot be a name'
}

/** Whether a text can be the name of a kept version. */
export function isVersionName(text: string): boolean {
  return NAME.test(text)
}

/** A file and the version of it that is meant: `sales@3`. Names of files can have an @ as well. */
export function splitVersion(target: string): { file: string; version: string } | undefined {
  const at = target.lastIndexOf('@')
  if (at <= 0) return undefined
  const version = target.slice(at + 1)
  return parseVersionRef(version) ? { file: target.slice(0, at), version } : undefined
}
