/**
 * Reference to a version of a file: `3`; `-1`, the version before the current one; `2026-11-01` or
 * `2026-11-01T09:30`, the version at the end of that day or at that time (UTC without an offset); or the name
 * of a kept version. See docs/versions.md.
 */
export type VersionRef =
  | { kind: 'number'; number: number }
  | { kind: 'back'; count: number }
  | { kind: 'time'; time: number }
  | { kind: 'name'; name: string }

const DAY = /^(\d{4}-\d\d-\d\d)$/
const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/i
/** Names of kept versions. They start with a letter, to differ from numbers and dates. */
const NAME = /^\p{L}[\p{L}\p{N}._-]{0,63}$/u

/** Parses a version reference; undefined if the text is not valid. */
export function parseVersionRef(text: string): VersionRef | undefined {
  if (/^\d{1,9}$/.test(text)) return { kind: 'number', number: Number(text) }
  if (/^-\d{1,9}$/.test(text)) return { kind: 'back', count: Number(text.slice(1)) }
  const time = parseTime(text)
  if (time !== undefined) return { kind: 'time', time }
  return NAME.test(text) ? { kind: 'name', name: text } : undefined
}

/** Returns the last millisecond of a day or time, in ms since 1970; undefined if the text is neither. */
function parseTime(text: string): number | undefined {
  const day = DAY.exec(text)
  if (day) {
    const start = Date.parse(`${day[1]}T00:00:00Z`)
    // Date.parse accepts February 30th.
    const isValid = !Number.isNaN(start) && new Date(start).toISOString().startsWith(day[1])
    return !isValid ? undefined : start + 24 * 3600 * 1000 - 1
  }
  const match = TIME.exec(text)
  if (!match) return undefined
  const [, date, minutes, seconds = '', , zone = 'Z'] = match
  const time = Date.parse(`${date}T${minutes}${seconds === '' ? ':00' : seconds}${zone.toUpperCase()}`)
  if (Number.isNaN(time)) return undefined
  return time + (seconds === '' ? 59_999 : seconds.includes('.') ? 0 : 999)
}

/** Returns why a text is not valid as the name of a version or draft; undefined if it is valid. */
export function findNameFault(text: string): string | undefined {
  if (text === '') return 'is empty'
  if (text.length > 64) return `has ${text.length} characters; the limit is 64`
  return NAME.test(text) ? undefined : 'cannot be a name'
}

/** Returns whether a text is a valid version name. */
export function isVersionName(text: string): boolean {
  return NAME.test(text)
}

/** Splits `sales@3` into file and version; undefined without a version. File names may contain @ too. */
export function splitVersion(target: string): { file: string; version: string } | undefined {
  const separator = target.lastIndexOf('@')
  if (separator <= 0) return undefined
  const version = target.slice(separator + 1)
  return parseVersionRef(version) ? { file: target.slice(0, separator), version } : undefined
}
