// Writes values of columnar files as JSON.
import { isUtf8 } from 'node:buffer'

/** Counts values that JSON cannot represent. */
export interface LossCounts {
  /** NaN and infinite numbers, written as null. */
  infinite: number
}

/** Returns the JSON of a value, by the type of its column. */
export type ToJson = (value: unknown, lost: LossCounts) => string

export const toNumberJson: ToJson = (value, lost) => {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'bigint') return value.toString()
  if (Number.isFinite(value)) return String(value)
  lost.infinite++
  return 'null'
}

/** Returns the shortest number that is equal in single precision: 0.1, not 0.10000000149011612. */
export const toSingleJson: ToJson = (value, lost) => {
  if (typeof value !== 'number' || !Number.isFinite(value) || Number.isInteger(value))
    return toNumberJson(value, lost)
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return String(short)
  }
  return String(Number(value.toPrecision(9)))
}

/**
 * Returns a writer of decimals with all digits, from their unscaled integers: 12345678901234567890.10.
 * `isText`: as JSON strings, for integers that a double cannot represent.
 */
export function createDecimalWriter(scale: number, isText: boolean): ToJson {
  return (value) => {
    if (value === null || value === undefined) return 'null'
    const unscaled = value instanceof Uint8Array ? parseBigEndian(value) : toBigInt(value)
    const text = formatScaled(unscaled, scale)
    return isText ? `"${text}"` : text
  }
}

/** Function that converts decoded values to JSON values. */
export type Plain = (value: unknown) => unknown

/** Extends a function to nulls. */
export function skipNulls(make: (value: never) => unknown): Plain {
  return (value) => (value === null || value === undefined ? null : make(value as never))
}

/** Converts an integer of either numeric type. */
export function toBigInt(value: unknown): bigint {
  return typeof value === 'bigint' ? value : BigInt(Number(value))
}

/** Formats an unscaled integer as a decimal. */
function formatScaled(unscaled: bigint, scale: number): string {
  if (scale <= 0) return (unscaled * 10n ** BigInt(-scale)).toString()
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0')
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

/** Parses a big-endian integer in two's complement. */
function parseBigEndian(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n
  const unsigned = BigInt(
    `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`,
  )
  return BigInt.asIntN(bytes.length * 8, unsigned)
}

export const toBooleanJson: ToJson = (value) =>
  value === null || value === undefined ? 'null' : String(value)

export const toStringJson: ToJson = (value) => {
  if (typeof value === 'string') return JSON.stringify(value.isWellFormed() ? value : value.toWellFormed())
  if (value === null || value === undefined) return 'null'
  if (value instanceof Uint8Array) return JSON.stringify(decodeBytes(value))
  if (typeof value === 'object') return JSON.stringify(JSON.stringify(value))
  return JSON.stringify(String(value).toWellFormed())
}

/** Writes JSON text as it is, and other text as a string. */
export const toCheckedJson: ToJson = (value, lost) => {
  if (!(value instanceof Uint8Array)) return toNestedJson(value, lost)
  const text = decodeBytes(value)
  try {
    JSON.parse(text)
    return text.trim()
  } catch {
    return JSON.stringify(text)
  }
}

/** Writes a formatted time, which needs no escapes. */
export const toTimeJson: ToJson = (value) =>
  value === null || value === undefined ? 'null' : `"${value as string}"`

/** Returns whether a value is an array of numbers in binary form. */
function isTypedArray(value: unknown): value is ArrayLike<unknown> {
  return ArrayBuffer.isView(value) && !(value instanceof DataView)
}

/** Writes nested values as JSON. */
export const toNestedJson: ToJson = (value, lost) => {
  if (value === null || value === undefined) return 'null'
  const text = JSON.stringify(value, (_, inner) => {
    if (typeof inner === 'bigint')
      return inner >= -MAX_SAFE && inner <= MAX_SAFE ? Number(inner) : inner.toString()
    if (inner instanceof Uint8Array) return decodeBytes(inner)
    if (isTypedArray(inner)) return Array.from(inner)
    if (inner instanceof Map) return Object.fromEntries(inner)
    if (typeof inner === 'number' && !Number.isFinite(inner)) {
      lost.infinite++
      return null
    }
    return typeof inner === 'string' ? inner.toWellFormed() : inner
  })
  return text ?? 'null'
}

/** Returns bytes as text if they are UTF-8, as old writers store strings, or else in Base64. */
export function decodeBytes(value: Uint8Array): string {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString(
    isUtf8(value) ? 'utf8' : 'base64',
  )
}

/** Converts a decimal inside a nested value: to a number if exact, else to text with all digits. */
export function convertDecimal(value: unknown, scale: number): number | string {
  const text = createDecimalWriter(scale, false)(value, { infinite: 0 })
  const short = text.includes('.') ? text.replace(/\.?0+$/, '') : text
  return String(Number(short)) === short ? Number(short) : text
}

/** Converts a single-precision number inside a nested value to the shortest equal one. */
export function convertSingle(value: unknown): unknown {
  return Number.isFinite(value) ? Number(toSingleJson(value, { infinite: 0 })) : value
}

export const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)

const DAY_MS = 24 * 3600 * 1000

const SECONDS_PER_DAY = 86_400
const NANOS_PER_DAY = 86_400_000_000_000n

/** Days and years after which the calendar repeats, and maximum number of days in a `Date`. */
const CYCLE_DAYS = 146_097
const CYCLE_YEARS = 400
const MAX_DATE_DAYS = 100_000_000

/** Formats a day, given as days since 1970: `2024-01-31`, `+012024-01-31` after the year 9999. */
export function formatDay(days: number): string {
  const cycles = Math.abs(days) > MAX_DATE_DAYS ? Math.trunc(days / CYCLE_DAYS) : 0
  const iso = new Date((days - cycles * CYCLE_DAYS) * DAY_MS).toISOString().split('T')[0]
  if (cycles === 0) return iso
  const year = Number(iso.slice(0, -6)) + cycles * CYCLE_YEARS
  return `${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(6, '0')}${iso.slice(-6)}`
}

/** Numbers of two digits. */
const TWO_DIGITS = Array.from({ length: 100 }, (_, k) => String(k).padStart(2, '0'))
/** Formatted days, by days since 1970. */
const dayCache = new Map<number, string>()
const MAX_CACHED_DAYS = 100_000

/** Formats a day as `formatDay` does. */
export function formatCachedDay(day: number): string {
  let text = dayCache.get(day)
  if (text === undefined) {
    if (dayCache.size > MAX_CACHED_DAYS) dayCache.clear()
    text = formatDay(day)
    dayCache.set(day, text)
  }
  return text
}

/** Formats a time since the epoch in whole seconds; undefined for others. `perSecond`: ticks per second. */
function formatTicks(ticks: number, perSecond: number): string | undefined {
  if (ticks % perSecond !== 0) return undefined
  const seconds = ticks / perSecond
  const day = Math.floor(seconds / SECONDS_PER_DAY)
  const second = seconds - day * SECONDS_PER_DAY
  const minute = Math.floor(second / 60)
  const clock = `${TWO_DIGITS[Math.floor(minute / 60)]}:${TWO_DIGITS[minute % 60]}:${TWO_DIGITS[second % 60]}`
  return `${formatCachedDay(day)} ${clock}`
}

/** Formats a time since the epoch: `2024-01-31 10:00:00.5`. `perSecond`: ticks per second. */
export function formatTimestamp(value: bigint, perSecond: bigint): string {
  const ticks = Number(value)
  // Most times are whole seconds, and exact as doubles.
  const whole = Number.isSafeInteger(ticks) ? formatTicks(ticks, Number(perSecond)) : undefined
  if (whole !== undefined) return whole
  const nanos = value * (1_000_000_000n / perSecond)
  const days = nanos / NANOS_PER_DAY - (nanos % NANOS_PER_DAY < 0n ? 1n : 0n)
  return `${formatDay(Number(days))} ${formatClock(nanos - days * NANOS_PER_DAY)}`
}

const JULIAN_DAY_OF_1970 = 2_440_588n
const MICROS_PER_DAY = 86_400_000_000n

/** Formats an INT96: nanoseconds of a day, then the Julian day number. */
export function formatInt96(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const nanos = view.getBigInt64(0, true)
  const day = BigInt(view.getInt32(8, true)) - JULIAN_DAY_OF_1970
  // For late years, Spark overflows 64 bits in both parts. Wrapping the sum restores the value.
  const micros = BigInt.asIntN(64, day * MICROS_PER_DAY + nanos / 1000n)
  return formatTimestamp(micros * 1000n + (nanos % 1000n), 1_000_000_000n)
}

/** Formats a time of day or a duration: `10:00:00.000001`, `26:00:00`. `perSecond`: ticks per second. */
export function formatTime(value: bigint, perSecond: bigint): string {
  return formatClock(value * (1_000_000_000n / perSecond))
}

/** Formats nanoseconds as a clock, with as many decimals as needed. Durations can be negative. */
function formatClock(nanos: bigint): string {
  if (nanos < 0n) return `-${formatClock(-nanos)}`
  const seconds = Number(nanos / 1_000_000_000n)
  const fraction = String(nanos % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/0+$/, '')
  const part = (count: number): string => String(count).padStart(2, '0')
  const time = `${part(Math.floor(seconds / 3600))}:${part(Math.floor(seconds / 60) % 60)}:${part(seconds % 60)}`
  return fraction === '' ? time : `${time}.${fraction}`
}
