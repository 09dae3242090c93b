import { isUtf8 } from 'node:buffer'

/** What is said about values that JSON does not have. */
export interface Lost {
  /** NaN and infinite numbers, which are null. */
  infinite: number
  /** Decimal numbers of more digits than a double holds, which are rounded. */
  rounded: number
}

/** The text of one value, by the type of its column. */
export type ToText = (value: unknown, lost: Lost) => string

export const numberText: ToText = (value, lost) => {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'bigint') return value.toString()
  if (Number.isFinite(value)) return String(value)
  lost.infinite++
  return 'null'
}

/** The shortest number that is the same in single precision: 0.1, not 0.10000000149011612. */
export const singleText: ToText = (value, lost) => {
  if (typeof value !== 'number' || !Number.isFinite(value) || Number.isInteger(value))
    return numberText(value, lost)
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return String(short)
  }
  return String(Number(value.toPrecision(9)))
}

/** Decimal numbers of a scale, without the digits that binary numbers add. */
export function decimalText(scale: number): ToText {
  return (value, lost) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) return numberText(value, lost)
    if (Math.abs(value) * 10 ** scale > Number.MAX_SAFE_INTEGER) lost.rounded++
    if (scale < 0 || scale > 15) return String(value)
    return String(Number(value.toFixed(scale)))
  }
}

export const booleanText: ToText = (value) => (value === null || value === undefined ? 'null' : String(value))

export const stringText: ToText = (value) => {
  if (typeof value === 'string') return JSON.stringify(value.isWellFormed() ? value : value.toWellFormed())
  if (value === null || value === undefined) return 'null'
  if (value instanceof Uint8Array) return JSON.stringify(bytesText(value))
  if (value instanceof Date) return JSON.stringify(dateText(value.getTime()))
  if (typeof value === 'object') return JSON.stringify(JSON.stringify(value))
  return JSON.stringify(String(value).toWellFormed())
}

export const jsonText: ToText = (value, lost) => {
  if (value === null || value === undefined) return 'null'
  const text = JSON.stringify(value, (_, inner) => {
    if (typeof inner === 'bigint')
      return inner >= -MAX_SAFE && inner <= MAX_SAFE ? Number(inner) : inner.toString()
    if (inner instanceof Uint8Array) return bytesText(inner)
    if (ArrayBuffer.isView(inner)) return Array.from(inner as unknown as ArrayLike<unknown>)
    if (inner instanceof Map) return Object.fromEntries(inner)
    if (typeof inner === 'number' && !Number.isFinite(inner)) {
      lost.infinite++
      return null
    }
    return typeof inner === 'string' ? inner.toWellFormed() : inner
  })
  return text ?? 'null'
}

/** Bytes as text if they are UTF-8, as old writers store strings; others in Base64. */
function bytesText(value: Uint8Array): string {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString(
    isUtf8(value) ? 'utf8' : 'base64',
  )
}

export const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)

const DAY = 24 * 3600 * 1000

/** A day, or a time with as many digits as it needs, as in `2024-01-31` and `2024-01-31 10:00:00.5`. */
export function dateText(ms: number, micros = 0): string {
  const date = new Date(Math.floor(ms))
  if (Number.isNaN(date.getTime())) return String(ms)
  const [day, time] = date.toISOString().split('T')
  const rest = micros % 1000
  if (ms % DAY === 0 && rest === 0) return day
  const fraction = `${time.slice(9, 12)}${rest > 0 ? String(rest).padStart(3, '0') : ''}`.replace(/0+$/, '')
  return `${day} ${time.slice(0, 8)}${fraction === '' ? '' : `.${fraction}`}`
}

/** A time since the epoch in a unit of which a second has `perSecond`. */
export function timestampText(value: bigint, perSecond: bigint): string {
  const micros = perSecond >= 1_000_000n ? value / (perSecond / 1_000_000n) : value * (1_000_000n / perSecond)
  const ms = micros / 1000n - (micros % 1000n < 0n ? 1n : 0n)
  return dateText(Number(ms), Number(micros - ms * 1000n))
}

/** A time of day, in microseconds since midnight. */
export function timeText(micros: number): string {
  return dateText(DAY + Math.floor(micros / 1000), micros % 1000).slice(11) || '00:00:00'
}
